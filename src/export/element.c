/* export/element.c: writes the formula of an elementwise operation in another format. */
#include "export/element.h"

#include "op/formula.h"
#include "op/scalar.h"

typedef struct {
  tn_formula_run run; /* first, so that a run is a recipe */
  const tn_export_words *words;
  tn_dtype dtype;
  tn_str values[TN_FORMULA_PLACES];
  tn_dtype dtypes[TN_FORMULA_PLACES];
} recipe;

static bool make(tn_formula_run *run, int place, tn_op op, const int *in, int count, double number) {
  recipe *r = (recipe *)run;
  const tn_export_words *words = r->words;
  tn_str operands[3];
  for (int i = 0; i < count; i++) operands[i] = r->values[in[i]];
  r->dtypes[place] = op == TN_OP_FILL ? r->dtype : tn_scalar_gives(op, r->dtypes[in[count - 1]]);
  if (op == TN_OP_FILL)
    r->values[place] = words->number(words->writer, r->dtype, number);
  else if (op == TN_OP_SELECT)
    r->values[place] = words->choose(words->writer, r->dtypes[place], operands);
  else
    r->values[place] = words->element(words->writer, op, r->dtypes[in[0]], operands);
  return r->values[place].len > 0;
}

/* recursion: the operations of a formula; a formula that is the operation itself has none. */
tn_str tn_export_formula(const tn_export_words *words, tn_op op, tn_dtype dtype, const tn_str *in) {
  const tn_term *terms = tn_op_value(op, dtype);
  recipe r = { .run = { .make = make }, .words = words, .dtype = dtype };
  if (!terms || terms->kind == TN_TERM_END || tn_formula_stands_for(terms, op)) return (tn_str){ 0 };
  for (int i = 0; i < tn_op_sig_of(op)->arity; i++) {
    r.values[TN_TERM_X + i] = in[i];
    r.dtypes[TN_TERM_X + i] = dtype;
  }
  int place = tn_formula_make(&r.run, terms, NULL);
  return place < 0 ? (tn_str){ 0 } : r.values[place];
}
