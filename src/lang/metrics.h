/* lang/metrics.h: the names of metrics and their requirements; train/metrics.h computes them. */
#ifndef TN_LANG_METRICS_H
#define TN_LANG_METRICS_H

#include "base/arena.h"
#include "diag/diag.h"

typedef enum {
#define TN_METRIC(id, ...) TN_METRIC_##id,
#include "lang/metrics.def"
  TN_METRIC_KINDS
} tn_metric_kind;

typedef enum { TN_NEEDS_LOSS, TN_NEEDS_CLASSES, TN_NEEDS_NUMBERS } tn_metric_needs;

#define TN_METRIC_LIMIT 16 /* metrics of one evaluation */

typedef struct {
  tn_metric_kind kind;
  int64_t k;      /* of TOP: the label is among the k largest logits */
  tn_str name;    /* "loss", "top5": what is printed and recorded; ends with a NUL */
  tn_str written; /* as the program calls it: "acc" */
  tn_span at;
} tn_metric;

/* "accuracy", also "acc"; "top5", also "top-5". The name goes into the arena, if it is not static. False:
 * there is no such metric. */
bool tn_metric_find(tn_str word, tn_arena *arena, tn_metric *out);
/* The known name that is nearest to a wrong one; empty: none is near. */
tn_str tn_metric_suggest(tn_str word);
tn_metric_needs tn_metric_needs_of(tn_metric_kind kind);
/* Whether a higher value is better; false where there is no such metric. */
bool tn_metric_name_rises(tn_str name);
bool tn_metric_same(const tn_metric *a, const tn_metric *b);
/* "loss, accuracy, top5, ...": those that need at most this. */
void tn_metric_list(tn_metric_needs needs, tn_text *out);
#endif
