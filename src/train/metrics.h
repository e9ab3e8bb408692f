/* train/metrics.h: metrics of predictions.
 *
 * One function for evaluation during training and for `tern evaluate`: it gets the predictions of all rows
 * and what they should have been, and computes in f64, from the first row to the last, so that the result
 * depends on nothing but those values. docs/training.md defines every metric. */
#ifndef TN_TRAIN_METRICS_H
#define TN_TRAIN_METRICS_H

#include "lang/metrics.h"
#include "tensor/tensor.h"

typedef struct {
  const tn_metric *metrics;
  size_t count;
  double loss;               /* for the metric of that name: it is the model's */
  const tn_view *prediction; /* of all rows: logits [..., classes], or numbers */
  const tn_view *target;     /* labels [...], or numbers of the prediction's shape */
} tn_metrics_request;

/* Whether any of them needs more than the loss: then prediction and target must be there. */
bool tn_metrics_compare(const tn_metric *metrics, size_t count);
/* out[i] is the value of metrics[i]. The shapes fit, as tn_training_doors.check_metrics says. False: out of
 * memory. */
bool tn_metrics_measure(tn_heap *heap, const tn_metrics_request *request, double *out);
#endif
