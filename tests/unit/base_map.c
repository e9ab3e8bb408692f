/* The hash table: finds what was put in, in the order it was put in. */
#include "base_support.h"

#include "base/map.h"

static void an_empty_map_finds_nothing(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_map map;
  tn_map_init(&map, &heap);
  assert_null(tn_map_get(&map, 0));
  assert_null(tn_map_get(&map, 42));
  tn_map_clear(&map);
  tn_map_free(&map);
  assert_int_equal(heap.requests, 0);
}

static void what_was_put_is_found(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_map map;
  tn_map_init(&map, &heap);
  for (uint64_t i = 0; i < 20000; i++) assert_true(tn_map_put(&map, i << 20, i));
  for (uint64_t i = 0; i < 20000; i++) assert_int_equal(*tn_map_get(&map, i << 20), i);
  assert_null(tn_map_get(&map, 1));
  assert_null(tn_map_get(&map, UINT64_MAX));
  assert_int_equal(map.count, 20000);
  tn_map_free(&map);
  assert_int_equal(heap.used, 0);
}

static void putting_again_replaces(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_map map;
  tn_map_init(&map, &heap);
  tn_map_put(&map, 0, 1);
  tn_map_put(&map, UINT64_MAX, 2);
  tn_map_put(&map, 0, 3);
  assert_int_equal(map.count, 2);
  assert_int_equal(*tn_map_get(&map, 0), 3);
  assert_int_equal(*tn_map_get(&map, UINT64_MAX), 2);
  tn_map_free(&map);
}

static void entries_keep_the_order_of_insertion(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_map map;
  uint64_t seed = 5, again = 5;
  tn_map_init(&map, &heap);
  for (int i = 0; i < 1000; i++) tn_map_put(&map, random_bits(&seed), (uint64_t)i);
  for (int i = 0; i < 1000; i++) {
    assert_true(map.entries[i].key == random_bits(&again));
    assert_int_equal(map.entries[i].value, i);
  }
  tn_map_free(&map);
}

static void a_cleared_map_keeps_its_memory(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_map map;
  tn_map_init(&map, &heap);
  for (uint64_t i = 0; i < 100; i++) tn_map_put(&map, i, i);
  uint64_t requests = heap.requests;
  tn_map_clear(&map);
  assert_int_equal(map.count, 0);
  assert_null(tn_map_get(&map, 5));
  for (uint64_t i = 100; i < 200; i++) tn_map_put(&map, i, i);
  assert_int_equal(heap.requests, requests);
  assert_int_equal(*tn_map_get(&map, 150), 150);
  tn_map_free(&map);
}

/* Every put that fails leaves the map as it was. */
static bool use_map(tn_heap *heap) {
  tn_map map;
  bool good = true;
  tn_map_init(&map, heap);
  for (uint64_t i = 0; i < 60; i++) {
    size_t before = map.count;
    if (tn_map_put(&map, i, i + 1)) continue;
    good = false;
    assert_int_equal(map.count, before);
    assert_null(tn_map_get(&map, i));
  }
  for (size_t i = 0; i < map.count; i++) {
    assert_int_equal(*tn_map_get(&map, map.entries[i].key), map.entries[i].key + 1);
  }
  tn_map_free(&map);
  return good;
}

static void what_came_last_can_be_taken_out(void **state) {
  (void)state;
  tn_heap heap = { 0 };
  tn_map map;
  tn_map_init(&map, &heap);
  for (uint64_t i = 0; i < 5000; i++) assert_true(tn_map_put(&map, i * 7, i));
  for (size_t count = 4999; count > 0; count = count > 833 ? count - 833 : 0) {
    tn_map_rewind(&map, count);
    assert_int_equal(map.count, count);
    for (uint64_t i = 0; i < 5000; i++) assert_int_equal(tn_map_get(&map, i * 7) != NULL, i < count);
  }
  for (uint64_t i = 0; i < 5000; i++) assert_true(tn_map_put(&map, i * 7, i + 1));
  for (uint64_t i = 0; i < 5000; i++) assert_int_equal(*tn_map_get(&map, i * 7), i + 1);
  tn_map_rewind(&map, 0);
  assert_null(tn_map_get(&map, 0));
  tn_map_free(&map);
  assert_int_equal(heap.used, 0);
}

static void a_map_survives_every_failed_request(void **state) {
  (void)state;
  fail_every_request(use_map);
}

RUN_TESTS(
  cmocka_unit_test(an_empty_map_finds_nothing),
  cmocka_unit_test(what_was_put_is_found),
  cmocka_unit_test(putting_again_replaces),
  cmocka_unit_test(entries_keep_the_order_of_insertion),
  cmocka_unit_test(a_cleared_map_keeps_its_memory),
  cmocka_unit_test(what_came_last_can_be_taken_out),
  cmocka_unit_test(a_map_survives_every_failed_request))
