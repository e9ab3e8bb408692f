/* tests/unit/elementary_support.h: numbers to try a function with. */
#ifndef TN_TESTS_ELEMENTARY_SUPPORT_H
#define TN_TESTS_ELEMENTARY_SUPPORT_H

#include <stdint.h>

#include "base/elementary.h"

/* A build with assertions is slow, since it has sanitizers too: it tries an eighth of the inputs. */
#if defined(NDEBUG)
#define EFFORT 8
#else
#define EFFORT 1
#endif

/* splitmix64: a stream of test inputs that is the same in every run. */
typedef struct {
  uint64_t state;
} draws;

static inline uint64_t draw(draws *from) {
  uint64_t z = from->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline double draw_between(draws *from, double low, double high) {
  return low + (high - low) * ((double)(draw(from) >> 11) * 0x1p-53);
}

/* 2^n for any n a double has. */
static inline double power_of_two(int n) {
  return n < -1022 ? tn_double_of_bits(1ull << (n + 1074)) : tn_double_of_bits((uint64_t)(n + 1023) << 52);
}

/* Numbers at which functions tend to go wrong. */
static const uint32_t special_bits[] = {
  0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
  0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0xbf7fffff, 0xbf800001, 0x40000000, 0xc0000000,
  0x40400000, 0xc0400000, 0x3f000000, 0xbf000000, 0x3effffff, 0x3f000001, 0x3fc00000, 0xbfc00000,
  0x40200000, 0xc0200000, 0x4b000000, 0xcb000000, 0x4b000001, 0x4affffff, 0x4b800000, 0xcb800000,
  0x4b7fffff, 0xcb7fffff, 0x4b800001, 0x4effffff, 0x4f000000, 0xcf000000, 0xcf000001, 0x4f7fffff,
  0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001,
  0x7fffffff, 0xffffffff, 0x7fc12345, 0x42b17217, 0x42b17218, 0xc2aeac50, 0xc2cff1b5, 0x41102cb4,
  0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 0x40c90fdb, 0x47800000, 0x47800001, 0xc7800001, 0x3f300000,
};
enum { SPECIALS = sizeof special_bits / sizeof *special_bits };

/* A float of any kind: special, of any bits, or of moderate size. */
static inline float draw_float(draws *from) {
  uint64_t word = draw(from);
  switch (word >> 62) {
    case 0: return tn_float_of_bits(special_bits[(uint32_t)word % SPECIALS]);
    case 1: return tn_float_of_bits((uint32_t)word);
    case 2: return (float)draw_between(from, -120.0, 120.0);
    default: return (float)draw_between(from, -4.0, 4.0);
  }
}
#endif
