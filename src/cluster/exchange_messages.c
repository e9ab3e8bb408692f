/* cluster/exchange_messages.c: adds gradients across ranks that share no memory.
 *
 * Each slice of a rank's nodes is sent to the owner of the slice, which adds them up and sends the
 * sums to all ranks. Between two ranks everything is sent tensor by tensor, the last tensor first,
 * because a backward pass ends with the first ones; within a tensor node by node. Both sides know
 * that order, so messages need no tags. */
#include <string.h>

#include "cluster/internal.h"

#define ALIGNMENT 64

static int nodes_of(const tn_exchange *x, int rank) {
  tn_shards nodes[TN_TREE_DEPTH];
  return tn_exchange_nodes(x, rank, nodes, NULL);
}

/* The slice of a rank, as if all tensors were one. */
bool tn_exchange_make_messages(tn_exchange *x) {
  tn_piece all = tn_tree_owned_piece(x->chunks, 0, tn_exchange_buffer_bytes(x), x->active, x->rank);
  size_t bytes;
  x->slice_from = all.from;
  x->slice = all.bytes;
  for (int rank = 0; rank < x->active; rank++)
    if (rank != x->rank) x->others += nodes_of(x, rank);
  if (!tn_size_mul((size_t)x->others, x->slice, &bytes)) return false;
  x->received = tn_heap_alloc_aligned(x->heap, bytes, ALIGNMENT);
  x->sums = tn_heap_alloc_aligned(x->heap, tn_exchange_buffer_bytes(x), ALIGNMENT);
  return (x->received || bytes == 0) && (x->sums || x->chunks == 0);
}

void tn_exchange_free_messages(tn_exchange *x) {
  tn_heap_free_aligned(x->heap, x->received, (size_t)x->others * x->slice);
  if (!x->window) tn_heap_free_aligned(x->heap, x->sums, tn_exchange_buffer_bytes(x));
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
    tn_piece piece = tn_exchange_piece_of(x, tensor, peer);
    for (int node = 0; node < x->nodes && ok && peer != x->rank && piece.bytes > 0; node++)
      ok = send(x, peer, tn_exchange_place_in(x, node, tensor) + piece.from, piece.bytes);
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
    tn_piece piece = tn_exchange_piece_of(x, t, x->rank);
    for (int node = 0; node < count && ok && piece.bytes > 0; node++)
      ok = receive(x, peer, received_at(x, first + node, t, piece.from), piece.bytes);
  }
  return ok;
}

/* Messages of others can arrive from the last shard on. */
bool tn_exchange_expect(tn_exchange *x) {
  int first = 0;
  x->next = x->request.count - 1;
  for (int peer = 0; peer < x->active; peer++) {
    if (peer == x->rank) continue;
    if (!receive_nodes(x, peer, first)) return false;
    first += nodes_of(x, peer);
  }
  return true;
}

bool tn_exchange_pass_on(tn_exchange *x) {
  while (x->next >= 0 && x->written[x->next]) {
    if (!send_nodes(x, x->next--)) return false;
  }
  return true;
}

/* The sums of a slice, from its owner to everyone else. */
static bool share_sums(tn_exchange *x, int owner) {
  bool ok = true;
  for (int t = x->request.count; t-- > 0;) {
    tn_piece piece = tn_exchange_piece_of(x, t, owner);
    char *at = x->sums + x->start[t] * TN_TREE_CHUNK + piece.from;
    if (piece.bytes == 0) continue;
    if (owner != x->rank) ok = ok && receive(x, owner, at, piece.bytes);
    for (int peer = 0; owner == x->rank && peer < x->active && ok; peer++)
      if (peer != x->rank) ok = send(x, peer, at, piece.bytes);
  }
  return ok;
}

/* Joins what all ranks have of this rank's piece of a tensor. */
static void add_up(const tn_exchange *x, int tensor) {
  tn_piece piece = tn_exchange_piece_of(x, tensor, x->rank);
  tn_tree_stack stack = { .shards = x->request.shards };
  char *at[TN_TREE_DEPTH];
  int remote = 0;
  for (int rank = 0; rank < x->active && piece.bytes > 0; rank++) {
    tn_shards nodes[TN_TREE_DEPTH];
    int count = tn_exchange_nodes(x, rank, nodes, NULL);
    for (int i = 0; i < count; i++) {
      at[stack.count] = rank == x->rank ? tn_exchange_place_in(x, i, tensor) + piece.from
                                        : received_at(x, remote++, tensor, piece.from);
      tn_tree_push(&stack, nodes[i]);
      while (tn_tree_join(&stack))
        x->request.add(x->request.context, tensor, at[stack.count - 1], at[stack.count - 1], at[stack.count],
                       piece.bytes, tn_exchange_is_root(x, &stack));
    }
  }
  if (piece.bytes > 0) memcpy(x->sums + x->start[tensor] * TN_TREE_CHUNK + piece.from, at[0], piece.bytes);
}

bool tn_exchange_finish_messages(tn_exchange *x) {
  if (!tn_transport_wait(x->request.transport)) return false;
  for (int t = 0; t < x->request.count; t++) add_up(x, t);
  for (int owner = 0; owner < x->active; owner++)
    if (!share_sums(x, owner)) return false;
  return tn_transport_wait(x->request.transport);
}
