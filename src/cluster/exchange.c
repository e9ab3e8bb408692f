/* cluster/exchange.c: adding up along the tree, within a rank and across ranks.
 *
 * Buffer k holds the k-th node of the stack of tree.h, all tensors side by side. A rank ends with the largest
 * nodes of its range in buffers 0, 1, ... Between two ranks everything is sent tensor by tensor, the last
 * tensor first, because a backward pass ends with the first ones; within a tensor node by node. Both sides
 * know that order, so messages need no names. */
#include "cluster/exchange.h"

#include <string.h>

#define ALIGNMENT 64

struct tn_exchange {
  tn_heap *heap;
  tn_exchange_request request;
  size_t *bytes;          /* by tensor */
  size_t *start;          /* by tensor: its first chunk */
  bool *written;          /* by tensor, of the last shard */
  size_t chunks;          /* of all tensors */
  int active, rank;
  tn_shards owned;
  tn_tree_stack stack;    /* without the shard that is being computed */
  tn_tree_stack joined;   /* with it */
  int depth;              /* buffers */
  char *buffers;
  int shard;              /* that is being computed */
  int next;               /* the tensor of the last shard that is sent next, once it is written */
  /* With other ranks. */
  int nodes;              /* of this rank, in buffers 0, ... */
  int others;             /* nodes of the other ranks */
  size_t slice, slice_from; /* bytes that this rank owns, and where they begin */
  char *received;         /* slices of the nodes of other ranks, in the order of ranks */
  char *sums;             /* all tensors */
  uint64_t sent;
};

static size_t buffer_bytes(const tn_exchange *x) { return x->chunks * TN_TREE_CHUNK; }

static char *place_in(const tn_exchange *x, int buffer, int tensor) {
  return x->buffers + (size_t)buffer * buffer_bytes(x) + x->start[tensor] * TN_TREE_CHUNK;
}

static tn_piece piece_of(const tn_exchange *x, int tensor, int rank) {
  return tn_tree_owned_piece(x->chunks, x->start[tensor], x->bytes[tensor], x->active, rank);
}

/* ---- making ---- */

static int nodes_of(const tn_exchange *x, int rank) {
  tn_shards nodes[TN_TREE_DEPTH];
  return tn_tree_nodes(x->request.shards, tn_tree_owned(x->request.shards, x->active, rank), nodes, NULL);
}

static bool lay_out(tn_exchange *x) {
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
  return true;
}

static bool make_own(tn_exchange *x) {
  tn_shards nodes[TN_TREE_DEPTH];
  size_t bytes;
  x->owned = tn_tree_owned(x->request.shards, x->active, x->rank);
  x->nodes = tn_tree_nodes(x->request.shards, x->owned, nodes, &x->depth);
  if (!tn_size_mul((size_t)x->depth, buffer_bytes(x), &bytes)) return false;
  x->buffers = tn_heap_alloc_aligned(x->heap, bytes, ALIGNMENT);
  return x->buffers || bytes == 0;
}

/* The slice of a rank, as if all tensors were one. */
static bool make_shared(tn_exchange *x) {
  tn_piece all = tn_tree_owned_piece(x->chunks, 0, buffer_bytes(x), x->active, x->rank);
  size_t bytes;
  x->slice_from = all.from;
  x->slice = all.bytes;
  for (int rank = 0; rank < x->active; rank++)
    if (rank != x->rank) x->others += nodes_of(x, rank);
  if (!tn_size_mul((size_t)x->others, x->slice, &bytes)) return false;
  x->received = tn_heap_alloc_aligned(x->heap, bytes, ALIGNMENT);
  x->sums = tn_heap_alloc_aligned(x->heap, buffer_bytes(x), ALIGNMENT);
  return (x->received || bytes == 0) && (x->sums || x->chunks == 0);
}

tn_exchange *tn_exchange_new(tn_heap *heap, const tn_exchange_request *request) {
  tn_exchange *x = tn_heap_alloc(heap, sizeof *x);
  if (!x) return NULL;
  *x = (tn_exchange){ .heap = heap, .request = *request, .active = 1 };
  if (request->transport) {
    x->active = tn_tree_active(request->shards, request->transport->size);
    x->rank = request->transport->rank;
  }
  if (lay_out(x) && make_own(x) && (x->active == 1 || make_shared(x))) return x;
  tn_exchange_free(x);
  return NULL;
}

void tn_exchange_free(tn_exchange *x) {
  if (!x) return;
  size_t count = (size_t)x->request.count + 1;
  tn_heap_free_aligned(x->heap, x->buffers, (size_t)x->depth * buffer_bytes(x));
  tn_heap_free_aligned(x->heap, x->received, (size_t)x->others * x->slice);
  tn_heap_free_aligned(x->heap, x->sums, buffer_bytes(x));
  tn_heap_free(x->heap, x->bytes, count * sizeof *x->bytes);
  tn_heap_free(x->heap, x->start, count * sizeof *x->start);
  tn_heap_free(x->heap, x->written, count * sizeof *x->written);
  tn_heap_free(x->heap, x, sizeof *x);
}

tn_shards tn_exchange_owned(const tn_exchange *x) { return x->owned; }

tn_exchange_stats tn_exchange_stats_of(const tn_exchange *x) {
  size_t shared = x->active > 1 ? (size_t)x->others * x->slice + buffer_bytes(x) : 0;
  return (tn_exchange_stats){ x->depth, (size_t)x->depth * buffer_bytes(x) + shared, x->sent };
}

/* ---- messages ---- */

static bool send(tn_exchange *x, int peer, const char *at, size_t bytes) {
  x->sent += bytes;
  return x->request.transport->send(x->request.transport, peer, at, bytes);
}

static bool receive(const tn_exchange *x, int peer, char *at, size_t bytes) {
  return x->request.transport->receive(x->request.transport, peer, at, bytes);
}

/* This rank's nodes of a tensor, each slice to its owner. */
static bool send_nodes(tn_exchange *x, int tensor) {
  bool ok = true;
  for (int peer = 0; peer < x->active; peer++) {
    tn_piece piece = piece_of(x, tensor, peer);
    for (int node = 0; node < x->nodes && ok && peer != x->rank && piece.bytes > 0; node++)
      ok = send(x, peer, place_in(x, node, tensor) + piece.from, piece.bytes);
  }
  return ok;
}

/* Where this rank's piece of a tensor is in node `index` of the other ranks. */
static char *received_at(const tn_exchange *x, int index, int tensor, size_t from) {
  return x->received + (size_t)index * x->slice + x->start[tensor] * TN_TREE_CHUNK + from - x->slice_from;
}

static bool receive_nodes(const tn_exchange *x, int peer, int first) {
  int count = nodes_of(x, peer);
  bool ok = true;
  for (int t = x->request.count; t-- > 0;) {
    tn_piece piece = piece_of(x, t, x->rank);
    for (int node = 0; node < count && ok && piece.bytes > 0; node++)
      ok = receive(x, peer, received_at(x, first + node, t, piece.from), piece.bytes);
  }
  return ok;
}

static bool receive_all_nodes(const tn_exchange *x) {
  int first = 0;
  for (int peer = 0; peer < x->active; peer++) {
    if (peer == x->rank) continue;
    if (!receive_nodes(x, peer, first)) return false;
    first += nodes_of(x, peer);
  }
  return true;
}

/* The sums of a slice, from its owner to everyone else. */
static bool share_sums(tn_exchange *x, int owner) {
  bool ok = true;
  for (int t = x->request.count; t-- > 0;) {
    tn_piece piece = piece_of(x, t, owner);
    char *at = x->sums + x->start[t] * TN_TREE_CHUNK + piece.from;
    if (piece.bytes == 0) continue;
    if (owner != x->rank) ok = ok && receive(x, owner, at, piece.bytes);
    for (int peer = 0; owner == x->rank && peer < x->active && ok; peer++)
      if (peer != x->rank) ok = send(x, peer, at, piece.bytes);
  }
  return ok;
}

/* ---- a step ---- */

static bool is_root(const tn_exchange *x, const tn_tree_stack *stack) {
  return stack->count == 1 && stack->node[0].end - stack->node[0].first == x->request.shards;
}

static bool is_last(const tn_exchange *x) { return x->shard == x->owned.end - 1; }

/* What others send can arrive from the last shard on. */
bool tn_exchange_begin(tn_exchange *x, int shard) {
  x->stack = shard == x->owned.first ? (tn_tree_stack){ .shards = x->request.shards } : x->joined;
  x->joined = x->stack;
  tn_tree_push(&x->joined, (tn_shards){ shard, shard + 1 });
  while (tn_tree_join(&x->joined)) continue;
  x->shard = shard;
  x->next = x->request.count - 1;
  memset(x->written, 0, (size_t)x->request.count * sizeof *x->written);
  return x->active == 1 || !is_last(x) || receive_all_nodes(x);
}

void *tn_exchange_place(const tn_exchange *x, int tensor) { return place_in(x, x->stack.count, tensor); }

bool tn_exchange_ready(tn_exchange *x, int tensor) {
  for (int upper = x->stack.count; upper >= x->joined.count; upper--) {
    x->request.add(x->request.context, tensor, place_in(x, upper - 1, tensor), place_in(x, upper, tensor),
                   x->bytes[tensor], upper == 1 && is_root(x, &x->joined));
  }
  if (x->active == 1) return true;
  x->written[tensor] = true;
  while (is_last(x) && x->next >= 0 && x->written[x->next]) {
    if (!send_nodes(x, x->next--)) return false;
  }
  return x->request.transport->progress(x->request.transport, 0);
}

/* Joins what all ranks have of this rank's piece of a tensor. */
static void add_up(const tn_exchange *x, int tensor) {
  tn_piece piece = piece_of(x, tensor, x->rank);
  tn_tree_stack stack = { .shards = x->request.shards };
  char *at[TN_TREE_DEPTH];
  int remote = 0;
  for (int rank = 0; rank < x->active && piece.bytes > 0; rank++) {
    tn_shards nodes[TN_TREE_DEPTH], range = tn_tree_owned(x->request.shards, x->active, rank);
    int count = tn_tree_nodes(x->request.shards, range, nodes, NULL);
    for (int i = 0; i < count; i++) {
      at[stack.count] = rank == x->rank ? place_in(x, i, tensor) + piece.from
                                        : received_at(x, remote++, tensor, piece.from);
      tn_tree_push(&stack, nodes[i]);
      while (tn_tree_join(&stack))
        x->request.add(x->request.context, tensor, at[stack.count - 1], at[stack.count], piece.bytes,
                       is_root(x, &stack));
    }
  }
  if (piece.bytes > 0) memcpy(x->sums + x->start[tensor] * TN_TREE_CHUNK + piece.from, at[0], piece.bytes);
}

bool tn_exchange_finish(tn_exchange *x) {
  if (x->active == 1) return true;
  if (!tn_transport_wait(x->request.transport)) return false;
  for (int t = 0; t < x->request.count; t++) add_up(x, t);
  for (int owner = 0; owner < x->active; owner++)
    if (!share_sums(x, owner)) return false;
  return tn_transport_wait(x->request.transport);
}

size_t tn_exchange_piece(const tn_exchange *x, int tensor) {
  return x->active == 1 ? 0 : piece_of(x, tensor, x->rank).bytes;
}

void *tn_exchange_sum(const tn_exchange *x, int tensor) {
  return x->active == 1 ? place_in(x, 0, tensor) : x->sums + x->start[tensor] * TN_TREE_CHUNK;
}
