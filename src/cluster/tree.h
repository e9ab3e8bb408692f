/* cluster/tree.h: which rank computes which part of a sharded training step. Pure functions.
 *
 * `shards = s` says what is computed: the sum over s shards along one binary tree. A node of the tree is the
 * range [i * 2^k, min((i + 1) * 2^k, s)); its sum is that of its left half plus that of its right half. Ranks
 * determine who computes it: each owns a range of neighbouring shards and adds up the largest nodes
 * inside its range. The owners of slices add these up: each rank owns some chunks of the gradients,
 * gets the sums of the others for them, and sends the total to all ranks.
 *
 * An adder pushes nodes from left to right and joins the two topmost while they are siblings. So every sum
 * consists of the same additions for every number of ranks. */
#ifndef TN_CLUSTER_TREE_H
#define TN_CLUSTER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shards first, ..., end - 1. */
typedef struct {
  int first, end;
} tn_shards;

/* Ranks that have a shard; those after them idle. */
int tn_tree_active(int shards, int ranks);
/* The shards of an active rank; sizes differ by at most one. */
tn_shards tn_tree_owned(int shards, int active, int rank);
/* Whether the two, left and right, are the halves of a node. */
bool tn_tree_siblings(int shards, tn_shards left, tn_shards right);

/* Nodes that have been added up and not yet joined. */
#define TN_TREE_DEPTH 64
typedef struct {
  int shards; /* of the whole tree */
  int count;
  tn_shards node[TN_TREE_DEPTH];
} tn_tree_stack;
void tn_tree_push(tn_tree_stack *stack, tn_shards node);
/* Joins the two topmost nodes if they are siblings: the sum of the upper one is to be added to that of the
 * lower one, whose index is then count - 1. */
bool tn_tree_join(tn_tree_stack *stack);
/* The largest nodes of a range, from left to right; how many. `most`, if not NULL: how many were there at a
 * time while they were added up, the next shard included. */
int tn_tree_nodes(int shards, tn_shards range, tn_shards out[TN_TREE_DEPTH], int *most);

/* ---- slices ----
 *
 * Tensors follow each other, and each begins at a new chunk. Chunks are assigned to the ranks in
 * order. */

#define TN_TREE_CHUNK 4096 /* bytes: 1024 elements of f32, 512 of f64 */

typedef struct {
  size_t from, bytes; /* of a tensor */
} tn_piece;

/* The chunks of a tensor of so many bytes. */
size_t tn_tree_chunks(size_t bytes);
/* What a rank owns of a tensor that begins at chunk `start` of `chunks`; 0 bytes: nothing. */
tn_piece tn_tree_owned_piece(size_t chunks, size_t start, size_t bytes, int active, int rank);
#endif
