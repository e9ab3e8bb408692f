#!/bin/sh
# The same bits everywhere: runs the programs of tests/bits in many ways and compares what comes of them
# with tests/bits/table.txt, which holds a SHA-256 for every result, final weights and printed text.
#
#   tools/test_bits.sh [--jobs N] [GROUP...]   default: every group
#   tools/test_bits.sh --update                rewrite the table, from build/tern
#
# A group is something in which runs may differ and bits may not:
#
#   once        not at all: the program as it is
#   threads     1, 2, 3, 4, 7 and 16 of them
#   isa         every set of kernels that this machine runs
#   passes      each optimiser pass left out, and all of them
#   rows        a row alone and in a batch
#   resume      a training that is stopped and resumed, at every third step
#   compilers   gcc and clang, -O0 to -O3              (builds below build/bits)
#   aarch64, riscv64, s390x   other machines, under qemu   (builds in build/aarch64, ...)
#   wasm32      no machine at all, under node          (builds in build/wasm32)
#
# Each line of the table that is printed is one way to run everything; the last line counts them.
set -u
cd "$(dirname "$0")/.." || exit 1

root=$PWD
bits=$root/tests/bits
tern=${TERN:-$root/build/tern}
every="once threads isa passes rows resume compilers aarch64 riscv64 s390x wasm32"
jobs=2
update=no
groups=
while [ $# -gt 0 ]; do
  case $1 in
    --jobs) jobs=$2; shift 2 ;;
    --update) update=yes; shift ;;
    *)
      case " $every " in
        *" $1 "*) groups="$groups $1"; shift ;;
        *) echo "usage: tools/test_bits.sh [--jobs N] [--update] [GROUP...]; groups: $every" >&2; exit 2 ;;
      esac ;;
  esac
done
[ -n "$groups" ] || groups=$every
case $tern in /*) ;; *) tern=$root/$tern ;; esac
case $groups in
  *once* | *threads* | *isa* | *passes* | *rows* | *resume*)
    [ -x "$tern" ] || { echo "tools/test_bits.sh: $tern is not there; run make, or name one in TERN" >&2; exit 2; } ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME="$work/data"   # runs are remembered there, not in the user's own history
ways=0
wrong=0

hash_of() {
  sha256sum <"$1" | cut -d ' ' -f 1
}

# table COMMAND...: the hash of all that comes of every program when COMMAND is tern. The words in $more
# go after each command line.
more=
table() {
  while read -r name words <&3; do
    case $name in '#'* | '') continue ;; esac
    for form in text json; do
      rm -rf "$work/out"
      # A folder once is enough; without SQLite it comes with a warning, which is no result.
      case $form in
        text) line=$(echo "$words" | sed "s|OUT|$work/out|") ;;
        json) line="$(echo "$words" | sed 's| --out OUT.*||') --json" ;;
      esac
      # shellcheck disable=SC2086  # words, not one word
      (cd "$bits/programs" && "$@" $line $more) >"$work/printed" 2>/dev/null </dev/null
      echo "status $?" >>"$work/printed"
      echo "$(hash_of "$work/printed")  $name $form"
      for file in weights.safetensors history.jsonl; do
        [ ! -f "$work/out/$file" ] || echo "$(hash_of "$work/out/$file")  $name $form $file"
      done
    done
  done 3<"$bits/programs.txt"
}

# report WAY SAME ALL
report() {
  ways=$((ways + 1))
  if [ "$2" -eq "$3" ] && [ "$3" -gt 0 ]; then
    verdict=same
  else
    verdict=DIFFERENT
    wrong=$((wrong + 1))
  fi
  printf '%-34s %4d of %d  %s\n' "$1" "$2" "$3" $verdict
}

# compare WAY COMMAND...: all the programs, run by COMMAND, against the table.
compare() {
  way=$1
  shift
  table "$@" | sort >"$work/here"
  sort "$bits/table.txt" >"$work/there"
  report "$way" "$(comm -12 "$work/here" "$work/there" | wc -l)" "$(wc -l <"$work/there")"
  comm -23 "$work/here" "$work/there" | sed 's/^[0-9a-f]*  /    differs: /'
}

# ---- the groups ----

once() { compare "as it is" "$tern"; }

threads() {
  for count in 1 2 3 4 7 16; do
    more="--threads $count"
    compare "$count threads" env TERN_CORES="$count" "$tern"
  done
  more=
}

isa() {
  for name in portable baseline avx2 avx512 neon; do
    if TERN_ISA=$name "$tern" version >/dev/null 2>&1; then
      compare "kernels: $name" env TERN_ISA=$name "$tern"
    else
      echo "kernels: $name: this machine has no such instructions"
    fi
  done
}

passes() {
  for list in fold cse dce fuse recompute fold,cse,dce,fuse,recompute; do
    more="--without $list"
    compare "without $list" "$tern"
  done
  more=
}

# The model's answer to token lists, as numbers one a line.
answers() {   # answers WEIGHTS TOKENS
  (cd "$bits/programs" && "$tern" run reviews.ail --json --weights "$1" --input "tokens=$2") |
    sed 's/.*"data":\[\([^]]*\)\].*/\1/' | tr ',' '\n'
}

rows() {
  (cd "$bits/programs" && "$tern" train reviews.ail -q --allow fileread --out "$work/run") >/dev/null 2>&1
  sed 's/.*"tokens":\(\[[0-9,]*\]\).*/\1/' "$bits/programs/reviews.jsonl" >"$work/rows"
  weights=$work/run/weights.safetensors
  answers "$weights" "[$(paste -s -d , "$work/rows")]" >"$work/batch"
  while read -r row; do answers "$weights" "[$row]"; done <"$work/rows" >"$work/alone"
  count=$(wc -l <"$work/rows")
  report "a row alone and in a batch of $count" "$(paste "$work/batch" "$work/alone" |
    awk '$1 == $2 && $1 ~ /^-?[0-9]/ { same++ } END { print same + 0 }')" $((3 * count))
}

# The schedule of the other training depends on the number of steps, so it cannot be cut short.
resume() {
  for program in attention synthetic; do
    step=3 same=0 all=0
    wanted=$(awk -v name=$program '$2 == name && $4 == "weights.safetensors" { print $1; exit }' \
      "$bits/table.txt")
    seed=42
    [ $program = attention ] || seed=9
    while [ $step -lt 30 ]; do
      rm -rf "$work/run"
      (cd "$bits/programs" &&
        "$tern" train $program.ail -q --allow fileread --seed $seed --out "$work/run" --steps $step &&
        "$tern" train $program.ail -q --allow fileread --seed $seed --resume "$work/run" --out "$work/run") \
        >/dev/null 2>&1
      [ "$(hash_of "$work/run/weights.safetensors")" != "$wanted" ] || same=$((same + 1))
      all=$((all + 1)) step=$((step + 3))
    done
    report "$program, stopped and resumed" $same $all
  done
}

# build FOLDER cmake-words...: tern in FOLDER; false when it cannot be built.
build() {
  folder=$1
  shift
  mkdir -p "$folder"
  if cmake "$@" --log-level=WARNING >"$folder/bits.log" 2>&1 &&
    cmake --build "$folder" --parallel "$jobs" --target tern >>"$folder/bits.log" 2>&1; then
    return 0
  fi
  grep -E -A4 'error|Error ' "$folder/bits.log" | head -n 40
  report "build in $folder" 0 1
  return 1
}

compilers() {
  for compiler in gcc clang; do
    for level in 0 1 2 3; do
      folder=build/bits/$compiler-O$level
      build $folder -S . -B $folder -DCMAKE_C_COMPILER=$compiler -DCMAKE_BUILD_TYPE=Bits \
        -DCMAKE_C_FLAGS="-O$level -DNDEBUG" -DTN_FEW_ISAS=ON || continue
      compare "$compiler -O$level" "$root/$folder/tern"
      compare "$compiler -O$level, portable" env TERN_ISA=portable "$root/$folder/tern"
    done
  done
}

machine() {
  build "build/$1" --preset "$1" || return
  emulated="qemu-$1 -L /usr/$1-linux-gnu"
  # shellcheck disable=SC2086
  compare "$1" $emulated "$root/build/$1/tern"
}

aarch64() { machine aarch64; }
riscv64() { machine riscv64; }
s390x() { machine s390x; }

wasm32() {
  build build/wasm32 --preset wasm32 || return
  compare wasm32 node --experimental-wasi-unstable-preview1 "$root/tools/wasm_run.mjs" "$root/build/wasm32/tern"
}

if [ $update = yes ]; then
  table "$tern" >"$work/new"
  cp "$work/new" "$bits/table.txt"
  echo "tests/bits/table.txt: $(wc -l <"$bits/table.txt") hashes"
  exit 0
fi
for group in $groups; do
  $group
done
echo "$ways ways, $wrong different"
[ $wrong -eq 0 ] && [ $ways -gt 0 ]
