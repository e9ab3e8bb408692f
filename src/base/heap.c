/* base/heap.c: the one place that talks to the C library's allocator.
 *
 * admit() decides about every request before the system is called, from counters alone: the limit,
 * an injected failure, a request to stop, and overflow. Callers pass the size again on release, so
 * a block needs no header.
 *
 * Fresh pages are expensive (a page fault per 4 KiB), so blocks of several megabytes are aligned to
 * huge pages and request them, except for a last page that they would not fill. That is only
 * advice: if it is refused or unknown, only the time changes. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1   /* madvise */
#endif
#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4 << 10) /* the smallest; where pages are larger, the advice may be refused */

bool tn_size_mul(size_t a, size_t b, size_t *out) {
  if (b != 0 && a > SIZE_MAX / b) return false;
  *out = a * b;
  return true;
}

bool tn_size_add(size_t a, size_t b, size_t *out) {
  if (a > SIZE_MAX - b) return false;
  *out = a + b;
  return true;
}

static bool is_within(const tn_heap *heap, size_t total, size_t bound) {
  size_t reserve = heap->reporting ? TN_HEAP_RESERVE : 0;
  return bound == 0 || total <= bound || total - bound <= reserve;
}

static bool injected_failure(const tn_heap *heap) {
  if (heap->fail_at == 0) return false;
  if (heap->refuses) return heap->requests >= heap->fail_at && heap->refuses(heap->requests);
  return heap->requests == heap->fail_at || (heap->fail_onwards && heap->requests > heap->fail_at);
}

static bool asked_to_stop(tn_heap *heap) {
  if (!heap->stop_refuses) return false;
  if (!heap->stopped) heap->stopped = tn_stop_asked(heap->stop);
  return heap->stopped;
}

/* Whether `used` may go from its present value, less old_bytes, to new_bytes more. */
static bool admit(tn_heap *heap, size_t old_bytes, size_t new_bytes) {
  assert(old_bytes <= heap->used);
  size_t others = heap->used - old_bytes, total;
  heap->requests++;
  if (!injected_failure(heap) && !asked_to_stop(heap) && tn_size_add(others, new_bytes, &total) &&
      is_within(heap, total, heap->limit) && is_within(heap, total, heap->ceiling)) {
    return true;
  }
  heap->failed = true;
  return false;
}

static void *account(tn_heap *heap, void *at, size_t old_bytes, size_t new_bytes) {
  if (!at) {
    heap->failed = true;
    return NULL;
  }
  heap->used = heap->used - old_bytes + new_bytes;
  if (heap->used > heap->peak) heap->peak = heap->used;
  return at;
}

static void ask_for_huge_pages(void *at, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  (void)madvise(at, bytes, MADV_HUGEPAGE);
#else
  (void)at;
  (void)bytes;
#endif
}

/* Declines a huge page for the last `room` bytes of a block, which would not fill it. */
static void refuse_huge_page(void *at, size_t room) {
#if defined(MADV_NOHUGEPAGE)
  if (room > 0) (void)madvise(at, room, MADV_NOHUGEPAGE);
#else
  (void)at;
  (void)room;
#endif
}

/* A block of several huge pages is fresh from the system and has not been touched yet. */
void *tn_heap_alloc(tn_heap *heap, size_t bytes) {
  if (bytes == 0 || !admit(heap, 0, bytes)) return NULL;
  char *at = calloc(1, bytes);
  if (at && bytes >= 2 * HUGE_PAGE_BYTES) {
    size_t skip = (size_t)(0 - (uintptr_t)at) % HUGE_PAGE_BYTES;
    ask_for_huge_pages(at + skip, (bytes - skip) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES);
  }
  return account(heap, at, 0, bytes);
}

void *tn_heap_alloc_aligned(tn_heap *heap, size_t bytes, size_t alignment) {
  assert(alignment >= 64 && (alignment & (alignment - 1)) == 0);
  if (bytes == 0 || !admit(heap, 0, bytes)) return NULL;
  bool large = bytes >= HUGE_PAGE_BYTES;
  if (large && alignment < HUGE_PAGE_BYTES) alignment = HUGE_PAGE_BYTES;
  size_t rounded;
  if (!tn_size_add(bytes, alignment - 1, &rounded)) return account(heap, NULL, 0, 0);
  rounded &= ~(alignment - 1);   /* C11 wants a multiple of the alignment */
  char *at = aligned_alloc(alignment, rounded);
  if (at && large) {
    size_t filled = bytes / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    ask_for_huge_pages(at, filled);
    refuse_huge_page(at + filled, rounded - filled);
  }
  return account(heap, at, 0, bytes);
}

/* A block that grows gives the same advice for all its pages, because the system can move it
 * without copying only then. The end, which fills no huge page, gets none. */
static void ask_while_growing(char *at, size_t bytes) {
  if (bytes < 2 * HUGE_PAGE_BYTES) return;
  size_t before = (uintptr_t)at % PAGE_BYTES, after = (size_t)(0 - ((uintptr_t)at + bytes)) % PAGE_BYTES;
  ask_for_huge_pages(at - before, before + bytes + after);
}

void *tn_heap_resize(tn_heap *heap, void *at, size_t old_bytes, size_t new_bytes) {
  if (!at) return tn_heap_alloc(heap, new_bytes);
  if (new_bytes == 0) {
    tn_heap_free(heap, at, old_bytes);
    return NULL;
  }
  if (!admit(heap, old_bytes, new_bytes)) return NULL;
  char *moved = realloc(at, new_bytes);
  if (moved && new_bytes > old_bytes) ask_while_growing(moved, new_bytes);
  if (moved && new_bytes > old_bytes) memset(moved + old_bytes, 0, new_bytes - old_bytes);
  return account(heap, moved, old_bytes, new_bytes);
}

void tn_heap_free(tn_heap *heap, void *at, size_t bytes) {
  if (!at) return;
  assert(bytes <= heap->used);
  heap->used -= bytes;
  free(at);
}

void tn_heap_free_aligned(tn_heap *heap, void *at, size_t bytes) {
  tn_heap_free(heap, at, bytes);
}

bool tn_heap_count(tn_heap *heap, size_t old_bytes, size_t new_bytes) {
  if (new_bytes > old_bytes && !admit(heap, old_bytes, new_bytes)) return false;
  assert(old_bytes <= heap->used);
  account(heap, heap, old_bytes, new_bytes);
  return true;
}
