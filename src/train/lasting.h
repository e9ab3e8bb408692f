/* train/lasting.h: the tensors that last from step to step: parameters, then the optimiser's state.
 *
 * A single process, and ranks that share no memory, hold them in their own memory, and a step changes them in
 * place. Ranks that share memory hold two copies: a step reads one, and every rank writes its pieces of the
 * other. When all have done that the copies are swapped. So a step in which a rank fails leaves the values
 * from before it complete, and rank 0 can save them. */
#ifndef TN_TRAIN_LASTING_H
#define TN_TRAIN_LASTING_H

#include "base/arena.h"
#include "cluster/transport.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

typedef struct {
  tn_heap *heap;
  tn_tensor *tensors; /* of zeros at first; what is in shared memory has no buffer */
  int count;
  char *window;       /* the two copies; NULL: memory of this process */
  size_t *start;      /* by tensor: where it is in a copy */
  size_t copy;        /* bytes of one */
  int current;        /* the copy that counts */
  size_t counted;     /* bytes that this rank answers for */
} tn_lasting;

/* Elements of a tensor, as if it had one axis. */
typedef struct {
  int64_t first, count;
} tn_elements;

/* Tensors of these types. `transport`: that of so many ranks that share memory; NULL: there are none. If
 * there is not enough shared memory for every rank alike, they are memory of each. False: no memory; free it
 * all the same. */
bool tn_lasting_make(tn_lasting *lasting, tn_heap *heap, tn_arena *arena, const tn_type *types, int count,
                     tn_transport *transport, int ranks);
void tn_lasting_free(tn_lasting *lasting);
/* A reference to a tensor of this process, a copy of a shared one. False: no memory. */
bool tn_lasting_share(const tn_lasting *lasting, int index, tn_tensor *out);

/* ---- in shared memory ---- */

/* A piece of a tensor in the copy that counts, or in the one that will after the next swap. */
tn_view tn_lasting_now(const tn_lasting *lasting, int index, tn_elements piece);
tn_view tn_lasting_next(const tn_lasting *lasting, int index, tn_elements piece);
/* When every rank has written its pieces. The data of the tensors' views is another one from then on. */
void tn_lasting_swap(tn_lasting *lasting);
#endif
