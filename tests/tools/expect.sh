# Sourced by the tests of our tools: a scratch folder, and what must come out of a command.
set -u
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# passes WHAT COMMAND...
passes() {
  what=$1
  shift
  if ! "$@" >"$scratch/.output" 2>&1; then
    echo "FAILED: $what: should pass, but said:"
    cat "$scratch/.output"
    failures=$((failures + 1))
  fi
}

# fails WHAT WORDS COMMAND...: COMMAND fails, and WORDS are in what it says.
fails() {
  what=$1 words=$2
  shift 2
  if "$@" >"$scratch/.output" 2>&1; then
    echo "FAILED: $what: passed"
    failures=$((failures + 1))
  elif ! grep -qF -- "$words" "$scratch/.output"; then
    echo "FAILED: $what: should say \"$words\", but said:"
    cat "$scratch/.output"
    failures=$((failures + 1))
  fi
}

# put FILE: writes standard input to FILE below the scratch folder.
put() {
  mkdir -p "$scratch/$(dirname "$1")"
  cat >"$scratch/$1"
}

finish() {
  [ $failures -eq 0 ] && echo "ok"
  exit $((failures > 0))
}
