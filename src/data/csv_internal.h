/* data/csv_internal.h: a CSV file while it is read: csv.c splits it into cells, csv_cell.c reads them. */
#ifndef TN_DATA_CSV_INTERNAL_H
#define TN_DATA_CSV_INTERNAL_H

#include "base/arena.h"
#include "base/sha256.h"
#include "data/csv.h"

/* What the cells of one column of the file are for. */
typedef struct tn_csv_use {
  uint32_t column;               /* of the result */
  uint32_t item, items;          /* its place among the items of a row there, and how many those are */
  bool used, ignored;
  bool quick, real;              /* quick: numbers, f32 if real, and nothing else reads the cell */
  const struct tn_csv_use *next; /* another that reads the same cell */
} tn_csv_use;

typedef union {
  float *reals;
  int32_t *ints;
} tn_csv_place;

typedef struct {
  tn_heap *heap;
  const tn_csv_request *request;
  tn_columns *out;
  tn_data_fault *fault;
  tn_arena arena;            /* names and uses */
  tn_sha256 hash;
  char *window;              /* some room, filled bytes, zeros */
  size_t filled, capacity;
  size_t wanted;             /* bytes of it that are worth another look */
  bool begun, last;          /* the byte order mark was looked for; nothing follows the window */
  const char *at, *end;      /* the next byte, and the end of what is filled */
  const char *block;         /* 64 bytes of the window, and which of them may end a cell */
  uint64_t marks;
  const char *line_start;
  bool any;                  /* there was a row */
  uint64_t line, row_line;   /* of `at`, and where the row began */
  tn_text cell;              /* a cell whose quotes were undone */
  tn_vec(tn_str) names;      /* of the columns, once the first row has been read */
  size_t width;              /* cells per row; 0: not known yet */
  tn_csv_use *uses;          /* one per cell of a row */
  tn_csv_place *to;          /* one per column: where the numbers of this row go */
  size_t room;               /* rows that fit before memory is allocated; 0: `to` is not known */
  bool all_quick;            /* every cell of a row is a number: rows are taken many at a time */
} tn_csv;

/* They set the problem of the fault, and the place, and return false. */
bool tn_csv_fail(tn_csv *csv, tn_data_problem problem);

/* How many rows may be read before tn_csv_keep_rows. */
size_t tn_csv_rows_ahead(const tn_csv *csv);
/* From the first row: which cell is for what. */
bool tn_csv_plan(tn_csv *csv);
/* A cell that is used, into the row after the last. */
bool tn_csv_take_cell(tn_csv *csv, size_t index, tn_str cell);
/* Rows that are whole: what was read into the places after the last row counts. */
bool tn_csv_keep_rows(tn_csv *csv, size_t count);
/* The rows that there are go to the request's `take`. */
bool tn_csv_hand_over(tn_csv *csv);
#endif
