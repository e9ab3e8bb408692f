/* lang/ninth/tensors.c: opcodes that compute.
 *
 * Each reads its operands on the stack, calls the eager builder, and replaces them by the result.
 * Numbers are boxed only when they are combined with a tensor or an operation has no short form
 * here; the short forms use the same scalar functions as every kernel. */
#include "base/elementary.h"
#include "lang/ninth/vm.h"
#include "op/scalar.h"

/* ---- operands ---- */

static tn_value tensor_of_dims(tn_ninth_vm *m, const tn_ninth_object *shape) {
  tn_shape type = tn_shape_make(1, shape->count);
  tn_tensor tensor;
  if (!tn_tensor_new(m->heap, TN_F32, &type, &tensor)) return TN_ERROR_VALUE;
  for (uint32_t i = 0; i < shape->count; i++) ((float *)tensor.view.data)[i] = (float)shape->dims[i];
  tn_value value = tn_eager_tensor(m->eager, &tensor);
  tn_tensor_unref(&tensor);
  return value;
}

/* The same few numbers meet tensors repeatedly, so they are kept; recorded operations share them. */
tn_value tn_ninth_box(tn_ninth_vm *m, float number) {
  uint32_t bits = tn_bits_f32(number);
  tn_value *box = &m->boxes[(bits ^ bits >> 12 ^ bits >> 22) % TN_NINTH_BOXES];
  bool known = *box != TN_ERROR_VALUE && tn_bits_f32(tn_eager_first(m->eager, *box)) == bits;
  if (!known) {
    tn_value fresh = tn_eager_number(m->eager, number);
    if (fresh == TN_ERROR_VALUE) return fresh;
    tn_eager_unref(m->eager, *box);
    *box = fresh;
  }
  tn_eager_ref(m->eager, *box);
  return *box;
}

bool tn_ninth_operand_of(tn_ninth_vm *m, tn_ninth_value value, tn_ninth_operand *out) {
  *out = (tn_ninth_operand){ .value = value.tensor };
  if (value.kind == TN_NINTH_TENSOR) return true;
  if (value.kind == TN_NINTH_NUMBER)
    out->value = tn_ninth_box(m, value.number);
  else if (value.kind == TN_NINTH_SHAPE_VALUE)
    out->value = tensor_of_dims(m, tn_ninth_object_of(m, value.object));
  else
    return tn_ninth_wrong_kind(m, "tensor", value);
  out->owned = true;
  return out->value != TN_ERROR_VALUE || tn_ninth_no_room(m);
}

bool tn_ninth_operand_at(tn_ninth_vm *m, size_t place, tn_ninth_operand *out) {
  return tn_ninth_operand_of(m, m->top[-1 - (ptrdiff_t)place], out);
}

void tn_ninth_operand_end(tn_ninth_vm *m, tn_ninth_operand *operand) {
  if (operand->owned) tn_eager_unref(m->eager, operand->value);
}

bool tn_ninth_number_of(const tn_ninth_vm *m, tn_ninth_value value, float *out) {
  if (value.kind == TN_NINTH_NUMBER) {
    *out = value.number;
    return true;
  }
  if (value.kind == TN_NINTH_SHAPE_VALUE) {
    const tn_ninth_object *shape = tn_ninth_object_of(m, value.object);
    if (shape->count == 1) *out = (float)shape->dims[0];
    return shape->count == 1;
  }
  if (value.kind != TN_NINTH_TENSOR) return false;
  if (tn_shape_count(tn_eager_shape(m->eager, value.tensor)) != 1) return false;
  *out = tn_eager_first(m->eager, value.tensor);
  return true;
}

tn_shape tn_ninth_shape_at(const tn_ninth_vm *m, size_t place) {
  tn_ninth_value value = m->top[-1 - (ptrdiff_t)place];
  if (value.kind == TN_NINTH_TENSOR) return *tn_eager_shape(m->eager, value.tensor);
  if (value.kind != TN_NINTH_SHAPE_VALUE) return TN_SCALAR_SHAPE;
  return tn_shape_make(1, tn_ninth_object_of(m, value.object)->count);
}

/* Reports the engine's fault with the shapes of the opcode's own operands. */
static bool fail(tn_ninth_vm *m, size_t count) {
  tn_shape left = tn_ninth_shape_at(m, count > 1 ? 1 : 0), right = tn_ninth_shape_at(m, 0);
  return tn_ninth_fault(m, &left, count > 1 ? &right : NULL);
}

bool tn_ninth_finish(tn_ninth_vm *m, size_t count, tn_value result) {
  if (result == TN_ERROR_VALUE) return count > 0 ? fail(m, count) : tn_ninth_fault(m, NULL, NULL);
  tn_ninth_value value = { .kind = TN_NINTH_TENSOR, .tensor = result };
  bool single = tn_eager_shape(m->eager, result)->rank == 0;
  if (single && !m->everything && !tn_eager_needs_grad(m->eager, result)) {
    value = (tn_ninth_value){ .kind = TN_NINTH_NUMBER, .number = tn_eager_first(m->eager, result) };
    tn_eager_unref(m->eager, result);
  }
  tn_ninth_replace(m, count, value);
  return true;
}

tn_value tn_ninth_keep(tn_ninth_vm *m, size_t scope, tn_value result) {
  tn_value kept = tn_eager_result(m->eager, result);
  tn_eager_scope_end(m->eager, scope);
  return kept;
}

/* ---- one operand ---- */

static bool short_unary(tn_op op, float *x) {
  tn_unary scalar = tn_scalar_unary(op, TN_F32);
  if (scalar) *x = scalar((tn_element){ .f32 = *x }).f32;
  return scalar != NULL;
}

static bool short_binary(tn_op op, float *x, float y) {
  tn_binary scalar = tn_scalar_binary(op, TN_F32);
  if (!scalar) return false;
  tn_element result = scalar((tn_element){ .f32 = *x }, (tn_element){ .f32 = y });
  *x = tn_scalar_gives(op, TN_F32) == TN_BOOL ? result.boolean : result.f32; /* there is one dtype */
  return true;
}

bool tn_ninth_run_unary(tn_ninth_vm *m) {
  tn_ninth_value *top = &m->top[-1];
  tn_ninth_operand x;
  if (top->kind == TN_NINTH_TENSOR) {
    tn_value taken = tn_eager_apply_take(m->eager, tn_ninth_operation(m), &top->tensor, 1);
    if (taken == TN_ERROR_VALUE) return fail(m, 1);
    top->tensor = taken;
    return true;
  }
  if (top->kind == TN_NINTH_NUMBER && short_unary(tn_ninth_operation(m), &top->number)) return true;
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  tn_value result = tn_eager_apply(m->eager, tn_ninth_operation(m), &x.value, 1, NULL);
  tn_ninth_operand_end(m, &x);
  return tn_ninth_finish(m, 1, result);
}

bool tn_ninth_run_reduce(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value result =
      tn_ninth_keep(m, scope, tn_build_reduce(m->builder, tn_ninth_operation(m), x.value, NULL, -1, false));
  tn_ninth_operand_end(m, &x);
  return tn_ninth_finish(m, 1, result);
}

/* A single number is a row of its own. */
bool tn_ninth_run_softmax(tn_ninth_vm *m) {
  tn_ninth_operand x;
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  tn_shape shape = *tn_eager_shape(m->eager, x.value), row = tn_shape_make(1, 1);
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value in = shape.rank == 0 ? tn_build_reshape(m->builder, x.value, &row) : x.value;
  tn_value out = tn_build(m->builder, TN_OP_SOFTMAX, &in, 1, &(tn_attrs){ .axis = -1 });
  if (shape.rank == 0) out = tn_build_reshape(m->builder, out, &shape);
  tn_value result = tn_ninth_keep(m, scope, out);
  tn_ninth_operand_end(m, &x);
  return tn_ninth_finish(m, 1, result);
}

/* ---- two operands ---- */

/* x and y are the two top items, in the order in which they were pushed. */
static bool operands(tn_ninth_vm *m, tn_ninth_operand both[2]) {
  if (!tn_ninth_operand_at(m, 1, &both[0])) return false;
  if (tn_ninth_operand_at(m, 0, &both[1])) return true;
  tn_ninth_operand_end(m, &both[0]);
  return false;
}

static bool end_operands(tn_ninth_vm *m, tn_ninth_operand both[2], tn_value result) {
  tn_ninth_operand_end(m, &both[0]);
  tn_ninth_operand_end(m, &both[1]);
  return tn_ninth_finish(m, 2, result);
}

/* Two tensors, or one and a number: the references on the stack go with the operands. */
static bool binary_in_place(tn_ninth_vm *m, tn_op op, tn_ninth_value *x, tn_ninth_value *y) {
  bool boxed[2] = { x->kind == TN_NINTH_NUMBER, y->kind == TN_NINTH_NUMBER };
  tn_value in[2] = { boxed[0] ? tn_ninth_box(m, x->number) : x->tensor,
                     boxed[1] ? tn_ninth_box(m, y->number) : y->tensor };
  tn_value result = in[0] && in[1] ? tn_eager_apply_take(m->eager, op, in, 2) : TN_ERROR_VALUE;
  for (int i = 0; i < 2 && result == TN_ERROR_VALUE; i++) {
    if (boxed[i]) tn_eager_unref(m->eager, in[i]);
  }
  if (result == TN_ERROR_VALUE) return fail(m, 2);
  *x = (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = result };
  m->top--;
  return true;
}

static bool is_numeric(const tn_ninth_value *value) {
  return value->kind == TN_NINTH_NUMBER || value->kind == TN_NINTH_TENSOR;
}

bool tn_ninth_run_binary(tn_ninth_vm *m) {
  tn_op op = tn_ninth_operation(m);
  tn_ninth_value *x = &m->top[-2], *y = &m->top[-1];
  bool numbers = x->kind == TN_NINTH_NUMBER && y->kind == TN_NINTH_NUMBER;
  if (!numbers && is_numeric(x) && is_numeric(y)) return binary_in_place(m, op, x, y);
  if (numbers && short_binary(op, &x->number, y->number)) {
    m->top--;
    return true;
  }
  tn_ninth_operand both[2];
  if (!operands(m, both)) return false;
  tn_value in[2] = { both[0].value, both[1].value };
  return end_operands(m, both, tn_eager_apply(m->eager, op, in, 2, NULL));
}

/* Truth is 1 and 0: there is one dtype. */
bool tn_ninth_run_compare(tn_ninth_vm *m) {
  tn_op op = tn_ninth_operation(m);
  tn_ninth_value *x = &m->top[-2], *y = &m->top[-1];
  bool numbers = x->kind == TN_NINTH_NUMBER && y->kind == TN_NINTH_NUMBER;
  if (numbers && short_binary(op, &x->number, y->number)) {
    m->top--;
    return true;
  }
  tn_ninth_operand both[2];
  if (!operands(m, both)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value truth = tn_build_binary(m->builder, op, both[0].value, both[1].value);
  return end_operands(
      m, both, tn_ninth_keep(m, scope, truth ? tn_build_cast(m->builder, truth, TN_F32) : TN_ERROR_VALUE));
}

/* Not above 0, as [IF] sees it: NaN is not either. */
bool tn_ninth_run_not(tn_ninth_vm *m) {
  tn_ninth_value *top = &m->top[-1];
  tn_ninth_operand x;
  if (top->kind == TN_NINTH_NUMBER && !m->everything) {
    top->number = top->number > 0 ? 0 : 1;
    return true;
  }
  if (!tn_ninth_operand_at(m, 0, &x)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value zero = tn_build_number(m->builder, TN_F32, 0);
  tn_value above = tn_build_binary(m->builder, TN_OP_GT, x.value, zero);
  tn_value truth = tn_build_unary(m->builder, TN_OP_NOT, above);
  tn_value result = tn_ninth_keep(m, scope, tn_build_cast(m->builder, truth, TN_F32));
  tn_ninth_operand_end(m, &x);
  return tn_ninth_finish(m, 1, result);
}

bool tn_ninth_run_matmul(tn_ninth_vm *m) {
  tn_ninth_operand both[2];
  if (tn_ninth_interrupted(m)) return tn_ninth_report_stop(m);
  if (!operands(m, both)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value product = tn_build_matmul_any_rank(m->builder, both[0].value, both[1].value);
  return end_operands(m, both, tn_ninth_keep(m, scope, product));
}

bool tn_ninth_run_cross_entropy(tn_ninth_vm *m) {
  tn_ninth_operand both[2];
  if (!operands(m, both)) return false;
  size_t scope = tn_eager_scope_begin(m->eager);
  tn_value in[2] = { both[0].value, tn_build_cast(m->builder, both[1].value, TN_I64) };
  tn_value loss = in[1] ? tn_build(m->builder, TN_OP_CROSS_ENTROPY, in, 2, NULL) : TN_ERROR_VALUE;
  return end_operands(m, both, tn_ninth_keep(m, scope, loss));
}

/* Three tensors and two numbers. */
static bool attention_of(tn_ninth_vm *m, const tn_ninth_operand *of) {
  int64_t heads, causal;
  if (!tn_ninth_whole_at(m, 1, &heads) || !tn_ninth_whole_at(m, 0, &causal)) return false;
  const tn_value in[] = { of[0].value, of[1].value, of[2].value };
  tn_attrs attrs = { .index = heads == 0 ? UINT64_MAX : (uint64_t)heads, .causal = causal > 0 };
  size_t scope = tn_eager_scope_begin(m->eager);
  return tn_ninth_finish(m, 5, tn_ninth_keep(m, scope, tn_build(m->builder, TN_OP_ATTENTION, in, 3, &attrs)));
}

bool tn_ninth_run_attention(tn_ninth_vm *m) {
  tn_ninth_operand of[3];
  int found = 0;
  while (found < 3 && tn_ninth_operand_at(m, (size_t)(4 - found), &of[found])) found++;
  bool ok = found == 3 && attention_of(m, of);
  while (found-- > 0) tn_ninth_operand_end(m, &of[found]);
  return ok;
}

/* ---- generators ---- */

/* The dimensions that a generator was given: a shape, a vector of numbers, or two numbers. *count
 * is how many items they are. */
static bool generator_shape(tn_ninth_vm *m, tn_shape *shape, size_t *count) {
  tn_ninth_value top = m->top[-1];
  bool single =
      top.kind == TN_NINTH_NUMBER || (top.kind == TN_NINTH_TENSOR && tn_ninth_shape_at(m, 0).rank == 0);
  float dims[2];
  *count = single ? 2 : 1;
  if (!single) return tn_ninth_dims_of(m, top, shape) && tn_ninth_check_shape(m, shape);
  if (!tn_ninth_reach(m, 2)) return false;
  tn_ninth_value first = m->top[-2];
  bool numeric =
      first.kind == TN_NINTH_NUMBER || first.kind == TN_NINTH_TENSOR || first.kind == TN_NINTH_SHAPE_VALUE;
  if (!numeric) return tn_ninth_wrong_kind(m, "tensor", first);
  if (!tn_ninth_number_of(m, first, &dims[0]) || !tn_ninth_number_of(m, top, &dims[1])) {
    tn_shape left = tn_ninth_shape_at(m, 1), right = tn_ninth_shape_at(m, 0);
    return tn_ninth_misfit(m, &left, &right);
  }
  *shape = tn_shape_make(2, tn_i64_from_f64((double)dims[0]), tn_i64_from_f64((double)dims[1]));
  return tn_ninth_check_shape(m, shape);
}

bool tn_ninth_run_fill(tn_ninth_vm *m) {
  tn_attrs attrs = { .dtype = TN_F32, .number = tn_ninth_running(m) == TN_NINTH_ONES ? 1 : 0 };
  size_t count;
  if (!generator_shape(m, &attrs.shape, &count)) return false;
  tn_value result = tn_eager_apply(m->eager, TN_OP_FILL, NULL, 0, &attrs);
  return result != TN_ERROR_VALUE ? tn_ninth_finish(m, count, result) : tn_ninth_fault(m, &attrs.shape, NULL);
}

/* Element i is made of words 2i and 2i + 1 after those that are used up. */
tn_value tn_ninth_normal(tn_ninth_vm *m, const tn_shape *shape) {
  tn_tensor seed;
  if (!tn_tensor_new(m->heap, TN_I64, &TN_SCALAR_SHAPE, &seed)) {
    return tn_build_fault(m->builder, TN_OP_NORMAL, (tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  *(int64_t *)seed.view.data = (int64_t)m->host->seed;
  tn_value key = tn_eager_tensor(m->eager, &seed);
  tn_tensor_unref(&seed);
  tn_attrs attrs = { .shape = *shape, .index = m->drawn };
  tn_value numbers = key ? tn_eager_apply(m->eager, TN_OP_NORMAL, &key, 1, &attrs) : TN_ERROR_VALUE;
  tn_eager_unref(m->eager, key);
  if (numbers != TN_ERROR_VALUE) m->drawn += 2 * (uint64_t)tn_shape_count(shape);
  return numbers;
}

bool tn_ninth_run_randn(tn_ninth_vm *m) {
  tn_shape shape;
  size_t count;
  if (!generator_shape(m, &shape, &count)) return false;
  tn_value result = tn_ninth_normal(m, &shape);
  return result != TN_ERROR_VALUE ? tn_ninth_finish(m, count, result) : tn_ninth_fault(m, &shape, NULL);
}

bool tn_ninth_run_input(tn_ninth_vm *m) {
  if (m->input >= m->host->input_count) {
    return tn_ninth_error(m, TN_DIAG_E_NO_INPUT, TN_INT("have", (int64_t)m->host->input_count));
  }
  if (!tn_ninth_room(m)) return false;
  tn_value given = tn_eager_tensor(m->eager, &m->host->inputs[m->input].data);
  tn_attrs attrs = { .dtype = TN_F32 };
  tn_value value = given ? tn_eager_apply(m->eager, TN_OP_CAST, &given, 1, &attrs) : TN_ERROR_VALUE;
  tn_eager_unref(m->eager, given);
  if (!tn_ninth_finish(m, 0, value)) return false;
  m->input++;
  return true;
}
