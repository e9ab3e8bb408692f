#!/bin/sh
# Makes a Debian package of a build: program, libraries, header, pkg-config file, manual page, completions,
# Python module, documents and examples.
#
#   tools/deb.sh BUILD FOLDER     BUILD: a build folder, as build/release; the package goes to FOLDER
#   TERN_DEB_LEVEL=0 tools/deb.sh ...   packed quickly instead of small
#
# The same build gives the same package, byte for byte: nothing in it is younger than $SOURCE_DATE_EPOCH
# (the last commit, if that is not set), and everything belongs to root. What it depends on is what its
# programs are linked with, as dpkg-shlibdeps finds it, and what is loaded when it is needed: SQLite for the
# history of runs, libedit where somebody types; libmicrohttpd is loaded by `tern board` alone and only recommended; Open MPI, which a training under mpirun loads, is suggested.
set -eu
build=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

architecture=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
version=$(sed -n 's/^project(tern VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
maintainer="${DEBFULLNAME:-tern maintainers} <${DEBEMAIL:-maintainers@tern.example}>"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date -r CHANGELOG.md +%s)}
export SOURCE_DATE_EPOCH
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/DEBIAN"

DESTDIR=$root cmake -DCMAKE_INSTALL_PREFIX=/usr -DTN_LIBDIR="lib/$multiarch" \
  -P "$build/cmake_install.cmake" >"$work/log" || { cat "$work/log" >&2; exit 1; }

# What Debian wants done with it: no symbols that nobody reads, manual page and changelogs packed, licence by
# reference, and the names Debian's own tools look for.
library=$root/usr/lib/$multiarch
documents=$root/usr/share/doc/tern
strip --remove-section=.comment --remove-section=.note "$root/usr/bin/tern"
strip --remove-section=.comment --remove-section=.note --strip-unneeded "$library"/libtern.so.*.*
strip --strip-debug --remove-section=.comment --enable-deterministic-archives "$library/libtern.a"
chmod 644 "$library"/libtern.so.*.*
gzip -9n "$root/usr/share/man/man1/tern.1"
mv "$documents/CHANGELOG.md" "$documents/changelog"
gzip -9n "$documents/changelog"
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_tern" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
rm "$documents/LICENSE"
cat >"$documents/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tern

Files: *
Copyright: 2026 the tern maintainers
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
cat >"$documents/changelog.Debian" <<END
tern ($version-1) unstable; urgency=medium

  * Package of tern $version; changelog.gz says what changed.

 -- $maintainer  $(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')
END
gzip -9n "$documents/changelog.Debian"

mkdir -p "$root/usr/share/lintian/overrides"
cat >"$root/usr/share/lintian/overrides/tern" <<END
# The module for Python is a way in beside others: who uses it has Python.
tern: python-package-missing-depends-on-python
# One package has the program and the library in both forms.
tern: link-to-shared-library-in-wrong-package *
tern: package-name-doesnt-match-sonames *
# It is not uploaded to Debian.
tern: initial-upload-closes-no-bugs *
END

# dpkg-shlibdeps wants to be in a source package.
mkdir "$work/debian"
printf 'Source: tern\n\nPackage: tern\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -x"tern" \
  root/usr/bin/tern "root/usr/lib/$multiarch/libtern.so.${version%%.*}" 2>"$work/log") ||
  { cat "$work/log" >&2; exit 1; }

cat >"$root/DEBIAN/control" <<END
Package: tern
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$root" | cut -f1)
Depends: ${depends#shlibs:Depends=}, libedit2, libsqlite3-0
Recommends: libmicrohttpd12 | libmicrohttpd12t64
Suggests: openmpi-bin, python3-numpy, libsqlite3-dev
Section: math
Priority: optional
Multi-Arch: no
Description: three languages for tensors on one deterministic engine
 tern runs and trains small tensor programs in three languages, Ninth, MIND and
 AILang: one graph, one set of gradient rules, one set of kernels. The same
 program, data and seed give the same bits on every machine, with any number of
 threads.
 .
 This package has the program, the library for C in both forms with its header,
 and a module for Python.
END
printf 'libtern %s tern (>= %s)\n' "${version%%.*}" "$version" >"$root/DEBIAN/shlibs"
echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -type d -exec chmod 755 {} +
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

package=$folder/tern_$version-1_$architecture.deb
dpkg-deb --root-owner-group -Zxz -z"${TERN_DEB_LEVEL:-6}" --threads-max=1 --build "$root" "$package" >"$work/log" ||
  { cat "$work/log" >&2; exit 1; }
echo "$package"
