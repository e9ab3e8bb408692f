# What a person sees of a training run, on a terminal and in a log.
#
#   progress.sh TERN TERMINAL
set -u
tern=$1 terminal=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
say() { echo "progress: $*"; failed=1; }
has() { grep -qE -- "$2" "$1" || { say "$1 has no $2:"; head -40 "$1"; }; }
lacks() { if grep -qE -- "$2" "$1"; then say "$1 has $2:"; head -40 "$1"; fi; }

cat > model.ail <<'END'
model {
  x [B, 4]
  labels [B]
  param W [4, 3]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) steps = 300 lr = 0.1 batch = 8 }
END
unset NO_COLOR
export TERM=xterm LC_ALL=C.UTF-8 XDG_DATA_HOME="$folder/data"

# On a terminal: one line, drawn again in its place, as wide as the terminal at most, gone at the end.
"$terminal" 100 "$tern" train model.ail > printed 2> seen || say "status $?"
has seen '^<ESC>\[K━+ step 300/300  [0-9.]+ steps/s  [0-9:]+ left  loss [0-9.e-]+  [▁▂▃▄▅▆▇█]+<CR>$'
[ "$(tail -1 seen)" = '<ESC>[K' ] || say "the line stays: $(tail -1 seen)"
lacks printed '<ESC>|steps/s'
has printed '^Training completed$'
"$terminal" 30 "$tern" train model.ail > printed 2> seen
[ "$(sed 's/<ESC>\[K//; s/<CR>$//' seen | awk '{ if (length($0) > most) most = length($0) } END { print most }')" -le 29 ] ||
  say "the line is wider than the terminal"
LC_ALL=C "$terminal" 100 "$tern" train model.ail > printed 2> seen
lacks seen '▁|█|━'

# Standard output is the terminal too: steps are not printed, each evaluation is a line, and at the end come
# what was saved and the next command. A log has neither.
for i in 0 1 2 3 4 5 6 7 8 9; do echo "1,$i,0.5,2,$((i % 3))"; done > rows.csv
cat > small.ail <<'END'
model {
  x [B, 4]
  labels [B]
  param W [4, 3]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) steps = 3000 lr = 0.1 batch = 4 }
dataset { format = "csv" path = "rows.csv" header = false x = 0-3 labels = 4 split = 0.8 }
eval { metrics = [loss, accuracy] every = 1000 split = val }
END
"$terminal" both 120 "$tern" train small.ail --allow fileread --out run > printed 2> seen || say "status $?"
[ -s printed ] && say "something was printed beside the terminal"
tr -d '\n' < seen | sed 's/<CR><ESC>\[K/\n/g; s/<CR>/\n/g' > screen
lacks screen '^Step '
[ "$(grep -cE '^eval  step +[0-9,]+  loss [0-9.]+  accuracy [0-9.]+$' screen)" -eq 4 ] || { say "evaluations:"; cat screen; }
has screen '^━*─* step [0-9,]+/3,000  epoch [0-9.]+/1500\.0  [0-9.]+ steps/s  [0-9:]+ left  loss [0-9.e-]+  [▁▂▃▄▅▆▇█]+$'
has screen '^3,000 steps in [0-9.]+ s; saved in run: weights.safetensors, checkpoint, history.jsonl$'
has screen '^Next: .*tern predict run NEW_DATA$'
"$terminal" both 120 "$tern" train small.ail --allow fileread > printed 2> seen || say "status $?"
has seen 'To keep the weights: .*tern train small.ail --allow fileread --out run<CR>'
"$terminal" both 120 "$tern" train small.ail --allow fileread --log steps > printed 2> seen || say "status $?"
[ "$(grep -c 'Step [0-9]*: loss = ' seen)" -eq 301 ] || say "--log steps has $(grep -c 'Step [0-9]*:' seen) steps"
"$tern" train small.ail --allow fileread --steps 100 > printed 2> seen
[ -s seen ] && say "standard error is not empty in a log"
[ "$(grep -c '^Step ' printed)" -eq 11 ] || say "a log has $(grep -c '^Step ' printed) steps"

# Ctrl-C is no mistake: a sentence, and a command that resumes, whatever the names are.
cat > interrupt.sh <<'END'
"$1" train small.ail --allow fileread --steps 100000000 --seed 7 --out "$2" & training=$!
until [ -s "$2/history.jsonl" ] || ! kill -0 $training; do sleep 0.01; done
kill -INT $training
wait $training
END
for place in stopped "it's stopped"; do
  "$terminal" both 200 sh interrupt.sh "$tern" "$place" > printed 2> seen
  [ $? -eq 1 ] || say "another status for Ctrl-C"
  lacks seen 'error'
  has seen "Stopped after step [0-9,]+; saved in $place\. Resume: .*tern train small.ail --allow fileread"
  resume=$(sed -n 's/.*Resume: //p' seen | sed 's/<CR>$//')
  steps=$(sed -n 's/.*Stopped after step \([0-9,]*\).*/\1/p' seen | tr -d ,)
  eval "${resume%% *}" "$(echo "${resume#* }" | sed 's/--steps [0-9]*//')" --steps $((steps + 5)) --json > printed 2>&1 ||
    { say "cannot resume: $resume"; cat printed; }
  has printed "\"steps\":$((steps + 5)),"
done
sh interrupt.sh "$tern" logged > printed 2> seen
has seen '^error\[E_INTERRUPTED\]: interrupted$'
has seen '^Stopped after step [0-9,]+; saved in logged\. Resume: '

# On a terminal `tern plot` draws; elsewhere it writes the picture. What goes into a file has no colours.
"$terminal" both 80 "$tern" plot run > printed 2> seen || say "status $? of plot"
has seen '^training loss<CR>$'
has seen '^evaluation loss<CR>$'
has seen '^accuracy<CR>$'
has seen ' step 0 +2999<CR>$'
lacks seen '<svg'
"$terminal" 80 "$tern" plot run > printed 2> seen
has printed '^<svg '
"$terminal" both 80 "$tern" explain E_SHAPE_MISMATCH > printed 2> seen
has seen '<ESC>'
"$terminal" 80 "$tern" explain E_SHAPE_MISMATCH > printed 2> seen
lacks printed "$(printf '\033')"
"$terminal" both 80 "$tern" help > printed 2> seen
has seen '<ESC>\[1mTraining<ESC>'
[ "$(sed 's/<ESC>\[[0-9]*m//g; s/<CR>$//' seen | awk 'length($0) > 80' | wc -l)" -eq 0 ] || say "help is wider than 80 columns"
NO_COLOR=1 "$terminal" both 80 "$tern" help > printed 2> seen
lacks seen '<ESC>'

# In a log, for programs, and for those who want quiet: none.
"$tern" train model.ail > printed 2> seen
[ -s seen ] && say "standard error is not empty in a log"
for words in --quiet --json; do
  "$terminal" 100 "$tern" train model.ail $words > printed 2> seen
  [ -s seen ] && say "standard error is not empty with $words"
done
TERM=dumb "$terminal" 100 "$tern" train model.ail > printed 2> seen
[ -s seen ] && say "standard error is not empty on a dumb terminal"

# A model that was never trained says so to a person: its numbers look like answers.
"$tern" train model.ail --out trained > printed
"$terminal" 100 "$tern" run model.ail > printed 2> seen || say "status $? of run"
has seen '^note: the parameters are random'
has printed '^Output: logits$'
echo 'model { x [2] y = x + 1 }' > plain.ail
for words in "model.ail --quiet" "model.ail --json" "model.ail --weights trained/weights.safetensors" plain.ail; do
  # shellcheck disable=SC2086
  "$terminal" 100 "$tern" run $words > printed 2> seen || say "status $? of run $words"
  [ -s seen ] && say "standard error is not empty: run $words"
done
"$tern" run model.ail > printed 2> seen
[ -s seen ] && say "standard error of run is not empty in a log"

# A log in JSON: a line for every step, and the answer.
"$tern" train model.ail --log json > log.jsonl 2> seen || say "--log json"
[ "$(wc -l < log.jsonl)" -eq 301 ] || say "$(wc -l < log.jsonl) lines in the log"
[ "$(grep -c '^{"step":[0-9]*,"steps":300,"loss":[0-9.e-]*,"seconds":[0-9.]*}$' log.jsonl)" -eq 300 ] ||
  say "a line of the log: $(head -1 log.jsonl)"
has log.jsonl '^\{"ok":true,"language":"ail",.*"weights_sha256":"[0-9a-f]{64}"\}$'
"$tern" train model.ail --json | grep -o '"weights_sha256":"[0-9a-f]*"' > a
grep -o '"weights_sha256":"[0-9a-f]*"' log.jsonl > b
cmp -s a b || say "the log has other weights"
"$tern" train model.ail --log json --json > printed 2>&1
[ $? -eq 2 ] || say "--log json with --json"
"$tern" train model.ail --log xml > printed 2>&1
[ $? -eq 2 ] || say "--log xml"

# The curve at the end.
COLUMNS=60 "$tern" train model.ail --plot > printed 2> seen || say "--plot"
has printed '^loss$'
[ "$(sed -n '/^loss/,$p' printed | wc -l)" -eq 14 ] || say "the picture has another height"
has printed '^            step 0 +299$'
[ "$(grep -c '⣿\|⠀' printed)" -ge 12 ] || say "no dots"
COLUMNS=60 LC_ALL=C "$tern" train model.ail --plot > printed
has printed '\|.*\*'

# NaN and infinity: the operation, its place and the step; the same on any number of threads; nothing bad
# is kept.
cat > worse.ail <<'END'
model {
  x [B, 2]
  labels [B]
  param W [2, 2]
  h = matmul(x, W)
  logits = h * h
}
train { loss = xent(logits, labels) steps = 200 lr = 1e18 batch = 4 }
END
"$tern" train worse.ail --out run > printed 2> seen
[ $? -eq 1 ] || say "a NaN does not stop training"
has seen 'E_NOT_FINITE'
has seen '^  --> worse.ail:[0-9]+:[0-9]+$'
grep -qsE 'NaN|Infinity' run/history.jsonl && say "a NaN is in the history"
"$tern" train worse.ail --json --threads 1 > one
"$tern" train worse.ail --json --threads 3 > three
cmp -s one three || say "threads change what is found"
has one '"step":"[0-9]+"'
# A constant infinity is meant, and no mistake; log(0) is one, and named.
cat > log.ail <<'END'
model {
  x [B, 2]
  labels [B]
  param W [2, 2]
  logits = log(relu(matmul(x, W)))
}
train { loss = xent(logits, labels) steps = 20 lr = 0.1 }
END
"$tern" train log.ail > printed 2> seen
has seen 'E_NOT_FINITE.*log gave'

[ $failed -eq 0 ] && echo "progress: all as it should be"
exit $failed
