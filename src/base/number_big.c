/* base/number_big.c: integers of up to 4096 bits, with schoolbook arithmetic.
 *
 * Only the rare exact paths come here, so clarity wins over speed; 32-bit limbs
 * keep every intermediate result inside a uint64_t. */
#include <assert.h>
#include <string.h>

#include "base/number_internal.h"

static void push(tn_big *big, uint32_t limb) {
  assert(big->count < TN_BIG_LIMBS);
  big->limb[big->count++] = limb;
}

static void trim(tn_big *big) {
  while (big->count && big->limb[big->count - 1] == 0) big->count--;
}

void tn_big_set(tn_big *big, uint64_t value) {
  big->count = 0;
  push(big, (uint32_t)value);
  push(big, (uint32_t)(value >> 32));
  trim(big);
}

void tn_big_mul_add(tn_big *big, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int i = 0; i < big->count; i++) {
    carry += (uint64_t)big->limb[i] * factor;
    big->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) push(big, (uint32_t)carry);
}

void tn_big_mul_pow5(tn_big *big, int exponent) {
  for (; exponent >= 13; exponent -= 13) tn_big_mul_add(big, 1220703125, 0);   /* 5^13 */
  uint32_t rest = 1;
  while (exponent-- > 0) rest *= 5;
  tn_big_mul_add(big, rest, 0);
}

void tn_big_shift_left(tn_big *big, int bits) {
  if (big->count == 0) return;
  tn_big_mul_add(big, UINT32_C(1) << bits % 32, 0);
  int limbs = bits / 32;
  assert(big->count + limbs <= TN_BIG_LIMBS);
  memmove(big->limb + limbs, big->limb, (size_t)big->count * sizeof *big->limb);
  memset(big->limb, 0, (size_t)limbs * sizeof *big->limb);
  big->count += limbs;
}

static bool bit_at(const tn_big *big, int bit) {
  return bit / 32 < big->count && (big->limb[bit / 32] >> bit % 32 & 1);
}

static bool any_bit_below(const tn_big *big, int bit) {
  for (int i = 0; i < big->count && i <= bit / 32; i++) {
    uint32_t mask = i < bit / 32 ? UINT32_MAX : (UINT32_C(1) << bit % 32) - 1;
    if (big->limb[i] & mask) return true;
  }
  return false;
}

static void add_one(tn_big *big) {
  int i = 0;
  while (i < big->count && ++big->limb[i] == 0) i++;
  if (i == big->count) push(big, 1);
}

void tn_big_shift_right_rounding(tn_big *big, int bits) {
  if (bits == 0) return;
  bool half = bit_at(big, bits - 1), more = any_bit_below(big, bits - 1), odd = bit_at(big, bits);
  int limbs = bits / 32, kept = big->count > limbs ? big->count - limbs : 0;
  for (int i = 0; i < kept; i++) {
    uint64_t pair = big->limb[i + limbs];
    if (i + limbs + 1 < big->count) pair |= (uint64_t)big->limb[i + limbs + 1] << 32;
    big->limb[i] = (uint32_t)(pair >> bits % 32);
  }
  big->count = kept;
  trim(big);
  if (half && (more || odd)) add_one(big);
}

int tn_big_compare(const tn_big *a, const tn_big *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int i = a->count - 1; i >= 0; i--) {
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  }
  return 0;
}

static uint32_t divide_by_billion(tn_big *big) {
  uint64_t rest = 0;
  for (int i = big->count - 1; i >= 0; i--) {
    rest = rest << 32 | big->limb[i];
    big->limb[i] = (uint32_t)(rest / 1000000000);
    rest %= 1000000000;
  }
  trim(big);
  return (uint32_t)rest;
}

size_t tn_big_print(tn_big *big, char *out) {
  char reversed[TN_BIG_LIMBS * 10];   /* a limb has less than ten digits */
  size_t count = 0;
  do {
    uint32_t nine = divide_by_billion(big);
    for (int i = 0; i < 9; i++, nine /= 10) reversed[count++] = (char)('0' + nine % 10);
  } while (big->count);
  while (count > 1 && reversed[count - 1] == '0') count--;
  for (size_t i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
  return count;
}
