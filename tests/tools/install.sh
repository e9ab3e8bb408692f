#!/bin/sh
# What `make install` copies, and that it works where it is: the program, the library from C in both forms, the
# module from Python. Arguments: the project's root, a build folder.
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
. "$root/tests/tools/expect.sh"
prefix="$scratch/a place"
version=$(sed -n 's/^project(tern VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH
unset TERN_LIBRARY LD_LIBRARY_PATH

passes "it installs" cmake --install "$build" --prefix "$prefix"
passes "a second time too" cmake --install "$build" --prefix "$prefix"
echo kept >"$scratch/file"
fails "not below a file" "file/below" cmake --install "$build" --prefix "$scratch/file/below"
passes "which stays" grep -qx kept "$scratch/file"

installed() { (cd "$prefix" && find . ! -type d | LC_ALL=C sort); }
{
  echo ./bin/tern
  echo ./include/tern/tern.h
  for file in libtern.a libtern.so libtern.so.${version%%.*} libtern.so.$version pkgconfig/tern.pc \
    python3/dist-packages/tern.py; do
    echo "./lib/$file"
  done
  if [ -e "$build/libtern_mpi.so" ]; then echo ./lib/tern/libtern_mpi.so; fi   # where there is Open MPI
  for file in bash-completion/completions/tern fish/vendor_completions.d/tern.fish man/man1/tern.1 \
    zsh/site-functions/_tern doc/tern/README.md doc/tern/CHANGELOG.md doc/tern/LICENSE; do
    echo "./share/$file"
  done
  (cd "$root" && find docs std examples -type f ! -path '*/__pycache__/*' | sed 's|^|./share/doc/tern/|')
} | LC_ALL=C sort >"$scratch/wanted"
installed >"$scratch/found"
passes "these files and no others" diff "$scratch/wanted" "$scratch/found"

# The program, from anywhere.
tern=$prefix/bin/tern
mkdir "$scratch/elsewhere"
cd "$scratch/elsewhere"
passes "the program runs" "$tern" "$prefix/share/doc/tern/examples/ninth/library.nth"
passes "the manual page is this program's" grep -q "tern $version" "$prefix/share/man/man1/tern.1"

# Its module for MPI, where it is installed.
if [ -e "$build/libtern_mpi.so" ] && command -v mpirun >/dev/null; then
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
  passes "the program trains under mpirun" mpirun --oversubscribe -n 2 \
    -wdir "$prefix/share/doc/tern/examples/ail" "$tern" train xor.ail --allow fileread --steps 3
fi

# The library, from C. In a folder with a blank the flags of pkg-config are quoted, as a makefile would.
example() {   # example NAME LIBRARY-FLAGS...: every program of examples/c, built and run
  name=$1
  shift
  for source in "$root"/examples/c/*.c; do
    own=$name-$(basename "$source" .c)
    eval "${CC:-cc} -Wall -Wextra -Werror \"\$source\" $(pkg-config --cflags tern) $* -o \"\$own\"" || return 1
    LD_LIBRARY_PATH=$prefix/lib "./$own" >"$own.out" || return 1
  done
}
needs_library() { ldd "$1" | grep -q 'libtern\.so'; }
lacks_library() { ldd "$1" && ! needs_library "$1"; }
passes "pkg-config knows the version" test "$(pkg-config --modversion tern)" = "$version"
passes "a program is built with the shared library" example shared "$(pkg-config --libs tern)"
passes "and with the static one" example static \
  "$(pkg-config --static --libs tern | sed 's/-ltern/-l:libtern.a/')"
passes "the first loads it" needs_library ./shared-train
passes "the second has it" lacks_library ./static-train
for source in "$root"/examples/c/*.c; do
  own=$(basename "$source" .c)
  passes "both print the same" cmp "shared-$own.out" "static-$own.out"
done
passes "and that is right" grep -q "right: 180 of 180" shared-train.out

# The header from C++, and a program that remembers where the library is (LD_LIBRARY_PATH is not set).
cat >try.cpp <<'END'
#include <tern/tern.h>
#include <cstdio>
int main() {
  tern_session *session = tern_session_new(nullptr, nullptr);
  std::printf("%s %d\n", tern_version(), session != nullptr);
  tern_session_free(session);
}
END
from_cpp() {
  library=$(pkg-config --variable=libdir tern)
  eval "c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror try.cpp $(pkg-config --cflags --libs tern) \
    -Wl,-rpath,\"\$library\" -o cpp" && test "$(./cpp)" = "$version 1"
}
passes "C++ includes the header, and the program finds the library" from_cpp

# From Python.
cat >try.py <<'END'
import os, sys
import numpy, tern
assert os.path.dirname(tern.__file__) == sys.argv[1] + "/lib/python3/dist-packages", tern.__file__
assert tern._library._name.startswith(sys.argv[1]), tern._library._name
assert tern.version() == sys.argv[2], tern.version()
with tern.Session() as session:
    out = session.compile("model { x [2] y = relu(x) }", "ail").run(x=[1, -1]).outputs()["y"]
    assert out.tolist() == [1, 0], out
END
in_python() {
  PYTHONPATH=$prefix/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
    "${TERN_PYTHON:-/usr/bin/python3}" try.py "$prefix" "$version"
}
passes "the module finds the library beside it" in_python
installed >"$scratch/found"
passes "nothing was written there meanwhile" diff "$scratch/wanted" "$scratch/found"
finish
