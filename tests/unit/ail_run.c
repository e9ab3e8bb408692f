/* Running: capabilities, limits, and every request for memory that can fail. */
#include <stdio.h>

#include "unit/ail_support.h"

/* ---- capabilities ---- */

static void a_denied_effect_lets_nothing_run(void **state) {
  (void)state;
  ail_session s = { 0 };
  assert_true(ail_open(&s));
  assert_false(
      ail_run(&s, "model { x [2] h = matmul(reshape(x, [1, 2]), reshape(x, [2, 1])) y = h + now() }"));
  assert_int_equal(s.computed, 0);
  assert_int_equal(s.clock_read, 0);
  assert_int_equal(ail_reported(&s, TN_DIAG_E_CAPABILITY_DENIED), 1);
  ail_close(&s);
}

static void every_denied_effect_is_reported(void **state) {
  (void)state;
  ail_session s = { 0 };
  assert_true(ail_open(&s));
  s.host.capabilities = TN_CAP_CLOCK;
  assert_false(ail_run(&s, "model { y = read_file_text(\"a\") + now() + sum(read_file_text(\"b\")) }"));
  assert_int_equal(ail_reported(&s, TN_DIAG_E_CAPABILITY_DENIED), 2);
  ail_close(&s);
}

static void a_branch_is_checked_when_it_is_chosen(void **state) {
  (void)state;
  static const char *const text = "model { param s [] y = if s > 0 then now() else s + 5 }";
  ail_session s = { 0 };
  assert_true(ail_open(&s));
  assert_true(ail_run(&s, text)); /* s starts at 0 */
  assert_true(ail_value(&s, 0) == 5.0f);
  assert_int_equal(s.clock_read, 0);
  ail_close(&s);
  s = (ail_session){ 0 };
  assert_true(ail_open(&s));
  assert_false(ail_run(&s, "model { param s [] y = if s < 1 then now() else s }"));
  assert_int_equal(s.clock_read, 0);
  assert_int_equal(ail_reported(&s, TN_DIAG_E_CAPABILITY_DENIED), 1);
  ail_close(&s);
}

static void effects_that_the_output_does_not_need_do_not_happen(void **state) {
  (void)state;
  ail_session s = { 0 };
  assert_true(ail_open(&s));
  assert_true(ail_run(&s, "model { t = now() y = fill([2], 3) }"));
  assert_int_equal(s.clock_read, 0);
  ail_close(&s);
}

static void allowed_effects_give_their_values(void **state) {
  (void)state;
  ail_session s = { 0 };
  assert_true(ail_open(&s));
  s.host.capabilities = TN_CAP_CLOCK | TN_CAP_FILEREAD;
  assert_true(ail_run(&s, "model { y = now() + index(read_file_text(\"notes.txt\"), 0, 0) * 0 }"));
  assert_true(ail_value(&s, 0) == 1000.0f);
  ail_close(&s);
}

static void a_missing_file_has_its_code(void **state) {
  (void)state;
  ail_session s = { 0 };
  assert_true(ail_open(&s));
  s.host.capabilities = TN_CAP_FILEREAD;
  assert_false(ail_run(&s, "model { y = read_file_text(\"other.txt\") }"));
  assert_int_equal(ail_reported(&s, TN_DIAG_E_FILE_NOT_FOUND), 1);
  ail_close(&s);
}

/* ---- limits ---- */

static void a_chain_of_a_hundred_thousand_operators_does_not_nest(void **state) {
  (void)state;
  enum { LINKS = 100000 };
  static char text[LINKS * 4 + 64];
  ail_session s = { 0 };
  char *at = text + sprintf(text, "model { x [1] y = x");
  for (int i = 0; i < LINKS; i++, at += 4) memcpy(at, " + x", 4);
  strcpy(at, " }");
  assert_true(ail_open(&s));
  assert_true(ail_check(&s, text));
  ail_close(&s);
}

static void expansion_is_bounded(void **state) {
  (void)state;
  static char text[8192];
  ail_session s = { 0 };
  char *at = text + sprintf(text, "fn f0(x) { x }\n");
  for (int i = 1; i < 60; i++) at += sprintf(at, "fn f%d(x) { f%d(f%d(x)) }\n", i, i - 1, i - 1);
  sprintf(at, "model { x [1] y = f59(x) }");
  assert_true(ail_open(&s));
  assert_false(ail_check(&s, text));
  assert_int_equal(ail_reported(&s, TN_DIAG_E_TOO_LARGE), 1);
  assert_int_equal(s.diags.errors, 1);
  ail_close(&s);
}

static void calls_inside_calls_are_bounded(void **state) {
  (void)state;
  enum { FUNCTIONS = 20000 };
  static char text[FUNCTIONS * 40 + 64];
  ail_session s = { 0 };
  char *at = text + sprintf(text, "fn f0(x) { relu(x) }\n");
  for (int i = 1; i < FUNCTIONS; i++) at += sprintf(at, "fn f%d(x) { f%d(x) }\n", i, i - 1);
  sprintf(at, "model { x [1] y = f%d(x) }", FUNCTIONS - 1);
  assert_true(ail_open(&s));
  assert_false(ail_check(&s, text));
  assert_int_equal(ail_reported(&s, TN_DIAG_E_NESTING_LIMIT), 1);
  ail_close(&s);
}

/* ---- memory ---- */

static const char *const everything =
    "const K = 2\n"
    "fn f(a, b) { c = a * b\n c + K }\n"
    "fn keep(label) { label < 2 }\n"
    "fn wider(row) { reshape(row * 2, [-1]) }\n"
    "const TEXT = \"a\\tb\"\n"
    "const LESS = -2.5\n"
    "model {\n"
    "  tokens [B, T]\n  labels [B]\n  x [B, 4]\n"
    "  param E [9, 4]\n  param W [4, 2]\n"
    "  h = meanpool(embedding(tokens, E)) + f(x, x)\n"
    "  z = if sum(h) > 0 then relu(h) else if mean(h) > 1 then h else h * 2\n"
    "  s = for i in range(0, 3) do z * i end\n"
    "  r = reduce max over range(0, 3) do index(s, 0, i) end\n"
    "  q = repeat 2 times init r do q + 1 end\n"
    "  p = transpose(reshape(x, [\"B\", mul(@1, 1), 1]), [2, 0, 1])\n"
    "  o = if not (sum(p) > 0) and sum(p) != LESS then sum(p, [0, 1]) else sum(p, [0, 1]) + sum(q)\n"
    "  logits = linear(dropout(reshape(q, [B, -1]), 0.5), W)\n"
    "}\n"
    "train {\n  loss = xent(logits, labels)\n}\n"
    "eval {\n  metrics = [loss]\n}\n"
    "data {\n  format = \"jsonl\"\n  path = \"x\"\n  tokens = [0, 1]\n  map wider(tokens)\n"
    "  filter keep(labels)\n  batch 2\n}\n"
    "state {\n  n: int = 1\n  t: tensor = [[1, 2], [3, 4]]\n  logits: tensor\n}\n"
    "on start {\n  let step = mean(logits)\n  n = n + step * 0 + 1\n  t = t + 1\n  emit more\n}\n"
    "on more {\n  n = n * 2\n  emit result\n}\n"
    "state_machine M {\n  state A {\n    let v = sum(logits)\n    emit v * 0\n    on start -> B\n  }\n"
    "  state B {\n    emit \"b\"\n    if v0 > 1 -> A\n    else -> C\n  }\n  state C {\n    end\n  }\n}\n";

typedef bool (*door)(ail_session *s, const char *text);

static bool format_door(ail_session *s, const char *text) {
  tn_text out;
  uint32_t file = ail_add(s, text);
  tn_text_init(&out, &s->heap);
  bool ok = file && tn_lang_ail()->format(&(tn_unit){ .host = &s->host, .file = file }, &out) && !out.failed;
  tn_text_free(&out);
  return ok;
}

static bool grad_door(ail_session *s, const char *text) {
  tn_text out;
  uint32_t file = ail_add(s, text);
  tn_text_init(&out, &s->heap);
  bool ok = file && tn_lang_ail()->emit(&(tn_unit){ .host = &s->host, .file = file }, TN_EMIT_GRAD, &out) &&
            !out.failed;
  tn_text_free(&out);
  return ok;
}

/* Every request fails once; nothing leaks, nothing is half done, and a failure is reported. */
static void survives(door enter, const char *text) {
  tn_given set = { .name = TN_LIT("v0") };
  double value = 0;
  set.data.view = tn_view_make(&value, TN_F64, &TN_SCALAR_SHAPE);
  for (uint64_t n = 1;; n++) {
    ail_session s = { .heap = { .fail_at = n } };
    bool ok = ail_open(&s);
    if (ok) {
      s.host.sets = &set;
      s.host.set_count = enter == ail_run || enter == ail_app ? 1 : 0;
      ok = enter(&s, text);
      bool added = s.sources.files.count > 0;
      if (!ok && added) assert_true(s.diags.errors > 0 || s.diags.out_of_memory);
    }
    bool reached = s.heap.failed;
    ail_close(&s);
    assert_int_equal(s.heap.used, 0);
    if (!reached) {
      assert_true(ok);
      return;
    }
  }
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  survives(ail_check, everything);
  survives(ail_run, everything);
  survives(ail_app, everything);
  survives(format_door, everything);
  survives(grad_door, everything);
}

static void check_survives(const char *wrong) {
  for (uint64_t n = 1;; n++) {
    ail_session s = { .heap = { .fail_at = n } };
    if (ail_open(&s)) assert_false(ail_check(&s, wrong));
    bool reached = s.heap.failed;
    ail_close(&s);
    assert_int_equal(s.heap.used, 0);
    if (!reached) return;
  }
}

static void errors_survive_failed_allocations_too(void **state) {
  (void)state;
  static const char *const wrong =
      "fn f(x) { g(x) } fn g(x) { f(x) }\n"
      "model {\n  x [B, 3]\n  y = matmul(x, x + zz) + \"a\" + hh(x)\n  ) z\n  w = if x > 0 then 1 else 2\n}\n"
      "on a { emit b\n q = 3 } on b { emit a }\n"
      "train { steps = \"a\" lr }\n data { format = \"x\" tokens = -1 map f(tokens, 2) filter gone(y) }\n";
  static const char *const calls =
      "model {\n  x [B, 3]\n  a = softmax(x, 0.5) + softmax(x, 9) + softmax() + softmax(x, x=x)\n"
      "  b = reshape(x, [5, 2]) + reshape(x, [@9, -1]) + reshape(x, [N]) + slice_rows(x, 9, 9)\n"
      "  c = transpose(x, [0, 0]) + pad(x, [1], 2) + fill([0], 1) + sum(x, [1, 1]) + squeeze(x, 1)\n"
      "  d = for i in range(0, x) do i end + repeat x times init 1 do y end + reduce no over range(0, 1) do "
      "1 end\n"
      "}\nstate_machine M {\n  state A {\n    on never -> B\n  }\n  state A {\n  }\n}\n";
  check_survives(wrong);
  check_survives(calls);
}

/* ---- work ---- */

/* T is 6 and D is 2 in a bare run, so that every line fails, and every report names its dimensions. */
static uint64_t looked_at_for(int mismatches) {
  ail_session s = { 0 };
  tn_text text;
  assert_true(ail_open(&s));
  tn_text_init(&text, &s.heap);
  tn_text_puts(&text, "model {\n  tokens [B, T]\n  x [B, D]\n  w [T, 3]\n");
  for (int i = 0; i < mismatches; i++) {
    tn_text_puts(&text, "  y");
    tn_text_int(&text, i);
    tn_text_puts(&text, " = matmul(x, w)\n");
  }
  tn_text_puts(&text, "}\n");
  assert_false(ail_run(&s, text.at));
  assert_int_equal(s.diags.errors, mismatches);
  const tn_diag *last = &s.diags.list.at[s.diags.list.count - 1];
  assert_true(tn_str_is(last->fields[1].value, "[B=2, D=2]") && tn_str_is(last->fields[2].value, "[T=6, 3]"));
  uint64_t looked_at = s.host.looked_at;
  tn_text_free(&text);
  ail_close(&s);
  return looked_at;
}

static void names_in_reports_of_a_run_come_from_the_check(void **state) {
  (void)state;
  uint64_t once = looked_at_for(50), twice = looked_at_for(100);
  assert_true(once >= 100); /* the check and the lowering each compare the shapes of every line */
  assert_true(twice <= 2 * once + 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_denied_effect_lets_nothing_run),
    cmocka_unit_test(every_denied_effect_is_reported),
    cmocka_unit_test(a_branch_is_checked_when_it_is_chosen),
    cmocka_unit_test(effects_that_the_output_does_not_need_do_not_happen),
    cmocka_unit_test(allowed_effects_give_their_values),
    cmocka_unit_test(a_missing_file_has_its_code),
    cmocka_unit_test(a_chain_of_a_hundred_thousand_operators_does_not_nest),
    cmocka_unit_test(expansion_is_bounded),
    cmocka_unit_test(calls_inside_calls_are_bounded),
    cmocka_unit_test(every_failed_allocation_is_survived),
    cmocka_unit_test(errors_survive_failed_allocations_too),
    cmocka_unit_test(names_in_reports_of_a_run_come_from_the_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
