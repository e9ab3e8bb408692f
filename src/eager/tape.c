/* eager/tape.c: the backward pass over recorded operations.
 *
 * The values that matter are found by following operands from the result;
 * they are visited from the newest to the oldest, so that a value's gradient is
 * complete before it is passed on, and gradients are added up in the same order
 * as ad/ adds them in a graph. Nothing is recorded meanwhile, and what was
 * remembered stays, so that a pass can run again. */
#include <string.h>

#include "eager/internal.h"

/* The first operand that leads to a variable and was not met before is given; others wait on the stack. */
static bool next_operand(tn_eager *eager, const tn_cell *cell, tn_value *next) {
  const tn_value *in = tn_cell_inputs(cell);
  *next = TN_ERROR_VALUE;
  for (int i = 0; i < cell->count; i++) {
    tn_cell *operand = tn_cell_of(eager, in[i]);
    if (!operand->needs_grad || operand->mark == eager->mark) continue;
    operand->mark = eager->mark;
    if (*next == TN_ERROR_VALUE)
      *next = in[i];
    else if (!tn_vec_push(eager->heap, &eager->stack, in[i]))
      return false;
  }
  return true;
}

/* Cells that lead to a variable, each once; the values of variables themselves apart, because they come
 * last and may be much older. */
static bool collect(tn_eager *eager, tn_value root) {
  eager->order.count = eager->stack.count = eager->leaves.count = 0;
  if (++eager->mark == 0) ++eager->mark;
  tn_cell_of(eager, root)->mark = eager->mark;
  for (tn_value value = root; value != TN_ERROR_VALUE;) {
    const tn_cell *cell = tn_cell_of(eager, value);
    if (cell->leaf ? !tn_vec_push(eager->heap, &eager->leaves, value)
                   : !tn_vec_push(eager->heap, &eager->order, value))
      return false;
    if (!next_operand(eager, cell, &value)) return false;
    if (value == TN_ERROR_VALUE && eager->stack.count > 0) value = tn_vec_pop(&eager->stack);
  }
  return true;
}

/* ---- order ---- */

static uint64_t age_of(const tn_eager *eager, tn_value value) { return tn_cell_of(eager, value)->serial; }

/* Serial numbers that lie close together: each value has a place of its own. */
static void place_by_age(tn_eager *eager, tn_values *values, uint64_t newest, uint64_t range) {
  tn_value *places = eager->stack.at;
  size_t count = 0;
  memset(places, 0, (range + 1) * sizeof *places);
  for (size_t i = 0; i < values->count; i++) places[newest - age_of(eager, values->at[i])] = values->at[i];
  for (uint64_t i = 0; i <= range; i++) {
    if (places[i] != TN_ERROR_VALUE) values->at[count++] = places[i];
  }
}

/* Any others: runs are merged. */
static void merge_by_age(tn_eager *eager, tn_values *values) {
  tn_value *items = values->at, *spare = eager->stack.at;
  size_t count = values->count;
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t low = 0; low < count; low += 2 * width) {
      size_t middle = low + width < count ? low + width : count;
      size_t high = low + 2 * width < count ? low + 2 * width : count;
      size_t a = low, b = middle;
      for (size_t k = low; k < high; k++) {
        bool left = a < middle && (b >= high || age_of(eager, items[a]) > age_of(eager, items[b]));
        spare[k] = left ? items[a++] : items[b++];
      }
    }
    for (size_t k = 0; k < count; k++) items[k] = spare[k];
  }
}

#define TN_TAPE_SPREAD 8 /* places for each value, at most */

/* A chain of operations is met in order already. */
bool tn_eager_sort_by_age(tn_eager *eager, tn_values *values) {
  uint64_t newest = 0, oldest = UINT64_MAX;
  size_t count = values->count;
  bool sorted = true;
  for (size_t i = 0; i < count; i++) {
    uint64_t age = age_of(eager, values->at[i]);
    sorted &= age < oldest;
    if (age > newest) newest = age;
    if (age < oldest) oldest = age;
  }
  if (sorted) return true;
  bool close = newest - oldest < TN_TAPE_SPREAD * (uint64_t)count;
  eager->stack.count = 0;
  if (!tn_vec_reserve(eager->heap, &eager->stack, close ? (size_t)(newest - oldest) + 1 : count))
    return false;
  if (close)
    place_by_age(eager, values, newest, newest - oldest);
  else
    merge_by_age(eager, values);
  return true;
}

/* ---- passing on ---- */

/* Adds to what a cell has received so far. */
static bool receive(tn_eager *eager, tn_value value, tn_value grad) {
  tn_cell *cell = tn_cell_of(eager, value);
  if (cell->grad == TN_ERROR_VALUE) {
    tn_eager_ref(eager, grad);
    cell->grad = grad;
    return true;
  }
  tn_value both[2] = { cell->grad, grad };
  cell->grad = tn_eager_apply(eager, TN_OP_ADD, both, 2, NULL);
  tn_eager_unref(eager, both[0]);
  return cell->grad != TN_ERROR_VALUE;
}

#define TN_TAPE_FEW 8

static bool pass_on(tn_eager *eager, const tn_cell *cell, tn_value out, tn_value *grads, bool *wanted) {
  static const tn_attrs none;
  const tn_value *in = tn_cell_inputs(cell);
  for (int i = 0; i < cell->count; i++) wanted[i] = tn_cell_of(eager, in[i])->needs_grad;
  tn_ad_node node = { .builder = &eager->builder,
                      .op = (tn_op)cell->op,
                      .in = in,
                      .count = cell->count,
                      .out = out,
                      .attrs = cell->rest ? &cell->rest->attrs : &none,
                      .wanted = wanted };
  size_t scope = tn_eager_scope_begin(eager);
  bool ok = tn_ad_vjp_node(&node, cell->grad, grads);
  for (int turn = 0; turn <= cell->count && ok; turn++) {
    int i = tn_ad_turn((tn_op)cell->op, turn, cell->count), to = tn_ad_receiver(i, cell->count);
    if (grads[i] != TN_NO_VALUE && wanted[to])
      ok = grads[i] != TN_ERROR_VALUE && receive(eager, in[to], grads[i]);
  }
  tn_eager_scope_end(eager, scope);
  return ok && tn_build_ok(&eager->builder);
}

/* Computes and records the parts of an operation, and has them visited next, the newest first. They belong to
 * the scope of the pass. */
static bool push_parts(tn_eager *eager, const tn_cell *cell) {
  size_t first = eager->owned.count;
  eager->recording = true;
  tn_value result = tn_build_parts(&eager->builder, (tn_op)cell->op, tn_cell_inputs(cell), cell->count,
                                   &cell->rest->attrs);
  eager->recording = false;
  if (result == TN_ERROR_VALUE) return false;
  tn_eager_ref(eager, cell->grad);
  tn_cell_of(eager, result)->grad = cell->grad;
  for (size_t i = first; i < eager->owned.count; i++) {
    if (tn_vec_push(eager->heap, &eager->stack, eager->owned.at[i])) continue;
    tn_eager_out_of_memory(eager);
    return false;
  }
  return true;
}

static bool pass_on_any(tn_eager *eager, tn_value value) {
  const tn_cell *cell = tn_cell_of(eager, value);
  if (tn_ad_by_parts((tn_op)cell->op)) return push_parts(eager, cell);
  tn_value few[TN_TAPE_FEW], *grads = few;
  bool few_wanted[TN_TAPE_FEW], *wanted = few_wanted;
  size_t count = (size_t)cell->count;
  if (count < TN_TAPE_FEW) return pass_on(eager, cell, value, grads, wanted);
  grads = tn_heap_alloc(eager->heap, (count + 1) * sizeof *grads);
  wanted = tn_heap_alloc(eager->heap, count * sizeof *wanted);
  bool ok = grads && wanted && pass_on(eager, cell, value, grads, wanted);
  if (!grads || !wanted) tn_eager_out_of_memory(eager);
  tn_heap_free(eager->heap, grads, (count + 1) * sizeof *grads);
  tn_heap_free(eager->heap, wanted, count * sizeof *wanted);
  return ok;
}

/* A variable is older than every value it has had. Once it is gone, its cell is free or somebody
 * else's, who came later. */
bool tn_eager_has_variable(const tn_eager *eager, const tn_cell *leaf) {
  if (leaf->value == TN_ERROR_VALUE) return false;
  const tn_cell *variable = tn_cell_of(eager, leaf->value);
  return variable->variable && variable->serial < leaf->serial;
}

/* The gradient that reached a variable's value joins what the variable has. */
static bool deliver(tn_eager *eager, tn_cell *leaf) {
  tn_value grad = leaf->grad;
  leaf->grad = TN_ERROR_VALUE;
  bool ok = !tn_eager_has_variable(eager, leaf) ||
            (tn_eager_keep(eager, leaf->value) && receive(eager, leaf->value, grad));
  tn_eager_unref(eager, grad);
  return ok;
}

static void forget_grad(tn_eager *eager, tn_cell *cell) {
  tn_value grad = cell->grad;
  if (grad == TN_ERROR_VALUE) return;
  cell->grad = TN_ERROR_VALUE;
  tn_eager_unref(eager, grad);
}

static bool visit(tn_eager *eager, tn_value value) {
  tn_cell *cell = tn_cell_of(eager, value);
  bool ok = true;
  if (cell->grad == TN_ERROR_VALUE) return true; /* nothing flows here */
  if (!tn_eager_quick_grad(eager, cell, &ok)) ok = pass_on_any(eager, value);
  forget_grad(eager, cell);
  return ok;
}

/* A 1 for every element: the gradient of the sum of the elements. */
static tn_value seed(tn_eager *eager, tn_value root) {
  size_t scope = tn_eager_scope_begin(eager);
  tn_type type = tn_cell_of(eager, root)->layout->type;
  tn_value ones = tn_build_fill(&eager->builder, &type, 1);
  tn_eager_ref(eager, ones);
  tn_eager_scope_end(eager, scope);
  return ones;
}

/* After a failure the rest is only released. */
static bool sweep(tn_eager *eager, tn_value root) {
  if (!collect(eager, root) || !tn_eager_sort_by_age(eager, &eager->order) ||
      !tn_eager_sort_by_age(eager, &eager->leaves)) {
    tn_eager_out_of_memory(eager);
    return false;
  }
  tn_cell_of(eager, root)->grad = seed(eager, root);
  bool ok = tn_cell_of(eager, root)->grad != TN_ERROR_VALUE;
  eager->stack.count = 0;
  for (size_t i = 0; i < eager->order.count || eager->stack.count > 0;) {
    tn_value value = eager->stack.count > 0 ? tn_vec_pop(&eager->stack) : eager->order.at[i++];
    if (ok)
      ok = visit(eager, value);
    else
      forget_grad(eager, tn_cell_of(eager, value));
  }
  for (size_t i = 0; i < eager->leaves.count; i++) {
    tn_cell *leaf = tn_cell_of(eager, eager->leaves.at[i]);
    if (!ok)
      forget_grad(eager, leaf);
    else if (leaf->grad != TN_ERROR_VALUE)
      ok = deliver(eager, leaf);
  }
  return ok;
}

bool tn_eager_backward(tn_eager *eager, tn_value value) {
  tn_value root = tn_cell_value(eager, value);
  if (!tn_cell_of(eager, root)->needs_grad) {
    tn_build_fault(&eager->builder, TN_OP_ERROR,
                   (tn_fault){ .kind = TN_FAULT_NO_GRADIENT, .reason = "the value depends on no variable" });
    return false;
  }
  bool recording = eager->recording;
  eager->recording = false;
  size_t scope = tn_eager_scope_begin(eager);
  bool ok = sweep(eager, root);
  tn_eager_scope_end(eager, scope);
  eager->recording = recording;
  return ok;
}
