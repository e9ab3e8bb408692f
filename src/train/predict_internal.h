/* train/predict_internal.h: the answers of one batch, between predict.c, which computes them, and answers.c,
 * which writes them. */
#ifndef TN_TRAIN_PREDICT_INTERNAL_H
#define TN_TRAIN_PREDICT_INTERNAL_H

#include "base/text.h"
#include "diag/diag.h"
#include "train/predict.h"

/* What an answer is. */
typedef struct {
  tn_str name;             /* of the output */
  bool classifies;
  size_t groups;           /* answers in a row: 1, or one per place of a sequence */
  size_t width;            /* numbers of each: classes, or what is predicted */
  const tn_str *classes;   /* names; NULL: numbers */
  size_t class_count;
  const double *mean, *deviation; /* of what is predicted, in the data's own units; NULL: as they are */
  tn_shape shape;          /* of the answers of one row */
} tn_answer_kind;

/* Writes answers in one of the forms. */
typedef struct {
  const tn_predict_options *options;
  const tn_answer_kind *kind;
  tn_text text;
  size_t rows; /* so far */
} tn_answer_writer;

void tn_answers_begin(tn_answer_writer *writer, tn_heap *heap, const tn_predict_options *options,
                      const tn_answer_kind *kind);
/* The answers of some rows: rows * groups * width numbers. False: memory ran out (writer->text.failed), or
 * the caller stopped taking them. */
bool tn_answers_add(tn_answer_writer *writer, const tn_view *answers, size_t rows);
bool tn_answers_end(tn_answer_writer *writer);
void tn_answers_free(tn_answer_writer *writer);
#endif
