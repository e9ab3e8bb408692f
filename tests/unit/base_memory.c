/* Heap, arena and vector: what is asked for, what is refused, what is counted. */
#include "base_support.h"

#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/machine.h"
#include "base/vec.h"

static bool all_zero(const void *at, size_t bytes) {
  const unsigned char *b = at;
  for (size_t i = 0; i < bytes; i++) {
    if (b[i]) return false;
  }
  return true;
}

/* ---- heap ---- */

static void checked_sizes_refuse_to_overflow(void **state) {
  (void)state;
  size_t out = 7;
  assert_false(tn_size_mul(SIZE_MAX / 2 + 1, 2, &out));
  assert_false(tn_size_mul(SIZE_MAX, SIZE_MAX, &out));
  assert_false(tn_size_add(SIZE_MAX, 1, &out));
  assert_int_equal(out, 7);
  assert_true(tn_size_mul(SIZE_MAX / 2, 2, &out));
  assert_true(out == SIZE_MAX - 1);
  assert_true(tn_size_mul(0, SIZE_MAX, &out));
  assert_int_equal(out, 0);
  assert_true(tn_size_add(SIZE_MAX - 1, 1, &out));
  assert_true(out == SIZE_MAX);
}

static void memory_comes_zeroed_and_is_counted(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  char *a = tn_heap_alloc(&heap, 1000);
  assert_true(all_zero(a, 1000));
  memset(a, 1, 1000);
  char *b = tn_heap_alloc(&heap, 24);
  assert_int_equal(heap.used, 1024);
  tn_heap_free(&heap, a, 1000);
  assert_int_equal(heap.used, 24);
  assert_int_equal(heap.peak, 1024);
  assert_int_equal(heap.requests, 2);
  tn_heap_free(&heap, b, 24);
  tn_heap_free(&heap, NULL, 0);
  assert_int_equal(heap.used, 0);
  assert_false(heap.failed);
}

static void nothing_to_do_is_not_a_failure(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  assert_null(tn_heap_alloc(&heap, 0));
  assert_null(tn_heap_alloc_aligned(&heap, 0, 64));
  assert_null(tn_heap_resize(&heap, NULL, 0, 0));
  assert_false(heap.failed);
  assert_int_equal(heap.requests, 0);
}

static void growing_keeps_the_old_and_zeroes_the_new(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  char *at = tn_heap_resize(&heap, NULL, 0, 10);
  memset(at, 'x', 10);
  at = tn_heap_resize(&heap, at, 10, 5000);
  assert_memory_equal(at, "xxxxxxxxxx", 10);
  assert_true(all_zero(at + 10, 4990));
  at = tn_heap_resize(&heap, at, 5000, 4);
  assert_memory_equal(at, "xxxx", 4);
  assert_int_equal(heap.used, 4);
  assert_int_equal(heap.peak, 5000);
  assert_null(tn_heap_resize(&heap, at, 4, 0));
  assert_int_equal(heap.used, 0);
  assert_false(heap.failed);
}

static void the_machine_has_a_limit_of_its_own(void **state) {
  (void)state;
  tn_heap heap = { .ceiling = 100 };
  assert_null(tn_heap_alloc(&heap, 101));
  char *at = tn_heap_alloc(&heap, 100);
  assert_non_null(at);
  tn_heap_free(&heap, at, 100);
#if defined(__linux__)
  assert_true(tn_machine_memory() > ((size_t)1 << 20));
#endif
}

static void there_is_room_for_the_report(void **state) {
  (void)state;
  tn_heap heap = { .limit = 100, .reporting = true };
  char *at = tn_heap_alloc(&heap, 100 + TN_HEAP_RESERVE);
  assert_non_null(at);
  assert_null(tn_heap_alloc(&heap, 1));
  tn_heap_free(&heap, at, 100 + TN_HEAP_RESERVE);
}

static void the_limit_is_kept(void **state) {
  (void)state;
  tn_heap heap = { .limit = 100 };
  char *a = tn_heap_alloc(&heap, 60);
  assert_non_null(a);
  assert_null(tn_heap_alloc(&heap, 41));
  assert_true(heap.failed);
  char *b = tn_heap_alloc(&heap, 40);
  assert_non_null(b);
  a[0] = 'a';
  assert_null(tn_heap_resize(&heap, a, 60, 61));
  assert_int_equal(a[0], 'a');   /* still there */
  assert_null(tn_heap_alloc(&heap, SIZE_MAX));
  tn_heap_free(&heap, b, 40);
  a = tn_heap_resize(&heap, a, 60, 100);
  assert_non_null(a);
  tn_heap_free(&heap, a, 100);
  assert_int_equal(heap.peak, 100);
}

static void the_chosen_request_fails(void **state) {
  (void)state;
  tn_heap once = { .fail_at = 2 }, onwards = { .fail_at = 2, .fail_onwards = true };
  void *a = tn_heap_alloc(&once, 8), *b = tn_heap_alloc(&once, 8), *c = tn_heap_alloc(&once, 8);
  assert_true(a && !b && c && once.failed);
  tn_heap_free(&once, a, 8);
  tn_heap_free(&once, c, 8);
  a = tn_heap_alloc(&onwards, 8), b = tn_heap_alloc(&onwards, 8), c = tn_heap_alloc_aligned(&onwards, 8, 64);
  assert_true(a && !b && !c && onwards.failed);
  assert_null(tn_heap_resize(&onwards, a, 8, 16));
  tn_heap_free(&onwards, a, 8);
}

static void a_heap_that_is_asked_to_stop_refuses_from_then_on(void **state) {
  (void)state;
  tn_stop stop = { .stop_at = 3 };
  tn_heap heap = { .stop = &stop, .stop_refuses = true };
  char *first = tn_heap_alloc(&heap, 8), *second = tn_heap_alloc(&heap, 8);
  assert_non_null(first);
  assert_non_null(second);
  assert_null(tn_heap_alloc(&heap, 8));
  assert_null(tn_heap_resize(&heap, first, 8, 16));
  assert_true(heap.stopped && heap.failed);
  assert_int_equal(stop.questions, 3);
  heap.stop_refuses = false;
  first = tn_heap_resize(&heap, first, 8, 16);
  assert_non_null(first);
  tn_heap_free(&heap, first, 16);
  tn_heap_free(&heap, second, 8);
  assert_int_equal(heap.used, 0);
}

static void memory_of_another_library_counts(void **state) {
  (void)state;
  tn_heap heap = { .limit = 1000 };
  assert_true(tn_heap_count(&heap, 0, 600));
  assert_int_equal(heap.used, 600);
  assert_null(tn_heap_alloc(&heap, 500));
  heap.failed = false;
  assert_false(tn_heap_count(&heap, 600, 1001));
  assert_true(heap.failed);
  assert_int_equal(heap.used, 600);
  heap.fail_at = 1, heap.fail_onwards = true;
  assert_false(tn_heap_count(&heap, 600, 700));
  assert_true(tn_heap_count(&heap, 600, 100)); /* less is never refused */
  assert_true(tn_heap_count(&heap, 100, 0));
  assert_int_equal(heap.used, 0);
  assert_int_equal(heap.peak, 600);
}

static void aligned_blocks_are_aligned(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  static const size_t sizes[] = { 1, 63, 64, 65, 100000, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 9 << 20 };
  for (size_t alignment = 64; alignment <= 4096; alignment *= 8) {
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
      char *at = tn_heap_alloc_aligned(&heap, sizes[i], alignment);
      assert_non_null(at);
      assert_int_equal((uintptr_t)at % alignment, 0);
      at[0] = at[sizes[i] - 1] = 1;
      assert_int_equal(heap.used, sizes[i]);
      tn_heap_free_aligned(&heap, at, sizes[i]);
    }
  }
  assert_null(tn_heap_alloc_aligned(&heap, SIZE_MAX - 10, 64));
  assert_true(heap.failed);
  assert_int_equal(heap.used, 0);
}

/* ---- arena ---- */

/* Bytes of this process that are in memory; skips the test where no file says so. */
static size_t resident(void) {
  unsigned long pages = 0, all;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file) skip();
  assert_int_equal(fscanf(file, "%lu %lu", &all, &pages), 2);
  fclose(file);
  return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A quarter of a megabyte after a huge page is not a huge page. A sanitizer keeps an eighth of its own. */
static void a_block_takes_no_more_than_it_holds(void **state) {
  (void)state;
  enum { BLOCKS = 16, BYTES = 9 << 18 };
  tn_heap heap = { 0 };
  char *blocks[BLOCKS];
  size_t before = resident();
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = tn_heap_alloc_aligned(&heap, BYTES, 64);
    assert_non_null(blocks[i]);
    memset(blocks[i], 1, BYTES);
  }
  size_t taken = resident() - before;
  assert_true(taken >= (size_t)BLOCKS * BYTES / 2);
  assert_true(taken <= (size_t)BLOCKS * BYTES / 4 * 5);
  for (int i = 0; i < BLOCKS; i++) tn_heap_free_aligned(&heap, blocks[i], BYTES);
  assert_int_equal(heap.used, 0);
}

static void an_arena_hands_out_aligned_zeroed_memory(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_arena arena;
  uint64_t seed = 1;
  tn_arena_init(&arena, &heap);
  for (int i = 0; i < 3000; i++) {
    size_t bytes = random_bits(&seed) % 300;
    if (i % 500 == 0) bytes = 3000000;
    char *at = tn_arena_alloc(&arena, bytes);
    assert_non_null(at);
    assert_int_equal((uintptr_t)at % 16, 0);
    assert_true(all_zero(at, bytes));
    memset(at, 0xff, bytes);
  }
  assert_false(arena.failed);
  tn_arena_free(&arena);
  assert_int_equal(heap.used, 0);
}

static void pieces_of_an_arena_do_not_overlap(void **state) {
  (void)state;
  enum { PIECES = 200 };
  tn_heap heap = { 0 };
  tn_arena arena;
  unsigned char *piece[PIECES];
  tn_arena_init(&arena, &heap);
  for (int i = 0; i < PIECES; i++) {
    size_t bytes = (size_t)i * (i % 20 == 0 ? 700 : 7);
    piece[i] = tn_arena_alloc(&arena, bytes);
    memset(piece[i], i, bytes);
  }
  for (int i = 0; i < PIECES; i++) {
    size_t bytes = (size_t)i * (i % 20 == 0 ? 700 : 7);
    for (size_t j = 0; j < bytes; j++) assert_int_equal(piece[i][j], i);
  }
  tn_arena_free(&arena);
}

static void an_arena_copies_texts_with_a_nul(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, &heap);
  tn_str copy = tn_arena_str(&arena, (tn_str){ "hello world", 5 });
  assert_str(copy, "hello");
  assert_string_equal(copy.at, "hello");
  assert_string_equal(tn_arena_str(&arena, (tn_str){ NULL, 0 }).at, "");
  int numbers[3] = { 1, 2, 3 }, *copied = tn_arena_copy(&arena, numbers, sizeof numbers);
  assert_memory_equal(copied, numbers, sizeof numbers);
  assert_non_null(tn_arena_copy(&arena, NULL, 0));
  tn_arena_free(&arena);
}

static void sizes_in_an_arena_are_checked(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, &heap);
  assert_null(tn_arena_array(&arena, SIZE_MAX / 2, 3));
  assert_true(arena.failed);
  tn_arena_reset(&arena);
  assert_false(arena.failed);
  assert_null(tn_arena_alloc(&arena, SIZE_MAX));
  assert_null(tn_arena_alloc(&arena, SIZE_MAX - 20));
  assert_int_equal(heap.requests, 0);   /* refused before memory is allocated */
  assert_non_null(tn_arena_array(&arena, 10, 3));
  tn_arena_free(&arena);
}

static void a_reset_arena_starts_again_with_one_chunk(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_arena_init(&arena, &heap);
  tn_arena_reset(&arena);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) {
      char *at = tn_arena_alloc(&arena, 400);
      assert_true(all_zero(at, 400));
      memset(at, 1, 400);
    }
    tn_arena_alloc(&arena, 5000000);
    tn_arena_reset(&arena);
    assert_in_range(heap.used, 1, 100000);   /* the large one is gone */
  }
  uint64_t requests = heap.requests;
  tn_arena_alloc(&arena, 64);
  assert_int_equal(heap.requests, requests);
  tn_arena_free(&arena);
  assert_int_equal(heap.used, 0);
}

static bool use_arena(tn_heap *heap) {
  tn_arena arena;
  tn_arena_init(&arena, heap);
  for (int i = 0; i < 40; i++) {
    void *at = tn_arena_alloc(&arena, (size_t)i * 333);
    if (!at) assert_true(arena.failed);
  }
  tn_str copy = tn_arena_str(&arena, TN_LIT("text"));
  assert_non_null(copy.at);   /* an empty string, not NULL, on failure */
  bool good = !arena.failed;
  tn_arena_free(&arena);
  return good;
}

static void an_arena_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(use_arena);
}

/* ---- vector ---- */

static void a_vector_grows_and_keeps_its_items(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_vec(int) v = { 0 };
  for (int i = 0; i < 10000; i++) assert_true(tn_vec_push(&heap, &v, i * 3));
  for (int i = 0; i < 10000; i++) assert_int_equal(v.at[i], i * 3);
  assert_int_equal(v.count, 10000);
  assert_true(heap.requests < 30);
  assert_int_equal(tn_vec_last(&v), 29997);
  assert_int_equal(tn_vec_pop(&v), 29997);
  assert_int_equal(v.count, 9999);
  tn_vec_free(&heap, &v);
  assert_null(v.at);
  assert_int_equal(heap.used, 0);
}

static void reserving_makes_room_without_items(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_vec(double) v = { 0 };
  assert_true(tn_vec_reserve(&heap, &v, 1000));
  assert_int_equal(v.count, 0);
  uint64_t requests = heap.requests;
  for (int i = 0; i < 1000; i++) tn_vec_push(&heap, &v, i);
  assert_int_equal(heap.requests, requests);
  tn_vec_free(&heap, &v);
}

static void a_vector_too_large_to_address_is_refused(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  size_t capacity = 0;
  assert_null(tn_vec_grow(&heap, NULL, &capacity, 8, 0, SIZE_MAX / 4));
  assert_true(heap.failed);
  heap.failed = false;
  assert_null(tn_vec_grow(&heap, NULL, &capacity, 1, 10, SIZE_MAX - 5));
  assert_true(heap.failed);
  assert_int_equal(capacity, 0);
  assert_int_equal(heap.requests, 0);
}

static bool use_vector(tn_heap *heap) {
  tn_vec(int) v = { 0 };
  bool good = true;
  for (int i = 0; i < 200; i++) {
    size_t before = v.count;
    if (tn_vec_push(heap, &v, i)) continue;
    good = false;
    assert_int_equal(v.count, before);
    if (before) assert_int_equal(v.at[before - 1], (int)before - 1 + (i - (int)before));
    break;
  }
  tn_vec_free(heap, &v);
  return good;
}

static void a_vector_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(use_vector);
}

RUN_TESTS(
  cmocka_unit_test(checked_sizes_refuse_to_overflow),
  cmocka_unit_test(memory_comes_zeroed_and_is_counted),
  cmocka_unit_test(nothing_to_do_is_not_a_failure),
  cmocka_unit_test(growing_keeps_the_old_and_zeroes_the_new),
  cmocka_unit_test(the_limit_is_kept),
  cmocka_unit_test(the_machine_has_a_limit_of_its_own),
  cmocka_unit_test(there_is_room_for_the_report),
  cmocka_unit_test(the_chosen_request_fails),
  cmocka_unit_test(a_heap_that_is_asked_to_stop_refuses_from_then_on),
  cmocka_unit_test(memory_of_another_library_counts),
  cmocka_unit_test(aligned_blocks_are_aligned),
  cmocka_unit_test(a_block_takes_no_more_than_it_holds),
  cmocka_unit_test(an_arena_hands_out_aligned_zeroed_memory),
  cmocka_unit_test(pieces_of_an_arena_do_not_overlap),
  cmocka_unit_test(an_arena_copies_texts_with_a_nul),
  cmocka_unit_test(sizes_in_an_arena_are_checked),
  cmocka_unit_test(a_reset_arena_starts_again_with_one_chunk),
  cmocka_unit_test(an_arena_survives_every_failed_request),
  cmocka_unit_test(a_vector_grows_and_keeps_its_items),
  cmocka_unit_test(reserving_makes_room_without_items),
  cmocka_unit_test(a_vector_too_large_to_address_is_refused),
  cmocka_unit_test(a_vector_survives_every_failed_request))
