# The program under its sandbox: what it may still do works, what it may not is refused by the kernel, and
# a kernel that lacks something is said to.
#
#   sandbox.sh TERN WITHOUT
set -u
tern=$1 without=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

say() { echo "sandbox: $*"; failed=1; }
# expect NAME WANTED-STATUS WANTED-TEXT COMMAND...: both streams together hold the text.
expect() {
  name=$1 wanted=$2 text=$3; shift 3
  "$@" >got 2>&1 </dev/null
  status=$?
  [ "$status" -eq "$wanted" ] || { say "$name: status $status, wanted $wanted"; cat got; }
  grep -qF -- "$text" got || { say "$name: no '$text' in:"; cat got; }
}

# ---- files ----
echo secret > secret
echo named > named
printf secret > pointer
printf 'print(read("named"))\n' > named.mind
printf 'print(read(read("pointer")))\n' > computed.mind
printf 'model {\n  y = read_file_text("named")\n}\n' > named.ail
expect "a file the program names is read" 0 named "$tern" named.mind --allow fileread --sandbox=require
expect "one whose path was computed is not" 1 permission_denied \
  "$tern" computed.mind --allow fileread --sandbox=require
expect "without the sandbox it is" 0 secret "$tern" computed.mind --allow fileread --sandbox=off
expect "without the grant nothing is read" 1 E_CAPABILITY_DENIED "$tern" named.mind --sandbox=require
expect "a file that .ail names is read" 0 'Output shape: [8]' \
  "$tern" named.ail --allow fileread --sandbox=require

# ---- training ----
printf '{"x":[0,1],"label":0}\n{"x":[1,0],"label":1}\n{"x":[0,2],"label":0}\n{"x":[2,0],"label":1}\n' > rows.jsonl
cat > model.ail <<'END'
model {
  x [B, 2]
  labels [B]
  param W [2, 2]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) steps = 40 lr = 0.1 batch = 2 }
dataset { format = "jsonl" path = "rows.jsonl" tokens = "x" labels = "label" }
END
train="$tern train model.ail --allow fileread --sandbox=require"
expect "a run writes its folder" 0 "Training completed" $train --out runs/a/b --checkpoint-every 7 --threads 3
[ -s runs/a/b/weights.safetensors ] || say "no weights"
expect "it goes on from there" 0 "Training completed" $train --resume runs/a/b --steps 60 --out runs/c
expect "and in its own folder" 0 "Training completed" $train --resume runs/a/b --steps 80
verified() (cd runs/a && "$tern" verify b --allow fileread --sandbox=require)
expect "a run is made again from another folder" 0 "agree in every bit" verified
expect "a folder that is not there is not made" 1 E_FILE_NOT_FOUND $train --resume runs/none
[ -e runs/none ] && say "the folder was made"
$tern train model.ail --allow fileread --sandbox=off --json > off.json
$tern train model.ail --allow fileread --sandbox=require --json > on.json
cmp -s off.json on.json || say "the sandbox changes the result"

# ---- what the kernel says of a running program ----
echo '1000000000 [REPEAT] [64 64] [ONES] [64 64] [ONES] [MATMUL] [DROP] [END]' > long.nth
"$tern" long.nth --sandbox=require --threads 2 & running=$!
sleep 1
for status in /proc/$running/task/*/status; do
  grep -q '^NoNewPrivs:.1' "$status" && grep -q '^Seccomp:.2' "$status" || say "$status is not shut in"
done
kill -INT $running
wait $running
[ $? -eq 1 ] || say "Ctrl-C under the sandbox"

# ---- other forms of a program ----
emit="$tern emit named.mind --sandbox=require --as graph"
printf 'fn f(x: Tensor[f32,(N)]) -> Tensor[f32,(N)] = x * sum([1, 2])\nf\n' > named.mind
mkdir there && echo old > there/old && chmod 640 there/old && ln -s there/old link
expect "a form is printed" 0 "const {value=f32[] [3]}" $emit
$emit -o there/new || say "a file is not written"
$emit -o link || say "one behind a link is not replaced"
[ "$(stat -c %a there/old)" = 640 ] || say "a file that was replaced has lost its permissions"
cmp -s there/new there/old && [ -L link ] || say "what was written is not the same"
expect "standard output by its name" 0 "graph(" $emit -o /dev/stdout
expect "a folder that is not there is said" 2 "its folder does not exist" $emit -o none/new
expect "nor is it a folder" 2 "not a folder" $emit -o named.mind/new
ls there > left && [ "$(cat left)" = "new
old" ] || say "something was left over: $(cat left)"
expect "all of it or nothing" 1 E_SANDBOX_UNAVAILABLE "$without" landlock $emit
expect "a model of .ail" 0 "matmul" $tern emit model.ail --as graph --sandbox=require
"$tern" emit long.nth --as graph --sandbox=require >/dev/null & running=$!
sleep 1
grep -q '^Seccomp:.2' /proc/$running/status || say "emit runs a program outside"
kill -INT $running
wait $running

# ---- the board ----
$tern train model.ail --allow fileread --out runs/d --store new/runs.db > /dev/null || say "no run for the board"
"$tern" board --port 0 --store new/runs.db --sandbox=require > url & running=$!
for i in 1 2 3 4 5 6 7 8 9 10; do [ -s url ] && break; sleep 0.3; done
url=$(sed 's,/  .*,,' url)
fetch() { python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$url$1"; }
grep -q '^NoNewPrivs:.1' /proc/$running/status && grep -q '^Seccomp:.2' /proc/$running/status ||
  say "the board is not shut in"
expect "the board has the page" 0 "<html" fetch /
expect "the runs" 0 '"program":"model.ail"' fetch /api/runs
expect "the parameters" 0 '"W"' fetch /api/runs/1/params
expect "and the graph" 0 "<svg" fetch /api/runs/1/graph
[ "$(ls /proc/$running/task | wc -l)" -gt 1 ] || say "the board has no second thread"
for thread in /proc/$running/task/*; do
  grep -q '^Seccomp:.2' "$thread/status" || say "a thread of the board is outside"
done
$tern train model.ail --allow fileread --out runs/e --store new/runs.db > /dev/null
expect "a run that came later" 0 '"W"' fetch /api/runs/2/params
kill -INT $running
wait $running || say "the board did not end well: $?"
"$without" landlock "$tern" board --port 0 --store new/runs.db --sandbox=require > got 2>&1
[ $? -eq 1 ] && grep -q E_SANDBOX_UNAVAILABLE got || { say "a board without Landlock"; cat got; }

# ---- interactive sessions ----
echo '1 2 [ADD]' > three.nth
printf ':load three.nth\n:quit\n' | "$tern" repl --lang ninth --sandbox=require > got 2>&1
grep -q 3 got || { say ":load"; cat got; }

# ---- kernels that lack something ----
for lack in landlock seccomp both; do
  expect "auto without $lack" 0 3 "$without" $lack "$tern" eval '1 + 2'
  expect "require without $lack" 1 E_SANDBOX_UNAVAILABLE "$without" $lack "$tern" eval '1 + 2' --sandbox=require
done
expect "verbose says it once" 0 "no Landlock" "$without" landlock "$tern" eval '1 + 2' -v
expect "an unknown mode" 2 "off, auto or require" "$tern" eval 1 --sandbox=maybe

[ $failed -eq 0 ] && echo "sandbox: all as it should be"
exit $failed
