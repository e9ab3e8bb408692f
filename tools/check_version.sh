#!/bin/sh
# The version is written in one place, CMakeLists.txt; everything else asks for it. CHANGELOG.md has a section
# for it, or for what is unreleased.
#
#   tools/check_version.sh [ROOT]
set -eu
cd "${1:-.}"
version=$(sed -n 's/^project(tern VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || { echo "CMakeLists.txt names no version"; exit 1; }
pattern=$(printf '(^|[^0-9.])%s($|[^0-9])' "$(echo "$version" | sed 's/\./[.]/g')")
copies=$(find . \( -path ./.git -o -path ./build -o -path ./fuzz/corpus -o -name node_modules \) -prune -o -type f \
  ! -path ./CMakeLists.txt ! -path ./CHANGELOG.md -exec grep -EIn "$pattern" {} + || true)
if [ -n "$copies" ]; then
  printf '%s\nversion: %s is repeated; ask CMakeLists.txt or tern_version\n' "$copies" "$version"
  exit 1
fi
grep -qE "^## \[($version|Unreleased)\]" CHANGELOG.md || { echo "CHANGELOG.md has no section for $version"; exit 1; }
echo "version: $version, from CMakeLists.txt"
