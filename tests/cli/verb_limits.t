# Every verb of the table has --max-mem and --max-time, with a code of its own each and status 1.
$ sh $TESTS/support/verb_limits.sh $TESTS/../src/cli/options.def

# The time limit of a session is per line; the session continues.
$ printf 'sum(zeros((1048575, 1048576)))\n1 + 2\n' | tern repl --max-time 0.05 2>&1 | grep -v '^ \|^$'
| error[E_TIME_LIMIT]: the program ran longer than the 0.05 seconds that --max-time allows
| 3

# The board says where it is; a limit is its status, and nothing more with --json.
$ tern board --store none.db --port 0 --max-time 0.05 --json > said; echo $?; grep -c . said; grep -o '"ok":true' said
| 1
| 1
| "ok":true

# Options may precede the verb, with their values.
$ tern --max-time 3 --json eval -1 | grep -o '"value":-1'
| "value":-1
$ tern -q --seed=7 --allow fileread eval 1
| 1
$ echo 'let a = 1' > one.mind; tern --seed 7 --run one.mind; tern --lang mind one.mind
| 1
| 1
$ tern --max-time=3 verison
! error[E_USAGE]: there is no verb verison
!    = hint: did you mean tern version?
!
? 2
$ tern --max-time run one.mind
! error[E_USAGE]: --max-time takes a number of seconds above 0, not run
!    = hint: --max-time SECONDS: stop after SECONDS; repl: per line; run --watch: per run
!
? 2
$ tern --nothing version
! error[E_USAGE]: there is no option --nothing
!    = hint: `tern help` lists the verbs, and `tern help VERB` their options
!
? 2
$ tern -- version
! error[E_USAGE]: there is no verb version
!    = hint: did you mean tern version?
!
? 2
