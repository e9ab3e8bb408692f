/* backend/cuda/queue.h: the queue that kernels of a card are launched into. */
#ifndef TN_BACKEND_CUDA_QUEUE_H
#define TN_BACKEND_CUDA_QUEUE_H

#include "backend/backend.h"
#include "backend/cuda/kernels/arguments.h"

typedef enum {
#define TN_CARD(name, ...) TN_CARD_##name,
#include "backend/cuda/kernels/kernels.def"
  TN_CARD_COUNT
} tn_card_kernel;

/* Bytes of shared memory that a block can have on every card from compute capability 8.0 on. */
#define TN_CARD_ROOM (99 << 10)

/* A launch goes to a real card (card.c) or to its emulation on the host (tests/gpu). */
typedef struct tn_card_queue tn_card_queue;
struct tn_card_queue {
  /* `room`: dynamic shared memory of a block (words.h: card_room), at most TN_CARD_ROOM bytes. */
  bool (*launch)(tn_card_queue *queue, tn_card_kernel kernel, int64_t blocks, int threads, int room,
                 const void *arguments, size_t bytes);
  card_fault *fault;        /* on the card */
  const uint64_t *shift;    /* on the card: see tn_plan_shift_draws */
  int64_t step;             /* of the plan; reported with a fault */
  int64_t block_limit;      /* of a launch whose threads take several elements; 0: the kernel's own */
  int multiprocessors;      /* 0: blocks run one after another */
  int room;                 /* bytes of shared memory that a multiprocessor has for all its blocks */
};

/* The kernels of the table, for a queue in every call: tn_kernel_call.queue. */
const tn_backend *tn_backend_cuda(void);

/* Translates a fault of the card to one of the host; false when there is one. */
bool tn_card_fault_of(const card_fault *from, tn_fault *fault);
#endif
