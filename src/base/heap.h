/* base/heap.h: all memory of the library is allocated here.
 *
 * A heap counts the memory in use, enforces a limit, and can fail the n-th allocation on purpose,
 * so that out-of-memory is an ordinary, testable outcome. It belongs to one session and is used by
 * one thread at a time. Sizes are passed back on release; the caller always knows them. */
#ifndef TN_BASE_HEAP_H
#define TN_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stack.h"
#include "base/stop.h"

#define TN_HEAP_RESERVE ((size_t)1 << 20) /* beyond the limits, for reporting what was refused */

typedef struct {
  size_t used, peak;   /* bytes */
  size_t limit;        /* what the user allows; 0: all */
  size_t ceiling;      /* what the machine has; 0: not known */
  uint64_t requests;   /* allocations and growths so far */
  uint64_t fail_at;    /* the request (counted from 1) that fails; 0: none */
  bool fail_onwards;   /* every request from fail_at on fails, not only that one */
  bool (*refuses)(uint64_t request);   /* if set, tests decide about each request from fail_at on */
  bool piecewise;      /* arenas allocate each piece separately, so that tests can fail any of them */
  bool failed;         /* some request has been refused */
  bool reporting;      /* an error is being reported: TN_HEAP_RESERVE more bytes are available */
  tn_stop *stop;       /* of the session, for all code that has its heap; NULL: nothing stops */
  bool stop_refuses;   /* a stop refuses memory, so that whatever grows ends where it can fail anyway */
  bool stopped;        /* it has */
  tn_stack stack;      /* of the thread that uses the session */
  struct tn_pool *pool; /* of the session: threads for all code that has its heap; NULL: none (base/pool.h) */
} tn_heap;

/* Zeroed memory aligned for any scalar type, or NULL. A size of 0 gives NULL without failing. */
void *tn_heap_alloc(tn_heap *heap, size_t bytes);
/* The same, aligned to `alignment` (a power of two of at least 64), not zeroed;
 * large blocks ask for huge pages. Released with tn_heap_free_aligned. */
void *tn_heap_alloc_aligned(tn_heap *heap, size_t bytes, size_t alignment);
/* Grows or shrinks; new bytes are zero. On failure NULL, and `at` stays valid. */
void *tn_heap_resize(tn_heap *heap, void *at, size_t old_bytes, size_t new_bytes);
void tn_heap_free(tn_heap *heap, void *at, size_t bytes);
void tn_heap_free_aligned(tn_heap *heap, void *at, size_t bytes);
/* Counts memory that another library holds for the session; `old_bytes` of it are already counted.
 * False, without a change, if an allocation of that size would be refused; a decrease never is. */
bool tn_heap_count(tn_heap *heap, size_t old_bytes, size_t new_bytes);

/* Checked sizes: false when the result does not fit; *out is then untouched. */
bool tn_size_mul(size_t a, size_t b, size_t *out);
bool tn_size_add(size_t a, size_t b, size_t *out);
#endif
