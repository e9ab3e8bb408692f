/* eager/eager.c: the builder's methods, values in and out, variables. */
#include "eager/eager.h"

#include <string.h>

#include "eager/internal.h"

static const tn_type *type_of(const tn_builder *builder, tn_value value) {
  const tn_eager *eager = (const tn_eager *)builder;
  return &tn_cell_of(eager, tn_cell_value(eager, value))->layout->type;
}

tn_value tn_eager_own(tn_eager *eager, tn_value value) {
  if (value == TN_ERROR_VALUE || tn_vec_push(eager->heap, &eager->owned, value)) return value;
  tn_eager_unref(eager, value);
  return tn_eager_out_of_memory(eager);
}

size_t tn_eager_scope_begin(tn_eager *eager) { return eager->owned.count; }

void tn_eager_scope_end(tn_eager *eager, size_t scope) {
  while (eager->owned.count > scope) tn_eager_unref(eager, tn_vec_pop(&eager->owned));
}

static tn_value add(tn_builder *builder, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                    const tn_type *type) {
  tn_eager *eager = (tn_eager *)builder;
  return tn_eager_own(eager, tn_eager_run(eager, op, in, count, attrs, type));
}

static tn_value quick(tn_builder *builder, tn_op op, const tn_value *in, int count) {
  tn_eager *eager = (tn_eager *)builder;
  return tn_eager_own(eager, tn_eager_quick(eager, op, in, count, false));
}

static const tn_builder_methods methods = {
  .add = add,
  .type = type_of,
  .quick = quick,
};

tn_value tn_eager_apply(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs) {
  if (!attrs) {
    tn_value value = tn_eager_quick(eager, op, in, count, false);
    if (value != TN_ERROR_VALUE) return value;
  }
  size_t scope = tn_eager_scope_begin(eager);
  tn_value value = tn_build(&eager->builder, op, in, count, attrs);
  value = tn_eager_result(eager, value);
  tn_eager_scope_end(eager, scope);
  return value;
}

tn_value tn_eager_apply_take(tn_eager *eager, tn_op op, const tn_value *in, int count) {
  tn_value value = count == 2 ? tn_eager_arithmetic(eager, op, in, false) : TN_ERROR_VALUE;
  if (value != TN_ERROR_VALUE) return value;
  value = tn_eager_quick(eager, op, in, count, true);
  bool quick = value != TN_ERROR_VALUE;
  if (!quick) value = tn_eager_apply(eager, op, in, count, NULL);
  if (value == TN_ERROR_VALUE) return value;
  for (int i = 0; i < count; i++) {
    if (!quick || in[i] != value)
      tn_eager_unref(eager, in[i]); /* a quick result may sit in an operand's place */
  }
  return value;
}

tn_eager *tn_eager_new(tn_heap *heap, tn_names *names, const struct tn_backend *backend, int threads) {
  tn_eager *eager = tn_heap_alloc(heap, sizeof *eager);
  if (!eager) return NULL;
  eager->builder = (tn_builder){ .methods = &methods, .heap = heap, .names = names };
  eager->heap = heap;
  eager->backend = backend;
  eager->threads = threads > 0 ? threads : 1;
  eager->recording = true;
  if (tn_cell_prepare(eager)) return eager;
  tn_eager_free(eager);
  return NULL;
}

void tn_eager_free(tn_eager *eager) {
  if (!eager) return;
  tn_heap *heap = eager->heap;
  tn_cells_free(eager);
  tn_vec_free(heap, &eager->owned);
  tn_vec_free(heap, &eager->order);
  tn_vec_free(heap, &eager->stack);
  tn_vec_free(heap, &eager->leaves);
  tn_vec_free(heap, &eager->kept);
  tn_heap_free_aligned(heap, eager->scratch, eager->scratch_bytes);
  tn_heap_free(heap, eager, sizeof *eager);
}

tn_builder *tn_eager_builder(tn_eager *eager) { return &eager->builder; }

tn_value tn_eager_number(tn_eager *eager, float number) {
  tn_value value = tn_cell_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_cell *cell = tn_cell_of(eager, value);
  cell->small = 1;
  cell->elements = 1;
  cell->layout = eager->single;
  cell->few[0] = number == number ? number : __builtin_nanf("");
  return value;
}

tn_value tn_eager_tensor(tn_eager *eager, const tn_tensor *tensor) {
  tn_type type = { tensor->view.dtype, tn_view_shape(&tensor->view) };
  int64_t count = tn_view_count(&tensor->view);
  if (type.dtype != TN_F32 || count == 0 || count > TN_CELL_FEW)
    return tn_cell_over(eager, &type, &tensor->view, tn_buffer_ref(tensor->buffer));
  tn_value few = tn_cell_new(eager, &type);
  if (few == TN_ERROR_VALUE) return few;
  tn_view view = tn_eager_view(eager, few);
  tn_view_copy(&view, &tensor->view);
  return few;
}

tn_view tn_eager_view(const tn_eager *eager, tn_value value) {
  return tn_cell_view(tn_cell_of(eager, tn_cell_value(eager, value)));
}

const tn_shape *tn_eager_shape(const tn_eager *eager, tn_value value) {
  return &tn_cell_of(eager, tn_cell_value(eager, value))->layout->type.shape;
}

float tn_eager_first(const tn_eager *eager, tn_value value) {
  const tn_cell *cell = tn_cell_of(eager, tn_cell_value(eager, value));
  return cell->small ? cell->few[0] : *(const float *)cell->layout->view.data;
}

tn_tensor tn_eager_share(tn_eager *eager, tn_value value) {
  tn_cell *cell = tn_cell_of(eager, tn_cell_value(eager, value));
  tn_view view = tn_cell_view(cell);
  tn_tensor tensor = { 0 };
  if (cell->layout->buffer && !cell->leaf) return (tn_tensor){ view, tn_buffer_ref(cell->layout->buffer) };
  if (!tn_tensor_copy(eager->heap, &view, &tensor)) tn_eager_out_of_memory(eager);
  return tensor;
}

/* The same elements without a history. */
static tn_value detached(tn_eager *eager, tn_value value) {
  tn_cell *cell = tn_cell_of(eager, value);
  tn_layout layout = *cell->layout;
  if (!cell->small) return tn_cell_over(eager, &layout.type, &layout.view, tn_buffer_ref(layout.buffer));
  tn_value copy = tn_cell_new(eager, &layout.type);
  if (copy != TN_ERROR_VALUE) memcpy(tn_cell_of(eager, copy)->few, cell->few, sizeof cell->few);
  return copy;
}

/* A value made while nothing is recorded needs no gradient; if it has one, it is an operand. */
tn_value tn_eager_result(tn_eager *eager, tn_value value) {
  if (value == TN_ERROR_VALUE) return value;
  tn_value now = tn_cell_value(eager, value);
  if (!eager->recording && tn_cell_of(eager, now)->needs_grad) return detached(eager, now);
  tn_eager_ref(eager, now);
  return now;
}

void tn_eager_record_everything(tn_eager *eager, bool on) { eager->everything = on; }
void tn_eager_recording(tn_eager *eager, bool on) { eager->recording = on; }
bool tn_eager_is_recording(const tn_eager *eager) { return eager->recording; }

/* ---- variables ---- */

/* A separate contiguous value that a variable can name. */
static tn_value fresh_leaf(tn_eager *eager, tn_value from, tn_value variable) {
  tn_view source = tn_eager_view(eager, from);
  tn_type type = { source.dtype, tn_view_shape(&source) };
  tn_value value = tn_cell_new(eager, &type);
  if (value == TN_ERROR_VALUE) return value;
  tn_cell *cell = tn_cell_of(eager, value);
  tn_view copy = tn_cell_view(cell);
  tn_view_copy(&copy, &source);
  cell->leaf = cell->needs_grad = 1;
  cell->value = variable;
  return value;
}

tn_value tn_eager_variable(tn_eager *eager, tn_value value) {
  tn_value variable = tn_cell_blank(eager);
  if (variable == TN_ERROR_VALUE) return variable;
  tn_value leaf = fresh_leaf(eager, value, variable);
  if (leaf == TN_ERROR_VALUE) {
    tn_eager_unref(eager, variable);
    return leaf;
  }
  tn_cell *cell = tn_cell_of(eager, variable);
  cell->variable = 1;
  cell->value = leaf;
  return variable;
}

bool tn_eager_is_variable(const tn_eager *eager, tn_value value) {
  return tn_cell_of(eager, value)->variable;
}

bool tn_eager_needs_grad(const tn_eager *eager, tn_value value) {
  return tn_cell_of(eager, tn_cell_value(eager, value))->needs_grad;
}

tn_value tn_eager_grad(tn_eager *eager, tn_value variable) {
  const tn_cell *cell = tn_cell_of(eager, variable);
  tn_type type = *type_of(&eager->builder, variable);
  tn_value copy = tn_cell_new(eager, &type);
  if (copy == TN_ERROR_VALUE) return copy;
  tn_view out = tn_eager_view(eager, copy);
  if (cell->variable && cell->grad != TN_ERROR_VALUE) {
    tn_view grad = tn_eager_view(eager, cell->grad);
    tn_view_copy(&out, &grad);
  } else {
    memset(out.data, 0, (size_t)tn_view_count(&out) * tn_dtype_bytes(out.dtype));
  }
  return copy;
}

bool tn_eager_clear_grad(tn_eager *eager, tn_value variable) {
  tn_cell *cell = tn_cell_of(eager, variable);
  if (!cell->variable || cell->grad == TN_ERROR_VALUE) return true;
  if (!tn_eager_keep(eager, variable)) return false;
  tn_value grad = cell->grad;
  cell->grad = TN_ERROR_VALUE;
  tn_eager_unref(eager, grad);
  return true;
}

/* The new value of a variable: over the old one if nothing else holds it. */
static bool assign(tn_eager *eager, tn_value variable, tn_value value) {
  if (!tn_eager_keep(eager, variable)) return false;
  tn_cell *cell = tn_cell_of(eager, variable);
  tn_cell *leaf = tn_cell_of(eager, cell->value);
  const tn_buffer *buffer = leaf->layout->buffer;
  if (leaf->references == 1 && (!buffer || buffer->references == 1)) {
    tn_view to = tn_cell_view(leaf), from = tn_eager_view(eager, value);
    tn_view_copy(&to, &from);
    return true;
  }
  tn_value fresh = fresh_leaf(eager, value, variable);
  if (fresh == TN_ERROR_VALUE) return false;
  tn_eager_unref(eager, cell->value);
  cell->value = fresh;
  return true;
}

bool tn_eager_sub_assign(tn_eager *eager, tn_value variable, tn_value lr, tn_value grad) {
  tn_builder *builder = &eager->builder;
  if (!tn_cell_of(eager, variable)->variable) {
    tn_build_fault(builder, TN_OP_SUB,
                   (tn_fault){ .kind = TN_FAULT_ARGUMENT, .reason = "only a variable can be updated" });
    return false;
  }
  bool recording = eager->recording;
  eager->recording = false;
  size_t scope = tn_eager_scope_begin(eager);
  tn_value step = tn_build_binary(builder, TN_OP_MUL, lr, grad);
  tn_value next = tn_build_binary(builder, TN_OP_SUB, variable, step);
  bool ok = next != TN_ERROR_VALUE;
  if (ok && !tn_shape_equal(&type_of(builder, next)->shape, &type_of(builder, variable)->shape)) {
    tn_build_fault(builder, TN_OP_SUB,
                   (tn_fault){ .kind = TN_FAULT_SHAPE,
                               .left = *type_of(builder, variable),
                               .right = *type_of(builder, next) });
    ok = false;
  }
  ok = ok && assign(eager, variable, next);
  tn_eager_scope_end(eager, scope);
  eager->recording = recording;
  return ok;
}

bool tn_eager_assign(tn_eager *eager, tn_value variable, const tn_tensor *tensor) {
  tn_value value = tn_eager_tensor(eager, tensor);
  bool ok = value != TN_ERROR_VALUE && assign(eager, variable, value);
  if (!ok) tn_eager_out_of_memory(eager);
  tn_eager_unref(eager, value);
  return ok;
}

/* ---- undoing changes ---- */

static void hold(tn_eager *eager, tn_value value) {
  if (value != TN_ERROR_VALUE) tn_eager_ref(eager, value);
}

static void let_go(tn_eager *eager, tn_value value) {
  if (value != TN_ERROR_VALUE) tn_eager_unref(eager, value);
}

void tn_eager_changes_begin(tn_eager *eager) {
  eager->since = eager->serial + 1;
  if (++eager->turn == 0) ++eager->turn;
}

bool tn_eager_keep(tn_eager *eager, tn_value variable) {
  tn_cell *cell = tn_cell_of(eager, variable);
  if (cell->serial >= eager->since || cell->turn == eager->turn) return true;
  tn_kept_variable kept = { variable, cell->value, cell->grad };
  if (!tn_vec_push(eager->heap, &eager->kept, kept)) {
    tn_eager_out_of_memory(eager);
    return false;
  }
  cell->turn = eager->turn;
  hold(eager, kept.variable);
  hold(eager, kept.value);
  hold(eager, kept.grad);
  return true;
}

/* Restores the previous state of a variable; takes the references. */
static void go_back(tn_eager *eager, const tn_kept_variable *kept) {
  tn_cell *cell = tn_cell_of(eager, kept->variable);
  tn_kept_variable now = { kept->variable, cell->value, cell->grad };
  cell->value = kept->value;
  cell->grad = kept->grad;
  let_go(eager, now.grad);
  let_go(eager, now.value);
  let_go(eager, now.variable);
}

void tn_eager_changes_end(tn_eager *eager, bool undo) {
  eager->since = 0;
  while (eager->kept.count > 0) {
    tn_kept_variable kept = tn_vec_pop(&eager->kept);
    if (undo) {
      go_back(eager, &kept);
      continue;
    }
    let_go(eager, kept.grad);
    let_go(eager, kept.value);
    let_go(eager, kept.variable);
  }
}
