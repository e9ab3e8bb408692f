/* op/infer.c: infers the type of a result from those of its operands.
 *
 * The rules are the TN_RULES groups of ops.def. Conditions common to all operations are checked
 * here, once, so that a rule may rely on them: the number of operands, the dtypes of the first one,
 * axes in range and in order. After the rules, the size of the result is checked. */
#include <assert.h>

#include "op/fault.h"
#include "op/internal.h"

typedef struct {
  tn_op_rule shape, dtype;
} rule_pair;

static const rule_pair rules[TN_OP_COUNT] = {
#define TN_OP(id, ...) [TN_OP_##id] = __VA_ARGS__,
#define TN_RULES(...) PAIR(__VA_ARGS__)
#define PAIR(of_shape, of_dtype) { tn_op_##of_shape, tn_op_##of_dtype }
#define TN_EXPAND(...) { .shape = NULL }
#include "op/ops.def"
};

bool tn_op_fail(const tn_op_args *args, tn_fault fault) {
  fault.op = args->op;
  if (args->fault) *args->fault = fault;
  return false;
}

bool tn_op_fail_argument(const tn_op_args *args, const char *expected, int64_t got) {
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_ARGUMENT, .reason = expected, .got = got });
}

/* linear is variadic because its bias may be left out; the others join what they get. */
bool tn_op_check_arity(const tn_op_args *args) {
  int least = tn_op_sig_of(args->op)->arity, most = least;
  if (least == TN_VARIADIC) {
    least = args->op == TN_OP_LINEAR ? 2 : args->op == TN_OP_FUSED ? 0 : 1;
    most = args->op == TN_OP_LINEAR ? 3 : TN_OPERAND_LIMIT;
  }
  if (args->count >= least && args->count <= most) return true;
  int expected = args->count < least ? least : most;
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_ARITY, .expected = expected, .got = args->count });
}

static bool rank_fault(const tn_op_args *args, int operand, int rank, const char *reason) {
  tn_fault fault = { .kind = TN_FAULT_RANK, .operand = operand, .left = args->in[operand], .expected = rank,
                     .got = args->in[operand].shape.rank, .reason = reason };
  if (args->count > 1) fault.right = args->in[operand ? 0 : 1];
  return tn_op_fail(args, fault);
}

bool tn_op_fail_rank_limit(const tn_op_args *args, int rank) {
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_RANK_LIMIT, .got = rank });
}

bool tn_op_check_rank(const tn_op_args *args, int operand, int rank) {
  static const char *const reasons[] = { "of no dimensions", "of 1 dimension", "of 2 dimensions",
                                         "of 3 dimensions", "of 4 dimensions" };
  assert(rank < (int)(sizeof reasons / sizeof *reasons));
  return args->in[operand].shape.rank == rank || rank_fault(args, operand, rank, reasons[rank]);
}

bool tn_op_check_least_rank(const tn_op_args *args, int operand, int rank) {
  static const char *const reasons[] = { "of any rank", "of at least 1 dimension",
                                         "of at least 2 dimensions" };
  assert(rank < (int)(sizeof reasons / sizeof *reasons));
  return args->in[operand].shape.rank >= rank || rank_fault(args, operand, rank, reasons[rank]);
}

bool tn_op_check_size(const tn_op_args *args, const tn_type *type) {
  tn_product product;
  if (tn_product_of(&type->shape, &product)) return true;
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_TOO_LARGE, .left = *type });
}

int tn_op_axis_rank(const tn_op_args *args) {
  if (args->op == TN_OP_IOTA) return args->attrs->shape.rank;
  bool creates = args->op == TN_OP_STACK || args->op == TN_OP_EXPAND_DIMS;
  return args->in[0].shape.rank + (creates ? 1 : 0);
}

static bool axis_fault(const tn_op_args *args, int axis, const char *reason) {
  tn_fault fault = { .kind = TN_FAULT_AXIS, .axis = axis, .reason = reason };
  fault.left = args->count ? args->in[0] : (tn_type){ args->attrs->dtype, args->attrs->shape };
  return tn_op_fail(args, fault);
}

static bool check_axis(const tn_op_args *args) {
  int axis = args->attrs->axis;
  if (axis >= 0 && axis < tn_op_axis_rank(args)) return true;
  return axis_fault(args, axis, "out of range");
}

/* Of reductions; a transpose looks at its permutation itself. */
static bool check_axes(const tn_op_args *args) {
  const tn_attrs *attrs = args->attrs;
  for (int i = 0; i < attrs->axis_count; i++) {
    int axis = attrs->axes[i];
    if (axis < 0 || axis >= args->in[0].shape.rank) return axis_fault(args, axis, "out of range");
    if (i && axis <= attrs->axes[i - 1]) return axis_fault(args, axis, TN_AXIS_TWICE);
  }
  return true;
}

static const char *dtype_reason(tn_dtype_set set) {
  switch (set) {
    case TN_FLOATS: return "f32 or f64";
    case TN_INTS: return "i32 or i64";
    case TN_NUMBERS: return "numbers";
    case TN_BOOLS: return "bool";
    case TN_NUMBERS | TN_BOOLS: return "numbers or bool";
    case TN_DTYPE_BIT(TN_I64): return "i64";
    default: return "another dtype";
  }
}

/* Of the first operand, or of the result where there is none. */
static bool check_dtype(const tn_op_args *args, const tn_type *result) {
  const tn_type *type = args->count ? &args->in[0] : result;
  tn_dtype_set allowed = tn_op_sig_of(args->op)->dtypes;
  if (tn_dtype_in(type->dtype, allowed)) return true;
  return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_DTYPE, .left = *type,
                                      .reason = dtype_reason(allowed) });
}

bool tn_op_infer(const tn_op_args *args, tn_type *out) {
  const rule_pair *rule = &rules[args->op];
  uint32_t attrs = tn_op_sig_of(args->op)->attrs;
  tn_type type = { 0 };
  if (!rule->shape) {
    return tn_op_fail(args, (tn_fault){ .kind = TN_FAULT_INTERNAL,
                                        .reason = "a composed operation has no type of its own" });
  }
  if (!tn_op_check_arity(args)) return false;
  if (args->count && !check_dtype(args, NULL)) return false;
  if (!rule->dtype(args, &type)) return false;
  if (!args->count && !check_dtype(args, &type)) return false;
  if (attrs & TN_ATTR_AXIS && !check_axis(args)) return false;
  if (attrs & TN_ATTR_AXES && args->op != TN_OP_TRANSPOSE && !check_axes(args)) return false;
  if (!rule->shape(args, &type) || !tn_op_check_size(args, &type)) return false;
  *out = type;
  return true;
}
