/* lang/ninth/indexing.c: opcodes that index, slice and reduce along one dimension.
 *
 * Where an opcode takes a dimension it is the top item, and negative ones count
 * from the end. Dimensions and indices must be whole numbers: truncating 1.5 would select an
 * element that the author did not mean. Everything is checked before the engine is called, so that
 * a message names the index, the dimension and the shape as the program sees them. */
#include "lang/ninth/vm.h"

/* ---- whole numbers ---- */

static bool is_whole(double number) { return (double)tn_i64_from_f64(number) == number; }

static bool not_whole(tn_ninth_vm *m, float number) {
  tn_text shown;
  tn_text_init(&shown, m->heap);
  tn_ninth_show(m, (tn_ninth_value){ .kind = TN_NINTH_NUMBER, .number = number }, false, &shown);
  bool reported = tn_ninth_error(m, TN_DIAG_E_TYPE, TN_STR("opcode", tn_ninth_opcode_here(m)),
                                 TN_STR("expected", "a whole number"), TN_TEXT("got", tn_text_str(&shown)));
  tn_text_free(&shown);
  return reported;
}

bool tn_ninth_whole_at(tn_ninth_vm *m, size_t place, int64_t *out) {
  tn_ninth_value value = m->top[-1 - (ptrdiff_t)place];
  float number;
  if (!tn_ninth_number_of(m, value, &number)) return tn_ninth_wrong_kind(m, "a whole number", value);
  *out = tn_i64_from_f64((double)number);
  return is_whole((double)number) || not_whole(m, number);
}

/* Every element of a tensor that names places. */
static bool check_whole(tn_ninth_vm *m, tn_value places) {
  tn_view view = tn_eager_view(m->eager, places);
  int64_t count = tn_view_count(&view);
  for (int64_t i = 0; i < count; i++) {
    double number = tn_view_get_f64(&view, i);
    if (!is_whole(number)) return not_whole(m, (float)number);
  }
  return true;
}

/* ---- dimensions and places ---- */

static bool no_dimension(tn_ninth_vm *m, const tn_shape *shape, int64_t dimension) {
  tn_text problem, hint;
  tn_text_init(&problem, m->heap);
  tn_text_init(&hint, m->heap);
  tn_text_puts(&problem, "has no dimension ");
  tn_text_int(&problem, dimension);
  if (shape->rank == 0) {
    tn_text_puts(&hint, "a single number has no dimensions; [UNSQUEEZE] adds one");
  } else {
    tn_text_puts(&hint, "dimensions count from 0; the last one here is ");
    tn_text_int(&hint, shape->rank - 1);
    tn_text_puts(&hint, ", or -1");
  }
  bool failed = problem.failed || hint.failed;
  bool reported = failed ? tn_ninth_no_room(m) : tn_ninth_wrong_shape(m, shape, problem.at, hint.at);
  tn_text_free(&problem);
  tn_text_free(&hint);
  return reported;
}

/* The top item as a dimension of that shape. */
static bool dimension_on_top(tn_ninth_vm *m, const tn_shape *shape, int *out) {
  int64_t dimension;
  if (!tn_ninth_whole_at(m, 0, &dimension)) return false;
  return tn_shape_axis(shape->rank, dimension, out) || no_dimension(m, shape, dimension);
}

/* A place of something that has `length` of them; negative ones count from the end. False after reporting. */
static bool place_in(tn_ninth_vm *m, int64_t place, int64_t length, int64_t *out) {
  *out = place < 0 ? place + length : place;
  if (*out >= 0 && *out < length) return true;
  return tn_ninth_error(m, TN_DIAG_E_INDEX_OUT_OF_RANGE, TN_STR("function", tn_ninth_opcode_here(m)),
                        TN_INT("index", place), TN_INT("limit", length));
}

/* What the builder made, in the place of the `count` top items. A fault is told with these shapes. */
static bool finish(tn_ninth_vm *m, size_t count, size_t scope, tn_value result, const tn_shape *left,
                   const tn_shape *right) {
  tn_value kept = tn_ninth_keep(m, scope, result);
  return kept != TN_ERROR_VALUE ? tn_ninth_finish(m, count, kept) : tn_ninth_fault(m, left, right);
}

/* ---- along one dimension ---- */

static bool reduce_along(tn_ninth_vm *m, const tn_ninth_operand *x) {
  tn_shape shape = *tn_eager_shape(m->eager, x->value);
  int axis;
  if (!dimension_on_top(m, &shape, &axis)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value result = tn_build_reduce(m->builder, tn_ninth_operation(m), x->value, &axis, 1, false);
  return finish(m, 2, scope, result, &shape, NULL);
}

bool tn_ninth_run_reduce_axis(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (!tn_ninth_operand_at(m, 1, &x)) return false;
  bool ok = reduce_along(m, &x);
  tn_ninth_operand_end(m, &x);
  return ok;
}

/* A single number is a row of its own. */
static bool argmax_of(tn_ninth_vm *m, const tn_ninth_operand *x, bool given) {
  tn_shape shape = *tn_eager_shape(m->eager, x->value), row = tn_shape_make(1, 1);
  int axis = shape.rank > 0 ? shape.rank - 1 : 0;
  if (given && !dimension_on_top(m, &shape, &axis)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value in = shape.rank > 0 ? x->value : tn_build_reshape(m->builder, x->value, &row);
  tn_value place = tn_build(m->builder, TN_OP_ARGMAX, &in, 1, &(tn_attrs){ .axis = axis });
  return finish(m, given ? 2 : 1, scope, tn_build_cast(m->builder, place, TN_F32), &shape, NULL);
}

bool tn_ninth_run_argmax(tn_ninth_vm *m) {
  tn_ninth_operand x;
  bool given = tn_ninth_running(m) == TN_NINTH_ARGMAX_AXIS;
  if (!tn_ninth_operand_at(m, given ? 1 : 0, &x)) return false;
  bool ok = argmax_of(m, &x, given);
  tn_ninth_operand_end(m, &x);
  return ok;
}

/* ---- places ---- */

/* The top item as places of the first dimensions: a number, a shape or a vector. */
static bool places_on_top(tn_ninth_vm *m, const tn_shape *of, tn_shape *places) {
  tn_ninth_value value = m->top[-1];
  float number;
  *places = tn_shape_make(1, 0);
  if (tn_ninth_number_of(m, value, &number)) return tn_ninth_whole_at(m, 0, &places->dim[0]);
  if (value.kind == TN_NINTH_TENSOR && !check_whole(m, value.tensor)) return false;
  if (!tn_ninth_dims_of(m, value, places)) return false;
  return places->rank <= of->rank || no_dimension(m, of, places->rank - 1);
}

static bool index_of(tn_ninth_vm *m, const tn_ninth_operand *x) {
  tn_shape shape = *tn_eager_shape(m->eager, x->value), places;
  if (!places_on_top(m, &shape, &places)) return false;
  if (shape.rank == 0 && places.rank > 0) return no_dimension(m, &shape, 0);
  for (int i = 0; i < places.rank; i++) {
    if (!place_in(m, places.dim[i], shape.dim[i], &places.dim[i])) return false;
  }
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value part = x->value;
  for (int i = 0; i < places.rank; i++) {
    tn_attrs attrs = { .axis = 0, .index = (uint64_t)places.dim[i] };
    part = tn_build(m->builder, TN_OP_INDEX, &part, 1, &attrs);
  }
  return finish(m, 2, scope, part, &shape, NULL);
}

static bool index_list(tn_ninth_vm *m) {
  const tn_ninth_object *list = tn_ninth_object_of(m, m->top[-2].object);
  int64_t place;
  if (!tn_ninth_whole_at(m, 0, &place) || !place_in(m, place, list->count, &place)) return false;
  tn_ninth_value item = list->items[place];
  tn_ninth_hold(m, item);
  tn_ninth_replace(m, 2, item);
  return true;
}

bool tn_ninth_run_index(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (m->top[-2].kind == TN_NINTH_LIST_VALUE) return index_list(m);
  if (!tn_ninth_operand_at(m, 1, &x)) return false;
  bool ok = index_of(m, &x);
  tn_ninth_operand_end(m, &x);
  return ok;
}

/* A border between places: 0 is before the first, `length` after the last. */
static bool border_at(tn_ninth_vm *m, size_t place, int64_t length, int64_t *out) {
  int64_t border;
  if (!tn_ninth_whole_at(m, place, &border)) return false;
  *out = border < 0 ? border + length : border;
  if (*out >= 0 && *out <= length) return true;
  return tn_ninth_error(m, TN_DIAG_E_INDEX_OUT_OF_RANGE, TN_STR("function", tn_ninth_opcode_here(m)),
                        TN_INT("index", border), TN_INT("limit", length + 1),
                        TN_HINT(TN_LIT("`to` is one past the last place, at most the dimension's length")));
}

static bool slice_of(tn_ninth_vm *m, const tn_ninth_operand *x) {
  tn_shape shape = *tn_eager_shape(m->eager, x->value);
  int64_t from, to;
  int axis;
  if (!dimension_on_top(m, &shape, &axis) || !border_at(m, 2, shape.dim[axis], &from) ||
      !border_at(m, 1, shape.dim[axis], &to))
    return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value part = tn_build_slice(m->builder, x->value, axis, from, to > from ? to : from, 1);
  return finish(m, 4, scope, part, &shape, NULL);
}

bool tn_ninth_run_slice(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (!tn_ninth_operand_at(m, 3, &x)) return false;
  bool ok = slice_of(m, &x);
  tn_ninth_operand_end(m, &x);
  return ok;
}

static bool gather_of(tn_ninth_vm *m, const tn_ninth_operand *x, const tn_ninth_operand *places) {
  tn_shape shape = *tn_eager_shape(m->eager, x->value), named = *tn_eager_shape(m->eager, places->value);
  int axis;
  if (!dimension_on_top(m, &shape, &axis) || !check_whole(m, places->value)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value in[2] = { x->value, tn_build_cast(m->builder, places->value, TN_I64) };
  tn_value part = in[1] ? tn_build(m->builder, TN_OP_GATHER, in, 2, &(tn_attrs){ .axis = axis }) : in[1];
  return finish(m, 3, scope, part, &shape, &named);
}

bool tn_ninth_run_gather(tn_ninth_vm *m) {
  tn_ninth_operand x, places;
  if (!tn_ninth_operand_at(m, 2, &x)) return false;
  bool ok = tn_ninth_operand_at(m, 1, &places);
  if (ok) {
    ok = gather_of(m, &x, &places);
    tn_ninth_operand_end(m, &places);
  }
  tn_ninth_operand_end(m, &x);
  return ok;
}

static bool one_hot_of(tn_ninth_vm *m, const tn_ninth_operand *classes) {
  tn_shape shape = *tn_eager_shape(m->eager, classes->value);
  int64_t length;
  if (!tn_ninth_whole_at(m, 0, &length) || !check_whole(m, classes->value)) return false;
  tn_shape asked = tn_shape_make(1, length);
  if (!tn_ninth_check_shape(m, &asked)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value index = tn_build_cast(m->builder, classes->value, TN_I64);
  tn_attrs attrs = { .index = (uint64_t)length, .dtype = TN_F32 };
  tn_value rows = index ? tn_build(m->builder, TN_OP_ONE_HOT, &index, 1, &attrs) : index;
  return finish(m, 2, scope, rows, &shape, &asked);
}

bool tn_ninth_run_one_hot(tn_ninth_vm *m) {
  tn_ninth_operand classes;
  if (!tn_ninth_operand_at(m, 1, &classes)) return false;
  bool ok = one_hot_of(m, &classes);
  tn_ninth_operand_end(m, &classes);
  return ok;
}

/* ---- joining ---- */

static bool concat_of(tn_ninth_vm *m, const tn_ninth_value *items, tn_ninth_operand *operands,
                      tn_value *in, size_t count) {
  size_t made = 0, taken = m->top[-2].kind == TN_NINTH_LIST_VALUE ? 2 : 3;
  bool ok = true;
  while (ok && made < count) {
    ok = tn_ninth_operand_of(m, items[made], &operands[made]);
    if (ok) in[made] = operands[made].value, made++;
  }
  int axis = 0;
  tn_shape shape = ok ? *tn_eager_shape(m->eager, in[0]) : TN_SCALAR_SHAPE;
  ok = ok && dimension_on_top(m, &shape, &axis);
  if (ok) {
    size_t scope = tn_eager_scope_begin(m->eager);
    tn_value joined = tn_build(m->builder, TN_OP_CONCAT, in, (int)count, &(tn_attrs){ .axis = axis });
    ok = finish(m, taken, scope, joined, NULL, NULL);
  }
  while (made-- > 0) tn_ninth_operand_end(m, &operands[made]);
  return ok;
}

/* Two tensors, or those of a list. */
bool tn_ninth_run_concat(tn_ninth_vm *m) {
  bool listed = m->top[-2].kind == TN_NINTH_LIST_VALUE;
  if (!listed && !tn_ninth_reach(m, 3)) return false;
  const tn_ninth_object *list = listed ? tn_ninth_object_of(m, m->top[-2].object) : NULL;
  size_t count = listed ? list->count : 2;
  if (count == 0) return tn_ninth_wrong_kind(m, "a list of tensors", m->top[-2]);
  tn_ninth_operand *operands = tn_heap_alloc(m->heap, count * sizeof *operands);
  tn_value *in = tn_heap_alloc(m->heap, count * sizeof *in);
  bool ok = (operands && in) || tn_ninth_no_room(m);
  ok = ok && concat_of(m, listed ? list->items : m->top - 3, operands, in, count);
  tn_heap_free(m->heap, operands, count * sizeof *operands);
  tn_heap_free(m->heap, in, count * sizeof *in);
  return ok;
}

/* ---- numbers in a row ---- */

bool tn_ninth_check_exact(tn_ninth_vm *m, int64_t count) {
  tn_shape asked = tn_shape_make(1, count);
  if (count <= TN_NINTH_EXACT) return tn_ninth_check_shape(m, &asked);
  return tn_ninth_error(m, TN_DIAG_E_TOO_LARGE, TN_STR("what", "a range of exact numbers"),
                        TN_INT("limit", TN_NINTH_EXACT), TN_INT("requested", count));
}

bool tn_ninth_run_range(tn_ninth_vm *m) {
  int64_t count;
  if (!tn_ninth_whole_at(m, 0, &count) || !tn_ninth_check_exact(m, count)) return false;
  tn_attrs attrs = { .dtype = TN_F32, .shape = tn_shape_make(1, count) };
  tn_value numbers = tn_eager_apply(m->eager, TN_OP_IOTA, NULL, 0, &attrs);
  return numbers != TN_ERROR_VALUE ? tn_ninth_finish(m, 1, numbers) : tn_ninth_fault(m, &attrs.shape, NULL);
}
