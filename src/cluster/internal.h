/* cluster/internal.h: shared by the files of an exchange. */
#ifndef TN_CLUSTER_INTERNAL_H
#define TN_CLUSTER_INTERNAL_H

#include "cluster/exchange.h"

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
  /* With other ranks. */
  char *sums;             /* all tensors */
  uint64_t sent;
  /* By messages. */
  int next;               /* the tensor of the last shard that is sent next, once it is written */
  int nodes;              /* of this rank, in buffers 0, ... */
  int others;             /* nodes of the other ranks */
  size_t slice, slice_from; /* bytes that this rank owns, and where they begin */
  char *received;         /* slices of the nodes of other ranks, in the order of ranks */
  /* In shared memory. */
  char *window;           /* the buffers of all ranks, one after another, then the sums; NULL: no window */
  int *before;            /* by rank: buffers of the ranks before it */
  size_t counted;         /* bytes of the window that this rank answers for */
  char *partial;          /* sums of a block that are not final */
  size_t block;           /* bytes of one of them */
  int partials;
  char *heard;            /* by rank: where its signal arrives */
};

/* The bytes of a buffer: all tensors side by side. */
size_t tn_exchange_buffer_bytes(const tn_exchange *x);
/* Where a tensor is in one of this rank's buffers. */
char *tn_exchange_place_in(const tn_exchange *x, int buffer, int tensor);
tn_piece tn_exchange_piece_of(const tn_exchange *x, int tensor, int rank);
/* The nodes that a rank adds up, and how many buffers it needs for that. */
int tn_exchange_nodes(const tn_exchange *x, int rank, tn_shards nodes[TN_TREE_DEPTH], int *depth);
bool tn_exchange_is_root(const tn_exchange *x, const tn_tree_stack *stack);

/* Over messages (exchange_messages.c). */
bool tn_exchange_make_messages(tn_exchange *x);
void tn_exchange_free_messages(tn_exchange *x);
bool tn_exchange_expect(tn_exchange *x);            /* the last shard begins: others may send from now on */
bool tn_exchange_pass_on(tn_exchange *x);           /* sends the tensors that have been written */
bool tn_exchange_finish_messages(tn_exchange *x);

/* In shared memory (exchange_window.c). True without a window: there is none. */
bool tn_exchange_make_window(tn_exchange *x);
void tn_exchange_free_window(tn_exchange *x);
bool tn_exchange_finish_window(tn_exchange *x);
#endif
