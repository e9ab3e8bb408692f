/* data/columns.h: the rows of a data file as columns, one per input of the model.
 *
 * A column holds `width` items per row, row after row, in four bytes each;
 * texts are concatenated until a vocabulary turns them into numbers. Readers fill
 * columns and describe an error in a file as a tn_data_fault; the caller reports it. */
#ifndef TN_DATA_COLUMNS_H
#define TN_DATA_COLUMNS_H

#include "base/file.h"
#include "base/json.h"
#include "tensor/tensor.h"

#define TN_COLUMN_ROW_LIMIT ((size_t)1 << 31)

typedef enum {
  TN_COLUMN_F32,   /* numbers; all finite, but NaN where a value is missing and may be */
  TN_COLUMN_I32,   /* whole numbers */
  TN_COLUMN_CLASS, /* class numbers; `classes` has their names, if the file gives names */
  TN_COLUMN_TEXT
} tn_column_kind;

typedef struct {
  tn_column_kind kind;
  size_t width;             /* items per row */
  tn_f32s reals;            /* F32: rows * width */
  tn_i32s ints;             /* I32 and CLASS */
  const int32_t *windows;   /* I32: rows are windows of these numbers, which another column has: row r begins
                               at number r; NULL: they are not */
  bool numbered;            /* CLASS: the first item that was read is a class number, not a name */
  tn_names *classes;        /* CLASS: class number i is name i + 1, in the order of their bytes; or NULL */
  size_t class_count;
  tn_text text;             /* TEXT: all of it */
  tn_vec(uint64_t) ends;    /* and where each item of it ends */
} tn_column;

typedef struct {
  tn_heap *heap;
  size_t rows;
  tn_column *at;
  size_t count;
  tn_vec(uint32_t) lines; /* where each row begins in the file, from 1 */
} tn_columns;

/* Columns without rows. False when memory runs out; nothing is left then. */
bool tn_columns_init(tn_columns *columns, tn_heap *heap, size_t count);
void tn_columns_free(tn_columns *columns);
/* Room for so many more rows, where the widths are known. Items past `rows` may be written through `at`. */
bool tn_columns_reserve(tn_columns *columns, size_t rows);
/* For how many more rows there is room. */
size_t tn_columns_room(const tn_columns *columns);
/* No rows, with the same widths and memory. */
void tn_columns_clear(tn_columns *columns);
/* The numbers of a row, of TN_COLUMN_ITEM bytes each. */
#define TN_COLUMN_ITEM 4
static inline const void *tn_column_row(const tn_column *column, size_t row) {
  size_t first = row * column->width;
  if (column->windows) return column->windows + row;
  return column->kind == TN_COLUMN_F32 ? (const void *)(column->reals.at + first)
                                       : (const void *)(column->ints.at + first);
}
tn_str tn_column_text(const tn_column *column, size_t item);
/* The number of a class by its name, in the order in which names come. False when memory runs out. */
bool tn_column_add_class(tn_heap *heap, tn_column *column, tn_str name, int32_t *number);
/* When all rows are there: numbers by the order of the names' bytes. False when memory runs out. */
bool tn_columns_name_classes(tn_columns *columns);
/* The numbers of a column as a tensor, f32 or i32: [rows, width], or [rows] of a `vector`. False when memory
 * runs out. */
bool tn_column_tensor(const tn_columns *columns, size_t column, bool vector, tn_tensor *out);

/* What is wrong with a data file. */
typedef enum {
  TN_DATA_OK,
  TN_DATA_STOPPED,    /* the stop of the heap */
  TN_DATA_REFUSED,    /* by the caller that takes the rows and has reported why */
  TN_DATA_MEMORY,
  TN_DATA_FILE,       /* see `file` */
  TN_DATA_UTF8,       /* not UTF-8 */
  TN_DATA_OPEN_QUOTE, /* a quote that is never closed */
  TN_DATA_AFTER_QUOTE, /* something between a closing quote and the delimiter */
  TN_DATA_LONG_ROW,   /* a row of more bytes than `expected` */
  TN_DATA_MANY_COLUMNS, /* more columns than `expected` */
  TN_DATA_ROW_LENGTH, /* `received` columns, where the rows before have `expected` */
  TN_DATA_MANY_ROWS,  /* more than `expected` */
  TN_DATA_EMPTY,      /* no rows */
  TN_DATA_NUMBER,     /* `value` is not a number */
  TN_DATA_FINITE,     /* `value` is not a finite f32 */
  TN_DATA_WHOLE,      /* `value` is not a whole number, or does not fit i32 */
  TN_DATA_MISSING,    /* there is no value */
  TN_DATA_NO_COLUMN,  /* the file has no `column`; `value`: a suggestion */
  TN_DATA_SAME_NAME,  /* the file has two of them */
  TN_DATA_NO_NAMES,   /* the first row has numbers, and `header` was not set */
  TN_DATA_JSON,       /* a line is not a JSON object: see `reason` */
  TN_DATA_KIND,       /* the value of `column` is not what `reason` says it should be */
  TN_DATA_WIDTH       /* the row has `received` items for a column that takes `expected` */
} tn_data_problem;

#define TN_DATA_SHOWN 64

typedef struct {
  tn_data_problem problem;
  tn_file_status file;
  uint64_t line, col;            /* from 1, col in characters; 0: no place */
  char column[TN_DATA_SHOWN];    /* the name of the column, else its number from 0; or "" */
  char value[TN_DATA_SHOWN];     /* the text found there, truncated */
  int64_t expected, received;
  const char *reason;            /* static */
  size_t asked;                  /* which of the request's columns wanted it */
} tn_data_fault;

/* Sets a field of a fault; longer texts are cut between characters. */
void tn_data_show(char *field, tn_str text);
#endif
