/* tests/unit/guessed_quotients.c: tanh and sigmoid with the quotients that a GPU computes have the bits of
 * those with a division, whatever reciprocal within two units in the last place the GPU begins with.
 *
 * Floats are tried in blocks, more of them where quotients matter; TERN_TEST_EFFORT=full tries all up to
 * where the functions are constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/elementary.h"
#include "base/simd.h"

static int units;      /* that the reciprocal is off */

static inline VF off_by_units(VF d) {
  VF guess = vi_as_float(vi_add(vf_as_int(vf_set(1.0f) / d), vi_set(units)));
  return vf_select(vf_lt(guess, vf_set(0x1p-126f)), vf_set(0.0f), guess);
}
#define RECIPROCAL_GUESS(d) off_by_units(d)
#include "base/elementary.inc.h"

enum { BLOCK = 4096, SPARSE = 29, VERY_SPARSE = 251 };

typedef struct {
  const char *name;
  VF (*guessed)(VF x);
  float (*divided)(float x);
  float end;             /* the function is constant from there on, and from -end on */
} function;
static const function both[] = { { "tanh", vf_tanh, tn_tanh_f32, 10 },
                                 { "sigmoid", vf_sigmoid, tn_sigmoid_f32, 105 } };

static void check_block(const function *f, uint32_t first) {
  static float x[BLOCK], expected[BLOCK], got[BLOCK];
  for (uint32_t i = 0; i < BLOCK; i++) {
    x[i] = tn_float_of_bits(first + i);
    expected[i] = f->divided(x[i]);
  }
  for (units = -2; units <= 2; units++) {
    for (int i = 0; i < BLOCK; i += TN_LANES) vf_store(got + i, f->guessed(vf_load(x + i)));
    for (int i = 0; i < BLOCK; i++)
      if (tn_bits_f32(expected[i]) != tn_bits_f32(got[i]))
        fail_msg("%s of %a is %a, not %a, if the reciprocal is off by %d", f->name, (double)x[i],
                 (double)got[i], (double)expected[i], units);
  }
}

/* Where the guess alone would not do, for one of the two. */
static const float hard[] = { 0x1.fee7p-4f, 0x1.00673cp+0f };

static void they_have_the_bits_of_a_division(void **state) {
  const function *f = *state;
  const char *effort = getenv("TERN_TEST_EFFORT");
  for (int i = 0; i < 2; i++) check_block(f, tn_bits_f32(hard[i]));
  bool all = effort && strcmp(effort, "full") == 0;
  for (uint32_t first = 0, step; first < tn_bits_f32(f->end) + 2 * BLOCK; first += step * BLOCK) {
    check_block(f, first);
    check_block(f, first | 0x80000000u);
    step = all ? 1 : first < tn_bits_f32(0x1p-9f) ? VERY_SPARSE : SPARSE;
  }
}

int main(void) {
  struct CMUnitTest tests[2];
  for (int f = 0; f < 2; f++)
    tests[f] = (struct CMUnitTest){ .name = both[f].name, .test_func = they_have_the_bits_of_a_division,
                                    .initial_state = (void *)(uintptr_t)&both[f] };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
