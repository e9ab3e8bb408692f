# The program under its sandbox: what it may still do works, what it may not is refused by the kernel, and
# a kernel that lacks something is said to.
#
#   sandbox.sh TERN WITHOUT
set -u
tern=$1 without=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
trap '' PIPE # a command that ends too early is a failure of its own
cd "$folder" || exit 1
failed=0

say() { echo "sandbox: $*"; failed=1; }
# expect NAME WANTED-STATUS WANTED-TEXT COMMAND...: both streams together hold the text.
expect() {
  name=$1 wanted=$2 text=$3; shift 3
  "$@" >got 2>&1 </dev/null
  status=$?
  [ "$status" -eq "$wanted" ] || { say "$name: status $status, wanted $wanted"; cat got; }
  [ -z "$text" ] || grep -qF -- "$text" got || { say "$name: no '$text' in:"; cat got; }
}

# Until the program that runs is inside; a slow machine takes its time.
await_sandbox() {
  for i in $(seq 600); do
    grep -q '^Seccomp:.2' "/proc/$running/status" 2>/dev/null && break
    sleep 0.1
  done
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

# ---- folders that are granted ----
mkdir -p room/deep && echo inside > room/deep/file && echo outside > outside && echo outside > room.txt
ln -s deep/file room/inner && ln -s ../outside room/out && ln -s .. room/up && ln -s "$folder" room/home
ln -s ../nothing room/dangling && ln -s room alias
read_file() { printf 'print(read("%s"))\n' "$1" > read.mind; shift; "$tern" read.mind --sandbox=require "$@"; }
granted="--allow fileread=room"
for path in room/deep/file room/inner room//deep/./file room/up/room/deep/file "$folder/room/deep/file" alias/inner; do
  expect "beneath a folder that is granted: $path" 0 inside read_file $path $granted
done
for path in room/../outside room/out room/up/outside room/home/outside outside "$folder/outside" ../../../../etc/passwd \
            /etc/passwd /proc/self/environ room.txt "$folder" room/up/nothing nothing; do
  expect "not beneath a folder that is granted: $path" 1 "is not beneath room" read_file $path $granted
done
expect "a link to nothing outside" 1 error read_file room/dangling $granted
expect "the folder itself" 1 is_a_directory read_file room $granted
expect "one of two folders" 0 inside read_file room/deep/file --allow fileread=/etc $granted
expect "a folder through a link" 0 inside read_file room/deep/file --allow fileread=alias
expect "a folder as a part of its name" 1 "is not beneath roo" sh -c 'mkdir roo; exec "$@"' - \
  "$tern" read.mind --sandbox=require --allow fileread=roo
expect "the current folder" 0 inside read_file room/deep/file --allow fileread=.
expect "the root" 0 inside read_file "$folder/room/deep/file" --allow fileread=/
expect "a path that a file holds, in the folder" 0 inside sh -c 'printf room/inner > room/pointer
  printf "print(read(read(\"room/pointer\")))\n" > read.mind; exec "$@"' - "$tern" read.mind --sandbox=require $granted
expect "a path that a file holds, out of it" 1 "is not beneath room" sh -c 'printf outside > room/pointer; exec "$@"' - \
  "$tern" read.mind --sandbox=require $granted
for wrong in fileread=nothing fileread=outside fileread= filewrite=nothing clock=room network=room exec filereads; do
  expect "--allow $wrong" 2 E_USAGE "$tern" eval 1 --allow $wrong
done
expect "the capabilities are listed" 2 "fileread, filewrite, clock, network, fileread=DIR and filewrite=DIR" \
  "$tern" check named.mind --allow exec

# ---- only what a program opens is granted ----
opens() { name=$1 wanted=$2 text=$3; printf '%s\n' "$4" > opens.mind
  expect "$name" "$wanted" "$text" "$tern" opens.mind --allow fileread --sandbox=require; }
opens "a string that is not read" 1 permission_denied 'let decoy = "secret"
print(decoy, read(read("pointer")))'
opens "a string in a comparison" 1 permission_denied 'print("secret" == "x", read(read("pointer")))'
opens "a string that another function gets" 1 permission_denied 'fn f(s: string) -> string = s
print(f("secret"), read(read("pointer")))'
opens "a name" 0 named 'let p = "named"
print(read(p))'
opens "a branch" 0 named 'let p = if 1 > 2 { "secret" } else { "named" }
print(read(p))'
opens "a parameter" 0 named 'fn f(s: string) -> string !fileread = read(s)
print(f("named"))'
opens "a parameter of a parameter" 0 named 'fn f(s: string) -> string !fileread = read(s)
fn g(t: string) -> string !fileread = f(t)
print(g("named"))'
opens "what a function gives" 0 named 'fn f(x: f32) -> string = if x > 0.0 { "named" } else { "secret" }
print(read(f(1.0)))'
opens "an item of a tuple" 0 named 'let t = ("named", 1)
print(read(t.0))'
opens "a method" 0 named 'print("named".read())'
opens "a closure" 0 named 'let f = |p| read(p)
print(f("named"))'
opens "another name of read" 0 named 'let r = read
print(r("named"))'
opens "a name that is assigned again" 0 named 'let p = "secret"
p = "named"
print(read(p))'
printf 'fn load(s: string) -> string !fileread = read(s)\nexport { load }\n' > lib.mind
opens "a function of a module" 0 named 'import lib
print(lib.load("named"))'

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
expect "it resumes from there" 0 "Training completed" $train --resume runs/a/b --steps 60 --out runs/c
expect "and in its own folder" 0 "Training completed" $train --resume runs/a/b --steps 80
verified() (cd runs/a && "$tern" verify b --allow fileread --sandbox=require)
expect "a run is repeated from another folder" 0 "agree in every bit" verified
expect "a folder that is not there is not made" 1 E_FILE_NOT_FOUND $train --resume runs/none
[ -e runs/none ] && say "the folder was made"
$tern train model.ail --allow fileread --sandbox=off --json > off.json
$tern train model.ail --allow fileread --sandbox=require --json > on.json
cmp -s off.json on.json || say "the sandbox changes the result"

# ---- what the kernel says of a running program ----
echo '1000000000 [REPEAT] [64 64] [ONES] [64 64] [ONES] [MATMUL] [DROP] [END]' > long.nth
"$tern" long.nth --sandbox=require --threads 2 & running=$!
await_sandbox
sleep 1 # threads come later
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
$emit -o link || say "one after a link is not replaced"
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
await_sandbox
grep -q '^Seccomp:.2' /proc/$running/status || say "emit runs a program outside"
kill -INT $running
wait $running

# ---- every verb, before it parses ----
# What is parsed here is broken. A verb that says so before it misses the sandbox has parsed outside of it.
mkdir broken && printf 'let = (\n' > broken/a.mind && printf '[ADD' > broken/b.nth && printf 'model {' > broken/c.ail
printf '{"program":' > broken/run.json && printf '{"step"' > broken/history.jsonl && printf 'x' > broken/checkpoint
printf 'no numbers' > broken/x.npy && printf 'PK' > broken/x.npz && printf '[1,' > broken/x.json
printf 'no weights at all' > broken/w.safetensors && printf 'SQLite format 3 but not' > broken/runs.db
tried=0
before_parsing() { tried=$((tried + 1)); expect "$* parses inside" 1 E_SANDBOX_UNAVAILABLE \
  "$without" landlock "$tern" "$@" --sandbox=require; }
for file in broken/a.mind broken/b.nth broken/c.ail; do
  for verb in run check fmt "fmt --check" "fmt --diff" "emit --as graph"; do before_parsing $verb $file; done
done
before_parsing app broken/c.ail --event start
before_parsing train broken/c.ail
before_parsing train model.ail --allow fileread --store broken/runs.db --out runs/z
before_parsing train model.ail --allow fileread --resume broken
before_parsing eval 'let = ('
before_parsing eval '[ADD' --lang ninth
for value in npy npz json; do before_parsing run model.ail --input x=@broken/x.$value; done
before_parsing run model.ail --param W=@broken/x.npy
before_parsing run model.ail --weights broken/w.safetensors
before_parsing train model.ail --weights broken/w.safetensors
before_parsing emit model.ail --as onnx --weights broken/w.safetensors
before_parsing verify broken
before_parsing evaluate broken rows.jsonl
before_parsing evaluate broken rows.jsonl --record
before_parsing plot broken
before_parsing plot broken -o broken.svg
before_parsing plot last --store broken/runs.db
before_parsing runs --store broken/runs.db
before_parsing runs show 1 --store broken/runs.db
before_parsing runs compare 1 2 --store broken/runs.db
before_parsing runs rm 1 --store broken/runs.db
before_parsing board --port 0 --store broken/runs.db
echo 'let = (' | "$without" landlock "$tern" repl --sandbox=require > got 2>&1; grep -q E_SANDBOX_UNAVAILABLE got || say "repl"
[ -e runs/z ] && say "a run that was refused has left its folder"
[ -e broken.svg ] && say "a picture that was refused is there"
echo "sandbox: $tried commands parse inside"
# The kernel's word for it, while a verb waits for the text.
mkfifo text
for verb in "check -" "fmt -" "fmt - --check"; do
  "$tern" $verb --lang mind --sandbox=require < text > got 2>&1 & running=$!
  exec 9> text
  await_sandbox
  grep -q '^Seccomp:.2' /proc/$running/status || say "$verb reads outside"
  echo 1 >&9; exec 9>&-
  wait $running
done
# And everything still works inside.
mkdir work && printf 'let   x=1\nprint(x)\n' > work/a.mind && printf 'let y = 2\nexport { y }\n' > work/b.mind
printf 'import b\nprint( b.y )\n' > work/c.mind && cp model.ail work/
inside() { (cd work && "$tern" "$@" --sandbox=require); }
expect "check" 0 "c.mind: ok" inside check a.mind c.mind model.ail
expect "check from another folder" 0 "work/c.mind: ok" "$tern" check work/c.mind model.ail --sandbox=require
expect "check of what is not there" 2 "no such file" inside check none.mind
expect "check of a folder" 2 "it is a folder" inside check ../work --lang mind
expect "imports" 0 2 inside run c.mind
expect "imports from another folder" 0 2 "$tern" work/c.mind --sandbox=require
expect "imports of a text" 0 2 inside eval 'import b
print(b.y)'
expect "fmt says what differs" 1 "not formatted" inside fmt --check a.mind c.mind
expect "fmt shows it" 0 "+let x = 1" inside fmt --diff a.mind
expect "fmt writes" 0 "" inside fmt a.mind c.mind
expect "fmt has written" 0 "" inside fmt --check a.mind c.mind
expect "fmt writes elsewhere" 0 "" "$tern" fmt work/a.mind work/b.mind --sandbox=require
expect "a run that is recorded" 0 completed $train --out runs/recorded --store work/runs.db
expect "runs" 0 model.ail inside runs --store runs.db
expect "runs, sorted and filtered" 0 model.ail inside runs --store runs.db --sort loss --where status=completed
python3 - work/runs.db work/long.db <<'END'
import shutil, sqlite3, sys
shutil.copy(sys.argv[1], sys.argv[2])
database = sqlite3.connect(sys.argv[2])
columns = [row[1] for row in database.execute("PRAGMA table_info(runs)")]
run = list(database.execute("SELECT * FROM runs").fetchone())
for number in range(2, 1500):
    run[columns.index("id")], run[columns.index("source")] = number, "x" * 4000
    database.execute(f"INSERT INTO runs VALUES({','.join('?' * len(columns))})", run)
database.commit()
END
expect "runs, more than are sorted in a cache" 0 model.ail inside runs --store long.db --sort loss
expect "show" 0 model.ail inside runs show last --store runs.db
expect "plot" 0 "<svg" inside plot ../runs/recorded
expect "an evaluation" 0 accuracy inside evaluate ../runs/recorded ../rows.jsonl
[ -e runs/recorded/evaluation.json ] && say "an evaluation was recorded unasked"
expect "an evaluation that is recorded" 0 accuracy inside evaluate ../runs/recorded ../rows.jsonl --record
grep -q confusion runs/recorded/evaluation.json || say "no evaluation was recorded"
expect "plot to a file" 0 "" inside plot last --store runs.db -o loss.svg
grep -q "<svg" work/loss.svg || say "no picture"
expect "rm" 0 forgotten inside runs rm 1 --store runs.db
expect "a history that is not there" 0 "" inside runs --store none.db
expect "a run with weights and values" 0 logits inside run model.ail --json --weights ../runs/recorded/weights.safetensors \
  --input x='[[1, 2]]'
expect "a program that is refused" 1 E_ "$tern" train broken/c.ail --out runs/new/deep --sandbox=require
[ -e runs/new ] && say "a program that was refused has left a folder"
mkdir runs/there && "$tern" train broken/c.ail --out runs/there --sandbox=require > got 2>&1
[ -d runs/there ] || say "a folder that was there has gone"

# ---- the board ----
$tern train model.ail --allow fileread --out runs/d --store new/runs.db > /dev/null || say "no run for the board"
"$tern" board --port 0 --store new/runs.db --sandbox=require > url & running=$!
for i in $(seq 600); do [ -s url ] && break; sleep 0.1; done
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
