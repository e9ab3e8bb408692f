/* backend/cpu/isa/sums.h: the order of sums (docs/numerics.md), for every kernel that adds up.
 *
 * Chunks of 512 elements, 16 lanes in a chunk, a tree over the lanes, a tree over
 * the chunks. The tree over chunks is built as they come: like the digits of a
 * binary counter, level k holds the sum of 2^k chunks until a second one joins
 * it. So a sum needs no memory that grows with its length, and 2^k neighbouring
 * chunks from a multiple of 2^k on are a whole subtree, which is how threads
 * share a long sum without changing it. */
#ifndef TN_BACKEND_CPU_SUMS_H
#define TN_BACKEND_CPU_SUMS_H

#include "backend/cpu/isa/isa.h"

#define TN_SUM_CHUNK 512
#define TN_SUM_LANES 16
#define TN_SUM_LEVELS 34   /* of the tree: chunks of TN_ELEMENT_LIMIT elements, and some */

/* The first n lanes from memory, `fill` in the others. */
static inline VF tn_load_filled(const float *p, int n, float fill) {
  static const int32_t lane[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
  return vf_select(vi_lt(vi_load(lane), vi_set(n)), vf_load_part(p, n), vf_set(fill));
}

/* The tree over chunks, for one sum. */
#define TN_SUM_TREE(name, type)                                                           \
  typedef struct {                                                                        \
    uint64_t count; /* chunks so far; its bits say which levels are taken */              \
    type level[TN_SUM_LEVELS];                                                            \
  } name;                                                                                 \
  static inline void name##_add(name *tree, type value) {                                 \
    int level = 0;                                                                        \
    for (uint64_t taken = tree->count++; taken & 1; taken >>= 1) value = tree->level[level++] + value; \
    tree->level[level] = value;                                                           \
  }                                                                                       \
  /* What is left on the levels joins from the right. */                                  \
  static inline type name##_end(const name *tree) {                                       \
    uint64_t taken = tree->count;                                                         \
    int level = 0;                                                                        \
    for (; !(taken & 1); taken >>= 1) level++;                                            \
    type value = tree->level[level];                                                      \
    for (taken >>= 1, level++; taken; taken >>= 1, level++)                               \
      if (taken & 1) value = tree->level[level] + value;                                  \
    return value;                                                                         \
  }
TN_SUM_TREE(tn_sum_f32, float)
TN_SUM_TREE(tn_sum_f64, double)

/* The tree over the lanes of a chunk. */
#define TN_SUM_JOIN_LANES(name, type)                                   \
  static inline type name(type *lane) {                                 \
    for (int k = TN_SUM_LANES / 2; k > 0; k /= 2)                       \
      for (int l = 0; l < k; l++) lane[l] = lane[l] + lane[l + k];      \
    return lane[0];                                                     \
  }
TN_SUM_JOIN_LANES(tn_sum_lanes_f32, float)
TN_SUM_JOIN_LANES(tn_sum_lanes_f64, double)

/* The sum of n contiguous floats. */
#define sum_row TN_CPU_NAME(sum_row)
float sum_row(const float *row, int64_t n);
#define sum_row_f64 TN_CPU_NAME(sum_row_f64)
double sum_row_f64(const double *row, int64_t n);
/* The largest of n >= 1 contiguous floats: NaN wins, -0 is below +0. */
#define max_row TN_CPU_NAME(max_row)
float max_row(const float *row, int64_t n);
#define max_row_f64 TN_CPU_NAME(max_row_f64)
double max_row_f64(const double *row, int64_t n);
#endif
