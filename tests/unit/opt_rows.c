/* tests/unit/opt_rows.c: a batch in pieces has the bits of the whole, and what can be divided is. */
#include <stdio.h>

#include "graph_support.h"

enum { ALL = 7, PIECE = 3 }; /* rows: of the whole, and of a piece; a T of 7 must not be taken for rows */

/* `B` is the number of rows; inputs whose name begins with `rows` are fed. */
typedef struct {
  world w;
  tn_graph text, whole, part;
  bool fed[8];
  tn_row_pieces pieces;
} divided;

static void bind_rows(divided *d, int64_t rows, tn_graph *out) {
  tn_fault fault;
  tn_binding binding = { tn_names_intern(d->w.names, TN_LIT("B")), rows };
  if (!tn_graph_bind(&d->text, &binding, 1, out, &fault)) fail_msg("does not fit %d rows", (int)rows);
}

static void divide(divided *d, const char *text) {
  world_open(&d->w);
  graph_from(&d->w, text, &d->text);
  bind_rows(d, ALL, &d->whole);
  bind_rows(d, PIECE, &d->part);
  for (size_t i = 0; i < d->whole.inputs.count; i++) {
    tn_str name = tn_names_text(d->w.names, tn_graph_node(&d->whole, d->whole.inputs.at[i])->attrs->name);
    d->fed[i] = name.len >= 4 && memcmp(name.at, "rows", 4) == 0;
  }
  assert_true(tn_opt_divide_rows(&d->whole, &d->part, ALL, PIECE, d->fed, &d->pieces));
  if (!d->pieces.divided) return;
  assert_valid(&d->pieces.piece);
  assert_valid(&d->pieces.rest);
}

static void end(divided *d) {
  tn_row_pieces_free(&d->w.heap, &d->pieces);
  tn_graph_free(&d->part);
  tn_graph_free(&d->whole);
  tn_graph_free(&d->text);
  world_close(&d->w);
}

/* ---- the same bits ---- */

/* Rows of a tensor, as a view of its first axis in blocks. */
static tn_view block_rows(const tn_view *all, int64_t first, int64_t rows) {
  tn_view view = *all;
  int64_t block = all->dim[0] / ALL;
  view.dim[0] = block * rows;
  view.data = (char *)all->data + (size_t)(first * block * all->stride[0]) * tn_dtype_bytes(all->dtype);
  return view;
}

static void run_piece(divided *d, const values *v, int64_t first, tn_tensor *cut) {
  tn_fault fault;
  tn_plan *plan = plan_for(&d->w, &d->pieces.piece, tn_backend_cpu(NULL), 1,
                           &(values){ .params = v->params, .param_count = v->param_count });
  for (size_t i = 0; i < v->input_count; i++) {
    tn_view view = v->inputs[i].view;
    if (d->fed[i]) view = block_rows(&view, first, PIECE);
    tn_plan_bind_input(plan, (int)i, &view);
  }
  assert_true(tn_plan_run(plan, &fault));
  for (size_t i = 0; i < d->pieces.cut_inputs.count; i++) {
    tn_view from = tn_plan_output(plan, (int)i), to = block_rows(&cut[i].view, first, PIECE);
    tn_view_copy(&to, &from);
  }
  tn_plan_free(plan);
}

static void run_rest(divided *d, const values *v, const tn_tensor *cut, uint8_t digest[32]) {
  const tn_graph *rest = &d->pieces.rest;
  values given = { .params = v->params, .param_count = v->param_count, .input_count = rest->inputs.count };
  tn_tensor inputs[16] = { 0 };
  for (size_t i = 0; i < d->pieces.own_inputs.count; i++)
    if (d->pieces.own_inputs.at[i] >= 0) inputs[d->pieces.own_inputs.at[i]] = v->inputs[i];
  for (size_t i = 0; i < d->pieces.cut_inputs.count; i++) inputs[d->pieces.cut_inputs.at[i]] = cut[i];
  given.inputs = inputs;
  run_digest(&d->w, rest, tn_backend_cpu(NULL), 1, &given, digest);
}

static void assert_same_bits(divided *d) {
  uint8_t whole[32], pieces[32];
  tn_tensor cut[16];
  values v = random_values(&d->w, &d->whole, 5);
  run_digest(&d->w, &d->whole, tn_backend_cpu(NULL), 1, &v, whole);
  for (size_t i = 0; i < d->pieces.cut_inputs.count; i++) {
    tn_value input = d->pieces.rest.inputs.at[d->pieces.cut_inputs.at[i]];
    const tn_type *type = tn_graph_type(&d->pieces.rest, input);
    assert_true(tn_tensor_new(&d->w.heap, type->dtype, &type->shape, &cut[i]));
  }
  run_piece(d, &v, 0, cut);
  run_piece(d, &v, PIECE, cut);
  run_piece(d, &v, ALL - PIECE, cut); /* overlaps the one before */
  run_rest(d, &v, cut, pieces);
  assert_memory_equal(whole, pieces, 32);
  for (size_t i = 0; i < d->pieces.cut_inputs.count; i++) tn_tensor_unref(&cut[i]);
  free_values(&d->w, &v);
}

static size_t count_op(const tn_graph *graph, tn_op op) {
  size_t count = 0;
  for (size_t v = 1; v < graph->nodes.count; v++) count += graph->nodes.at[v].op == op;
  return count;
}

/* The graph is divided; of the values that are computed in pieces, the rest reads `cut`, and it computes none
 * of `gone` itself. */
static void assert_divides(const char *text, size_t cut, tn_op gone) {
  divided d = { 0 };
  divide(&d, text);
  assert_true(d.pieces.divided);
  assert_int_equal(d.pieces.cut_inputs.count, cut);
  assert_same_bits(&d);
  assert_true(tn_opt_dce(&d.pieces.rest));
  if (gone != TN_OP_ERROR) assert_int_equal(count_op(&d.pieces.rest, gone), 0);
  end(&d);
}

#define HEAD "graph(%rows: f32[B, 7], %w: f32[7, 7], %v: f32[7]) {\n"

static void a_layer_and_its_loss_are_cut_between(void **state) {
  (void)state;
  assert_divides(HEAD
                 "  %1 = matmul %rows, %w\n  %2 = add %1, %v\n  %3 = relu %2\n  %4 = sum %3 {axes=[0, 1]}\n"
                 "  return %4\n}\n",
                 1, TN_OP_MATMUL);
}

static void labels_are_read_where_they_are(void **state) {
  (void)state;
  assert_divides(
      "graph(%rows: f32[B, 3], %rows_labels: i32[B]) {\n  %1 = tanh %rows\n"
      "  %2 = fill {dtype=i32, shape=[B], number=1}\n  %3 = mul %rows_labels, %2\n  %5 = sub %3, %3\n"
      "  %4 = cross_entropy %1, %5\n  return %4, %rows_labels\n}\n",
      2, TN_OP_TANH);
}

static void rows_of_several_places_stay_together(void **state) {
  (void)state;
  assert_divides("graph(%rows: f32[B, 5, 4], %w: f32[4, 2]) {\n  %1 = reshape %rows {shape=[-1, 4]}\n"
                 "  %2 = matmul %1, %w\n  %3 = reshape %2 {shape=[-1, 5, 2]}\n"
                 "  %4 = transpose %3 {axes=[0, 2, 1]}\n  %5 = matmul %3, %4\n  %6 = softmax %5 {axis=2}\n"
                 "  %7 = mean %6 {axes=[0, 1, 2]}\n  return %7, %6\n}\n",
                 1, TN_OP_SOFTMAX);
}

static void what_names_rows_of_a_table_is_divided(void **state) {
  (void)state;
  assert_divides(
      "graph(%rows: f32[B, 2], %table: f32[5, 3]) {\n  %1 = abs %rows\n  %2 = cast %1 {dtype=i32}\n"
      "  %3 = gather %table, %2 {axis=0}\n  %4 = mean %3 {axes=[1]}\n  %5 = max %4 {axes=[0]}\n"
      "  return %5\n}\n",
      1, TN_OP_GATHER);
}

static void concat_slice_pad_and_scan_along_other_axes_are_divided(void **state) {
  (void)state;
  assert_divides(HEAD "  %1 = concat %rows, %rows {axis=1}\n"
                      "  %2 = slice %1 {low=[0, 2], high=[9223372036854775807, 9], step=[1, 1]}\n"
                      "  %3 = pad %2 {low=[0, 1], high=[0, 0], step=[0, 0]}\n  %4 = cumsum %3 {axis=1}\n"
                      "  %5 = argmax %4 {axis=1}\n  %6 = sum %5 {axes=[0]}\n  return %6\n}\n",
                 1, TN_OP_CUMSUM);
}

/* gamma is the same for all rows, or has rows itself. */
static void a_layer_norm_is_divided(void **state) {
  (void)state;
  assert_divides(HEAD "  %1 = layer_norm %rows, %v, %v {number=1}\n"
                      "  %2 = layer_norm %1, %rows, %v {number=1}\n"
                      "  %3 = sum %2 {axes=[0, 1]}\n  return %3\n}\n",
                 1, TN_OP_LAYER_NORM);
}

/* ---- what joins rows ---- */

static void operations_across_rows_stay_whole(void **state) {
  (void)state;
  static const char *const joins[] = {
    "  %1 = softmax %rows {axis=0}\n",
    "  %1 = cumsum %rows {axis=0}\n",
    "  %9 = sum %rows {axes=[1]}\n  %1 = layer_norm %9, %9, %9 {number=1}\n",
    ("  %9 = reshape %rows {shape=[7, -1]}\n  %8 = transpose %rows {axes=[1, 0]}\n"
     "  %7 = layer_norm %9, %8, %9 {number=1}\n  %1 = neg %7\n"),
    "  %1 = transpose %rows {axes=[1, 0]}\n",
    "  %9 = transpose %rows {axes=[1, 0]}\n  %1 = matmul %9, %rows\n",
    "  %9 = mean %rows {axes=[0]}\n  %1 = sub %rows, %9\n",
    "  %1 = slice %rows {low=[1, 0], high=[9223372036854775807, 7], step=[1, 1]}\n",
    "  %1 = pad %rows {low=[1, 0], high=[0, 0], step=[0, 0]}\n",
    "  %1 = concat %rows, %rows {axis=0}\n",
    "  %9 = sum %rows {axes=[1]}\n  %8 = reshape %9 {shape=[1, -1]}\n  %1 = matmul %8, %rows\n",
    "  %9 = iota {dtype=f32, shape=[B, 7], axis=0}\n  %1 = add %rows, %9\n",
    "  %9 = count %rows {axes=[0], dtype=f32}\n  %1 = div %rows, %9\n",
    "  %9 = uniform %k {shape=[B, 7]}\n  %1 = add %rows, %9\n",
  };
  for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
    char text[512];
    snprintf(text, sizeof text, "graph(%%rows: f32[B, 7], %%k: i64[]) {\n%s  return %%1\n}\n", joins[i]);
    divided d = { 0 };
    divide(&d, text);
    if (d.pieces.divided) assert_same_bits(&d);
    end(&d);
  }
}

/* The mean of a batch, written as a division by its size. */
static void a_number_that_follows_the_rows_is_not_the_same(void **state) {
  (void)state;
  divided d = { 0 };
  world_open(&d.w);
  graph_from(&d.w,
             "graph(%rows: f32[7]) {\n  %1 = fill {dtype=f32, shape=[], number=7}\n  %2 = div %rows, %1\n"
             "  return %2\n}\n",
             &d.whole);
  graph_from(&d.w,
             "graph(%rows: f32[3]) {\n  %1 = fill {dtype=f32, shape=[], number=3}\n  %2 = div %rows, %1\n"
             "  return %2\n}\n",
             &d.part);
  d.fed[0] = true;
  assert_true(tn_opt_divide_rows(&d.whole, &d.part, ALL, PIECE, d.fed, &d.pieces));
  assert_int_equal(d.pieces.cut_inputs.count, 0);
  tn_row_pieces_free(&d.w.heap, &d.pieces);
  tn_graph_free(&d.part);
  tn_graph_free(&d.whole);
  world_close(&d.w);
}

static void effects_and_other_graphs_are_left_whole(void **state) {
  (void)state;
  divided d = { 0 };
  divide(&d, "graph(%rows: f32[B]) {\n  %1 = host {dtype=f32, shape=[], name=\"now\"}\n  %2 = add %rows, %1\n"
             "  return %2\n}\n");
  assert_false(d.pieces.divided);
  end(&d);
}

static void branches_read_the_cut(void **state) {
  (void)state;
  assert_divides(
      "graph(%rows: f32[B, 2]) {\n  %1 = exp %rows\n  %2 = sum %1 {axes=[0, 1]}\n"
      "  %3 = fill {dtype=f32, shape=[], number=9}\n  %4 = gt %2, %3\n"
      "  %5 = if %4 {\n    %6 = mean %1 {axes=[0, 1]}\n    yield %6\n  } else {\n    yield %2\n  }\n"
      "  %7 = pick %5 {index=0, dtype=f32, shape=[]}\n  return %7\n}\n",
      1, TN_OP_EXP);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  static const char text[] = HEAD "  %1 = matmul %rows, %w\n  %2 = sum %1 {axes=[0, 1]}\n  return %2\n}\n";
  for (uint64_t n = 1;; n++) {
    divided d = { 0 };
    world_open(&d.w);
    graph_from(&d.w, text, &d.text);
    bind_rows(&d, ALL, &d.whole);
    bind_rows(&d, PIECE, &d.part);
    d.fed[0] = true;
    d.w.heap.fail_at = d.w.heap.requests + n;
    bool ok = tn_opt_divide_rows(&d.whole, &d.part, ALL, PIECE, d.fed, &d.pieces);
    d.w.heap.fail_at = 0;
    end(&d);
    if (ok) return;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_layer_and_its_loss_are_cut_between),
    cmocka_unit_test(labels_are_read_where_they_are),
    cmocka_unit_test(rows_of_several_places_stay_together),
    cmocka_unit_test(what_names_rows_of_a_table_is_divided),
    cmocka_unit_test(concat_slice_pad_and_scan_along_other_axes_are_divided),
    cmocka_unit_test(a_layer_norm_is_divided),
    cmocka_unit_test(operations_across_rows_stay_whole),
    cmocka_unit_test(a_number_that_follows_the_rows_is_not_the_same),
    cmocka_unit_test(effects_and_other_graphs_are_left_whole),
    cmocka_unit_test(branches_read_the_cut),
    cmocka_unit_test(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
