/* base/vec.h: a growing array of any type.
 *
 *   tn_vec(int) v = {0};
 *   if (!tn_vec_push(heap, &v, 7)) ...out of memory, v unchanged
 *   v.at[0], v.count
 *   tn_vec_free(heap, &v);
 */
#ifndef TN_BASE_VEC_H
#define TN_BASE_VEC_H

#include "base/heap.h"

#define tn_vec(T) struct { T *at; size_t count, capacity; }

#define tn_vec_reserve(heap, v, extra)                                                  \
  ((v)->count + (extra) <= (v)->capacity ||                                             \
   ((v)->at = tn_vec_grow((heap), (v)->at, &(v)->capacity, sizeof *(v)->at,             \
                          (v)->count, (extra)),                                         \
    (v)->count + (extra) <= (v)->capacity))
#define tn_vec_push(heap, v, item) \
  (tn_vec_reserve((heap), (v), 1) ? ((v)->at[(v)->count++] = (item), true) : false)
#define tn_vec_pop(v) ((v)->at[--(v)->count])
#define tn_vec_last(v) ((v)->at[(v)->count - 1])
#define tn_vec_free(heap, v)                                                            \
  (tn_heap_free((heap), (v)->at, (v)->capacity * sizeof *(v)->at),                      \
   (v)->at = NULL, (v)->count = (v)->capacity = 0)

/* Returns the array moved to a capacity of at least count + extra and updates
 * *capacity; on failure returns `at` and leaves *capacity. */
void *tn_vec_grow(tn_heap *heap, void *at, size_t *capacity, size_t item_bytes, size_t count,
                  size_t extra);
#endif
