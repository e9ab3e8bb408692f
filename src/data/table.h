/* data/table.h: rows of a data file, read into columns.
 *
 * A row is a list of numbers (token ids or features) and a class, or a list of them. Files are
 * read in pieces, and a row is stored in four bytes per number, so a file may be
 * much larger than its columns. Every error in a file is a diagnostic with the
 * file and the line; reading stops at the first. */
#ifndef TN_DATA_TABLE_H
#define TN_DATA_TABLE_H

#include "data/columns.h"
#include "diag/diag.h"

typedef enum { TN_TABLE_JSONL, TN_TABLE_TSV } tn_table_format;
struct tn_table;

typedef struct {
  const char *path; /* NUL-terminated */
  bool resolved;    /* it has no links, and is not read through one (tn_file_read_resolved) */
  tn_span at;       /* where the program names it */
  tn_table_format format;
  bool wants_features, wants_labels;
  bool floats;                   /* features are f32; else whole numbers */
  int64_t width;                 /* how many features a row must have; -1: as many as the first row */
  tn_str input;                  /* the input that determines it; empty: none */
  tn_span input_at;              /* where it is declared; TN_NOWHERE: nowhere */
  bool label_lists;              /* labels are lists: a class for each position */
  int64_t label_width;           /* then, as `width`; else not looked at */
  tn_str feature_key, label_key; /* JSONL; `label` and `labels` are interchangeable */
  const int32_t *feature_columns, *label_columns; /* TSV, from 0; no counts: the last column is the label */
  size_t feature_column_count, label_column_count;
  bool label_may_miss; /* TSV: the label is not read, and `width` tells whether there is one */
  /* Takes the rows that were read out of the table: after every TN_TABLE_CHUNK of them, and those that
   * are left at the end. NULL: they stay there. So the caller decides how much of a file is kept. */
  bool (*take)(void *context, struct tn_table *table);
  void *context;
  uint8_t *sha256; /* gets the hash of the bytes that were read; NULL: it is not wanted */
} tn_table_request;

#define TN_TABLE_CHUNK     8192
#define TN_TABLE_ROW_LIMIT ((size_t)1 << 31)

typedef struct tn_table {
  tn_heap *heap;
  bool floats;
  int64_t width; /* features of a row; -1 while there is none */
  size_t rows;
  tn_i32s ints;  /* rows * width, where features are whole numbers */
  tn_f32s reals; /* or these */
  tn_i32s labels;
  int64_t label_width; /* labels of a row; -1 while there is none */
  tn_vec(uint32_t) lines; /* the line of each row in the file */
} tn_table;

/* Reports and returns false; *out is then empty. A file without rows is E_DATASET_EMPTY. The stop of the heap
 * ends reading without a report. */
bool tn_table_read(tn_heap *heap, const tn_table_request *request, tn_diags *diags, tn_table *out);
void tn_table_free(tn_table *table);
/* Copies the rows of `from`, which have as many features, after those of `to`. False when memory
 * runs out. */
bool tn_table_append(tn_table *to, const tn_table *from);
/* Moves the rows into columns, which are made here: features, then labels, as far as they were read. False
 * when memory runs out; the table is then as it was. */
enum { TN_TABLE_FEATURES, TN_TABLE_LABELS };
bool tn_table_take(tn_table *table, tn_columns *out);
/* The features of one row: i32 or f32. */
static inline const void *tn_table_row(const tn_table *table, size_t row) {
  size_t first = row * (size_t)table->width;
  return table->floats ? (const void *)(table->reals.at + first) : (const void *)(table->ints.at + first);
}

/* What rows are looked up in: a table of `limit` rows, by `function`, or so many classes. */
typedef struct {
  const char *path; /* of the data file, and where the program names it */
  tn_span at;
  int64_t limit;
  tn_str function;
} tn_table_index;
/* Every label must be a class, every feature (whole numbers) a row of the table: reports the first that is
 * not, with its line. `column` is one of `columns`. */
bool tn_columns_check_labels(const tn_columns *columns, const tn_column *column, const tn_table_index *index,
                             tn_diags *diags);
bool tn_columns_check_features(const tn_columns *columns, const tn_column *column,
                               const tn_table_index *index, tn_diags *diags);
/* The same for all tokens of a text, whose windows are the rows. `lines` has the first token of each line, or
 * nothing. */
bool tn_columns_check_windows(const tn_columns *columns, const tn_table_index *index, tn_diags *diags);
#endif
