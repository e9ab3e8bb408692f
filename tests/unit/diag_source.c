/* Program texts: lines and columns as a person counts them. */
#include "diag_support.h"

static void assert_place(fixture *f, uint32_t offset, uint32_t line, uint32_t column) {
  tn_place place = tn_place_of(&f->sources, f->file, offset);
  assert_int_equal(place.line, line);
  assert_int_equal(place.column, column);
}

static void lines_and_columns_count_from_one(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "ab\n\ncd");
  assert_place(&f, 0, 1, 1);
  assert_place(&f, 2, 1, 3);   /* the line break belongs to its line */
  assert_place(&f, 3, 2, 1);
  assert_place(&f, 4, 3, 1);
  assert_place(&f, 6, 3, 3);
  assert_place(&f, 600, 3, 3);   /* after the text: its end */
  close_fixture(&f);
}

static void columns_count_characters(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\x89x\n\xFF\xFEy");
  assert_place(&f, 0, 1, 1);
  assert_place(&f, 2, 1, 2);
  assert_place(&f, 5, 1, 3);
  assert_place(&f, 9, 1, 4);
  assert_place(&f, 13, 2, 3);   /* a byte that is no character counts as one */
  close_fixture(&f);
}

static void an_empty_text_has_one_place(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  assert_place(&f, 0, 1, 1);
  close_fixture(&f);
}

static void a_text_that_ends_in_a_line_break_has_a_last_empty_line(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a\n");
  assert_place(&f, 2, 2, 1);
  close_fixture(&f);
}

static void a_line_comes_without_its_line_break(void **state) {
  (void)state;
  fixture f;
  uint32_t start;
  open_fixture(&f, "one\r\ntwo\n\rthree\r");
  tn_str line = tn_source_line(&f.sources, f.file, 2, &start);
  assert_true(tn_str_is(line, "one"));
  line = tn_source_line(&f.sources, f.file, 5, &start);
  assert_true(tn_str_is(line, "two"));
  assert_int_equal(start, 5);
  line = tn_source_line(&f.sources, f.file, 99, &start);
  assert_true(tn_str_is(line, "\rthree\r"));   /* alone it breaks no line */
  close_fixture(&f);
}

/* Lines are found by looking through the text when there is no table of them. */
static void places_need_no_memory(void **state) {
  (void)state;
  fixture f;
  uint32_t start;
  open_fixture(&f, "ab\ncd\n\nef\n");
  f.heap.fail_at = f.heap.requests + 1;
  f.heap.fail_onwards = true;
  assert_place(&f, 0, 1, 1);
  assert_place(&f, 2, 1, 3);
  assert_place(&f, 3, 2, 1);
  assert_place(&f, 6, 3, 1);
  assert_place(&f, 8, 4, 2);
  assert_place(&f, 10, 5, 1);
  assert_true(tn_str_is(tn_source_line(&f.sources, f.file, 4, &start), "cd"));
  assert_int_equal(start, 3);
  close_fixture(&f);
}

static void every_byte_has_the_same_place_with_and_without_a_table(void **state) {
  (void)state;
  fixture a, b;
  const char *text = "\n\nx = 1\n\xE2\x82\xAC\r\n   \n\tend";
  open_fixture(&a, text);
  open_fixture(&b, text);
  b.heap.fail_at = b.heap.requests + 1;
  b.heap.fail_onwards = true;
  for (uint32_t i = 0; i <= strlen(text); i++) {
    tn_place place = tn_place_of(&a.sources, a.file, i);
    assert_place(&b, i, place.line, place.column);
  }
  close_fixture(&a);
  close_fixture(&b);
}

static void a_span_gives_its_text(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "let x = 1");
  assert_true(tn_str_is(tn_span_text(&f.sources, (tn_span){ f.file, 4, 5 }), "x"));
  assert_true(tn_str_is(tn_span_text(&f.sources, (tn_span){ f.file, 8, 99 }), "1"));
  assert_true(tn_str_is(tn_span_text(&f.sources, (tn_span){ f.file, 99, 100 }), ""));
  assert_true(tn_str_is(tn_span_text(&f.sources, (tn_span){ f.file, 5, 4 }), ""));
  assert_true(tn_str_is(tn_span_text(&f.sources, TN_NOWHERE), ""));
  close_fixture(&f);
}

static void joined_spans_reach_from_the_first_to_the_last(void **state) {
  (void)state;
  tn_span a = { 1, 4, 6 }, b = { 1, 8, 9 }, joined = tn_span_join(a, b);
  assert_true(joined.file == 1 && joined.start == 4 && joined.end == 9);
  joined = tn_span_join(TN_NOWHERE, b);
  assert_true(joined.file == 1 && joined.start == 8 && joined.end == 9);
  joined = tn_span_join(a, TN_NOWHERE);
  assert_true(joined.file == 1 && joined.start == 4 && joined.end == 6);
  joined = tn_span_join(b, a);   /* the wrong way round: never reversed */
  assert_true(joined.start == 8 && joined.end == 8);
}

static void unknown_files_are_nowhere(void **state) {
  (void)state;
  fixture f;
  uint32_t start = 7;
  open_fixture(&f, "x");
  assert_null(tn_sources_get(&f.sources, 0));
  assert_null(tn_sources_get(&f.sources, 2));
  assert_int_equal(tn_place_of(&f.sources, 2, 5).line, 1);
  assert_int_equal(tn_source_line(&f.sources, 0, 5, &start).len, 0);
  assert_int_equal(start, 0);
  close_fixture(&f);
}

static void a_text_over_the_limit_is_refused(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "x");
  tn_str huge = { "x", TN_SOURCE_LIMIT + 1 };
  assert_int_equal(tn_sources_add(&f.sources, TN_LIT("big"), huge), 0);
  assert_int_equal(tn_sources_add(&f.sources, huge, TN_LIT("x")), 0);
  close_fixture(&f);
}

static void rewinding_frees_texts(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "kept\n");
  size_t mark = f.sources.files.count, used = 0;
  tn_place_of(&f.sources, f.file, 0);
  for (int i = 0; i < 4; i++) {
    uint32_t file = tn_sources_add(&f.sources, TN_LIT("line"), TN_LIT("1 + 1\n2"));
    assert_int_equal(file, mark + 1);
    assert_int_equal(tn_place_of(&f.sources, file, 6).line, 2);
    tn_sources_rewind(&f.sources, mark);
    if (i == 0) used = f.heap.used;
    assert_int_equal(f.heap.used, used);
  }
  assert_true(tn_str_is(tn_sources_get(&f.sources, f.file)->text, "kept\n"));
  close_fixture(&f);
}

static void adding_survives_every_failed_allocation(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    tn_heap heap = { .fail_at = n };
    tn_sources sources;
    tn_sources_init(&sources, &heap);
    uint32_t file = tn_sources_add(&sources, TN_LIT("a"), TN_LIT("text"));
    assert_int_equal(file == 0, heap.failed);
    tn_sources_free(&sources);
    assert_int_equal(heap.used, 0);
    if (!heap.failed) break;
  }
}

RUN_TESTS(
  cmocka_unit_test(lines_and_columns_count_from_one),
  cmocka_unit_test(columns_count_characters),
  cmocka_unit_test(an_empty_text_has_one_place),
  cmocka_unit_test(a_text_that_ends_in_a_line_break_has_a_last_empty_line),
  cmocka_unit_test(a_line_comes_without_its_line_break),
  cmocka_unit_test(places_need_no_memory),
  cmocka_unit_test(every_byte_has_the_same_place_with_and_without_a_table),
  cmocka_unit_test(a_span_gives_its_text),
  cmocka_unit_test(joined_spans_reach_from_the_first_to_the_last),
  cmocka_unit_test(unknown_files_are_nowhere),
  cmocka_unit_test(a_text_over_the_limit_is_refused),
  cmocka_unit_test(rewinding_frees_texts),
  cmocka_unit_test(adding_survives_every_failed_allocation))
