#!/bin/sh
# Installs what a job needs and the machine lacks, saying so.
#
#   tools/setup.sh build          what `make` needs
#   tools/setup.sh test           what `make test` needs beyond that
#   tools/setup.sh slow           what `make test-slow` and `make test-bits` need beyond that
#   tools/setup.sh deb            what `make deb` needs beyond that
#   tools/setup.sh wheel          what `make wheel` needs beyond that
#   tools/setup.sh bench          what `make bench` compares with
#   tools/setup.sh fuzz           what `make fuzz` searches with
#   tools/setup.sh coverage       what `make coverage` counts with, and what `make test` needs
#   tools/setup.sh --check build  only say what is missing; status 1 if anything is
#
# Whether something is there is found by trying it, not by asking a package
# manager: a compiler from elsewhere is as good as Debian's. Only what fails is
# installed, with apt-get, as root or through sudo.
set -eu

check_only=no
if [ "${1:-}" = --check ]; then
  check_only=yes
  shift
fi
job=${1:-build}
case $job in
  build | deb | wheel | test | slow | bench | fuzz | coverage) ;;
  *) echo "usage: tools/setup.sh [--check] build|deb|wheel|test|slow|bench|fuzz|coverage" >&2; exit 2 ;;
esac

compiler=${CC:-cc}
missing=

# need PACKAGE COMMAND...: PACKAGE is missing unless COMMAND succeeds.
need() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 && return
  case " $missing " in *" $package "*) ;; *) missing="$missing $package" ;; esac
}

has_header() {      # has_header COMPILER HEADER [flag...]
  tool=$1 header=$2
  shift 2
  echo "#include <$header>" | "$tool" "$@" -E -x c -
}

can_link() {        # can_link COMPILER [flag...]
  probe=$(mktemp -d)
  echo 'int main(void) { return 0; }' >"$probe/a.c"
  status=0
  "$@" "$probe/a.c" -o "$probe/a.out" || status=$?
  rm -rf "$probe"
  return $status
}

# The runner of MLIR comes without the library that programs call to copy a tensor.
mlir_runs() {
  echo 'llvm.func @rtclock() -> f64' \
    'llvm.func @main() { %0 = llvm.call @rtclock() : () -> f64 llvm.return }' | mlir-cpu-runner-19 -e main -entry-point-result=void \
    --shared-libs=/usr/lib/llvm-19/lib/libmlir_c_runner_utils.so.19.1
}

cmake_is_new_enough() {   # presets of version 6 came with CMake 3.25
  cmake --version | awk 'NR == 1 { split($3, v, "."); new = v[1] > 3 || (v[1] == 3 && v[2] >= 25) } END { exit !new }'
}

list_missing() {
  missing=
  need gcc command -v "$compiler"
  need libc6-dev has_header "$compiler" stdlib.h
  need make command -v make
  need cmake cmake_is_new_enough
  need binutils command -v nm
  # Wanted, but not missed: without them `tern repl` reads plain lines, runs are not recorded, and there
  # is no `tern board`.
  [ $check_only = yes ] || need libmicrohttpd-dev has_header "$compiler" microhttpd.h
  [ $check_only = yes ] || need libsqlite3-dev has_header "$compiler" sqlite3.h
  [ $check_only = yes ] || need libedit-dev has_header "$compiler" editline/readline.h -include stdio.h
  if [ "$job" = bench ]; then
    list_missing_peers
  elif [ "$job" = deb ]; then
    need dpkg-dev command -v dpkg-shlibdeps
  elif [ "$job" = wheel ]; then
    need_wheel
  elif [ "$job" = fuzz ]; then
    need clang-19 command -v clang-19
    need libclang-rt-19-dev can_link clang-19 -fsanitize=fuzzer,address,undefined -Dmain=LLVMFuzzerTestOneInput
  elif [ "$job" != build ]; then
    list_missing_for_tests
  fi
}

# Debian's own, run by Debian's Python; OpenBLAS in the variant that shares PyTorch's threads.
list_missing_peers() {
  need g++ command -v c++
  need python3-torch /usr/bin/python3 -c 'import torch'
  need python3-pandas /usr/bin/python3 -c 'import pandas'
  need libopenblas0-openmp test -e "/usr/lib/$(uname -m)-linux-gnu/openblas-openmp/libopenblas.so.0"
  need libopenblas-dev can_link "$compiler" -lopenblas
  need libdnnl-dev can_link "$compiler" -ldnnl
  need libsimdjson-dev can_link c++ -lsimdjson
}

need_wheel() {
  need python3-pip "${TERN_PYTHON:-/usr/bin/python3}" -m pip --version
  need python3-setuptools "${TERN_PYTHON:-/usr/bin/python3}" -c 'import setuptools'
  need python3-wheel "${TERN_PYTHON:-/usr/bin/python3}" -c 'import wheel'
}

list_missing_for_tests() {
  need libcmocka-dev can_link "$compiler" -lcmocka
  need libgmp-dev has_header "$compiler" gmp.h
  need libmpfr-dev has_header "$compiler" mpfr.h
  need g++ command -v c++
  need clang command -v clang
  need clang-19 command -v clang-19
  need clang-tidy command -v clang-tidy
  need libclang-rt-dev can_link clang -fsanitize=address,undefined
  need python3 command -v python3
  need pkg-config command -v pkg-config
  need dpkg-dev command -v dpkg-shlibdeps
  need zsh command -v zsh
  need fish command -v fish
  need mlir-19-tools command -v mlir-opt-19
  need libmlir-19 mlir_runs
  need graphviz command -v dot
  need python3-numpy "${TERN_PYTHON:-/usr/bin/python3}" -c 'import numpy'
  need_wheel
  need python3-ipykernel "${TERN_PYTHON:-/usr/bin/python3}" -c 'import ipykernel'
  need python3-nbclient "${TERN_PYTHON:-/usr/bin/python3}" -c 'import nbclient'
  need nodejs command -v node
  need npm command -v npm
  need chromium command -v chromium
  [ "$job" != coverage ] || need_coverage
  [ "$job" = slow ] || return 0
  need libopenmpi-dev command -v mpicc
  need openmpi-bin command -v mpirun
  need iproute2 command -v ip
  need slurmctld command -v slurmctld
  need slurmd command -v slurmd
  need slurm-client command -v srun
  need munge command -v munged
  need_machine aarch64 arm64
  need_machine riscv64 riscv64
  need_machine s390x s390x
  need clang-19 command -v clang-19
  need lld-19 command -v wasm-ld-19
  need llvm-19 command -v llvm-ar-19
  need wasi-libc has_header clang-19 stdlib.h --target=wasm32-wasi --sysroot=/usr
  need libclang-rt-19-dev-wasm32 test -f /usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a
  need nodejs node_has_wasi
}

need_coverage() {
  need clang-19 command -v clang-19
  need llvm-19 command -v llvm-cov-19
  need libclang-rt-19-dev can_link clang-19 -fprofile-instr-generate
}

# need_machine MACHINE DEBIAN-NAME: a compiler for it, its C library, and something to run it.
need_machine() {
  need gcc-$1-linux-gnu command -v "$1-linux-gnu-gcc"
  need libc6-dev-$2-cross can_link "$1-linux-gnu-gcc"
  need qemu-user command -v "qemu-$1"
}

node_has_wasi() {
  node --experimental-wasi-unstable-preview1 -e 'new (require("node:wasi").WASI)({ version: "preview1" })'
}

# What only npm has: judges of the tests, in a folder of the build, in versions that run on Debian 12's Node.js 18.
npm_folder=build/npm
npm_packages="onnxruntime-node@1.30.0 playwright-core@1.60.0 tokenizers@0.23.2"

npm_is_there() {
  node -e "require('./$npm_folder/node_modules/${1%@*}')" >/dev/null 2>&1
}

# Their install scripts would fetch libraries for graphics cards.
install_from_npm() {
  for package in $npm_packages; do
    npm_is_there "$package" && continue
    if [ $check_only = yes ]; then
      echo "missing: $package   (tools/setup.sh $job installs it with npm)" >&2
      exit 1
    fi
    echo "tern: installing $package (npm)"
    mkdir -p "$npm_folder"
    npm install --ignore-scripts --no-audit --no-fund --silent --prefix "$npm_folder" "$package" &&
      npm_is_there "$package" || {
      echo "npm could not install $package, which the tests need" >&2
      exit 1
    }
  done
}

# Runs a command with the right to change the machine, or explains why it cannot.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    sudo "$@"
  else
    return 77
  fi
}

give_up() {
  {
    echo "tern needs these packages:$missing"
    echo "$1"
    echo "Install them by hand, for example with:  apt-get install$missing"
  } >&2
  exit 1
}

install_missing() {
  command -v apt-get >/dev/null 2>&1 || give_up "There is no apt-get on this machine."
  echo "tern: installing$missing (apt-get)"
  DEBIAN_FRONTEND=noninteractive
  export DEBIAN_FRONTEND
  status=0
  as_root apt-get update -qq || status=$?
  [ $status -ne 77 ] || give_up "Installing needs root, and sudo does not answer here."
  # Stale lists from a failed update may still do; the install decides.
  as_root apt-get install -y -qq --no-install-recommends $missing ||
    give_up "apt-get could not install them."
}

list_missing
if [ -z "$missing" ]; then
  case $job in test | slow | coverage) install_from_npm ;; esac
  exit 0
fi
if [ $check_only = yes ]; then
  echo "missing:$missing   (tools/setup.sh $job installs them)" >&2
  exit 1
fi
install_missing
list_missing
[ -z "$missing" ] || give_up "They were installed, yet cannot be used."
case $job in test | slow | coverage) install_from_npm ;; esac
