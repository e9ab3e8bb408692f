/* op/formula.h: the formulas of elementwise.def as data.
 *
 * A formula is a list of terms in postfix order. Its readers (gradients in ad/, exporters in
 * export/) say how an operation is built; this file decides the order, and builds equal terms
 * once. */
#ifndef TN_OP_FORMULA_H
#define TN_OP_FORMULA_H

#include "op/op.h"

typedef enum {
  TN_TERM_END,
  TN_TERM_X,        /* the operands */
  TN_TERM_Y,
  TN_TERM_OUT,      /* the result */
  TN_TERM_G,        /* the gradient of the result */
  TN_TERM_NUMBER,
  TN_TERM_APPLY     /* an operation to as many terms as it has operands */
} tn_term_kind;

typedef struct {
  tn_term_kind kind;
  tn_op op;         /* of TN_TERM_APPLY */
  double number;
} tn_term;

/* A row: the value for floats, integers and bool, and the gradient of each operand. An empty formula
 * (it begins with TN_TERM_END) stands where the table says E_NEVER, NULL where the operation is not
 * in it. */
typedef struct {
  const tn_term *real, *whole, *truth, *slope[2];
} tn_formulas;
extern const tn_formulas tn_op_formulas[TN_OP_COUNT];

/* The value of an elementwise operation on operands of this dtype. */
const tn_term *tn_op_value(tn_op op, tn_dtype dtype);
/* Whether the formula is the operation itself: there is nothing simpler to say it with. */
bool tn_formula_stands_for(const tn_term *formula, tn_op op);

/* Places of what a formula works on. The first are the terms' own; what is made follows. */
#define TN_FORMULA_PLACES 32
typedef struct tn_formula_run tn_formula_run;
struct tn_formula_run {
  /* Makes what belongs to `place`: the operation of what is at `in`; of TN_OP_FILL, the number.
   * False ends the run. */
  bool (*make)(tn_formula_run *run, int place, tn_op op, const int *in, int count, double number);
  int made;         /* set to 0 before the first formula; formulas that follow find what is made */
  struct {
    tn_op op;
    int in[3];
    double number;
  } thing[TN_FORMULA_PLACES];
};
/* The place of the result; -1 when something could not be made. A last `neg` is left to the
 * caller if it asks whether there is one. */
int tn_formula_make(tn_formula_run *run, const tn_term *formula, bool *negated);
#endif
