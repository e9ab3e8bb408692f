#!/bin/sh
# The attack notices every way in which a program may not end: a program that ends in that way stands in for
# tern, which is let through once, to record the training that the attack begins with.
#
#   tests/tools/attack.sh ROOT ATTACK TERN
set -u
root=$1 attack=$2 tern=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# stands_in BODY: a program that records a run as tern does, and then does BODY.
stands_in() {
  cat >"$scratch/tern" <<END
#!/bin/sh
case "\$*" in "train m.ail --allow fileread --out run --store runs.db") exec "$tern" "\$@" ;; esac
$1
END
  chmod +x "$scratch/tern"
}

# notices WHAT BODY [KIND [COUNT]]: the attack of COUNT inputs fails and says so with these words.
notices() {
  stands_in "$2"
  said=$("$attack" --tern "$scratch/tern" --root "$root" --count "${4:-4}" --kind "${3:-programs}" 2>&1)
  status=$?
  case "$status $said" in
    1*"$1"*) ;;
    *) echo "not noticed: $1"; echo "$status: $said"; failed=1 ;;
  esac
}

notices '4 ended by a signal' 'kill -SEGV $$'
notices '4 status 3' 'echo oops; exit 3'
notices '4 unknown status' 'echo oops; exit 99'
notices '4 fails silently' 'exit 1' sessions
notices 'not one JSON object' 'echo no; exit 1' programs 64   # of which some ask for JSON
notices '4 leaves a file' 'mkdir -p run; touch run/.tern-0123456789abcdef.tmp; exit 0' sessions
notices '4 over 10 s' 'kill -XCPU $$'

stands_in 'case "$*" in *--json*) echo "{}" ;; *) echo fine ;; esac'
"$attack" --tern "$scratch/tern" --root "$root" --count 20 >/dev/null || { echo "what holds is refused"; failed=1; }

# A session has at most 64 lines and 4096 bytes, so that what each line may compute adds up to less than 10 s.
stands_in 'cat >session; [ $(wc -l <session) -le 64 ] && [ $(wc -c <session) -le 4096 ] || kill -SEGV $$'
said=$("$attack" --tern "$scratch/tern" --root "$root" --count 100 --kind sessions) || { echo "long: $said"; failed=1; }

# The same number is the same input.
first=$("$attack" --tern "$scratch/tern" --root "$root" --only 17 --kind programs --keep "$scratch/a")
second=$("$attack" --tern "$scratch/tern" --root "$root" --only 17 --kind programs --keep "$scratch/b")
[ "$first" = "$second" ] || { echo "input 17 differs"; failed=1; }
diff -r "$scratch/a" "$scratch/b" || failed=1
exit $failed
