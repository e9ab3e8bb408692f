/* tests/unit/eager.c: values computed at once, recorded, differentiated, freed. */
#include "eager/eager.h"
#include "base/elementary.h"
#include "graph_support.h"

typedef struct {
  world w;
  tn_eager *e;
} room;

static void room_open(room *r) {
  world_open(&r->w);
  r->e = tn_eager_new(&r->w.heap, r->w.names, tn_backend_ref(), 1);
  assert_non_null(r->e);
}

static void room_close(room *r) {
  assert_int_equal(tn_eager_live(r->e), 0);
  tn_eager_free(r->e);
  world_close(&r->w);
}

static float element(room *r, tn_value v, int64_t index) {
  tn_view view = tn_eager_view(r->e, v);
  return (float)tn_view_get_f64(&view, index);
}
static float first(room *r, tn_value v) { return element(r, v, 0); }

static tn_value apply(room *r, tn_op op, tn_value x, tn_value y) {
  tn_value in[2] = { x, y };
  tn_value out = tn_eager_apply(r->e, op, in, y == TN_ERROR_VALUE ? 1 : 2, NULL);
  assert_int_not_equal(out, TN_ERROR_VALUE);
  return out;
}

/* The same, and lets go of the operands. */
static tn_value apply_take(room *r, tn_op op, tn_value x, tn_value y) {
  tn_value out = apply(r, op, x, y);
  tn_eager_unref(r->e, x);
  if (y != TN_ERROR_VALUE) tn_eager_unref(r->e, y);
  return out;
}

static tn_value vector(room *r, int64_t count, float start) {
  tn_tensor tensor;
  tn_shape shape = tn_shape_make(1, count);
  assert_true(tn_tensor_new(&r->w.heap, TN_F32, &shape, &tensor));
  for (int64_t i = 0; i < count; i++) ((float *)tensor.view.data)[i] = start + (float)i;
  tn_value v = tn_eager_tensor(r->e, &tensor);
  tn_tensor_unref(&tensor);
  return v;
}

static tn_value variable_of(room *r, tn_value value) {
  tn_value v = tn_eager_variable(r->e, value);
  tn_eager_unref(r->e, value);
  return v;
}

static float grad_at(room *r, tn_value variable, int64_t index) {
  tn_value grad = tn_eager_grad(r->e, variable);
  float number = element(r, grad, index);
  tn_eager_unref(r->e, grad);
  return number;
}

static void small_and_large_tensors_agree(void **state) {
  (void)state;
  room r;
  room_open(&r);
  for (int64_t count = 1; count <= 40; count += 13) {
    tn_value x = vector(&r, count, 1), y = vector(&r, count, 3);
    tn_value z = apply(&r, TN_OP_DIV, x, y);
    tn_value s = apply_take(&r, TN_OP_TANH, z, 0);
    for (int64_t i = 0; i < count; i++) {
      float wanted = tn_tanh_f32((1 + (float)i) / (3 + (float)i));
      assert_true(element(&r, s, i) == wanted);
    }
    tn_eager_unref(r.e, x), tn_eager_unref(r.e, y), tn_eager_unref(r.e, s);
  }
  room_close(&r);
}

static void gradients_accumulate_until_cleared(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, tn_eager_number(r.e, 3));
  tn_value y = apply(&r, TN_OP_MUL, x, x);
  assert_true(tn_eager_backward(r.e, y));
  assert_true(grad_at(&r, x, 0) == 6);
  assert_true(tn_eager_backward(r.e, y)); /* the same graph again */
  assert_true(grad_at(&r, x, 0) == 12);
  tn_eager_clear_grad(r.e, x);
  assert_true(grad_at(&r, x, 0) == 0);
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, y);
  room_close(&r);
}

/* Weights and gradients, of the variables that were there; values that were read before stay as they were. */
static void changes_can_be_undone(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, tn_eager_number(r.e, 3)), one = tn_eager_number(r.e, 1);
  tn_value y = apply(&r, TN_OP_MUL, x, x);
  assert_true(tn_eager_backward(r.e, y));
  for (int undo = 0; undo < 2; undo++) {
    float weight = element(&r, x, 0), grad = grad_at(&r, x, 0);
    tn_eager_changes_begin(r.e);
    tn_value later = variable_of(&r, tn_eager_number(r.e, 7));
    for (int i = 0; i < 3; i++) {
      assert_true(tn_eager_sub_assign(r.e, x, one, one));
      assert_true(tn_eager_sub_assign(r.e, later, one, one));
      assert_true(tn_eager_backward(r.e, y));
    }
    assert_true(tn_eager_clear_grad(r.e, x));
    assert_true(element(&r, x, 0) == weight - 3 && grad_at(&r, x, 0) == 0);
    tn_eager_changes_end(r.e, undo == 1);
    assert_true(element(&r, x, 0) == (undo ? weight : weight - 3));
    assert_true(grad_at(&r, x, 0) == (undo ? grad : 0));
    assert_true(element(&r, later, 0) == 4 && element(&r, y, 0) == 9);
    tn_eager_unref(r.e, later);
    assert_true(tn_eager_backward(r.e, y));
  }
  assert_true(tn_eager_sub_assign(r.e, x, one, one)); /* nothing is kept any more */
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, y), tn_eager_unref(r.e, one);
  room_close(&r);
}

static void a_backward_pass_uses_the_values_of_its_forward_pass(void **state) {
  (void)state;
  room r;
  room_open(&r);
  for (int64_t count = 2; count <= 40; count += 38) { /* inside a slot, and in a buffer */
    tn_value x = variable_of(&r, vector(&r, count, 5)), one = tn_eager_number(r.e, 1),
             step = vector(&r, count, 1);
    tn_value y = apply(&r, TN_OP_MUL, x, x);
    assert_true(tn_eager_sub_assign(r.e, x, one, step));
    assert_true(first(&r, x) == 4);
    assert_true(tn_eager_backward(r.e, y));
    assert_true(grad_at(&r, x, 0) == 10); /* 2 * the old 5 */
    tn_eager_unref(r.e, y);
    tn_eager_clear_grad(r.e, x);
    y = apply(&r, TN_OP_MUL, x, x);
    assert_true(tn_eager_backward(r.e, y));
    assert_true(grad_at(&r, x, 0) == 8);
    tn_eager_unref(r.e, x), tn_eager_unref(r.e, y), tn_eager_unref(r.e, one), tn_eager_unref(r.e, step);
  }
  room_close(&r);
}

static void nothing_is_remembered_while_recording_is_off(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, tn_eager_number(r.e, 3));
  tn_eager_recording(r.e, false);
  tn_value y = apply(&r, TN_OP_MUL, x, x);
  tn_eager_recording(r.e, true);
  assert_false(tn_eager_needs_grad(r.e, y));
  assert_false(tn_eager_backward(r.e, y));
  assert_int_equal(tn_eager_builder(r.e)->fault.kind, TN_FAULT_NO_GRADIENT);
  tn_build_forget(tn_eager_builder(r.e));
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, y);
  room_close(&r);
}

static void a_value_of_several_elements_is_summed_first(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, vector(&r, 20, 1)), w = variable_of(&r, tn_eager_number(r.e, 2));
  tn_value y = apply(&r, TN_OP_MUL, x, w);
  assert_true(tn_eager_backward(r.e, y));
  assert_true(grad_at(&r, x, 7) == 2);
  assert_true(grad_at(&r, w, 0) == 210); /* 1 + 2 + ... + 20 */
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, w), tn_eager_unref(r.e, y);
  room_close(&r);
}

static void a_long_chain_is_differentiated_and_freed(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, tn_eager_number(r.e, 1)), half = tn_eager_number(r.e, 0.5f);
  tn_eager_ref(r.e, x);
  tn_value y = x;
  for (int i = 0; i < 300000; i++) {
    tn_value next = apply(&r, i % 2 ? TN_OP_ADD : TN_OP_MUL, y, half);
    tn_eager_unref(r.e, y);
    y = next;
  }
  assert_true(tn_eager_backward(r.e, y));
  assert_true(grad_at(&r, x, 0) == 0); /* 2^-150000 */
  tn_eager_unref(r.e, y), tn_eager_unref(r.e, x), tn_eager_unref(r.e, half);
  room_close(&r);
}

static void training_runs_in_constant_memory(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value w = variable_of(&r, vector(&r, 32, 0)), lr = tn_eager_number(r.e, 0.125f),
           target = vector(&r, 32, 1);
  size_t after_some = 0;
  for (int i = 0; i < 2000; i++) {
    tn_value error = apply(&r, TN_OP_SUB, w, target);
    tn_value square = apply(&r, TN_OP_MUL, error, error);
    assert_true(tn_eager_backward(r.e, square));
    tn_value grad = tn_eager_grad(r.e, w);
    assert_true(tn_eager_sub_assign(r.e, w, lr, grad));
    tn_eager_clear_grad(r.e, w);
    tn_eager_unref(r.e, grad), tn_eager_unref(r.e, square), tn_eager_unref(r.e, error);
    if (i == 10) after_some = r.w.heap.used;
  }
  assert_int_equal(r.w.heap.used, after_some);
  assert_true(first(&r, w) > 0.99999f && first(&r, w) < 1.00001f);
  tn_eager_unref(r.e, w), tn_eager_unref(r.e, lr), tn_eager_unref(r.e, target);
  room_close(&r);
}

static void composed_operations_leave_nothing_behind(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, vector(&r, 6, -2));
  tn_value y = apply(&r, TN_OP_GELU, x, 0);
  size_t live = tn_eager_live(r.e);
  assert_true(tn_eager_backward(r.e, y));
  tn_eager_clear_grad(r.e, x);
  assert_int_equal(tn_eager_live(r.e), live);
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, y);
  room_close(&r);
}

static void what_was_recorded_can_be_written_as_a_graph(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, tn_eager_number(r.e, 3)), two = tn_eager_number(r.e, 2);
  tn_value y = apply_take(&r, TN_OP_ADD, apply(&r, TN_OP_MUL, x, x), two);
  tn_graph graph;
  assert_true(tn_eager_to_graph(r.e, &y, 1, &graph, NULL));
  assert_valid(&graph);
  tn_text text;
  tn_text_init(&text, &r.w.heap);
  tn_graph_print(&graph, &text);
  assert_string_equal(text.at,
                      "graph(param %v0: f32[]) {\n  %1 = fill {dtype=f32, shape=[], number=2} : f32[]\n"
                      "  %2 = mul %v0, %v0 : f32[]\n  %3 = add %2, %1 : f32[]\n  return %3\n}\n");
  tn_text_free(&text);
  tn_graph_free(&graph);
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, y);
  room_close(&r);
}

/* The graph of `outputs` as text, and what its parameter is. */
static void assert_graph(room *r, const tn_value *outputs, int count, const char *wanted, float param) {
  tn_graph graph;
  tn_tensors params = { 0 };
  tn_text text;
  assert_true(tn_eager_to_graph(r->e, outputs, count, &graph, &params));
  assert_valid(&graph);
  tn_text_init(&text, &r->w.heap);
  tn_graph_print(&graph, &text);
  assert_string_equal(text.at, wanted);
  assert_int_equal(params.count, 1);
  assert_int_equal(graph.params.count, 1);
  assert_true(*(const float *)params.at[0].view.data == param);
  tn_tensor_unref(&params.at[0]);
  tn_vec_free(&r->w.heap, &params);
  tn_text_free(&text);
  tn_graph_free(&graph);
}

static void a_trained_variable_is_one_parameter_with_its_last_number(void **state) {
  (void)state;
  room r;
  room_open(&r);
  tn_value x = variable_of(&r, tn_eager_number(r.e, 3)), one = tn_eager_number(r.e, 1);
  tn_value y = apply(&r, TN_OP_MUL, x, x);
  assert_true(tn_eager_sub_assign(r.e, x, one, one));
  tn_value z = apply(&r, TN_OP_EXP, x, 0), both = apply(&r, TN_OP_ADD, y, z);
  assert_graph(&r, (tn_value[]){ y, z }, 2,
               "graph(param %v0: f32[]) {\n  %1 = exp %v0 : f32[]\n  return %1\n}\n", 2);
  /* What only older values lead to is all there is: it is shown, with the number that is there now. */
  assert_graph(&r, &y, 1, "graph(param %v0: f32[]) {\n  %1 = mul %v0, %v0 : f32[]\n  return %1\n}\n", 2);
  /* Two values of one variable in one result: the older one is a number. */
  assert_graph(&r, &both, 1,
               "graph() {\n  %1 = fill {dtype=f32, shape=[], number=3} : f32[]\n"
               "  %2 = mul %1, %1 : f32[]\n  %v0 = param {name=\"v0\", dtype=f32, shape=[]} : f32[]\n"
               "  %3 = exp %v0 : f32[]\n  %4 = add %2, %3 : f32[]\n  return %4\n}\n",
               2);
  tn_eager_unref(r.e, x), tn_eager_unref(r.e, y), tn_eager_unref(r.e, z), tn_eager_unref(r.e, both);
  tn_eager_unref(r.e, one);
  room_close(&r);
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  for (uint64_t n = 1;; n++) {
    world w;
    world_open(&w);
    w.heap.fail_at = w.heap.requests + n;
    tn_eager *e = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
    bool failed = !e;
    if (e) {
      tn_type type = { TN_F32, tn_shape_make(1, (int64_t)50) };
      tn_builder *b = tn_eager_builder(e);
      size_t scope = tn_eager_scope_begin(e);
      tn_value ones = tn_build_fill(b, &type, 1);
      tn_value x = ones ? tn_eager_variable(e, ones) : 0;
      tn_value y = x ? tn_build_unary(b, TN_OP_GELU, x) : 0;
      if (y) (void)tn_eager_backward(e, y);
      tn_eager_unref(e, x);
      tn_eager_scope_end(e, scope);
      failed = !tn_build_ok(b);
      if (failed) assert_int_equal(b->fault.kind, TN_FAULT_MEMORY);
      assert_int_equal(tn_eager_live(e), 0);
      tn_eager_free(e);
    }
    bool reached = w.heap.failed;
    world_close(&w);
    if (!reached) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_and_large_tensors_agree),
    cmocka_unit_test(gradients_accumulate_until_cleared),
    cmocka_unit_test(changes_can_be_undone),
    cmocka_unit_test(a_backward_pass_uses_the_values_of_its_forward_pass),
    cmocka_unit_test(nothing_is_remembered_while_recording_is_off),
    cmocka_unit_test(a_value_of_several_elements_is_summed_first),
    cmocka_unit_test(a_long_chain_is_differentiated_and_freed),
    cmocka_unit_test(training_runs_in_constant_memory),
    cmocka_unit_test(composed_operations_leave_nothing_behind),
    cmocka_unit_test(what_was_recorded_can_be_written_as_a_graph),
    cmocka_unit_test(a_trained_variable_is_one_parameter_with_its_last_number),
    cmocka_unit_test(every_failed_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
