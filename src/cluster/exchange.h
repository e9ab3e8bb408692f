/* cluster/exchange.h: the sums of one step's gradients over all shards of all ranks.
 *
 * A step writes the tensors of each shard that this rank owns into memory of the exchange, and says when each
 * is complete. The exchange adds them up along the tree of cluster/tree.h and keeps as few
 * copies as possible. With several ranks, the owner of each slice adds up the sums of all ranks.
 * Ranks that share memory read them in place; otherwise complete sums are sent to the owners while
 * the rest is still being computed, and the owners send the totals to all ranks. */
#ifndef TN_CLUSTER_EXCHANGE_H
#define TN_CLUSTER_EXCHANGE_H

#include "base/heap.h"
#include "cluster/transport.h"
#include "cluster/tree.h"

typedef struct tn_exchange tn_exchange;

typedef struct {
  tn_transport *transport; /* NULL: this process owns every shard */
  int shards;
  int count;           /* of tensors */
  const size_t *bytes; /* of each */
  /* out = x + y, for so many bytes of a tensor; `out` may be `x`. `last`: that is the sum over all shards. */
  void (*add)(void *context, int tensor, void *out, const void *x, const void *y, size_t bytes, bool last);
  void *context;
} tn_exchange_request;

/* NULL: no memory. The rank has a shard (tn_tree_active). */
tn_exchange *tn_exchange_new(tn_heap *heap, const tn_exchange_request *request);
void tn_exchange_free(tn_exchange *exchange);

/* The shards of this rank. */
tn_shards tn_exchange_owned(const tn_exchange *exchange);
/* The shards are computed in order; the first begins a step. False: the transport has failed. */
bool tn_exchange_begin(tn_exchange *exchange, int shard);
/* Where the tensor of this shard is to be written; aligned to 64 bytes. */
void *tn_exchange_place(const tn_exchange *exchange, int tensor);
/* It is written; once for each tensor of a shard, in any order. False: the transport has failed. */
bool tn_exchange_ready(tn_exchange *exchange, int tensor);
/* After the last shard: waits for the sums. False: the transport has failed. */
bool tn_exchange_finish(tn_exchange *exchange);
/* The sum over all shards, until the next step begins. The address is the same in every step. */
void *tn_exchange_sum(const tn_exchange *exchange, int tensor);
/* The numbers of bytes that `add` is called with for a tensor; 0: fewer are. */
#define TN_EXCHANGE_SIZES 3
void tn_exchange_sizes(const tn_exchange *exchange, int tensor, size_t sizes[TN_EXCHANGE_SIZES]);

/* ---- in shared memory ---- */

/* How many ranks share memory for this; 0: they do not. */
int tn_exchange_sharing(const tn_exchange *exchange);
/* What this rank owns of a tensor, and of one of so many bytes that is not exchanged. */
tn_piece tn_exchange_own(const tn_exchange *exchange, int tensor);
tn_piece tn_exchange_own_of(const tn_exchange *exchange, size_t bytes);
/* Instead of tn_exchange_finish: waits only for the sums that this rank owns. Those of others are
 * available after the next tn_exchange_meet, and no shard may begin before it. False: the transport
 * has failed. */
bool tn_exchange_finish_own(tn_exchange *exchange);
/* A barrier: waits until all ranks have called it. Their earlier writes to shared memory are then
 * visible. False: the transport has failed. */
bool tn_exchange_meet(tn_exchange *exchange);

typedef struct {
  int copies;    /* of all tensors, for sums that are not final */
  size_t memory; /* bytes of all buffers; of shared memory what this rank writes */
  uint64_t sent; /* bytes sent so far, without what the transport adds */
} tn_exchange_stats;
tn_exchange_stats tn_exchange_stats_of(const tn_exchange *exchange);
#endif
