#!/bin/sh
# The completions, asked by zsh and fish themselves what they offer. (tests/cli/people.t asks bash.)
# Arguments: the project's root, the program.
root=$(cd "$1" && pwd)
tern=$2
. "$root/tests/tools/expect.sh"
HOME=$scratch XDG_CONFIG_HOME=$scratch/config XDG_DATA_HOME=$scratch/data ZDOTDIR=$scratch
export HOME XDG_CONFIG_HOME XDG_DATA_HOME ZDOTDIR
cd "$scratch"
mkdir functions files
"$tern" completion zsh >functions/_tern
"$tern" completion fish >tern.fish
passes "zsh reads its completion" zsh -n functions/_tern
passes "fish reads its completion" fish --no-config -n tern.fish

# zsh completes only at a terminal: a second one is started after a pseudo-terminal, and what its completion
# hands to compadd is written down.
put try.zsh <<'END'
zmodload zsh/zpty
zpty -b child zsh -f -i
say() { zpty -w child "$1" }
say "PS1=; fpath=($HOME/functions \$fpath); autoload -Uz compinit && compinit -u -D; cd $HOME/files"
say 'compadd() {
  local -a hits
  if [[ " ${@[1,(i)--]} " != *" -[OAD] "* ]]; then
    builtin compadd -A hits "$@"
    print -rl -- $hits >>$HOME/offered
  fi
  builtin compadd "$@"
}'
say 'look() { _main_complete; print -r -- . >>$HOME/offered; exit }'
say 'zle -C look complete-word look; bindkey "^I" look'
zpty -w -n child "$1"$'\t'
for try in {1..400}; do
  [[ -e $HOME/offered && $(tail -n 1 $HOME/offered) == . ]] && break
  zpty -rt child ignored
  sleep 0.05
done
zpty -d child
END
by_zsh() {
  rm -f offered
  zsh -f try.zsh "$1"
  sed '/^\.*$/d' offered | LC_ALL=C sort -u | tr '\n' ' '
}
by_fish() {
  (cd files && fish --no-config -c 'source $HOME/tern.fish; complete -C "$argv[1]"' -- "$1") |
    cut -f1 | LC_ALL=C sort -u | tr '\n' ' '
}

# offers LINE WORDS: both shells offer exactly these for the line.
offers() {
  for shell in zsh fish; do
    got=$(by_$shell "$1")
    [ "$got" = "$2${2:+ }" ] && continue
    echo "FAILED: $shell for \"$1\": wanted \"$2\", got \"$got\""
    failures=$((failures + 1))
  done
}
touch files/model.ail files/notes.txt
mkdir -p bin files/old files/runs/1 files/runs/2 files/data
ln -s "$tern" bin/tern
PATH=$scratch/bin:$PATH
touch files/old/run.json files/runs/1/run.json files/runs/2/run.json
offers "tern tra" "train"
offers "tern train --res" "--resume"
offers "tern emit model.ail --as m" "mlir"
offers "tern repl --lang " "ail mind ninth"
offers "tern help expl" "explain"
offers "tern completion " "bash fish zsh"
offers "tern run mod" "model.ail"
offers "tern plot --metric " "accuracy eval_loss loss train_loss"
offers "tern train model.ail --sandbox r" "require"
offers "tern doctor n" ""
# What only tern knows: codes, operations, and which folders are runs.
offers "tern explain E_STACK_U" "E_STACK_UNDERFLOW"
offers "tern ops matm" "matmul"
offers "tern plot runs/" "runs/1 runs/2"
offers "tern train model.ail --resume runs/" "runs/1 runs/2"
offers "tern fmt --metr" ""
# And the runs of the history.
printf 'model {\n  x [B, 1]\n  param W [1, 1]\n  y = matmul(x, W)\n}\n' >y.ail
printf 'train {\n  loss = sum(y)\n  steps = 1\n}\n' >>y.ail
export XDG_DATA_HOME="$scratch/history"
for i in 1 2; do "$tern" train y.ail --input 'x=[[1]]' -q --out "r$i" >/dev/null; done
offers "tern runs " "compare rm show"
offers "tern runs show " "1 2 last old runs/1 runs/2"
offers "tern runs compare 1 l" "last"
offers "tern plot " "1 2 last old runs/1 runs/2"
finish
