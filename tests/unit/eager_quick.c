/* tests/unit/eager_quick.c: the short paths for small values give the bits of the long ones.
 *
 * The same numbers once as a tensor that lives inside its slot and once as one that does not, through every
 * elementwise operation, forward and backward, infinities and NaNs among them. */
#include "base/rng.h"
#include "eager/eager.h"
#include "graph_support.h"

#define FEW  13
#define MANY 26

static float pick(tn_rng *rng) {
  static const float special[] = { 0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-40f, 3e38f };
  uint32_t kind = tn_rng_below(rng, 12);
  if (kind == 0) return __builtin_inff();
  if (kind == 1) return -__builtin_inff();
  if (kind == 2) return __builtin_nanf("");
  if (kind < 5) return special[tn_rng_below(rng, 7)];
  return tn_rng_normal(rng) * 3;
}

static tn_value tensor_of(world *w, tn_eager *e, const float *numbers, int64_t count) {
  tn_tensor tensor;
  tn_shape shape = tn_shape_make(1, count);
  assert_true(tn_tensor_new(&w->heap, TN_F32, &shape, &tensor));
  for (int64_t i = 0; i < count; i++) ((float *)tensor.view.data)[i] = numbers[i % FEW];
  tn_value value = tn_eager_tensor(e, &tensor);
  tn_tensor_unref(&tensor);
  return value;
}

static float element(tn_eager *e, tn_value value, int64_t index) {
  tn_view view = tn_eager_view(e, value);
  return (float)tn_view_get_f64(&view, index);
}

static void assert_same_bits(tn_eager *e, tn_value few, tn_value many, tn_op op) {
  for (int64_t i = 0; i < FEW; i++) {
    float x = element(e, few, i), y = element(e, many, i);
    if (memcmp(&x, &y, sizeof x) != 0)
      fail_msg("%s: element %d: %a and %a", tn_op_sig_of(op)->name, (int)i, (double)x, (double)y);
  }
}

static tn_value variable(tn_eager *e, tn_value value) {
  tn_value made = tn_eager_variable(e, value);
  tn_eager_unref(e, value);
  return made;
}

static tn_value apply(tn_eager *e, tn_op op, tn_value x, tn_value y, int count) {
  tn_value in[2] = { x, y };
  tn_value out = tn_eager_apply(e, op, in, count, NULL);
  assert_int_not_equal(out, TN_ERROR_VALUE);
  return out;
}

/* op(x, y) * z, so that the gradient that arrives is z and not 1; twice over x, so that gradients add up. */
static void try_operation(world *w, tn_eager *e, tn_rng *rng, tn_op op, int count) {
  float numbers[3][FEW];
  tn_value x[2], y[2], grads[2][2];
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < FEW; i++) numbers[k][i] = pick(rng);
  }
  tn_value outs[2];
  for (int k = 0; k < 2; k++) {
    int64_t size = k == 0 ? FEW : MANY;
    x[k] = variable(e, tensor_of(w, e, numbers[0], size));
    y[k] = variable(e, tensor_of(w, e, numbers[1], size));
    tn_value z = tensor_of(w, e, numbers[2], size);
    outs[k] = apply(e, op, x[k], y[k], count);
    tn_value scaled = apply(e, TN_OP_MUL, outs[k], z, 2), sum = apply(e, TN_OP_ADD, scaled, x[k], 2);
    assert_true(tn_eager_backward(e, sum));
    grads[k][0] = tn_eager_grad(e, x[k]), grads[k][1] = tn_eager_grad(e, y[k]);
    tn_eager_unref(e, z), tn_eager_unref(e, scaled), tn_eager_unref(e, sum);
  }
  assert_same_bits(e, outs[0], outs[1], op);
  for (int i = 0; i < 2; i++) assert_same_bits(e, grads[0][i], grads[1][i], op);
  for (int k = 0; k < 2; k++) {
    tn_eager_unref(e, x[k]), tn_eager_unref(e, y[k]), tn_eager_unref(e, outs[k]);
    for (int i = 0; i < 2; i++) tn_eager_unref(e, grads[k][i]);
  }
}

static void small_values_give_the_bits_of_large_ones(void **state) {
  (void)state;
  static const tn_op unary[] = { TN_OP_NEG,  TN_OP_ABS,     TN_OP_SQRT, TN_OP_EXP, TN_OP_LOG,
                                 TN_OP_TANH, TN_OP_SIGMOID, TN_OP_RELU, TN_OP_SIN, TN_OP_COS,
                                 TN_OP_ERF,  TN_OP_ROUND,   TN_OP_FLOOR };
  static const tn_op binary[] = { TN_OP_ADD, TN_OP_SUB,     TN_OP_MUL,    TN_OP_DIV,
                                  TN_OP_POW, TN_OP_MINIMUM, TN_OP_MAXIMUM };
  world w;
  tn_rng rng;
  world_open(&w);
  tn_rng_init(&rng, 1);
  tn_eager *e = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
  for (int round = 0; round < 50; round++) {
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) try_operation(&w, e, &rng, unary[i], 1);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) try_operation(&w, e, &rng, binary[i], 2);
  }
  assert_int_equal(tn_eager_live(e), 0);
  tn_eager_free(e);
  world_close(&w);
}

/* An operand that is given away may become the result, but never one that somebody still holds. */
static void only_values_without_references_are_overwritten(void **state) {
  (void)state;
  static const tn_op ops[] = { TN_OP_ADD, TN_OP_POW };
  world w;
  world_open(&w);
  tn_eager *e = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
  float numbers[FEW] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 };
  for (int held = 0; held < 2; held++) {
    for (int o = 0; o < 2; o++) {
      for (int64_t size = 4; size <= FEW; size += 9) {
        tn_value in[2] = { tensor_of(&w, e, numbers, size), tensor_of(&w, e, numbers, size) };
        if (held) tn_eager_ref(e, in[0]);
        tn_value out = tn_eager_apply_take(e, ops[o], in, 2);
        assert_int_equal(out == in[0], !held);
        float wanted = o == 0 ? 4 : 4; /* 2 + 2 and 2 to the 2 */
        assert_true(element(e, out, 1) == wanted);
        if (held) {
          assert_true(element(e, in[0], 1) == 2);
          tn_eager_unref(e, in[0]);
        }
        tn_eager_unref(e, out);
        assert_int_equal(tn_eager_live(e), 0);
      }
    }
  }
  tn_eager_free(e);
  world_close(&w);
}

/* Where the engine gives an operand back, a variable does not leak out of it. */
static void a_result_is_never_the_variable_itself(void **state) {
  (void)state;
  world w;
  world_open(&w);
  tn_eager *e = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
  float numbers[FEW] = { 1, 2, 3 };
  tn_value x = variable(e, tensor_of(&w, e, numbers, 3)), one = tn_eager_number(e, 1);
  tn_value flat = tn_eager_apply(e, TN_OP_FLATTEN, &x, 1, NULL), now = tn_eager_result(e, x);
  assert_false(tn_eager_is_variable(e, flat));
  assert_true(tn_eager_sub_assign(e, x, one, one));
  assert_true(element(e, x, 0) == 0);
  assert_true(element(e, flat, 0) == 1);
  assert_true(element(e, now, 0) == 1);
  tn_eager_unref(e, now), tn_eager_unref(e, one), tn_eager_unref(e, x);
  tn_value taken = tn_eager_apply_take(e, TN_OP_FLATTEN, &flat, 1);
  tn_eager_unref(e, taken);
  assert_int_equal(tn_eager_live(e), 0);
  tn_eager_free(e);
  world_close(&w);
}

/* A value of a variable that is gone receives nothing, and neither does who lives in its place now. */
static void gradients_do_not_reach_later_values(void **state) {
  (void)state;
  world w;
  world_open(&w);
  tn_eager *e = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
  tn_value x = variable(e, tn_eager_number(e, 3)), one = tn_eager_number(e, 1);
  tn_value y = apply(e, TN_OP_MUL, x, x, 2);
  assert_true(tn_eager_sub_assign(e, x, one, one)); /* y keeps the old value */
  tn_eager_unref(e, x);
  tn_value later = variable(e, tn_eager_number(e, 5)), also = variable(e, tn_eager_number(e, 6));
  assert_true(tn_eager_backward(e, y));
  tn_value grads[2] = { tn_eager_grad(e, later), tn_eager_grad(e, also) };
  for (int i = 0; i < 2; i++) {
    assert_true(element(e, grads[i], 0) == 0);
    tn_eager_unref(e, grads[i]);
  }
  tn_eager_unref(e, y), tn_eager_unref(e, one), tn_eager_unref(e, later), tn_eager_unref(e, also);
  assert_int_equal(tn_eager_live(e), 0);
  tn_eager_free(e);
  world_close(&w);
}

/* ROUND has a gradient, which is 0; a comparison has none. */
static void a_derivative_of_zero_is_a_derivative(void **state) {
  (void)state;
  world w;
  world_open(&w);
  tn_eager *e = tn_eager_new(&w.heap, w.names, tn_backend_ref(), 1);
  tn_value x = variable(e, tn_eager_number(e, 2.4f));
  tn_value y = apply(e, TN_OP_ROUND, x, 0, 1);
  assert_true(tn_eager_needs_grad(e, y));
  assert_true(tn_eager_backward(e, y));
  tn_value grad = tn_eager_grad(e, x);
  assert_true(element(e, grad, 0) == 0);
  tn_value truth = apply(e, TN_OP_GT, x, y, 2);
  assert_false(tn_eager_needs_grad(e, truth));
  tn_eager_unref(e, x), tn_eager_unref(e, y), tn_eager_unref(e, grad), tn_eager_unref(e, truth);
  tn_eager_free(e);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_values_give_the_bits_of_large_ones),
    cmocka_unit_test(only_values_without_references_are_overwritten),
    cmocka_unit_test(a_result_is_never_the_variable_itself),
    cmocka_unit_test(gradients_do_not_reach_later_values),
    cmocka_unit_test(a_derivative_of_zero_is_a_derivative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
