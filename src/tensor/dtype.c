/* tensor/dtype.c: the table of dtypes, and conversions that are the same everywhere.
 *
 * C leaves float to integer conversion undefined out of range and machines
 * differ on it, and half precision types are not in the language at all. So
 * both are written out on the bits, and nothing here depends on the compiler. */
#include "tensor/dtype.h"

#include <assert.h>
#include <string.h>

typedef struct {
  const char *name;
  size_t bytes;
  tn_dtype_class class;
} dtype_info;

static const dtype_info dtypes[TN_DTYPE_COUNT] = {
#define DTYPE_ROW(id, name, type, bytes, class) [TN_##id] = { name, bytes, TN_CLASS_##class },
  TN_DTYPES(DTYPE_ROW)
#undef DTYPE_ROW
};

#define DTYPE_SIZE(id, name, type, bytes, class) \
  _Static_assert(sizeof(type) == (bytes), "the size of " name);
TN_DTYPES(DTYPE_SIZE)
#undef DTYPE_SIZE

const char *tn_dtype_name(tn_dtype dtype) {
  assert(dtype < TN_DTYPE_COUNT);
  return dtypes[dtype].name;
}

size_t tn_dtype_bytes(tn_dtype dtype) {
  assert(dtype < TN_DTYPE_COUNT);
  return dtypes[dtype].bytes;
}

tn_dtype_class tn_dtype_class_of(tn_dtype dtype) {
  assert(dtype < TN_DTYPE_COUNT);
  return dtypes[dtype].class;
}

bool tn_dtype_find(tn_str name, tn_dtype *out) {
  for (int i = 0; i < TN_DTYPE_COUNT; i++) {
    if (tn_str_is(name, dtypes[i].name)) {
      *out = (tn_dtype)i;
      return true;
    }
  }
  return false;
}

static uint32_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* Drops the low `shift` bits, rounding to nearest even. A carry moves into the
 * exponent, which is exactly what rounding up to the next power of two means. */
static uint32_t round_off(uint32_t bits, int shift) {
  uint32_t odd = bits >> shift & 1, below_half = (1u << (shift - 1)) - 1;
  return (bits + below_half + odd) >> shift;
}

uint16_t tn_bf16_from_f32(float number) {
  if (number != number) return 0x7fc0;
  return (uint16_t)round_off(bits_of(number), 16);
}

float tn_f32_from_bf16(uint16_t bits) {
  float number = float_of((uint32_t)bits << 16);
  return number != number ? float_of(0x7fc00000) : number;
}

/* binary16: 5 bits of exponent with a bias of 15 (binary32: 8 and 127), 10 bits of fraction (23). */
#define F16_LEAST_NORMAL 0x38800000u   /* 2^-14 */
#define F16_OVERFLOW 0x477ff000u       /* 65520, half a step past the largest: rounds to infinity */

static uint32_t f16_denormal(uint32_t magnitude) {
  int shift = 126 - (int)(magnitude >> 23);   /* to units of 2^-24 */
  if (shift > 24) return 0;
  return round_off((magnitude & 0x7fffff) | 0x800000, shift);
}

uint16_t tn_f16_from_f32(float number) {
  if (number != number) return 0x7e00;
  uint32_t bits = bits_of(number), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude >= F16_OVERFLOW) return (uint16_t)(sign | 0x7c00);
  if (magnitude < F16_LEAST_NORMAL) return (uint16_t)(sign | f16_denormal(magnitude));
  return (uint16_t)(sign | round_off(magnitude - (112u << 23), 13));
}

float tn_f32_from_f16(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return fraction ? float_of(0x7fc00000) : float_of(sign | 0x7f800000);
  if (exponent == 0) {
    float magnitude = (float)fraction * 0x1p-24f;   /* exact */
    return sign ? -magnitude : magnitude;
  }
  return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

int32_t tn_i32_from_f64(double number) {
  if (number != number) return 0;
  if (number <= (double)INT32_MIN) return INT32_MIN;
  if (number >= (double)INT32_MAX) return INT32_MAX;
  return (int32_t)number;
}

int64_t tn_i64_from_f64(double number) {
  if (number != number) return 0;
  if (number <= -0x1p63) return INT64_MIN;
  if (number >= 0x1p63) return INT64_MAX;
  return (int64_t)number;
}
