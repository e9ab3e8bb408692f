/* track/chart/chart_axis.c: computes axes, ticks and their labels.
 *
 * Ticks are kept as whole numbers times powers of ten, so that what is written
 * beside them is exact: 0.3, never 0.30000000000000004. */
#include "track/chart/chart_axis.h"

#include "base/elementary.h"

#define ROOM 0.05 /* of the values' range, above and below */

/* number * 10^exponent; exact as long as both parts are. */
static double scaled(double number, int exponent) {
  double power = 1;
  for (int i = exponent < 0 ? -exponent : exponent; i > 0; i--) power *= 10;
  return exponent < 0 ? number / power : number * power;
}

/* The largest power of ten that is not above `value`, which is above 0. */
static int power_below(double value) {
  int exponent = 0;
  while (scaled(1, exponent + 1) <= value) exponent++;
  while (scaled(1, exponent) > value) exponent--;
  return exponent;
}

tn_axis tn_axis_around(double low, double high, bool logarithmic) {
  if (logarithmic) {
    double factor = low < high ? tn_exp_f64(ROOM * tn_log_f64(high / low)) : 2;
    return (tn_axis){ low / factor, high * factor, true };
  }
  double room = ROOM * (high - low);
  if (!(room > 0)) room = low == 0 ? 1 : 0.1 * (low < 0 ? -low : low);
  tn_axis axis = { low - room, high + room, false };
  /* What is never negative has no room below 0, and what comes near 0 shows it. */
  if (low >= 0 && axis.low < 0.2 * high) axis.low = 0;
  return axis;
}

tn_axis tn_axis_of_steps(double low, double high) {
  if (low == high) return (tn_axis){ low - 0.5, high + 0.5, false };
  return (tn_axis){ low, high, false };
}

double tn_axis_place(const tn_axis *axis, double value) {
  if (axis->logarithmic) return tn_log_f64(value / axis->low) / tn_log_f64(axis->high / axis->low);
  return (value - axis->low) / (axis->high - axis->low);
}

/* ---- ticks ---- */

static void add(const tn_axis *axis, int64_t number, int exponent, tn_tick *out, size_t *count) {
  double value = scaled((double)number, exponent);
  if (value < axis->low || value > axis->high || *count == TN_AXIS_TICKS) return;
  out[(*count)++] = (tn_tick){ number, exponent, value };
}

/* Steps of 1, 2 or 5 times a power of ten. */
static size_t linear_ticks(const tn_axis *axis, int wanted, bool whole, tn_tick *out) {
  static const int factors[] = { 1, 2, 5, 10 };
  double least = (axis->high - axis->low) / wanted;
  int exponent = power_below(least), factor = 0;
  while (factor < 3 && scaled(factors[factor], exponent) < least) factor++;
  int64_t step = factors[factor];
  if (step == 10) step = 1, exponent++;
  if (whole && exponent < 0) step = 1, exponent = 0;
  double first = tn_ceil_f64(axis->low / scaled((double)step, exponent));
  size_t count = 0;
  for (int64_t i = 0; i < TN_AXIS_TICKS; i++) add(axis, ((int64_t)first + i) * step, exponent, out, &count);
  return count;
}

/* Powers of ten; between few of them also 2 and 5. */
static size_t log_ticks(const tn_axis *axis, tn_tick *out) {
  static const int between[] = { 1, 2, 5 };
  int first = power_below(axis->low), last = power_below(axis->high);
  bool few = last - first <= 3;
  int stride = few ? 1 : (last - first + 6) / 7;
  size_t count = 0;
  while (first % stride != 0) first++; /* 1 is among them */
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (int i = 0; i < (few ? 3 : 1); i++) add(axis, between[i], exponent, out, &count);
  }
  return count;
}

size_t tn_axis_ticks(const tn_axis *axis, int wanted, tn_tick out[TN_AXIS_TICKS]) {
  size_t count = axis->logarithmic ? log_ticks(axis, out) : 0;
  return count >= 3 ? count : linear_ticks(axis, wanted, false, out);
}

size_t tn_axis_step_ticks(const tn_axis *axis, int wanted, tn_tick out[TN_AXIS_TICKS]) {
  return linear_ticks(axis, wanted, true, out);
}

/* ---- what is written beside them ---- */

/* 2.5e-7 */
static void put_scientific(int64_t number, int exponent, tn_text *out) {
  while (number % 10 == 0) number /= 10, exponent++;
  int64_t leading = number;
  int digits = 0;
  for (; leading > 9 || leading < -9; leading /= 10) digits++;
  tn_text_fixed(out, scaled((double)number, -digits), digits);
  tn_text_byte(out, 'e');
  tn_text_int(out, exponent + digits);
}

void tn_tick_text(const tn_tick *tick, tn_text *out) {
  double size = tick->value < 0 ? -tick->value : tick->value;
  if (tick->number == 0)
    tn_text_byte(out, '0');
  else if (tick->exponent < -5 || size >= 1e6)
    put_scientific(tick->number, tick->exponent, out);
  else
    tn_text_fixed(out, tick->value, tick->exponent < 0 ? -tick->exponent : 0);
}

void tn_tick_step_text(const tn_tick *tick, double most, tn_text *out) {
  int unit = most >= 1e6 ? 6 : most >= 1e4 ? 3 : 0;
  int places = unit - tick->exponent;
  if (tick->number == 0 || unit == 0 || places < 0) places = 0;
  tn_text_fixed(out, scaled(tick->value, tick->number == 0 ? 0 : -unit), places);
  if (tick->number != 0 && unit > 0) tn_text_byte(out, unit == 6 ? 'M' : 'k');
}
