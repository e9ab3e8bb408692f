/* cluster/tree.c: computes ranges of shards, nodes of the tree, and slices of tensors. */
#include "cluster/tree.h"

int tn_tree_active(int shards, int ranks) { return ranks < shards ? ranks : shards; }

tn_shards tn_tree_owned(int shards, int active, int rank) {
  int64_t all = shards;
  return (tn_shards){ (int)(all * rank / active), (int)(all * (rank + 1) / active) };
}

/* A left half is whole: its length is a power of two. */
bool tn_tree_siblings(int shards, tn_shards left, tn_shards right) {
  int64_t width = left.end - left.first, end = left.first + 2 * width;
  bool whole = (width & (width - 1)) == 0 && left.first % (2 * width) == 0;
  return whole && left.end == right.first && right.end == (end < shards ? end : shards);
}

void tn_tree_push(tn_tree_stack *stack, tn_shards node) { stack->node[stack->count++] = node; }

bool tn_tree_join(tn_tree_stack *stack) {
  if (stack->count < 2) return false;
  tn_shards *left = &stack->node[stack->count - 2], right = stack->node[stack->count - 1];
  if (!tn_tree_siblings(stack->shards, *left, right)) return false;
  left->end = right.end;
  stack->count--;
  return true;
}

int tn_tree_nodes(int shards, tn_shards range, tn_shards out[TN_TREE_DEPTH], int *most) {
  tn_tree_stack stack = { .shards = shards };
  int deepest = 0;
  for (int i = range.first; i < range.end; i++) {
    tn_tree_push(&stack, (tn_shards){ i, i + 1 });
    if (stack.count > deepest) deepest = stack.count;
    while (tn_tree_join(&stack)) continue;
  }
  for (int i = 0; i < stack.count; i++) out[i] = stack.node[i];
  if (most) *most = deepest;
  return stack.count;
}

size_t tn_tree_chunks(size_t bytes) { return bytes / TN_TREE_CHUNK + (bytes % TN_TREE_CHUNK != 0); }

/* The first chunk of a rank; chunks * rank / ranks without the product. */
static size_t first_chunk(size_t chunks, int active, int rank) {
  size_t ranks = (size_t)active, r = (size_t)rank;
  return chunks / ranks * r + chunks % ranks * r / ranks;
}

static size_t byte_of(size_t chunk, size_t start, size_t bytes) {
  size_t at = chunk > start ? (chunk - start) * TN_TREE_CHUNK : 0;
  return at < bytes ? at : bytes;
}

tn_piece tn_tree_owned_piece(size_t chunks, size_t start, size_t bytes, int active, int rank) {
  size_t from = byte_of(first_chunk(chunks, active, rank), start, bytes);
  size_t end = byte_of(first_chunk(chunks, active, rank + 1), start, bytes);
  return (tn_piece){ from, end - from };
}
