/* data/lines.c: splits chunks of a file into lines. */
#include "data/lines.h"

#include <string.h>

#include "base/sha256.h"
#include "base/utf8.h"

#define FILE_LIMIT ((uint64_t)1 << 46)

typedef struct {
  tn_heap *heap;
  const tn_lines_request *request;
  tn_text begun;  /* a line whose end has not been read yet */
  tn_sha256 hash; /* of what has been read, if it is wanted */
  uint64_t line;  /* from 1 */
  tn_data_problem problem;
} lines;

static bool fail(lines *l, tn_data_problem problem) {
  l->problem = problem;
  return false;
}

static bool is_blank(tn_str line) {
  for (size_t i = 0; i < line.len; i++) {
    if (line.at[i] != ' ' && line.at[i] != '\t' && line.at[i] != '\r') return false;
  }
  return true;
}

static bool take_line(lines *l, tn_str line) {
  if (l->line++ == 0) line = tn_utf8_unmarked(line);
  if (!tn_utf8_valid(line)) return fail(l, TN_DATA_UTF8);
  if (is_blank(line)) return true;
  return l->request->take(l->request->context, line, l->line) ? true : fail(l, TN_DATA_REFUSED);
}

/* The end of a line that began in an earlier piece. */
static bool end_line(lines *l, tn_str rest) {
  if (l->begun.len == 0) return take_line(l, rest);
  tn_text_add(&l->begun, rest);
  if (l->begun.failed) return fail(l, TN_DATA_MEMORY);
  bool ok = take_line(l, tn_text_str(&l->begun));
  tn_text_clear(&l->begun);
  return ok;
}

/* A piece of the file: the lines that end in it; what is left begins the next one. */
static bool take_piece(void *context, tn_str piece) {
  lines *l = context;
  if (l->request->sha256) tn_sha256_update(&l->hash, piece.at, piece.len);
  if (tn_stop_asked(l->heap->stop)) return fail(l, TN_DATA_STOPPED);
  for (const char *stop; (stop = memchr(piece.at, '\n', piece.len)) != NULL;) {
    tn_str line = { piece.at, (size_t)(stop - piece.at) };
    if (!end_line(l, line)) return false;
    piece = (tn_str){ stop + 1, piece.len - line.len - 1 };
  }
  tn_text_add(&l->begun, piece);
  return l->begun.failed ? fail(l, TN_DATA_MEMORY) : true;
}

static void read_file(lines *l, tn_file_status *status) {
  const tn_lines_request *request = l->request;
  *status = tn_file_read_pieces(l->heap, request->path, request->resolved, FILE_LIMIT, request->faults,
                                take_piece, l);
  if (l->problem != TN_DATA_OK) return;
  if (l->heap->stopped)
    l->problem = TN_DATA_STOPPED;
  else if (*status != TN_FILE_OK)
    l->problem = *status == TN_FILE_NO_MEMORY ? TN_DATA_MEMORY : TN_DATA_FILE;
  else if (l->begun.len > 0)
    (void)end_line(l, (tn_str){ "", 0 });
}

tn_data_problem tn_lines_read(tn_heap *heap, const tn_lines_request *request, tn_file_status *status,
                              uint64_t *line) {
  lines l = { .heap = heap, .request = request };
  tn_text_init(&l.begun, heap);
  tn_sha256_init(&l.hash);
  read_file(&l, status);
  if (request->sha256) tn_sha256_final(&l.hash, request->sha256);
  tn_text_free(&l.begun);
  *line = l.line;
  return l.problem;
}
