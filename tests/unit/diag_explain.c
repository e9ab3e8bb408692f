/* `tern explain`: the long text of a code, the list of all, and both as JSON. */
#include "diag_support.h"

static const char *explained(fixture *f, tn_diag_code code) {
  tn_text_clear(&f->out);
  tn_diag_explain(code, &f->out, false);
  assert_false(f->out.failed);
  return f->out.at;
}

static void an_explanation_shows_text_fields_and_examples(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  assert_string_equal(explained(&f, TN_DIAG_E_STACK_UNDERFLOW),
    "error E_STACK_UNDERFLOW: <opcode> takes <needed> from a stack of <have>\n"
    "\n"
    "An opcode takes its arguments from the top of the stack. There were fewer than\n"
    "it needs. The hint shows what it takes and, after `--`, what it leaves, the\n"
    "top on the right. The stack is as it was before the opcode, and what was\n"
    "printed stays printed.\n"
    "\n"
    "Fields: opcode, needed, have\n"
    "Hint: push what it needs first; [PEEK] shows the top and [DEPTH] counts\n"
    "\n"
    "Wrong (tern run example.nth):\n"
    "\n"
    "    1 [ADD] [PRINT]\n"
    "\n"
    "Right (tern run example.nth):\n"
    "\n"
    "    1 2 [ADD] [PRINT]\n"
    "\n");
  close_fixture(&f);
}

static void a_fix_outside_of_the_program_is_shown(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  const char *text = explained(&f, TN_DIAG_E_FILE_INVALID_UTF8);
  assert_non_null(strstr(text, "with notes.txt:\n\n    caf\\xe9\n\nRight"));   /* never raw bytes */
  assert_non_null(strstr(text, "    the same program\n\nwith notes.txt:\n\n    caf\xC3\xA9\n\n"));
  text = explained(&f, TN_DIAG_E_FILE_NOT_FOUND);
  assert_non_null(strstr(text, "and no file notes.txt\n\nRight"));
  text = explained(&f, TN_DIAG_E_DATASET_EMPTY);
  assert_non_null(strstr(text, "with an empty data.jsonl\n\nRight"));
  text = explained(&f, TN_DIAG_E_CAPABILITY_DENIED);
  assert_non_null(strstr(text, "Right (tern run --allow clock example.ail):\n\n    the same program\n\n"));
  close_fixture(&f);
}

static void a_code_without_an_example_says_why(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  assert_non_null(strstr(explained(&f, TN_DIAG_E_OUT_OF_MEMORY),
                         "\n\nThere is no example: it depends on the machine.\n"));
  assert_non_null(strstr(explained(&f, TN_DIAG_E_STACK_EMPTY), ".\n\nThere is no example: "));
  close_fixture(&f);
}

/* Prose keeps to the page; programs, hints and headings are as wide as they are. */
static void every_explanation_is_whole_and_wrapped(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++) {
    const char *text = explained(&f, (tn_diag_code)i);
    assert_null(strstr(text, "||"));   /* no template shines through */
    assert_null(strstr(text, "\n\n\n"));
    assert_null(strstr(text, " \n"));
    const char *prose = strchr(text, '\n') + 2, *end = strstr(prose, ".\n\n");
    for (const char *line = prose; line && line < end; line = strchr(line, '\n') + 1)
      assert_true(strcspn(line, "\n") <= 78);
  }
  close_fixture(&f);
}

static void the_list_has_every_code_once_under_a_heading(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  tn_diag_list(&f.out, false);
  assert_true(tn_str_starts(tn_text_str(&f.out), "Programs in general\n  E_SYNTAX_ERROR        "));
  assert_non_null(strstr(f.out.at, "the text does not follow the grammar\n  E_NESTING_LIMIT "));
  assert_non_null(strstr(f.out.at, "\n\nNinth\n  E_UNKNOWN_OPCODE"));
  size_t lines = 0;
  for (const char *at = f.out.at; (at = strstr(at, "\n  E")) != NULL; at++) lines++;
  assert_int_equal(lines, TN_DIAG_COUNT - 1);
  close_fixture(&f);
}

static void an_explanation_is_valid_json(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, "");
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++) {
    tn_text_clear(&f.out);
    tn_json_writer json = tn_json_writer_on(&f.out);
    tn_diag_explain_json((tn_diag_code)i, &json);
    assert_json(&f.heap, tn_text_str(&f.out));
  }
  tn_text_clear(&f.out);
  tn_json_writer json = tn_json_writer_on(&f.out);
  tn_diag_explain_json(TN_DIAG_E6001, &json);
  assert_true(tn_str_starts(tn_text_str(&f.out),
    "{\"code\":\"E6001\",\"severity\":\"error\",\"title\":\"integer division by zero in <op>\","
    "\"fields\":[\"op\"],\"optional\":[],\"hint\":"));
  assert_true(tn_str_ends(tn_text_str(&f.out),
    "\"wrong\":{\"language\":\"mind\",\"command\":\"run\",\"program\":\"7 / 0\\n\","
    "\"data\":null,\"content\":null},"
    "\"right\":{\"language\":\"mind\",\"command\":\"run\",\"program\":\"7 / 2\\n\","
    "\"data\":null,\"content\":null}}"));
  close_fixture(&f);
}

static void explaining_survives_every_failed_allocation(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    fixture f;
    open_fixture(&f, "");
    f.heap.fail_at = f.heap.requests + n;
    tn_json_writer json = tn_json_writer_on(&f.out);
    tn_diag_explain(TN_DIAG_E_SHAPE_MISMATCH, &f.out, true);
    tn_diag_list(&f.out, true);
    tn_diag_explain_json(TN_DIAG_E_SHAPE_MISMATCH, &json);
    assert_int_equal(f.out.failed, f.heap.failed);
    bool done = !f.heap.failed;
    close_fixture(&f);
    if (done) break;
  }
}

RUN_TESTS(
  cmocka_unit_test(an_explanation_shows_text_fields_and_examples),
  cmocka_unit_test(a_fix_outside_of_the_program_is_shown),
  cmocka_unit_test(a_code_without_an_example_says_why),
  cmocka_unit_test(every_explanation_is_whole_and_wrapped),
  cmocka_unit_test(the_list_has_every_code_once_under_a_heading),
  cmocka_unit_test(an_explanation_is_valid_json),
  cmocka_unit_test(explaining_survives_every_failed_allocation))
