/* runner/run.h: what the test runners share: text in lines, and running a command.
 *
 * The runners judge the program from outside, so they may do what the library may
 * not: print, and give up at once when memory or the machine fails (die). */
#ifndef TN_TEST_RUN_H
#define TN_TEST_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that end in a NUL which `length` does not count. */
typedef struct {
  char *bytes;
  size_t length;
} text;

/* The lines of a text, without their newlines; they point into it. */
typedef struct {
  text *at;
  size_t count;
  bool open; /* the last line has no newline */
} lines;

/* What a command did. `status` is its exit status, or 128 and the signal that ended it. */
typedef struct {
  text out, err;
  int status;
  bool timed_out;
} outcome;

enum { RUN_MERGED = 1 }; /* standard error goes into `out`, in the order it came */

/* Lets the compiler compare a format with what is printed by it. */
#define PRINTS(form, first) __attribute__((format(printf, form, first)))

_Noreturn void die(const char *format, ...) PRINTS(1, 2);
void *more(void *old, size_t bytes); /* realloc that does not fail */

text text_of(const char *string);
text text_span(const char *bytes, size_t length);
void text_add(text *to, const char *bytes, size_t length);
void text_addf(text *to, const char *format, ...) PRINTS(2, 3);
bool text_is(text line, const char *string);
bool text_begins(text line, const char *string);
text text_after(text line, size_t skip);

/* Reads a whole file; die() when it cannot be read, unless `missing` is given. */
text read_file(const char *path, bool *missing);
void write_file(const char *path, text content);

lines lines_of(text whole);
void lines_add(lines *to, text line);

/* Whether `actual` is what `wanted` says: a wanted line `...` stands for any
 * number of lines, and `<*>` inside a wanted line for any text. */
bool lines_match(lines wanted, lines actual);
void lines_show(const char *mark, lines shown);

/* Runs argv in `folder`, with `input` on standard input (NULL: nothing). A process
 * of it ends after twice `seconds` of processor time, and all of them after
 * TERN_TEST_PATIENCE (20) times `seconds` of the clock. */
outcome run(const char *const argv[], const char *folder, const char *input, int seconds, int flags);
outcome run_shell(const char *command, const char *folder, const char *input, int seconds, int flags);
void outcome_free(outcome *done);

/* A new empty folder, and its end. */
char *scratch_new(void);
void scratch_free(char *folder);

/* Makes `program` reachable as `tern` and gives every command the same surroundings:
 * no colours, no home, UTC, the C.UTF-8 locale; TERN and TESTS say where things are. */
void surroundings(const char *program, const char *tests);
#endif
