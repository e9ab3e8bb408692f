/* base/vec.c: the one function that the vector macros call.
 *
 * Capacity grows by half, so that n pushes cost O(n) and a freed block can be
 * reused by a later growth of the same vector. The first block is a cache line,
 * or four items where they are larger: most vectors are short. */
#include "base/vec.h"

static size_t first_capacity(size_t item_bytes) {
  return item_bytes <= 16 ? 64 / item_bytes : 4;
}

/* At least `needed`, more if that leaves room for later; what the machine can
 * address is the only bound. */
static size_t next_capacity(size_t capacity, size_t needed, size_t item_bytes) {
  size_t grown;
  if (!tn_size_add(capacity, capacity / 2, &grown)) grown = needed;
  if (grown < first_capacity(item_bytes)) grown = first_capacity(item_bytes);
  return grown > needed ? grown : needed;
}

void *tn_vec_grow(tn_heap *heap, void *at, size_t *capacity, size_t item_bytes, size_t count,
                  size_t extra) {
  size_t needed, bytes;
  if (!tn_size_add(count, extra, &needed)) {
    heap->failed = true;
    return at;
  }
  if (needed <= *capacity) return at;
  size_t room = next_capacity(*capacity, needed, item_bytes);
  if (!tn_size_mul(room, item_bytes, &bytes)) {
    heap->failed = true;
    return at;
  }
  void *moved = tn_heap_resize(heap, at, *capacity * item_bytes, bytes);
  if (!moved) return at;
  *capacity = room;
  return moved;
}
