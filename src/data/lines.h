/* data/lines.h: a text file line by line, in pieces, so that memory holds one line. */
#ifndef TN_DATA_LINES_H
#define TN_DATA_LINES_H

#include "data/columns.h"

typedef struct {
  const char *path; /* NUL-terminated */
  bool resolved;    /* as tn_file_read_pieces */
  /* A line without its end, that is not blank, and its number from 1. False ends reading. */
  bool (*take)(void *context, tn_str line, uint64_t number);
  void *context;
  uint8_t *sha256;        /* 32 bytes: the hash of what was read; or NULL */
  tn_file_faults *faults; /* for tests, as base/file.h says */
} tn_lines_request;

/* TN_DATA_OK, or what ended it: TN_DATA_REFUSED by `take`, TN_DATA_STOPPED, TN_DATA_MEMORY, TN_DATA_FILE with
 * its status, or TN_DATA_UTF8 with the line in *line. A byte order mark is skipped. */
tn_data_problem tn_lines_read(tn_heap *heap, const tn_lines_request *request, tn_file_status *status,
                              uint64_t *line);
#endif
