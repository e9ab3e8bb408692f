/* base/simd_vector.inc.h: the part of base/simd.h that the vector types of GCC and clang spell
 * alike for every instruction set. Included by the file of one, after it has defined TN_LANES and
 * the type VF. */

typedef int32_t VI __attribute__((vector_size(TN_LANES * 4)));
typedef uint32_t VU __attribute__((vector_size(TN_LANES * 4)));
typedef double VD __attribute__((vector_size(TN_LANES * 4)));
typedef uint64_t VW __attribute__((vector_size(TN_LANES * 4)));

static inline VI vf_as_int(VF v) { return (VI)v; }
static inline VF vi_as_float(VI v) { return (VF)v; }

static inline VI vi_add(VI a, VI b) { return (VI)((VU)a + (VU)b); }
static inline VI vi_sub(VI a, VI b) { return (VI)((VU)a - (VU)b); }
static inline VI vi_mul(VI a, VI b) { return (VI)((VU)a * (VU)b); }
static inline VI vi_and(VI a, VI b) { return a & b; }
static inline VI vi_or(VI a, VI b) { return a | b; }
static inline VI vi_xor(VI a, VI b) { return a ^ b; }
static inline VI vi_shl(VI v, int k) { return (VI)((VU)v << (uint32_t)k); }
static inline VI vi_shr(VI v, int k) { return (VI)((VU)v >> (uint32_t)k); }
static inline VI vi_sar(VI v, int k) { return v >> k; }

/* Adding leaves the whole number in the last bits; shifting moves it to where the exponent is. */
static inline VD vd_pow2(VD n) { return (VD)(((VW)(n + 0x1.8p52) + 1023u) << 52u); }

/* Counting from the bits of sqrt(1/2) instead of those of 1 puts the exponent where the mantissa
 * splits. */
static inline VD vd_split(VD v, VD *exponent) {
  VW steps = (VW)v - 0x3fe6a09e667f3bcdu;
  VW whole = (steps + 0x4000000000000000u) >> 52u;   /* exponent + 1024 */
  *exponent = (VD)(whole | 0x4330000000000000u) - 0x1.00000000004p52;
  return (VD)((steps & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
}
