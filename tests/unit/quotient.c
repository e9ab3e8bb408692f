/* tests/unit/quotient.c: the proof of backend/cpu/isa/divide.h that needs a computer.
 *
 * a and b are in [1, 2), which scaling by powers of two makes of all normal numbers. Their quotient by three
 * operations is a number x near a/b, rounded. It can only be wrong if a midpoint m of two floats is
 * between x and a/b, and divide.h shows that |a - m b| is then a small multiple j of the least possible
 * distance. So a test of all pairs that have a midpoint so near is a test of all pairs.
 *
 * In units of the last place, a = A / 2^23 and b = B / 2^23. Below 1 the midpoints are M / 2^25 with M odd,
 * and j = A 2^25 - M B; from 1 on they are M / 2^24, and j = A 2^24 - M B. j = 0 has no odd M. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backend/cuda/kernels/quotient.h"   /* the operations of tn_quotient, for one number */

enum { MOST = 8, FRACTION = 23 };

static int64_t tried;

static void try_pair(int64_t a, int64_t b) {
  float x = ldexpf((float)a, -FRACTION), y = ldexpf((float)b, -FRACTION);
  tried++;
  float got = card_quotient(x, y, 1 / y);
  if (got != x / y) fail_msg("%a / %a is %a, not %a", (double)x, (double)y, (double)(x / y), (double)got);
}

/* x with odd * x = 1 modulo 2^32. */
static uint32_t inverse_of(uint32_t odd) {
  uint32_t x = odd;
  for (int i = 0; i < 4; i++) x *= 2 - odd * x;
  return x;
}

/* All A of [2^23, 2^24) with A 2^scale - M B = j for an odd M. */
static void try_distance(int64_t b, int zeros, uint32_t inverse, int scale, int64_t j) {
  if (j % (1 << zeros) != 0) return;
  int64_t period = (int64_t)1 << (scale - zeros);
  int64_t first = (int64_t)((uint32_t)(-j / (1 << zeros)) * inverse) & (period - 1);
  for (int64_t m = first; m < (int64_t)1 << 25; m += period) {
    int64_t a = (m * b + j) >> scale;
    if (m % 2 == 1 && a >> FRACTION == 1) try_pair(a, b);
  }
}

static void test_quotients_near_midpoints(void **state) {
  (void)state;
  for (int64_t b = (int64_t)1 << FRACTION; b < (int64_t)1 << (FRACTION + 1); b++) {
    int zeros = __builtin_ctzll((unsigned long long)b);
    uint32_t inverse = inverse_of((uint32_t)(b >> zeros));
    for (int64_t j = -MOST; j <= MOST; j++) {
      try_distance(b, zeros, inverse, 25, j);
      try_distance(b, zeros, inverse, 24, j);
    }
  }
  assert_true(tried > 20000000);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(test_quotients_near_midpoints) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
