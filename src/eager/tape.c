/* eager/tape.c: the backward pass over remembered operations.
 *
 * The values that matter are found by following operands from the result;
 * they are visited from the newest to the oldest, so that a value's gradient is
 * complete before it is passed on, and gradients are added up in the same order
 * as ad/ adds them in a graph. Nothing is recorded meanwhile, and what was
 * remembered stays, so that a pass can run again. */
#include "eager/internal.h"

/* Slots that lead to a variable, each once. */
static bool collect(tn_eager *eager, tn_value root) {
  eager->order.count = eager->stack.count = 0;
  if (++eager->mark == 0) ++eager->mark;
  if (!tn_vec_push(eager->heap, &eager->stack, root)) return false;
  tn_slot_of(eager, root)->mark = eager->mark;
  while (eager->stack.count > 0) {
    tn_value value = tn_vec_pop(&eager->stack);
    const tn_slot *slot = tn_slot_of(eager, value);
    if (!tn_vec_push(eager->heap, &eager->order, value)) return false;
    const tn_value *in = tn_slot_inputs(slot);
    for (int i = 0; i < slot->count; i++) {
      tn_slot *operand = tn_slot_of(eager, in[i]);
      if (!operand->needs_grad || operand->mark == eager->mark) continue;
      operand->mark = eager->mark;
      if (!tn_vec_push(eager->heap, &eager->stack, in[i])) return false;
    }
  }
  return true;
}

/* A chain comes out of collect() in that order already, and then this is one pass of
 * comparisons; otherwise runs are merged. */
bool tn_eager_sort_by_age(tn_eager *eager) {
  tn_value *items = eager->order.at;
  size_t count = eager->order.count;
  size_t sorted = 1;
  while (sorted < count &&
         tn_slot_of(eager, items[sorted - 1])->serial > tn_slot_of(eager, items[sorted])->serial)
    sorted++;
  if (sorted >= count) return true;
  eager->stack.count = 0;
  if (!tn_vec_reserve(eager->heap, &eager->stack, count)) return false;
  tn_value *spare = eager->stack.at;
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      size_t middle = low + width < count ? low + width : count;
      size_t high = low + 2 * width < count ? low + 2 * width : count;
      size_t a = low, b = middle;
      for (size_t k = low; k < high; k++) {
        bool left = a < middle &&
                    (b >= high || tn_slot_of(eager, items[a])->serial > tn_slot_of(eager, items[b])->serial);
        spare[k] = left ? items[a++] : items[b++];
      }
    }
    for (size_t k = 0; k < count; k++) items[k] = spare[k];
  }
  return true;
}

/* Adds to what a slot has received so far. */
static bool receive(tn_eager *eager, tn_value value, tn_value grad) {
  tn_slot *slot = tn_slot_of(eager, value);
  if (slot->grad == TN_ERROR_VALUE) {
    tn_eager_ref(eager, grad);
    slot->grad = grad;
    return true;
  }
  tn_value both[2] = { slot->grad, grad };
  slot->grad = tn_eager_apply(eager, TN_OP_ADD, both, 2, NULL);
  tn_eager_unref(eager, both[0]);
  return slot->grad != TN_ERROR_VALUE;
}

#define TN_TAPE_FEW 8

static bool pass_on(tn_eager *eager, const tn_slot *slot, tn_value out, tn_value *grads, bool *wanted) {
  static const tn_attrs none;
  const tn_value *in = tn_slot_inputs(slot);
  for (int i = 0; i < slot->count; i++) {
    grads[i] = TN_NO_VALUE;
    wanted[i] = tn_slot_of(eager, in[i])->needs_grad;
  }
  tn_ad_node node = { .builder = &eager->builder,
                      .op = slot->op,
                      .in = in,
                      .count = slot->count,
                      .out = out,
                      .attrs = slot->attrs ? slot->attrs : &none,
                      .wanted = wanted };
  size_t scope = tn_eager_scope_begin(eager);
  bool ok = tn_ad_vjp_node(&node, slot->grad, grads);
  for (int i = 0; i < slot->count && ok; i++) {
    if (wanted[i] && grads[i] != TN_NO_VALUE)
      ok = grads[i] != TN_ERROR_VALUE && receive(eager, in[i], grads[i]);
  }
  tn_eager_scope_end(eager, scope);
  return ok && tn_build_ok(&eager->builder);
}

static bool pass_on_any(tn_eager *eager, tn_value value) {
  const tn_slot *slot = tn_slot_of(eager, value);
  tn_value few[TN_TAPE_FEW], *grads = few;
  bool few_wanted[TN_TAPE_FEW], *wanted = few_wanted;
  size_t count = (size_t)slot->count;
  if (count <= TN_TAPE_FEW) return pass_on(eager, slot, value, grads, wanted);
  grads = tn_heap_alloc(eager->heap, count * sizeof *grads);
  wanted = tn_heap_alloc(eager->heap, count * sizeof *wanted);
  bool ok = grads && wanted && pass_on(eager, slot, value, grads, wanted);
  if (!grads || !wanted) tn_eager_out_of_memory(eager);
  tn_heap_free(eager->heap, grads, count * sizeof *grads);
  tn_heap_free(eager->heap, wanted, count * sizeof *wanted);
  return ok;
}

/* A variable is older than every value it has had. Once it is gone, its slot is free or somebody
 * else's, who came later. */
static bool has_variable(const tn_eager *eager, const tn_slot *leaf) {
  if (leaf->value == TN_ERROR_VALUE) return false;
  const tn_slot *variable = tn_slot_of(eager, leaf->value);
  return variable->variable && variable->serial < leaf->serial;
}

/* The gradient that reached a variable's value joins what the variable has. */
static bool deliver(tn_eager *eager, tn_slot *leaf) {
  tn_value grad = leaf->grad;
  leaf->grad = TN_ERROR_VALUE;
  bool ok = !has_variable(eager, leaf) || receive(eager, leaf->value, grad);
  tn_eager_unref(eager, grad);
  return ok;
}

static bool visit(tn_eager *eager, tn_value value) {
  tn_slot *slot = tn_slot_of(eager, value);
  if (slot->grad == TN_ERROR_VALUE) return true; /* nothing flows here */
  if (slot->leaf) return deliver(eager, slot);
  bool ok = pass_on_any(eager, value);
  tn_value grad = slot->grad;
  slot->grad = TN_ERROR_VALUE;
  tn_eager_unref(eager, grad);
  return ok;
}

/* A 1 for every element: the gradient of the sum of the elements. */
static tn_value seed(tn_eager *eager, tn_value root) {
  size_t scope = tn_eager_scope_begin(eager);
  tn_type type = tn_slot_of(eager, root)->type;
  tn_value ones = tn_build_fill(&eager->builder, &type, 1);
  tn_eager_ref(eager, ones);
  tn_eager_scope_end(eager, scope);
  return ones;
}

static bool sweep(tn_eager *eager, tn_value root) {
  if (!collect(eager, root) || !tn_eager_sort_by_age(eager)) {
    tn_eager_out_of_memory(eager);
    return false;
  }
  tn_slot_of(eager, root)->grad = seed(eager, root);
  bool ok = tn_slot_of(eager, root)->grad != TN_ERROR_VALUE;
  for (size_t i = 0; i < eager->order.count; i++) {
    if (ok) {
      ok = visit(eager, eager->order.at[i]);
      continue;
    }
    tn_slot *slot = tn_slot_of(eager, eager->order.at[i]); /* failed: let go of what was left */
    tn_value grad = slot->grad;
    slot->grad = TN_ERROR_VALUE;
    tn_eager_unref(eager, grad);
  }
  return ok;
}

bool tn_eager_backward(tn_eager *eager, tn_value value) {
  tn_value root = tn_slot_value(eager, value);
  if (!tn_slot_of(eager, root)->needs_grad) {
    tn_build_fault(&eager->builder, TN_OP_ERROR,
                   (tn_fault){ .kind = TN_FAULT_NO_GRADIENT, .reason = "the value depends on no variable" });
    return false;
  }
  bool recording = eager->recording;
  eager->recording = false;
  bool ok = sweep(eager, root);
  eager->recording = recording;
  return ok;
}
