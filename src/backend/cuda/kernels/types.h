/* backend/cuda/kernels/types.h: what kernels that are compiled for several dtypes need of each. */
#ifndef TN_BACKEND_CUDA_KERNELS_TYPES_H
#define TN_BACKEND_CUDA_KERNELS_TYPES_H

#include <string.h>

#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#define CARD_REAL(type, of, infinity)                                                                      \
  static inline type join_##of(int kind, type x, type y) {                                                 \
    switch (kind) {                                                                                        \
      case CARD_ADD: return x + y;                                                                         \
      case CARD_MUL: return x * y;                                                                         \
      case CARD_MAX: return tn_maximum_##of(x, y);                                                         \
      default: return tn_minimum_##of(x, y);                                                               \
    }                                                                                                      \
  }                                                                                                        \
  static inline type identity_##of(int kind) {                                                             \
    switch (kind) {                                                                                        \
      case CARD_ADD: return -(type)0;                                                                      \
      case CARD_MUL: return 1;                                                                             \
      case CARD_MAX: return -infinity();                                                                   \
      default: return infinity();                                                                          \
    }                                                                                                      \
  }                                                                                                        \
  static inline type stored_##of(type x) { return tn_canonical_##of(x); }                                  \
  static inline type divided_##of(type x, int64_t by) { return x / (type)by; }                             \
  static inline bool is_nan_##of(type x) { return x != x; }                                                \
  static inline type chain_##of(type x, type y, type z) { return tn_fma_##of(x, y, z); }
CARD_REAL(float, f32, tn_infinity_f32)
CARD_REAL(double, f64, tn_infinity_f64)

#define CARD_WHOLE(type, unsigned_type, of, least, most)                                                   \
  static inline type join_##of(int kind, type x, type y) {                                                 \
    switch (kind) {                                                                                        \
      case CARD_ADD: return (type)((unsigned_type)x + (unsigned_type)y);                                   \
      case CARD_MUL: return (type)((unsigned_type)x * (unsigned_type)y);                                   \
      case CARD_MAX: return x > y ? x : y;                                                                 \
      default: return x < y ? x : y;                                                                       \
    }                                                                                                      \
  }                                                                                                        \
  static inline type identity_##of(int kind) {                                                             \
    return kind == CARD_ADD ? 0 : kind == CARD_MUL ? 1 : kind == CARD_MAX ? least : most;                  \
  }                                                                                                        \
  static inline type stored_##of(type x) { return x; }                                                     \
  static inline type divided_##of(type x, int64_t by) { return (type)(x / by); }                           \
  static inline bool is_nan_##of(type x) { return (void)x, false; }                                        \
  static inline type chain_##of(type x, type y, type z) {                                                  \
    return (type)((unsigned_type)x * (unsigned_type)y + (unsigned_type)z);                                 \
  }
CARD_WHOLE(int32_t, uint32_t, i32, INT32_MIN, INT32_MAX)
CARD_WHOLE(int64_t, uint64_t, i64, INT64_MIN, INT64_MAX)
#endif
