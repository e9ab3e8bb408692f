/* plan/memory.c: assigns memory offsets to intermediate values.
 *
 * Storages are placed in the order in which they are written. Dead storages go to a free list of
 * gaps, sorted by offset; a new one takes the smallest gap that fits. An elementwise result is
 * computed in place, over an operand of the same size that dies there.
 *
 * That leaves gaps: long-lived values are placed between short-lived ones. If much memory is at
 * stake, all offsets are chosen a second time with every lifetime known, the largest and longest
 * first, and the smaller block wins.
 *
 * On a GPU, where steps run in parallel, reused memory makes them wait for each other. So a block
 * there has separate memory for every value, unless that takes more than the GPU has to spare. */
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/card.h"
#include "plan/internal.h"

typedef struct {
  size_t offset, bytes;
} gap;

#define PACK_BYTES ((size_t)8 << 20) /* of a block that is worth a second choice */
#define PACK_LIMIT 4096              /* slots of one: each is compared with all others */

/* A piece of memory and how long it is in use, by one storage or by several in turn. */
typedef struct {
  size_t offset, bytes;
  int32_t first, last;
} slot;

typedef struct {
  tn_plan *plan;
  tn_vec(gap) gaps;    /* by offset; never adjacent */
  tn_vec(slot) slots;
  int32_t *slot_of;    /* by storage; -1: none */
  int32_t *dying;      /* by step: head of the storages that die there */
  int32_t *next_dying; /* by storage */
  size_t end;          /* the block so far */
  bool spread;         /* no memory is reused */
} placer;


static bool covers_storage(const tn_plan *plan, const tn_view *view, const tn_view_site *site) {
  const tn_storage *storage = &plan->storages.at[site->storage];
  return site->offset == 0 && tn_view_is_contiguous(view) &&
         (size_t)tn_view_count(view) * tn_dtype_bytes(view->dtype) == storage->bytes;
}

static bool same_dims(const tn_view *a, const tn_view *b) {
  return a->rank == b->rank && memcmp(a->dim, b->dim, sizeof a->dim[0] * (size_t)a->rank) == 0;
}

static bool same_strides(const tn_view *a, const tn_view *b) {
  return memcmp(a->stride, b->stride, sizeof a->stride[0] * (size_t)a->rank) == 0;
}

/* Another operand that views the same storage differently would see it change. */
static bool read_elsewhere(const tn_plan *plan, const tn_step *step, int operand) {
  const tn_view_site *sites = &plan->sites.at[step->first_view];
  const tn_view *views = &plan->views.at[step->first_view];
  for (int i = 0; i < step->call.count; i++) {
    if (i == operand || sites[i].storage != sites[operand].storage) continue;
    bool same = sites[i].offset == sites[operand].offset && same_dims(&views[i], &views[operand]) &&
                same_strides(&views[i], &views[operand]);
    if (!same) return true;
  }
  return false;
}

bool tn_plan_in_place(const tn_plan *plan, const tn_step *step, int operand) {
  if (step->kind != TN_STEP_KERNEL) return false;
  tn_op_kind kind = tn_op_sig_of(step->call.op)->kind;
  bool first_only = step->call.op == TN_OP_SCATTER_ADD || step->call.op == TN_OP_ROW_UPDATE;
  if (kind != TN_KIND_ELEMENTWISE && !(first_only && operand == 0)) return false;

  const tn_view *in = &plan->views.at[step->first_view + (uint32_t)operand];
  const tn_view *out = &plan->views.at[step->first_view + (uint32_t)step->call.count];
  const tn_view_site *site = &plan->sites.at[step->first_view + (uint32_t)operand];
  return in->dtype == out->dtype && same_dims(in, out) && covers_storage(plan, in, site) &&
         !read_elsewhere(plan, step, operand);
}

static bool give_back(placer *p, size_t offset, size_t bytes) {
  size_t at = 0;
  while (at < p->gaps.count && p->gaps.at[at].offset < offset) at++;
  bool left = at > 0 && p->gaps.at[at - 1].offset + p->gaps.at[at - 1].bytes == offset;
  bool right = at < p->gaps.count && offset + bytes == p->gaps.at[at].offset;
  if (left && right) {
    p->gaps.at[at - 1].bytes += bytes + p->gaps.at[at].bytes;
    memmove(&p->gaps.at[at], &p->gaps.at[at + 1], (p->gaps.count - at - 1) * sizeof(gap));
    p->gaps.count--;
  } else if (left) {
    p->gaps.at[at - 1].bytes += bytes;
  } else if (right) {
    p->gaps.at[at].offset = offset;
    p->gaps.at[at].bytes += bytes;
  } else {
    if (!tn_vec_reserve(p->plan->heap, &p->gaps, 1)) return false;
    memmove(&p->gaps.at[at + 1], &p->gaps.at[at], (p->gaps.count - at) * sizeof(gap));
    p->gaps.at[at] = (gap){ offset, bytes };
    p->gaps.count++;
  }
  return true;
}

/* The smallest gap that fits, else the end of the block. */
static size_t take(placer *p, size_t bytes) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < p->gaps.count; i++) {
    if (p->gaps.at[i].bytes >= bytes && (best == SIZE_MAX || p->gaps.at[i].bytes < p->gaps.at[best].bytes))
      best = i;
  }
  if (best == SIZE_MAX) {
    size_t offset = p->end;
    p->end += bytes;
    return offset;
  }
  gap *found = &p->gaps.at[best];
  size_t offset = found->offset;
  found->offset += bytes;
  found->bytes -= bytes;
  if (found->bytes == 0) {
    memmove(found, found + 1, (p->gaps.count - best - 1) * sizeof(gap));
    p->gaps.count--;
  }
  return offset;
}

/* A dying operand whose memory the result of the step can reuse, or -1. Of several the one that was written
 * last: fewer other steps still read it, for which a GPU would have to wait. */
static int32_t dying_operand(const tn_plan *plan, const tn_storage *storage) {
  int32_t found = -1;
  if (storage->first < 0 || (size_t)storage->first >= plan->steps.count) return -1;
  const tn_step *step = &plan->steps.at[storage->first];
  if (step->kind != TN_STEP_KERNEL) return -1;
  for (int i = 0; i < step->call.count; i++) {
    int32_t candidate = plan->sites.at[step->first_view + (uint32_t)i].storage;
    const tn_storage *operand = &plan->storages.at[candidate];
    if (operand->base == 0 && operand->last == storage->first && !operand->taken && !operand->output &&
        operand->bytes == storage->bytes && tn_plan_in_place(plan, step, i) &&
        (found < 0 || plan->storages.at[found].first < operand->first)) {
      found = candidate;
    }
  }
  return found;
}

static bool may_spread(const tn_plan *plan) {
  size_t limit = plan->options.memory_limit, bytes = 0;
  if (!plan->card) return false;
  size_t part = tn_card_memory_to_spare(plan->backend->card);
  if (limit == 0 || limit > part) limit = part;
  for (size_t s = 0; s < plan->storages.count && bytes <= limit; s++)
    if (plan->storages.at[s].base == 0) bytes += tn_plan_rounded(plan->storages.at[s].bytes);
  return bytes <= limit;
}

static bool expire(placer *p, int32_t from, int32_t to) {
  if (p->spread) return true;
  for (int32_t time = from; time < to; time++) {
    for (int32_t s = p->dying[time]; s >= 0; s = p->next_dying[s]) {
      const tn_storage *storage = &p->plan->storages.at[s];
      if (!storage->taken && !give_back(p, storage->offset, tn_plan_rounded(storage->bytes))) return false;
    }
  }
  return true;
}

/* The time after which the storage is not needed. */
static int32_t end_of(const tn_storage *storage) {
  if (storage->output) return TN_PLAN_END;
  return storage->last < storage->first ? storage->first : storage->last;
}

static bool add_slot(placer *p, size_t storage) {
  const tn_storage *s = &p->plan->storages.at[storage];
  slot added = { s->offset, tn_plan_rounded(s->bytes), s->first, end_of(s) };
  p->slot_of[storage] = (int32_t)p->slots.count;
  return tn_vec_push(p->plan->heap, &p->slots, added);
}

static void take_over(placer *p, size_t storage, int32_t operand) {
  tn_storage *s = &p->plan->storages.at[storage], *from = &p->plan->storages.at[operand];
  from->taken = true;
  s->offset = from->offset;
  p->slot_of[storage] = p->slot_of[operand];
  p->slots.at[p->slot_of[storage]].last = end_of(s);
}

static bool place_all(placer *p) {
  tn_plan *plan = p->plan;
  int32_t now = 0;
  for (size_t s = 0; s < plan->storages.count; s++) {
    tn_storage *storage = &plan->storages.at[s];
    p->slot_of[s] = -1;
    if (storage->base != 0 || storage->bytes == 0) continue;
    if (storage->first > now) {
      if (!expire(p, now, storage->first)) return false;
      now = storage->first;
    }
    int32_t operand = dying_operand(plan, storage);
    if (operand >= 0) {
      take_over(p, s, operand);
    } else {
      storage->offset = take(p, tn_plan_rounded(storage->bytes));
      if (!add_slot(p, s)) return false;
    }
    int32_t last = end_of(storage);
    if (last != TN_PLAN_END) {
      p->next_dying[s] = p->dying[last];
      p->dying[last] = (int32_t)s;
    }
  }
  plan->block_bytes = p->end;
  return true;
}

/* ---- a second choice ---- */

/* The largest first; of equal ones the one that lives longest; then as they came. */
static int by_size(const void *a, const void *b) {
  const slot *x = *(slot *const *)a, *y = *(slot *const *)b;
  int64_t lives = (int64_t)x->last - x->first, other = (int64_t)y->last - y->first;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  if (lives != other) return lives > other ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* The smallest gap between slots of the same time that fits, else the place after them. `placed` is in the
 * order of offsets. */
static size_t gap_for(const slot *one, slot *const *placed, size_t count) {
  size_t at = 0, best = SIZE_MAX, spare = SIZE_MAX;
  for (size_t i = 0; i < count; i++) {
    const slot *other = placed[i];
    if (other->first > one->last || other->last < one->first) continue;
    if (other->offset >= at + one->bytes && other->offset - at < spare)
      best = at, spare = other->offset - at;
    if (other->offset + other->bytes > at) at = other->offset + other->bytes;
  }
  return best != SIZE_MAX ? best : at;
}

static void insert_by_offset(slot **placed, size_t count, slot *one) {
  for (; count > 0 && placed[count - 1]->offset > one->offset; count--) placed[count] = placed[count - 1];
  placed[count] = one;
}

/* The bytes of the block when slots are placed in this order. */
static size_t pack(slot **order, slot **placed, size_t count) {
  size_t end = 0;
  for (size_t i = 0; i < count; i++) {
    order[i]->offset = gap_for(order[i], placed, i);
    if (order[i]->offset + order[i]->bytes > end) end = order[i]->offset + order[i]->bytes;
    insert_by_offset(placed, i, order[i]);
  }
  return end;
}

static bool place_again(placer *p) {
  tn_plan *plan = p->plan;
  size_t count = p->slots.count, bytes = 2 * count * sizeof(slot *);
  if (p->spread || plan->block_bytes < PACK_BYTES || count > PACK_LIMIT) return true;
  slot **order = tn_heap_alloc(plan->heap, bytes);
  if (!order) return false;
  for (size_t i = 0; i < count; i++) order[i] = &p->slots.at[i];
  qsort(order, count, sizeof *order, by_size);
  size_t end = pack(order, order + count, count);
  for (size_t s = 0; s < plan->storages.count && end < plan->block_bytes; s++)
    if (p->slot_of[s] >= 0) plan->storages.at[s].offset = p->slots.at[p->slot_of[s]].offset;
  if (end < plan->block_bytes) plan->block_bytes = end;
  tn_heap_free(plan->heap, order, bytes);
  return true;
}

bool tn_plan_place(tn_plan *plan, tn_fault *fault) {
  placer p = { .plan = plan, .spread = may_spread(plan) };
  size_t steps = plan->steps.count + 1, storages = plan->storages.count + 1;
  p.dying = tn_heap_alloc(plan->heap, steps * sizeof *p.dying);
  p.next_dying = tn_heap_alloc(plan->heap, storages * sizeof *p.next_dying);
  p.slot_of = tn_heap_alloc(plan->heap, storages * sizeof *p.slot_of);
  bool ok = p.dying && p.next_dying && p.slot_of;
  if (ok) {
    for (size_t i = 0; i < steps; i++) p.dying[i] = -1;
    ok = place_all(&p) && place_again(&p);
  }
  tn_heap_free(plan->heap, p.dying, steps * sizeof *p.dying);
  tn_heap_free(plan->heap, p.next_dying, storages * sizeof *p.next_dying);
  tn_heap_free(plan->heap, p.slot_of, storages * sizeof *p.slot_of);
  tn_vec_free(plan->heap, &p.slots);
  tn_vec_free(plan->heap, &p.gaps);
  if (!ok) fault->kind = TN_FAULT_MEMORY;
  return ok;
}
