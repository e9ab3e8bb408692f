/* train/rows.h: the rows of a program's data set, split for training, validation and test. */
#ifndef TN_TRAIN_ROWS_H
#define TN_TRAIN_ROWS_H

#include "backend/backend.h"
#include "data/columns.h"
#include "data/vocab.h"
#include "lang/training.h"
#include "train/facts.h"

/* What the rows for training say about a column, one number per item of a row; NULL where nothing asked. */
typedef struct {
  float *fill; /* for missing values */
  double *mean, *deviation;
} tn_row_statistics;

/* A data set in memory: columns, and the order of the rows. */
typedef struct {
  bool present;
  tn_columns columns;
  const int *column_of; /* for each input of the program: the column that feeds it, or -1 */
  tn_vocab *vocab;      /* that made tokens of texts, or NULL */
  tn_str tokenizer;     /* the file it was read from, if it was */
  tn_row_statistics *statistics; /* CSV: one per column; NULL otherwise */
  uint32_t *order; /* rows in order: those for training, for validation, and for the test at the end */
  size_t count, train_count, test_count;
  size_t order_count; /* of all that stands in `order`; of a text, windows of the training part that do not
                         overlap stand after the rows, to evaluate on */
  uint8_t sha256[32]; /* of the file, if it was asked for; with a tokenizer, of that hash and its file */
} tn_rows;

/* Reads, maps, filters, shuffles and splits, as the dataset block says. Without one: nothing. */
bool tn_rows_read(tn_host *host, const tn_training *program, const tn_backend *backend, bool hashed,
                  tn_arena *arena, tn_rows *out);
void tn_rows_free(tn_rows *rows);

/* A file of rows for a model that was trained: in the format of the program, and prepared by the statistics,
 * the vocabulary and the class names of the run. */
typedef struct {
  const char *path;
  const tn_facts *facts;
  const bool *wanted; /* by input of the program: it is read from the file; others may be missing there */
  bool hashed;        /* the result has the hash of the file */
  /* Takes rows, a few at a time; without an order. False, after reporting, ends it. NULL: all of them are
   * kept in the result, in the order of the file, and filters apply. */
  bool (*take)(void *context, const tn_rows *rows);
  void *context;
} tn_rows_request;
/* False after reporting. `out` may be NULL where the rows are taken. */
bool tn_rows_read_given(tn_host *host, const tn_training *program, const tn_backend *backend,
                        const tn_rows_request *request, tn_arena *arena, tn_rows *out);
/* The texts of a column become tokens of the run's vocabulary, `width` for each. False when memory runs out,
 * or the stop of the heap was asked. */
bool tn_rows_encode(tn_vocab *vocab, tn_column *column, size_t rows, size_t width, tn_heap *heap);
/* Fills what is missing (NaN), and normalizes, as the run did. */
void tn_rows_normalize(const tn_input_facts *facts, tn_column *column, size_t rows);

/* The facts about its training data that a model needs for new rows, as sealed JSON: per input the
 * statistics, the class names, the vocabulary. The text fails when memory runs out. */
void tn_rows_write_facts(const tn_rows *rows, const tn_training *program, const tn_names *names,
                         tn_text *out);
#endif
