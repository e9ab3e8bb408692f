/* tests/unit/elementary_judge.h: the true value of an elementary function, from MPFR, and how far a
 * result is from it.
 *
 * An error is measured in units in the last place of the true value, as a denormal result has them:
 * the distance between the floats around it, below 2^-126 too. */
#ifndef TN_TESTS_ELEMENTARY_JUDGE_H
#define TN_TESTS_ELEMENTARY_JUDGE_H

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>

#include "base/elementary.h"

typedef enum { OF_EXP, OF_LOG, OF_TANH, OF_SIGMOID, OF_ERF, OF_SIN, OF_COS, OF_POW, FUNCTIONS } judged;

typedef struct {
  const char *name;
  float (*f32)(float);
  double (*f64)(double);
} judged_function;

static const judged_function judged_functions[FUNCTIONS] = {
  [OF_EXP] = { "exp", tn_exp_f32, tn_exp_f64 },
  [OF_LOG] = { "log", tn_log_f32, tn_log_f64 },
  [OF_TANH] = { "tanh", tn_tanh_f32, tn_tanh_f64 },
  [OF_SIGMOID] = { "sigmoid", tn_sigmoid_f32, tn_sigmoid_f64 },
  [OF_ERF] = { "erf", tn_erf_f32, tn_erf_f64 },
  [OF_SIN] = { "sin", tn_sin_f32, tn_sin_f64 },
  [OF_COS] = { "cos", tn_cos_f32, tn_cos_f64 },
  [OF_POW] = { "pow", NULL, NULL },
};

/* x, y and the value they give; of the precision they were made with. */
typedef struct {
  mpfr_t x, y, value, error;
} judge;

static inline void judge_init(judge *by, int bits) {
  mpfr_inits2(bits, by->x, by->y, by->value, by->error, (mpfr_ptr)NULL);
}

static inline void judge_free(judge *by) {
  mpfr_clears(by->x, by->y, by->value, by->error, (mpfr_ptr)NULL);
}

/* value = function(x, y); y counts for pow only. */
static inline void judge_value(judge *by, judged function, double x, double y) {
  mpfr_set_d(by->x, x, MPFR_RNDN);
  mpfr_set_d(by->y, y, MPFR_RNDN);
  switch (function) {
    case OF_EXP: mpfr_exp(by->value, by->x, MPFR_RNDN); break;
    case OF_LOG: mpfr_log(by->value, by->x, MPFR_RNDN); break;
    case OF_TANH: mpfr_tanh(by->value, by->x, MPFR_RNDN); break;
    case OF_ERF: mpfr_erf(by->value, by->x, MPFR_RNDN); break;
    case OF_SIN: mpfr_sin(by->value, by->x, MPFR_RNDN); break;
    case OF_COS: mpfr_cos(by->value, by->x, MPFR_RNDN); break;
    case OF_POW: mpfr_pow(by->value, by->x, by->y, MPFR_RNDN); break;
    default:
      mpfr_neg(by->value, by->x, MPFR_RNDN);
      mpfr_exp(by->value, by->value, MPFR_RNDN);
      mpfr_add_ui(by->value, by->value, 1, MPFR_RNDN);
      mpfr_ui_div(by->value, 1, by->value, MPFR_RNDN);
  }
}

/* The distance of `result` from the value, in units in the last place of a format with `bits` of
 * mantissa whose smallest number is 2^lowest and whose numbers end before 2^highest. Infinite where
 * no distance would do: NaN for a number, the wrong sign, an infinity for what rounds to a finite
 * number or the reverse. */
static inline double judge_error(judge *by, double result, int bits, int lowest, int highest) {
  bool negative = mpfr_signbit(by->value) != 0;
  bool neither = mpfr_nan_p(by->value) && result != result;
  if (mpfr_nan_p(by->value) || result != result) return neither ? 0.0 : INFINITY;
  if (!mpfr_zero_p(by->value) && (signbit(result) != 0) != negative) return INFINITY;
  if (mpfr_inf_p(by->value)) return isinf(result) ? 0.0 : INFINITY;
  if (mpfr_zero_p(by->value)) return result == 0 ? 0.0 : INFINITY;
  long unit = mpfr_get_exp(by->value) - bits;
  if (unit < lowest) unit = lowest;
  if (unit > highest - bits) unit = highest - bits;
  if (isinf(result)) mpfr_set_ui_2exp(by->error, 1, highest, MPFR_RNDN);
  else mpfr_set_d(by->error, fabs(result), MPFR_RNDN);
  mpfr_abs(by->value, by->value, MPFR_RNDN);
  mpfr_sub(by->error, by->error, by->value, MPFR_RNDN);
  mpfr_mul_2si(by->error, by->error, -unit, MPFR_RNDN);
  double error = mpfr_get_d(by->error, MPFR_RNDN);
  /* Infinity stands for everything above the largest number: only falling short of it is an error. */
  return isinf(result) && error < 0 ? 0.0 : fabs(error);
}

static inline double judge_error_f32(judge *by, float result) {
  return judge_error(by, (double)result, 24, -149, 128);
}

static inline double judge_error_f64(judge *by, double result) {
  return judge_error(by, result, 53, -1074, 1024);
}
#endif
