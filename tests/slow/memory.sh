#!/bin/sh
# Memory does not grow with the length of a run: a million training steps, lines of a session, iterations of
# a loop; and a model of 43 MB trains in 250 MiB. Arguments: the project's root, the program, how many (default
# a million).
#
# The resident memory of each run is read twenty times per second. What it reaches in the last third of the
# run may be at most 1 MB above what it reached in the first.
root=$(cd "$1" && pwd)
tern=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
count=${3:-1000000}
. "$root/tests/tools/expect.sh"
export XDG_DATA_HOME="$scratch/data"
cd "$scratch" || exit 1

# watch WHAT: follows the process whose number is in ./pid until it is gone, and judges.
watch() {
  while [ ! -s pid ]; do sleep 0.01; done
  pid=$(cat pid)
  : >sizes
  while size=$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$size" ]; do
    echo "$size" >>sizes
    sleep 0.05
  done
  wait
  awk -v what="$1" -v status="$(cat status)" '
    { size[NR] = $1 }
    END {
      for (i = 1; i <= NR; i++) {
        if (i <= NR / 3 && size[i] > first) first = size[i]
        if (i > 2 * NR / 3 && size[i] > last) last = size[i]
      }
      grown = last - first
      printf "%s: %d samples, %d KB in the first third, %d KB in the last\n", what, NR, first, last
      exit !(NR >= 9 && grown <= 1024 && status == 0)
    }' sizes || { echo "FAILED: $1 (status $(cat status))"; failures=$((failures + 1)); }
}

# start COMMAND...: in the background, with its number in ./pid and its status in ./status.
start() {
  rm -f pid status
  { "$@" >out 2>err & echo $! >pid; wait $!; echo $? >status; } &
}

cat >steps.ail <<'END_OF_PROGRAM'
model {
  x [B, 4]
  labels [B]
  param W [4, 2]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) lr = 0.01 batch = 4 optimizer = "adam" }
END_OF_PROGRAM
start "$tern" train steps.ail -q --threads 1 --steps "$count"
watch "$count training steps"
start "$tern" train steps.ail -q --threads 1 --steps "$count" --out run --checkpoint-every 1000
watch "$count training steps with a folder"

for language in ninth mind; do
  case $language in
    ninth) line='(1 2 3) [DUP] [MUL] [SUM] -> x [DEPTH] [DROP]' ;;
    mind) line='let x = sum([1, 2, 3] * 2) + 1' ;;
  esac
  if ! "$tern" repl --lang $language </dev/null >/dev/null 2>&1; then
    echo "there is no session in $language"
    continue
  fi
  yes "$line" | head -n "$count" >lines
  start sh -c 'exec "$0" repl --lang "$1" <lines' "$tern" $language
  watch "$count lines of a session in $language"
done

cat >loop.nth <<END_OF_PROGRAM
(1 2) [VAR] -> w
$count [REPEAT]
  w (3 4) [MUL] [SUM] [BACKWARD]
  w 0.000001 w [GRAD] [SUB_ASSIGN_GRAD]
  w [ZERO_GRAD]
[END]
END_OF_PROGRAM
start "$tern" run loop.nth
watch "$count iterations of a loop"

# 129 MB are parameters and the states of AdamW, 113 MB are between the steps of the plan: there is no room
# for a copy. The peak was 248,752 KB.
cp "$root/bench/programs/gpt_large.ail" "$root/bench/programs/gpt.txt" .
start "$tern" train gpt_large.ail --allow fileread -q --threads 2 --steps 4
while [ ! -s pid ]; do sleep 0.01; done
most=0
while size=$(awk '/^VmHWM/ { print $2 }' "/proc/$(cat pid)/status" 2>/dev/null) && [ -n "$size" ]; do
  most=$size
  sleep 0.05
done
wait
echo "a GPT of 6 layers, 384 wide, on 4 texts of 256 tokens: $most KB"
if [ "$(cat status)" -ne 0 ] || [ "$most" -lt 200000 ] || [ "$most" -gt 256000 ]; then
  echo "FAILED: more than 250 MiB, or not trained (status $(cat status)): $(head -n 1 err)"
  failures=$((failures + 1))
fi
finish
