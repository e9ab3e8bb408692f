/* The builder: what operations become, what is refused, and by which name. */
#include "graph_case.h"
#include "support/branches.h"
#include "graph/typer.h"

static tn_graph graph;
static tn_graph_builder builder;
static tn_builder *b;

static int open_graph(void **state) {
  if (set_up(state) != 0 || !tn_graph_init(&graph, &heap, names)) return -1;
  tn_graph_builder_init(&builder, &graph);
  b = &builder.base;
  return 0;
}

static int close_graph(void **state) {
  tn_graph_free(&graph);
  return tear_down(state);
}

#define TYPE(dtype, ...) (&(tn_type){ dtype, tn_shape_make(__VA_ARGS__) })

static tn_value input(const char *name, const tn_type *type) {
  return tn_build_input(b, name_of(name), type);
}

static void assert_fault(tn_value value, tn_fault_kind kind, tn_op op) {
  assert_int_equal(value, TN_ERROR_VALUE);
  assert_int_equal(b->fault.kind, kind);
  assert_string_equal(tn_op_sig_of(b->fault.op)->name, tn_op_sig_of(op)->name);
  tn_build_forget(b);
}

/* The text that `statements` becomes once composed operations are expanded. */
static void assert_expands(const char *text, const char *expected) {
  tn_graph expanded = parsed(text);
  assert_prints(&expanded, expected);
  tn_graph_free(&expanded);
}

/* ---- faults ---- */

static void what_uses_an_error_is_an_error_in_silence(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 1, 2)), y = input("y", TYPE(TN_F32, 1, 3));
  tn_value wrong = tn_build_binary(b, TN_OP_ADD, x, y);
  size_t nodes = graph.nodes.count;
  tn_fault first = b->fault;
  assert_int_equal(tn_build_unary(b, TN_OP_NEG, wrong), TN_ERROR_VALUE);
  assert_int_equal(tn_build_select(b, wrong, x, x), TN_ERROR_VALUE);
  assert_int_equal(tn_build_cast(b, wrong, TN_F64), TN_ERROR_VALUE);
  assert_int_equal(tn_build_like(b, wrong, 0), TN_ERROR_VALUE);
  assert_int_equal(tn_build_reduce(b, TN_OP_SUM, wrong, NULL, -1, false), TN_ERROR_VALUE);
  assert_int_equal(tn_build_matmul_any_rank(b, x, wrong), TN_ERROR_VALUE);
  assert_int_equal(tn_build_sum_to(b, wrong, &TN_SCALAR_SHAPE), TN_ERROR_VALUE);
  assert_int_equal(tn_build_slice(b, wrong, 0, 0, 1, 1), TN_ERROR_VALUE);
  assert_int_equal(tn_build_swap_last(b, wrong), TN_ERROR_VALUE);
  assert_int_equal(tn_build_rows(b, wrong), TN_ERROR_VALUE);
  assert_int_equal(graph.nodes.count, nodes);
  assert_memory_equal(&first, &b->fault, sizeof first);
  assert_fault(wrong, TN_FAULT_BROADCAST, TN_OP_ADD);
}

static void the_first_fault_is_kept_with_its_place(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 1, 2)), y = input("y", TYPE(TN_F32, 1, 3));
  b->at = (tn_span){ 1, 10, 20 };
  tn_value wrong = tn_build_binary(b, TN_OP_MUL, x, y);
  b->at = (tn_span){ 1, 30, 40 };
  tn_build_matmul(b, x, y);
  assert_int_equal(b->fault.at.start, 10);
  assert_fault(wrong, TN_FAULT_BROADCAST, TN_OP_MUL);
  tn_value good = tn_build_unary(b, TN_OP_NEG, x);
  assert_int_not_equal(good, TN_ERROR_VALUE);
  assert_int_equal(tn_graph_node(&graph, good)->at.start, 30);
}

static void faults_inside_a_composed_operation_name_the_whole(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 2, 2, 3)), y = input("y", TYPE(TN_F32, 1, 4)),
           i = input("i", TYPE(TN_I32, 1, 2));
  const tn_value pair[] = { x, y }, triple[] = { x, y, y };
  assert_fault(tn_build(b, TN_OP_MSE_LOSS, pair, 2, NULL), TN_FAULT_BROADCAST, TN_OP_MSE_LOSS);
  assert_fault(tn_build(b, TN_OP_LINEAR, pair, 2, NULL), TN_FAULT_INNER, TN_OP_LINEAR);
  assert_fault(tn_build(b, TN_OP_DOT, pair, 2, NULL), TN_FAULT_RANK, TN_OP_DOT);
  assert_fault(tn_build(b, TN_OP_STACK, pair, 2, NULL), TN_FAULT_JOIN, TN_OP_STACK);
  assert_fault(tn_build(b, TN_OP_LAYER_NORM, triple, 3, NULL), TN_FAULT_SHAPE, TN_OP_LAYER_NORM);
  assert_fault(tn_build(b, TN_OP_CONV2D, pair, 2, NULL), TN_FAULT_RANK, TN_OP_CONV2D);
  assert_fault(tn_build(b, TN_OP_DROPOUT, pair, 2, &(tn_attrs){ .number = 0.5 }), TN_FAULT_DTYPE,
               TN_OP_DROPOUT);
  assert_fault(tn_build(b, TN_OP_DROPOUT, pair, 2, &(tn_attrs){ .number = 1 }), TN_FAULT_ARGUMENT,
               TN_OP_DROPOUT);
  assert_fault(tn_build(b, TN_OP_EMBEDDING, pair, 2, NULL), TN_FAULT_DTYPE, TN_OP_EMBEDDING);
  assert_fault(tn_build(b, TN_OP_MEAN_POOL_TIME, &x, 1, NULL), TN_FAULT_RANK, TN_OP_MEAN_POOL_TIME);
  assert_fault(tn_build(b, TN_OP_GELU, &i, 1, NULL), TN_FAULT_DTYPE, TN_OP_GELU);
  assert_fault(tn_build(b, TN_OP_SQUEEZE, &x, 1, &(tn_attrs){ .axis_count = 1 }), TN_FAULT_SQUEEZE,
               TN_OP_SQUEEZE);
  assert_fault(tn_build(b, TN_OP_INDEX, &x, 1, &(tn_attrs){ .index = 5 }), TN_FAULT_BOUNDS, TN_OP_INDEX);
  assert_fault(tn_build(b, TN_OP_EXPAND_DIMS, &x, 1, &(tn_attrs){ .axis = 3 }), TN_FAULT_AXIS,
               TN_OP_EXPAND_DIMS);
  assert_fault(tn_build(b, TN_OP_LINEAR, triple, 1, NULL), TN_FAULT_ARITY, TN_OP_LINEAR);
  assert_fault(tn_build(b, TN_OP_GELU, pair, 2, NULL), TN_FAULT_ARITY, TN_OP_GELU);
  assert_fault(tn_build(b, TN_OP_ONE_HOT, &i, 1, &(tn_attrs){ .index = UINT64_MAX }), TN_FAULT_ARGUMENT,
               TN_OP_ONE_HOT);
  assert_int_equal(b->composed, TN_OP_ERROR);
}

static void rank_8_has_no_room_for_a_new_axis(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 8, 1, 1, 1, 1, 1, 1, 1, 1));
  assert_fault(tn_build(b, TN_OP_EXPAND_DIMS, &x, 1, NULL), TN_FAULT_RANK_LIMIT, TN_OP_EXPAND_DIMS);
  assert_fault(tn_build(b, TN_OP_STACK, &x, 1, NULL), TN_FAULT_RANK_LIMIT, TN_OP_STACK);
}

static void a_graph_is_limited(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 0));
  while (graph.nodes.count < TN_NODE_LIMIT) x = tn_build_unary(b, TN_OP_NEG, x);
  assert_true(tn_build_ok(b));
  assert_int_equal(tn_build_unary(b, TN_OP_NEG, x), TN_ERROR_VALUE);
  assert_false(tn_fault_report(&b->fault, names, &diags));
  assert_int_equal(diags.list.at[0].code, TN_DIAG_E_TOO_LARGE);
  assert_true(tn_str_is(diags.list.at[0].fields[0].value, "the graph"));
  assert_fault(TN_ERROR_VALUE, TN_FAULT_TOO_LARGE, TN_OP_NEG);
  assert_false(graph.failed);
}

static void branches_nest_only_so_deep(void **state) {
  (void)state;
  for (int i = 0; i < TN_REGION_DEPTH_LIMIT; i++) assert_true(b->methods->region_begin(b));
  assert_false(b->methods->region_begin(b));
  assert_fault(TN_ERROR_VALUE, TN_FAULT_TOO_LARGE, TN_OP_IF);
}

/* ---- storage dtypes ---- */

static void storage_dtypes_are_widened_for_arithmetic_and_rounded_back(void **state) {
  (void)state;
  assert_expands("graph(%x: bf16[2]) { %1 = add %x, %x return %1 }", "graph(%x: bf16[2]) {\n"
                                                                     "  %1 = cast %x {dtype=f32} : f32[2]\n"
                                                                     "  %2 = cast %x {dtype=f32} : f32[2]\n"
                                                                     "  %3 = add %1, %2 : f32[2]\n"
                                                                     "  %4 = cast %3 {dtype=bf16} : bf16[2]\n"
                                                                     "  return %4\n}\n");
  assert_expands("graph(%x: f16[2], %c: bool[]) { %1 = select %c, %x, %x return %1 }",
                 "graph(%x: f16[2], %c: bool[]) {\n"
                 "  %1 = cast %x {dtype=f32} : f32[2]\n"
                 "  %2 = cast %x {dtype=f32} : f32[2]\n"
                 "  %3 = select %c, %1, %2 : f32[2]\n"
                 "  %4 = cast %3 {dtype=f16} : f16[2]\n"
                 "  return %4\n}\n");
  assert_expands("graph(%x: bf16[2]) { %1 = lt %x, %x %2 = argmax %x {axis=0} return %1 }",
                 "graph(%x: bf16[2]) {\n"
                 "  %1 = cast %x {dtype=f32} : f32[2]\n"
                 "  %2 = cast %x {dtype=f32} : f32[2]\n"
                 "  %3 = lt %1, %2 : bool[2]\n"
                 "  %4 = cast %x {dtype=f32} : f32[2]\n"
                 "  %5 = argmax %4 {axis=0} : i32[]\n"
                 "  return %3\n}\n");
}

static void a_composed_operation_rounds_once(void **state) {
  (void)state;
  assert_expands("graph(%x: bf16[2]) { %1 = mse_loss %x, %x return %1 }",
                 "graph(%x: bf16[2]) {\n"
                 "  %1 = cast %x {dtype=f32} : f32[2]\n"
                 "  %2 = cast %x {dtype=f32} : f32[2]\n"
                 "  %3 = sub %1, %2 : f32[2]\n"
                 "  %4 = mul %3, %3 : f32[2]\n"
                 "  %5 = mean %4 {axes=[0]} : f32[]\n"
                 "  %6 = cast %5 {dtype=bf16} : bf16[]\n"
                 "  return %6\n}\n");
}

static void what_only_moves_elements_takes_storage_as_it_is(void **state) {
  (void)state;
  assert_expands("graph(%x: bf16[2, 3], %i: i32[4]) { %1 = gather %x, %i {axis=0} %2 = transpose %1"
                 " %3 = concat %2, %2 {axis=0} return %3 }",
                 "graph(%x: bf16[2, 3], %i: i32[4]) {\n"
                 "  %1 = gather %x, %i {axis=0} : bf16[4, 3]\n"
                 "  %2 = transpose %1 {axes=[1, 0]} : bf16[3, 4]\n"
                 "  %3 = concat %2, %2 {axis=0} : bf16[6, 4]\n"
                 "  return %3\n}\n");
}

static void storage_and_f32_do_not_mix_in_silence(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_BF16, 1, 2)), y = input("y", TYPE(TN_F32, 1, 2)),
           h = input("h", TYPE(TN_F16, 1, 2));
  tn_value wrong = tn_build_binary(b, TN_OP_ADD, x, y);
  assert_int_equal(b->fault.left.dtype, TN_BF16);
  assert_fault(wrong, TN_FAULT_DTYPE, TN_OP_ADD);
  assert_fault(tn_build_binary(b, TN_OP_MUL, x, h), TN_FAULT_DTYPE, TN_OP_MUL);
}

/* ---- expansions ---- */

static void expansions_are_what_the_contract_says(void **state) {
  (void)state;
  assert_expands("graph(%x: f32[2]) { %1 = gelu %x return %1 }",
                 "graph(%x: f32[2]) {\n"
                 "  %1 = fill {dtype=f32, shape=[], number=0.5} : f32[]\n"
                 "  %2 = mul %1, %x : f32[2]\n"
                 "  %3 = fill {dtype=f32, shape=[], number=1.4142135623730951} : f32[]\n"
                 "  %4 = div %x, %3 : f32[2]\n"
                 "  %5 = erf %4 : f32[2]\n"
                 "  %6 = fill {dtype=f32, shape=[], number=1} : f32[]\n"
                 "  %7 = add %6, %5 : f32[2]\n"
                 "  %8 = mul %2, %7 : f32[2]\n"
                 "  return %8\n}\n");
  assert_expands("graph(%x: f32[B], %key: i64[]) { %1 = dropout %x, %key {number=0.75, index=5} return %1 }",
                 "graph(%x: f32[B], %key: i64[]) {\n"
                 "  %1 = uniform %key {shape=[B], index=5} : f32[B]\n"
                 "  %2 = fill {dtype=f32, shape=[], number=0.75} : f32[]\n"
                 "  %3 = ge %1, %2 : bool[B]\n"
                 "  %4 = fill {dtype=f32, shape=[], number=4} : f32[]\n"
                 "  %5 = mul %x, %4 : f32[B]\n"
                 "  %6 = fill {dtype=f32, shape=[], number=0} : f32[]\n"
                 "  %7 = select %3, %5, %6 : f32[B]\n"
                 "  return %7\n}\n");
  assert_expands("graph(%i: i32[B, 2]) { %1 = one_hot %i {index=3} return %1 }",
                 "graph(%i: i32[B, 2]) {\n"
                 "  %1 = iota {dtype=i32, shape=[3], axis=0} : i32[3]\n"
                 "  %2 = gather %1, %i {axis=0} : i32[B, 2]\n"
                 "  %3 = reshape %2 {shape=[B, 2, 1]} : i32[B, 2, 1]\n"
                 "  %4 = eq %3, %1 : bool[B, 2, 3]\n"
                 "  %5 = cast %4 {dtype=f32} : f32[B, 2, 3]\n"
                 "  return %5\n}\n");
}

/* The parts are a graph of their own, whose inputs are the operands: each is one, also where two are the same
 * value. */
static void an_operation_with_parts_stays_and_names_them(void **state) {
  (void)state;
  static const char text[] = "graph(%x: f64[B, 4], %g: f64[4]) {\n"
                             "  %1 = layer_norm %x, %g, %g {number=0.25} : f64[B, 4]\n  return %1\n}\n";
  tn_graph whole = parsed(text), parts;
  assert_prints(&whole, text);
  assert_true(tn_graph_parts(&whole, whole.outputs.at[0].value, &parts));
  assert_prints(&parts, "graph(%1: f64[B, 4], %2: f64[4], %3: f64[4]) {\n"
                        "  %4 = mean %1 {axes=[1], keepdims=true} : f64[B, 1]\n"
                        "  %5 = sub %1, %4 : f64[B, 4]\n"
                        "  %6 = mul %5, %5 : f64[B, 4]\n"
                        "  %7 = mean %6 {axes=[1], keepdims=true} : f64[B, 1]\n"
                        "  %8 = fill {dtype=f64, shape=[], number=0.25} : f64[]\n"
                        "  %9 = add %7, %8 : f64[B, 1]\n"
                        "  %10 = sqrt %9 : f64[B, 1]\n"
                        "  %11 = div %5, %10 : f64[B, 4]\n"
                        "  %12 = mul %11, %2 : f64[B, 4]\n"
                        "  %13 = add %12, %3 : f64[B, 4]\n"
                        "  return %13\n}\n");
  tn_graph_free(&parts);
  tn_graph_free(&whole);
}

static void shapes_are_arranged_by_views(void **state) {
  (void)state;
  assert_expands(
      "graph(%x: f32[B, 1, 3, 1]) { %1 = squeeze %x %2 = squeeze %x {axes=[-1]} %3 = flatten %x"
      " %4 = index %x {axis=0, index=-1} %5 = index %x {axis=2, index=-1} return %1 }",
      "graph(%x: f32[B, 1, 3, 1]) {\n"
      "  %1 = reshape %x {shape=[B, 3]} : f32[B, 3]\n"
      "  %2 = reshape %x {shape=[B, 1, 3]} : f32[B, 1, 3]\n"
      "  %3 = reshape %x {shape=[?]} : f32[?]\n"
      "  %4 = slice %x {low=[-1, 0, 0, 0], high=[9223372036854775807, 1, 3, 1]} : f32[1, 1, 3, 1]\n"
      "  %5 = reshape %4 {shape=[1, 3, 1]} : f32[1, 3, 1]\n"
      "  %6 = slice %x {low=[0, 0, 2, 0], high=[9223372036854775807, 1, 3, 1]} : f32[B, 1, 1, 1]\n"
      "  %7 = reshape %6 {shape=[B, 1, 1]} : f32[B, 1, 1]\n"
      "  return %1\n}\n");
}

static void a_convolution_is_one_product_over_all_windows(void **state) {
  (void)state;
  assert_expands(
      "graph(%x: f32[B, 5, 6, 3], %w: f32[3, 2, 3, 8]) { %1 = conv2d %x, %w {step=[2, 1], same=true}"
      " return %1 }",
      "graph(%x: f32[B, 5, 6, 3], %w: f32[3, 2, 3, 8]) {\n"
      "  %1 = patches %x {window=[3, 2], low=[1, 0], high=[1, 1], step=[2, 1]} : f32[B, 3, 6, 18]\n"
      "  %2 = reshape %w {shape=[18, 8]} : f32[18, 8]\n"
      "  %3 = reshape %1 {shape=[?, 18]} : f32[?, 18]\n"
      "  %4 = matmul %3, %2 : f32[?, 8]\n"
      "  %5 = reshape %4 {shape=[B, 3, 6, 8]} : f32[B, 3, 6, 8]\n"
      "  return %5\n}\n");
}

/* The number of images may be a symbol. */
static void each_group_of_a_convolution_has_a_product(void **state) {
  (void)state;
  assert_expands(
      "graph(%x: f32[B, 5, 6, 6], %w: f32[3, 2, 3, 8]) { %1 = conv2d %x, %w {step=[2, 1], index=2, same=true}"
      " return %1 }",
      "graph(%x: f32[B, 5, 6, 6], %w: f32[3, 2, 3, 8]) {\n"
      "  %1 = reshape %x {shape=[B, 5, 6, 2, 3]} : f32[B, 5, 6, 2, 3]\n"
      "  %2 = transpose %1 {axes=[3, 0, 1, 2, 4]} : f32[2, B, 5, 6, 3]\n"
      "  %3 = reshape %2 {shape=[?, 5, 6, 3]} : f32[?, 5, 6, 3]\n"
      "  %4 = patches %3 {window=[3, 2], low=[1, 0], high=[1, 1], step=[2, 1]} : f32[?, 3, 6, 18]\n"
      "  %5 = reshape %4 {shape=[2, ?, 18]} : f32[2, ?, 18]\n"
      "  %6 = reshape %w {shape=[18, 2, 4]} : f32[18, 2, 4]\n"
      "  %7 = transpose %6 {axes=[1, 0, 2]} : f32[2, 18, 4]\n"
      "  %8 = matmul %5, %7 : f32[2, ?, 4]\n"
      "  %9 = transpose %8 {axes=[1, 0, 2]} : f32[?, 2, 4]\n"
      "  %10 = reshape %9 {shape=[B, 3, 6, 8]} : f32[B, 3, 6, 8]\n"
      "  return %10\n}\n");
}

static void same_padding_needs_lengths_only_with_a_stride(void **state) {
  (void)state;
  tn_graph ignored;
  tn_graph valid =
      parsed("graph(%x: f32[1, H, W, 1], %w: f32[3, 3, 1, 1]) { %1 = conv2d %x, %w {same=true} return %1 }");
  tn_shape expected = tn_shape_make(4, 1, TN_DIM_SYMBOL(name_of("H")), TN_DIM_SYMBOL(name_of("W")), 1);
  assert_true(tn_shape_equal(&tn_graph_type(&valid, valid.outputs.at[0].value)->shape, &expected));
  tn_graph_free(&valid);
  assert_false(
      parse("graph(%x: f32[1, H, W, 1], %w: f32[3, 3, 1, 1]) { %1 = conv2d %x, %w {step=[2, 2], same=true}"
            " return %1 }",
            &ignored));
}

static void the_padding_of_same_is_that_of_the_ceiling(void **state) {
  (void)state;
  for (int64_t length = 1; length < 9; length++) {
    for (int64_t window = 1; window < 5; window++) {
      for (int64_t stride = 1; stride < 4; stride++) {
        tn_value x = tn_build_fill(b, TYPE(TN_F32, 4, 1, length, 1, 1), 0);
        const tn_value in[] = { x, tn_build_fill(b, TYPE(TN_F32, 4, window, 1, 1, 1), 0) };
        tn_value y = tn_build(b, TN_OP_CONV2D, in, 2, &(tn_attrs){ .step = { stride, 1 }, .same = true });
        assert_true(tn_build_ok(b));
        assert_int_equal(tn_build_type(b, y)->shape.dim[1], (length + stride - 1) / stride);
      }
    }
  }
}

/* ---- short names ---- */

static void sums_go_back_to_every_shape_that_broadcasts(void **state) {
  (void)state;
  const tn_shape to[] = { tn_shape_make(0),         tn_shape_make(1, 4),       tn_shape_make(1, 1),
                          tn_shape_make(2, 3, 1),   tn_shape_make(3, 1, 3, 4), tn_shape_make(3, 2, 1, 4),
                          tn_shape_make(3, 2, 3, 4) };
  tn_value x = tn_build_fill(b, TYPE(TN_F32, 3, 2, 3, 4), 1);
  for (size_t i = 0; i < COUNT_OF(to); i++) {
    size_t sums = 0;
    tn_value first = (tn_value)graph.nodes.count, back = tn_build_sum_to(b, x, &to[i]);
    assert_true(tn_shape_equal(&tn_build_type(b, back)->shape, &to[i]));
    for (tn_value v = first; v < graph.nodes.count; v++) sums += tn_graph_node(&graph, v)->op == TN_OP_SUM;
    assert_int_equal(sums, i + 1 < COUNT_OF(to)); /* one sum, because its order is part of the contract */
  }
}

static void matmul_of_any_rank_drops_what_it_added(void **state) {
  (void)state;
  tn_value v = tn_build_fill(b, TYPE(TN_F32, 1, 3), 1), m = tn_build_fill(b, TYPE(TN_F32, 2, 3, 3), 1);
  tn_value batch = tn_build_fill(b, TYPE(TN_F32, 3, 2, 3, 3), 1), scalar = tn_build_number(b, TN_F32, 1);
  assert_int_equal(tn_build_type(b, tn_build_matmul_any_rank(b, v, v))->shape.rank, 0);
  assert_int_equal(tn_build_type(b, tn_build_matmul_any_rank(b, m, v))->shape.rank, 1);
  assert_int_equal(tn_build_type(b, tn_build_matmul_any_rank(b, v, batch))->shape.rank, 2);
  assert_int_equal(tn_build_type(b, tn_build_matmul_any_rank(b, batch, m))->shape.rank, 3);
  assert_fault(tn_build_matmul_any_rank(b, scalar, m), TN_FAULT_RANK, TN_OP_MATMUL);
  tn_value other = tn_build_fill(b, TYPE(TN_F32, 1, 4), 1), wrong = tn_build_matmul_any_rank(b, m, other);
  assert_int_equal(b->fault.right.shape.rank, 1); /* as the user gave it */
  assert_fault(wrong, TN_FAULT_INNER, TN_OP_MATMUL);
}

static void what_has_nothing_to_do_gives_its_operand(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 2, 2, 3));
  tn_shape shape = tn_shape_make(2, 2, 3);
  assert_int_equal(tn_build_cast(b, x, TN_F32), x);
  assert_int_equal(tn_build_reshape(b, x, &shape), x);
  assert_int_equal(tn_build_broadcast_to(b, x, &shape), x);
  assert_int_equal(tn_build_broadcast_like(b, x, x), x);
  assert_int_equal(tn_build_reduce(b, TN_OP_MAX, x, NULL, 0, false), x);
  assert_int_equal(tn_build_rows(b, x), x);
}

static void lengths_without_names_are_taken_from_values(void **state) {
  (void)state;
  tn_value x = input("x", TYPE(TN_F32, 2, TN_DIM_SYMBOL(name_of("B")), 3));
  tn_value flat = tn_build(b, TN_OP_FLATTEN, &x, 1, NULL), ones = tn_build_like(b, flat, 1);
  assert_int_equal(tn_build_type(b, flat)->shape.dim[0], TN_DIM_UNKNOWN);
  tn_value wide = tn_build_broadcast_like(b, tn_build_number(b, TN_F32, 2), flat);
  tn_graph_output(&graph, 0, ones);
  tn_graph_output(&graph, 0, wide);
  tn_graph bound;
  tn_fault fault;
  assert_true(tn_graph_bind(&graph, &(tn_binding){ name_of("B"), 4 }, 1, &bound, &fault));
  assert_sound(&bound);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(tn_graph_type(&bound, bound.outputs.at[i].value)->shape.dim[0], 12);
  }
  tn_graph_free(&bound);
}

/* ---- branches ---- */

typedef struct {
  tn_value x, y;
  int calls;
} choice;

static bool give_x(tn_builder *builder_, void *context, tn_value *results) {
  choice *c = context;
  c->calls++;
  results[0] = tn_build_unary(builder_, TN_OP_NEG, c->x);
  return true;
}

static bool give_y(tn_builder *builder_, void *context, tn_value *results) {
  choice *c = context;
  c->calls++;
  results[0] = tn_build_unary(builder_, TN_OP_NEG, c->y);
  return true;
}

static bool give_up(tn_builder *builder_, void *context, tn_value *results) {
  (void)builder_, (void)context, (void)results;
  return false;
}

static void branches_must_agree(void **state) {
  (void)state;
  tn_value c = input("c", TYPE(TN_BOOL, 0)), results[1];
  choice same = { input("x", TYPE(TN_F32, 1, 2)), input("y", TYPE(TN_F32, 1, 2)), 0 };
  choice shape = { same.x, input("z", TYPE(TN_F32, 1, 3)), 0 },
         dtype = { same.x, input("d", TYPE(TN_F64, 1, 2)), 0 };
  assert_true(build_if(b, c, 1, give_x, give_y, &same, results));
  assert_int_equal(tn_graph_node(&graph, results[0])->op, TN_OP_PICK);
  assert_sound(&graph);
  assert_false(build_if(b, c, 1, give_x, give_y, &shape, results));
  assert_fault(results[0], TN_FAULT_SHAPE, TN_OP_IF);
  assert_false(build_if(b, c, 1, give_x, give_y, &dtype, results));
  assert_fault(results[0], TN_FAULT_DTYPE, TN_OP_IF);
}

static void a_condition_is_a_single_boolean(void **state) {
  (void)state;
  choice c = { input("x", TYPE(TN_F32, 0)), 0, 0 };
  tn_value many = input("c", TYPE(TN_BOOL, 1, 1)), results[1];
  assert_false(build_if(b, c.x, 1, give_x, give_x, &c, results));
  assert_fault(results[0], TN_FAULT_DTYPE, TN_OP_IF);
  assert_false(build_if(b, many, 1, give_x, give_x, &c, results));
  assert_fault(results[0], TN_FAULT_RANK, TN_OP_IF);
  assert_false(build_if(b, TN_ERROR_VALUE, 1, give_x, give_x, &c, results));
  assert_true(tn_build_ok(b));
}

static void a_branch_that_fails_leaves_the_builder_where_it_was(void **state) {
  (void)state;
  choice c = { input("x", TYPE(TN_F32, 0)), TN_ERROR_VALUE, 0 };
  tn_value condition = input("c", TYPE(TN_BOOL, 0)), results[1];
  assert_false(build_if(b, condition, 1, give_up, give_x, &c, results));
  assert_false(build_if(b, condition, 1, give_x, give_y, &c, results));
  assert_int_equal(results[0], TN_ERROR_VALUE);
  assert_int_equal(builder.region, 0);
  assert_int_equal(tn_graph_node(&graph, tn_build_unary(b, TN_OP_NEG, c.x))->region, 0);
}

static void inputs_and_parameters_belong_to_no_branch(void **state) {
  (void)state;
  assert_true(b->methods->region_begin(b));
  tn_value x = input("x", TYPE(TN_F32, 0));
  assert_int_equal(tn_graph_node(&graph, x)->region, 0);
}

/* ---- memory ---- */

static bool build_much(void) {
  tn_value x = input("x", TYPE(TN_BF16, 2, 2, 3)), many[20], results[1], c = input("c", TYPE(TN_BOOL, 0));
  tn_tensor literal;
  choice both = { x, x, 0 };
  for (size_t i = 0; i < COUNT_OF(many); i++) many[i] = x;
  tn_build(b, TN_OP_CONCAT, many, COUNT_OF(many), NULL);
  tn_build(b, TN_OP_STACK, many, COUNT_OF(many), NULL);
  tn_build(b, TN_OP_GELU, &x, 1, NULL);
  if (!tn_tensor_scalar(&heap, TN_F32, 1, &literal)) return false;
  tn_build_const(b, &literal);
  tn_tensor_unref(&literal);
  return build_if(b, c, 1, give_x, give_y, &both, results) && tn_graph_output(&graph, 0, results[0]) &&
         tn_build_ok(b);
}

static void building_survives_every_failing_allocation(void **state) {
  (void)state;
  bool done = false;
  for (uint64_t n = 1; !done; n++) {
    assert_true(n < 1000);
    tn_graph_free(&graph);
    heap.fail_at = heap.requests + n;
    heap.failed = false;
    done = tn_graph_init(&graph, &heap, names);
    tn_graph_builder_init(&builder, &graph);
    done = done && build_much() && !heap.failed;
    heap.fail_at = 0;
    if (!tn_build_ok(b)) assert_int_equal(b->fault.kind, TN_FAULT_MEMORY);
  }
  assert_sound(&graph);
}

/* ---- types alone ---- */

static void the_typer_gives_the_types_and_faults_of_a_graph(void **state) {
  (void)state;
  tn_typer typer;
  tn_typer_init(&typer, &heap, names);
  tn_shape shape = tn_shape_make(2, TN_DIM_SYMBOL(name_of("N")), 3);
  tn_value x = tn_typer_value(&typer, TN_BF16, &shape), y = input("x", &(tn_type){ TN_BF16, shape });
  tn_value made = tn_build(&typer.base, TN_OP_SOFTMAX, &x, 1, &(tn_attrs){ .axis = -1 });
  tn_value same = tn_build(b, TN_OP_SOFTMAX, &y, 1, &(tn_attrs){ .axis = -1 });
  assert_true(tn_type_equal(tn_build_type(&typer.base, made), tn_build_type(b, same)));
  assert_int_equal(tn_build(&typer.base, TN_OP_SOFTMAX, &x, 1, &(tn_attrs){ .axis = 2 }), TN_ERROR_VALUE);
  assert_int_equal(typer.base.fault.kind, TN_FAULT_AXIS);
  tn_typer_reset(&typer);
  assert_true(tn_build_ok(&typer.base));
  assert_int_not_equal(tn_typer_value(&typer, TN_F32, &shape), TN_ERROR_VALUE);
  tn_typer_free(&typer);
}

static void the_typer_is_limited_as_a_graph_is(void **state) {
  (void)state;
  tn_typer typer;
  tn_value last = 1;
  tn_typer_init(&typer, &heap, names);
  while (last != TN_ERROR_VALUE) last = tn_typer_value(&typer, TN_F32, &TN_SCALAR_SHAPE);
  assert_int_equal(typer.base.fault.kind, TN_FAULT_TOO_LARGE);
  assert_int_equal(typer.types.count, TN_NODE_LIMIT);
  tn_typer_free(&typer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_graph, close_graph)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(what_uses_an_error_is_an_error_in_silence),
    TEST(the_first_fault_is_kept_with_its_place),
    TEST(faults_inside_a_composed_operation_name_the_whole),
    TEST(rank_8_has_no_room_for_a_new_axis),
    TEST(a_graph_is_limited),
    TEST(branches_nest_only_so_deep),
    TEST(storage_dtypes_are_widened_for_arithmetic_and_rounded_back),
    TEST(a_composed_operation_rounds_once),
    TEST(what_only_moves_elements_takes_storage_as_it_is),
    TEST(storage_and_f32_do_not_mix_in_silence),
    TEST(expansions_are_what_the_contract_says),
    TEST(an_operation_with_parts_stays_and_names_them),
    TEST(shapes_are_arranged_by_views),
    TEST(a_convolution_is_one_product_over_all_windows),
    TEST(each_group_of_a_convolution_has_a_product),
    TEST(same_padding_needs_lengths_only_with_a_stride),
    TEST(the_padding_of_same_is_that_of_the_ceiling),
    TEST(sums_go_back_to_every_shape_that_broadcasts),
    TEST(matmul_of_any_rank_drops_what_it_added),
    TEST(what_has_nothing_to_do_gives_its_operand),
    TEST(lengths_without_names_are_taken_from_values),
    TEST(branches_must_agree),
    TEST(a_condition_is_a_single_boolean),
    TEST(a_branch_that_fails_leaves_the_builder_where_it_was),
    TEST(inputs_and_parameters_belong_to_no_branch),
    TEST(the_typer_gives_the_types_and_faults_of_a_graph),
    TEST(the_typer_is_limited_as_a_graph_is),
    TEST(building_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
