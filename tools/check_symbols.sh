#!/bin/sh
# Checks the symbols of the built library:
#   1. every symbol libtern.so exports begins with tern_;
#   2. the library does not print, end the process, or allocate behind the heap's back;
#   3. no elementary function comes from libm: those differ between machines;
#   4. no data can be written: all state hangs off a session;
#   5. libtern.so needs libc and libm, and nothing else: no runtime for threads.
#
#   tools/check_symbols.sh BUILD_FOLDER      of a build without sanitizers and assertions
set -eu
folder=${1:?usage: tools/check_symbols.sh BUILD_FOLDER}
nm=${NM:-nm}
shared=$folder/libtern.so
archive=$folder/libtern.a
bad=0
for library in "$shared" "$archive"; do
  [ -f "$library" ] || { echo "symbols: there is no $library"; exit 1; }
done

complain() {   # complain TITLE LINES
  [ -n "$2" ] || return 0
  printf '%s\n%s\n' "$1" "$2"
  bad=1
}

needed=$(readelf -d "$shared" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
complain "needs another library:" \
  "$(echo "$needed" | grep -vE '^(lib(c|m|pthread)\.so(\..*)?|ld-.*)$' || :)"

exported=$("$nm" -D --defined-only "$shared" | awk '{ print $3 }')
complain "exported, but not part of the API:" \
  "$(echo "$exported" | awk 'NF && !/^tern_/ && !/^(_init|_fini|_edata|_end|__bss_start)$/')"

undefined=$("$nm" -A -u "$archive" | awk '{ split($1, at, ":"); print $NF, "(" at[2] ")" }')
complain "prints or ends the process:" "$(echo "$undefined" | grep -E \
  '^(exit|_exit|_Exit|quick_exit|abort|(__)?[a-z]*printf(_chk)?|puts|fputs|putchar|putc|fputc|perror|stdout|stderr|stdin|fopen|fdopen|fwrite|fread|longjmp|setlocale) ' || :)"
complain "allocates outside base/heap.c:" "$(echo "$undefined" | grep -E \
  '^(malloc|calloc|realloc|free|strdup|strndup|aligned_alloc|posix_memalign) ' | grep -v '(heap\.c\.o)$' || :)"
complain "computed by libm, whose bits differ between machines:" "$(echo "$undefined" | grep -E \
  '^(exp|exp2|exp10|expm1|log|log2|log10|log1p|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|pow|cbrt|hypot|erf|erfc|tgamma|lgamma|sincos)[fl]? ' || :)"

# Constant tables of pointers live in .data.rel.ro; whatever else is in a .data or .bss can change.
complain "can be written to:" "$("$nm" -A -f sysv --defined-only "$archive" | awk -F '|' '
  $NF ~ /^ *(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $NF !~ /^ *\.data\.rel\.ro/ { gsub(/ /, "", $1); print $1 }')"

echo "symbols: $(echo "$exported" | grep -c . || :) exported; needs" $needed
[ $bad -eq 0 ]
