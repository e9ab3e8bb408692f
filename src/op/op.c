/* op/op.c: access to the table of operations.
 *
 * The signatures are ops.def with all groups but TN_SIG and TN_PLAN gone. */
#include "op/op.h"

#include <assert.h>

static const tn_op_sig sigs[TN_OP_COUNT] = {
  [TN_OP_ERROR] = { .op = TN_OP_ERROR, .name = "error", .group = "", .doc = "stands for what has failed",
                    .operands = "", .kind = TN_KIND_LITERAL },
#define TN_OP(id, ...) [TN_OP_##id] = { .op = TN_OP_##id, __VA_ARGS__ },
#define TN_SIG(...) __VA_ARGS__
#include "op/ops.def"
};

static const struct {
  tn_op_fails fails;
  double cost;
  tn_op_rows rows;
} plans[TN_OP_COUNT] = {
#define TN_OP(id, ...) [TN_OP_##id] = __VA_ARGS__,
#define TN_PLAN(fails, cost, rows) { TN_FAILS_##fails, cost, TN_ROWS_##rows }
#define TN_EXPAND(...) { TN_FAILS_AS_PARTS, 0, TN_ROWS_NONE }
#include "op/ops.def"
};

const tn_op_sig *tn_op_sig_of(tn_op op) {
  assert(op < TN_OP_COUNT);
  return &sigs[op];
}

tn_op_fails tn_op_fails_of(tn_op op) { return plans[op].fails; }
tn_op_rows tn_op_rows_of(tn_op op) { return plans[op].rows; }
double tn_op_cost(tn_op op) { return plans[op].cost; }

bool tn_op_can_fail(tn_op op, tn_dtype dtype) {
  if (plans[op].fails == TN_FAILS_ON_ZERO_DIVISOR) return tn_dtype_in(dtype, TN_INTS);
  return plans[op].fails != TN_FAILS_NEVER;
}

tn_op tn_op_find(tn_str name) {
  for (int op = TN_OP_ERROR + 1; op < TN_OP_COUNT; op++) {
    if (tn_str_is(name, sigs[op].name)) return (tn_op)op;
  }
  return TN_OP_ERROR;
}

bool tn_type_equal(const tn_type *a, const tn_type *b) {
  return a->dtype == b->dtype && tn_shape_equal(&a->shape, &b->shape);
}

void tn_type_print(const tn_type *type, const tn_names *names, tn_text *out) {
  tn_text_puts(out, tn_dtype_name(type->dtype));
  tn_shape_print(&type->shape, names, TN_SHAPE_COMMA, out);
}
