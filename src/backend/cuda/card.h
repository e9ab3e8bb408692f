/* backend/cuda/card.h: a card of this machine: what it is, its memory, its queue.
 *
 * Commands go into one queue and run in that order; only tn_card_wait and tn_card_finish wait. The first
 * failure of the driver is kept: every later call does nothing and returns failure. */
#ifndef TN_BACKEND_CUDA_CARD_H
#define TN_BACKEND_CUDA_CARD_H

#include "backend/cuda/queue.h"
#include "base/heap.h"

#define TN_CARD_LIMIT 16

typedef struct {
  char name[128];
  size_t bytes;            /* of memory */
  int major, minor;        /* compute capability */
  int multiprocessors;
  const char *why_not;     /* why this build cannot use it, or NULL */
} tn_card_info;
/* Writes the cards of this machine, at most TN_CARD_LIMIT, and returns how many. *why says why there are
 * none. */
int tn_card_list(tn_card_info *cards, const char **why);
/* Why this build has no kernels for cards, or NULL. */
const char *tn_card_lacks_kernels(void);

typedef struct tn_card tn_card;
/* NULL with *why, which stays valid. Loads all kernels: no file is read afterwards. */
tn_card *tn_card_open(tn_heap *heap, int index, const char **why);
void tn_card_close(tn_card *card);   /* NULL is fine */
/* The queue that launches go to; for tn_kernel_call.queue. */
tn_card_queue *tn_card_queue_of(tn_card *card);
/* Why the card has failed, or NULL. */
const char *tn_card_failure(const tn_card *card);

/* Call before a thread uses the card: one thread after another may use a session. False when the card has
 * failed. */
bool tn_card_enter(tn_card *card);

/* ---- memory ---- */
/* NULL when the card is out of memory or has failed. */
void *tn_card_allocate(tn_card *card, size_t bytes);
void tn_card_release(tn_card *card, void *memory);   /* NULL is fine */
/* Free bytes; 0 when the card has failed. */
size_t tn_card_memory_left(tn_card *card);
/* The part of it that a program may take only to be faster. */
size_t tn_card_memory_to_spare(tn_card *card);
/* Pinned memory of the host, which the card reads and writes directly. NULL when there is none left. */
void *tn_card_host_allocate(tn_card *card, size_t bytes);
void tn_card_host_release(tn_card *card, void *memory);   /* NULL is fine */
/* Copies between host and card, in the order of the queue. `put` may read pinned memory at `from` until the
 * next tn_card_wait; `to` of `get` is valid only after it. False when the card has failed. */
bool tn_card_put(tn_card *card, void *to, const void *from, size_t bytes);
bool tn_card_get(tn_card *card, void *to, const void *from, size_t bytes);
/* Within the card's memory. */
bool tn_card_copy(tn_card *card, void *to, const void *from, size_t bytes);
bool tn_card_clear(tn_card *card, void *memory, size_t bytes);

/* ---- waiting ---- */
/* Waits until the queue is empty. On a stop request, `fault` (on the card) becomes TN_FAULT_INTERRUPTED:
 * kernels that have not begun do nothing, and those that have are waited for. With a NULL fault it cannot be
 * stopped. False when the card has failed. */
bool tn_card_wait(tn_card *card, tn_stop *stop, card_fault *fault);
/* Waits likewise, then reads and clears the card's own fault, used by calls without another. False with the
 * fault: one found by kernels, of step *step, or TN_FAULT_DEVICE if the card has failed. */
bool tn_card_finish(tn_card *card, tn_fault *fault, int64_t *step);
/* Fills in the fault of a card that has failed or is out of memory. Returns false. */
bool tn_card_fail(const tn_card *card, tn_fault *fault);

/* ---- recording ---- */
/* Commands between tn_card_record and tn_card_recorded are recorded, not run; a replay queues them all at
 * once. Waiting in between is an error. */
typedef struct tn_card_recording tn_card_recording;
bool tn_card_record(tn_card *card);
/* NULL when the card has failed. */
tn_card_recording *tn_card_recorded(tn_card *card);
/* Discards the recording. */
void tn_card_unrecord(tn_card *card);
bool tn_card_replay(tn_card *card, tn_card_recording *recording);
void tn_card_forget(tn_card *card, tn_card_recording *recording);   /* NULL is fine */
/* While recording, a command depends on the one before it. This makes the next command depend on `nodes`
 * alone, so that independent commands may run in parallel. False: the driver does not support it and the
 * recording is useless, but the card has not failed. */
typedef struct tn_card_node tn_card_node;
bool tn_card_queue_after(tn_card *card, tn_card_node **nodes, size_t count);
/* The last command queued; *node is NULL if there is none since tn_card_queue_after. False as above. */
bool tn_card_queued(tn_card *card, tn_card_node **node);
#endif
