/* The canonical form: what it looks like, that it is stable, and that it means the same. */
#include "unit/ail_support.h"

static void formatted(ail_session *s, const char *text, tn_text *out) {
  uint32_t file = ail_add(s, text);
  tn_text_init(out, &s->heap);
  assert_true(tn_lang_ail()->format(&(tn_unit){ .host = &s->host, .file = file }, out));
}

/* Formats to that text, and formatting that text changes nothing. */
static void becomes(const char *text, const char *wanted) {
  ail_session s = { 0 };
  tn_text once, twice;
  assert_true(ail_open(&s));
  formatted(&s, text, &once);
  assert_string_equal(once.len ? once.at : "", wanted);
  formatted(&s, once.len ? once.at : "", &twice);
  assert_string_equal(twice.len ? twice.at : "", wanted);
  tn_text_free(&once);
  tn_text_free(&twice);
  ail_close(&s);
  assert_int_equal(s.heap.used, 0);
}

static void each_statement_has_its_own_line(void **state) {
  (void)state;
  becomes("model{x[B,4];param W:[4,-1];input z : [ ];y=relu( x )*-2;let q=y==1 and not x<2}",
          "model {\n"
          "  x [B, 4]\n"
          "  param W [4, -1]\n"
          "  input z: []\n"
          "  y = relu(x) * -2\n"
          "  let q = y == 1 and not x < 2\n"
          "}\n");
}

static void blocks_are_one_line_apart_and_single_lines_stay_together(void **state) {
  (void)state;
  becomes("\n\n\nconst A=1\nconst B = 2\n\n\n\nconst C = \"x\\ty\"\nfn "
          "f(a,b){a+b}\nmodel{y=f(1,2)}\ntrain{loss=y}\n\n",
          "const A = 1\n"
          "const B = 2\n"
          "\n"
          "const C = \"x\\ty\"\n"
          "\n"
          "fn f(a, b) {\n"
          "  a + b\n"
          "}\n"
          "\n"
          "model {\n"
          "  y = f(1, 2)\n"
          "}\n"
          "\n"
          "train {\n"
          "  loss = y\n"
          "}\n");
}

static void comments_stay_where_they_were(void **state) {
  (void)state;
  becomes("# head\n\n\n# about the model\nmodel { # opens\n\n  # first\n  x [2]   // beside\n\n\n  # apart\n "
          " y = relu(x) # last\n  # the end\n} # closed\n# tail",
          "# head\n"
          "\n"
          "# about the model\n"
          "model {  # opens\n"
          "  # first\n"
          "  x [2]  // beside\n"
          "\n"
          "  # apart\n"
          "  y = relu(x)  # last\n"
          "  # the end\n"
          "}  # closed\n"
          "# tail\n");
}

static void a_comment_inside_a_statement_moves_before_it(void **state) {
  (void)state;
  becomes("model {\n  y = add(1, # one\n    2)  # two\n}\n", "model {\n"
                                                             "  # one\n"
                                                             "  y = add(1, 2)  # two\n"
                                                             "}\n");
}

static void numbers_and_parentheses_are_kept(void **state) {
  (void)state;
  becomes("model { y = (1.50 + ((2e3))) * (x) - -3 }", "model {\n  y = (1.50 + (2e3)) * (x) - -3\n}\n");
}

static void long_lines_are_broken(void **state) {
  (void)state;
  becomes("model { y = concatenated(first_argument_with_a_long_name, second_argument_with_a_long_name, "
          "third_argument_with_a_long_name) }",
          "model {\n"
          "  y = concatenated(\n"
          "    first_argument_with_a_long_name,\n"
          "    second_argument_with_a_long_name,\n"
          "    third_argument_with_a_long_name\n"
          "  )\n"
          "}\n");
  becomes("fn f(a) { first_value_with_a_long_name = a\n first_value_with_a_long_name + "
          "second_value_with_a_long_name "
          "- third_value_with_a_name_that_is_rather_long }",
          "fn f(a) {\n"
          "  first_value_with_a_long_name = a\n"
          "  first_value_with_a_long_name +\n"
          "    second_value_with_a_long_name -\n"
          "    third_value_with_a_name_that_is_rather_long\n"
          "}\n");
  becomes("model { y = if a_condition_with_a_long_name > 3 then a_value_with_a_long_name else if "
          "another_condition then 2 "
          "else 3 }",
          "model {\n"
          "  y = if a_condition_with_a_long_name > 3\n"
          "    then a_value_with_a_long_name\n"
          "    else if another_condition\n"
          "    then 2\n"
          "    else 3\n"
          "}\n");
}

static void a_loop_over_lines_stays_over_lines(void **state) {
  (void)state;
  becomes("model { a = for i in range(0,3) do i end\n b = repeat N times init x do\n relu( b ) end\n c = "
          "reduce add over range( -1 , 3 )\n do i\n end }",
          "model {\n"
          "  a = for i in range(0, 3) do i end\n"
          "  b = repeat N times init x do\n"
          "    relu(b)\n"
          "  end\n"
          "  c = reduce add over range(-1, 3) do\n"
          "    i\n"
          "  end\n"
          "}\n");
}

static void fields_machines_and_apps(void **state) {
  (void)state;
  becomes("data{format=\"tsv\" path=\"a\" map f(tokens) filter g(labels) batch 8 metrics=[loss,\"acc\"]}",
          "data {\n"
          "  format = \"tsv\"\n"
          "  path = \"a\"\n"
          "  map f(tokens)\n"
          "  filter g(labels)\n"
          "  batch 8\n"
          "  metrics = [loss, \"acc\"]\n"
          "}\n");
  becomes("state_machine M{state A{let v=1 emit \"a\" on start->B if v>0->B else->A}state B{end}}",
          "state_machine M {\n"
          "  state A {\n"
          "    let v = 1\n"
          "    emit \"a\"\n"
          "    on start -> B\n"
          "    if v > 0 -> B\n"
          "    else -> A\n"
          "  }\n"
          "\n"
          "  state B {\n"
          "    end\n"
          "  }\n"
          "}\n");
  becomes("app A{state{c:int=0 t:tensor=[[1,2]]}on start{c=c+1 emit initialized}}",
          "app A {\n"
          "  state {\n"
          "    c: int = 0\n"
          "    t: tensor = [[1, 2]]\n"
          "  }\n"
          "\n"
          "  on start {\n"
          "    c = c + 1\n"
          "    emit initialized\n"
          "  }\n"
          "}\n");
}

static void an_empty_program_stays_empty(void **state) {
  (void)state;
  becomes("", "");
  becomes("# alone", "# alone\n");
  becomes("model{}", "model {\n}\n");
}

static void a_text_that_cannot_be_read_is_refused(void **state) {
  (void)state;
  ail_session s = { 0 };
  tn_text out;
  assert_true(ail_open(&s));
  uint32_t file = ail_add(&s, "model { y = ( }");
  tn_text_init(&out, &s.heap);
  assert_false(tn_lang_ail()->format(&(tn_unit){ .host = &s.host, .file = file }, &out));
  assert_int_equal(out.len, 0);
  assert_int_equal(ail_reported(&s, TN_DIAG_E_SYNTAX_ERROR), 1);
  tn_text_free(&out);
  ail_close(&s);
}

static void the_formatted_program_has_the_same_graph(void **state) {
  (void)state;
  static const char *const text =
      "const K=3 fn f(a,b){c=a*b\n-c}\n"
      "model{x[B,4];tokens[B,T];param E[9,4];h=meanpool(embedding(tokens,E))+x\n"
      "z=if sum(x)>0 then f(h,x) else h*K\n y=for i in range(0,2) do\n z*i+(1-2-3)*4 end}";
  ail_session s = { 0 };
  tn_text canonical, before, after;
  assert_true(ail_open(&s));
  formatted(&s, text, &canonical);
  tn_text_init(&before, &s.heap);
  tn_text_init(&after, &s.heap);
  assert_true(
      tn_lang_ail()->emit(&(tn_unit){ .host = &s.host, .file = ail_add(&s, text) }, TN_EMIT_GRAPH, &before));
  assert_true(tn_lang_ail()->emit(&(tn_unit){ .host = &s.host, .file = ail_add(&s, canonical.at) },
                                  TN_EMIT_GRAPH, &after));
  assert_string_equal(before.at, after.at);
  tn_text_free(&canonical);
  tn_text_free(&before);
  tn_text_free(&after);
  ail_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_statement_has_its_own_line),
    cmocka_unit_test(blocks_are_one_line_apart_and_single_lines_stay_together),
    cmocka_unit_test(comments_stay_where_they_were),
    cmocka_unit_test(a_comment_inside_a_statement_moves_before_it),
    cmocka_unit_test(numbers_and_parentheses_are_kept),
    cmocka_unit_test(long_lines_are_broken),
    cmocka_unit_test(a_loop_over_lines_stays_over_lines),
    cmocka_unit_test(fields_machines_and_apps),
    cmocka_unit_test(an_empty_program_stays_empty),
    cmocka_unit_test(a_text_that_cannot_be_read_is_refused),
    cmocka_unit_test(the_formatted_program_has_the_same_graph),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
