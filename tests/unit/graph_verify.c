/* The verifier: sound graphs pass, and each planted defect is found and named. */
#include "graph/fused.h"
#include "graph_case.h"

static const char *sound = "graph(%x: f32[2, 3], %c: bool[], param %w: f32[3]) {\n"
                           "  %1 = add %x, %w\n"                  /* 4 */
                           "  %2 = sum %1 {axes=[1]}\n"           /* 5 */
                           "  %3 = const {value=f32[2] [1, 2]}\n" /* 6 */
                           "  %4 = if %c {\n"
                           "    %5 = mul %2, %3\n" /* 7 */
                           "    yield %5, %c\n"
                           "  } else {\n"
                           "    %6 = neg %2\n" /* 8 */
                           "    yield %6, %c\n"
                           "  }\n"                                                   /* 9 */
                           "  %7 = pick %4 {index=0}\n"                              /* 10 */
                           "  %8 = fused %x, %w {dtype=f32, shape=[2, 3]} program {" /* 11 */
                           "    r2 = mul r0, r1 : f32 r3 = fill 2 : f32 r4 = add r2, r3 : f32 }\n"
                           "  %9 = concat %7, %7, %7, %7, %7, %7, %7, %7, %7, %7 {axis=0}\n" /* 12 */
                           "  %10 = if %c { yield } else { yield }\n"                        /* 13 */
                           "  return %7, %8\n"
                           "}\n";

static tn_graph graph;

/* Nodes are read-only to everybody but this test. */
static tn_node *node(tn_value value) { return &graph.nodes.at[value]; }
static tn_attrs *attrs(tn_value value) { return (tn_attrs *)node(value)->attrs; }
static tn_value *operands(tn_value value) { return (tn_value *)node(value)->in; }
static tn_fused *program(void) { return (tn_fused *)attrs(11)->program; }
static tn_region *region(uint32_t index) { return &graph.regions.at[index]; }

static void plain_op(void) { node(4)->op = TN_OP_ERROR; }
static void unknown_op(void) { node(4)->op = TN_OP_COUNT; }
static void composed_op(void) { node(8)->op = TN_OP_GELU; }
static void no_error_node(void) { node(0)->op = TN_OP_NEG; }
static void no_attrs(void) { node(4)->attrs = NULL; }
static void node_region(void) { node(4)->region = 9; }
static void error_operand(void) { operands(4)[0] = TN_ERROR_VALUE; }
static void own_operand(void) { operands(4)[0] = 4; }
static void later_operand(void) { operands(4)[0] = 5; }
static void minus_operands(void) { node(4)->count = -1; }
static void no_operands(void) { node(4)->in = NULL; }
static void sibling_operand(void) { operands(8)[0] = 7; }
static void inner_operand(void) { operands(12)[3] = 7; }
static void arity(void) { node(4)->count = 1; }
static void wrong_dtype(void) { node(4)->type.dtype = TN_F64; }
static void wrong_shape(void) { node(4)->type.shape.dim[0] = 4; }
static void axis_range(void) { attrs(5)->axes[0] = 2; }
static void axis_negative(void) { attrs(5)->axes[0] = -1; }
static void axis_count(void) { attrs(5)->axis_count = -1; }
static void literal_gone(void) { attrs(6)->literal = NULL; }
static void literal_empty(void) {
  static tn_tensor nothing;
  attrs(6)->literal = &nothing;
}
static void literal_type(void) { node(6)->type.shape.dim[0] = 3; }
static void if_operand(void) { operands(12)[0] = 9; }
static void pick_operand(void) { operands(10)[0] = 4; }
static void pick_index(void) { attrs(10)->index = 2; }
static void pick_type(void) { attrs(10)->index = 1; }
static void if_type(void) { node(9)->type.dtype = TN_F64; }
static void if_condition(void) { operands(9)[0] = 4; }
static void if_region(void) { attrs(9)->region[0] = 7; }
static void if_program(void) { attrs(9)->region[0] = 0; }
static void if_twice(void) { attrs(9)->region[0] = 2; }
/* The last if loses one or both of its regions. */
static void if_first_gone(void) { graph.regions.count -= 2; }
static void if_second_gone(void) { graph.regions.count--; }
static void if_second_program(void) { graph.regions.count--, attrs(13)->region[1] = 0; }
static void if_first_program(void) { graph.regions.count -= 2, attrs(13)->region[0] = 0; }
static void if_of_another(void) {
  graph.regions.count -= 2, attrs(13)->region[0] = 1, attrs(13)->region[1] = 2;
}
static void if_half_of_another(void) { graph.regions.count--, attrs(13)->region[1] = 2; }
static void yield_count(void) { region(2)->results.count = 1; }
static void yield_type(void) { region(2)->results.at[1] = 5; }
static void yield_error(void) { region(1)->results.at[0] = 0; }
static void yield_later(void) { region(1)->results.at[0] = 10; }
static void yield_sibling(void) { region(2)->results.at[0] = 7; }
static void yield_itself(void) { region(2)->results.at[0] = 9; }
static void owner_gone(void) { region(1)->owner = 0; }
static void owner_far(void) { region(1)->owner = 99; }
static void owner_plain(void) { region(1)->owner = 4; }
static void parent(void) { region(1)->parent = 2; }
static void parent_sibling(void) { region(2)->parent = 1; }
static void depth(void) { region(1)->depth = 2; }
static void deep(void) { region(1)->depth = region(2)->depth = TN_REGION_DEPTH_LIMIT + 1; }
static void around(void) { region(0)->depth = 1; }
static void around_parent(void) { region(0)->parent = 1; }
static void no_nodes(void) { graph.nodes.count = 0; }
static void list_order(void) { region(0)->nodes.at[0] = 2, region(0)->nodes.at[1] = 1; }
static void list_short(void) { region(0)->nodes.count--; }
static void list_other(void) { region(1)->nodes.at[0] = 8; }
static void list_far(void) { region(0)->nodes.at[0] = 99; }
static void input_list(void) { graph.inputs.at[0] = 2; }
static void input_count(void) { graph.inputs.count = 1; }
static void param_count(void) { graph.params.count = 0; }
static void output_error(void) { graph.outputs.at[0].value = 0; }
static void output_far(void) { graph.outputs.at[0].value = 99; }
static void output_inside(void) { graph.outputs.at[0].value = 7; }
static void output_if(void) { graph.outputs.at[0].value = 9; }
static void program_gone(void) { attrs(11)->program = NULL; }
static void program_steps(void) { program()->step_count = 0; }
static void program_count(void) { program()->operand_count = 1; }
static void program_operand(void) { program()->operand_dtype[0] = TN_F64; }
static void program_op(void) { program()->step[0].op = TN_OP_SUM; }
static void program_no_op(void) { program()->step[0].op = TN_OP_ERROR; }
static void program_register(void) { program()->step[0].in[0] = 2; }
static void program_dtype(void) { program()->step[0].dtype = TN_F64; }
static void program_result(void) {
  program()->step[2] = program()->step[1], program()->step[2].dtype = TN_F64;
}
static void program_shape(void) { node(11)->type.shape.dim[0] = attrs(11)->shape.dim[0] = 5; }

static const struct {
  void (*plant)(void);
  tn_value where;
  const char *said;
} defects[] = {
  { plain_op, 4, "a node of no operation" },
  { unknown_op, 4, "a node of no operation" },
  { composed_op, 8, "a composed operation that was not expanded" },
  { no_error_node, 0, "node 0 is not the error node" },
  { no_attrs, 4, "a node without attributes" },
  { node_region, 4, "a node in a region that is not there" },
  { error_operand, 4, "the error value is used" },
  { own_operand, 4, "an operand does not come before its user" },
  { later_operand, 4, "an operand does not come before its user" },
  { no_operands, 4, "no operands" },
  { minus_operands, 4, "no operands" },
  { sibling_operand, 8, "an operand cannot be seen from where it is used" },
  { inner_operand, 12, "an operand cannot be seen from where it is used" },
  { arity, 4, "the operation refuses its attributes" },
  { wrong_dtype, 4, "a type that is not the one inferred" },
  { wrong_shape, 4, "a type that is not the one inferred" },
  { axis_range, 5, "the operation refuses its attributes" },
  { axis_negative, 5, "attributes that are not normal" },
  { axis_count, 5, "attributes that are not normal" },
  { literal_gone, 6, "a constant without a value" },
  { literal_empty, 6, "a constant without a value" },
  { literal_type, 6, "a type that is not the one inferred" },
  { if_operand, 12, "an if is used other than by pick" },
  { pick_operand, 10, "a pick of something that is not an if" },
  { pick_index, 10, "a pick of a result that is not there" },
  { pick_type, 10, "a pick that has not the type of the result" },
  { if_type, 9, "an if that has not the type of its first result" },
  { if_condition, 9, "the operation refuses its operands" },
  { if_region, 9, "an if and its regions do not name each other" },
  { if_program, 9, "an if and its regions do not name each other" },
  { if_twice, 9, "an if and its regions do not name each other" },
  { if_first_gone, 13, "an if of regions that are not there" },
  { if_second_gone, 13, "an if of regions that are not there" },
  { if_second_program, 13, "an if of regions that are not there" },
  { if_first_program, 13, "an if of regions that are not there" },
  { if_of_another, 13, "an if and its regions do not name each other" },
  { if_half_of_another, 13, "an if and its regions do not name each other" },
  { yield_count, 9, "branches with different numbers of results" },
  { yield_type, 9, "branches with results of different types" },
  { yield_error, 9, "a region yields what it cannot have" },
  { yield_later, 9, "a region yields what it cannot have" },
  { yield_sibling, 9, "a region yields what it cannot see" },
  { yield_itself, 9, "a region yields what it cannot have" },
  { owner_gone, 0, "a region without an if" },
  { owner_far, 99, "a region of a node that is not there" },
  { owner_plain, 4, "a region of a node that is not an if" },
  { parent, 9, "a region comes before the one around it" },
  { parent_sibling, 9, "a wrong depth" },
  { depth, 9, "a wrong depth" },
  { deep, 9, "a wrong depth" },
  { around, 0, "the program has a region around it" },
  { around_parent, 0, "the program has a region around it" },
  { no_nodes, 0, "node 0 is not the error node" },
  { list_order, 0, "a region lists its nodes out of order" },
  { list_short, 0, "a node is in no region's list" },
  { list_other, 9, "a region lists a node of another one" },
  { list_far, 0, "a region lists a node that is not there" },
  { input_list, 0, "the lists of inputs and parameters are wrong" },
  { input_count, 0, "the lists of inputs and parameters are wrong" },
  { param_count, 0, "the lists of inputs and parameters are wrong" },
  { output_error, 0, "an output that is not there" },
  { output_far, 99, "an output that is not there" },
  { output_inside, 7, "an output inside a branch" },
  { output_if, 9, "an if is used other than by pick" },
  { program_gone, 11, "a fused operation without a program" },
  { program_steps, 11, "a fused program out of its limits" },
  { program_count, 11, "a program for another number of operands" },
  { program_operand, 11, "a program for operands of other dtypes" },
  { program_op, 11, "a step that is not elementwise" },
  { program_no_op, 11, "a step of no operation" },
  { program_register, 11, "a step reads what is not written yet" },
  { program_dtype, 11, "a step of a wrong dtype" },
  { program_result, 11, "a program that gives another dtype" },
  { program_shape, 11, "an operand of a fused program does not broadcast to its result" },
};

static void every_planted_defect_is_found_and_named(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(defects); i++) {
    tn_value where = 0;
    graph = parsed(sound);
    size_t lists[] = { region(0)->nodes.count, region(2)->results.count, graph.inputs.count,
                       graph.params.count,     graph.regions.count,      graph.nodes.count };
    defects[i].plant();
    const char *said = tn_graph_verify(&graph, &where);
    if (!said) fail_msg("defect %zu was not found: %s", i, defects[i].said);
    assert_string_equal(said, defects[i].said);
    if (where != defects[i].where) fail_msg("%s: at %u, expected %u", said, where, defects[i].where);
    region(0)->nodes.count = lists[0], region(2)->results.count = lists[1];
    graph.inputs.count = lists[2], graph.params.count = lists[3];
    graph.regions.count = lists[4], graph.nodes.count = lists[5];
    tn_graph_free(&graph);
  }
}

static void an_input_inside_a_branch_is_found(void **state) {
  (void)state;
  tn_type scalar = { TN_F32, TN_SCALAR_SHAPE };
  graph = parsed("graph(%c: bool[]) { %1 = if %c { yield } else { yield } return }");
  tn_graph_mark mark = tn_graph_mark_of(&graph);
  mark.nodes = 2;
  tn_graph_rewind(&graph, mark);
  tn_attrs input = { .dtype = TN_F32 }, branch = { .region = { 1, 2 } };
  assert_int_not_equal(tn_graph_add(&graph, 1, TN_OP_INPUT, NULL, 0, &input, &scalar, TN_NOWHERE), 0);
  tn_type boolean = { TN_BOOL, TN_SCALAR_SHAPE };
  assert_int_not_equal(tn_graph_add(&graph, 0, TN_OP_IF, (tn_value[]){ 1 }, 1, &branch, &boolean, TN_NOWHERE),
                       0);
  assert_string_equal(tn_graph_verify(&graph, NULL), "an input or parameter inside a branch");
  tn_graph_free(&graph);
}

static void what_a_program_yields_and_an_if_that_is_yielded_are_found(void **state) {
  (void)state;
  graph = parsed("graph(%c: bool[]) { %1 = if %c { yield } else { yield }"
                 " %2 = if %c { yield %c } else { yield %c } return }");
  region(3)->results.at[0] = 2;
  assert_string_equal(tn_graph_verify(&graph, NULL), "an if is used other than by pick");
  region(3)->results.at[0] = 1;
  assert_null(tn_graph_verify(&graph, NULL));
  assert_true(tn_graph_yield(&graph, 0, (tn_value[]){ 1 }, 1));
  assert_string_equal(tn_graph_verify(&graph, NULL), "the program itself yields results");
  tn_graph_free(&graph);
}

static void storage_dtypes_in_arithmetic_are_found(void **state) {
  (void)state;
  graph = parsed("graph(%x: bf16[2]) { %1 = transpose %x return %1 }");
  node(2)->op = TN_OP_EXP;
  assert_string_equal(tn_graph_verify(&graph, NULL), "the operation refuses its operands");
  tn_graph_free(&graph);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(every_planted_defect_is_found_and_named),
    TEST(an_input_inside_a_branch_is_found),
    TEST(what_a_program_yields_and_an_if_that_is_yielded_are_found),
    TEST(storage_dtypes_in_arithmetic_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
