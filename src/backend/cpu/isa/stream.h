/* backend/cpu/isa/stream.h: streaming stores, which bypass the caches.
 *
 * A result far larger than the caches would first be read into them, line by line, only to be
 * overwritten and evicted again. Streaming stores avoid that, which saves a third of the memory
 * traffic of an addition. */
#ifndef TN_BACKEND_CPU_STREAM_H
#define TN_BACKEND_CPU_STREAM_H

#include "backend/cpu/isa/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Copies a multiple of 64 bytes, or the last piece of an array, to a 64-byte aligned place. */
static inline void tn_stream(void *to, const void *from, size_t bytes) {
  char *t = to;
  const char *f = from;
  size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 64 <= bytes; i += 64) _mm512_stream_si512((void *)(t + i), _mm512_loadu_si512(f + i));
#else
  for (; i + 16 <= bytes; i += 16)
    _mm_stream_si128((void *)(t + i), _mm_loadu_si128((const void *)(f + i)));
#endif
  memcpy(t + i, f + i, bytes - i);
}

/* One vector to a place aligned to its size. */
static inline void vf_stream(float *to, VF v) {
#if TN_LANES == 16
  _mm512_stream_ps(to, v);
#elif TN_LANES == 8
  _mm256_stream_ps(to, v);
#elif TN_LANES == 4
  _mm_stream_ps(to, (__m128)v);
#else
  vf_store(to, v);
#endif
}

/* Before other threads may read what was streamed. */
static inline void tn_stream_end(void) { _mm_sfence(); }
#else
static inline void vf_stream(float *to, VF v) { vf_store(to, v); }
static inline void tn_stream(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static inline void tn_stream_end(void) {}
#endif
#endif
