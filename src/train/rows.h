/* train/rows.h: the rows a program trains on and is evaluated on. */
#ifndef TN_TRAIN_ROWS_H
#define TN_TRAIN_ROWS_H

#include "backend/backend.h"
#include "data/columns.h"
#include "data/vocab.h"
#include "lang/training.h"

/* What a data set came to: columns, and the order in which rows count. */
typedef struct {
  bool present;
  tn_columns columns;
  const int *column_of; /* for each input of the program: the column that feeds it, or -1 */
  tn_vocab *vocab;      /* that made tokens of texts, or NULL */
  uint32_t *order; /* rows in order; the first train_count are for training */
  size_t count, train_count;
  uint8_t sha256[32]; /* of the file, if it was asked for; with a tokenizer, of that hash and its file */
} tn_rows;

/* Reads, maps, filters, shuffles and splits, as the dataset block says. Without one: nothing. */
bool tn_rows_read(tn_host *host, const tn_training *program, const tn_backend *backend, bool hashed,
                  tn_arena *arena, tn_rows *out);
void tn_rows_free(tn_rows *rows);
#endif
