/* op/formula.c: the columns of elementwise.def in postfix order.
 *
 * A number is made only when an operation needs it, after the operation's other operands: so the
 * order of nodes in a graph is the same whichever operand is written first. */
#include "op/formula.h"

#include <assert.h>

/* ---- the words ---- */
#define APPLY(ID)               { TN_TERM_APPLY, TN_OP_##ID, 0 },
#define E_X                     { TN_TERM_X, TN_OP_ERROR, 0 },
#define E_Y                     { TN_TERM_Y, TN_OP_ERROR, 0 },
#define E_OUT                   { TN_TERM_OUT, TN_OP_ERROR, 0 },
#define E_G                     { TN_TERM_G, TN_OP_ERROR, 0 },
#define E_NUMBER(n)             { TN_TERM_NUMBER, TN_OP_FILL, n },
#define E_NEVER
#define E_OP(ID, x)             x APPLY(ID)
#define E_NEG(x)                x APPLY(NEG)
#define E_ABS(x)                x APPLY(ABS)
#define E_SQRT(x)               x APPLY(SQRT)
#define E_EXP(x)                x APPLY(EXP)
#define E_LOG(x)                x APPLY(LOG)
#define E_TANH(x)               x APPLY(TANH)
#define E_SIGMOID(x)            x APPLY(SIGMOID)
#define E_ERF(x)                x APPLY(ERF)
#define E_SIN(x)                x APPLY(SIN)
#define E_COS(x)                x APPLY(COS)
#define E_FLOOR(x)              x APPLY(FLOOR)
#define E_CEIL(x)               x APPLY(CEIL)
#define E_ROUND(x)              x APPLY(ROUND)
#define E_NOT(x)                x APPLY(NOT)
#define E_ADD(x, y)             x y APPLY(ADD)
#define E_SUB(x, y)             x y APPLY(SUB)
#define E_MUL(x, y)             x y APPLY(MUL)
#define E_DIV(x, y)             x y APPLY(DIV)
#define E_REM(x, y)             x y APPLY(REM)
#define E_POW(x, y)             x y APPLY(POW)
#define E_MINIMUM(x, y)         x y APPLY(MINIMUM)
#define E_MAXIMUM(x, y)         x y APPLY(MAXIMUM)
#define E_EQ(x, y)              x y APPLY(EQ)
#define E_LT(x, y)              x y APPLY(LT)
#define E_LE(x, y)              x y APPLY(LE)
#define E_GT(x, y)              x y APPLY(GT)
#define E_GE(x, y)              x y APPLY(GE)
#define E_AND(x, y)             x y APPLY(AND)
#define E_OR(x, y)              x y APPLY(OR)
#define E_SELECT(c, x, y)       c x y APPLY(SELECT)

/* ---- the rows ---- */
#define END { TN_TERM_END, TN_OP_ERROR, 0 }
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, ...) \
  static const tn_term real_##ID[] = { REAL END };                                                  \
  static const tn_term whole_##ID[] = { WHOLE END };                                                \
  static const tn_term truth_##ID[] = { TRUTH END };                                                \
  static const tn_term slope_x_##ID[] = { SLOPE_X END };                                            \
  static const tn_term slope_y_##ID[] = { SLOPE_Y END };
#include "op/elementwise.def"

const tn_formulas tn_op_formulas[TN_OP_COUNT] = {
#define TN_ELEMENT(ID, ...) \
  [TN_OP_##ID] = { real_##ID, whole_##ID, truth_##ID, { slope_x_##ID, slope_y_##ID } },
#include "op/elementwise.def"
};

const tn_term *tn_op_value(tn_op op, tn_dtype dtype) {
  const tn_formulas *row = &tn_op_formulas[op];
  if (tn_dtype_in(dtype, TN_FLOATS)) return row->real;
  return tn_dtype_in(dtype, TN_INTS) ? row->whole : row->truth;
}

bool tn_formula_stands_for(const tn_term *formula, tn_op op) {
  while (formula->kind != TN_TERM_END && formula->op != op) formula++;
  return formula->kind != TN_TERM_END;
}

/* ---- making ---- */

/* What waits for its operation: a place, or a number that is not made yet. */
typedef struct {
  int place;        /* 0: a number */
  double number;
} waiting;

static bool is_same(const tn_formula_run *run, int thing, tn_op op, const int *in, double number) {
  if (run->thing[thing].op != op || run->thing[thing].number != number) return false;
  for (int i = 0; i < 3; i++) {
    if (run->thing[thing].in[i] != in[i]) return false;
  }
  return true;
}

static int find_or_make(tn_formula_run *run, tn_op op, const int *in, int count, double number) {
  int all[3] = { 0 };
  for (int i = 0; i < count; i++) all[i] = in[i];
  for (int i = 0; i < run->made; i++) {
    if (is_same(run, i, op, all, number)) return TN_TERM_NUMBER + i;
  }
  int place = TN_TERM_NUMBER + run->made;
  assert(place < TN_FORMULA_PLACES);
  run->thing[run->made].op = op;
  run->thing[run->made].number = number;
  for (int i = 0; i < 3; i++) run->thing[run->made].in[i] = all[i];
  if (!run->make(run, place, op, in, count, number)) return -1;
  run->made++;
  return place;
}

static int apply(tn_formula_run *run, tn_op op, const waiting *operands, int count) {
  int in[3];
  for (int i = 0; i < count; i++) {
    in[i] = operands[i].place ? operands[i].place
                              : find_or_make(run, TN_OP_FILL, NULL, 0, operands[i].number);
    if (in[i] < 0) return -1;
  }
  return find_or_make(run, op, in, count, 0);
}

int tn_formula_make(tn_formula_run *run, const tn_term *formula, bool *negated) {
  waiting stack[TN_FORMULA_PLACES];
  int depth = 0;
  if (negated) *negated = false;
  for (const tn_term *term = formula; term->kind != TN_TERM_END; term++) {
    if (term->kind == TN_TERM_APPLY) {
      bool last = term[1].kind == TN_TERM_END;
      if (negated && last && term->op == TN_OP_NEG) {
        *negated = true;
        break;
      }
      int count = tn_op_sig_of(term->op)->arity;
      depth -= count;
      int place = apply(run, term->op, &stack[depth], count);
      if (place < 0) return -1;
      stack[depth++] = (waiting){ .place = place };
    } else {
      bool number = term->kind == TN_TERM_NUMBER;
      stack[depth++] = (waiting){ .place = number ? 0 : (int)term->kind, .number = term->number };
    }
  }
  assert(depth == 1);
  return stack[0].place ? stack[0].place : find_or_make(run, TN_OP_FILL, NULL, 0, stack[0].number);
}
