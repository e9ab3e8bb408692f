/* backend/cpu/isa/index.h: what kernels that read rows by an index share: the check of its range, the choice
 * of threads, the width of rows that have code of their own. */
#ifndef TN_BACKEND_CPU_INDEX_H
#define TN_BACKEND_CPU_INDEX_H

#include "backend/cpu/isa/isa.h"

/* Rows of 64 columns are common, and so short that counting takes as long as adding: kernels have code for
 * them alone. */
#define TN_COMMON_COLUMNS 64
#define TN_COMMON_VECTORS (TN_COMMON_COLUMNS / TN_LANES)

/* The largest of elements begin..end-1. Negative ones are the largest when they are read without a sign. */
static inline uint64_t tn_cpu_largest_index(const tn_view *index, int64_t begin, int64_t end) {
  uint64_t largest = 0;
  if (index->dtype == TN_I32) {
    const uint32_t *at = index->data;
    uint32_t most = 0;
    for (int64_t i = begin; i < end; i++) most = at[i] > most ? at[i] : most;
    return most > INT32_MAX ? UINT64_MAX : most;
  }
  const uint64_t *at = index->data;
  for (int64_t i = begin; i < end; i++) largest = at[i] > largest ? at[i] : largest;
  return largest;
}

/* Whether the `count` elements of a contiguous i32 or i64 view all lie in 0..limit-1; false as well after a
 * stop. Callers that want to know which one does not ask tn_cpu_check_index. */
static inline bool tn_cpu_index_fits(const tn_kernel_call *call, const tn_view *index, int64_t count,
                                     int64_t limit) {
  const int64_t piece = 1 << 20;
  for (int64_t i = 0; i < count; i += piece) {
    if (i > 0 && tn_stop_asked(call->stop)) return false;
    if (tn_cpu_largest_index(index, i, tn_cpu_min(i + piece, count)) >= (uint64_t)limit) return false;
  }
  return true;
}

/* Threads for work on rows that an index names, `bytes` of them in all. As long as they fit into the caches
 * of one core, that core keeps them, changed ones too, until the next step; another one would have to fetch
 * them there, which takes longer than the work. */
static inline int tn_cpu_threads_for_rows(double cost, int64_t bytes, int limit) {
  const int64_t kept = 1 << 21;
  return bytes <= kept ? 1 : tn_cpu_threads_for(cost, limit);
}
#endif
