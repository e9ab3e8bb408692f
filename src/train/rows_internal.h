/* train/rows_internal.h: where rows come from, for rows.c and the readers of its formats. */
#ifndef TN_TRAIN_ROWS_INTERNAL_H
#define TN_TRAIN_ROWS_INTERNAL_H

#include "train/rows.h"

typedef struct {
  tn_host *host;
  const tn_training *program; /* with a data set */
  const char *path;           /* to open */
  bool hashed;
  tn_arena *arena;
} tn_rows_source;

/* A CSV file, read into the columns of `rows`. False after reporting. */
bool tn_rows_read_csv(const tn_rows_source *source, tn_rows *rows);
/* Once the order of the rows is known: fills what is missing by means, normalizes, and makes tokens of texts.
 * False after reporting. */
bool tn_rows_prepare_csv(const tn_rows_source *source, tn_rows *rows);
/* The texts of a column become the tokens that its feed asks for (rows_text.c). */
bool tn_rows_tokenize(const tn_rows_source *source, const tn_dataset_feed *feed, tn_rows *rows);
/* How many numbers of a row an input declares; -1: not a number. */
int64_t tn_rows_declared_width(const tn_tensor_spec *input);
#endif
