/* op/view.c: the view operations, which rearrange their operand without copying.
 *
 * Both back ends, the plan and the eager builder need the view: the back ends to copy it, the
 * others to use it without a copy. */
#include <assert.h>

#include "op/op.h"

typedef struct {
  const tn_attrs *attrs;
  const tn_shape *shape; /* of the result */
  const tn_view *from;
} view_args;
typedef bool (*view_rule)(const view_args *args, tn_view *out, int64_t *offset);

static bool view_reshape(const view_args *args, tn_view *out, int64_t *offset) {
  (void)offset;
  return tn_view_reshape(args->from, args->shape, out);
}

static bool view_transpose(const view_args *args, tn_view *out, int64_t *offset) {
  (void)offset;
  *out = tn_view_permute(args->from, args->attrs->axes);
  return true;
}

static bool view_broadcast_to(const view_args *args, tn_view *out, int64_t *offset) {
  (void)offset;
  *out = tn_view_broadcast(args->from, args->shape);
  return true;
}

static bool view_slice(const view_args *args, tn_view *out, int64_t *offset) {
  *out = *args->from;
  for (int axis = 0; axis < out->rank; axis++) {
    *offset += args->attrs->low[axis] * out->stride[axis];
    out->dim[axis] = args->shape->dim[axis];
    if (out->dim[axis] > 1) out->stride[axis] *= args->attrs->step[axis];
  }
  if (tn_view_count(out) == 0) *offset = 0; /* low may be the end of the operand */
  return true;
}

static const view_rule rules[TN_OP_COUNT] = {
#define TN_OP(id, ...) __VA_ARGS__
#define TN_VIEW(id, how) [TN_OP_##id] = view_##how,
#include "op/ops.def"
};

bool tn_op_view(tn_op op, const tn_attrs *attrs, const tn_shape *shape, const tn_view *from, tn_view *out,
                int64_t *offset) {
  assert(rules[op]);
  *offset = 0;
  return rules[op](&(view_args){ attrs, shape, from }, out, offset);
}

bool tn_op_view_data(tn_op op, const tn_attrs *attrs, const tn_shape *shape, const tn_view *from,
                     tn_view *out) {
  int64_t offset;
  if (!tn_op_view(op, attrs, shape, from, out, &offset)) return false;
  if (offset != 0) out->data = (char *)out->data + offset * (int64_t)tn_dtype_bytes(out->dtype);
  return true;
}
