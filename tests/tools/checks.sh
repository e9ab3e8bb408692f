#!/bin/sh
# Each of our checks can fail: a clean little project passes, and with one planted
# breach it does not. Arguments: the project's root, the C compiler, nm.
root=$1 CC=$2 NM=$3
export CC NM
. "$root/tests/tools/expect.sh"
tools=$root/tools

# A fresh copy of the clean project.
fresh() {
  rm -rf "$scratch/src" "$scratch/include" "$scratch/docs"
  put src/base/a.h <<'END'
#ifndef A_H
#define A_H
/* exit() and printf() may be spoken of in a comment. */
int tn_base_a(void);
#endif
END
  put src/base/a.c <<'END'
#include "base/a.h"
static const char *const words[] = { "exit(1)", "printf(\"\\\"\")" };
int tn_base_a(void) { return words[0][0]; }
END
  put src/graph/g.c <<'END'
#include "base/a.h"
typedef struct { void (*free)(void *); } heap;
void tn_graph_g(heap *h);
void tn_graph_g(heap *h) { h->free(h); }
END
  put src/cli/main.c <<'END'
#include <stdio.h>
#include "tern/tern.h"
int main(void) { return printf("%d\n", tern_a()); }
END
  put include/tern/tern.h <<'END'
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) int tern_a(void);
#ifdef __cplusplus
}
#endif
END
}

layers() { sh "$tools/check_layers.sh" "$scratch"; }
words() { sh "$tools/check_words.sh" "$scratch"; }
headers() { sh "$tools/check_headers.sh" "$scratch"; }
writes() { sh "$tools/check_writes.sh" "$scratch"; }
operations() { sh "$tools/check_operations.sh" "$scratch"; }
layout() { sh "$tools/check_layout.sh" "$scratch"; }
recursion() { sh "$tools/check_recursion.sh" "$scratch"; }
links() { sh "$tools/check_links.sh" "$scratch"; }

# layer_breach FROM TO: a file of room FROM includes a header of room TO.
layer_breach() {
  fresh
  echo "#include \"$2/x.h\"" | put "src/$1/x.c"
  fails "layers: $1 includes $2" "src/$1/x.c:1: $1 may not include $2" layers
}

# word_breach WORDS CODE: CODE in a library file.
word_breach() {
  fresh
  echo "$2" | put src/graph/x.c
  fails "words: $2" "$1" words
}

fresh
passes "layers of a clean project" layers
passes "words of a clean project" words
passes "headers of a clean project" headers
passes "layout of a clean project" layout
passes "recursion of a clean project" recursion

# recursion_breach FUNCTION CODE, and what makes the same code pass.
recursion_breach() {
  fresh
  printf '%s\n' "$2" | put src/graph/x.c
  fails "recursion: $2" "src/graph/x.c:$1" recursion
}
recursion_breach count 'static int count(int n) { return n ? count(n - 1) : 0; }'
recursion_breach even 'static bool odd(int n);
static bool even(int n) {
  return n == 0 || odd(n - 1);
}
static bool odd(int n) { return n && even(n - 1); }'
recursion_breach visit 'static void each(int n, void (*what)(int));
static void visit(int n) {
  each(n - 1, visit);
}'
recursion_breach tn_graph_walk 'void tn_graph_walk(int n) { static_step(n); }
static void static_step(int n) { tn_graph_walk(n); }'
fresh
put src/graph/x.c <<'END'
/* count(n) is what it calls; recursion is spoken of. */
static int count(tn_stack *stack, int n) { return tn_stack_room(stack) ? count(stack, n - 1) : 0; }
/* recursion: TN_RANK_LIMIT deep. */
static int axes(int n) {
  return n ? axes(n - 1) : 0;
}
static int twice(int count) { return 2 * count; }
END
passes "recursion that asks, or says how deep it gets" recursion

layer_breach base diag
layer_breach tensor op
layer_breach op graph
layer_breach graph ad
layer_breach backend plan
layer_breach backend lang
layer_breach backend/cpu backend/ref
layer_breach lang/mind lang/ail
layer_breach lang/ninth opt
layer_breach lang/ail plan
layer_breach lang/mind backend
layer_breach ad api
layer_breach cli base
fresh
echo '#include <tern/tern.h>' | put src/base/x.c
fails "layers: the library below api includes the public header" "base may not include public" layers
fresh
echo '#include "a.h"' | put src/base/x.c
fails "layers: an include that is not rooted" "rooted at src/" layers
fresh
echo 'int x;' | put src/cellar/x.c
fails "layers: an unknown room" "in no room" layers
fresh
echo 'bool tn_lang_mind_emit(tn_unit *unit, tn_text *out) {' | put src/lang/mind/lower.c
fails "layers: a door in another file" "tn_lang_mind_emit belongs in src/lang/mind/emit.c" layers
mv "$scratch/src/lang/mind/lower.c" "$scratch/src/lang/mind/emit.c"
echo 'void tn_lang_mind_drop(tn_unit *unit) {' | put src/lang/mind/unit.c
echo 'const tn_lang *tn_lang_mind(void) {' | put src/lang/mind/lang.c
passes "layers: doors in their files" layers
echo 'static bool check(tn_unit *unit) {' | put src/lang/mind/lang.c
fails "layers: lang.c with more than its table" "lang.c is the table of doors" layers
fresh
rm -rf "$scratch/src" && mkdir "$scratch/src"
fails "layers: nothing to check" "no source" layers

word_breach "never ends its host" 'void f(void) { exit(1); }'
word_breach "never ends its host" 'void f(void) { if (1) abort (); }'
word_breach "does not print" 'void f(void) { snprintf(0, 0, ""); }'
word_breach "no stdio" '  #include <stdio.h>'
word_breach "no stdio" 'int f(FILE *file);'
word_breach "locale" 'double f(void) { return strtod("1", 0); }'
word_breach "base/heap.h" 'void *f(void) { return malloc(1); }'
word_breach "base/heap.h" '/* why */ void f(void *p) { free(p); }'
word_breach "one generator" 'int f(void) { return rand(); }'
word_breach "plan it" "/* TO""DO: later */"
fresh
echo 'void f(void) { exit(1); }' | put src/graph/builder.c
fails "words: a file whose name begins like the build folder" "src/graph/builder.c:1" words
fresh
echo "See /ho""me/somebody/tern." | put docs/x.md
fails "words: a machine's path in a document" "one machine" words

# prose_breach INSTEAD SENTENCE: SENTENCE in a document is refused, with what to write instead.
prose_breach() {
  fresh
  echo "$2" | put docs/x.md
  fails "words: $2" "docs/x.md:1: $1" words
}
prose_breach "resumed" "A run can be gone o""n with."
prose_breach "transposed" "The matrix is turned o""ver."
prose_breach "matrix product" "Products o""f matrices are fast, a product o""f matrices is."
prose_breach "per class" "one number a c""lass"
prose_breach "per second" "twenty times a s""econd"
prose_breach "memory is allocated" "Sizes are checked before memory is asked f""or."
prose_breach "belongs in" "It belongs in""to the model."
prose_breach "silently" "Nothing is ignored in sil""ence."
prose_breach "again" "The table is written ane""w."
prose_breach "shared by" "internal.h: what the fi""les of the parser share."
prose_breach "repeated" "A run can be made ag""ain."
prose_breach "with respect to" "the gradient by ev""ery parameter"
fresh
echo "He goes on, for whoever turned a page over: it fits a second time, one number at a time." | put docs/x.md
passes "words: phrases that only resemble them" words

# write_breach CALL CODE: CODE in a file of the program.
write_breach() {
  fresh
  echo "$2" | put src/cli/x.c
  fails "writes: $2" "src/cli/x.c:1: $1: files are written through base/file.h" writes
}
fresh
fresh
put src/plan/x.c <<'END'
int f(int op, int dtype) {
  switch (op) {
    case TN_OP_ADD: {
      switch (dtype) {
        case TN_F32: return 1;
        default: return 2; /* of a dtype, inside a case TN_OP_ADD: */
      }
    }
    case TN_OP_SUB: return 3;
  }
  return 0;
}
END
passes "operations: a default: of something else" operations
# default_breach CASE: a switch over it has a default.
default_breach() {
  fresh
  printf '%s\n' 'int f(int x) {' '  switch (x) {' "    case $1: return 1;" '    default: return 2;' '  }' '}' |
    put src/plan/x.c
  fails "operations: a default: beside $1" "src/plan/x.c:4: a default: for operations" operations
}
default_breach TN_OP_ADD
default_breach TN_KIND_VIEW
default_breach TN_FAILS_NEVER
default_breach TN_ROWS_NONE
fresh

passes "writes of a clean project" writes
write_breach fopen 'void f(void) { FILE *file = fopen("x", "w"); }'
write_breach fopen 'void f(const char *how) { if (1) fopen ("x", how); }'
write_breach open 'int f(void) { return open("x", 1); }'
write_breach O_CREAT 'int flags = O_EXCL|O_CREAT;'
write_breach O_RDWR 'int f(int a) { return a & O_RDWR; }'
write_breach creat 'int f(void) { return creat("x", 0666); }'
write_breach mkstemp 'int f(char *name) { return mkstemp(name); }'
write_breach rename 'int f(void) { return rename("x", "y"); }'
write_breach ftruncate 'int f(int d) { return reopen(d) + ftruncate(d, 0); }'
write_breach sqlite3_open 'int f(void) { return sqlite3_open("x", 0); }'
write_breach tn_sqlite.open_v2 'int f(void) { return tn_sqlite.open_v2("x", 0, 1, 0); }'
write_breach write_history 'void f(void) { write_history("x"); }'
fresh
echo 'int f(void) { return open("x", O_WRONLY); }' | put src/base/file_other.c
echo 'int f(t *x) { return x->open("a") + reopen(1) + x.open(2) + O_CREATOR; } /* open("x", O_CREAT) */' |
  put src/graph/y.c
fails "writes: what is allowed must be there" "src/base/machine.c: open is allowed, but" writes
fresh
echo 'int f(t *x) { return x->open("a") + reopen(1) + x.open(2) + O_CREATOR; } /* open("x", O_CREAT) */' |
  put src/graph/y.c
passes "writes: members, other names, comments" writes

# layout_breach WORDS LINE: LINE in a source.
layout_breach() {
  fresh
  printf '%s\n' "$2" | put src/base/x.h
  fails "layout: $1" "src/base/x.h:1: $1" layout
}
ten='1234567890'
hundred=$ten$ten$ten$ten$ten$ten$ten$ten$ten$ten
layout_breach "longer than 110 columns" "/* ${hundred}12345 */"
layout_breach "a tab" "int$(printf '\t')x;"
layout_breach "blanks at the end" "int x; "
layout_breach "the first line names another file" "/* graph/x.h: a header. */"
layout_breach "a carriage return" "int x;$(printf '\r')"
fresh
echo "/* ${hundred}12é4 */" | put src/base/x.h
passes "layout: a column is a character, not a byte" layout

fresh
echo "words and ${hundred}" | put docs/x.md
fails "layout: prose wraps" "docs/x.md:1: prose longer than 100 columns" layout
fresh
printf '%s\n' "| ${hundred} | a |" "# ${hundred} a" '```' "${hundred} a" '```' "- \`${hundred} a\`" | put docs/x.md
passes "layout: tables, headings, code and single words do not" layout

# link LINE: a document with one link more.
link() {
  fresh
  printf '# One Page: `a`, and_b\n\n[other](docs/two.md)\n%s\n' "$1" | put README.md
  printf '# Two\n\n[back](../README.md#one-page-a-and_b) [here](#two)\n' | put docs/two.md
}
link '[web](https://example.org) `[code](none)`'
passes "links: to a file, to a heading, back, to the web, and what is code" links
link '[gone](docs/three.md)'
fails "links: a file that is not there" "README.md:4: there is no docs/three.md" links
link '[gone](docs/two.md#three)'
fails "links: a heading that is not there" "README.md:4: docs/two.md has no heading #three" links

# tidy CODE: a function body in a library file, seen by clang-tidy with the project's own checks.
tidy() {
  fresh
  cp "$root/.clang-tidy" "$scratch"
  printf 'int tn_graph_x(int a);\nint tn_graph_x(int a) { %s }\n' "$1" | put src/graph/x.c
  sh "$tools/check_tidy.sh" "$scratch"
}
if command -v clang-tidy >/dev/null; then
  passes "tidy: a clean project" tidy 'return a - 1;'
  fails "tidy: the same on both sides" "misc-redundant-expression" tidy 'return a - a;'
  fails "tidy: an indentation that misleads" "bugprone-suspicious-semicolon" tidy 'if (a > 1);
  a++;
  return a;'
fi

# version LINES: a project of version 3.14.15 with LINES in a header.
version() {
  fresh
  echo 'project(tern VERSION 3.14.15 LANGUAGES C)' | put CMakeLists.txt
  echo '## [Unreleased]' | put CHANGELOG.md
  echo "$1" | put include/tern/tern.h
  sh "$tools/check_version.sh" "$scratch"
}
passes "version: other numbers may look like it" version 'int a = 13.14.15, b = 3.14.159, c = 3.14;'
fails "version: repeated" "tern.h:1:" version '/* 3.14.15 */'
rm -f "$scratch/CMakeLists.txt" "$scratch/CHANGELOG.md"

fresh
echo 'size_t tn_x(void);' | put src/base/x.h
fails "headers: a missing include" "base/x.h does not compile alone" headers
fresh
echo 'int tern_new(int new);' | put include/tern/more.h
fails "headers: a C++ keyword in the public header" "tern/more.h does not compile alone" headers

# library CODE: libtern.a and libtern.so of one file. heap.c.o is a file's name, too.
library() {
  echo "$1" | put x.c
  rm -f "$scratch/libtern.a"
  "$CC" -O1 -fPIC -fvisibility=hidden -c "$scratch/x.c" -o "$scratch/x.c.o" &&
    ar rc "$scratch/libtern.a" "$scratch/x.c.o" &&
    "$CC" -shared "$scratch/x.c.o" -o "$scratch/libtern.so" -lm
}
symbols() { sh "$tools/check_symbols.sh" "$scratch"; }
show='__attribute__((visibility("default")))'

rm -f "$scratch/libtern.so"
fails "symbols: nothing to check" "there is no" symbols
library "$show const char *tern_a(int i);
static const char *const names[] = { \"a\", \"b\" };
const char *tern_a(int i) { return names[i]; }"
passes "symbols of a clean library" symbols
library "$show int helper(void) { return 1; }"
fails "symbols: an export outside the API" "helper" symbols
library "void abort(void); void f(void); void f(void) { abort(); }"
fails "symbols: abort" "abort (x.c.o)" symbols
library "int printf(const char *, ...); int f(void) { return printf(\"%d%s\", 1, \"\"); }"
fails "symbols: printf" "printf (x.c.o)" symbols
library "void *malloc(unsigned long); void *f(void) { return malloc(1); }"
fails "symbols: malloc" "malloc (x.c.o)" symbols
library "float expf(float); float f(float x) { return expf(x); }"
fails "symbols: a function of libm" "expf (x.c.o)" symbols
library "static int count; int f(void) { return ++count; }"
fails "symbols: a variable" "count" symbols
library "static _Thread_local int count; int f(void) { return ++count; }"
fails "symbols: a variable per thread" "count" symbols
finish
