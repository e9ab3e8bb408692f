/* Every operation of the table: all back ends give the bits of ref, on any number of threads.
 *
 * TERN_TEST_OP=name runs one operation only, TERN_TEST_CASE=n one case of each;
 * TERN_TEST_EFFORT=small is for builds that run slowly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef TN_EMULATED_CARD
#endif
#include "check.h"
#ifdef TN_EMULATED_CARD
#include <math.h>

#include "base/elementary.h"
#include "gpu/card.h"
#include "gpu/emulator.h"

double card_fmod(double x, double y);
float card_fmodf(float x, float y);

/* A card has no fmod; ours is the C library's, which is exact. */
static void the_remainder_on_a_gpu_is_that_of_the_library(void **state) {
  (void)state;
  tn_rng rng;
  tn_rng_init(&rng, 7);
  for (int i = 0; i < 200000; i++) {
    uint64_t bits[2];
    for (int k = 0; k < 2; k++) bits[k] = (uint64_t)tn_rng_next(&rng) << 32 | tn_rng_next(&rng);
    if (i % 3 == 0) bits[1] = (bits[1] & 0x800fffffffffffffu) | (bits[0] & 0x7ff0000000000000u);
    if (i % 7 == 0) bits[0] &= 0x800fffffffffffffu;
    if (i % 11 == 0) bits[1] = bits[0] ^ (uint64_t)(i & 1) << 63;
    double x = tn_double_of_bits(bits[0]), y = tn_double_of_bits(bits[1]);
    float a = tn_float_of_bits((uint32_t)bits[0]), b = tn_float_of_bits((uint32_t)(bits[1] >> 7));
    assert_true(tn_bits_f64(tn_canonical_f64(fmod(x, y))) == tn_bits_f64(card_fmod(x, y)));
    float expected = tn_canonical_f32(fmodf(a, b)), got = tn_canonical_f32(card_fmodf(a, b));
    assert_true(tn_bits_f32(expected) == tn_bits_f32(got));
  }
}

/* The host emulates a GPU. That is slow, so it runs one of six cases, and fewer in a slow build;
 * TERN_TEST_EFFORT=full runs all. With TERN_TEST_CARD=1 the GPU is real. */
static back_ends cards(back_ends found) {
  const char *why = NULL, *effort = getenv("TERN_TEST_EFFORT");
  found.backend[0] = getenv("TERN_TEST_CARD") ? card_backend(&why) : emulated_backend();
  found.count = found.backend[0] != NULL;
  found.alone = true;
  bool all = getenv("TERN_TEST_CARD") || (effort && strcmp(effort, "full") == 0);
  found.share = all ? 1 : found.small ? 30 : 6;
  if (why) fprintf(stderr, "%s\n", why);
  return found;
}
#endif

static back_ends ends;

static void there_is_more_than_ref_to_test(void **state) {
  (void)state;
  assert_true(ends.count >= 1);
}

static void every_kernel_of_the_table_has_a_generator(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    bool has_kernel = tn_backend_ref()->kernels[op] != NULL, has_generator = generator_of(op).make != NULL;
    const char *name = tn_op_sig_of(op)->name;
    if (has_kernel && !has_generator) fail_msg("%s has no generator in tests/ops", name);
    if (!has_kernel && has_generator) fail_msg("%s has no kernel in ref", name);
    for (int b = 0; b < ends.count; b++)
      if ((ends.backend[b]->kernels[op] != NULL) != has_kernel)
        fail_msg("%s: ref and %s %s do not both have a kernel", name, ends.backend[b]->name,
                 ends.backend[b]->isa);
  }
}

static void assert_passes(op_case *c, const back_ends *with) {
  const char *bad = check_case(c, with);
  case_end(c);
  if (bad) fputs(bad, stderr);   /* cmocka would cut it off */
  assert_null(bad);
}

static void gives_the_bits_of_ref(void **state) {
  tn_op op = *(const tn_op *)*state;
  generator g = generator_of(op);
  const char *only = getenv("TERN_TEST_CASE");
  int first = only ? atoi(only) : 0, last = only ? first + 1 : (g.cases + ends.share - 1) / ends.share;
  for (int number = first; number < last; number++) {
    op_case c;
    case_begin(&c, op, number);
    g.make(&c);
    if (!case_infer(&c)) fail_msg("%s, case %d: the rules refuse it", tn_op_sig_of(op)->name, number);
    assert_passes(&c, &ends);
  }
}

/* Past 32 MiB a back end may write around the caches. */
static void results_that_no_cache_holds_have_the_same_bits(void **state) {
  (void)state;
  static const tn_op ops[] = { TN_OP_ADD, TN_OP_SOFTMAX };
  back_ends fewer = ends;
  fewer.small = true;   /* threads: 1 and 3 */
  for (int k = 0; !ends.small && !ends.alone && k < 2; k++) {
    op_case c;
    tn_shape shape = tn_shape_make(2, (int64_t)8193, (int64_t)1024);
    case_begin(&c, ops[k], 1000);
    c.contiguous = true;
    c.attrs.axis = 1;
    for (int operands = ops[k] == TN_OP_ADD ? 2 : 1; operands > 0; operands--)
      add_operand(&c, TN_F32, &shape, SMALL_VALUES, 0);
    c.out = (tn_type){ TN_F32, shape };
    assert_passes(&c, &fewer);
  }
}

/* Blocks of chunks are divided among threads, and a row of 131,072 elements is read as one block; the last
 * block, and the last chunk of it, are shorter. */
static void long_sums_have_the_same_bits_on_any_number_of_threads(void **state) {
  (void)state;
  static const struct {
    tn_dtype dtype;
    int64_t rows, columns;
    int axis;
  } sums[] = { { TN_F32, 1057293, 1, 0 }, { TN_F32, 70001, 3, 0 },  { TN_F32, 17, 131071, 1 },
               { TN_F32, 17, 131072, 1 }, { TN_F32, 9, 393729, 1 }, { TN_F64, 9, 393729, 1 } };
  for (int k = 0; !ends.small && !ends.alone && k < 6; k++) {
    op_case c;
    tn_shape shape = tn_shape_make(2, sums[k].rows, sums[k].columns);
    case_begin(&c, TN_OP_SUM, 1001 + k);
    c.contiguous = true;
    c.attrs = (tn_attrs){ .axis_count = 1, .axes = { sums[k].axis } };
    add_operand(&c, sums[k].dtype, &shape, SMALL_VALUES, 0);
    c.out = (tn_type){ sums[k].dtype, tn_shape_make(1, sums[k].axis == 0 ? shape.dim[1] : shape.dim[0]) };
    assert_passes(&c, &ends);
  }
}

/* Each thread has several tiles, which others may take. */
static void large_products_have_the_same_bits_on_any_number_of_threads(void **state) {
  (void)state;
  if (ends.small || ends.alone) return;
  op_case c;
  tn_shape x = tn_shape_make(2, (int64_t)517, (int64_t)1000);
  tn_shape y = tn_shape_make(2, (int64_t)1000, (int64_t)1031);
  case_begin(&c, TN_OP_MATMUL, 1010);
  c.contiguous = true;
  add_operand(&c, TN_F32, &x, SMALL_VALUES, 0);
  add_operand(&c, TN_F32, &y, SMALL_VALUES, 0);
  c.out = (tn_type){ TN_F32, tn_shape_make(2, x.dim[0], y.dim[1]) };
  assert_passes(&c, &ends);
}

/* The rules refuse this when lengths are known; a kernel that still meets it reports it. */
static void an_empty_maximum_is_an_error(void **state) {
  (void)state;
  static const tn_op ops[] = { TN_OP_MAX, TN_OP_MIN, TN_OP_ARGMAX };
  for (int k = 0; k < 3; k++) {
    op_case c;
    tn_shape shape = tn_shape_make(2, (int64_t)3, (int64_t)0);
    case_begin(&c, ops[k], 1000);
    c.attrs = (tn_attrs){ .axis = 1, .axis_count = 1, .axes = { 1 } };
    c.may_fail = true;
    c.out = (tn_type){ k < 2 ? TN_F32 : TN_I32, tn_shape_make(1, (int64_t)3) };
    add_operand(&c, TN_F32, &shape, ANY_VALUES, 0);
    assert_passes(&c, &ends);
  }
}

int main(void) {
  static struct CMUnitTest tests[TN_OP_COUNT + 7];
  static tn_op ops[TN_OP_COUNT];
  const char *only = getenv("TERN_TEST_OP");
  size_t count = 0;
  tn_heap heap = { 0 };
  ends = back_ends_of_this_machine();
#ifdef TN_EMULATED_CARD
  ends = cards(ends);
#endif
  ends.pool = tn_pool_new(&heap, 7);
  if (!ends.pool) return 1;
  const struct CMUnitTest general[] = {
    cmocka_unit_test(there_is_more_than_ref_to_test),
    cmocka_unit_test(every_kernel_of_the_table_has_a_generator),
    cmocka_unit_test(results_that_no_cache_holds_have_the_same_bits),
    cmocka_unit_test(long_sums_have_the_same_bits_on_any_number_of_threads),
    cmocka_unit_test(large_products_have_the_same_bits_on_any_number_of_threads),
    cmocka_unit_test(an_empty_maximum_is_an_error),
#ifdef TN_EMULATED_CARD
    cmocka_unit_test(the_remainder_on_a_gpu_is_that_of_the_library),
#endif
  };
  for (size_t i = 0; !only && i < sizeof general / sizeof general[0]; i++) tests[count++] = general[i];
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    ops[op] = op;
    if (!generator_of(op).make || (only && strcmp(only, tn_op_sig_of(op)->name) != 0)) continue;
    tests[count++] = (struct CMUnitTest){ .name = tn_op_sig_of(op)->name, .test_func = gives_the_bits_of_ref,
                                          .initial_state = &ops[op] };
  }
  int failed = _cmocka_run_group_tests("ops/kernels", tests, count, NULL, NULL);
  tn_pool_free(ends.pool);
  return failed;
}
