/* tests/support/bare/cmocka.h: the part of cmocka that our tests use, for machines that have none.
 *
 * Cross-compiled tests are built against this file: no library, no signals, no processes. A test that
 * fails says where and the program ends with status 1, so what follows it does not run; that is enough to
 * know that a machine differs, and the real cmocka on the machine at hand tells the rest. */
#ifndef TN_TEST_BARE_CMOCKA_H
#define TN_TEST_BARE_CMOCKA_H

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
  const char *name;
  void (*test_func)(void **state);
  CMFixtureFunction setup_func, teardown_func;
  void *initial_state;
};

#define cmocka_unit_test(f) { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(f, setup, teardown) { #f, f, setup, teardown, NULL }
#define cmocka_run_group_tests(tests, setup, teardown)                                                       \
  bare_run_group((tests), sizeof(tests) / sizeof(tests)[0], (setup), (teardown))
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                            \
  cmocka_run_group_tests(tests, setup, teardown)
#define _cmocka_run_group_tests(name, tests, count, setup, teardown)                                         \
  bare_run_group((tests), (count), (setup), (teardown))

#if defined(__GNUC__)
#define BARE_UNUSED __attribute__((unused))
#define BARE_FORMAT __attribute__((format(printf, 3, 4), noreturn))
#else
#define BARE_UNUSED
#define BARE_FORMAT
#endif

BARE_UNUSED BARE_FORMAT static void bare_fail(const char *file, int line, const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, "%s:%d: ", file, line);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  exit(1);
}

/* A jump out of a skipped test. One test runs at a time. */
static jmp_buf bare_skipped;
/* A pattern of the names that run; NULL: all. */
static const char *bare_filter;

BARE_UNUSED static void cmocka_set_test_filter(const char *pattern) { bare_filter = pattern; }

BARE_UNUSED static int bare_run_group(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                                      CMFixtureFunction teardown) {
  void *group = NULL;
  if (setup && setup(&group) != 0) return 1;
  for (size_t i = 0; i < count; i++) {
    void *state = tests[i].initial_state ? tests[i].initial_state : group;
    if (bare_filter && fnmatch(bare_filter, tests[i].name, 0) != 0) continue;
    printf("[ RUN  ] %s\n", tests[i].name);
    fflush(stdout);
    if (tests[i].setup_func && tests[i].setup_func(&state) != 0) return 1;
    if (setjmp(bare_skipped) == 0) tests[i].test_func(&state);
    if (tests[i].teardown_func && tests[i].teardown_func(&state) != 0) return 1;
  }
  printf("%d tests passed\n", (int)count);
  return teardown && teardown(&group) != 0;
}

#define BARE_CHECK(condition, ...)                                                                           \
  ((condition) ? (void)0 : bare_fail(__FILE__, __LINE__, __VA_ARGS__))
#define BARE_INT(x) ((uintmax_t)(x))

#define assert_true(c) BARE_CHECK((c), "not true: %s", #c)
#define assert_false(c) BARE_CHECK(!(c), "true: %s", #c)
#define assert_null(p) BARE_CHECK((p) == NULL, "not null: %s", #p)
#define assert_non_null(p) BARE_CHECK((p) != NULL, "null: %s", #p)
#define assert_ptr_equal(a, b) BARE_CHECK((const void *)(a) == (const void *)(b), "%s != %s", #a, #b)
#define assert_int_equal(a, b) bare_integers(BARE_INT(a), BARE_INT(b), 1, #a, #b, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) bare_integers(BARE_INT(a), BARE_INT(b), 0, #a, #b, __FILE__, __LINE__)
#define assert_in_range(v, low, high)                                                                        \
  BARE_CHECK(BARE_INT(v) - BARE_INT(low) <= BARE_INT(high) - BARE_INT(low), "%s is out of range", #v)
#define assert_string_equal(a, b) bare_strings((a), (b), 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) bare_strings((a), (b), 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n)                                                                         \
  BARE_CHECK(memcmp((a), (b), (n)) == 0, "the bytes of %s and %s differ", #a, #b)
#define _assert_true(c, text, file, line) ((c) ? (void)0 : bare_fail((file), (line), "not true: %s", (text)))
#define _assert_int_equal(a, b, file, line) bare_integers((a), (b), 1, "this", "that", (file), (line))
#define _assert_string_equal(a, b, file, line) bare_strings((a), (b), 1, (file), (line))
#define fail_msg(...) bare_fail(__FILE__, __LINE__, __VA_ARGS__)
#define fail() bare_fail(__FILE__, __LINE__, "failed")
#define print_message printf
#define print_error(...) ((void)fprintf(stderr, __VA_ARGS__))
#define skip() longjmp(bare_skipped, 1)

BARE_UNUSED static void bare_integers(uintmax_t a, uintmax_t b, int equal, const char *left,
                                      const char *right, const char *file, int line) {
  if ((a == b) == equal) return;
  bare_fail(file, line, "%s is %jd and %s is %jd", left, (intmax_t)a, right, (intmax_t)b);
}

BARE_UNUSED static void bare_strings(const char *a, const char *b, int equal, const char *file, int line) {
  if ((strcmp(a, b) == 0) == equal) return;
  bare_fail(file, line, "\"%s\" and \"%s\"", a, b);
}
#endif
