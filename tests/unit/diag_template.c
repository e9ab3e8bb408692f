/* Templates: fields, optional parts, alternatives. */
#include "diag_support.h"

static const tn_diag_field fields[] = {
  { "name", { "x", 1 } },
  { "shape", { "[2, 3]", 6 } },
  { "one", { "1", 1 } },
  { "many", { "11", 2 } },
};

static void assert_expands(const char *template, const char *expected) {
  char out[1024];
  size_t len = tn_diag_expand(template, fields, 4, NULL);
  assert_true(len < sizeof out);
  assert_int_equal(tn_diag_expand(template, fields, 4, out), len);
  out[len] = 0;
  assert_string_equal(out, expected);
}

static void a_field_stands_for_its_value(void **state) {
  (void)state;
  assert_expands("`{name}` has shape {shape}", "`x` has shape [2, 3]");
  assert_expands("", "");
}

static void a_word_goes_with_its_number(void **state) {
  (void)state;
  assert_expands("{one:row|rows}, {many:row|rows}", "1 row, 11 rows");
  assert_expands("{one:axis|axes} [[of {many:axis|axes}]]", "1 axis of 11 axes");
  assert_expands("{function:row|rows}", "? rows");
  assert_expands("{one:row} {one:row|rows", "{one:row} {one:row|rows");
}

static void other_braces_are_themselves(void **state) {
  (void)state;
  assert_expands("on {} { x } {name", "on {} { x } {name");
  assert_expands("{{name}}", "{x}");
}

static void a_part_without_its_field_is_left_out(void **state) {
  (void)state;
  assert_expands("bad[[ in {function}]][[ for {name}]]", "bad for x");
  assert_expands("[[{function}]]", "");
  assert_expands("[[{name} {function}]]end", "end");
  assert_expands("[[always]]", "always");
}

static void the_first_possible_alternative_is_taken(void **state) {
  (void)state;
  assert_expands("[[a {function}||b {name}||c]]", "b x");
  assert_expands("[[a {function}||c]]", "c");
  assert_expands("[[a {name}||c]]", "a x");
  assert_expands("[[a {function}||]]", "");
}

static void single_brackets_and_unfinished_parts_are_text(void **state) {
  (void)state;
  assert_expands("[IF] ends with [ENDIF]", "[IF] ends with [ENDIF]");
  assert_expands("a [[ b", "a [[ b");
  assert_expands("a ]] b", "a ]] b");
  assert_expands("a | b || c", "a | b || c");
}

static void a_missing_field_outside_of_brackets_is_a_question_mark(void **state) {
  (void)state;
  assert_expands("no {function} here", "no ? here");
}

static void long_values_are_cut_at_a_character(void **state) {
  (void)state;
  char value[1000], out[1000];
  memset(value, 'a', sizeof value);
  memcpy(value + TN_DIAG_VALUE_LIMIT - 2, "\xF0\x9F\x8E\x89", 4);   /* across the limit */
  tn_diag_field field = { "value", { value, sizeof value } };
  size_t len = tn_diag_expand("{value}!", &field, 1, out);
  assert_int_equal(len, TN_DIAG_VALUE_LIMIT - 2 + 4);
  assert_memory_equal(out + len - 5, "a...!", 5);

  field.value.len = TN_DIAG_VALUE_LIMIT;   /* as long as allowed: whole */
  assert_int_equal(tn_diag_expand("{value}", &field, 1, NULL), TN_DIAG_VALUE_LIMIT);
}

static void an_outline_shows_names_for_values(void **state) {
  (void)state;
  char out[100];
  size_t len = tn_diag_outline("{left} and {right}[[ in {op}||, somewhere]]", "left right", out);
  out[len] = 0;
  assert_string_equal(out, "<left> and <right>, somewhere");
  assert_int_equal(tn_diag_outline("[[{op}]]", NULL, NULL), 0);
}

static void the_fields_of_a_template_are_found(void **state) {
  (void)state;
  const char *at = "{a} {} [[ {b_2}||x]] {c}";
  tn_str name;
  bool inside = false;
  assert_true(tn_diag_next_field(&at, &name, &inside) && tn_str_is(name, "a") && !inside);
  assert_true(tn_diag_next_field(&at, &name, &inside) && tn_str_is(name, "b_2") && inside);
  assert_true(tn_diag_next_field(&at, &name, &inside) && tn_str_is(name, "c") && !inside);
  assert_false(tn_diag_next_field(&at, &name, &inside));
}

RUN_TESTS(
  cmocka_unit_test(a_field_stands_for_its_value),
  cmocka_unit_test(a_word_goes_with_its_number),
  cmocka_unit_test(other_braces_are_themselves),
  cmocka_unit_test(a_part_without_its_field_is_left_out),
  cmocka_unit_test(the_first_possible_alternative_is_taken),
  cmocka_unit_test(single_brackets_and_unfinished_parts_are_text),
  cmocka_unit_test(a_missing_field_outside_of_brackets_is_a_question_mark),
  cmocka_unit_test(long_values_are_cut_at_a_character),
  cmocka_unit_test(an_outline_shows_names_for_values),
  cmocka_unit_test(the_fields_of_a_template_are_found))
