# Models that were trained, on the GPU that the host plays: the CPU's bytes, and parameters are sent once.
$ cat > on_card <<'END'
> LD_LIBRARY_PATH="$(dirname "$TERN")/tests/card" TERN_FAKE_CARD=$1 && export LD_LIBRARY_PATH TERN_FAKE_CARD
> shift
> exec "$TERN" "$@"
> END
$ cp -r "$TESTS/../examples/ail/iris.ail" "$TESTS/../examples/ail/data" .
$ tern train iris.ail -q --allow fileread --steps 60 --out run > /dev/null
$ for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do cat data/iris.tsv; done > rows.tsv

# Answers.
$ tern predict run rows.tsv > here
$ sh on_card count predict run rows.tsv --device cuda > there
! fake GPU: <*> launches, 0 replays, 5 to it, 1 from it, <*>
$ cmp here there
$ sh on_card fine predict run --input x='[[5.1, 3.5, 1.4, 0.2]]' --device cuda > there
$ tern predict run --input x='[[5.1, 3.5, 1.4, 0.2]]' | cmp - there

# Metrics: four pieces of 1024 rows, then what joins them. The four parameters go there once.
$ tern evaluate run rows.tsv > here
$ sh on_card count evaluate run rows.tsv --device cuda > there
! fake GPU: <*> launches, 3 replays, 7 to it, 3 from it, <*>
$ cmp here there
$ tern evaluate run rows.tsv --record > here; cp run/evaluation.json recorded
$ sh on_card fine evaluate run rows.tsv --record --device cuda > there
$ cmp here there && cmp recorded run/evaluation.json

# Continuing a text, with keys and values cached on the GPU and without: they are not copied for
# each token.
$ cp "$TESTS/../examples/ail/gpt.ail" .
$ tern train gpt.ail -q --allow fileread --steps 1 --out gpt > /dev/null
$ tern generate gpt --prompt "the " --tokens 8 --seed 3 > here
$ for mode in on off; do
>   sh on_card count generate gpt --prompt "the " --tokens 8 --seed 3 --cache $mode --device cuda > there
>   cmp here there && echo same
> done
| same
| same
! fake GPU: <*> launches, 8 replays, 92 to it, 4 from it, <*>
! fake GPU: <*> launches, 9 replays, 70 to it, 2 from it, <*>

# Too little memory for the parameters.
$ sh on_card memory=100 evaluate run rows.tsv --device cuda 2>&1 | head -n 1
| error[E_DEVICE]: the device `cuda` cannot be used: the GPU has not enough memory left
