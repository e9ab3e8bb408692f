/* backend/cpu/isa/index.h: whether an index stays inside what it looks into, and who looks. */
#ifndef TN_BACKEND_CPU_INDEX_H
#define TN_BACKEND_CPU_INDEX_H

#include "backend/cpu/isa/isa.h"

/* Whether the `count` elements of a contiguous i32 or i64 view all lie in 0..limit-1. Who wants to know which
 * one does not asks tn_cpu_check_index. Negative ones are the largest when they are read without a sign. */
static inline bool tn_cpu_index_fits(const tn_view *index, int64_t count, int64_t limit) {
  uint64_t largest = 0;
  if (count == 0) return true;
  if (index->dtype == TN_I32) {
    const uint32_t *at = index->data;
    uint32_t most = 0;
    for (int64_t i = 0; i < count; i++) most = at[i] > most ? at[i] : most;
    largest = most > INT32_MAX ? UINT64_MAX : most;
  } else {
    const uint64_t *at = index->data;
    for (int64_t i = 0; i < count; i++) largest = at[i] > largest ? at[i] : largest;
  }
  return largest < (uint64_t)limit;
}

/* Threads for work on rows that an index names, `bytes` of them in all. As long as they fit into the caches
 * of one core, that core keeps them, changed ones too, until the next step; another one would have to fetch
 * them there, which takes longer than the work. */
static inline int tn_cpu_threads_for_rows(double cost, int64_t bytes, int limit) {
  const int64_t kept = 1 << 21;
  return bytes <= kept ? 1 : tn_cpu_threads_for(cost, limit);
}
#endif
