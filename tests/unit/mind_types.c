/* How dimensions meet, as the draft's table says, and how types are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lang/mind/type.h"

enum { N = 1, M = 2 };
#define UNK TN_DIM_UNKNOWN

static void the_table_of_dimensions(void **state) {
  (void)state;
  static const struct {
    int64_t left, right, result;
    bool fits;
  } table[] = {
    { 3, 3, 3, true }, /* Known == Known */
    { 3, 4, 0, false },
    { 3, TN_DIM_SYMBOL(N), 3, true }, /* Known, Sym */
    { TN_DIM_SYMBOL(N), 3, 3, true },
    { TN_DIM_SYMBOL(N), TN_DIM_SYMBOL(N), TN_DIM_SYMBOL(N), true },
    { TN_DIM_SYMBOL(N), TN_DIM_SYMBOL(M), TN_DIM_SYMBOL(N), true }, /* Sym, Sym: the left one */
    { UNK, 3, 3, true },
    { TN_DIM_SYMBOL(M), UNK, TN_DIM_SYMBOL(M), true },
    { UNK, UNK, UNK, true },
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    int64_t result = 0;
    assert_int_equal(tn_mind_unify_dim(NULL, table[i].left, table[i].right, &result), table[i].fits);
    if (table[i].fits) assert_true(result == table[i].result);
  }
}

typedef struct {
  tn_heap heap;
  tn_arena arena;
  tn_mind_bindings symbols;
} bench;

static void bench_open(bench *b) {
  *b = (bench){ 0 };
  tn_arena_init(&b->arena, &b->heap);
  b->symbols.arena = &b->arena;
}

static bool meet(bench *b, tn_shape annotation, tn_shape value, tn_shape *out, tn_name *symbol) {
  int dimension;
  return tn_mind_unify_annotation(&annotation, &value, &b->symbols, out, &dimension, symbol);
}

static void a_symbol_of_an_annotation_takes_one_size(void **state) {
  (void)state;
  bench b;
  tn_shape out;
  tn_name symbol;
  bench_open(&b);
  tn_shape square = tn_shape_make(2, TN_DIM_SYMBOL(N), TN_DIM_SYMBOL(N));
  assert_true(meet(&b, square, tn_shape_make(2, (int64_t)2, (int64_t)2), &out, &symbol));
  assert_int_equal(out.dim[0], 2);
  assert_true(tn_mind_bound(&b.symbols, TN_DIM_SYMBOL(N)) == 2);
  assert_false(meet(&b, square, tn_shape_make(2, (int64_t)2, (int64_t)3), &out, &symbol));
  assert_int_equal(symbol, N);
  tn_arena_free(&b.arena);
}

static void a_symbol_that_met_a_name_may_meet_a_length(void **state) {
  (void)state;
  bench b;
  tn_shape out, row = tn_shape_make(1, TN_DIM_SYMBOL(N));
  tn_name symbol;
  bench_open(&b);
  assert_true(meet(&b, row, tn_shape_make(1, TN_DIM_SYMBOL(M)), &out, &symbol));
  assert_true(out.dim[0] == TN_DIM_SYMBOL(N));
  assert_true(meet(&b, row, tn_shape_make(1, (int64_t)5), &out, &symbol));
  assert_int_equal(out.dim[0], 5);
  assert_false(meet(&b, row, tn_shape_make(1, (int64_t)6), &out, &symbol));
  tn_arena_free(&b.arena);
}

static void an_annotation_of_another_rank_never_fits(void **state) {
  (void)state;
  bench b;
  tn_shape out;
  tn_name symbol;
  bench_open(&b);
  assert_false(
      meet(&b, tn_shape_make(1, (int64_t)3), tn_shape_make(2, (int64_t)2, (int64_t)3), &out, &symbol));
  assert_false(
      meet(&b, tn_shape_make(2, TN_DIM_SYMBOL(N), (int64_t)3), tn_shape_make(1, (int64_t)3), &out, &symbol));
  tn_arena_free(&b.arena);
}

/* Unequal ranks: what is missing is unknown, and so is a mismatch. */
static void branches_of_unequal_rank_have_unknown_dimensions(void **state) {
  (void)state;
  tn_shape matrix = tn_shape_make(2, (int64_t)2, (int64_t)3), row = tn_shape_make(1, (int64_t)2), out;
  int dimension;
  assert_true(tn_mind_unify_branches(NULL, &matrix, &row, &out, &dimension));
  assert_int_equal(out.rank, 2);
  assert_int_equal(out.dim[0], 2);
  assert_true(out.dim[1] == UNK);
  row.dim[0] = 7;
  assert_true(tn_mind_unify_branches(NULL, &row, &matrix, &out, &dimension));
  assert_true(out.dim[0] == UNK && out.dim[1] == UNK);
  tn_shape other = tn_shape_make(2, (int64_t)2, (int64_t)4);
  assert_false(tn_mind_unify_branches(NULL, &matrix, &other, &out, &dimension));
  assert_int_equal(dimension, 1);
}

static void types_are_written_as_they_are_read(void **state) {
  (void)state;
  bench b;
  bench_open(&b);
  tn_names *names = tn_names_new(&b.heap);
  tn_name n = tn_names_intern(names, TN_LIT("N"));
  tn_shape shape = tn_shape_make(3, TN_DIM_SYMBOL(n), (int64_t)3, UNK), none = { 0 };
  const tn_mind_type *items[] = { tn_mind_type_scalar(TN_I32),
                                  tn_mind_type_tensor(&b.arena, TN_F32, &shape, TN_MIND_GPU),
                                  tn_mind_type_tensor(&b.arena, TN_BOOL, &none, TN_MIND_CPU),
                                  &tn_mind_type_string, &tn_mind_type_unit };
  const tn_mind_type *tuple = tn_mind_type_items(&b.arena, TN_MIND_T_TUPLE, items, NULL, 5);
  tn_text text;
  tn_text_init(&text, &b.heap);
  tn_mind_type_print(tuple, names, &text);
  assert_true(
      tn_str_is(tn_text_str(&text), "(i32, Tensor[f32,(N,3,UNK)]@gpu, Tensor[bool,()], string, unit)"));
  tn_text_free(&text);
  tn_names_free(names);
  tn_arena_free(&b.arena);
  assert_int_equal(b.heap.used, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_table_of_dimensions),
    cmocka_unit_test(a_symbol_of_an_annotation_takes_one_size),
    cmocka_unit_test(a_symbol_that_met_a_name_may_meet_a_length),
    cmocka_unit_test(an_annotation_of_another_rank_never_fits),
    cmocka_unit_test(branches_of_unequal_rank_have_unknown_dimensions),
    cmocka_unit_test(types_are_written_as_they_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
