/* The tree of a program: precedence, chains, recovery, limits. */
#include "unit/ail_support.h"

#include "lang/ail/ast.h"

typedef struct {
  ail_session session;
  tn_arena arena;
  tn_ail_tree tree;
} parsed;

static void parse(parsed *p, const char *text) {
  memset(p, 0, sizeof *p);
  assert_true(ail_open(&p->session));
  tn_arena_init(&p->arena, &p->session.heap);
  uint32_t file = ail_add(&p->session, text);
  assert_true(tn_ail_parse(&p->session.host, file, &p->arena, NULL, &p->tree));
}

static void finish(parsed *p) {
  tn_map_free(&p->tree.marks);
  tn_arena_free(&p->arena);
  ail_close(&p->session);
  assert_int_equal(p->session.heap.used, 0);
}

/* The expression of `model { y = TEXT }`. */
static const tn_ail_expr *expression(parsed *p, const char *text) {
  char program[512] = "model { y = ";
  strcat(program, text);
  strcat(program, " }");
  parse(p, program);
  assert_int_equal(p->session.diags.errors, 0);
  return p->tree.items[0].as.block->statements[0].value;
}

static void operators_of_one_level_are_one_chain(void **state) {
  (void)state;
  parsed p;
  const tn_ail_expr *sum = expression(&p, "a + b * c * d - e");
  assert_int_equal(sum->form, TN_AIL_EXPR_CHAIN);
  assert_int_equal(sum->as.chain->count, 2);
  assert_int_equal(sum->as.chain->links[0].op, TN_AIL_ADD);
  assert_int_equal(sum->as.chain->links[1].op, TN_AIL_SUB);
  assert_int_equal(sum->as.chain->links[0].right->form, TN_AIL_EXPR_CHAIN);
  assert_int_equal(sum->as.chain->links[0].right->as.chain->count, 2);
  finish(&p);
}

static void not_binds_looser_than_comparison_and_tighter_than_and(void **state) {
  (void)state;
  parsed p;
  const tn_ail_expr *chain = expression(&p, "not a == b and c or d");
  assert_int_equal(chain->as.chain->links[0].op, TN_AIL_OR);
  const tn_ail_expr *both = chain->as.chain->first;
  assert_int_equal(both->as.chain->links[0].op, TN_AIL_AND);
  assert_int_equal(both->as.chain->first->form, TN_AIL_EXPR_NOT);
  assert_int_equal(both->as.chain->first->as.unary.of->form, TN_AIL_EXPR_CHAIN);
  finish(&p);
}

static void comparisons_in_a_row_are_read_from_the_left(void **state) {
  (void)state;
  parsed p;
  const tn_ail_expr *chain = expression(&p, "a < b <= c + 1");
  assert_int_equal(chain->as.chain->count, 2);
  assert_int_equal(chain->as.chain->links[1].op, TN_AIL_LE);
  assert_int_equal(chain->as.chain->links[1].right->form, TN_AIL_EXPR_CHAIN);
  finish(&p);
}

static void else_if_is_a_list_of_arms(void **state) {
  (void)state;
  parsed p;
  const tn_ail_expr *branch = expression(&p, "if a then 1 else if b then 2 else (if c then 3 else 4)");
  assert_int_equal(branch->as.branch->count, 2);
  assert_int_equal(branch->as.branch->otherwise->form, TN_AIL_EXPR_IF);
  assert_true(branch->as.branch->otherwise->grouped);
  finish(&p);
}

static void strings_lose_their_quotes_and_escapes(void **state) {
  (void)state;
  parsed p;
  parse(&p, "const A = \"a \\\"b\\\" \\\\ \\n\"");
  const tn_ail_expr *value = p.tree.items[0].as.statement->value;
  assert_true(tn_str_equal(value->as.text, TN_LIT("a \"b\" \\ \n")));
  finish(&p);
}

static void an_expression_is_small(void **state) {
  (void)state;
  assert_true(sizeof(tn_ail_expr) <= 32); /* large programs are made of these */
}

static void a_broken_statement_leaves_its_name_and_the_next_statement(void **state) {
  (void)state;
  parsed p;
  parse(&p, "model {\n  a = (1 + )\n  b = 2\n  c = ] 3\n  d = 4\n}\n");
  const tn_ail_block *block = p.tree.items[0].as.block;
  assert_int_equal(p.session.diags.errors, 2);
  assert_int_equal(block->count, 4);
  assert_int_equal(block->statements[0].kind, TN_AIL_ASSIGN);
  assert_null(block->statements[0].value);
  assert_non_null(block->statements[1].value);
  assert_non_null(block->statements[3].value);
  finish(&p);
}

static void names_in_skipped_text_are_remembered(void **state) {
  (void)state;
  parsed p;
  parse(&p, "model {\n  ] wonder = 3\n  y = 1\n}\n");
  assert_true(tn_ail_name_is(&p.tree, tn_names_find(p.session.names, TN_LIT("wonder")), TN_AIL_NAME_SKIPPED));
  assert_false(tn_ail_name_is(&p.tree, tn_names_find(p.session.names, TN_LIT("y")), TN_AIL_NAME_SKIPPED));
  finish(&p);
}

static void a_missing_brace_ends_the_block_before_the_next(void **state) {
  (void)state;
  parsed p;
  parse(&p, "model {\n  y = 1\ntrain {\n  loss = y\n}\n");
  assert_int_equal(p.session.diags.errors, 1);
  assert_int_equal(p.tree.count, 2);
  assert_int_equal(p.tree.items[1].kind, TN_AIL_ITEM_TRAIN);
  finish(&p);
}

/* `depth` brackets around a name, in a model. */
static void nested(char *out, int depth) {
  strcpy(out, "model { y = ");
  char *at = out + strlen(out);
  memset(at, '(', (size_t)depth);
  at[depth] = 'x';
  memset(at + depth + 1, ')', (size_t)depth);
  strcpy(at + 2 * depth + 1, " }");
}

static void nesting_ends_at_the_limit_and_is_reported_once(void **state) {
  (void)state;
  static char text[8192];
  parsed p;
  nested(text, TN_AIL_NESTING_LIMIT - 1); /* the block is a level, too */
  parse(&p, text);
  assert_int_equal(p.session.diags.errors, 0);
  finish(&p);
  nested(text, 3000);
  parse(&p, text);
  assert_int_equal(p.session.diags.errors, 1);
  assert_int_equal(ail_reported(&p.session, TN_DIAG_E_NESTING_LIMIT), 1);
  assert_true(p.tree.lost);
  finish(&p);
}

static void empty_and_blank_texts_have_no_items(void **state) {
  (void)state;
  static const char *const texts[] = { "", "\n\n  \t", "# only a comment", ";;;" };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    parsed p;
    parse(&p, texts[i]);
    assert_int_equal(p.tree.count, 0);
    assert_int_equal(p.session.diags.errors, 0);
    finish(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(operators_of_one_level_are_one_chain),
    cmocka_unit_test(not_binds_looser_than_comparison_and_tighter_than_and),
    cmocka_unit_test(comparisons_in_a_row_are_read_from_the_left),
    cmocka_unit_test(else_if_is_a_list_of_arms),
    cmocka_unit_test(strings_lose_their_quotes_and_escapes),
    cmocka_unit_test(an_expression_is_small),
    cmocka_unit_test(a_broken_statement_leaves_its_name_and_the_next_statement),
    cmocka_unit_test(names_in_skipped_text_are_remembered),
    cmocka_unit_test(a_missing_brace_ends_the_block_before_the_next),
    cmocka_unit_test(nesting_ends_at_the_limit_and_is_reported_once),
    cmocka_unit_test(empty_and_blank_texts_have_no_items),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
