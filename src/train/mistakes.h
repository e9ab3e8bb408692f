/* train/mistakes.h: what a trained model gets wrong on the rows of a file.
 *
 * A confusion matrix for classes, and the worst rows for classes and numbers, as members of a JSON object.
 * Numbers are computed in f64, row after row, and ties are broken by the row: the bytes depend on nothing but
 * the predictions and the rows. Their number is bounded for any data. */
#ifndef TN_TRAIN_MISTAKES_H
#define TN_TRAIN_MISTAKES_H

#include "base/json.h"
#include "train/rows.h"

#define TN_MISTAKES_CLASSES 100 /* of a matrix; with more there is none */
#define TN_MISTAKES_ROWS    50

typedef struct {
  const tn_view *prediction;   /* of all rows: logits [..., classes], or numbers */
  const tn_view *target;       /* labels [...], or as many numbers */
  bool classifies;
  const tn_input_facts *facts; /* of the target: names of classes, units of numbers */
  const tn_vocab *vocab;       /* of a text: rows are windows, and classes its tokens; NULL: it is none */
  const tn_rows *rows;
  size_t first, count;         /* of the rows' order */
} tn_mistakes_request;

/* Adds "class_count", "classes" and "confusion" of a classifier, and "worst". False: out of memory. The text
 * of `json` may fail too. */
bool tn_mistakes_write(tn_heap *heap, const tn_mistakes_request *request, tn_json_writer *json);
#endif
