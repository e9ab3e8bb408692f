/* plan/order.c: the dependencies between the steps of a plan, for a GPU that runs several at once.
 *
 * A step waits for earlier ones that write what it reads or writes, and for those that read what it
 * writes. Pieces of memory are compared by address, so reused memory makes its users wait too.
 * Steps that can fail follow each other, and parameters are written after those: so the fault of a
 * run is always the first one in the order of steps, and a run that fails changes nothing. */
#include "plan/internal.h"

#define STEP_LIMIT 8192 /* of a plan whose steps are compared with each other */
#define WORD_BITS  64

/* A piece of memory that a step reads or writes. */
typedef struct {
  uintptr_t first, end;
  bool written;
} piece;

struct tn_order {
  tn_heap *heap;
  size_t steps, words;
  tn_vec(piece) pieces;
  uint32_t *begin;  /* by step: the first of its pieces; one more ends the last */
  uint64_t *before; /* by step: a set of the steps that it waits for, also through others */
};

static piece piece_of(const tn_view *view, bool written) {
  int64_t low = 0, high = 1, size = (int64_t)tn_dtype_bytes(view->dtype);
  if (tn_view_count(view) == 0) return (piece){ 0 };
  for (int a = 0; a < view->rank; a++) {
    int64_t reach = (view->dim[a] - 1) * view->stride[a];
    if (reach < 0) low += reach;
    else high += reach;
  }
  uintptr_t at = (uintptr_t)view->data;
  return (piece){ at - (uintptr_t)(-low * size), at + (uintptr_t)(high * size), written };
}

static bool add_piece(tn_order *order, piece added) {
  return added.first == added.end || tn_vec_push(order->heap, &order->pieces, added);
}

static bool add_memory(tn_order *order, const void *at, size_t bytes, bool written) {
  return add_piece(order, (piece){ (uintptr_t)at, (uintptr_t)at + bytes, written });
}

static bool writes_param(const tn_plan *plan, const tn_step *step) {
  int32_t base = plan->storages.at[tn_step_site(plan, step, step->call.count)->storage].base;
  return base >= tn_plan_param_base(plan, 0) && base < tn_plan_output_base(plan, 0);
}

/* The fault is a piece too: a step that can fail writes it. One that changes a parameter waits for it, and so
 * does one that relies on an earlier look at its index: after a fault its kernels do nothing. */
static bool add_step(tn_order *order, const tn_plan *plan, const tn_step *step, const void *fault) {
  bool ok = true;
  for (int i = 0; ok && i <= step->call.count; i++)
    ok = add_piece(order, piece_of(tn_step_view(plan, step, i), i == step->call.count));
  ok = ok && add_memory(order, step->call.scratch, step->scratch, true);
  bool waits = step->fallible || step->call.checked || writes_param(plan, step);
  if (ok && waits) ok = add_memory(order, fault, 1, step->fallible);
  return ok;
}

static bool fill(tn_order *order, const tn_plan *plan, const void *fault) {
  order->begin = tn_heap_alloc(order->heap, (order->steps + 1) * sizeof *order->begin);
  order->before = tn_heap_alloc(order->heap, order->steps * order->words * sizeof *order->before);
  if (!order->begin || !order->before) return false;
  for (size_t i = 0; i < order->steps; i++) {
    order->begin[i] = (uint32_t)order->pieces.count;
    const tn_step *step = &plan->steps.at[i];
    if (step->kind == TN_STEP_KERNEL && !add_step(order, plan, step, fault)) return false;
  }
  order->begin[order->steps] = (uint32_t)order->pieces.count;
  return true;
}

/* Kernels, and jumps to the next step, which merged steps leave behind. */
static bool is_plain(const tn_plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    const tn_step *step = &plan->steps.at[i];
    bool nothing = step->kind == TN_STEP_JUMP && step->target == i + 1;
    if (step->kind != TN_STEP_KERNEL && !nothing) return false;
  }
  return plan->steps.count > 0 && plan->steps.count <= STEP_LIMIT;
}

tn_order *tn_order_new(const tn_plan *plan, const void *fault) {
  tn_order *order = is_plain(plan) ? tn_heap_alloc(plan->heap, sizeof *order) : NULL;
  if (!order) return NULL;
  *order = (tn_order){ .heap = plan->heap, .steps = plan->steps.count };
  order->words = (order->steps + WORD_BITS - 1) / WORD_BITS;
  if (fill(order, plan, fault)) return order;
  tn_order_free(order);
  return NULL;
}

void tn_order_free(tn_order *order) {
  if (!order) return;
  tn_vec_free(order->heap, &order->pieces);
  tn_heap_free(order->heap, order->begin, (order->steps + 1) * sizeof *order->begin);
  tn_heap_free(order->heap, order->before, order->steps * order->words * sizeof *order->before);
  tn_heap_free(order->heap, order, sizeof *order);
}

static bool meet(const piece *a, const piece *b) {
  return (a->written || b->written) && a->first < b->end && b->first < a->end;
}

static bool must_wait(const tn_order *order, uint32_t step, uint32_t earlier) {
  for (uint32_t a = order->begin[step]; a < order->begin[step + 1]; a++)
    for (uint32_t b = order->begin[earlier]; b < order->begin[earlier + 1]; b++)
      if (meet(&order->pieces.at[a], &order->pieces.at[b])) return true;
  return false;
}

/* From the latest to the first: dependencies that follow from others are left out. */
size_t tn_order_waits(tn_order *order, uint32_t step, const bool *does, uint32_t *out) {
  uint64_t *before = order->before + step * order->words;
  size_t count = 0;
  for (uint32_t i = step; i-- > 0;) {
    bool known = before[i / WORD_BITS] >> (i % WORD_BITS) & 1;
    if (known || !does[i] || !must_wait(order, step, i)) continue;
    out[count++] = i;
    before[i / WORD_BITS] |= (uint64_t)1 << (i % WORD_BITS);
    const uint64_t *its = order->before + i * order->words;
    for (size_t w = 0; w < order->words; w++) before[w] |= its[w];
  }
  return count;
}
