/* fuzz/fuzz.h: what the targets share.
 *
 * A target is one function that is given bytes. libFuzzer calls it with what it
 * has thought of (tools/fuzz.sh), replay.c with what is kept in corpus/ and with
 * the programs of tests/ and examples/, so that every find stays a test.
 *
 * A target looks for more than crashes: whatever the bytes are, answers must be
 * well formed, formatting twice must be formatting once, and two ways to one
 * result must agree. What does not hold ends the process. */
#ifndef TN_FUZZ_FUZZ_H
#define TN_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tern/tern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, saying what should have held. */
void fuzz_expect(bool holds, const char *what);

/* A session with limits that let any program end soon. */
tern_session *fuzz_session(const tern_options *more);
/* A text of one language: checked, formatted and emitted. */
void fuzz_check(tern_language language, const uint8_t *data, size_t size);
/* The same text, run: a diagnostic or a result, and never a bug of ours. */
void fuzz_run(tern_language language, const uint8_t *data, size_t size);
/* The same bytes as the lines of an interactive session; after each the session is asked what it holds, and a
 * line that fails must have changed nothing. Lines that load files are left out. */
void fuzz_talk(tern_language language, const uint8_t *data, size_t size);
/* Whether the text is one JSON value; NULL is none. */
bool fuzz_is_json(const char *text);

/* Bytes that decide things. When they are used up, everything is 0. */
typedef struct {
  const uint8_t *at;
  size_t left;
} fuzz_bytes;
unsigned fuzz_pick(fuzz_bytes *bytes, unsigned below); /* 0 when `below` is 0 */

/* Edits a file of `length` bytes in place and gives its new length, at most `room`. An edit is a place (two
 * bytes), a length (one) and so many bytes; a length of 0 cuts the file off there. */
size_t fuzz_damage(const uint8_t *edits, size_t size, uint8_t *file, size_t length, size_t room);

/* The bytes in a file of this process alone, whose path is returned. For readers that take paths. */
const char *fuzz_file(const uint8_t *data, size_t size);
#endif
