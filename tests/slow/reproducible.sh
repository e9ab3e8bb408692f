#!/bin/sh
# The build is reproducible: the same sources in two folders, built twice, give the same program and the
# same libraries, byte for byte. Argument: the project's root.
root=$(cd "$1" && pwd)
. "$root/tests/tools/expect.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
unset CMAKE_C_COMPILER_LAUNCHER   # a compiler cache would copy what it ought to compile

build() {   # build FOLDER
  mkdir -p "$1"
  (cd "$root" && tar -cf - --exclude=./build --exclude=./.git .) | tar -xf - -C "$1"
  (cd "$1" && cmake --preset release && cmake --build build/release --target product --parallel 2) >"$1.log" 2>&1
}

passes "a build in one folder" build "$scratch/a"
passes "a build in another, with a longer name" build "$scratch/another folder/with a longer name"
library=$(cd "$scratch/a/build/release" && echo libtern.so.*.*.*)
for file in tern libtern.a "$library"; do
  passes "the same $file" cmp "$scratch/a/build/release/$file" \
    "$scratch/another folder/with a longer name/build/release/$file"
done
[ $failures -ne 0 ] || (cd "$scratch/a/build/release" && sha256sum tern libtern.a "$library")
finish
