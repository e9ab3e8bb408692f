/* backend/cuda/queue.h: where kernels of a card are put, one after another. */
#ifndef TN_BACKEND_CUDA_QUEUE_H
#define TN_BACKEND_CUDA_QUEUE_H

#include "backend/backend.h"
#include "backend/cuda/kernels/arguments.h"

typedef enum {
#define TN_CARD(name, ...) TN_CARD_##name,
#include "backend/cuda/kernels/kernels.def"
  TN_CARD_COUNT
} tn_card_kernel;

/* Bytes of shared memory that every card from compute capability 8.0 on lets a block have. */
#define TN_CARD_ROOM (99 << 10)

/* A launch goes to a real card (card.c) or to the host that plays one (tests/gpu). */
typedef struct tn_card_queue tn_card_queue;
struct tn_card_queue {
  /* `room` is the shared memory of a block that its kernel has beside its own (words.h: card_room), at most
   * TN_CARD_ROOM bytes. */
  bool (*launch)(tn_card_queue *queue, tn_card_kernel kernel, int64_t blocks, int threads, int room,
                 const void *arguments, size_t bytes);
  card_fault *fault;        /* on the card */
  const uint64_t *shift;    /* on the card: see tn_plan_shift_draws */
  int64_t step;             /* of the plan; a fault names it */
  int64_t block_limit;      /* of a launch whose threads take several elements; 0: the kernel's own */
};

/* The kernels of the table, for a queue in every call: tn_kernel_call.queue. */
const tn_backend *tn_backend_cuda(void);

/* A fault of the card as kernels of the host would have filled it in; false when it is one. */
bool tn_card_fault_of(const card_fault *from, tn_fault *fault);
#endif
