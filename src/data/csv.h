/* data/csv.h: tables as text (RFC 4180): rows of cells, a delimiter between them.
 *
 * A cell may be quoted; within double quotes a quote is written twice, and
 * delimiters and line ends are part of the text. Rows end with LF, CRLF or CR;
 * empty lines between them are skipped. All rows have the same number of cells.
 * A byte order mark is skipped. A quote inside an unquoted cell is an ordinary
 * character.
 *
 * The file is read once, in pieces. Beyond the columns, memory holds one row. */
#ifndef TN_DATA_CSV_H
#define TN_DATA_CSV_H

#include "data/columns.h"

#define TN_CSV_ROW_BYTES ((size_t)16 << 20) /* of one row */
#define TN_CSV_COLUMN_LIMIT 65536
#define TN_CSV_CHUNK 1024

/* Columns of the file: by name, or, where the name is empty, those from first to last, counted from 0. */
typedef struct {
  tn_str name;
  uint32_t first, last;
} tn_csv_pick;

/* What a label is. */
typedef enum {
  TN_CLASSES_BY_FIRST_ROW, /* the first row says */
  TN_CLASSES_NUMBERED,
  TN_CLASSES_NAMED
} tn_csv_classes;

/* One column of the result: the cells picked, in that order; texts in the order of the file. Without picks:
 * every cell of the row that no other column of the request picks. */
typedef struct {
  tn_column_kind kind;
  const tn_csv_pick *picks;
  size_t pick_count;
  bool may_miss; /* F32: a missing value becomes `fill`, which may be NaN, and is refused otherwise */
  float fill;
  tn_csv_classes classes; /* CLASS */
  bool ignored;  /* its cells are not read and may be missing; they are not among those left over */
  tn_str other;  /* JSONL: an alternative key of a single pick; empty: none */
  size_t width;  /* JSONL: items of a row; 0: as many as the first row has */
  tn_shape row;  /* JSONL: how lists may nest; lengths may be unknown */
} tn_csv_column;

typedef struct {
  const char *path; /* NUL-terminated */
  bool resolved;    /* as tn_file_read_pieces */
  char delimiter;   /* an ASCII character other than a quote, a line end or part of a number */
  bool header;      /* the first row has the names of the columns */
  bool header_is_default; /* by default: a first row of only numbers is refused */
  const tn_csv_column *columns;
  size_t column_count;
  /* Takes the rows that were read, TN_CSV_CHUNK at a time, so that a file may be larger than memory. They are
   * cleared afterwards. False, after reporting, ends it: TN_DATA_REFUSED. NULL: all rows stay in the columns.
   * Class names are numbered only in that case. */
  bool (*take)(void *context, tn_columns *rows);
  void *context;
  uint8_t *sha256; /* 32 bytes: the hash of the file; or NULL */
  tn_file_faults *faults; /* for tests, as base/file.h says */
} tn_csv_request;

/* Cells of F32 and I32 may have spaces around them. Missing are empty cells and NA, N/A, NaN, nan, null, NULL
 * and None. CLASS: if the cell of the first row is a whole number, all are class numbers; else they are
 * names, numbered by the order of their bytes. The first mistake ends reading: false, *fault says what and
 * where, and *out is empty. */
bool tn_csv_read(tn_heap *heap, const tn_csv_request *request, tn_columns *out, tn_data_fault *fault);
/* The same, but a first row that does not begin with a number has the names of the columns. */
bool tn_csv_read_guessed(tn_heap *heap, tn_csv_request *request, tn_columns *out, tn_data_fault *fault);
/* The delimiter by the extension of a path, .csv or .tsv; 0: it is not a table. */
char tn_csv_delimiter(tn_str path);
#endif
