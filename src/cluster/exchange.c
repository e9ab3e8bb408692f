/* cluster/exchange.c: adds gradients along the tree within a rank.
 *
 * Buffer k holds the k-th node of the stack of tree.h, all tensors side by side. A rank ends with the largest
 * nodes of its range in buffers 0, 1, ... The next step depends on where they are: in shared memory
 * the owners of slices read them in place (exchange_window.c), otherwise they are sent
 * (exchange_messages.c). */
#include <string.h>

#include "cluster/internal.h"

#define ALIGNMENT 64

size_t tn_exchange_buffer_bytes(const tn_exchange *x) { return x->chunks * TN_TREE_CHUNK; }

char *tn_exchange_place_in(const tn_exchange *x, int buffer, int tensor) {
  return x->buffers + (size_t)buffer * tn_exchange_buffer_bytes(x) + x->start[tensor] * TN_TREE_CHUNK;
}

tn_piece tn_exchange_piece_of(const tn_exchange *x, int tensor, int rank) {
  return tn_tree_owned_piece(x->chunks, x->start[tensor], x->bytes[tensor], x->active, rank);
}

int tn_exchange_nodes(const tn_exchange *x, int rank, tn_shards nodes[TN_TREE_DEPTH], int *depth) {
  tn_shards range = tn_tree_owned(x->request.shards, x->active, rank);
  return tn_tree_nodes(x->request.shards, range, nodes, depth);
}

bool tn_exchange_is_root(const tn_exchange *x, const tn_tree_stack *stack) {
  return stack->count == 1 && stack->node[0].end - stack->node[0].first == x->request.shards;
}

/* ---- making ---- */

static bool lay_out(tn_exchange *x) {
  tn_shards nodes[TN_TREE_DEPTH];
  size_t count = (size_t)x->request.count;
  x->bytes = tn_heap_alloc(x->heap, (count + 1) * sizeof *x->bytes);
  x->start = tn_heap_alloc(x->heap, (count + 1) * sizeof *x->start);
  x->written = tn_heap_alloc(x->heap, (count + 1) * sizeof *x->written);
  if (!x->bytes || !x->start || !x->written) return false;
  for (size_t t = 0; t < count; t++) {
    x->bytes[t] = x->request.bytes[t];
    x->start[t] = x->chunks;
    x->chunks += tn_tree_chunks(x->bytes[t]);
  }
  x->request.bytes = NULL; /* borrowed for the call only */
  x->owned = tn_tree_owned(x->request.shards, x->active, x->rank);
  x->nodes = tn_exchange_nodes(x, x->rank, nodes, &x->depth);
  return true;
}

static bool make_own(tn_exchange *x) {
  size_t bytes;
  if (!tn_size_mul((size_t)x->depth, tn_exchange_buffer_bytes(x), &bytes)) return false;
  x->buffers = tn_heap_alloc_aligned(x->heap, bytes, ALIGNMENT);
  return x->buffers || bytes == 0;
}

static bool make(tn_exchange *x) {
  if (!lay_out(x)) return false;
  if (x->active == 1) return make_own(x);
  if (!tn_exchange_make_window(x)) return false;
  return x->window || (make_own(x) && tn_exchange_make_messages(x));
}

tn_exchange *tn_exchange_new(tn_heap *heap, const tn_exchange_request *request) {
  tn_exchange *x = tn_heap_alloc(heap, sizeof *x);
  if (!x) return NULL;
  *x = (tn_exchange){ .heap = heap, .request = *request, .active = 1 };
  if (request->transport) {
    x->active = tn_tree_active(request->shards, request->transport->size);
    x->rank = request->transport->rank;
  }
  if (make(x)) return x;
  tn_exchange_free(x);
  return NULL;
}

void tn_exchange_free(tn_exchange *x) {
  if (!x) return;
  size_t count = (size_t)x->request.count + 1;
  if (!x->window) tn_heap_free_aligned(x->heap, x->buffers, (size_t)x->depth * tn_exchange_buffer_bytes(x));
  tn_exchange_free_messages(x);
  tn_exchange_free_window(x);
  tn_heap_free(x->heap, x->bytes, count * sizeof *x->bytes);
  tn_heap_free(x->heap, x->start, count * sizeof *x->start);
  tn_heap_free(x->heap, x->written, count * sizeof *x->written);
  tn_heap_free(x->heap, x, sizeof *x);
}

tn_piece tn_exchange_own(const tn_exchange *x, int tensor) {
  return tn_exchange_piece_of(x, tensor, x->rank);
}

tn_piece tn_exchange_own_of(const tn_exchange *x, size_t bytes) {
  return tn_tree_owned_piece(tn_tree_chunks(bytes), 0, bytes, x->active, x->rank);
}

tn_shards tn_exchange_owned(const tn_exchange *x) { return x->owned; }

int tn_exchange_sharing(const tn_exchange *x) { return x->window ? x->active : 0; }

tn_exchange_stats tn_exchange_stats_of(const tn_exchange *x) {
  size_t buffer = tn_exchange_buffer_bytes(x);
  size_t memory = (size_t)x->depth * buffer;
  if (x->active > 1) memory += (size_t)x->others * x->slice + buffer;
  return (tn_exchange_stats){ x->depth, x->window ? x->counted : memory, x->sent };
}

/* ---- a step ---- */

static bool is_last(const tn_exchange *x) { return x->shard == x->owned.end - 1; }

static bool sends(const tn_exchange *x) { return x->active > 1 && !x->window; }

bool tn_exchange_begin(tn_exchange *x, int shard) {
  x->stack = shard == x->owned.first ? (tn_tree_stack){ .shards = x->request.shards } : x->joined;
  x->joined = x->stack;
  tn_tree_push(&x->joined, (tn_shards){ shard, shard + 1 });
  while (tn_tree_join(&x->joined)) continue;
  x->shard = shard;
  memset(x->written, 0, (size_t)x->request.count * sizeof *x->written);
  return !sends(x) || !is_last(x) || tn_exchange_expect(x);
}

void *tn_exchange_place(const tn_exchange *x, int tensor) {
  return tn_exchange_place_in(x, x->stack.count, tensor);
}

bool tn_exchange_ready(tn_exchange *x, int tensor) {
  for (int upper = x->stack.count; upper >= x->joined.count; upper--) {
    char *lower = tn_exchange_place_in(x, upper - 1, tensor);
    x->request.add(x->request.context, tensor, lower, lower, tn_exchange_place_in(x, upper, tensor),
                   x->bytes[tensor], upper == 1 && tn_exchange_is_root(x, &x->joined));
  }
  if (x->active == 1) return true;
  x->written[tensor] = true;
  if (sends(x) && is_last(x) && !tn_exchange_pass_on(x)) return false;
  return x->request.transport->progress(x->request.transport, 0);
}

bool tn_exchange_finish(tn_exchange *x) {
  if (x->active == 1) return true;
  return x->window ? tn_exchange_finish_window(x) : tn_exchange_finish_messages(x);
}

/* The sizes that `add` is called with: a whole tensor, this rank's piece of it, or blocks of that
 * and the rest. */
void tn_exchange_sizes(const tn_exchange *x, int tensor, size_t sizes[TN_EXCHANGE_SIZES]) {
  size_t piece = x->active == 1 ? 0 : tn_exchange_piece_of(x, tensor, x->rank).bytes;
  size_t block = x->block > 0 && x->block < piece ? x->block : piece;
  sizes[0] = x->bytes[tensor];
  sizes[1] = block;
  sizes[2] = block > 0 ? piece % block : 0;
}

void *tn_exchange_sum(const tn_exchange *x, int tensor) {
  return x->active == 1 ? tn_exchange_place_in(x, 0, tensor) : x->sums + x->start[tensor] * TN_TREE_CHUNK;
}
