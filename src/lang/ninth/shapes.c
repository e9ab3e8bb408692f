/* lang/ninth/shapes.c: shapes as values, and opcodes that rearrange elements. */
#include "lang/ninth/vm.h"
#include "tensor/shape_field.h"

/* ---- shapes as values ---- */

static bool rank_limit(tn_ninth_vm *m, int64_t rank) {
  return tn_ninth_error(m, TN_DIAG_E_RANK_LIMIT, TN_INT("rank", rank), TN_INT("limit", TN_RANK_LIMIT));
}

static bool dims_of_tensor(tn_ninth_vm *m, tn_ninth_value value, tn_shape *out) {
  tn_view view = tn_eager_view(m->eager, value.tensor);
  if (view.rank != 1) return tn_ninth_wrong_kind(m, "shape", value);
  if (view.dim[0] > TN_RANK_LIMIT) return rank_limit(m, view.dim[0]);
  *out = (tn_shape){ .rank = (int32_t)view.dim[0] };
  for (int i = 0; i < out->rank; i++) out->dim[i] = tn_i64_from_f64(tn_view_get_f64(&view, i));
  return true;
}

bool tn_ninth_dims_of(tn_ninth_vm *m, tn_ninth_value value, tn_shape *out) {
  if (value.kind == TN_NINTH_TENSOR) return dims_of_tensor(m, value, out);
  if (value.kind != TN_NINTH_SHAPE_VALUE) return tn_ninth_wrong_kind(m, "shape", value);
  const tn_ninth_object *shape = tn_ninth_object_of(m, value.object);
  if (shape->count > TN_RANK_LIMIT) return rank_limit(m, shape->count);
  *out = tn_shape_of(shape->dims, (int)shape->count);
  return true;
}

/* Something can be made of that shape: no length is negative, and it is not too large. */
bool tn_ninth_check_shape(tn_ninth_vm *m, const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] >= 0) continue;
    return tn_ninth_wrong_shape(m, shape, "has a negative dimension", "a dimension is 0 or more");
  }
  if (tn_shape_count(shape) >= 0) return true;
  return tn_ninth_error(m, TN_DIAG_E_TOO_LARGE, TN_STR("what", "the number of elements"),
                        TN_INT("limit", TN_ELEMENT_LIMIT),
                        tn_shape_field("requested", shape, NULL, TN_SHAPE_SPACE));
}

static bool resolve_dim(tn_ninth_vm *m, const tn_ninth_dim *dim, int64_t *out) {
  tn_ninth_value value;
  uint16_t hint = 0;
  float number;
  *out = dim->number;
  if (dim->kind == TN_NINTH_DIM_FIXED) return true;
  if (dim->kind == TN_NINTH_DIM_SLOT && !tn_ninth_read_slot(m, dim->arg, &value)) return false;
  if (dim->kind == TN_NINTH_DIM_STATE && !tn_ninth_read_state(m, dim->arg, &hint, &value)) return false;
  if (!tn_ninth_number_of(m, value, &number)) return tn_ninth_wrong_kind(m, "number", value);
  *out = tn_i64_from_f64((double)number);
  return true;
}

static uint32_t resolve_shape(tn_ninth_vm *m, const tn_ninth_shape *shape, int64_t *dims) {
  for (uint32_t i = 0; i < shape->count; i++) {
    if (!resolve_dim(m, &shape->dims[i], &dims[i])) return 0;
  }
  uint32_t object = tn_ninth_shape_new(m, dims, shape->count);
  if (object == 0) tn_ninth_no_room(m);
  return object;
}

/* Numbers alone were made an object when the program was loaded. There is room for it. */
bool tn_ninth_make_shape(tn_ninth_vm *m, const tn_ninth_shape *shape, uint32_t object) {
  int64_t few[TN_NINTH_FEW_DIMS], *dims = few;
  size_t bytes = shape->count * sizeof *dims;
  if (shape->fixed) {
    tn_ninth_hold_object(m, object);
  } else {
    if (shape->count > TN_NINTH_FEW_DIMS) dims = tn_heap_alloc(m->heap, bytes);
    if (!dims) return tn_ninth_no_room(m);
    object = resolve_shape(m, shape, dims);
    if (dims != few) tn_heap_free(m->heap, dims, bytes);
  }
  if (object == 0) return false;
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_SHAPE_VALUE, .object = object };
  return true;
}

bool tn_ninth_run_shape(tn_ninth_vm *m) {
  tn_ninth_value top = m->top[-1];
  if (top.kind != TN_NINTH_NUMBER && top.kind != TN_NINTH_TENSOR && top.kind != TN_NINTH_SHAPE_VALUE) {
    return tn_ninth_wrong_kind(m, "tensor", top);
  }
  tn_shape shape = tn_ninth_shape_at(m, 0);
  uint32_t object = tn_ninth_shape_new(m, shape.dim, (size_t)shape.rank);
  if (object == 0) return tn_ninth_no_room(m);
  tn_ninth_replace(m, 1, (tn_ninth_value){ .kind = TN_NINTH_SHAPE_VALUE, .object = object });
  return true;
}

/* ---- arranging ---- */

/* One -1 is the remaining length. */
static bool is_target(const tn_shape *shape) {
  int unknown = 0;
  for (int i = 0; i < shape->rank; i++) {
    if (shape->dim[i] < -1) return false;
    unknown += shape->dim[i] == -1;
  }
  return unknown <= 1;
}

bool tn_ninth_run_reshape(tn_ninth_vm *m) {
  tn_ninth_operand x;
  tn_attrs attrs = { 0 };
  if (!tn_ninth_operand_at(m, 1, &x)) return false;
  tn_shape from = *tn_eager_shape(m->eager, x.value);
  bool ok = tn_ninth_dims_of(m, m->top[-1], &attrs.shape) &&
            (is_target(&attrs.shape) || tn_ninth_misfit(m, &from, &attrs.shape));
  tn_value result = ok ? tn_eager_apply(m->eager, TN_OP_RESHAPE, &x.value, 1, &attrs) : TN_ERROR_VALUE;
  tn_ninth_operand_end(m, &x);
  if (ok && result == TN_ERROR_VALUE) return tn_ninth_fault(m, &from, &attrs.shape);
  return ok && tn_ninth_finish(m, 2, result);
}

static bool finish_view(tn_ninth_vm *m, size_t count, size_t scope, tn_value result,
                        tn_ninth_operand *x) {
  tn_value kept = tn_ninth_keep(m, scope, result);
  tn_ninth_operand_end(m, x);
  return tn_ninth_finish(m, count, kept);
}

bool tn_ninth_run_squeeze(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value result = tn_build(m->builder, TN_OP_SQUEEZE, &x.value, 1, &(tn_attrs){ .axis_count = -1 });
  return finish_view(m, 1, scope, result, &x);
}

bool tn_ninth_run_transpose(tn_ninth_vm *m) {
  tn_ninth_operand x;
  tn_shape shape = tn_ninth_shape_at(m, 0);
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  if (shape.rank < 2) {
    tn_ninth_operand_end(m, &x);
    return tn_ninth_wrong_shape(m, &shape, "has fewer than two dimensions",
                                "[TRANSPOSE] swaps the last two");
  }
  size_t scope = tn_eager_scope_begin(m->eager);
  return finish_view(m, 1, scope, tn_build_swap_last(m->builder, x.value), &x);
}

/* Where the new dimension goes; negative places count back from the end. */
static bool new_place(tn_ninth_vm *m, const tn_shape *shape, int *axis) {
  tn_ninth_value value = m->top[-1];
  tn_shape got = tn_ninth_shape_at(m, 0);
  float number;
  if (!tn_ninth_number_of(m, value, &number)) {
    bool tensor = value.kind == TN_NINTH_TENSOR || value.kind == TN_NINTH_SHAPE_VALUE;
    return tensor ? tn_ninth_misfit(m, shape, &got) : tn_ninth_wrong_kind(m, "tensor", value);
  }
  int64_t place = tn_i64_from_f64((double)number);
  got = tn_shape_make(1, place);
  if (!tn_shape_axis(shape->rank + 1, place, axis)) return tn_ninth_misfit(m, shape, &got);
  return shape->rank < TN_RANK_LIMIT || rank_limit(m, shape->rank + 1);
}

bool tn_ninth_run_unsqueeze(tn_ninth_vm *m) {
  tn_ninth_operand x;
  tn_shape shape = tn_ninth_shape_at(m, 1);
  int axis;
  if (!tn_ninth_operand_at(m, 1, &x)) return false;
  if (!new_place(m, &shape, &axis)) {
    tn_ninth_operand_end(m, &x);
    return false;
  }
  size_t scope = tn_eager_scope_begin(m->eager);
  return finish_view(m, 2, scope, tn_build_new_axis(m->builder, x.value, axis), &x);
}
