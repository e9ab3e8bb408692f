/* tests/ops/slope.h: one differentiable function, made up from an operation and a number.
 *
 * The function is the operation itself, of f64 operands (and of indices or
 * conditions where it has them). Its values lie on a grid: no two are equal and
 * none sits on a kink, so that every function here is smooth where it is looked
 * at, and central differences mean something. */
#ifndef TN_TESTS_OPS_SLOPE_H
#define TN_TESTS_OPS_SLOPE_H

#include "base/rng.h"
#include "op/op.h"

#define SLOPE_OPERANDS 4

typedef struct {
  tn_type type;
  double low, high;        /* of an f64 operand */
  int64_t limit;           /* of an index */
  int zeros;               /* how many elements are 0, exactly */
} slope_operand;

typedef struct {
  tn_op op;
  int number;
  tn_rng rng;
  tn_attrs attrs;
  slope_operand in[SLOPE_OPERANDS];
  int count;
  double step, tolerance;  /* of differences */
  bool flat;               /* rounding hides the second derivative */
} slope;

typedef void (*slope_maker)(slope *s);
/* NULL when there is none. */
slope_maker slope_maker_of(tn_op op);
slope slope_make(tn_op op, int number);
#endif
