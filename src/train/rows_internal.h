/* train/rows_internal.h: where rows come from, for rows.c and the readers of its formats. */
#ifndef TN_TRAIN_ROWS_INTERNAL_H
#define TN_TRAIN_ROWS_INTERNAL_H

#include "data/csv.h"
#include "train/rows.h"

typedef struct {
  tn_host *host;
  const tn_training *program; /* with a data set */
  const char *path;           /* to open */
  bool hashed;
  tn_arena *arena;
} tn_rows_source;

/* Reports that reading was interrupted or, where it was not, that memory ran out. False. */
bool tn_rows_stopped(const tn_rows_source *source);
/* Reads the whole file, to be released. `given`: the user named it, not the program. False after
 * reporting. */
bool tn_rows_read_file(const tn_rows_source *source, bool given, tn_file_bytes *out);
/* The columns that a table is asked for, from the arena; NULL when memory runs out. */
tn_csv_column *tn_rows_csv_columns(const tn_rows_source *source);
/* Which column feeds which input; NULL when memory runs out. */
const int *tn_rows_csv_column_of(const tn_rows_source *source);
/* Reads a table in the format that the block names. */
bool tn_rows_read_table(const tn_dataset_block *data, tn_heap *heap, const tn_csv_request *request,
                        tn_columns *out, tn_data_fault *fault);
/* A table for a model that was trained. */
bool tn_rows_read_given_csv(const tn_rows_source *source, const tn_rows_request *request, tn_rows *out);
/* Reports why a table was not read, at the place where the program names it, or nowhere. False. */
bool tn_rows_csv_failed(const tn_rows_source *source, const tn_data_fault *fault, tn_span at);
/* A table, read into the columns of `rows`. False after reporting. */
bool tn_rows_read_csv(const tn_rows_source *source, tn_rows *rows);
/* Once the order of the rows is known: fills what is missing by means, normalizes, and makes tokens of texts.
 * False after reporting. */
bool tn_rows_prepare_csv(const tn_rows_source *source, tn_rows *rows);
/* The texts of a column become the tokens that its feed asks for (rows_text.c). */
bool tn_rows_tokenize(const tn_rows_source *source, const tn_dataset_feed *feed, tn_rows *rows);
/* Windows of a text. With a request, those of a text for a model that was trained, with its vocabulary. False
 * after reporting; there is nothing to free then. */
bool tn_rows_read_text(const tn_rows_source *source, const tn_rows_request *request, tn_rows *rows);
/* The arrays of an npy or npz file, read into the columns of `rows`, or taken as the request says. Without
 * one, they are prepared as those of a table are. False after reporting. */
bool tn_rows_read_arrays(const tn_rows_source *source, const tn_rows_request *request, tn_rows *rows);
/* The vocabulary of a tokenizer.json; its hash becomes part of the data's. NULL after reporting. */
tn_vocab *tn_rows_read_tokenizer(const tn_rows_source *source, const tn_dataset_feed *feed, tn_rows *rows);
tn_vocab_kind tn_rows_vocab_kind(tn_dataset_tokens tokens);
/* How many of `count`, the last ones, are for the test, where the first `train` are for training. */
size_t tn_rows_test_share(const tn_dataset_block *data, size_t count, size_t train);
/* How many numbers of a row an input declares; -1: not a number. */
int64_t tn_rows_declared_width(const tn_tensor_spec *input);
#endif
