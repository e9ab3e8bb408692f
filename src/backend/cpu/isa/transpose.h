/* backend/cpu/isa/transpose.h: a square of floats transposed in registers.
 *
 * Lane j of row[i] and lane i of row[j] are swapped, for TN_LANES rows of TN_LANES lanes: pairs of
 * lanes first, then pairs of pairs, and so on. */
#ifndef TN_BACKEND_CPU_TRANSPOSE_H
#define TN_BACKEND_CPU_TRANSPOSE_H

#include "backend/cpu/isa/isa.h"

#if defined(TN_SIMD_SCALAR) || TN_LANES == 1
static inline void tn_transpose(VF *row) { (void)row; }

#elif defined(__AVX512F__)
static inline void tn_transpose(VF *row) {
  __m512 a[16], b[16];
  for (int i = 0; i < 16; i += 2) {
    a[i] = _mm512_unpacklo_ps(row[i], row[i + 1]);
    a[i + 1] = _mm512_unpackhi_ps(row[i], row[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    for (int h = 0; h < 2; h++) {
      __m512d low = _mm512_castps_pd(a[i + h]), high = _mm512_castps_pd(a[i + h + 2]);
      b[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(low, high));
      b[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(low, high));
    }
  }
  /* Now b[4 q + r] holds, in its 128-bit part p, column 4 p + r of rows 4 q .. 4 q + 3. */
  for (int r = 0; r < 4; r++) {
    __m512 even01 = _mm512_shuffle_f32x4(b[r], b[4 + r], 0x88),
           odd01 = _mm512_shuffle_f32x4(b[r], b[4 + r], 0xdd);
    __m512 even23 = _mm512_shuffle_f32x4(b[8 + r], b[12 + r], 0x88);
    __m512 odd23 = _mm512_shuffle_f32x4(b[8 + r], b[12 + r], 0xdd);
    row[r] = _mm512_shuffle_f32x4(even01, even23, 0x88);
    row[4 + r] = _mm512_shuffle_f32x4(odd01, odd23, 0x88);
    row[8 + r] = _mm512_shuffle_f32x4(even01, even23, 0xdd);
    row[12 + r] = _mm512_shuffle_f32x4(odd01, odd23, 0xdd);
  }
}

/* 8 * groups rows of 16 numbers, `step` apart, become 16 rows of 8 * groups, `width` apart. Eights go to
 * memory as they come out of three rounds: stores do what would take the shuffling port one round more. */
#define TN_TURN_ROWS 1
TN_ALWAYS_INLINE void tn_turn_rows(float *to, int64_t width, const float *from, int64_t step, int groups) {
  const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  __m512d four[4][4]; /* part p of four[q][r] holds column 4 p + r of rows 4 q .. 4 q + 3 */
  TN_UNROLL for (int q = 0; q < 2 * groups; q++) {
    const float *row = from + 4 * q * step;
    __m512 a = _mm512_loadu_ps(row), b = _mm512_loadu_ps(row + step);
    __m512 c = _mm512_loadu_ps(row + 2 * step), d = _mm512_loadu_ps(row + 3 * step);
    __m512d ab = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)), AB = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
    __m512d cd = _mm512_castps_pd(_mm512_unpacklo_ps(c, d)), CD = _mm512_castps_pd(_mm512_unpackhi_ps(c, d));
    four[q][0] = _mm512_unpacklo_pd(ab, cd);
    four[q][1] = _mm512_unpackhi_pd(ab, cd);
    four[q][2] = _mm512_unpacklo_pd(AB, CD);
    four[q][3] = _mm512_unpackhi_pd(AB, CD);
  }
  TN_UNROLL for (int r = 0; r < 4; r++) TN_UNROLL for (int g = 0; g < groups; g++) {
    float *at = to + r * width + 8 * g;
    __m512d low = _mm512_permutex2var_pd(four[2 * g][r], lower, four[2 * g + 1][r]);
    __m512d high = _mm512_permutex2var_pd(four[2 * g][r], upper, four[2 * g + 1][r]);
    _mm256_storeu_ps(at, _mm256_castpd_ps(_mm512_castpd512_pd256(low)));
    _mm256_storeu_ps(at + 4 * width, _mm256_castpd_ps(_mm512_extractf64x4_pd(low, 1)));
    _mm256_storeu_ps(at + 8 * width, _mm256_castpd_ps(_mm512_castpd512_pd256(high)));
    _mm256_storeu_ps(at + 12 * width, _mm256_castpd_ps(_mm512_extractf64x4_pd(high, 1)));
  }
}

/* Part p of row[r], four lanes, becomes what part p of all four rows holds in its lane r. */
TN_ALWAYS_INLINE void tn_turn_parts(VF *row) {
  __m512 even = _mm512_unpacklo_ps(row[0], row[2]), EVEN = _mm512_unpackhi_ps(row[0], row[2]);
  __m512 odd = _mm512_unpacklo_ps(row[1], row[3]), ODD = _mm512_unpackhi_ps(row[1], row[3]);
  row[0] = _mm512_unpacklo_ps(even, odd);
  row[1] = _mm512_unpackhi_ps(even, odd);
  row[2] = _mm512_unpacklo_ps(EVEN, ODD);
  row[3] = _mm512_unpackhi_ps(EVEN, ODD);
}

/* 16 rows of 4 numbers, `step` apart, become 4 rows of 16, `width` apart. Loads combine quarters,
 * which leaves two rounds of shuffles. */
#define TN_TURN_FOURS 1
TN_ALWAYS_INLINE void tn_turn_fours(float *to, int64_t width, const float *from, int64_t step) {
  VF row[4]; /* part p of row[r] holds row 4 p + r */
  TN_UNROLL for (int r = 0; r < 4; r++) {
    const float *at = from + r * step;
    row[r] = _mm512_castps128_ps512(_mm_loadu_ps(at));
    row[r] = _mm512_insertf32x4(row[r], _mm_loadu_ps(at + 4 * step), 1);
    row[r] = _mm512_insertf32x4(row[r], _mm_loadu_ps(at + 8 * step), 2);
    row[r] = _mm512_insertf32x4(row[r], _mm_loadu_ps(at + 12 * step), 3);
  }
  tn_turn_parts(row);
  TN_UNROLL for (int r = 0; r < 4; r++) vf_store(to + r * width, row[r]);
}

/* Part p of row[r] is stored at to + (4 p + r) * step, in this order: what one leaves after its four numbers
 * the next may overwrite. */
TN_ALWAYS_INLINE void tn_store_parts(float *to, int64_t step, const VF *row) {
  const int64_t four = 4 * step;
  TN_UNROLL for (int r = 0; r < 4; r++) _mm_storeu_ps(to + r * step, _mm512_castps512_ps128(row[r]));
  to += four;
  TN_UNROLL for (int r = 0; r < 4; r++) _mm_storeu_ps(to + r * step, _mm512_extractf32x4_ps(row[r], 1));
  to += four;
  TN_UNROLL for (int r = 0; r < 4; r++) _mm_storeu_ps(to + r * step, _mm512_extractf32x4_ps(row[r], 2));
  to += four;
  TN_UNROLL for (int r = 0; r < 4; r++) _mm_storeu_ps(to + r * step, _mm512_extractf32x4_ps(row[r], 3));
}

#elif defined(__AVX2__)
static inline void tn_transpose(VF *row) {
  __m256 a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
    a[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int h = 0; h < 2; h++) {
      b[i + 2 * h] = _mm256_shuffle_ps(a[i + h], a[i + h + 2], 0x44);
      b[i + 2 * h + 1] = _mm256_shuffle_ps(a[i + h], a[i + h + 2], 0xee);
    }
  }
  for (int r = 0; r < 4; r++) {
    row[r] = _mm256_permute2f128_ps(b[r], b[4 + r], 0x20);
    row[4 + r] = _mm256_permute2f128_ps(b[r], b[4 + r], 0x31);
  }
}

TN_ALWAYS_INLINE void tn_turn_parts(VF *row) {
  __m256 even = _mm256_unpacklo_ps(row[0], row[2]), EVEN = _mm256_unpackhi_ps(row[0], row[2]);
  __m256 odd = _mm256_unpacklo_ps(row[1], row[3]), ODD = _mm256_unpackhi_ps(row[1], row[3]);
  row[0] = _mm256_unpacklo_ps(even, odd);
  row[1] = _mm256_unpackhi_ps(even, odd);
  row[2] = _mm256_unpacklo_ps(EVEN, ODD);
  row[3] = _mm256_unpackhi_ps(EVEN, ODD);
}

TN_ALWAYS_INLINE void tn_store_parts(float *to, int64_t step, const VF *row) {
  TN_UNROLL for (int r = 0; r < 4; r++) _mm_storeu_ps(to + r * step, _mm256_castps256_ps128(row[r]));
  TN_UNROLL for (int r = 0; r < 4; r++) _mm_storeu_ps(to + (4 + r) * step, _mm256_extractf128_ps(row[r], 1));
}

#else
static inline void tn_transpose(VF *row) {
  float lane[TN_LANES][TN_LANES];
  for (int i = 0; i < TN_LANES; i++) vf_store(lane[i], row[i]);
  for (int i = 0; i < TN_LANES; i++)
    for (int j = 0; j < i; j++) {
      float kept = lane[i][j];
      lane[i][j] = lane[j][i];
      lane[j][i] = kept;
    }
  for (int i = 0; i < TN_LANES; i++) row[i] = vf_load(lane[i]);
}
#endif
#endif
