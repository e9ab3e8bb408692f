/* tests/unit/tanh_quotient.c: tanh with the quotient that a GPU computes has the bits of tanh with a
 * division, whatever reciprocal within two units in the last place the GPU begins with.
 *
 * Floats are tried in blocks; TERN_TEST_EFFORT=full tries all that are not negative, up to 10. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/elementary.h"
#include "base/simd.h"

static int units;      /* that the reciprocal is off */

#define TANH_GUESS(d) vi_as_float(vi_add(vf_as_int(vf_set(1.0f) / (d)), vi_set(units)))
#include "base/elementary.inc.h"

enum { BLOCK = 4096, SPARSE = 61 };

static void fill(uint32_t first, float *x) {
  for (uint32_t i = 0; i < BLOCK; i++) x[i] = tn_float_of_bits(first + i);
}

static void compute(const float *x, float *to) {
  for (int i = 0; i < BLOCK; i += TN_LANES) vf_store(to + i, vf_tanh(vf_load(x + i)));
}

static void tanh_has_the_bits_of_a_division(void **state) {
  (void)state;
  static float x[BLOCK], expected[BLOCK], got[BLOCK];
  const char *effort = getenv("TERN_TEST_EFFORT");
  uint32_t step = effort && strcmp(effort, "full") == 0 ? BLOCK : SPARSE * BLOCK;
  uint32_t end = tn_bits_f32(10.0f) + 2 * BLOCK;
  for (uint32_t first = 0; first < end; first += step) {
    fill(first, x);
    for (int i = 0; i < BLOCK; i++) expected[i] = tn_tanh_f32(x[i]);
    for (units = -2; units <= 2; units++) {
      compute(x, got);
      for (int i = 0; i < BLOCK; i++)
        if (tn_bits_f32(expected[i]) != tn_bits_f32(got[i]))
          fail_msg("tanh of %a is %a, not %a, if the reciprocal is off by %d", (double)x[i], (double)got[i],
                   (double)expected[i], units);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(tanh_has_the_bits_of_a_division) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
