/* tests/slow/exp_kernel.c: all 2^32 floats through the kernel of exp, in every instruction set.
 *
 * The kernel goes through several vectors at a time by a path of its own (backend/cpu/isa/exp.h); its bits
 * must be those of the function in base, which elementary_all.c judges. All floats come in order, so that
 * most blocks are in range, or out of it, or NaN throughout; a sixteenth of them comes again scattered, so
 * that each block has some of each. `ref`, and instruction sets whose fma is software, would take a quarter
 * of an hour for all: they see one block in 256, and one in 4096 of the scattered ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "base/elementary.h"
#include "unit/elementary_lanes.h"

enum { BLOCK = 4096, ENDS = 8, FEW = 256 };

static float x[BLOCK], wanted[BLOCK], got[BLOCK];

typedef struct {
  const tn_backend *fast[ENDS], *slow[ENDS];
  int fast_count, slow_count;
  lanes_function *function;
} judges;

static void run_kernel(const tn_backend *backend) {
  tn_shape shape = { .rank = 1, .dim = { BLOCK } };
  tn_view in = tn_view_make(x, TN_F32, &shape), out = tn_view_make(got, TN_F32, &shape);
  tn_attrs attrs = { 0 };
  tn_fault fault;
  tn_kernel_call call = { .op = TN_OP_EXP, .attrs = &attrs, .in = &in, .count = 1, .out = &out,
                          .threads = 1, .fault = &fault };
  assert_true(tn_backend_run(backend, &call));
}

static void assert_as_wanted(const tn_backend *backend) {
  memset(got, 0, sizeof got);
  run_kernel(backend);
  if (memcmp(wanted, got, sizeof got) == 0) return;
  size_t i = 0;
  while (tn_bits_f32(wanted[i]) == tn_bits_f32(got[i])) i++;
  fail_msg("%s %s: exp(%a) is %a, not %a", backend->name, backend->isa, (double)x[i], (double)got[i],
           (double)wanted[i]);
}

/* Every block of which `every` is the step; floats follow one another by `stride`, which is odd, so that no
 * two places have the same one. */
static void try_floats(const judges *by, int64_t every, uint32_t stride) {
  int64_t number = 0;
  for (int64_t block = 0; block < (1ll << 32) / BLOCK; block += every, number++) {
    uint32_t first = (uint32_t)(block * BLOCK) * stride;
    for (uint32_t i = 0; i < BLOCK; i++) x[i] = tn_float_of_bits(first + i * stride);
    by->function(x, x, x, wanted, BLOCK);
    for (int b = 0; b < by->fast_count; b++) assert_as_wanted(by->fast[b]);
    for (int b = 0; b < by->slow_count && number % FEW == 0; b++) assert_as_wanted(by->slow[b]);
  }
}

static judges everybody(void) {
  judges by = { .slow = { tn_backend_ref() }, .slow_count = 1 };
  bool available;
  size_t tables;
  for (int i = 0; tn_backend_cpu_isa(i, &available); i++) {
    const char *isa = tn_backend_cpu_isa(i, &available);
    bool is_slow = strcmp(isa, "portable") == 0 || strcmp(isa, "baseline") == 0;
    if (!available) continue;
    if (is_slow) by.slow[by.slow_count++] = tn_backend_cpu(isa);
    else by.fast[by.fast_count++] = tn_backend_cpu(isa);
  }
  const lanes_table *const *table = lanes_available(&tables);
  by.function = lanes_find(table[tables - 1], "exp");
  assert_non_null(by.function);
  assert_true(by.fast_count + by.slow_count > 1);
  return by;
}

static void floats_in_order_have_the_bits_of_the_function(void **state) {
  (void)state;
  judges by = everybody();
  try_floats(&by, 1, 1);
}

static void scattered_floats_have_the_bits_of_the_function(void **state) {
  (void)state;
  judges by = everybody();
  try_floats(&by, 16, 2654435761u);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(floats_in_order_have_the_bits_of_the_function),
                                      cmocka_unit_test(scattered_floats_have_the_bits_of_the_function) };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
