/* tests/slow/elementary_all.c: all 2^32 floats through every function of one argument.
 *
 * MPFR would take hours for them all. A double from the C library is within a few units of its own
 * last place, which is 2^-29 of a float's: it measures an error to far more digits than the decision
 * needs, and MPFR is asked only where a result comes close to the limit. What is measured is the
 * widest vector version this machine runs; the scalar functions, which define the bits, must agree
 * with it in every sixteenth input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/pool.h"
#include "unit/elementary_judge.h"
#include "unit/elementary_lanes.h"

enum { BLOCK = 1 << 14 };

typedef struct {
  double worst;
  uint32_t at;
  uint64_t misrounded, wrong;
} verdict;

static double sigmoid(double x) {
  return x >= 0 ? 1.0 / (1.0 + exp(-x)) : exp(x) / (1.0 + exp(x));
}

static double libm_value(judged function, double x) {
  switch (function) {
    case OF_EXP: return exp(x);
    case OF_LOG: return log(x);
    case OF_TANH: return tanh(x);
    case OF_SIGMOID: return sigmoid(x);
    case OF_ERF: return erf(x);
    case OF_SIN: return sin(x);
    default: return cos(x);
  }
}

static double error_by_mpfr(judged function, float x, float result) {
  judge by;
  judge_init(&by, 90);
  judge_value(&by, function, (double)x, 0.0);
  double error = judge_error_f32(&by, result);
  judge_free(&by);
  return error;
}

/* The unit in the last place of a float of that size, 2^-149 at least. */
static double unit_of(double value) {
  uint64_t exponent = tn_bits_f64(value) >> 52 & 0x7ff;
  if (exponent < 1023 - 126) exponent = 1023 - 126;
  return tn_double_of_bits((exponent - 23) << 52);
}

/* The error in ulp. What overflows clearly must be infinite; what is near an edge goes to MPFR. */
static double error_of(judged function, float x, float result, double truth) {
  if ((signbit(result) != 0) != (signbit(truth) != 0)) return INFINITY;
  if (fabs(truth) >= 0x1p128) return isinf(result) ? 0.0 : INFINITY;
  if (isinf(result) || fabs(truth) > 0x1.fffffep127) return error_by_mpfr(function, x, result);
  double error = fabs((double)result - truth) / unit_of(truth);
  return error > 0.999 ? error_by_mpfr(function, x, result) : error;
}

static void judge_one(judged function, float x, float result, verdict *v) {
  double truth = libm_value(function, (double)x);
  if (truth != truth) {
    v->wrong += tn_bits_f32(result) != 0x7fc00000u;
    return;
  }
  double error = error_of(function, x, result, truth);
  v->misrounded += (float)truth != result;
  v->wrong += !(error <= 1.0);
  if (error > v->worst) {
    v->worst = error;
    v->at = tn_bits_f32(x);
  }
}

/* The floats with bits start .. start + BLOCK, and their negatives, which are judged by symmetry
 * where there is one. */
static void judge_block(judged function, lanes_function *wide, uint32_t start, verdict *v) {
  float x[BLOCK], minus[BLOCK], result[BLOCK], mirrored[BLOCK];
  for (uint32_t i = 0; i < BLOCK; i++) {
    x[i] = tn_float_of_bits(start + i);
    minus[i] = tn_float_of_bits((start + i) ^ 0x80000000u);
  }
  wide(x, x, x, result, BLOCK);
  wide(minus, minus, minus, mirrored, BLOCK);
  bool odd = function == OF_TANH || function == OF_ERF || function == OF_SIN, even = function == OF_COS;
  for (uint32_t i = 0; i < BLOCK; i++) {
    judge_one(function, x[i], result[i], v);
    float mirror = odd && result[i] == result[i] ? -result[i] : result[i];
    if (!odd && !even) judge_one(function, minus[i], mirrored[i], v);
    else v->wrong += tn_bits_f32(mirrored[i]) != tn_bits_f32(mirror);
  }
  for (uint32_t i = (start / BLOCK) % 16; i < BLOCK; i += 16) {
    v->wrong += tn_bits_f32(judged_functions[function].f32(x[i])) != tn_bits_f32(result[i]);
    v->wrong += tn_bits_f32(judged_functions[function].f32(minus[i])) != tn_bits_f32(mirrored[i]);
  }
}

enum { THREADS = 64 };

typedef struct {
  judged function;
  lanes_function *wide;
  verdict of[THREADS];
} judgement;

static void judge_part(void *context, const tn_part *part) {
  judgement *j = context;
  int64_t blocks = (1ll << 31) / BLOCK, end = blocks * (part->number + 1) / part->count;
  for (int64_t block = blocks * part->number / part->count; block < end; block++)
    judge_block(j->function, j->wide, (uint32_t)(block * BLOCK), &j->of[part->thread]);
}

static void join_verdicts(const judgement *j, verdict *all) {
  for (int i = 0; i < THREADS; i++) {
    const verdict *mine = &j->of[i];
    if (mine->worst > all->worst) {
      all->worst = mine->worst;
      all->at = mine->at;
    }
    all->misrounded += mine->misrounded;
    all->wrong += mine->wrong;
  }
}

static int threads_here(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores < THREADS ? (int)cores : THREADS;
}

static void judge_all(judged function) {
  size_t tables;
  const lanes_table *const *table = lanes_available(&tables);
  lanes_function *wide = lanes_find(table[tables - 1], judged_functions[function].name);
  verdict all = { 0 };
  time_t begin = time(NULL);
  judgement j = { .function = function, .wide = wide };
  tn_heap heap = { 0 };
  int threads = threads_here();
  tn_pool *pool = tn_pool_new(&heap, threads);
  assert_non_null(pool);
  tn_pool_run(pool, &(tn_work){
                        .run = judge_part, .context = &j, .cost = 1e11, .threads = threads, .pieces = 512 });
  tn_pool_free(pool);
  join_verdicts(&j, &all);
  print_message("%-8s %.6f ulp at %a, %llu of 2^32 not rounded correctly, %.0f s (%s)\n",
                judged_functions[function].name, all.worst, (double)tn_float_of_bits(all.at),
                (unsigned long long)all.misrounded, difftime(time(NULL), begin), table[tables - 1]->isa);
  assert_int_equal(all.wrong, 0);
  assert_true(all.worst <= 1.0);
}

static void exp_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_EXP); }
static void log_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_LOG); }
static void tanh_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_TANH); }
static void sigmoid_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_SIGMOID); }
static void erf_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_ERF); }
static void sin_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_SIN); }
static void cos_of_every_float_is_within_one_ulp(void **state) { (void)state; judge_all(OF_COS); }

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(exp_of_every_float_is_within_one_ulp),
    cmocka_unit_test(log_of_every_float_is_within_one_ulp),
    cmocka_unit_test(tanh_of_every_float_is_within_one_ulp),
    cmocka_unit_test(sigmoid_of_every_float_is_within_one_ulp),
    cmocka_unit_test(erf_of_every_float_is_within_one_ulp),
    cmocka_unit_test(sin_of_every_float_is_within_one_ulp),
    cmocka_unit_test(cos_of_every_float_is_within_one_ulp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
