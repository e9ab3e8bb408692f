/* eager/eager.c: the builder's methods, values in and out, variables. */
#include "eager/eager.h"

#include <string.h>

#include "eager/internal.h"

static const tn_type *type_of(const tn_builder *builder, tn_value value) {
  const tn_eager *eager = (const tn_eager *)builder;
  return &tn_slot_of(eager, tn_slot_value(eager, value))->type;
}

static bool truth(tn_builder *builder, tn_value condition, bool *out) {
  tn_eager *eager = (tn_eager *)builder;
  *out = tn_view_get_i64(tn_eager_view(eager, condition), 0) != 0;
  return true;
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
  .truth = truth,
  .quick = quick,
};

tn_value tn_eager_apply(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs) {
  if (!attrs) {
    tn_value value = tn_eager_quick(eager, op, in, count, false);
    if (value != TN_ERROR_VALUE) return value;
  }
  size_t scope = tn_eager_scope_begin(eager);
  tn_value value = tn_build(&eager->builder, op, in, count, attrs);
  if (value != TN_ERROR_VALUE) value = tn_eager_now(eager, value); /* it may be an operand itself */
  tn_eager_scope_end(eager, scope);
  return value;
}

tn_value tn_eager_apply_take(tn_eager *eager, tn_op op, const tn_value *in, int count) {
  if (count == 2 && tn_eager_in_place(eager, op, in)) {
    tn_eager_unref(eager, in[1]);
    return in[0];
  }
  tn_value value = tn_eager_quick(eager, op, in, count, true);
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
  return eager;
}

/* Slots are given back chunk by chunk; what they hold outside goes first. */
static void free_slot(tn_eager *eager, tn_slot *slot) {
  if (slot->more) tn_heap_free(eager->heap, slot->more, (size_t)slot->count * sizeof *slot->more);
  if (slot->attrs) tn_heap_free(eager->heap, slot->attrs, sizeof *slot->attrs);
  tn_buffer_unref(slot->buffer);
}

void tn_eager_free(tn_eager *eager) {
  if (!eager) return;
  tn_heap *heap = eager->heap;
  for (size_t c = 0; c < eager->chunks.count; c++) {
    for (size_t i = 0; i < TN_SLOT_CHUNK; i++) free_slot(eager, &eager->chunks.at[c][i]);
    tn_heap_free_aligned(heap, eager->chunks.at[c], TN_SLOT_CHUNK * sizeof(tn_slot));
  }
  for (size_t i = 0; i < eager->spare_attrs.count; i++)
    tn_heap_free(heap, eager->spare_attrs.at[i], sizeof(tn_attrs));
  tn_vec_free(heap, &eager->spare_attrs);
  tn_vec_free(heap, &eager->chunks);
  tn_vec_free(heap, &eager->owned);
  tn_vec_free(heap, &eager->order);
  tn_vec_free(heap, &eager->stack);
  tn_vec_free(heap, &eager->leaves);
  tn_heap_free_aligned(heap, eager->scratch, eager->scratch_bytes);
  tn_heap_free(heap, eager, sizeof *eager);
}

tn_builder *tn_eager_builder(tn_eager *eager) { return &eager->builder; }

tn_value tn_eager_number(tn_eager *eager, float number) {
  tn_value value = tn_slot_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_slot *slot = tn_slot_of(eager, value);
  static const tn_slot single = { .elements = 1 };
  tn_slot_shape_like(slot, &single);
  slot->few[0] = number == number ? number : __builtin_nanf("");
  return value;
}

tn_value tn_eager_tensor(tn_eager *eager, const tn_tensor *tensor) {
  tn_type type = { tensor->view.dtype, tn_view_shape(&tensor->view) };
  int64_t count = tn_view_count(&tensor->view);
  if (type.dtype == TN_F32 && count <= TN_SLOT_FEW) {
    tn_value few = tn_slot_new(eager, &type);
    if (few != TN_ERROR_VALUE) tn_view_copy(&tn_slot_of(eager, few)->view, &tensor->view);
    return few;
  }
  tn_value value = tn_slot_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_slot *slot = tn_slot_of(eager, value);
  slot->type = type;
  slot->view = tensor->view;
  slot->buffer = tn_buffer_ref(tensor->buffer);
  return value;
}

const tn_view *tn_eager_view(const tn_eager *eager, tn_value value) {
  return &tn_slot_of(eager, tn_slot_value(eager, value))->view;
}

tn_tensor tn_eager_share(tn_eager *eager, tn_value value) {
  const tn_slot *slot = tn_slot_of(eager, tn_slot_value(eager, value));
  tn_tensor tensor = { 0 };
  if (slot->buffer && !slot->leaf) return (tn_tensor){ slot->view, tn_buffer_ref(slot->buffer) };
  if (!tn_tensor_copy(eager->heap, &slot->view, &tensor)) tn_eager_out_of_memory(eager);
  return tensor;
}

tn_value tn_eager_now(tn_eager *eager, tn_value value) {
  tn_value now = tn_slot_value(eager, value);
  tn_eager_ref(eager, now);
  return now;
}

void tn_eager_record_everything(tn_eager *eager, bool on) { eager->everything = on; }
void tn_eager_recording(tn_eager *eager, bool on) { eager->recording = on; }
bool tn_eager_is_recording(const tn_eager *eager) { return eager->recording; }

/* ---- variables ---- */

/* A contiguous value of its own that a variable can name. */
static tn_value fresh_leaf(tn_eager *eager, const tn_view *from, tn_value variable) {
  tn_type type = { from->dtype, tn_view_shape(from) };
  tn_view source = *from;
  tn_value value = tn_slot_new(eager, &type);
  if (value == TN_ERROR_VALUE) return value;
  tn_slot *slot = tn_slot_of(eager, value);
  tn_view_copy(&slot->view, &source);
  slot->leaf = slot->needs_grad = 1;
  slot->value = variable;
  return value;
}

tn_value tn_eager_variable(tn_eager *eager, tn_value value) {
  tn_value variable = tn_slot_blank(eager);
  if (variable == TN_ERROR_VALUE) return variable;
  tn_value leaf = fresh_leaf(eager, tn_eager_view(eager, value), variable);
  if (leaf == TN_ERROR_VALUE) {
    tn_eager_unref(eager, variable);
    return leaf;
  }
  tn_slot *slot = tn_slot_of(eager, variable);
  slot->variable = 1;
  slot->value = leaf;
  return variable;
}

bool tn_eager_is_variable(const tn_eager *eager, tn_value value) {
  return tn_slot_of(eager, value)->variable;
}

bool tn_eager_needs_grad(const tn_eager *eager, tn_value value) {
  return tn_slot_of(eager, tn_slot_value(eager, value))->needs_grad;
}

tn_value tn_eager_grad(tn_eager *eager, tn_value variable) {
  const tn_slot *slot = tn_slot_of(eager, variable);
  const tn_view *view = tn_eager_view(eager, variable);
  tn_type type = { view->dtype, tn_view_shape(view) };
  tn_value copy = tn_slot_new(eager, &type);
  if (copy == TN_ERROR_VALUE) return copy;
  const tn_view *out = &tn_slot_of(eager, copy)->view;
  if (slot->variable && slot->grad != TN_ERROR_VALUE) {
    tn_view_copy(out, tn_eager_view(eager, slot->grad));
  } else {
    memset(out->data, 0, (size_t)tn_view_count(out) * tn_dtype_bytes(out->dtype));
  }
  return copy;
}

void tn_eager_clear_grad(tn_eager *eager, tn_value variable) {
  tn_slot *slot = tn_slot_of(eager, variable);
  if (!slot->variable || slot->grad == TN_ERROR_VALUE) return;
  tn_value grad = slot->grad;
  slot->grad = TN_ERROR_VALUE;
  tn_eager_unref(eager, grad);
}

/* The new value of a variable: over the old one if nothing else holds it. */
static bool assign(tn_eager *eager, tn_value variable, tn_value value) {
  tn_slot *slot = tn_slot_of(eager, variable);
  tn_slot *leaf = tn_slot_of(eager, slot->value);
  const tn_view *from = tn_eager_view(eager, value);
  if (leaf->references == 1 && (!leaf->buffer || leaf->buffer->references == 1)) {
    tn_view_copy(&leaf->view, from);
    return true;
  }
  tn_value fresh = fresh_leaf(eager, from, variable);
  if (fresh == TN_ERROR_VALUE) return false;
  tn_eager_unref(eager, slot->value);
  slot->value = fresh;
  return true;
}

bool tn_eager_sub_assign(tn_eager *eager, tn_value variable, tn_value lr, tn_value grad) {
  tn_builder *builder = &eager->builder;
  if (!tn_slot_of(eager, variable)->variable) {
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
