/* The text form of graphs: what is printed, what reads back, what is refused. */
#include "graph_case.h"

static void the_example_of_the_header_reads_and_prints(void **state) {
  (void)state;
  const char *text = "graph(%x: f32[B, 3], param %w: f32[3, 4]) {\n"
                     "  %1 = matmul %x, %w : f32[B, 4]\n"
                     "  %2 = sum %1 {axes=[0, 1]} : f32[]\n"
                     "  %3 = gt %2, %2 : bool[]\n"
                     "  %5 = if %3 {\n"
                     "    yield %2\n"
                     "  } else {\n"
                     "    %4 = neg %2 : f32[]\n"
                     "    yield %4\n"
                     "  }\n"
                     "  %6 = pick %5 {index=0} : f32[]\n"
                     "  return loss=%6\n"
                     "}\n";
  tn_graph graph = parsed(text);
  assert_int_equal(graph.inputs.count, 1);
  assert_int_equal(graph.params.count, 1);
  assert_prints(&graph, text);
  assert_reads_back(&graph);
  tn_graph_free(&graph);
}

/* Statements of operations that take more than plain operands; the others are written from the table. */
static const struct {
  tn_op op;
  const char *text;
} statements[] = {
  { TN_OP_INPUT, "%v = input {name=\"late\", dtype=f32, shape=[B]}" },
  { TN_OP_PARAM, "%v = param {name=\"late\", dtype=f32, shape=[B]}" },
  { TN_OP_CONST, "%v = const {value=f32[2, 2] [1, -0, \"NaN\", 1e-30]}" },
  { TN_OP_CONST, "%v = const {value=i64[3] [9223372036854775807, -9223372036854775808, 0]}" },
  { TN_OP_CONST, "%v = const {value=i32[] [-7]}" },
  { TN_OP_CONST, "%v = const {value=bool[2] [true, false]}" },
  { TN_OP_CONST, "%v = const {value=bf16[1] [1.5]}" },
  { TN_OP_CONST, "%v = const {value=f16[2] [\"-Infinity\", 0.5]}" },
  { TN_OP_CONST, "%v = const {value=f64[1, 0] []}" },
  { TN_OP_FILL, "%v = fill {dtype=f32, shape=[B, 2], number=-Infinity}" },
  { TN_OP_FILL, "%v = fill {dtype=f64, shape=[], number=NaN}" },
  { TN_OP_IOTA, "%v = iota {dtype=i32, shape=[2, 3], axis=-1}" },
  { TN_OP_UNIFORM, "%v = uniform %key {shape=[2, B], index=18446744073709551615}" },
  { TN_OP_NORMAL, "%v = normal %key {shape=[], index=7}" },
  { TN_OP_HOST, "%v = host {name=\"now\", argument=\"a \\\"b\\\" \\\\ \\x0a\", dtype=f32, shape=[]}" },
  { TN_OP_FILL, "%v = fill {dtype=f32, shape=[Batch, _rows, n2], number=1}" },
  { TN_OP_HOST, "%v = host {name=\"\\x7f\\x1f z\", dtype=f32, shape=[]}" },
  { TN_OP_CAST, "%v = cast %x {dtype=f64}" },
  { TN_OP_SELECT, "%v = select %b, %x, %x" },
  { TN_OP_RESHAPE, "%v = reshape %x {shape=[-1]}" },
  { TN_OP_RESHAPE, "%v = reshape %w {shape=[4, -1]}" },
  { TN_OP_TRANSPOSE, "%v = transpose %w {axes=[2, 0, 1]}" },
  { TN_OP_BROADCAST_TO, "%v = broadcast_to %x {shape=[5, B, 3]}" },
  { TN_OP_SLICE, "%v = slice %w {low=[0, 1, -2], high=[2, -1, 9223372036854775807], step=[1, 1, 2]}" },
  { TN_OP_SLICE, "%v = slice %x {low=[-1]}" },
  { TN_OP_PAD, "%v = pad %x {low=[0, 1], high=[0, 2], step=[0, 3]}" },
  { TN_OP_CONCAT, "%v = concat %x, %x, %x {axis=0}" },
  { TN_OP_GATHER, "%v = gather %w, %i {axis=1}" },
  { TN_OP_SCATTER_ADD, "%y = gather %x, %i {axis=0} %v = scatter_add %x, %i, %y {axis=0}" },
  { TN_OP_ROW_UPDATE, "%y = gather %x, %i {axis=0} %s = sum %y %v = row_update %x, %i, %y, %s" },
  { TN_OP_PATCHES, "%v = patches %img {window=[2, 3], step=[2, 1], low=[1, 0], high=[0, 1]}" },
  { TN_OP_FOLD, "%y = patches %img {window=[2, 3]} %v = fold %y {shape=[2, 5, 6, 3], window=[2, 3]}" },
  { TN_OP_SUM, "%v = sum %x {axes=[]}" },
  { TN_OP_MEAN, "%v = mean %x {axes=[-1], keepdims=true}" },
  { TN_OP_MAX, "%v = max %x {axes=[1, 0]}" },
  { TN_OP_ELEMENTS, "%v = count %x {axes=[0], dtype=i64}" },
  { TN_OP_ARGMAX, "%v = argmax %x {axis=-1, keepdims=true}" },
  { TN_OP_CUMSUM, "%v = cumsum %x {axis=1, reverse=true}" },
  { TN_OP_CUMPROD, "%v = cumprod %x {axis=0, exclusive=true}" },
  { TN_OP_SOFTMAX, "%v = softmax %x {axis=-1}" },
  { TN_OP_LOG_SOFTMAX, "%v = log_softmax %x {axis=0}" },
  { TN_OP_CROSS_ENTROPY, "%y = argmax %x {axis=1} %v = cross_entropy %x, %y" },
  { TN_OP_MATMUL, "%y = transpose %x %v = matmul %x, %y" },
  { TN_OP_IF, "%v = if %b { yield } else { yield }" },
  { TN_OP_PICK, "%c = if %b { yield %x, %b } else { %y = neg %x yield %y, %b } %v = pick %c {index=1}" },
  { TN_OP_FUSED, "%v = fused %x, %b {dtype=f64, shape=[B, 3]} program { r2 = fill 1e-300 : f64"
                 " r3 = cast r0 : f64 r4 = select r1, r2, r3 : f64 }" },
  { TN_OP_FUSED, "%v = fused {dtype=f32, shape=[2]} program { r0 = fill -Infinity : f32 }" },
  { TN_OP_SQUEEZE, "%y = expand_dims %x {axis=0} %v = squeeze %y {axes=[0]} %z = squeeze %y" },
  { TN_OP_EXPAND_DIMS, "%v = expand_dims %x {axis=-1}" },
  { TN_OP_FLATTEN, "%v = flatten %w" },
  { TN_OP_STACK, "%v = stack %x, %x {axis=-1}" },
  { TN_OP_INDEX, "%v = index %x {axis=0, index=-1}" },
  { TN_OP_EMBEDDING, "%v = embedding %i, %x" },
  { TN_OP_MEAN_POOL_TIME, "%y = stack %x, %x {axis=0} %v = mean_pool_time %y" },
  { TN_OP_DOT, "%y = flatten %x %v = dot %y, %y" },
  { TN_OP_CONV2D,
    "%k = fill {dtype=f32, shape=[3, 3, 3, 8], number=0.5} %v = conv2d %img, %k {step=[2, 2], same=true}" },
  { TN_OP_LAYER_NORM,
    "%y = fill {dtype=f32, shape=[3], number=1} %v = layer_norm %x, %y, %y {number=0.00001}" },
  { TN_OP_LAYER_NORM_GRAD,
    "%y = fill {dtype=f32, shape=[3], number=1} %v = layer_norm_grad %x, %y, %x {number=0.00001}" },
  { TN_OP_DEPTHWISE, "%k = fill {dtype=f32, shape=[3, 3, 1, 6], number=0.5} "
                     "%v = depthwise %img, %k {window=[3, 3], low=[0, 1], high=[0, 1], step=[2, 1]}" },
  { TN_OP_DEPTHWISE_IMAGE, "%k = fill {dtype=f32, shape=[2, 2, 1, 6], number=0.5} "
                           "%g = depthwise %img, %k {window=[2, 2]} "
                           "%v = depthwise_image %g, %k {shape=[2, 5, 6, 3], window=[2, 2]}" },
  { TN_OP_DEPTHWISE_WEIGHTS, "%v = depthwise_weights %img, %img {window=[1, 1]}" },
  { TN_OP_ATTENTION, "%v = attention %x, %x, %x {index=3}" },
  { TN_OP_ATTENTION_GRAD, "%v = attention_grad %w, %w, %w, %w {index=2, causal=true}" },
  { TN_OP_LINEAR, "%y = transpose %x %v = linear %x, %y %z = linear %y, %x, %s0" },
  { TN_OP_DROPOUT, "%v = dropout %x, %key {number=0.25, index=3}" },
  { TN_OP_ONE_HOT, "%v = one_hot %i {dtype=f64, index=5}" },
};

static void assert_statement_reads_back(tn_op op, const char *statement) {
  char text[1024];
  snprintf(text, sizeof text,
           "graph(%%x: f32[B, 3], %%b: bool[], %%i: i32[4], %%key: i64[], %%s0: f32[], "
           "param %%w: f64[2, 3, 4], %%img: f32[2, 5, 6, 3]) {\n %s\n return %s\n}\n",
           statement, op == TN_OP_IF ? "" : "out=%v");
  tn_graph graph = parsed(text);
  assert_reads_back(&graph);
  tn_graph_free(&graph);
}

/* "%v = add %x, %x" */
static void assert_plain_reads_back(tn_op op) {
  const tn_op_sig *sig = tn_op_sig_of(op);
  char text[128];
  int length = snprintf(text, sizeof text, "%%v = %s", sig->name);
  for (int i = 0; i < sig->arity; i++)
    length += snprintf(text + length, sizeof text - (size_t)length, "%s %s", i ? "," : "",
                       sig->dtypes & TN_FLOATS ? "%x" : "%b");
  assert_statement_reads_back(op, text);
}

static void every_operation_reads_back(void **state) {
  (void)state;
  for (int op = TN_OP_ERROR + 1; op < TN_OP_COUNT; op++) {
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(statements); i++) {
      if (statements[i].op != (tn_op)op) continue;
      assert_statement_reads_back((tn_op)op, statements[i].text);
      found = true;
    }
    if (!found) assert_plain_reads_back((tn_op)op);
  }
}

static void names_that_are_not_words_are_quoted(void **state) {
  (void)state;
  const char *text =
      "graph(%1 \"a b\": f32[], %x: f32[], %2 \"x\": f32[], %3: i32[], param %4 \"7\": f32[]) {\n"
      "  %5 = neg %x : f32[]\n"
      "  %late = input {name=\"late\", dtype=f32, shape=[2]} : f32[2]\n"
      "  return %1, \"a\\\"\\\\\\x0a\"=%x, y.z=%4\n"
      "}\n";
  tn_graph graph = parsed(text);
  assert_int_equal(graph.inputs.count, 5);
  assert_int_equal(tn_graph_node(&graph, 4)->attrs->name, 0);
  assert_prints(&graph, text);
  assert_reads_back(&graph);
  tn_graph_free(&graph);
}

static void labels_are_only_labels(void **state) {
  (void)state;
  tn_graph graph = parsed("graph(%x: f32[2]) { // a comment\n"
                          "  %beta.2 = neg %x\r\n\t%17=neg %beta.2:f32[2] return%17 }");
  assert_prints(&graph,
                "graph(%x: f32[2]) {\n  %1 = neg %x : f32[2]\n  %2 = neg %1 : f32[2]\n  return %2\n}\n");
  tn_graph_free(&graph);
}

static void nested_branches_are_indented(void **state) {
  (void)state;
  const char *text = "graph(%x: f32[], %c: bool[]) {\n"
                     "  %5 = if %c {\n"
                     "    %3 = if %c {\n"
                     "      %1 = neg %x : f32[]\n"
                     "      yield %1, %x\n"
                     "    } else {\n"
                     "      %2 = fused %x {dtype=f32, shape=[]} program {\n"
                     "        r1 = neg r0 : f32\n"
                     "        r2 = add r0, r1 : f32\n"
                     "      } : f32[]\n"
                     "      yield %x, %2\n"
                     "    }\n"
                     "    %4 = pick %3 {index=1} : f32[]\n"
                     "    yield %4\n"
                     "  } else {\n"
                     "    yield %x\n"
                     "  }\n"
                     "  %6 = pick %5 {index=0} : f32[]\n"
                     "  return %6\n"
                     "}\n";
  tn_graph graph = parsed(text);
  assert_prints(&graph, text);
  assert_reads_back(&graph);
  tn_graph_free(&graph);
}

/* Nodes of a branch that stand between those around it are printed where its `if` stands. */
static void branches_mixed_with_their_surroundings_read_back_in_order(void **state) {
  (void)state;
  tn_graph graph;
  tn_graph_builder builder;
  tn_builder *b = &builder.base;
  tn_type scalar = { TN_F32, TN_SCALAR_SHAPE };
  assert_true(tn_graph_init(&graph, &heap, names));
  tn_graph_builder_init(&builder, &graph);
  tn_value x = tn_build_input(b, name_of("x"), &scalar), c = tn_build_binary(b, TN_OP_GT, x, x);
  assert_true(b->methods->region_begin(b));
  tn_value inside = tn_build_unary(b, TN_OP_NEG, x);
  uint32_t region = builder.region;
  builder.region = 0;
  tn_value outside = tn_build_unary(b, TN_OP_EXP, x);
  builder.region = region;
  inside = tn_build_binary(b, TN_OP_MUL, inside, outside);
  uint32_t then_region = b->methods->region_end(b, &inside, 1);
  assert_true(b->methods->region_begin(b));
  uint32_t else_region = b->methods->region_end(b, &x, 1);
  tn_value branch = b->methods->join(b, c, then_region, else_region);
  tn_graph_output(&graph, 0, tn_build(b, TN_OP_PICK, &branch, 1, &(tn_attrs){ .dtype = TN_F32 }));
  assert_sound(&graph);
  tn_text text;
  tn_graph again;
  tn_text_init(&text, &heap);
  tn_graph_print(&graph, &text);
  assert_true(parse(text.at, &again));
  assert_sound(&again);
  assert_false(graph_equal(&graph, &again));
  assert_reads_back(&again);
  tn_text_free(&text);
  tn_graph_free(&again);
  tn_graph_free(&graph);
}

/* ---- what is refused ---- */

static void mistakes_of_form_are_shown_where_they_are(void **state) {
  (void)state;
  const tn_diag_code syntax = TN_DIAG_E_GRAPH_SYNTAX;
  assert_rejects("", syntax, 1, 1);
  assert_rejects("grap() {}", syntax, 1, 1);
  assert_rejects("graph {}", syntax, 1, 7);
  assert_rejects("graph(x: f32[]) { return }", syntax, 1, 7);
  assert_rejects("graph(%x f32[]) { return }", syntax, 1, 10);
  assert_rejects("graph(%x: f33[]) { return }", syntax, 1, 11);
  assert_rejects("graph(%x: f32) { return }", syntax, 1, 14);
  assert_rejects("graph(%x: f32[-2]) { return }", syntax, 1, 15);
  assert_rejects("graph(%x: f32[2 3]) { return }", syntax, 1, 17);
  assert_rejects("graph(%x: f32[99999999999999999999]) { return }", syntax, 1, 15);
  assert_rejects("graph(%x: f32[], %x: f32[]) { return }", syntax, 1, 18);
  assert_rejects("graph(%x: f32[]) {\n  %1 = neg %y\n  return }", syntax, 2, 12);
  assert_rejects("graph(%x: f32[]) {\n  %1 = nag %x\n  return }", syntax, 2, 8);
  assert_rejects("graph(%x: f32[]) {\n  %x = neg %x\n  return }", syntax, 2, 3);
  assert_rejects("graph(%x: f32[]) {\n  %1 = neg %1\n  return }", syntax, 2, 12);
  assert_rejects("graph(%x: f32[]) {\n  %1 neg %x\n  return }", syntax, 2, 6);
  assert_rejects("graph(%x: f32[]) {\n  %1 = neg %x {axis=0}\n  return }", syntax, 2, 16);
  assert_rejects("graph(%x: f32[]) {\n  %1 = sum %x {axis}\n  return }", syntax, 2, 16);
  assert_rejects("graph(%x: f32[]) {\n  %1 = sum %x {axes=0}\n  return }", syntax, 2, 21);
  assert_rejects("graph(%x: f32[]) {\n  %1 = sum %x {axes=[1.5]}\n  return }", syntax, 2, 22);
  assert_rejects("graph(%x: f32[]) {\n  %1 = sum %x {keepdims=1}\n  return }", syntax, 2, 25);
  assert_rejects("graph(%x: f32[]) {\n  %1 = sum %x {keepdims=true\n  return }", syntax, 3, 3);
  assert_rejects("graph() { %1 = iota {dtype=f32, shape=[2], axis=4294967296} return }", syntax, 1, 49);
  assert_rejects("graph() { %1 = fill {number=x} return }", syntax, 1, 29);
  assert_rejects("graph() { %1 = host {name=now} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\\q\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\\x1\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\n\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\\xg0\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\\x /\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\\x0G\"} return }", syntax, 1, 27);
  assert_rejects("graph() { %1 = host {name=\"a\\", syntax, 1, 27);
  assert_rejects("graph() { %1 = iota {dtype=f32, shape=[2], axis=-4294967296} return }", syntax, 1, 49);
  assert_rejects("graph() { %1 = iota {dtype=f32, shape=[2], axis=x} return }", syntax, 1, 49);
  assert_rejects("graph(%x: f32[2]) { %1 = sum %x {axes=[4294967296]} return }", syntax, 1, 39);
  assert_rejects("graph(%x: f32[2]) { %1 = sum %x {axes=[-4294967296]} return }", syntax, 1, 39);
  assert_rejects("graph(%x: f32[1, 4, 4, 1]) { %1 = patches %x {window=[2]} return }", syntax, 1, 54);
  assert_rejects("graph(%x: f32[1, 4, 4, 1]) { %1 = patches %x {window=2} return }", syntax, 1, 54);
  assert_rejects("graph(%x: f32[2]) { %1 = sum %x {keepdims=truth} return }", syntax, 1, 43);
  assert_rejects("graph(%x: f32[2]) { %1 = if %x {axes=[0]} return }", syntax, 1, 33);
  assert_rejects("graph() { return $ }", syntax, 1, 18);
  assert_rejects("graph() { return loss }", syntax, 1, 23);
  assert_rejects("graph() { return % }", syntax, 1, 18);
  assert_rejects("graph() { return } graph", syntax, 1, 20);
  assert_rejects("graph(%x: f32[]) { return %x", syntax, 1, 29);
  assert_rejects("graph(%x: f32[]) { return %x,", syntax, 1, 30);
  assert_rejects("graph(%x: f32[]) { %1 = neg %x }", syntax, 1, 32);
}

static void literals_have_as_many_elements_as_they_say(void **state) {
  (void)state;
  const tn_diag_code syntax = TN_DIAG_E_GRAPH_SYNTAX;
  assert_rejects("graph() { %1 = const {value=f32[2] [1]} return }", syntax, 1, 38);
  assert_rejects("graph() { %1 = const {value=f32[2] [1, 2, 3]} return }", syntax, 1, 41);
  assert_rejects("graph() { %1 = const {value=f32[1000000000000] [1]} return }", syntax, 1, 29);
  assert_rejects("graph() { %1 = const {value=f32[99999999999] [1]} return }", syntax, 1, 29);
  assert_rejects("graph() { %1 = const {value=f32[B] [1]} return }", syntax, 1, 29);
  assert_rejects("graph() { %1 = const {value=i32[1] [2147483648]} return }", syntax, 1, 37);
  assert_rejects("graph() { %1 = const {value=i32[1] [-2147483649]} return }", syntax, 1, 37);
  assert_rejects("graph() { %1 = const {value=i32[1] [1.5]} return }", syntax, 1, 37);
  assert_rejects("graph() { %1 = const {value=bf16[1] [x]} return }", syntax, 1, 38);
  assert_rejects("graph() { %1 = const {value=f32[1] [{]} return }", syntax, 1, 37);
  assert_rejects("graph() { %1 = const {value=bool[1] [1]} return }", syntax, 1, 38);
  assert_rejects("graph() { %1 = const {value=f32[1] [x]} return }", syntax, 1, 37);
  assert_rejects("graph() { %1 = const {value=f32[1] []} return }", syntax, 1, 37);
  assert_rejects("graph() { %1 = const {value=f32[] [1], value=f32[] [1]} return }", syntax, 1, 46);
}

static void branches_end_with_as_many_values_and_hide_their_own(void **state) {
  (void)state;
  const tn_diag_code syntax = TN_DIAG_E_GRAPH_SYNTAX;
  const char *head = "graph(%x: f32[], %c: bool[]) {\n";
  const struct {
    const char *text;
    uint32_t line, column;
  } wrong[] = {
    { "  %1 = if %c { yield %x } return }", 2, 27 },
    { "  %1 = if %c { } else { yield } return }", 2, 16 },
    { "  %1 = if %c { yield } else { yield %x } return }", 2, 8 },
    { "  %1 = if %c { %2 = neg %x yield %2 } else { yield %2 } return }", 2, 52 },
    { "  %1 = if %c { %2 = neg %x yield %2 } else { yield %x }\n  return %2 }", 3, 10 },
    { "  %1 = if %c { yield %x } else { yield %x } return %1 }", 2, 52 },
    { "  %1 = if { yield %x } else { yield %x } return }", 2, 11 },
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char text[256];
    snprintf(text, sizeof text, "%s%s", head, wrong[i].text);
    assert_rejects(text, syntax, wrong[i].line, wrong[i].column);
  }
}

static void mistakes_of_types_have_their_own_codes(void **state) {
  (void)state;
  const char *head = "graph(%x: f32[2, 3], %y: f32[4], %c: bool[], %i: i32[2]) {\n";
  const struct {
    const char *text;
    tn_diag_code code;
    uint32_t column;
  } wrong[] = {
    { "  %1 = add %x, %y return }", TN_DIAG_E2101, 8 },
    { "  %1 = matmul %x, %x return }", TN_DIAG_E2103, 8 },
    { "  %1 = neg %c return }", TN_DIAG_E2006, 8 },
    { "  %1 = neg %x, %x return }", TN_DIAG_E2005, 8 },
    { "  %1 = sum %x {axes=[2]} return }", TN_DIAG_E2106, 8 },
    { "  %1 = index %x {axis=0, index=2} return }", TN_DIAG_E2109, 8 },
    { "  %1 = neg %x : f32[2] return }", TN_DIAG_E_GRAPH_TYPE, 17 },
    { "  %1 = pick %x return }", TN_DIAG_E_GRAPH_TYPE, 8 },
    { "  %1 = if %c { yield } else { yield } %2 = pick %1 return }", TN_DIAG_E_GRAPH_TYPE, 44 },
    { "  %1 = if %c { yield %x } else { yield %x } %2 = neg %1 return }", TN_DIAG_E_GRAPH_TYPE, 50 },
    { "  %1 = if %x { yield } else { yield } return }", TN_DIAG_E2006, 8 },
    { "  %1 = if %c { yield %x } else { yield %y } return }", TN_DIAG_E2103, 8 },
    { "  %1 = fused %x {dtype=f32, shape=[2, 3]} program { r1 = sum r0 : f32 } return }",
      TN_DIAG_E_GRAPH_TYPE, 8 },
    { "  %1 = fused %x {dtype=f32, shape=[2, 3]} program { r1 = not r0 : bool } return }",
      TN_DIAG_E_GRAPH_TYPE, 8 },
    { "  %1 = fused %x {dtype=f64, shape=[2, 3]} program { r1 = neg r0 : f32 } return }",
      TN_DIAG_E_GRAPH_TYPE, 8 },
    { "  %1 = fused %x {dtype=f32, shape=[3]} program { r1 = neg r0 : f32 } return }", TN_DIAG_E_GRAPH_TYPE,
      8 },
    { "  %1 = fused %x {dtype=f32, shape=[3]} program { } return }", TN_DIAG_E_GRAPH_TYPE, 8 },
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char text[256];
    snprintf(text, sizeof text, "%s%s", head, wrong[i].text);
    assert_rejects(text, wrong[i].code, 2, wrong[i].column);
  }
}

/* What a composed operation is made of would say it of operands that nobody wrote. */
static void composed_operations_speak_of_their_own_operands(void **state) {
  (void)state;
  const char *head =
      "graph(%x: f32[2, 3], %y: f32[4], %s: f32[], %i: i32[2], %m: f32[1, 4, 4, 2], %k: f32[3, 3, 2, 1],"
      " %z: f32[0, 3, 2, 1], %u: f32[N, 3, 2, 1], %o: f32[3, 3, 1, 1]) {\n";
  const struct {
    const char *text;
    tn_diag_code code;
  } wrong[] = {
    { "%1 = embedding %i, %s", TN_DIAG_E2102 },
    { "%1 = layer_norm %s, %s, %s", TN_DIAG_E2102 },
    { "%1 = layer_norm %x, %y, %s", TN_DIAG_E2103 },
    { "%1 = layer_norm %x, %s, %y", TN_DIAG_E2103 },
    { "%1 = layer_norm %s, %x, %s", TN_DIAG_E2102 },
    { "%1 = layer_norm %y, %x, %s", TN_DIAG_E2103 },
    { "%1 = layer_norm_grad %s, %y, %s", TN_DIAG_E2102 },
    { "%1 = layer_norm_grad %x, %x, %x", TN_DIAG_E2103 },
    { "%1 = layer_norm_grad %x, %y, %x", TN_DIAG_E2103 },
    { "%1 = layer_norm_grad %y, %y, %x", TN_DIAG_E2103 },
    { "%1 = conv2d %x, %k {step=[1, 1]}", TN_DIAG_E2102 },
    { "%1 = conv2d %m, %x {step=[1, 1]}", TN_DIAG_E2102 },
    { "%1 = conv2d %m, %o {step=[1, 1]}", TN_DIAG_E2103 },
    { "%1 = conv2d %m, %z {step=[1, 1]}", TN_DIAG_E2001 },
    { "%1 = conv2d %m, %u {step=[1, 1]}", TN_DIAG_E2001 },
    { "%1 = conv2d %m, %k {step=[-1, 1]}", TN_DIAG_E2001 },
    { "%1 = conv2d %m, %k {step=[1, 4294967296]}", TN_DIAG_E2001 },
    { "%1 = conv2d %m, %o {index=3}", TN_DIAG_E2001 },
    { "%1 = conv2d %m, %o {index=2}", TN_DIAG_E2001 },
    { "%1 = conv2d %m, %k {index=-1}", TN_DIAG_E2001 },
    { "%1 = stack %x, %y", TN_DIAG_E2103 },
    { "%1 = gelu %i", TN_DIAG_E2006 },
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char text[512];
    tn_graph graph;
    snprintf(text, sizeof text, "%s  %s return }", head, wrong[i].text);
    tn_diags_clear(&diags);
    if (parse(text, &graph)) fail_msg("accepted: %s", wrong[i].text);
    assert_int_equal(diags.list.count, 1);
    if (diags.list.at[0].code != wrong[i].code)
      fail_msg("%s: %s", wrong[i].text, tn_diag_info_of(diags.list.at[0].code)->code);
  }
}

static void programs_write_registers_in_order(void **state) {
  (void)state;
  const char *head = "graph(%x: f32[]) { %1 = fused %x {dtype=f32, shape=[]} ";
  const char *wrong[] = { "return }",
                          "program { r2 = neg r0 : f32 } return }",
                          "program { r1 = neg r1 : f32 } return }",
                          "program { r1 = neg x : f32 } return }",
                          "program { r1 = neg r0 } return }",
                          "program { r1 = concat r0 : f32 } return }",
                          "program { r1 = fill r0 : f32 } return }",
                          "program { r1 = add r0 r0 : f32 } return }",
                          "program { 1 = neg r0 : f32 } return }",
                          "program { r = neg r0 : f32 } return }",
                          "program { r1 = neg r1000 : f32 } return }",
                          "program { r1 = neg rx : f32 } return }",
                          "program { r0 = neg r0 : f32 } return }" };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    char text[256];
    tn_graph graph;
    snprintf(text, sizeof text, "%s%s", head, wrong[i]);
    tn_diags_clear(&diags);
    assert_false(parse(text, &graph));
    assert_int_equal(diags.list.at[0].code, TN_DIAG_E_GRAPH_SYNTAX);
  }
}

static void all_mistakes_of_types_are_reported_in_one_pass(void **state) {
  (void)state;
  tn_graph graph;
  assert_false(
      parse("graph(%x: f32[2], %y: f32[3]) {\n  %1 = add %x, %y\n  %2 = neg %1\n  %3 = mul %x, %y : f32[2]\n"
            "  %c = gt %2, %2 %4 = if %c { yield %1 } else { yield %x }\n  %5 = pick %4\n"
            "  return %2, %5 }",
            &graph));
  assert_int_equal(diags.list.count, 2); /* what follows from the first two is not reported */
}

static void ranks_are_limited(void **state) {
  (void)state;
  assert_rejects("graph(%x: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]) { return }", TN_DIAG_E_RANK_LIMIT, 1, 39);
  assert_rejects("graph(%x: f32[]) { %1 = sum %x {axes=[0, 0, 0, 0, 0, 0, 0, 0, 0]} return }",
                 TN_DIAG_E_GRAPH_SYNTAX, 1, 63);
}

static void branches_nest_to_a_limit(void **state) {
  (void)state;
  for (int extra = 0; extra < 2; extra++) {
    int levels = TN_REGION_DEPTH_LIMIT + extra;
    tn_text text;
    tn_graph graph;
    tn_text_init(&text, &heap);
    tn_text_puts(&text, "graph(%c: bool[]) {\n");
    for (int i = 0; i < levels; i++) {
      tn_text_byte(&text, '%');
      tn_text_int(&text, i);
      tn_text_puts(&text, " = if %c {\n");
    }
    for (int i = 0; i < levels; i++) tn_text_puts(&text, "yield } else { yield }\n");
    tn_text_puts(&text, "return }");
    tn_diags_clear(&diags);
    bool ok = parse(text.at, &graph);
    assert_int_equal(ok, extra == 0);
    if (ok) {
      assert_sound(&graph);
      assert_reads_back(&graph);
      tn_graph_free(&graph);
    } else {
      assert_int_equal(diags.list.at[0].code, TN_DIAG_E_NESTING_LIMIT);
    }
    tn_text_free(&text);
  }
}

static void any_prefix_of_a_text_is_refused_in_peace(void **state) {
  (void)state;
  const char *text =
      "graph(%x: f32[B, 3], %c: bool[], param %p \"a b\": f32[3]) { %1 = const {value=f32[2] [1, \"NaN\"]}"
      " %2 = if %c { %3 = sum %x {axes=[0, 1]} yield %3 } else { %4 = fill {dtype=f32, shape=[],"
      " number=1e5} yield %4 } %5 = pick %2 {index=0} : f32[]"
      " %6 = fused %x {dtype=f32, shape=[B, 3]} program { r1 = neg r0 : f32 } return loss=%5, \"q\"=%6 }";
  char part[1024];
  tn_graph graph;
  for (size_t len = 0; len < strlen(text); len++) {
    memcpy(part, text, len);
    part[len] = 0;
    tn_diags_clear(&diags);
    if (parse(part, &graph)) fail_msg("accepted: %s", part);
    assert_true(diags.errors > 0);
    tn_sources_rewind(&sources, 0);
  }
  tn_diags_clear(&diags);
}

static void reading_and_printing_survive_every_failing_allocation(void **state) {
  (void)state;
  const char *text =
      "graph(%x: f32[B, 3], %c: bool[], param %p \"a b\": f32[3]) { %1 = const {value=f32[2] [1, \"NaN\"]}"
      " %2 = if %c { %3 = sum %x yield %3 } else { %4 = gelu %c yield %4 } %5 = stack %x, %x, %x, %x,"
      " %x, %x, %x, %x, %x return loss=%5 }";
  const char *good =
      "graph(%x: f32[B, 3], %c: bool[], param %p \"a b\": f32[3]) { %1 = const {value=f32[2] [1, \"NaN\"]}"
      " %2 = if %c { %3 = sum %x yield %3 } else { %4 = fill {dtype=f32, shape=[], number=1} yield %4 }"
      " %5 = stack %x, %x, %x, %x, %x, %x, %x, %x, %x return loss=%5 }";
  for (int kind = 0; kind < 2; kind++) {
    bool done = false;
    for (uint64_t n = 1; !done; n++) {
      tn_graph graph;
      tn_text out;
      uint32_t file = tn_sources_add(&sources, TN_LIT("t"), tn_str_of(kind ? good : text));
      tn_text_init(&out, &heap);
      tn_diags_clear(&diags);
      heap.failed = false;
      heap.fail_at = heap.requests + n;
      bool ok = tn_graph_parse(&graph, &heap, names, file, &diags);
      if (ok) tn_graph_print(&graph, &out);
      done = !heap.failed;
      heap.fail_at = 0;
      if (!done) assert_true(!ok || out.failed);
      if (!done && !ok) assert_true(diags.errors > 0 || diags.out_of_memory);
      if (ok) tn_graph_free(&graph);
      tn_text_free(&out);
      tn_diags_clear(&diags);
      tn_sources_rewind(&sources, 0);
      assert_true(n < 5000);
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(the_example_of_the_header_reads_and_prints),
    TEST(every_operation_reads_back),
    TEST(names_that_are_not_words_are_quoted),
    TEST(labels_are_only_labels),
    TEST(nested_branches_are_indented),
    TEST(branches_mixed_with_their_surroundings_read_back_in_order),
    TEST(mistakes_of_form_are_shown_where_they_are),
    TEST(literals_have_as_many_elements_as_they_say),
    TEST(branches_end_with_as_many_values_and_hide_their_own),
    TEST(mistakes_of_types_have_their_own_codes),
    TEST(composed_operations_speak_of_their_own_operands),
    TEST(programs_write_registers_in_order),
    TEST(all_mistakes_of_types_are_reported_in_one_pass),
    TEST(ranks_are_limited),
    TEST(branches_nest_to_a_limit),
    TEST(any_prefix_of_a_text_is_refused_in_peace),
    TEST(reading_and_printing_survive_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
