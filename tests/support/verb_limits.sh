#!/bin/sh
# Every verb of the table keeps --max-mem and --max-time. Says for each verb what was wrong, and nothing else.
#
#   verb_limits.sh OPTIONS.DEF
#
# A verb does not begin when a limit is over already. One that works on what somebody else wrote is stopped on
# the way as well, in the middle of work that would take more than the limit on any machine.
set -u

cat >train.ail <<'END'
model {
  x [B, 2]
  labels [B]
  param W [2, 2]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) steps = 200000 lr = 0.01 }
END
echo 'sum(zeros((1048575, 1048576)))' >endless.mind
yes 'let a = 1 + 2' | head -n 200000 >long.mind
(echo 'model { x [4]'; yes 'h = relu(x)' | head -n 100000; echo '}') >long.ail
tern train train.ail --out run --store history.db >/dev/null
cat >deep.ail <<'END'
model {
  x [B, 1]
  labels [B]
  param U [1, 1024]
  param V [1024, 1024]
  h = matmul(x, U)
  logits = repeat 20 times init h do matmul(logits, V) end
}
train { loss = xent(logits, labels) steps = 1 batch = 1 lr = 0 }
dataset { format = "tsv" path = "deep.tsv" }
END
printf '0\t0\n' >deep.tsv
tern train deep.ail --allow fileread --out deep --store history.db >/dev/null
yes 0 | head -n 5000 >rows.tsv
sed 's/$/\t0/' rows.tsv >labelled.tsv
cat >rhyme.ail <<'END'
model {
  tokens [B, 256]
  labels [B, 256]
  param E [8, 256]
  logits = matmul(embedding(tokens, E), transpose(E))
}
train { loss = xent(logits, labels) steps = 1 batch = 1 lr = 0 }
dataset { format = "text" path = "rhyme.txt" tokens = chars() }
END
yes abc | head -n 100 >rhyme.txt
tern train rhyme.ail --allow fileread --out rhyme --store history.db >/dev/null
python3 - <<'END'
import sqlite3
history = sqlite3.connect("history.db")
history.execute("DELETE FROM losses")
history.executemany("INSERT INTO losses VALUES(1,?,zeroblob(16384))", [(i,) for i in range(400)])
history.executemany("INSERT INTO runs(program) VALUES(?)", [("p%d.ail" % i,) for i in range(50000)])
history.commit()
END

# What a verb is given: words that it takes, and words that keep it busy. A verb whose work does not depend on
# anything from outside has no second ones.
words() {
  busy=
  case $1 in
    run) words=endless.mind busy=endless.mind memory=long.mind ;;
    eval) words='sum(zeros((1048575,1048576)))' busy=$words memory='sum(rand((1000,1000)))' ;;
    train) words=train.ail busy='train.ail --steps 1000000000' memory=long.ail ;;
    app) words='long.ail --event start' busy=$words memory=$words ;;
    predict) words='deep rows.tsv' busy=$words memory=$words ;;
    generate) words='rhyme --prompt a' busy='rhyme --prompt a --tokens 1000000000'
      memory='rhyme --prompt a --cache off' ;;
    evaluate) words='deep labelled.tsv' busy=$words memory=$words ;;
    check) words=long.mind busy=$words memory=$words ;;
    fmt) words='--check long.mind' busy=$words memory=$words ;;
    emit) words='long.mind --as graph' busy=$words memory=$words ;;
    repl) words= busy=' ' memory=' ' ;;
    runs) words='--store history.db' busy='--store history.db --sort program' memory=$words ;;
    plot) words='1 --store history.db -o p.svg' busy=$words memory=$words ;;
    verify) words=run busy=run memory=run ;;
    board) words='--store history.db --port 0' busy=$words memory= ;; # a board that waits needs no memory
    explain) words=E_USAGE ;;
    new) words=project ;;
    completion) words=bash ;;
    ops | doctor | devices | man | version | help) words= ;;
    *) echo "$1: there is no command for it in tests/support/verb_limits.sh"; return 1 ;;
  esac
}

# refuses VERB CODE OPTION WORDS: status 1 and one error, with that code.
refuses() {
  case $2 in *TIME*) line='sum(zeros((1048575, 1048576)))' ;; *) line='sum(rand((2000, 2000)))' ;; esac
  # shellcheck disable=SC2086
  echo "$line" | tern "$1" $4 "$3" >out 2>err
  status=$? found=$(grep -ho 'error\[[A-Z_]*\]' out err | sort -u)
  case $1:$2 in repl:*) [ $status -eq 0 ] || [ "$3" = --max-mem=1 ] ;; *) [ $status -eq 1 ] ;; esac &&
    [ "$found" = "error[$2]" ] || echo "$1 $4 $3: status $status, $found instead of $2"
}

[ -s "$1" ] || exit 1
for verb in $(sed -n 's/^TN_VERB([A-Z_]*, "\([a-z]*\)".*/\1/p' "$1"); do
  words "$verb" || continue
  refuses "$verb" E_MEMORY_LIMIT --max-mem=1 "$words"
  refuses "$verb" E_TIME_LIMIT --max-time=0.000000001 "$words"
  [ -z "$busy" ] || refuses "$verb" E_TIME_LIMIT --max-time=0.01 "$busy"
  [ -z "$busy$memory" ] || [ -z "$memory" ] || refuses "$verb" E_MEMORY_LIMIT --max-mem=200K "$memory"
  memory=
done
[ ! -e project ] || echo "new: made a project after its time"
