/* What the tests of base/ share. */
#ifndef TN_TEST_BASE_SUPPORT_H
#define TN_TEST_BASE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/heap.h"
#include "base/str.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static inline void assert_str(tn_str actual, const char *expected) {
  if (!tn_str_is(actual, expected)) {
    fail_msg("got \"%.*s\", expected \"%s\"", (int)actual.len, actual.at, expected);
  }
}

/* Random bits for inputs; a fixed sequence, so that a failure comes again. */
static inline uint64_t random_bits(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* A tenth of the work where TERN_TEST_EFFORT is small. */
static inline int effort(int full) {
  const char *wanted = getenv("TERN_TEST_EFFORT");
  return wanted && strcmp(wanted, "small") == 0 ? full / 10 : full;
}

/* Runs `body(&heap)` with the n-th request failing, for n = 1, 2, ... until it
 * gets through. body returns whether it succeeded and must give everything back. */
static inline void fail_every_request(bool (*body)(tn_heap *heap)) {
  for (int onwards = 0; onwards < 2; onwards++) {
    for (uint64_t n = 1;; n++) {
      tn_heap heap = { .fail_at = n, .fail_onwards = onwards };
      bool succeeded = body(&heap);
      assert_int_equal(heap.used, 0);
      if (heap.requests < n) {
        assert_true(succeeded);
        assert_true(n > 1);   /* it did ask for memory */
        break;
      }
      assert_true(heap.failed);
      assert_false(succeeded);
    }
  }
}

#define RUN_TESTS(...)                                                    \
  int main(void) {                                                        \
    const struct CMUnitTest tests[] = { __VA_ARGS__ };                    \
    return cmocka_run_group_tests(tests, NULL, NULL);                     \
  }
#endif
