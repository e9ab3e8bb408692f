/* bench/limits.h: what the machine can do at most: multiply-adds in registers, bytes from memory. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define PEAK_STEPS 5000
#define PEAK_SINK  256 /* floats that such a loop stores at its end */

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static void peak_avx512(void *sink) {
  __m512 a[12], x = _mm512_set1_ps(0.999999f), y = _mm512_set1_ps(1e-6f);
  for (int i = 0; i < 12; i++) a[i] = _mm512_set1_ps((float)i);
  for (int n = 0; n < PEAK_STEPS; n++)
    for (int i = 0; i < 12; i++) a[i] = _mm512_fmadd_ps(a[i], x, y);
  for (int i = 0; i < 12; i++) _mm512_storeu_ps((float *)sink + 16 * i, a[i]);
}

__attribute__((target("avx2,fma"))) static void peak_avx2(void *sink) {
  __m256 a[12], x = _mm256_set1_ps(0.999999f), y = _mm256_set1_ps(1e-6f);
  for (int i = 0; i < 12; i++) a[i] = _mm256_set1_ps((float)i);
  for (int n = 0; n < PEAK_STEPS; n++)
    for (int i = 0; i < 12; i++) a[i] = _mm256_fmadd_ps(a[i], x, y);
  for (int i = 0; i < 12; i++) _mm256_storeu_ps((float *)sink + 8 * i, a[i]);
}
#endif

static void peak_plain(void *sink) {
  float a[16], x = 0.999999f, y = 1e-6f;
  for (int i = 0; i < 16; i++) a[i] = (float)i;
  for (int n = 0; n < PEAK_STEPS; n++)
    for (int i = 0; i < 16; i++) a[i] = a[i] * x + y;
  memcpy(sink, a, sizeof a);
}

/* The loop that does nothing but multiply-adds on this instruction set, and its operations. */
typedef struct {
  void (*loop)(void *sink);
  double operations;
} peak_loop;

static inline peak_loop peak_of(const char *isa) {
#if defined(__x86_64__)
  if (strcmp(isa, "avx512") == 0) return (peak_loop){ peak_avx512, 2.0 * 12 * 16 * PEAK_STEPS };
  if (strcmp(isa, "avx2") == 0) return (peak_loop){ peak_avx2, 2.0 * 12 * 8 * PEAK_STEPS };
#endif
  (void)isa;
  return (peak_loop){ peak_plain, 2.0 * 16 * PEAK_STEPS };
}
#endif
