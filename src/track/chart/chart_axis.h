/* track/chart/chart_axis.h: positions of values along an axis, and its tick labels. */
#ifndef TN_EXPORT_CHART_AXIS_H
#define TN_EXPORT_CHART_AXIS_H

#include "base/text.h"

typedef struct {
  double low, high; /* of the values; low < high */
  bool logarithmic; /* then low > 0 */
} tn_axis;

/* An axis for values from `low` to `high`, which may be the same, with a little room around them. */
tn_axis tn_axis_around(double low, double high, bool logarithmic);
/* For steps: whole numbers, without room. */
tn_axis tn_axis_of_steps(double low, double high);

/* Where a value of the axis lies: 0 at its low end, 1 at its high end. */
double tn_axis_place(const tn_axis *axis, double value);

/* Round values on the axis: number * 10^exponent, about `wanted` of them. */
#define TN_AXIS_TICKS 32
typedef struct {
  int64_t number;
  int exponent;
  double value;
} tn_tick;
/* Returns how many. */
size_t tn_axis_ticks(const tn_axis *axis, int wanted, tn_tick out[TN_AXIS_TICKS]);
/* 0.25, 300, 2.5e-7: ticks of one axis have the same number of places. */
void tn_tick_text(const tn_tick *tick, tn_text *out);
/* 0, 500, 20k, 1.5M: steps up to `most`. */
size_t tn_axis_step_ticks(const tn_axis *axis, int wanted, tn_tick out[TN_AXIS_TICKS]);
void tn_tick_step_text(const tn_tick *tick, double most, tn_text *out);
#endif
