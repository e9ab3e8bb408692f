/* The list of diagnostics: what a report keeps, in which order, and how much of it. */
#include "diag_support.h"

static void a_report_returns_false_and_counts(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "y = relu(z)\n");
  assert_int_equal(tn_diags_status(&f.diags), 0);
  assert_false(tn_report(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED, find_span(&f, "y"), TN_STR("name", "y")));
  assert_int_equal(tn_diags_status(&f.diags), 0);   /* a warning fails nothing */
  assert_false(tn_report(&f.diags, TN_DIAG_E_IDENTIFIER_NOT_FOUND, find_span(&f, "z"), TN_STR("name", "z")));
  assert_int_equal(f.diags.errors, 1);
  assert_int_equal(f.diags.warnings, 1);
  assert_int_equal(f.diags.list.count, 2);
  assert_int_equal(tn_diags_status(&f.diags), 1);
  close_fixture(&f);
}

static void the_exit_status_is_the_highest_of_the_codes(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_report(&f.diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_STR("message", "unknown option"));
  assert_int_equal(tn_diags_status(&f.diags), 2);
  tn_report(&f.diags, TN_DIAG_E_INTERNAL, TN_NOWHERE, TN_STR("message", "no"));
  assert_int_equal(tn_diags_status(&f.diags), 3);
  tn_report_plain(&f.diags, TN_DIAG_E_NO_INPUT, TN_NOWHERE);
  assert_int_equal(tn_diags_status(&f.diags), 3);
  close_fixture(&f);
}

static void assert_field(const tn_diag *diag, size_t i, const char *name, const char *value) {
  assert_true(i < diag->field_count);
  assert_string_equal(diag->fields[i].name, name);
  assert_true(tn_str_is(diag->fields[i].value, value));
}

static void a_report_may_be_of_another_phase_than_the_list(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "x\n");
  assert_int_equal(tn_diags_enter(&f.diags, TN_PHASE_CHECK), TN_PHASE_PARSE);
  tn_phase before = tn_diags_enter(&f.diags, TN_PHASE_RUN);
  assert_int_equal(before, TN_PHASE_CHECK);
  tn_report(&f.diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, find_span(&f, "x"), TN_STR("function", "f"),
            TN_INT("index", 1), TN_INT("limit", 1), TN_DURING(TN_PHASE_DATA));
  tn_report(&f.diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_STR("message", "m"));
  tn_diags_enter(&f.diags, before);
  tn_report(&f.diags, TN_DIAG_E_USAGE, find_span(&f, "x"), TN_STR("message", "m"));
  static const tn_phase phases[] = { TN_PHASE_DATA, TN_PHASE_RUN, TN_PHASE_CHECK };
  for (size_t i = 0; i < 3; i++) assert_int_equal(f.diags.list.at[i].phase, phases[i]);
  assert_int_equal(f.diags.list.at[0].field_count, 3); /* a phase is not a field */
  close_fixture(&f);
}

static void a_report_keeps_copies_of_everything(void **state) {
  (void)state;
  fixture f;
  char name[] = "gather_rows", inside[] = "kept";
  open_fixture(&f, "gather_rows(x, i)\n");
  tn_diags_enter(&f.diags, TN_PHASE_RUN);
  tn_field extra = { .kind = TN_FIELD_TEXT, .name = "shape", .inline_text = "[2, 3]" };
  tn_report(&f.diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, find_span(&f, "i)"), TN_STR("function", name),
            TN_INT("index", -7), TN_INT("limit", INT64_MIN), extra, TN_TEXT("note", tn_str_of(inside)));
  memset(name, 'x', sizeof name - 1);
  memset(inside, 'x', sizeof inside - 1);
  const tn_diag *diag = &f.diags.list.at[0];
  assert_int_equal(diag->code, TN_DIAG_E_INDEX_OUT_OF_RANGE);
  assert_int_equal(diag->phase, TN_PHASE_RUN);
  assert_int_equal(diag->field_count, 5);
  assert_field(diag, 0, "function", "gather_rows");
  assert_field(diag, 1, "index", "-7");
  assert_field(diag, 2, "limit", "-9223372036854775808");
  assert_field(diag, 3, "shape", "[2, 3]");   /* not required, but kept */
  assert_field(diag, 4, "note", "kept");
  assert_true(tn_str_is(diag->title, "index -7 in gather_rows is outside [0, -9223372036854775808)"));
  close_fixture(&f);
}

static void numbers_become_text(void **state) {
  (void)state;
  static const struct { int64_t number; const char *text; } cases[] = {
    { 0, "0" }, { 9, "9" }, { 10, "10" }, { -1, "-1" }, { INT64_MAX, "9223372036854775807" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture f;
    open_fixture(&f, "");
    tn_report(&f.diags, TN_DIAG_E_LOOP_LIMIT, TN_NOWHERE, TN_INT("limit", cases[i].number));
    assert_field(&f.diags.list.at[0], 0, "limit", cases[i].text);
    close_fixture(&f);
  }
}

static void an_empty_optional_field_is_absent(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "z");
  tn_report(&f.diags, TN_DIAG_E2002, find_span(&f, "z"), TN_STR("name", "z"), TN_STR("suggestion", ""));
  assert_int_equal(f.diags.list.at[0].field_count, 1);
  assert_true(tn_str_is(f.diags.list.at[0].hint, "bind it first: `let z = ...`"));
  tn_diags_clear(&f.diags);
  tn_report(&f.diags, TN_DIAG_E2002, find_span(&f, "z"), TN_STR("name", "z"), TN_STR("suggestion", "zoo"));
  assert_int_equal(f.diags.list.at[0].field_count, 2);
  assert_true(tn_str_is(f.diags.list.at[0].hint, "did you mean `zoo`?"));
  close_fixture(&f);
}

static void a_required_field_may_be_empty_but_must_be_there(void **state) {
  (void)state;
  fixture f;
  tn_field empty[] = { TN_STR("message", "") };
  open_fixture(&f, "");
  assert_true(tn_diag_has_required(TN_DIAG_E_INTERNAL, empty, 1));
  assert_false(tn_diag_has_required(TN_DIAG_E_INTERNAL, NULL, 0));
  assert_false(tn_diag_has_required(TN_DIAG_E_USAGE, (tn_field[]){ TN_HINT(TN_LIT("message")) }, 1));
  tn_report(&f.diags, TN_DIAG_E_INTERNAL, TN_NOWHERE, TN_STR("message", ""));
  assert_field(&f.diags.list.at[0], 0, "message", "");
  close_fixture(&f);
}

static void a_hint_of_the_report_replaces_that_of_the_code(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_report(&f.diags, TN_DIAG_E_NO_GRADIENT, TN_NOWHERE, TN_HINT(TN_LIT("ask somebody")));
  assert_true(tn_str_is(f.diags.list.at[0].hint, "ask somebody"));
  tn_diags_clear(&f.diags);
  tn_report(&f.diags, TN_DIAG_E_NO_GRADIENT, TN_NOWHERE, TN_HINT(TN_LIT("")));
  assert_true(tn_str_starts(f.diags.list.at[0].hint, "mark a tensor with [VAR]"));
  close_fixture(&f);
}

static void notes_are_templates_with_a_place(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a + b\n");
  tn_report(&f.diags, TN_DIAG_E_SHAPE_MISMATCH, find_span(&f, "a + b"), TN_STR("left", "[2]"),
            TN_NOTE(find_span(&f, "a"), "this has shape {left}"), TN_STR("right", "[3]"),
            TN_NOTE(TN_NOWHERE, "and that {right}"));
  const tn_diag *diag = &f.diags.list.at[0];
  assert_int_equal(diag->note_count, 2);
  assert_true(tn_str_is(diag->notes[0].text, "this has shape [2]"));
  assert_int_equal(diag->notes[0].at.end, 1);
  assert_true(tn_str_is(diag->notes[1].text, "and that [3]"));
  close_fixture(&f);
}

static void report_at(fixture *f, const char *piece) {
  tn_report(&f->diags, TN_DIAG_E2002, find_span(f, piece), TN_STR("name", piece));
}

static void assert_names(const fixture *f, const char *expected) {
  for (size_t i = 0; i < f->diags.list.count; i++)
    assert_int_equal(f->diags.list.at[i].fields[0].value.at[0], expected[i]);
  assert_int_equal(f->diags.list.count, strlen(expected));
}

static void sorting_gives_source_order_and_keeps_that_of_reporting(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a b c d\n");
  uint32_t second = tn_sources_add(&f.sources, TN_LIT("n.ail"), TN_LIT("x\n"));
  tn_report(&f.diags, TN_DIAG_E2002, TN_NOWHERE, TN_STR("name", "1"));
  tn_report(&f.diags, TN_DIAG_E2002, ((tn_span){ second, 0, 1 }), TN_STR("name", "x"));
  report_at(&f, "d");
  report_at(&f, "b");
  tn_report(&f.diags, TN_DIAG_E2003, find_span(&f, "b c"), TN_STR("name", "B"));
  report_at(&f, "a");
  tn_report(&f.diags, TN_DIAG_E2002, TN_NOWHERE, TN_STR("name", "2"));
  tn_diags_sort(&f.diags);
  assert_names(&f, "abBdx12");
  tn_diags_sort(&f.diags);
  assert_names(&f, "abBdx12");
  close_fixture(&f);
}

/* An unrolled loop reports its mistake once for every iteration. */
static void the_same_code_at_the_same_place_is_kept_once(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a b\n");
  for (int i = 0; i < 300; i++)
    tn_report(&f.diags, TN_DIAG_E_LOOP_LIMIT, find_span(&f, "a"), TN_INT("limit", i));
  size_t used = f.heap.used;
  for (int i = 0; i < 300; i++)
    tn_report(&f.diags, TN_DIAG_E_LOOP_LIMIT, find_span(&f, "a"), TN_INT("limit", i));
  assert_int_equal(f.heap.used, used);
  assert_int_equal(f.diags.list.count, 1);
  assert_int_equal(f.diags.errors, 600);   /* a pass that compares counts must see every failure */
  assert_int_equal(f.diags.dropped, 0);
  tn_report(&f.diags, TN_DIAG_E_LOOP_LIMIT, find_span(&f, "b"), TN_INT("limit", 1));
  tn_report(&f.diags, TN_DIAG_E_TIME_LIMIT, find_span(&f, "a"), TN_INT("limit", 1));
  assert_int_equal(f.diags.list.count, 3);
  close_fixture(&f);
}

/* Without a place only the fields tell reports apart: two parameters, two problems. */
static void without_a_place_the_fields_must_agree_too(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_report(&f.diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", "a"), TN_STR("io_error_kind", "x"));
  tn_report(&f.diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", "b"), TN_STR("io_error_kind", "x"));
  tn_report(&f.diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", "a"), TN_STR("io_error_kind", "x"));
  tn_report(&f.diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", "a"), TN_STR("io_error_kind", "x"),
            TN_INT("errno", 5));
  tn_report(&f.diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("io_error_kind", "x"), TN_STR("path", "a"));
  assert_int_equal(f.diags.list.count, 4);
  close_fixture(&f);
}

static void errors_and_warnings_have_a_limit_each(void **state) {
  (void)state;
  fixture f;
  char program[1001];
  memset(program, 'x', 1000);
  program[1000] = 0;
  open_fixture(&f, program);
  for (uint32_t i = 0; i < 500; i++)
    tn_report(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED, ((tn_span){ 1, i, i + 1 }), TN_STR("name", "i"));
  assert_int_equal(f.diags.list.count, TN_DIAG_LIMIT);
  assert_int_equal(tn_diags_status(&f.diags), 0);
  for (uint32_t i = 0; i < 500; i++)
    tn_report(&f.diags, TN_DIAG_E2002, ((tn_span){ 1, i, i + 1 }), TN_STR("name", "i"));
  assert_int_equal(f.diags.list.count, 2 * TN_DIAG_LIMIT);   /* the errors still found room */
  assert_int_equal(f.diags.errors, 500);
  assert_int_equal(f.diags.warnings, 500);
  assert_int_equal(f.diags.dropped, 1000 - 2 * TN_DIAG_LIMIT);
  close_fixture(&f);
}

static void the_limit_can_be_chosen(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a b c\n");
  f.diags.limit = 2;
  report_at(&f, "a");
  report_at(&f, "b");
  report_at(&f, "c");
  assert_names(&f, "ab");
  assert_int_equal(f.diags.dropped, 1);
  close_fixture(&f);
}

/* A long line of mistakes costs one look through it, not one for each mistake. */
static void places_are_looked_up_only_for_what_is_kept(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  fixture f;
  static char program[COUNT + 1];
  memset(program, ')', COUNT);
  open_fixture(&f, program);
  for (uint32_t i = 0; i < COUNT; i++) {
    tn_span at = { f.file, i, i + 1 };
    tn_report(&f.diags, TN_DIAG_E_SYNTAX_ERROR, at, TN_LINE("line", at), TN_COLUMN("col", at),
              TN_STR("message", "stray"));
  }
  assert_int_equal(f.diags.list.count, TN_DIAG_LIMIT);
  assert_int_equal(f.diags.dropped, COUNT - TN_DIAG_LIMIT);
  assert_field(&f.diags.list.at[TN_DIAG_LIMIT - 1], 0, "line", "1");
  assert_field(&f.diags.list.at[TN_DIAG_LIMIT - 1], 1, "col", "100");
  assert_true(f.sources.looked <= 2 * TN_DIAG_LIMIT);
  rendered(&f);
  rendered_json(&f);
  assert_true(f.sources.looked <= 20 * TN_DIAG_LIMIT);
  close_fixture(&f);
}

static void a_caller_can_check_whether_a_report_would_be_kept(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a b c\n");
  f.diags.limit = 1;
  assert_true(tn_diags_has_room(&f.diags, TN_DIAG_E2002));
  report_at(&f, "a");
  assert_false(tn_diags_has_room(&f.diags, TN_DIAG_E2002));
  assert_true(tn_diags_has_room(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED));   /* a warning */
  tn_diags_clear(&f.diags);
  assert_true(tn_diags_has_room(&f.diags, TN_DIAG_E2002));
  close_fixture(&f);
}

static void rewinding_forgets_what_came_after_the_mark(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "a b c\n");
  report_at(&f, "a");
  tn_diag_mark mark = tn_diags_mark(&f.diags);
  report_at(&f, "a");
  report_at(&f, "b");
  tn_report(&f.diags, TN_DIAG_E_LOOP_VAR_REDECLARED, find_span(&f, "c"), TN_STR("name", "c"));
  assert_int_equal(f.diags.errors, 3);
  tn_diags_rewind(&f.diags, mark);
  assert_names(&f, "a");
  assert_int_equal(f.diags.errors, 1);
  assert_int_equal(f.diags.warnings, 0);
  report_at(&f, "b");
  assert_names(&f, "ab");
  close_fixture(&f);
}

static void clearing_starts_again_without_growing(void **state) {
  (void)state;
  fixture f;
  size_t used = 0;
  open_fixture(&f, "a b c\n");
  for (int i = 0; i < 100; i++) {
    report_at(&f, "a");
    tn_diags_clear(&f.diags);
    if (i == 0) used = f.heap.used;
  }
  assert_int_equal(f.heap.used, used);
  assert_int_equal(f.diags.errors, 0);
  assert_int_equal(tn_diags_status(&f.diags), 0);
  close_fixture(&f);
}

/* Whatever allocation fails: the report is kept whole, or out_of_memory stands for it. */
static void a_report_survives_every_failed_allocation(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    fixture f;
    open_fixture(&f, "a + b\n");
    f.heap.fail_at = f.heap.requests + n;
    char big[3000];
    memset(big, 'b', sizeof big);
    tn_span at = find_span(&f, "a + b");
    tn_report(&f.diags, TN_DIAG_E_SHAPE_MISMATCH, at, TN_STR("left", "[2]"), TN_STR("right", "[3]"),
              TN_TEXT("function", ((tn_str){ big, sizeof big })), TN_NOTE(at, "{function}"));
    assert_int_equal(f.diags.errors, 1);
    assert_int_equal(f.diags.out_of_memory, f.heap.failed);
    assert_int_equal(f.diags.list.count, f.heap.failed ? 0 : 1);
    assert_int_equal(tn_diags_status(&f.diags), 1);
    bool done = !f.heap.failed;
    report_at(&f, "a");   /* the list works on */
    assert_int_equal(f.diags.list.count, done ? 2 : 1);
    close_fixture(&f);
    if (done) break;
  }
}

RUN_TESTS(
  cmocka_unit_test(a_report_returns_false_and_counts),
  cmocka_unit_test(the_exit_status_is_the_highest_of_the_codes),
  cmocka_unit_test(a_report_keeps_copies_of_everything),
  cmocka_unit_test(a_report_may_be_of_another_phase_than_the_list),
  cmocka_unit_test(numbers_become_text),
  cmocka_unit_test(an_empty_optional_field_is_absent),
  cmocka_unit_test(a_required_field_may_be_empty_but_must_be_there),
  cmocka_unit_test(a_hint_of_the_report_replaces_that_of_the_code),
  cmocka_unit_test(notes_are_templates_with_a_place),
  cmocka_unit_test(sorting_gives_source_order_and_keeps_that_of_reporting),
  cmocka_unit_test(the_same_code_at_the_same_place_is_kept_once),
  cmocka_unit_test(without_a_place_the_fields_must_agree_too),
  cmocka_unit_test(errors_and_warnings_have_a_limit_each),
  cmocka_unit_test(the_limit_can_be_chosen),
    cmocka_unit_test(places_are_looked_up_only_for_what_is_kept),
    cmocka_unit_test(a_caller_can_check_whether_a_report_would_be_kept),
  cmocka_unit_test(rewinding_forgets_what_came_after_the_mark),
  cmocka_unit_test(clearing_starts_again_without_growing),
  cmocka_unit_test(a_report_survives_every_failed_allocation))
