#!/bin/sh
# The Debian package: its fields and files, the same bytes whenever it is made, and that nothing stays when it is
# removed. It is installed into a folder with a database of packages of its own; the machine's is not
# touched. Arguments: the project's root, a build folder.
root=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
. "$root/tests/tools/expect.sh"
PATH=$PATH:/usr/sbin:/sbin
SOURCE_DATE_EPOCH=1700000000
TERN_DEB_LEVEL=0   # what is packed counts here, not how small
export PATH SOURCE_DATE_EPOCH TERN_DEB_LEVEL
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
cd "$scratch"

passes "it is made" sh "$root/tools/deb.sh" "$build" one
again() { (umask 077 && TZ=Asia/Tokyo LC_ALL=C sh "$root/tools/deb.sh" "$build" two); }
passes "a second time, by somebody else" again
package=$(echo one/*.deb)
passes "with the same bytes" cmp "$package" "two/${package#one/}"

field() { dpkg-deb -f "$package" "$1"; }
holds() { echo "$1" | grep -q "$2"; }
passes "it is named after what it is" test "$package" = "one/tern_$(field Version)_$(field Architecture).deb"
for library in libc6 libsqlite3-0 libedit2; do
  passes "it depends on $library" holds "$(field Depends)" "\\b$library\\b"
done
passes "what tern board loads is recommended" holds "$(field Recommends)" libmicrohttpd12
passes "and not needed" test -z "$(field Depends | grep microhttpd)"
passes "nor is a runtime for threads" test -z "$(field Depends | grep -E 'libgomp|libomp')"
passes "nor is MPI" test -z "$(field Depends | grep -i mpi)"
passes "it is suggested" holds "$(field Suggests)" openmpi-bin
passes "it has no configuration files and no scripts" test "$(dpkg-deb --ctrl-tarfile "$package" | tar t |
  LC_ALL=C sort | tr '\n' ' ')" = "./ ./control ./md5sums ./shlibs ./triggers "
passes "everything is root's, and of its time" test -z "$(dpkg-deb -c "$package" |
  grep -v ' root/root .* 2023-11-14 ')"

# Installed.
target=$scratch/target
mkdir -p "$target/var/lib/dpkg/info" "$target/var/lib/dpkg/updates" "$target/var/lib/dpkg/triggers"
: >"$target/var/lib/dpkg/status"
package_tool() { dpkg --root="$target" --force-not-root --force-depends --log=/dev/null "$@"; }
files() { (cd "$target" && find . -path ./var/lib/dpkg -prune -o ! -type d -print | LC_ALL=C sort); }
passes "it installs" package_tool -i "$package"
passes "every file is what was packed" package_tool -V tern
sums() { (cd "$target" && md5sum --quiet -c var/lib/dpkg/info/tern.md5sums); }
passes "and has its sum" sums
for file in usr/bin/tern usr/include/tern/tern.h "usr/lib/$multiarch/libtern.a" "usr/lib/$multiarch/libtern.so.0" \
  "usr/lib/$multiarch/libtern.so" "usr/lib/$multiarch/pkgconfig/tern.pc" usr/lib/python3/dist-packages/tern.py \
  usr/share/man/man1/tern.1.gz usr/share/bash-completion/completions/tern \
  usr/share/zsh/vendor-completions/_tern usr/share/fish/vendor_completions.d/tern.fish \
  usr/share/doc/tern/copyright usr/share/doc/tern/changelog.gz usr/share/doc/tern/docs/ninth.md \
  usr/share/doc/tern/examples/ail/topics.ail usr/share/doc/tern/std/ninth/nn.nth; do
  passes "there is $file" test -e "$target/$file"
done
passes "pkg-config finds the library in /usr" grep -qx "libdir=\${prefix}/lib/$multiarch" \
  "$target/usr/lib/$multiarch/pkgconfig/tern.pc"
passes "and its prefix" grep -qx 'prefix=/usr' "$target/usr/lib/$multiarch/pkgconfig/tern.pc"
passes "the manual page is one" sh -c 'gzip -dc "$1" | grep -q "^\.SH OPTIONS"' sh \
  "$target/usr/share/man/man1/tern.1.gz"
train() {
  (cd "$target/usr/share/doc/tern/examples/ail" && XDG_DATA_HOME=$scratch/data \
    "$target/usr/bin/tern" train topics.ail --allow fileread --steps 3 --out "$scratch/run")
}
passes "the program trains an example where it lies" train

# Removed.
passes "it is removed" package_tool -r tern
passes "and forgotten" package_tool -P tern
files >left
passes "nothing stays" test ! -s left
passes "no folder either" test -z "$(find "$target/usr" -mindepth 1 2>/dev/null)"
finish
