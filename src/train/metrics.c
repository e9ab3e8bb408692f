/* train/metrics.c: computes metrics, in f64 and in the order of the rows. */
#include "train/metrics.h"

#include <math.h>

#include "base/elementary.h"

bool tn_metrics_compare(const tn_metric *metrics, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (tn_metric_needs_of(metrics[i].kind) != TN_NEEDS_LOSS) return true;
  }
  return false;
}

static bool has(const tn_metrics_request *r, tn_metric_kind kind) {
  for (size_t i = 0; i < r->count; i++) {
    if (r->metrics[i].kind == kind) return true;
  }
  return false;
}

static bool needs(const tn_metrics_request *r, tn_metric_needs needs) {
  for (size_t i = 0; i < r->count; i++) {
    if (tn_metric_needs_of(r->metrics[i].kind) == needs) return true;
  }
  return false;
}

/* ---- classes ---- */

/* How often a class was the label, was predicted, and was both. */
typedef struct {
  int64_t actual, predicted, both;
} class_count;

typedef struct {
  const tn_metrics_request *request;
  int64_t rows, classes;
  class_count *counts;         /* by class */
  int64_t right;
  int64_t hits[TN_METRIC_LIMIT]; /* of TOP, by metric */
  double surprise;             /* the sum of -log softmax(logits)[label] */
  bool surprises;
} tally;

static double logit(const tally *t, int64_t row, int64_t class) {
  return tn_view_get_f64(t->request->prediction, row * t->classes + class);
}

/* The largest logit, the first one on a tie. */
static int64_t largest(const tally *t, int64_t row) {
  int64_t best = 0;
  double most = logit(t, row, 0);
  for (int64_t c = 1; c < t->classes; c++) {
    double number = logit(t, row, c);
    if (number > most) most = number, best = c;
  }
  return best;
}

/* How many classes come before the label: larger logits, and equal ones of smaller classes. */
static int64_t place_of(const tally *t, int64_t row, int64_t label) {
  double own = logit(t, row, label);
  int64_t before = 0;
  for (int64_t c = 0; c < t->classes; c++) {
    double number = logit(t, row, c);
    before += number > own || (number == own && c < label);
  }
  return before;
}

static double surprise_of(const tally *t, int64_t row, int64_t label, double most) {
  double sum = 0;
  for (int64_t c = 0; c < t->classes; c++) sum += tn_exp_f64(logit(t, row, c) - most);
  return tn_log_f64(sum) + most - logit(t, row, label);
}

static void count_row(tally *t, int64_t row) {
  const tn_metrics_request *r = t->request;
  int64_t label = (int64_t)tn_view_get_f64(r->target, row), class = largest(t, row);
  t->counts[class].predicted++;
  if (label < 0 || label >= t->classes) return; /* readers refuse such labels; it counts as wrong */
  t->counts[label].actual++;
  t->counts[label].both += class == label;
  t->right += class == label;
  for (size_t i = 0; i < r->count; i++) {
    if (r->metrics[i].kind == TN_METRIC_TOP) t->hits[i] += place_of(t, row, label) < r->metrics[i].k;
  }
  if (t->surprises) t->surprise += surprise_of(t, row, label, logit(t, row, class));
}

static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

static double of_class(const class_count *c, tn_metric_kind kind) {
  if (kind == TN_METRIC_PRECISION) return ratio((double)c->both, (double)c->predicted);
  if (kind == TN_METRIC_RECALL) return ratio((double)c->both, (double)c->actual);
  return ratio(2 * (double)c->both, (double)(c->actual + c->predicted));
}

/* Of two classes that of class 1; of more the mean over those that are labels or were predicted. */
static double over_classes(const tally *t, tn_metric_kind kind) {
  if (t->classes == 2) return of_class(&t->counts[1], kind);
  double sum = 0;
  int64_t seen = 0;
  for (int64_t c = 0; c < t->classes; c++) {
    if (t->counts[c].actual + t->counts[c].predicted == 0) continue;
    sum += of_class(&t->counts[c], kind);
    seen++;
  }
  return ratio(sum, (double)seen);
}

static double class_metric(const tally *t, size_t index) {
  tn_metric_kind kind = t->request->metrics[index].kind;
  if (kind == TN_METRIC_ACCURACY) return ratio((double)t->right, (double)t->rows);
  if (kind == TN_METRIC_TOP) return ratio((double)t->hits[index], (double)t->rows);
  if (kind == TN_METRIC_PERPLEXITY) return tn_exp_f64(t->surprise / (double)t->rows);
  return over_classes(t, kind);
}

static bool measure_classes(tn_heap *heap, const tn_metrics_request *r, double *out) {
  const tn_view *logits = r->prediction;
  tally t = { .request = r, .classes = logits->dim[logits->rank - 1], .rows = tn_view_count(r->target) };
  size_t bytes = (size_t)t.classes * sizeof *t.counts;
  t.surprises = has(r, TN_METRIC_PERPLEXITY);
  t.counts = tn_heap_alloc(heap, bytes);
  if (!t.counts) return false;
  for (int64_t row = 0; row < t.rows; row++) count_row(&t, row);
  for (size_t i = 0; i < r->count; i++) {
    if (tn_metric_needs_of(r->metrics[i].kind) == TN_NEEDS_CLASSES) out[i] = class_metric(&t, i);
  }
  tn_heap_free(heap, t.counts, bytes);
  return true;
}

/* ---- numbers ---- */

/* Of one column: the sum of squared errors, and of squared distances from the mean of the targets. */
typedef struct {
  double errors, spread;
} column_sums;

static column_sums sum_column(const tn_metrics_request *r, int64_t column, int64_t columns) {
  int64_t count = tn_view_count(r->target), rows = count / columns;
  column_sums sums = { 0 };
  double mean = 0;
  for (int64_t i = column; i < count; i += columns) mean += tn_view_get_f64(r->target, i);
  mean /= (double)rows;
  for (int64_t i = column; i < count; i += columns) {
    double target = tn_view_get_f64(r->target, i), error = target - tn_view_get_f64(r->prediction, i);
    sums.errors += error * error;
    sums.spread += (target - mean) * (target - mean);
  }
  return sums;
}

/* Targets that are all equal have no variance to explain: 1 if the predictions equal them, else 0. */
static double explained(column_sums sums) {
  if (sums.spread > 0) return 1 - sums.errors / sums.spread;
  return sums.errors == 0 ? 1 : 0;
}

/* The mean over the columns of a row. */
static double r_squared(const tn_metrics_request *r) {
  int64_t rows = r->target->rank > 0 ? r->target->dim[0] : 1, count = tn_view_count(r->target);
  int64_t columns = rows > 0 ? count / rows : 1;
  double sum = 0;
  for (int64_t column = 0; column < columns; column++) sum += explained(sum_column(r, column, columns));
  return sum / (double)columns;
}

static void measure_numbers(const tn_metrics_request *r, double *out) {
  int64_t count = tn_view_count(r->target);
  double distance = 0, squares = 0;
  for (int64_t i = 0; i < count; i++) {
    double error = tn_view_get_f64(r->target, i) - tn_view_get_f64(r->prediction, i);
    distance += error < 0 ? -error : error;
    squares += error * error;
  }
  for (size_t i = 0; i < r->count; i++) {
    tn_metric_kind kind = r->metrics[i].kind;
    if (kind == TN_METRIC_MAE) out[i] = distance / (double)count;
    if (kind == TN_METRIC_RMSE) out[i] = sqrt(squares / (double)count);
    if (kind == TN_METRIC_R2) out[i] = r_squared(r);
  }
}

bool tn_metrics_measure(tn_heap *heap, const tn_metrics_request *request, double *out) {
  for (size_t i = 0; i < request->count; i++) {
    if (request->metrics[i].kind == TN_METRIC_LOSS) out[i] = request->loss;
  }
  if (needs(request, TN_NEEDS_NUMBERS)) measure_numbers(request, out);
  return !needs(request, TN_NEEDS_CLASSES) || measure_classes(heap, request, out);
}
