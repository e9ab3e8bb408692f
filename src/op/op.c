/* op/op.c: the table of operations as people and programs read it.
 *
 * The signatures are ops.def with all groups but TN_SIG gone. */
#include "op/op.h"

#include <assert.h>

static const tn_op_sig sigs[TN_OP_COUNT] = {
  [TN_OP_ERROR] = { .op = TN_OP_ERROR, .name = "error", .group = "", .doc = "stands for what has failed",
                    .operands = "", .kind = TN_KIND_SOURCE },
#define TN_OP(id, ...) [TN_OP_##id] = { .op = TN_OP_##id, __VA_ARGS__ },
#define TN_SIG(...) __VA_ARGS__
#include "op/ops.def"
};

const tn_op_sig *tn_op_sig_of(tn_op op) {
  assert(op < TN_OP_COUNT);
  return &sigs[op];
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
