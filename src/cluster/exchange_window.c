/* cluster/exchange_window.c: adds gradients across ranks that share memory.
 *
 * The buffers of every rank are in one window, and so is one copy of the sums. Messages are only
 * signals: each rank signals that its nodes are complete, the owners of slices read them in place
 * and add them up, and each signals that its slice is ready. A rank overwrites its buffers only
 * after it has that signal from all.
 *
 * A slice is added up block by block, so that partial sums stay in the cache; each number of the other ranks
 * is read once. */
#include "cluster/internal.h"

#define ALIGNMENT 64
#define BLOCK     ((size_t)1 << 18)

/* The window is counted as what this rank writes: its buffers, and its share of the sums. */
static bool take_window(tn_exchange *x) {
  size_t buffer = tn_exchange_buffer_bytes(x), bytes;
  if (!tn_size_mul((size_t)x->before[x->active] + 1, buffer, &bytes)) return false;
  x->window = tn_transport_share(x->request.transport, bytes);
  if (!x->window) return true;
  x->buffers = x->window + (size_t)x->before[x->rank] * buffer;
  x->sums = x->window + (size_t)x->before[x->active] * buffer;
  size_t share = (size_t)x->depth * buffer + buffer / (size_t)x->active;
  if (!tn_heap_count(x->heap, 0, share)) return false;
  x->counted = share;
  return true;
}

/* Partial sums are kept apart: what another rank has written stays as it is. Two nodes need none. */
static bool make_partials(tn_exchange *x) {
  tn_shards nodes[TN_TREE_DEPTH];
  int total = 0;
  for (int rank = 0; rank < x->active; rank++) total += tn_exchange_nodes(x, rank, nodes, NULL);
  if (total > 2) {
    x->block = BLOCK;
    (void)tn_tree_nodes(x->request.shards, (tn_shards){ 0, x->request.shards }, nodes, &x->partials);
  }
  x->partial = tn_heap_alloc_aligned(x->heap, (size_t)x->partials * x->block, ALIGNMENT);
  x->heard = tn_heap_alloc(x->heap, (size_t)x->active);
  return (x->partial || x->partials == 0) && x->heard;
}

bool tn_exchange_make_window(tn_exchange *x) {
  tn_shards nodes[TN_TREE_DEPTH];
  if (!x->request.transport->share) return true;
  x->before = tn_heap_alloc(x->heap, ((size_t)x->active + 1) * sizeof *x->before);
  if (!x->before) return false;
  for (int rank = 0; rank < x->active; rank++) {
    int depth;
    (void)tn_exchange_nodes(x, rank, nodes, &depth);
    x->before[rank + 1] = x->before[rank] + depth;
  }
  return take_window(x) && (!x->window || make_partials(x));
}

void tn_exchange_free_window(tn_exchange *x) {
  (void)tn_heap_count(x->heap, x->counted, 0);
  tn_heap_free_aligned(x->heap, x->partial, (size_t)x->partials * x->block);
  tn_heap_free(x->heap, x->heard, (size_t)x->active);
  tn_heap_free(x->heap, x->before, ((size_t)x->active + 1) * sizeof *x->before);
}

/* ---- a step ---- */

bool tn_exchange_meet(tn_exchange *x) {
  static const char word = 1;
  tn_transport *t = x->request.transport;
  bool ok = true;
  for (int peer = 0; peer < x->active && ok; peer++) {
    if (peer == x->rank) continue;
    ok = t->send(t, peer, &word, sizeof word) && t->receive(t, peer, &x->heard[peer], sizeof word);
    x->sent += sizeof word;
  }
  return ok && tn_transport_wait(t);
}

/* An address in a buffer of the window, by its offset in bytes. */
static char *place_of(const tn_exchange *x, int rank, int node, size_t from) {
  return x->window + (size_t)(x->before[rank] + node) * tn_exchange_buffer_bytes(x) + from;
}

/* So many bytes of the tensor, from `from` of a buffer on. */
static void add_block(const tn_exchange *x, int tensor, size_t from, size_t bytes) {
  tn_tree_stack stack = { .shards = x->request.shards };
  char *at[TN_TREE_DEPTH];
  for (int rank = 0; rank < x->active; rank++) {
    tn_shards nodes[TN_TREE_DEPTH];
    int count = tn_exchange_nodes(x, rank, nodes, NULL);
    for (int i = 0; i < count; i++) {
      at[stack.count] = place_of(x, rank, i, from);
      tn_tree_push(&stack, nodes[i]);
      while (tn_tree_join(&stack)) {
        int lower = stack.count - 1;
        bool last = tn_exchange_is_root(x, &stack);
        char *out = last ? x->sums + from : x->partial + (size_t)lower * x->block;
        x->request.add(x->request.context, tensor, out, at[lower], at[lower + 1], bytes, last);
        at[lower] = out;
      }
    }
  }
}

static void add_up(const tn_exchange *x, int tensor) {
  tn_piece piece = tn_exchange_piece_of(x, tensor, x->rank);
  size_t block = x->block > 0 ? x->block : piece.bytes;
  for (size_t done = 0; done < piece.bytes; done += block) {
    size_t rest = piece.bytes - done;
    add_block(x, tensor, x->start[tensor] * TN_TREE_CHUNK + piece.from + done, rest < block ? rest : block);
  }
}

bool tn_exchange_finish_own(tn_exchange *x) {
  if (!tn_exchange_meet(x)) return false;
  for (int t = 0; t < x->request.count; t++) add_up(x, t);
  return true;
}

bool tn_exchange_finish_window(tn_exchange *x) { return tn_exchange_finish_own(x) && tn_exchange_meet(x); }
