/* train/predict.h: answers of a trained model for new rows.
 *
 * The model is the program of a run with the run's parameters, and data.json says
 * how rows are prepared. Rows come from a file in the program's format, from
 * --input, or are texts. They are processed in batches; an answer has the same
 * bits in every batch. Therefore a model that mixes rows answers only --input,
 * all rows at once. */
#ifndef TN_TRAIN_PREDICT_H
#define TN_TRAIN_PREDICT_H

#include "train/trained.h"

typedef enum {
  TN_ANSWER_TEXT,  /* a line per row, for people */
  TN_ANSWER_CSV,
  TN_ANSWER_JSONL, /* an object per line */
  TN_ANSWER_NPY
} tn_answer_form;
/* -1: there is none of that name. */
int tn_answer_form_find(tn_str name);

typedef struct {
  tn_trained_options trained;
  const char *data;       /* a file of rows; NULL: none */
  const char *const *texts; /* a row for each: texts for the input of tokens; NULL: none */
  size_t text_count;
  tn_answer_form form;
  void *context;
  /* Takes what is written, in order. False ends it without a report. */
  bool (*take)(void *context, tn_str bytes);
  /* Takes the first bytes again, as they must be now that the number of rows is known. Only for npy. */
  bool (*rewrite)(void *context, tn_str bytes);
} tn_predict_options;

/* False after reporting. *rows: how many answers there were. */
bool tn_predict(tn_unit *unit, const tn_training_doors *doors, const tn_predict_options *options,
                tn_arena *arena, size_t *rows);
#endif
