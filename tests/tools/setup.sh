#!/bin/sh
# tools/setup.sh on machines that lack something, simulated by mocks of the
# compiler, apt-get, id and sudo. Argument: the project's root.
root=$(cd "$1" && pwd)
. "$root/tests/tools/expect.sh"

# machine: a PATH with the ordinary tools and mocks. `lacks` names what this
# machine's compiler cannot find; the mock of apt-get repairs that.
machine() {
  rm -rf "$scratch/bin" "$scratch/lacks" "$scratch/log"
  mkdir "$scratch/bin"
  for tool in sh awk mktemp rm cat echo mkdir grep sed dirname; do
    ln -s "$(command -v $tool)" "$scratch/bin/$tool"
  done
  stand_in cc 'for word; do
  case " $(cat "$LACKS" 2>/dev/null) " in *" $word "*) exit 1 ;; esac
done
case " $* " in *" -E "*) read line; case $line in *"$(cat "$LACKS" 2>/dev/null || echo none)"*) exit 1 ;; esac ;; esac
exit 0'
  for tool in clang clang-19 clang-tidy c++ nm make python3 mlir-opt-19 mlir-cpu-runner-19 \
    dot node npm chromium pkg-config dpkg-shlibdeps zsh fish; do
    stand_in $tool 'exit 0'
  done
  stand_in cmake 'echo "cmake version ${CMAKE_VERSION_PLAYED:-3.25.1}"'
  stand_in id 'echo "${UID_PLAYED:-0}"'
  stand_in apt-get 'echo "apt-get $*" >>"$LOG"
case $1 in install) [ "${APT_FAILS:-no}" = no ] || exit 100; rm -f "$LACKS" ;; esac'
}
stand_in() {
  { echo '#!/bin/sh'; echo "$2"; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
setup() { env -i TERN_PYTHON=python3 PATH="$scratch/bin" LACKS="$scratch/lacks" LOG="$scratch/log" "$@" </dev/null; }
run=$root/tools/setup.sh

machine
passes "a complete machine needs nothing" setup sh "$run" test
if [ -e "$scratch/log" ]; then
  echo "FAILED: apt-get was called though nothing is missing"
  failures=1
fi

machine
echo -lcmocka >"$scratch/lacks"
fails "--check only says what is missing" "missing: libcmocka-dev" setup sh "$run" --check test
passes "what is missing is installed" setup sh "$run" test
cp "$scratch/.output" "$scratch/said"
passes "saying so" grep -q "installing libcmocka-dev" "$scratch/said"
passes "by its name and nothing else" grep -qx "apt-get install -y -qq --no-install-recommends libcmocka-dev" "$scratch/log"

machine
echo mpfr.h >"$scratch/lacks"
passes "a missing header is installed" setup sh "$run" test
passes "from its package" grep -q "libmpfr-dev" "$scratch/log"
machine
echo mpfr.h >"$scratch/lacks"
passes "a build does not need what only tests need" setup sh "$run" build

machine
rm "$scratch/bin/mlir-opt-19"
stand_in mlir-cpu-runner-19 'exit 1'
fails "MLIR without its tools and library is missed" "missing: mlir-19-tools libmlir-19" setup sh "$run" --check test

machine
rm "$scratch/bin/dpkg-shlibdeps"
fails "a package needs what Debian makes packages with" "missing: dpkg-dev" setup sh "$run" --check deb
passes "a build does not" setup sh "$run" --check build

machine
stand_in node 'exit 1'
fails "a package of npm that is missing is said" "missing: onnxruntime-node" setup sh "$run" --check test
fails "and when npm cannot get it" "npm could not install onnxruntime-node" setup sh "$run" test
passes "a build needs none" setup sh "$run" build

machine
fails "an old cmake counts as missing" "missing: cmake" setup CMAKE_VERSION_PLAYED=3.18.4 sh "$run" --check build
rm "$scratch/bin/cmake"
fails "and none at all" "missing: cmake" setup sh "$run" --check build
machine
passes "a newer one does not" setup CMAKE_VERSION_PLAYED=4.0.1 sh "$run" --check build

machine
echo -lcmocka >"$scratch/lacks"
fails "without root and sudo it explains itself" "apt-get install libcmocka-dev" setup UID_PLAYED=1000 sh "$run" test
machine
echo -lcmocka >"$scratch/lacks"
stand_in true 'exit 0'
stand_in sudo '[ "$1" = -n ] && exit 0; echo "sudo" >>"$LOG"; exec "$@"'
passes "sudo is used where it answers" setup UID_PLAYED=1000 sh "$run" test
passes "for installing" grep -q sudo "$scratch/log"

machine
echo -lcmocka >"$scratch/lacks"
fails "a failed installation is said plainly" "apt-get could not install" setup APT_FAILS=yes sh "$run" test
machine
echo -lcmocka >"$scratch/lacks"
rm "$scratch/bin/apt-get"
fails "a machine without apt-get gets the list" "no apt-get" setup sh "$run" test
fails "an unknown job is a mistake" "usage" setup sh "$run" everything
finish
