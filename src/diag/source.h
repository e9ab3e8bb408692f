/* diag/source.h: source texts and locations in them.
 *
 * A span is a range of bytes in a registered file; lines and columns are
 * computed only on demand. File 0 is "no location". */
#ifndef TN_DIAG_SOURCE_H
#define TN_DIAG_SOURCE_H

#include "base/str.h"
#include "base/vec.h"

typedef struct {
  uint32_t file;        /* 0: no place */
  uint32_t start, end;  /* bytes, end exclusive */
} tn_span;

#define TN_NOWHERE ((tn_span){ 0, 0, 0 })

/* From the start of a to the end of b; both in one file. If one of them is
 * nowhere, the other. */
tn_span tn_span_join(tn_span a, tn_span b);

typedef struct {
  tn_str name;          /* as the user wrote it */
  tn_str text;          /* NUL-terminated */
  uint32_t *lines;      /* byte offset of each line's start; built on first use */
  size_t line_count;
  uint32_t known, known_column;   /* the last lookup, to speed up the next one in its line */
} tn_source;

typedef struct {
  tn_heap *heap;
  tn_vec(tn_source) files;
  uint64_t looked;      /* bytes read to find columns: what places have cost */
} tn_sources;

/* 1-based; columns count characters (code points), not bytes. */
typedef struct {
  uint32_t line, column;
} tn_place;

#define TN_SOURCE_LIMIT ((size_t)256 << 20)   /* bytes in one program text */

void tn_sources_init(tn_sources *sources, tn_heap *heap);
void tn_sources_free(tn_sources *sources);
/* Copies name and text, without a byte order mark at its start. 0 when memory runs out or the text is over
 * TN_SOURCE_LIMIT. */
uint32_t tn_sources_add(tn_sources *sources, tn_str name, tn_str text);
/* NULL for 0 or an unknown number. Valid until the next add. */
const tn_source *tn_sources_get(const tn_sources *sources, uint32_t file);
/* Removes the files added after the first `count` (files.count, read earlier), so that a session
 * that reads a line at a time does not grow. Nothing may point into them. */
void tn_sources_rewind(tn_sources *sources, size_t count);
/* Forgets one text and keeps its number, in whose place tn_sources_put sets another. Places in it are then
 * empty. put is false as add is 0, and when the number is not free. */
void tn_sources_forget(tn_sources *sources, uint32_t file);
bool tn_sources_put(tn_sources *sources, uint32_t file, tn_str name, tn_str text);

/* Whether a text has a NUL byte, and where the first is. Every language refuses such a text as a whole, with
 * its syntax error and this message: lexers need not look for one in comments, strings and prose. */
#define TN_SOURCE_NUL_MESSAGE "a NUL byte; a program is a text and has none"
bool tn_sources_find_nul(const tn_sources *sources, uint32_t file, tn_span *at);

/* Both are lenient: an offset past the text means its end. */
tn_str tn_span_text(const tn_sources *sources, tn_span span);
tn_place tn_place_of(tn_sources *sources, uint32_t file, uint32_t offset);

/* The line that holds a byte, without its line break ("\n" or "\r\n"), and where it starts. */
tn_str tn_source_line(tn_sources *sources, uint32_t file, uint32_t offset, uint32_t *start);
#endif
