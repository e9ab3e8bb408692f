/* tests/unit/base_stop.c: when a stop is noticed, forgotten and held. */
#include "base/stop.h"

#include "base/heap.h"
#include "base_support.h"

static void without_a_stop_the_answer_is_no(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  assert_false(tn_stop_asked(NULL));
  assert_false(tn_stop_asked(&stop));
  assert_true(tn_stop_time_left(NULL) < 0 && tn_stop_time_left(&stop) < 0);
}

static void a_wish_stays_until_the_next_operation_begins(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  tn_stop_ask(&stop);
  for (int i = 0; i < 3; i++) assert_true(tn_stop_asked(&stop));
  tn_stop_begin(&stop);
  assert_false(tn_stop_asked(&stop));
}

static void an_unnoticed_stop_stops_the_next_operation(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  tn_stop_ask(&stop);
  tn_stop_begin(&stop);
  assert_true(tn_stop_asked(&stop));
  tn_stop_ask(&stop);
  tn_stop_clear(&stop);
  assert_false(tn_stop_asked(&stop));
}

static void a_deadline_that_has_passed_stops_at_the_first_question(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  tn_stop_limit(&stop, 1e-9);
  while (tn_stop_time_left(&stop) > 0) continue;
  assert_true(tn_stop_asked(&stop));
  assert_true(stop.timed_out && !stop.asked);
  tn_stop_begin(&stop);
  assert_true(tn_stop_asked(&stop)); /* the time is still over */
  tn_stop_limit(&stop, 1e9);
  for (int i = 0; i < 100; i++) assert_false(tn_stop_asked(&stop));
  assert_true(tn_stop_time_left(&stop) > 1e8);
  tn_stop_limit(&stop, 0);
  assert_true(tn_stop_time_left(&stop) < 0);
}

static void a_holder_is_not_stopped(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  tn_stop_hold(NULL);
  tn_stop_let_go(NULL);
  tn_stop_ask(&stop);
  tn_stop_hold(&stop);
  tn_stop_hold(&stop);
  assert_false(tn_stop_asked(&stop));
  tn_stop_let_go(&stop);
  assert_false(tn_stop_asked(&stop));
  tn_stop_begin(&stop); /* it was not noticed, and so not forgotten */
  tn_stop_let_go(&stop);
  assert_true(tn_stop_asked(&stop));
}

static void a_heap_refuses_only_where_it_may(void **state) {
  (void)state;
  tn_stop stop = { 0 };
  tn_heap heap = { .stop = &stop };
  tn_stop_ask(&stop);
  char *at = tn_heap_alloc(&heap, 8);
  assert_non_null(at);
  tn_heap_free(&heap, at, 8);
  heap.stop_refuses = true;
  tn_stop_hold(&stop);
  at = tn_heap_alloc(&heap, 8);
  assert_non_null(at);
  tn_stop_let_go(&stop);
  assert_null(tn_heap_resize(&heap, at, 8, 16));
  assert_true(heap.stopped);
  tn_heap_free(&heap, at, 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_a_stop_the_answer_is_no),
    cmocka_unit_test(a_wish_stays_until_the_next_operation_begins),
    cmocka_unit_test(an_unnoticed_stop_stops_the_next_operation),
    cmocka_unit_test(a_deadline_that_has_passed_stops_at_the_first_question),
    cmocka_unit_test(a_holder_is_not_stopped),
    cmocka_unit_test(a_heap_refuses_only_where_it_may),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
