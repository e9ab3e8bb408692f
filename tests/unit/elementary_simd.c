/* tests/unit/elementary_simd.c: lanes are lanes. Whatever instruction set computes them, the bits
 * are those of one lane, and an fma made of other operations is the fma of the hardware. */
#define _DEFAULT_SOURCE   /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "unit/elementary_lanes.h"
#include "unit/elementary_support.h"

enum { BLOCK = 4096 + 13, ROUNDS = 3 * EFFORT };   /* not a multiple of any number of lanes */

static void compare(const lanes_table *table, const char *name, const float *const in[3], const float *out,
                    const float *expected) {
  for (size_t i = 0; i < BLOCK; i++)
    if (tn_bits_f32(out[i]) != tn_bits_f32(expected[i]))
      fail_msg("%s of %08x, %08x, %08x: %08x in %s, %08x in one lane", name, tn_bits_f32(in[0][i]),
               tn_bits_f32(in[1][i]), tn_bits_f32(in[2][i]), tn_bits_f32(out[i]), table->isa,
               tn_bits_f32(expected[i]));
}

static void compare_case(const lanes_table *table, size_t at, draws *from) {
  static float a[BLOCK], b[BLOCK], c[BLOCK], out[BLOCK], expected[BLOCK];
  const float *const in[3] = { a, b, c };
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < BLOCK; i++) {
      a[i] = draw_float(from);
      b[i] = i % 7 == 0 ? a[i] : draw_float(from);
      c[i] = draw_float(from);
    }
    lanes_scalar.cases[at].run(a, b, c, expected, BLOCK);
    table->cases[at].run(a, b, c, out, BLOCK);
    compare(table, table->cases[at].name, in, out, expected);
  }
}

static void every_instruction_set_gives_the_bits_of_one_lane(void **state) {
  (void)state;
  size_t tables;
  const lanes_table *const *table = lanes_available(&tables);
  for (size_t t = 1; t < tables; t++) {
    print_message("%s: %d lanes, %zu cases\n", table[t]->isa, table[t]->lanes, table[t]->count);
    draws from = { 1 };
    assert_int_equal(table[t]->count, lanes_scalar.count);
    for (size_t at = 0; at < lanes_scalar.count; at++) compare_case(table[t], at, &from);
  }
}

enum { STRIDE = EFFORT == 8 ? 12007 : 96001 };

/* All exponents and signs, and mantissas that walk through their range: dense where compare_case is
 * random. */
static void every_function_gives_the_bits_of_one_lane_over_the_whole_range(void **state) {
  (void)state;
  static float a[BLOCK], out[BLOCK], expected[BLOCK];
  const char *names[] = { "exp", "log", "tanh", "sigmoid", "erf", "sin", "cos" };
  size_t tables;
  const lanes_table *const *table = lanes_available(&tables);
  for (size_t f = 0; f < sizeof names / sizeof *names; f++)
    for (uint64_t start = 0; start < 1ull << 32; start += STRIDE * BLOCK) {
      for (uint64_t i = 0; i < BLOCK; i++) a[i] = tn_float_of_bits((uint32_t)(start + STRIDE * i));
      lanes_find(&lanes_scalar, names[f])(a, a, a, expected, BLOCK);
      for (size_t t = 1; t < tables; t++) {
        lanes_find(table[t], names[f])(a, a, a, out, BLOCK);
        assert_memory_equal(out, expected, sizeof out);
      }
    }
}

static void scalar_functions_are_the_scalar_lanes(void **state) {
  (void)state;
  struct {
    const char *name;
    float (*function)(float);
  } functions[] = {
    { "exp", tn_exp_f32 }, { "log", tn_log_f32 }, { "tanh", tn_tanh_f32 }, { "sigmoid", tn_sigmoid_f32 },
    { "erf", tn_erf_f32 }, { "sin", tn_sin_f32 }, { "cos", tn_cos_f32 },
  };
  draws from = { 2 };
  for (int i = 0; i < 25000 * EFFORT; i++) {
    float x = draw_float(&from), y = draw_float(&from), out;
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
      lanes_find(&lanes_scalar, functions[f].name)(&x, &x, &x, &out, 1);
      assert_int_equal(tn_bits_f32(out), tn_bits_f32(functions[f].function(x)));
    }
    lanes_find(&lanes_scalar, "pow")(&x, &y, &y, &out, 1);
    assert_int_equal(tn_bits_f32(out), tn_bits_f32(tn_pow_f32(x, y)));
  }
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

static void assert_hash(uint64_t found, uint64_t expected) {
  if (found != expected) fail_msg("the hash is 0x%016llx", (unsigned long long)found);
}

/* The numeric contract, so to speak, on one page: these numbers are the same on every machine and
 * with every compiler, and a change of any of them changes what every trained model computes. */
static void the_bits_are_those_of_the_contract(void **state) {
  (void)state;
  struct {
    float (*f32)(float);
    double (*f64)(double);
    uint64_t f32_hash, f64_hash;
  } functions[] = {
    { tn_exp_f32, tn_exp_f64, 0x4df79ba95c1ae20b, 0x6f93dfff72577fd6 },
    { tn_log_f32, tn_log_f64, 0xfb6828e5c05226c8, 0x6a0e6750d922f072 },
    { tn_tanh_f32, tn_tanh_f64, 0xb7fc24808b39015c, 0x6b7520994fd3f50e },
    { tn_sigmoid_f32, tn_sigmoid_f64, 0x9dfcc9e1b1e57902, 0x75023443ffe506d9 },
    { tn_erf_f32, tn_erf_f64, 0xca76fc334042aec5, 0x0f119259a16da093 },
    { tn_sin_f32, tn_sin_f64, 0xb79fe750959943a6, 0xed8bc0ad1401dd9a },
    { tn_cos_f32, tn_cos_f64, 0xc86cbca1b652354f, 0xfbb7edf966ec2ce2 },
  };
  uint64_t pow_f32 = 0, pow_f64 = 0;
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    draws from = { 70 };
    uint64_t f32 = 0, f64 = 0;
    for (int i = 0; i < 20000; i++) {
      float x = draw_float(&from), y = draw_float(&from);
      double wide = (double)x * draw_between(&from, 0.5, 2.0);
      f32 = mixed(f32, tn_bits_f32(functions[f].f32(x)));
      f64 = mixed(f64, tn_bits_f64(functions[f].f64(wide)));
      if (f > 0) continue;
      pow_f32 = mixed(pow_f32, tn_bits_f32(tn_pow_f32(x, y)));
      pow_f64 = mixed(pow_f64, tn_bits_f64(tn_pow_f64(wide, (double)y)));
    }
    assert_hash(f32, functions[f].f32_hash);
    assert_hash(f64, functions[f].f64_hash);
  }
  assert_hash(pow_f32, 0x608df5886c4ec8d8);
  assert_hash(pow_f64, 0xcc2f8c68195e9d69);
}

static void masks_know_any_and_all(void **state) {
  (void)state;
  size_t tables;
  const lanes_table *const *table = lanes_available(&tables);
  for (size_t t = 0; t < tables; t++) assert_true(table[t]->masks_hold());
}

/* The arrays end where a page begins that may not be touched. */
static void tails_touch_nothing_past_the_last_element(void **state) {
  (void)state;
  long page = sysconf(_SC_PAGESIZE);
  char *in = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *out = mmap(NULL, (size_t)page * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(in != MAP_FAILED && out != MAP_FAILED);
  assert_int_equal(mprotect(in + page, (size_t)page, PROT_NONE), 0);
  assert_int_equal(mprotect(out + page, (size_t)page, PROT_NONE), 0);
  size_t tables;
  const lanes_table *const *table = lanes_available(&tables);
  for (size_t t = 0; t < tables; t++)
    for (size_t n = 0; n <= 48; n++) {
      float *a = (float *)(in + page) - n, *b = (float *)(out + page) - n;
      for (size_t i = 0; i < n; i++) a[i] = (float)i - 7.0f;
      b[-1] = 12.0f;
      lanes_find(table[t], "negate")(a, a, a, b, n);
      for (size_t i = 0; i < n; i++) assert_true(b[i] == 7.0f - (float)i);
      assert_true(b[-1] == 12.0f);
    }
  munmap(in, (size_t)page * 2);
  munmap(out, (size_t)page * 2);
}

/* --- what a name of simd.h promises, in numbers ------------------------------------------------ */

static uint32_t one_lane(const char *name, uint32_t x, uint32_t y) {
  float a = tn_float_of_bits(x), b = tn_float_of_bits(y), out;
  lanes_find(&lanes_scalar, name)(&a, &b, &b, &out, 1);
  return tn_bits_f32(out);
}

static void min_and_max_order_zeros_and_pass_nan_on(void **state) {
  (void)state;
  uint32_t nan = 0x7fc00000, minus_zero = 0x80000000, one = 0x3f800000, minus_one = 0xbf800000;
  assert_int_equal(one_lane("min", 0, minus_zero), minus_zero);
  assert_int_equal(one_lane("min", minus_zero, 0), minus_zero);
  assert_int_equal(one_lane("max", 0, minus_zero), 0);
  assert_int_equal(one_lane("max", minus_zero, 0), 0);
  assert_int_equal(one_lane("min", one, minus_one), minus_one);
  assert_int_equal(one_lane("max", minus_one, one), one);
  assert_int_equal(one_lane("min", 0xffc12345, one), nan);
  assert_int_equal(one_lane("min", one, 0xffc12345), nan);
  assert_int_equal(one_lane("max", 0x7f800001, one), nan);
  assert_int_equal(one_lane("max", one, 0x7f800001), nan);
}

static void bounds_keep_a_nan_and_take_the_bound_otherwise(void **state) {
  (void)state;
  uint32_t nan = 0x7fc12345, one = 0x3f800000, two = 0x40000000;
  assert_int_equal(one_lane("at_most", two, one), one);
  assert_int_equal(one_lane("at_most", one, two), one);
  assert_int_equal(one_lane("at_least", one, two), two);
  assert_int_equal(one_lane("at_most", nan, one), nan);
  assert_int_equal(one_lane("at_least", nan, one), nan);
}

static void rounding_keeps_the_sign_of_zero(void **state) {
  (void)state;
  struct {
    float x, even, floor, ceil, trunc;
  } rows[] = {
    { 0.5f, 0.0f, 0.0f, 1.0f, 0.0f },      { -0.5f, -0.0f, -1.0f, -0.0f, -0.0f },
    { 0.7f, 1.0f, 0.0f, 1.0f, 0.0f },      { -0.7f, -1.0f, -1.0f, -0.0f, -0.0f },
    { 1.5f, 2.0f, 1.0f, 2.0f, 1.0f },      { -2.5f, -2.0f, -3.0f, -2.0f, -2.0f },
    { 2.5f, 2.0f, 2.0f, 3.0f, 2.0f },      { -0.0f, -0.0f, -0.0f, -0.0f, -0.0f },
    { 0.0f, 0.0f, 0.0f, 0.0f, 0.0f },      { 3e38f, 3e38f, 3e38f, 3e38f, 3e38f },
    { 8388607.5f, 8388608.0f, 8388607.0f, 8388608.0f, 8388607.0f },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t x = tn_bits_f32(rows[i].x);
    assert_int_equal(one_lane("round_even", x, x), tn_bits_f32(rows[i].even));
    assert_int_equal(one_lane("floor", x, x), tn_bits_f32(rows[i].floor));
    assert_int_equal(one_lane("ceil", x, x), tn_bits_f32(rows[i].ceil));
    assert_int_equal(one_lane("trunc", x, x), tn_bits_f32(rows[i].trunc));
    assert_true(tn_round_even_f64((double)rows[i].x) == (double)rows[i].even);
    assert_true(tn_floor_f64((double)rows[i].x) == (double)rows[i].floor);
    assert_true(tn_ceil_f64((double)rows[i].x) == (double)rows[i].ceil);
  }
}

static void float_to_int_truncates_and_saturates(void **state) {
  (void)state;
  struct {
    float x;
    int32_t whole;
  } rows[] = {
    { 1.9f, 1 }, { -1.9f, -1 }, { 2147483520.0f, 2147483520 }, { 2147483648.0f, INT32_MAX },
    { 1e30f, INT32_MAX }, { -2147483648.0f, INT32_MIN }, { -2147483904.0f, INT32_MIN }, { -1e30f, INT32_MIN },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_int_equal((int32_t)one_lane("to_int", tn_bits_f32(rows[i].x), 0), rows[i].whole);
  assert_int_equal(one_lane("to_int", 0x7fc00000, 0), 0);
  assert_int_equal((int32_t)one_lane("to_int", 0x7f800000, 0), INT32_MAX);
  assert_int_equal((int32_t)one_lane("to_int", 0xff800000, 0), INT32_MIN);
}

/* --- fma --------------------------------------------------------------------------------------- */

static const lanes_table *with_hardware_fma(void) {
  size_t tables;
  const lanes_table *const *table = lanes_available(&tables);
  for (size_t t = tables; t-- > 0;)
    if (table[t]->hardware_fma) return table[t];
  return NULL;
}

/* c such that a*b + c lies next to the midpoint of two floats, or is denormal, or cancels. */
static void craft_f32(draws *from, float *a, float *b, float *c) {
  uint64_t word = draw(from);
  int size = (int)(draw(from) % 250) - 125, shift = (int)(draw(from) % 60) - 30;
  *a = (float)(draw_between(from, 1.0, 2.0) * power_of_two(size));
  *b = (float)((word & 4 ? 1.0 : draw_between(from, -2.0, 2.0)) * power_of_two((int)(draw(from) % 100) - 50));
  double product = (double)*a * (double)*b;
  double target = product * draw_between(from, -2.0, 2.0) * power_of_two(shift);
  if (word & 1) target = (double)(float)target + (double)(float)target * 0x1p-24;   /* about a midpoint */
  if (word & 2) target = draw_between(from, -1.0, 1.0) * power_of_two(-120 - (int)(draw(from) % 32));
  *c = (float)(target - product);
}

/* a*b is half an ulp of c but for a little that no double can hold beside c: (1 + k)(1 - k) = 1 -
 * k*k. For exponents below 1 c is denormal. */
static void craft_tie_f32(draws *from, float *a, float *b, float *c) {
  uint64_t word = draw(from);
  double k = (double)(word & 0xfff) * 0x1p-23;
  int exponent = (int)(draw(from) % 256) - 2;
  int half = exponent < 1 ? -150 : exponent - 127 - 24;
  *a = (float)((1.0 + k) * power_of_two(half / 2));
  *b = (float)((1.0 - k) * power_of_two(half - half / 2)) * (word >> 63 ? 1.0f : -1.0f);
  *c = tn_float_of_bits((uint32_t)(exponent < 0 ? 0 : exponent) << 23 | ((uint32_t)draw(from) & 0x807fffffu));
}

static void software_fma_is_the_fma_of_the_hardware_in_f32(void **state) {
  (void)state;
  const lanes_table *table = with_hardware_fma();
  if (!table) skip();
  static float a[BLOCK], b[BLOCK], c[BLOCK], hardware[BLOCK], generic[BLOCK];
  draws from = { 3 };
  for (int round = 0; round < 600 * EFFORT; round++) {
    for (int i = 0; i < BLOCK; i++) {
      if (i % 4 == 0) craft_tie_f32(&from, &a[i], &b[i], &c[i]);
      else craft_f32(&from, &a[i], &b[i], &c[i]);
      if (round % 4 == 0) a[i] = draw_float(&from), b[i] = draw_float(&from), c[i] = draw_float(&from);
    }
    lanes_find(table, "fma")(a, b, c, hardware, BLOCK);
    lanes_find(&lanes_generic, "fma")(a, b, c, generic, BLOCK);
    assert_memory_equal(generic, hardware, sizeof generic);
    for (int i = 0; i < BLOCK; i++) {
      float soft = tn_canonical_f32(tn_fma_soft_f32(a[i], b[i], c[i]));
      float odd = tn_canonical_f32(tn_fma_odd_f32(a[i], b[i], c[i]));
      if (tn_bits_f32(soft) != tn_bits_f32(hardware[i]) || tn_bits_f32(odd) != tn_bits_f32(hardware[i]))
        fail_msg("fma(%a, %a, %a) is %a, not %a or %a", (double)a[i], (double)b[i], (double)c[i],
                 (double)hardware[i], (double)soft, (double)odd);
    }
  }
}

/* A number with few significant bits, so that products and sums meet on midpoints. */
static double craft_f64(draws *from, int low, int high) {
  uint64_t word = draw(from);
  int bits = 1 + (int)(word % 53), exponent = low + (int)(draw(from) % (uint64_t)(high - low));
  double mantissa = (double)(draw(from) >> (64 - bits)) * 0x1p-52 + (word >> 60 == 0 ? 1.0 : 0.0);
  double value = mantissa * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2);
  return word >> 59 & 1 ? -value : value;
}

static void craft_tie_f64(draws *from, double *a, double *b, double *c) {
  uint64_t word = draw(from);
  double k = (double)(word & 0xffffff) * 0x1p-52;
  int exponent = (int)(draw(from) % 2048) - 8;
  int half = exponent < 1 ? -1075 : exponent - 1023 - 53;
  *a = (1.0 + k) * power_of_two(half / 2);
  *b = (1.0 - k) * power_of_two(half - half / 2) * (word >> 63 ? 1.0 : -1.0);
  *c = tn_double_of_bits((uint64_t)(exponent < 0 ? 0 : exponent) << 52 | (draw(from) & 0x800fffffffffffffu));
}

static void software_fma_is_the_fma_of_the_hardware_in_f64(void **state) {
  (void)state;
  const lanes_table *table = with_hardware_fma();
  if (!table) skip();
  static double a[BLOCK], b[BLOCK], c[BLOCK], hardware[BLOCK];
  draws from = { 4 };
  for (int round = 0; round < 300 * EFFORT; round++) {
    int spread = round % 3 == 0 ? 1000 : round % 3 == 1 ? 100 : 10, center = round % 5 == 0 ? -530 : 0;
    for (int i = 0; i < BLOCK; i++) {
      a[i] = craft_f64(&from, center - spread / 2, center + spread / 2);
      b[i] = craft_f64(&from, center - spread / 2, center + spread / 2);
      c[i] = i % 3 == 0 ? craft_f64(&from, -1070, 1000) : -(a[i] * b[i]) * draw_between(&from, 0.5, 2.0);
      if (i % 16 == 1) c[i] = -(a[i] * b[i]);
      if (i % 16 == 2) c[i] = craft_f64(&from, 2 * center - 60, 2 * center + 60);
      if (i % 64 == 3) a[i] = tn_double_of_bits(draw(&from)), c[i] = tn_double_of_bits(draw(&from));
      if (i % 64 == 4) a[i] = 0.0, b[i] = -b[i];
      if (i % 4 == 1) craft_tie_f64(&from, &a[i], &b[i], &c[i]);
    }
    table->fma_f64(a, b, c, hardware, BLOCK);
    for (int i = 0; i < BLOCK; i++) {
      double soft = tn_canonical_f64(tn_fma_soft_f64(a[i], b[i], c[i])), hard = tn_canonical_f64(hardware[i]);
      if (tn_bits_f64(soft) != tn_bits_f64(hard))
        fail_msg("fma(%a, %a, %a) is %a, not %a", a[i], b[i], c[i], hard, soft);
    }
  }
}

static void fma_keeps_signs_infinities_and_nan(void **state) {
  (void)state;
  double inf = tn_infinity_f64();
  assert_int_equal(tn_bits_f64(tn_fma_soft_f64(1.0, -1.0, 1.0)), 0);
  assert_int_equal(tn_bits_f64(tn_fma_soft_f64(0x1p-600, -0x1p-600, 0.0)), 1ull << 63);
  assert_int_equal(tn_bits_f64(tn_fma_soft_f64(0.0, -1.0, -0.0)), 1ull << 63);
  assert_true(tn_fma_soft_f64(0x1p600, 0x1p600, -inf) == -inf);
  assert_true(tn_fma_soft_f64(0x1p600, 0x1p600, -0x1p1023) == inf);
  assert_true(tn_fma_soft_f64(0x1p600, 0x1p423, -0x1p1023) == 0.0);
  assert_true(tn_fma_soft_f64(inf, 1.0, -inf) != tn_fma_soft_f64(inf, 1.0, -inf));
  assert_true(tn_fma_soft_f64(inf, 0.0, 1.0) != tn_fma_soft_f64(inf, 0.0, 1.0));
  assert_true(tn_fma_soft_f32(1.0f, tn_infinity_f32(), -3e38f) == tn_infinity_f32());
  assert_int_equal(tn_bits_f32(tn_fma_soft_f32(0x1p-100f, -0x1p-100f, 0.0f)), 1u << 31);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_instruction_set_gives_the_bits_of_one_lane),
    cmocka_unit_test(every_function_gives_the_bits_of_one_lane_over_the_whole_range),
    cmocka_unit_test(scalar_functions_are_the_scalar_lanes),
    cmocka_unit_test(the_bits_are_those_of_the_contract),
    cmocka_unit_test(masks_know_any_and_all),
    cmocka_unit_test(tails_touch_nothing_past_the_last_element),
    cmocka_unit_test(min_and_max_order_zeros_and_pass_nan_on),
    cmocka_unit_test(bounds_keep_a_nan_and_take_the_bound_otherwise),
    cmocka_unit_test(rounding_keeps_the_sign_of_zero),
    cmocka_unit_test(float_to_int_truncates_and_saturates),
    cmocka_unit_test(software_fma_is_the_fma_of_the_hardware_in_f32),
    cmocka_unit_test(software_fma_is_the_fma_of_the_hardware_in_f64),
    cmocka_unit_test(fma_keeps_signs_infinities_and_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
