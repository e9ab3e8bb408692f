/* backend/cuda/card.h: a card of this machine: what it is, its memory, its queue.
 *
 * All that is asked of a card goes into one queue and is done in that order; only tn_card_wait waits. The
 * first failure of the driver is kept: everything after it does nothing and says so. */
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
  const char *why_not;     /* why this build cannot use it; NULL: it can */
} tn_card_info;
/* The cards of this machine, at most TN_CARD_LIMIT; how many. *why says why there is none. */
int tn_card_list(tn_card_info *cards, const char **why);
/* Whether this build has kernels for cards. */
bool tn_card_has_kernels(void);

typedef struct tn_card tn_card;
/* NULL with *why, which stays valid. All kernels are loaded: afterwards no file is read. */
tn_card *tn_card_open(tn_heap *heap, int index, const char **why);
void tn_card_close(tn_card *card);   /* NULL is fine */
/* Where kernels go; for tn_kernel_call.queue. */
tn_card_queue *tn_card_queue_of(tn_card *card);
/* Why the card has failed; NULL: it has not. */
const char *tn_card_failure(const tn_card *card);

/* Before a thread uses the card: a session may be used by one thread after another. False when it has
 * failed. */
bool tn_card_enter(tn_card *card);

/* ---- memory ---- */
/* NULL when the card has no memory left, or has failed. */
void *tn_card_allocate(tn_card *card, size_t bytes);
void tn_card_release(tn_card *card, void *memory);   /* NULL is fine */
/* Bytes that nobody uses; 0 when the card has failed. */
size_t tn_card_memory_left(tn_card *card);
/* Memory of the host that a card reads and writes without a copy in between. NULL: there is none. */
void *tn_card_host_allocate(tn_card *card, size_t bytes);
void tn_card_host_release(tn_card *card, void *memory);   /* NULL is fine */
/* Between the host and the card, in the order of the queue. `put` may still read `from`, if it came from
 * tn_card_host_allocate, until the next tn_card_wait; `get` has written `to` after it. False when the card
 * has failed. */
bool tn_card_put(tn_card *card, void *to, const void *from, size_t bytes);
bool tn_card_get(tn_card *card, void *to, const void *from, size_t bytes);
/* On the card. */
bool tn_card_copy(tn_card *card, void *to, const void *from, size_t bytes);
bool tn_card_clear(tn_card *card, void *memory, size_t bytes);

/* ---- waiting ---- */
/* Waits for all that was queued. When it is stopped, `fault` (on the card) becomes TN_FAULT_INTERRUPTED, so
 * that kernels that have not begun do nothing; it still waits for those that have. NULL: it is never stopped.
 * False when the card has failed. */
bool tn_card_wait(tn_card *card, tn_stop *stop, card_fault *fault);
/* As above, and looks at the card's own fault, that of calls which bring no other. False with the fault: one
 * that kernels have found, whose step is *step, or a card that has failed (TN_FAULT_DEVICE). The queue is
 * fresh afterwards. */
bool tn_card_finish(tn_card *card, tn_fault *fault, int64_t *step);
/* The fault of a card that has failed, or that has no memory left. False. */
bool tn_card_fail(const tn_card *card, tn_fault *fault);

/* ---- recording ---- */
/* What is queued between begin and end is not carried out but kept, to be queued as one. Nothing may be
 * waited for in between. */
typedef struct tn_card_recording tn_card_recording;
bool tn_card_record(tn_card *card);
/* NULL when the card has failed. */
tn_card_recording *tn_card_recorded(tn_card *card);
/* Ends a recording that nobody wants. */
void tn_card_unrecord(tn_card *card);
bool tn_card_replay(tn_card *card, tn_card_recording *recording);
void tn_card_forget(tn_card *card, tn_card_recording *recording);   /* NULL is fine */
/* While recording, everything waits for what was queued before it, unless this says that what is queued next
 * waits for these alone; what it waits for may be done side by side. False: the driver does not know how, and
 * the recording is of no use. The card has not failed. */
typedef struct tn_card_node tn_card_node;
bool tn_card_queue_after(tn_card *card, tn_card_node **nodes, size_t count);
/* What was queued last; *node is NULL where nothing was since tn_card_queue_after. False as above. */
bool tn_card_queued(tn_card *card, tn_card_node **node);
#endif
