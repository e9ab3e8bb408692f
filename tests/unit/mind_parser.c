/* Tokens to a tree: precedence, chains, locations, and recovery after an error. */
#include "mind_support.h"

typedef struct {
  mind_session s;
  tn_mind_unit unit;
  bool ok;
} parsed;

static void parse(parsed *p, const char *text) {
  *p = (parsed){ 0 };
  assert_true(mind_open(&p->s));
  p->unit.file = mind_add(&p->s, text);
  p->ok = tn_mind_parse(&p->s.arena, p->s.names, &p->s.sources, &p->s.diags, &p->unit);
}

static int statements(const parsed *p) {
  int count = 0;
  for (const tn_mind_node *node = p->unit.block.first; node; node = node->next) count++;
  return count;
}

static void operators_bind_as_tightly_as_they_should(void **state) {
  (void)state;
  parsed p;
  parse(&p, "a || b && c == d + e * -f.g");
  const tn_mind_node *node = p.unit.block.first;
  static const tn_mind_operator order[] = { TN_MIND_OR, TN_MIND_AND, TN_MIND_EQ, TN_MIND_ADD, TN_MIND_MUL };
  assert_true(p.ok);
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
    assert_int_equal(node->op, order[i]);
    assert_int_equal(node->left->kind, TN_MIND_NAME);
    node = node->right;
  }
  assert_int_equal(node->kind, TN_MIND_UNARY);
  assert_int_equal(node->left->kind, TN_MIND_FIELD);
  mind_close(&p.s);
}

static void a_chain_of_operators_is_left_associative(void **state) {
  (void)state;
  parsed p;
  parse(&p, "a - b - (c - d)");
  const tn_mind_node *top = p.unit.block.first;
  assert_int_equal(top->left->kind, TN_MIND_BINARY);
  assert_ptr_equal(top->left->up, top);
  assert_int_equal(top->right->kind, TN_MIND_BINARY);
  assert_true(top->right->in_parens);
  assert_int_equal(top->end, 15); /* with the parentheses of its operand */
  assert_int_equal(top->right->start, 9);
  mind_close(&p.s);
}

static void a_minus_belongs_to_its_integer(void **state) {
  (void)state;
  parsed p;
  parse(&p, "-9223372036854775808\n-1.neg()\n- 5");
  const tn_mind_node *least = p.unit.block.first;
  assert_true(p.ok);
  assert_int_equal(least->kind, TN_MIND_NUMBER);
  assert_true(least->integer == INT64_MIN);
  assert_int_equal(least->next->kind, TN_MIND_UNARY); /* of what the method gives */
  assert_int_equal(least->next->next->integer, -5);
  mind_close(&p.s);
}

static void lines_end_statements_unless_something_is_open(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int count;
  } cases[] = {
    { "", 0 },
    { ";;\n;", 0 },
    { "1\n2; 3", 3 },
    { "1 +\n2", 1 },
    { "(1\n+ 2)", 1 },
    { "f(\n1,\n2\n)", 1 },
    { "x =\n3", 1 },
    { "1\n- 2", 2 },
    { "f\n(1)", 2 },
    { "x\n[0]", 2 },
    { "if a { 1 }\nelse { 2 }", 1 },
    { "if a { 1 }\nb", 2 },
    { "x\n.sum()", -1 },
    { "1\n+ 2", -1 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    parsed p;
    parse(&p, cases[i].text);
    assert_int_equal(p.ok, cases[i].count >= 0);
    if (p.ok) assert_int_equal(statements(&p), cases[i].count);
    mind_close(&p.s);
  }
}

static void every_mistake_is_reported_once(void **state) {
  (void)state;
  parsed p;
  parse(
      &p,
      "let = 1\nlet ok = 2\nfn f(x) -> i32 = x\nfoo(1,,2)\nlet (a, b = 3\nx y\nlet fine = (1 + 2)\n[1, 2\n");
  assert_false(p.ok);
  assert_int_equal(p.s.diags.errors, 6);
  for (size_t i = 0; i < p.s.diags.list.count; i++)
    assert_int_equal(p.s.diags.list.at[i].code, TN_DIAG_E1001);
  mind_close(&p.s);
}

static void a_mistake_in_a_block_leaves_the_rest(void **state) {
  (void)state;
  parsed p;
  parse(&p, "fn f(a: i32) -> i32 {\n  let x = )\n  let y = 1\n  y + * 2\n}\nlet z = 3\n");
  assert_int_equal(p.s.diags.errors, 2);
  assert_int_equal(statements(&p), 2);
  mind_close(&p.s);
}

static void nesting_is_limited_and_rows_are_not(void **state) {
  (void)state;
  static char text[200001];
  parsed p;
  memset(text, '(', 200);
  text[200] = '1';
  memset(text + 201, ')', 200);
  text[401] = 0;
  parse(&p, text);
  assert_true(p.ok);
  mind_close(&p.s);
  memset(text, '[', 1000);
  text[1000] = 0;
  parse(&p, text);
  assert_false(p.ok);
  assert_int_equal(p.s.diags.list.at[0].code, TN_DIAG_E_NESTING_LIMIT);
  assert_int_equal(p.s.diags.errors, 1);
  mind_close(&p.s);
  for (int i = 0; i < 200000; i += 2) memcpy(text + i, "1+", 2);
  text[199999] = 0;
  parse(&p, text);
  assert_true(p.ok);
  mind_close(&p.s);
}

static void an_open_text_asks_for_more(void **state) {
  (void)state;
  static const char *const open[] = { "(1", "f(", "if a {", "let x =", "1 +", "/* x", "[1,", "fn f() ->" };
  static const char *const done[] = { "1", "(1)", "let x = 1", "if a { 1 }", "(1))", "", "\"x", "// (" };
  for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) assert_true(tn_mind_is_open(tn_str_of(open[i])));
  for (size_t i = 0; i < sizeof done / sizeof done[0]; i++) assert_false(tn_mind_is_open(tn_str_of(done[i])));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(operators_bind_as_tightly_as_they_should),
    cmocka_unit_test(a_chain_of_operators_is_left_associative),
    cmocka_unit_test(a_minus_belongs_to_its_integer),
    cmocka_unit_test(lines_end_statements_unless_something_is_open),
    cmocka_unit_test(every_mistake_is_reported_once),
    cmocka_unit_test(a_mistake_in_a_block_leaves_the_rest),
    cmocka_unit_test(nesting_is_limited_and_rows_are_not),
    cmocka_unit_test(an_open_text_asks_for_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
