/* opt/fold.c: constant folding: computes before the run what is known before the run.
 *
 * Operations on constants are computed by the same kernels that would compute them later, so
 * folding cannot change a bit. A filled tensor stays a fill: an elementwise operation on fills is
 * computed for one element. Beside that only identities that hold for every number are used: x +
 * (-0), x - 0, x * 1, x / 1 and two negations are x; x + 0 is not, because -0 + 0 is +0. */
#include <math.h>
#include <string.h>

#include "opt/internal.h"

#define TN_FOLD_LIMIT    65536              /* elements of a folded constant */
#define TN_EXACT_INTEGER 9007199254740992.0 /* 2^53: a fill keeps its number as f64 */

typedef struct {
  const tn_opt_evaluator *evaluator;
} folding;

static const tn_node *new_node(const tn_rewrite *rewrite, tn_value value) {
  return tn_graph_node(&rewrite->to, value);
}

/* The number that every element of the value has. */
static bool uniform(const tn_rewrite *rewrite, tn_value value, double *number) {
  const tn_node *node = new_node(rewrite, value);
  if (node->op == TN_OP_FILL) {
    *number = node->attrs->number;
    return true;
  }
  if (node->op != TN_OP_CONST || tn_view_count(&node->attrs->literal->view) != 1) return false;
  *number = tn_view_get_f64(&node->attrs->literal->view, 0);
  return node->type.dtype != TN_I64 || fabs(*number) < TN_EXACT_INTEGER;
}

static bool is_number(const tn_rewrite *rewrite, tn_value value, double wanted) {
  double number;
  return uniform(rewrite, value, &number) && number == wanted && signbit(number) == signbit(wanted);
}

static bool keeps_type(const tn_rewrite *rewrite, const tn_node *node, tn_value value) {
  return tn_type_equal(&new_node(rewrite, value)->type, &node->type);
}

/* ---- identities: the operand that the result is equal to, if it has its type; or 0 ---- */

static tn_value same_sum(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  if (is_number(rewrite, in[1], -0.0)) return in[0];
  if (is_number(rewrite, in[0], -0.0)) return in[1];
  return tn_dtype_in(node->type.dtype, TN_INTS) && is_number(rewrite, in[1], 0) ? in[0] : 0;
}

static tn_value same_difference(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  (void)node;
  return is_number(rewrite, in[1], 0) ? in[0] : 0;
}

static tn_value same_quotient(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  (void)node;
  return is_number(rewrite, in[1], 1) ? in[0] : 0;
}

static tn_value same_product(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  tn_value x = same_quotient(rewrite, node, in);
  return x == 0 && is_number(rewrite, in[0], 1) ? in[1] : x;
}

static tn_value same_twice(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  const tn_node *inner = new_node(rewrite, in[0]);
  return inner->op == node->op ? inner->in[0] : 0;
}

static tn_value same_choice(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  double condition;
  (void)node;
  return uniform(rewrite, in[0], &condition) ? in[condition != 0 ? 1 : 2] : 0;
}

static tn_value same_only(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  (void)rewrite;
  return node->count == 1 ? in[0] : 0;
}

static tn_value same_as(const tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  static tn_value (*const identities[TN_OP_COUNT])(const tn_rewrite *, const tn_node *, const tn_value *) = {
    [TN_OP_ADD] = same_sum,      [TN_OP_SUB] = same_difference,   [TN_OP_MUL] = same_product,
    [TN_OP_DIV] = same_quotient, [TN_OP_NEG] = same_twice,        [TN_OP_NOT] = same_twice,
    [TN_OP_SELECT] = same_choice, [TN_OP_RESHAPE] = same_only,    [TN_OP_BROADCAST_TO] = same_only,
    [TN_OP_CAST] = same_only,    [TN_OP_CONCAT] = same_only,
  };
  tn_value x = identities[node->op] ? identities[node->op](rewrite, node, in) : 0;
  return x != 0 && keeps_type(rewrite, node, x) ? x : 0;
}

/* ---- constants ---- */

static tn_value filled(tn_rewrite *rewrite, const tn_node *node, double number) {
  tn_attrs attrs = { .dtype = node->type.dtype, .shape = node->type.shape, .number = number };
  return tn_rewrite_add(rewrite, node, TN_OP_FILL, NULL, 0, &attrs, &node->type);
}

/* Arranging a fill gives a fill. */
static bool arranges(const tn_node *node) { return tn_op_sig_of(node->op)->kind == TN_KIND_VIEW; }

static bool compute(const folding *f, const tn_node *node, const tn_view *in, const tn_view *out) {
  if (!f->evaluator || !f->evaluator->compute) return false;
  return f->evaluator->compute(f->evaluator->context, node->op, node->attrs, in, node->count, out);
}

/* An elementwise operation on fills, computed for one element. */
static tn_value fold_fills(tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  const folding *f = rewrite->context;
  union {
    double f64;
    float f32;
    int32_t i32;
    int64_t i64;
    uint8_t bytes[8];
  } cell[4];
  tn_view view[4];
  if (node->count < 1 || node->count > 3) return 0;
  for (int i = 0; i < node->count; i++) {
    double number;
    tn_dtype dtype = new_node(rewrite, in[i])->type.dtype;
    if (tn_dtype_in(dtype, TN_STORAGE) || !uniform(rewrite, in[i], &number)) return 0;
    memset(&cell[i], 0, sizeof cell[i]);
    view[i] = tn_view_make(&cell[i], dtype, &TN_SCALAR_SHAPE);
    tn_view_set_f64(&view[i], 0, number);
  }
  if (tn_dtype_in(node->type.dtype, TN_STORAGE)) return 0;
  view[3] = tn_view_make(&cell[3], node->type.dtype, &TN_SCALAR_SHAPE);
  if (!compute(f, node, view, &view[3])) return 0;
  double result = tn_view_get_f64(&view[3], 0);
  if (node->type.dtype == TN_I64 && !(fabs(result) < TN_EXACT_INTEGER)) return 0;
  return filled(rewrite, node, result);
}

static bool is_constant(tn_op op) { return op == TN_OP_CONST || op == TN_OP_FILL; }

/* A view of a constant operand; a fill is one cell looked at with stride 0. */
static tn_view constant_view(const tn_node *node, double *cell) {
  if (node->op == TN_OP_CONST) return node->attrs->literal->view;
  tn_view one = tn_view_make(cell, node->type.dtype, &TN_SCALAR_SHAPE);
  tn_view_set_f64(&one, 0, node->attrs->number);
  return tn_view_broadcast(&one, &node->type.shape);
}

/* An operation on constants of moderate size. */
static tn_value fold_constants(tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  tn_view view[3];
  double cell[3];
  int64_t count = tn_shape_count(&node->type.shape);
  if (node->count < 1 || node->count > 3 || count < 0 || count > TN_FOLD_LIMIT) return 0;
  for (int i = 0; i < node->count; i++) {
    const tn_node *operand = new_node(rewrite, in[i]);
    if (!is_constant(operand->op) || tn_shape_count(&operand->type.shape) > TN_FOLD_LIMIT) return 0;
    view[i] = constant_view(operand, &cell[i]);
  }
  tn_tensor result;
  if (!tn_tensor_new(rewrite->to.heap, node->type.dtype, &node->type.shape, &result)) return 0;
  tn_value value = 0;
  if (compute(rewrite->context, node, view, &result.view)) {
    tn_attrs attrs = { .literal = &result };
    value = tn_rewrite_add(rewrite, node, TN_OP_CONST, NULL, 0, &attrs, &node->type);
  }
  tn_tensor_unref(&result);
  return value;
}

static tn_value fold_count(tn_rewrite *rewrite, const tn_node *node, const tn_value *in) {
  const tn_shape *shape = &new_node(rewrite, in[0])->type.shape;
  double count = 1;
  for (int i = 0; i < node->attrs->axis_count; i++) {
    int64_t dim = shape->dim[node->attrs->axes[i]];
    if (!tn_dim_is_known(dim)) return 0;
    count *= (double)dim;
  }
  if (node->type.dtype == TN_F32) count = (double)(float)count;
  return count < TN_EXACT_INTEGER ? filled(rewrite, node, count) : 0;
}

static bool can_compute(const tn_node *node) {
  switch (tn_op_sig_of(node->op)->kind) {
    case TN_KIND_ELEMENTWISE: return node->op != TN_OP_FUSED;
    case TN_KIND_REDUCE:
    case TN_KIND_SCAN:
    case TN_KIND_CONTRACT:
    case TN_KIND_MOVE:
    case TN_KIND_VIEW: return true;
    case TN_KIND_INPUT:
    case TN_KIND_LITERAL:
    case TN_KIND_FILL:
    case TN_KIND_IOTA:
    case TN_KIND_GENERATE: /* a large one is better generated when it is needed */
    case TN_KIND_BRANCH:
    case TN_KIND_PICK:
    case TN_KIND_EFFECT:
    case TN_KIND_COMPOSED: return false;
  }
  return false;
}

static tn_value fold_node(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  (void)old;
  double number;
  tn_value value = same_as(rewrite, node, in);
  if (value == 0 && node->op == TN_OP_ELEMENTS) value = fold_count(rewrite, node, in);
  if (value == 0 && arranges(node) && new_node(rewrite, in[0])->op == TN_OP_FILL &&
      uniform(rewrite, in[0], &number)) {
    value = filled(rewrite, node, number);
  }
  if (value == 0 && tn_op_sig_of(node->op)->kind == TN_KIND_ELEMENTWISE && node->op != TN_OP_FUSED) {
    value = fold_fills(rewrite, node, in);
  }
  if (value == 0 && can_compute(node)) value = fold_constants(rewrite, node, in);
  return value != 0 || rewrite->to.failed ? value : tn_rewrite_keep(rewrite, node, in);
}

/* A branch whose condition is written in the program. */
static int decided(tn_rewrite *rewrite, const tn_node *branch) {
  const tn_node *condition = tn_graph_node(rewrite->from, branch->in[0]);
  if (condition->op == TN_OP_FILL) return condition->attrs->number != 0 ? 0 : 1;
  if (condition->op == TN_OP_CONST) return tn_view_get_i64(&condition->attrs->literal->view, 0) != 0 ? 0 : 1;
  return -1;
}

bool tn_opt_fold(tn_graph *graph, const tn_opt_evaluator *evaluator) {
  folding f = { evaluator };
  tn_rewrite rewrite = { .node = fold_node, .decided = decided, .context = &f };
  return tn_rewrite_run(&rewrite, graph);
}
