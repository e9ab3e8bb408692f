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

#define TN_SUM_CHUNK  512
#define TN_SUM_LANES  16
#define TN_SUM_LEVELS 34 /* of the tree: chunks of TN_ELEMENT_LIMIT elements, and some */
#define TN_SUM_GROUPS (TN_SUM_LANES / TN_LANES) /* vectors that hold the lanes of a chunk */

static inline int64_t tn_sum_chunks(int64_t n) { return (n + TN_SUM_CHUNK - 1) / TN_SUM_CHUNK; }

static inline VM tn_first_lanes(int n) {
  static const int32_t lane[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
  return vi_lt(vi_load(lane), vi_set(n));
}

/* The first n lanes from memory, `fill` in the others. */
static inline VF tn_load_filled(const float *p, int n, float fill) {
  return vf_select(tn_first_lanes(n), vf_load_part(p, n), vf_set(fill));
}

/* ---- the tree over the lanes: lane l takes lane l + 8, then l + 4, l + 2, l + 1 ----
 * As long as there are several vectors, whole vectors are joined; then halves of one. */
#define TN_JOIN_LANES(name, type, JOIN)                                                                      \
  static inline type name(type *lane, int lanes) {                                                           \
    for (int k = lanes / 2; k > 0; k /= 2)                                                                   \
      for (int l = 0; l < k; l++) lane[l] = JOIN(lane[l], lane[l + k]);                                      \
    return lane[0];                                                                                          \
  }
#define TN_PLUS(a, b) ((a) + (b))
TN_JOIN_LANES(tn_sum_lanes_f32, float, TN_PLUS)
TN_JOIN_LANES(tn_sum_lanes_f64, double, TN_PLUS)

#if defined(__AVX2__) && !defined(TN_SIMD_SCALAR)
static inline float tn_sum_halves(__m256 v) {
  __m128 a = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  __m128 b = _mm_add_ps(a, _mm_movehl_ps(a, a));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
#endif

static inline float tn_sum_vectors(VF *group) {
#if TN_LANES == 16
  __m512 v = group[0];
  return tn_sum_halves(_mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1)));
#elif TN_LANES == 8
  return tn_sum_halves(group[0] + group[1]);
#else
  for (int k = TN_SUM_GROUPS / 2; k > 0; k /= 2)
    for (int g = 0; g < k; g++) group[g] = group[g] + group[g + k];
  float lane[TN_LANES];
  vf_store(lane, group[0]);
  return tn_sum_lanes_f32(lane, TN_LANES);
#endif
}

/* ---- the tree over chunks, for one sum ---- */
#define TN_SUM_TREE(name, add, end, type, JOIN)                                                              \
  typedef struct {                                                                                           \
    uint64_t count; /* chunks so far; its bits say which levels are taken */                                 \
    type level[TN_SUM_LEVELS];                                                                               \
  } name;                                                                                                    \
  static inline void add(name *tree, type value) {                                                           \
    int level = 0;                                                                                           \
    for (uint64_t taken = tree->count++; taken & 1; taken >>= 1) value = JOIN(tree->level[level++], value);  \
    tree->level[level] = value;                                                                              \
  }                                                                                                          \
  /* What is left on the levels joins from the right: an odd one at the end has moved up unchanged. */       \
  static inline type end(const name *tree) {                                                                 \
    uint64_t taken = tree->count;                                                                            \
    int level = 0;                                                                                           \
    for (; !(taken & 1); taken >>= 1) level++;                                                               \
    type value = tree->level[level];                                                                         \
    for (taken >>= 1, level++; taken; taken >>= 1, level++)                                                  \
      if (taken & 1) value = JOIN(tree->level[level], value);                                                \
    return value;                                                                                            \
  }
TN_SUM_TREE(tn_sum_f32, tn_sum_f32_add, tn_sum_f32_end, float, TN_PLUS)
TN_SUM_TREE(tn_sum_f64, tn_sum_f64_add, tn_sum_f64_end, double, TN_PLUS)

/* ---- the largest: NaN wins, -0 is below +0 ----
 * Read as integers, with the other bits of negative numbers flipped, floats are in that order: -0 comes
 * just below +0, and the canonical NaN above infinity. It is the only NaN there is in memory. */
static inline VI tn_key(VF v) {
  VI bits = vf_as_int(v);
  return vi_xor(bits, vi_and(vi_sar(bits, 31), vi_set(0x7fffffff)));
}

static inline VF tn_of_key(VI key) {
  return vi_as_float(vi_xor(key, vi_and(vi_sar(key, 31), vi_set(0x7fffffff))));
}

/* For the smallest NaN must come first: the keys are moved up until it falls over the end. */
static inline VI tn_low_key(VF v) { return vi_add(tn_key(v), vi_set(0x00400000)); }
static inline VF tn_of_low_key(VI key) { return tn_of_key(vi_sub(key, vi_set(0x00400000))); }

static inline VI tn_key_max(VI a, VI b) {
#if TN_LANES == 16
  return (VI)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif TN_LANES == 8
  return (VI)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
  return vi_select(vi_gt(a, b), a, b);
#endif
}

static inline VI tn_key_min(VI a, VI b) {
#if TN_LANES == 16
  return (VI)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif TN_LANES == 8
  return (VI)_mm256_min_epi32((__m256i)a, (__m256i)b);
#else
  return vi_select(vi_lt(a, b), a, b);
#endif
}

static inline float tn_larger_f32(float a, float b) {
  float most = a > b || (a == b && __builtin_signbit(b)) ? a : b;
  return a == a && b == b ? most : tn_nan_f32();
}

/* The largest lane of a vector of keys. */
static inline int32_t tn_key_max_lane(VI v) {
#if TN_LANES == 16
  return _mm512_reduce_max_epi32((__m512i)v);
#else
  int32_t lane[TN_LANES], most;
  vi_store(lane, v);
  most = lane[0];
  for (int l = 1; l < TN_LANES; l++) most = lane[l] > most ? lane[l] : most;
  return most;
#endif
}

static inline float tn_float_of_key(int32_t key) {
  uint32_t bits = (uint32_t)key;
  return tn_float_of_bits(bits ^ (key < 0 ? 0x7fffffffu : 0));
}

/* ---- whole rows and columns, in reduce.c ---- */
/* The sum of n contiguous elements; +0 for none. */
#define sum_row     TN_CPU_NAME(sum_row)
#define sum_row_f64 TN_CPU_NAME(sum_row_f64)
float sum_row(tn_stop *stop, const float *row, int64_t n);
double sum_row_f64(tn_stop *stop, const double *row, int64_t n);
/* The largest of n >= 1 contiguous elements. */
#define max_row     TN_CPU_NAME(max_row)
#define max_row_f64 TN_CPU_NAME(max_row_f64)
float max_row(tn_stop *stop, const float *row, int64_t n);
double max_row_f64(tn_stop *stop, const double *row, int64_t n);
/* Of `width` neighbouring columns of n >= 1 elements, `step` apart: their sums, their largest.
 * At most TN_STRIP columns. */
#define TN_STRIP    (4 * TN_LANES)
#define sum_columns TN_CPU_NAME(sum_columns)
#define max_columns TN_CPU_NAME(max_columns)
void sum_columns(tn_stop *stop, const float *columns, int64_t step, int64_t n, int width, float *to);
void max_columns(tn_stop *stop, const float *columns, int64_t step, int64_t n, int width, float *to);
#endif
