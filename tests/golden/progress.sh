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
export TERM=xterm LC_ALL=C.UTF-8

# On a terminal: one line, drawn again in its place, as wide as the terminal at most, gone at the end.
"$terminal" 100 "$tern" train model.ail > printed 2> seen || say "status $?"
has seen '^<ESC>\[Kstep 300/300  [0-9.]+ steps/s  [0-9:]+ left  loss [0-9.e-]+  [▁▂▃▄▅▆▇█]+<CR>$'
[ "$(tail -1 seen)" = '<ESC>[K' ] || say "the line stays: $(tail -1 seen)"
lacks printed '<ESC>|steps/s'
has printed '^Training completed$'
"$terminal" 30 "$tern" train model.ail > printed 2> seen
[ "$(sed 's/<ESC>\[K//; s/<CR>$//' seen | awk '{ if (length($0) > most) most = length($0) } END { print most }')" -le 29 ] ||
  say "the line is wider than the terminal"
LC_ALL=C "$terminal" 100 "$tern" train model.ail > printed 2> seen
lacks seen '▁|█'

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
