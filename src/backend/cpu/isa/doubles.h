/* backend/cpu/isa/doubles.h: vectors of doubles in memory, and their fma.
 *
 * base/simd.h has vectors of doubles (VD) for the inside of f32 functions only;
 * matmul wants to load and store them too. */
#ifndef TN_BACKEND_CPU_DOUBLES_H
#define TN_BACKEND_CPU_DOUBLES_H

#include "backend/cpu/isa/isa.h"

#if TN_LANES > 1
#define TN_DOUBLE_LANES (TN_LANES / 2)
#else
#define TN_DOUBLE_LANES 1
#endif

static inline VD vd_load(const double *p) {
  VD v;
  memcpy(&v, p, sizeof v);
  return v;
}

static inline void vd_store(double *p, VD v) { memcpy(p, &v, sizeof v); }

static inline VD vd_load_part(const double *p, int n) {
  double lanes[TN_DOUBLE_LANES] = { 0 };
  for (int i = 0; i < n; i++) lanes[i] = p[i];
  return vd_load(lanes);
}

static inline void vd_store_part(double *p, VD v, int n) {
  double lanes[TN_DOUBLE_LANES];
  vd_store(lanes, v);
  for (int i = 0; i < n; i++) p[i] = lanes[i];
}

/* a*b + c, one rounding. */
static inline VD vd_fma(VD a, VD b, VD c) {
#if defined(TN_SIMD_SCALAR)
  return tn_fma_f64(a, b, c);
#elif defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__aarch64__) && defined(__ARM_NEON)
  return (VD)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  for (int i = 0; i < TN_DOUBLE_LANES; i++) c[i] = tn_fma_f64(a[i], b[i], c[i]);
  return c;
#endif
}

static inline VD vd_canonical(VD v) {
#if defined(TN_SIMD_SCALAR)
  return tn_canonical_f64(v);
#else
  double lanes[TN_DOUBLE_LANES];
  vd_store(lanes, v);
  for (int i = 0; i < TN_DOUBLE_LANES; i++) lanes[i] = tn_canonical_f64(lanes[i]);
  return vd_load(lanes);
#endif
}
#endif
