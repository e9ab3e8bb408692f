# Formatting keeps the meaning of every AILang program there is: the graph of the formatted text is the same
# graph, and formatting twice changes nothing.
$ compared=0
> for f in $(find "$TESTS/ail" "$TESTS/../examples/ail" -name '*.ail'); do
>   cp "$f" before.ail
>   tern emit before.ail --as graph > before.graph 2> /dev/null || continue
>   tern fmt - --lang ail < "$f" > after.ail || { echo "$f is not formatted"; continue; }
>   tern emit after.ail --as graph > after.graph 2> /dev/null || { echo "$f has no graph any more"; continue; }
>   cmp -s before.graph after.graph || echo "$f has another graph"
>   tern fmt - --lang ail < after.ail | cmp -s - after.ail || echo "$f changes twice"
>   compared=$((compared + 1))
> done
> test $compared -gt 50 || echo "only $compared programs were compared"
