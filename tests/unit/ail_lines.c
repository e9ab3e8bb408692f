/* tests/unit/ail_lines.c: which lines of an AILang session stay, and which a line needs. */
#include <stdio.h>

#include "base_support.h"

#include "lang/ail/lines.h"

typedef struct {
  tn_heap heap;
  tn_ail_lines lines;
} room;

static void room_open(room *r) {
  *r = (room){ .heap = { 0 } };
  tn_ail_lines_init(&r->lines, &r->heap, tn_names_new(&r->heap));
}

static void room_close(room *r) {
  tn_names *names = r->lines.names;
  tn_ail_lines_free(&r->lines);
  tn_names_free(names);
  assert_int_equal(r->heap.used, 0);
}

static void keep(room *r, const char *text, bool in_model) {
  assert_true(tn_ail_lines_keep(&r->lines, tn_str_of(text), in_model));
}

/* What a text needs, declarations first, one line each. */
static void assert_needs(room *r, const char *text, const char *wanted) {
  tn_text out;
  tn_text_init(&out, &r->heap);
  assert_true(tn_ail_lines_search(&r->lines, tn_str_of(text)));
  tn_ail_lines_write(&r->lines, false, &out);
  tn_ail_lines_write(&r->lines, true, &out);
  assert_string_equal(out.at ? out.at : "", wanted);
  tn_text_free(&out);
}

static void a_line_needs_what_its_names_mean_and_what_that_needs(void **state) {
  (void)state;
  room r;
  room_open(&r);
  keep(&r, "const K = 2", false);
  keep(&r, "const L = 3", false);
  keep(&r, "fn f(a) { a * K }", false);
  keep(&r, "a = 1", true);
  keep(&r, "b = f(a)", true);
  keep(&r, "c = 5", true);
  assert_needs(&r, "b + 1", "const K = 2\nfn f(a) { a * K }\na = 1\nb = f(a)\n");
  assert_needs(&r, "c", "c = 5\n");
  assert_needs(&r, "nothing", "");
  assert_needs(&r, "const L = 4", "const L = 3\n"); /* to be told that it is there */
  room_close(&r);
}

static void inputs_and_parameters_are_always_needed(void **state) {
  (void)state;
  room r;
  room_open(&r);
  keep(&r, "const N = 2", false);
  keep(&r, "param W [N, 2]", false);
  keep(&r, "x [B, 2]", true);
  keep(&r, "y = 1", true);
  assert_needs(&r, "1", "const N = 2\nparam W [N, 2]\nx [B, 2]\n");
  keep(&r, "x = x * 0", true);
  assert_needs(&r, "x", "const N = 2\nparam W [N, 2]\nx [B, 2]\nx = x * 0\n");
  room_close(&r);
}

static void replaced_lines_are_freed_unless_something_needs_them(void **state) {
  (void)state;
  room r;
  room_open(&r);
  keep(&r, "y = 1", true);
  keep(&r, "z = y + 1", true);
  keep(&r, "y = 2", true);
  assert_needs(&r, "z", "y = 1\nz = y + 1\n");
  assert_needs(&r, "y", "y = 2\n");
  assert_int_equal(r.lines.count, 3);
  keep(&r, "z = 0", true);
  assert_int_equal(r.lines.count, 2);
  keep(&r, "y = y + 1", true);
  assert_needs(&r, "y", "y = 2\ny = y + 1\n");
  keep(&r, "a = 1; b = a; a = 2", true); /* several in one line */
  keep(&r, "a = 3", true);
  assert_needs(&r, "b", "a = 1; b = a; a = 2\n");
  room_close(&r);
}

/* A hundred thousand lines that replace each other, and as many that follow one another. */
static void a_long_session_costs_what_its_lines_do(void **state) {
  (void)state;
  room r;
  char line[64];
  room_open(&r);
  size_t used = 0;
  for (int i = 0; i < 100000; i++) {
    keep(&r, "y = 1 + 2", true);
    if (i == 10) used = r.heap.used;
  }
  assert_int_equal(r.heap.used, used);
  assert_int_equal(r.lines.count, 1);
  for (int i = 0; i < 10000; i++) {
    snprintf(line, sizeof line, "v%d = 1", i);
    keep(&r, line, true);
    assert_true(tn_ail_lines_search(&r.lines, tn_str_of("y + v0")));
    assert_int_equal(r.lines.found.count, 2);
  }
  for (int i = 0; i < 100000; i++) keep(&r, "y = y + 1", true); /* a chain is freed without recursion */
  keep(&r, "y = 0", true);
  assert_int_equal(r.lines.count, 10001);
  room_close(&r);
}

static bool use_lines(tn_heap *heap) {
  tn_names *names = tn_names_new(heap);
  tn_ail_lines lines;
  tn_ail_lines_init(&lines, heap, names);
  bool ok = names && tn_ail_lines_keep(&lines, TN_LIT("param W [2]"), false) &&
            tn_ail_lines_keep(&lines, TN_LIT("y = W"), true) &&
            tn_ail_lines_keep(&lines, TN_LIT("y = y + 1"), true) &&
            tn_ail_lines_search(&lines, TN_LIT("y")) && tn_ail_lines_keep(&lines, TN_LIT("y = 1"), true);
  tn_ail_lines_free(&lines);
  tn_names_free(names);
  return ok;
}

static void every_failed_request_is_survived(void **state) {
  (void)state;
  fail_every_request(use_lines);
}

RUN_TESTS(
  cmocka_unit_test(a_line_needs_what_its_names_mean_and_what_that_needs),
  cmocka_unit_test(inputs_and_parameters_are_always_needed),
  cmocka_unit_test(replaced_lines_are_freed_unless_something_needs_them),
  cmocka_unit_test(a_long_session_costs_what_its_lines_do),
  cmocka_unit_test(every_failed_request_is_survived))
