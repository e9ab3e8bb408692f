/* tests/unit/cpu_parts.c: how the cpu back end cuts work into parts and iterates over views together.
 *
 * What its kernels compute is the business of tests/ops; here are the pieces they stand on, where a part
 * that is left out or done twice would only show for some sizes and numbers of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cpu/internal.h"
#include "backend/cpu/iterator.h"

static void shares_follow_one_another_and_leave_nothing_out(void **state) {
  (void)state;
  static const int64_t grains[] = { 1, 4, 16, 512 };
  for (int64_t count = 0; count < 1200; count += count < 40 ? 1 : 37) {
    for (size_t g = 0; g < 4; g++) {
      for (int parts = 1; parts <= 17; parts++) {
        int64_t expected = 0, begin, end;
        for (int number = 0; number < parts; number++) {
          tn_cpu_part part = { .number = number, .count = parts };
          tn_cpu_share(count, grains[g], &part, &begin, &end);
          if (begin >= end) continue; /* more parts than grains */
          assert_int_equal(begin, expected);
          assert_int_equal(begin % grains[g], 0);
          expected = end;
        }
        assert_int_equal(expected, count);
      }
    }
  }
}

/* first * number / count would not fit into 64 bits. */
static void shares_of_the_most_elements_are_even(void **state) {
  (void)state;
  const int64_t count = INT64_C(1) << 40;
  const int parts = 1 << 28;
  for (int number = 0; number < parts; number += (1 << 22) - 1) {
    int64_t begin, end;
    tn_cpu_share(count, 1, &(tn_cpu_part){ .number = number, .count = parts }, &begin, &end);
    assert_int_equal(begin, (int64_t)number * 4096);
    assert_int_equal(end - begin, 4096);
  }
}

static void small_work_stays_on_one_thread(void **state) {
  (void)state;
  assert_int_equal(tn_cpu_threads_for(10000, 16), 2); /* 10 microseconds never call sixteen */
  assert_int_equal(tn_cpu_threads_for(30000, 16), 7);
  assert_int_equal(tn_cpu_threads_for(100000, 16), 13);
  assert_int_equal(tn_cpu_threads_for(150000, 16), 16);
  assert_int_equal(tn_cpu_threads_for(0, 8), 1);
  assert_int_equal(tn_cpu_threads_for(7999, 8), 1);
  assert_int_equal(tn_cpu_threads_for(8000, 8), 2);
  assert_int_equal(tn_cpu_threads_for(1e18, 8), 8);
  assert_int_equal(tn_cpu_threads_for(1e18, 1), 1);
  assert_int_equal(tn_cpu_threads_for(1e18, 0), 1);
}

/* ---- grids ---- */

static int64_t grains_of(int64_t count, int64_t grain) { return (count + grain - 1) / grain; }

/* The largest place of a grid, in elements. */
static int64_t largest_place(tn_cpu_grid grid, int64_t m, int64_t row, int64_t n, int64_t column) {
  int64_t high = grains_of(grains_of(m, row), grid.rows) * row;
  int64_t wide = grains_of(grains_of(n, column), grid.columns) * column;
  return (high < m ? high : m) * (wide < n ? wide : n);
}

static void a_grid_has_a_place_for_each_thread_and_none_is_empty(void **state) {
  (void)state;
  for (int threads = 1; threads <= 65; threads++)
    for (int64_t m = 1; m < 3000; m = m * 3 + 1)
      for (int64_t n = 1; n < 3000; n = n * 2 + 1) {
        tn_cpu_grid grid = tn_cpu_grid_for(threads, m, 8, n, 32);
        assert_true(grid.rows >= 1 && grid.columns >= 1 && grid.rows * grid.columns <= threads);
        assert_true(grid.rows <= grains_of(m, 8) && grid.columns <= grains_of(n, 32));
      }
}

/* Two threads share the longer side; many make places that are about square, which read least. */
static void places_are_even_and_about_square(void **state) {
  (void)state;
  tn_cpu_grid halves = tn_cpu_grid_for(2, 784, 8, 512, 32), sides = tn_cpu_grid_for(2, 64, 8, 512, 32);
  assert_true(halves.rows == 2 && halves.columns == 1);
  assert_true(sides.rows == 1 && sides.columns == 2);
  tn_cpu_grid square = tn_cpu_grid_for(16, 2048, 8, 2048, 32);
  assert_true(square.rows == 4 && square.columns == 4);
  static const int64_t sizes[][2] = { { 64, 512 }, { 784, 512 }, { 512, 512 }, { 256, 4096 }, { 4096, 1000 },
                                      { 25088, 16 }, { 1024, 128 }, { 32, 2048 } };
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int threads = 2; threads <= 16; threads *= 2) {
      int64_t m = sizes[i][0], n = sizes[i][1];
      tn_cpu_grid grid = tn_cpu_grid_for(threads, m, 8, n, 32);
      double share = (double)m * (double)n / threads;
      assert_true((double)largest_place(grid, m, 8, n, 32) <= 1.05 * share);
    }
}

static void batches_are_cut_where_products_do_not_come_out_even(void **state) {
  (void)state;
  assert_int_equal(tn_cpu_bands_for(16, 32, 128, 8, 128), 1); /* two for each */
  assert_int_equal(tn_cpu_bands_for(16, 1000, 128, 8, 128), 1);
  assert_int_equal(tn_cpu_bands_for(1, 3, 128, 8, 128), 1);
  assert_int_equal(tn_cpu_bands_for(16, 24, 128, 8, 128), 2); /* three halves for each */
  assert_int_equal(tn_cpu_bands_for(16, 8, 128, 8, 128), 2);
  assert_int_equal(tn_cpu_bands_for(16, 4, 128, 8, 128), 4);
  assert_int_equal(tn_cpu_bands_for(16, 4, 8, 8, 128), 1); /* a row of tiles is not cut */
}

typedef struct {
  int seen[16], parts[16];
} attendance;

static void attend(void *context, const tn_cpu_part *part) {
  attendance *list = context;
  list->seen[part->number]++;
  list->parts[part->number] = part->count;
}

static void every_part_runs_once(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_pool *pool = tn_pool_new(&heap, 16);
  static const int counts[] = { 0, 1, 2, 3, 7, 16, 16, 7, 3, 2, 1, 0 };
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    int threads = counts[i];
    attendance list = { 0 };
    tn_cpu_parallel(&(tn_kernel_call){ .pool = i < 6 ? NULL : pool }, threads, 1e9, attend, &list);
    int parts = list.parts[0];
    assert_in_range(parts, 1, threads > 1 ? threads : 1);
    for (int part = 0; part < 16; part++) {
      assert_int_equal(list.seen[part], part < parts);
      assert_int_equal(list.parts[part], part < parts ? parts : 0);
    }
  }
  tn_pool_free(pool);
}

#define PIECES 64
typedef struct {
  atomic_int seen[PIECES], done;
  tn_stop *stop; /* asked for by the first part */
} pieces;

static void do_piece(void *context, const tn_cpu_part *part) {
  pieces *p = context;
  assert_in_range(part->count, 1, PIECES);
  assert_in_range(part->thread, 0, 1);
  p->seen[part->number]++;
  p->done++;
  if (p->stop) tn_stop_ask(p->stop);
}

static void long_work_is_cut_and_every_piece_runs_once(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  tn_heap heap = { 0 };
  tn_kernel_call call = { .stop = &stop, .pool = tn_pool_new(&heap, 2) };
  for (int threads = 1; threads <= 2; threads++) {
    pieces p = { 0 };
    tn_cpu_run(&call, threads, 40e6, do_piece, &p);
    assert_in_range(p.done, 10, PIECES);
    for (int i = 0; i < PIECES; i++) assert_int_equal(p.seen[i], i < p.done);
    p = (pieces){ 0 };
    tn_cpu_run(&call, threads, 1000, do_piece, &p);
    assert_in_range(p.done, 1, threads);
  }
  tn_pool_free(call.pool);
}

/* A thread that comes late by a part of its own, or is half as fast as others, would double the time. */
static void threads_that_are_slow_leave_parts_to_others(void **state) {
  (void)state;
  assert_int_equal(tn_cpu_even_pieces(4, 1.68e6, 512), 8); /* layer_norm 4096x1024 */
  assert_int_equal(tn_cpu_even_pieces(16, 1.68e6, 512), 4);
  assert_int_equal(tn_cpu_even_pieces(16, 142e3, 512), 1); /* parts would be too short */
  assert_int_equal(tn_cpu_even_pieces(4, 1e9, 12), 3);     /* each has a unit at least */
  assert_int_equal(tn_cpu_even_pieces(4, 1e9, 3), 1);
  assert_int_equal(tn_cpu_even_pieces(1, 1e9, 512), 1);
  tn_heap heap = { 0 };
  tn_kernel_call call = { .pool = tn_pool_new(&heap, 2) };
  pieces p = { 0 };
  tn_cpu_run_evenly(&call, 2, 1000, 1e6, do_piece, &p);
  assert_int_equal(p.done, tn_pool_state(call.pool).helpers == 1 ? 16 : 1);
  for (int i = 0; i < PIECES; i++) assert_int_equal(p.seen[i], i < p.done);
  static const int tiles[][2] = { { 40, 4 }, { 13, 3 }, { 7, 1 } }; /* milliseconds, parts of each thread */
  for (int i = 0; i < 3; i++) {
    p = (pieces){ 0 };
    tn_cpu_run_tiles(&call, 2, tiles[i][0] * 1e6, do_piece, &p);
    assert_int_equal(p.done, tn_pool_state(call.pool).helpers == 1 ? 2 * tiles[i][1] : 1);
  }
  p = (pieces){ 0 };
  tn_cpu_run_tiles(&call, 1, 1e9, do_piece, &p);
  assert_int_equal(p.done, 1);
  tn_pool_free(call.pool);
}

static void a_stop_leaves_the_pieces_that_have_not_begun(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    tn_stop stop = { 0 };
    tn_heap heap = { 0 };
    tn_kernel_call call = { .stop = &stop, .pool = tn_pool_new(&heap, 2) };
    pieces p = { .stop = &stop };
    tn_cpu_run(&call, threads, 40e6, do_piece, &p);
    assert_in_range(p.done, 1, threads);
    tn_pool_free(call.pool);
  }
}

static void runs_of_every_length_are_copied_whole(void **state) {
  (void)state;
  char from[400], to[400];
  for (size_t i = 0; i < sizeof from; i++) from[i] = (char)(i * 7 + 1);
  for (size_t bytes = 0; bytes <= 300; bytes++) {
    memset(to, 0, sizeof to);
    tn_cpu_copy_run(to + 8, from + 3, bytes);
    assert_memory_equal(to + 8, from + 3, bytes);
    assert_int_equal(to[7], 0);
    assert_int_equal(to[8 + bytes], 0);
  }
}

/* ---- iterators ---- */

static tn_view view_of(tn_shape shape) { return tn_view_make(NULL, TN_F32, &shape); }

static void contiguous_axes_become_one(void **state) {
  (void)state;
  tn_view x = view_of(tn_shape_make(4, 2, 1, 3, 5));
  tn_cpu_iterator it;
  tn_cpu_iterator_init(&it, &x);
  tn_cpu_iterator_add(&it, &x);
  tn_cpu_iterator_merge(&it);
  assert_int_equal(it.rank, 1);
  assert_int_equal(it.dim[0], 30);
  assert_int_equal(it.stride[0][0], 1);
}

static void an_axis_that_one_view_repeats_stays_apart(void **state) {
  (void)state;
  tn_view z = view_of(tn_shape_make(3, 2, 3, 5)), row = view_of(tn_shape_make(1, 5));
  tn_cpu_iterator it;
  tn_cpu_iterator_init(&it, &z);
  tn_cpu_iterator_add(&it, &z);
  tn_cpu_iterator_add(&it, &row);
  tn_cpu_iterator_merge(&it);
  assert_int_equal(it.rank, 2);
  assert_int_equal(it.dim[0], 6);
  assert_int_equal(it.stride[1][0], 0);
  assert_int_equal(it.stride[1][1], 1);
}

static void a_single_element_is_an_axis_too(void **state) {
  (void)state;
  tn_view scalar = view_of(TN_SCALAR_SHAPE);
  tn_cpu_iterator it;
  tn_cpu_iterator_init(&it, &scalar);
  tn_cpu_iterator_add(&it, &scalar);
  tn_cpu_iterator_merge(&it);
  assert_int_equal(it.rank, 1);
  assert_int_equal(it.dim[0], 1);
}

/* Threads start anywhere: seeking must agree with stepping, for transposed and repeated views. */
static void seeking_agrees_with_stepping(void **state) {
  (void)state;
  tn_view z = view_of(tn_shape_make(3, 4, 3, 5)), column = view_of(tn_shape_make(2, 3, 1));
  tn_view base = view_of(tn_shape_make(3, 5, 3, 4)), turned = tn_view_permute(&base, (int[]){ 2, 1, 0 });
  tn_cpu_iterator it, jump;
  tn_cpu_iterator_init(&it, &z);
  tn_cpu_iterator_add(&it, &z);
  tn_cpu_iterator_add(&it, &turned);
  tn_cpu_iterator_add(&it, &column);
  tn_cpu_iterator_merge(&it);
  tn_cpu_iterator_copy(&jump, &it);
  tn_cpu_iterator_seek(&it, it.rank, 0);
  assert_int_equal(tn_cpu_iterator_count(&it, 0, it.rank), 60);
  for (int64_t i = 0; i < 60; i++, tn_cpu_iterator_next(&it, it.rank)) {
    tn_cpu_iterator_seek(&jump, jump.rank, i);
    for (int v = 0; v < 3; v++) assert_int_equal(it.offset[v], jump.offset[v]);
    assert_int_equal(it.offset[0], i);
    assert_int_equal(it.offset[1], i / 15 + i / 5 % 3 * 4 + i % 5 * 12);
    assert_int_equal(it.offset[2], i / 5 % 3);
  }
  for (int v = 0; v < 3; v++) assert_int_equal(it.offset[v], 0); /* round it goes */
}

static void flat_means_row_major_without_gaps(void **state) {
  (void)state;
  tn_view x = view_of(tn_shape_make(3, 2, 1, 3));
  assert_true(tn_cpu_is_flat(&x));
  x.stride[1] = 99; /* of an axis of length 1 */
  assert_true(tn_cpu_is_flat(&x));
  x.stride[0] = 4;
  assert_false(tn_cpu_is_flat(&x));
}

/* ---- instruction sets ---- */

static void the_first_available_set_is_the_one_that_runs(void **state) {
  (void)state;
  const char *isa, *best = NULL, *last = NULL;
  bool available;
  for (int i = 0; (isa = tn_backend_cpu_isa(i, &available)); i++) {
    const tn_backend *named = tn_backend_cpu(isa);
    assert_int_equal(named != NULL, available);
    if (named) assert_string_equal(named->isa, isa);
    if (available && !best) best = isa;
    last = isa;
  }
  assert_string_equal(tn_backend_cpu(NULL)->isa, best);
  assert_string_equal(last, "portable"); /* which is always there */
  assert_non_null(tn_backend_cpu("portable"));
  assert_null(tn_backend_cpu("abacus"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(shares_follow_one_another_and_leave_nothing_out),
    cmocka_unit_test(shares_of_the_most_elements_are_even),
    cmocka_unit_test(small_work_stays_on_one_thread),
    cmocka_unit_test(long_work_is_cut_and_every_piece_runs_once),
    cmocka_unit_test(threads_that_are_slow_leave_parts_to_others),
    cmocka_unit_test(a_stop_leaves_the_pieces_that_have_not_begun),
    cmocka_unit_test(a_grid_has_a_place_for_each_thread_and_none_is_empty),
    cmocka_unit_test(places_are_even_and_about_square),
    cmocka_unit_test(batches_are_cut_where_products_do_not_come_out_even),
    cmocka_unit_test(every_part_runs_once),
    cmocka_unit_test(runs_of_every_length_are_copied_whole),
    cmocka_unit_test(contiguous_axes_become_one),
    cmocka_unit_test(an_axis_that_one_view_repeats_stays_apart),
    cmocka_unit_test(a_single_element_is_an_axis_too),
    cmocka_unit_test(seeking_agrees_with_stepping),
    cmocka_unit_test(flat_means_row_major_without_gaps),
    cmocka_unit_test(the_first_available_set_is_the_one_that_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
