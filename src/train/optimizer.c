/* train/optimizer.c: builds the updates of sgd, momentum, adam and adamw from operations.
 *
 *   sgd        p' = p - lr * g
 *   momentum   m' = momentum * m + g                 p' = p - lr * m'
 *   adam       m' = b1 * m + (1 - b1) * g            v' = b2 * v + (1 - b2) * (g * g)
 *              p' = p - lr * ((m' / c1) / (sqrt(v' / c2) + eps)),  ci = 1 - bi^(step + 1)
 *   adamw      the same, and p' takes lr * (weight_decay * p) off as well
 *
 * Each line is the order of operations; numbers are rounded to the parameter's
 * dtype where they enter. At most one argument of a call here makes an operation,
 * because compilers evaluate arguments in different orders. A gradient that is a scatter into zeros (an
 * embedding's) stays sparse under plain sgd: the update touches its rows only,
 * which is the same because a learning rate is finite and not negative. */
#include "train/optimizer.h"

#include <math.h>

#include "base/elementary.h"

int tn_optimizer_states(tn_optimizer optimizer) {
  static const int states[] = {
    [TN_OPTIMIZER_SGD] = 0, [TN_OPTIMIZER_MOMENTUM] = 1, [TN_OPTIMIZER_ADAM] = 2, [TN_OPTIMIZER_ADAMW] = 2
  };
  return states[optimizer];
}

bool tn_optimizer_uses(tn_optimizer optimizer, tn_train_scalar scalar) {
  return scalar == TN_SCALAR_LR || optimizer == TN_OPTIMIZER_ADAM || optimizer == TN_OPTIMIZER_ADAMW;
}

double tn_optimizer_scalar(const tn_train_options *options, tn_train_scalar scalar, int64_t step) {
  switch (scalar) {
    case TN_SCALAR_CORRECTION1: return 1 - tn_pow_f64(options->beta1, (double)(step + 1));
    case TN_SCALAR_CORRECTION2: return 1 - tn_pow_f64(options->beta2, (double)(step + 1));
    default: return tn_train_lr(options, step);
  }
}

typedef struct {
  tn_builder *b;
  tn_dtype dtype;
} writer;

static tn_value number(const writer *w, double n) { return tn_build_number(w->b, w->dtype, n); }
static tn_value add(const writer *w, tn_value x, tn_value y) {
  return tn_build_binary(w->b, TN_OP_ADD, x, y);
}
static tn_value sub(const writer *w, tn_value x, tn_value y) {
  return tn_build_binary(w->b, TN_OP_SUB, x, y);
}
static tn_value mul(const writer *w, tn_value x, tn_value y) {
  return tn_build_binary(w->b, TN_OP_MUL, x, y);
}
static tn_value divide(const writer *w, tn_value x, tn_value y) {
  return tn_build_binary(w->b, TN_OP_DIV, x, y);
}

static writer writer_for(const tn_optimizer_args *args, tn_value value) {
  tn_builder *b = &args->builder->base;
  return (writer){ b, tn_build_type(b, value)->dtype };
}

tn_value tn_optimizer_clip(const tn_optimizer_args *args, const tn_value *grads, int count) {
  if (args->options->clip_norm <= 0) return TN_NO_VALUE;
  tn_builder *b = &args->builder->base;
  writer w = { b, TN_F32 };
  tn_value total = TN_NO_VALUE;
  for (int i = 0; i < count; i++) {
    if (grads[i] == TN_NO_VALUE) continue;
    tn_value square = tn_build_reduce(b, TN_OP_SUM, mul(&w, grads[i], grads[i]), NULL, -1, false);
    square = tn_build_cast(b, square, TN_F32);
    total = total == TN_NO_VALUE ? square : add(&w, total, square);
  }
  if (total == TN_NO_VALUE) return total;
  tn_value limit = number(&w, args->options->clip_norm);
  tn_value norm = tn_build_unary(b, TN_OP_SQRT, total);
  return divide(&w, limit, tn_build_binary(b, TN_OP_MAXIMUM, norm, limit));
}

static bool is_zero_fill(const tn_graph *graph, tn_value value) {
  const tn_node *node = tn_graph_node(graph, value);
  return node->op == TN_OP_FILL && node->attrs->number == 0;
}

/* x - lr * scatter_add(0, index, y) without the rows that stay. */
static tn_value sparse_update(const tn_optimizer_args *args, tn_value param, tn_value grad, tn_value lr) {
  const tn_graph *graph = args->builder->graph;
  const tn_node *node = tn_graph_node(graph, grad);
  if (node->op != TN_OP_SCATTER_ADD || node->attrs->axis != 0 || !is_zero_fill(graph, node->in[0]))
    return TN_NO_VALUE;
  tn_value in[4] = { param, node->in[1], node->in[2], lr };
  return tn_build(&args->builder->base, TN_OP_ROW_UPDATE, in, 4, NULL);
}

static tn_value decayed(const writer *w, const tn_optimizer_args *args, double decay, tn_value param,
                        tn_value grad) {
  if (decay == 0 || args->options->optimizer == TN_OPTIMIZER_ADAMW) return grad;
  return add(w, grad, mul(w, number(w, decay), param));
}

static tn_value momentum_update(const writer *w, const tn_optimizer_args *args, tn_value grad, tn_value state,
                                tn_value *next) {
  *next = add(w, mul(w, number(w, args->options->momentum), state), grad);
  return *next;
}

static tn_value moving(const writer *w, double beta, tn_value state, tn_value sample) {
  tn_value kept = mul(w, number(w, beta), state);
  tn_value fresh = mul(w, number(w, 1 - beta), sample);
  return add(w, kept, fresh);
}

static tn_value adam_update(const writer *w, const tn_optimizer_args *args, tn_value grad,
                            const tn_value *state, tn_value *next) {
  const tn_train_options *o = args->options;
  next[0] = moving(w, o->beta1, state[0], grad);
  next[1] = moving(w, o->beta2, state[1], mul(w, grad, grad));
  tn_value c1 = tn_build_cast(w->b, args->scalar[TN_SCALAR_CORRECTION1], w->dtype);
  tn_value c2 = tn_build_cast(w->b, args->scalar[TN_SCALAR_CORRECTION2], w->dtype);
  tn_value mean = divide(w, next[0], c1);
  tn_value root = tn_build_unary(w->b, TN_OP_SQRT, divide(w, next[1], c2));
  tn_value spread = add(w, root, number(w, o->epsilon));
  return divide(w, mean, spread);
}

tn_value tn_optimizer_update(const tn_optimizer_args *args, int index, tn_value grad, const tn_value *states,
                             tn_value *next_states) {
  tn_value param = args->builder->graph->params.at[index];
  writer w = writer_for(args, param);
  const tn_train_options *o = args->options;
  double decay = o->exempt && o->exempt[index] ? 0 : o->weight_decay;
  tn_value lr = tn_build_cast(w.b, args->scalar[TN_SCALAR_LR], w.dtype);
  bool plain = o->optimizer == TN_OPTIMIZER_SGD && decay == 0;
  if (grad == TN_NO_VALUE) {
    if (plain) return param;
    grad = tn_build_like(w.b, param, 0);
  } else if (args->scale != TN_NO_VALUE) {
    grad = mul(&w, grad, tn_build_cast(w.b, args->scale, w.dtype));
  }
  if (plain) {
    tn_value sparse = sparse_update(args, param, grad, lr);
    if (sparse != TN_NO_VALUE) return sparse;
  }
  tn_value direction = decayed(&w, args, decay, param, grad);
  if (o->optimizer == TN_OPTIMIZER_MOMENTUM)
    direction = momentum_update(&w, args, direction, states[0], next_states);
  if (tn_optimizer_states(o->optimizer) == 2)
    direction = adam_update(&w, args, direction, states, next_states);
  tn_value next = sub(&w, param, mul(&w, lr, direction));
  if (o->optimizer == TN_OPTIMIZER_ADAMW && decay != 0) {
    next = sub(&w, next, mul(&w, lr, mul(&w, number(&w, decay), param)));
  }
  return next;
}

/* ---- what went wrong ---- */

static bool is_finite(float x) { return x - x == 0; }

static tn_op origin_in_adam(const tn_train_options *o, int64_t step, float mean, float square) {
  if (!is_finite(mean)) return TN_OP_ADD;
  if (!is_finite(square)) return TN_OP_MUL;
  mean /= (float)tn_optimizer_scalar(o, TN_SCALAR_CORRECTION1, step);
  square /= (float)tn_optimizer_scalar(o, TN_SCALAR_CORRECTION2, step);
  float direction = mean / (sqrtf(square) + (float)o->epsilon);
  if (!is_finite(direction)) return TN_OP_DIV;
  return is_finite((float)tn_train_lr(o, step) * direction) ? TN_OP_SUB : TN_OP_MUL;
}

tn_op tn_optimizer_origin(const tn_train_options *options, int64_t step, const double *states) {
  float first = (float)states[0];
  if (tn_optimizer_states(options->optimizer) == 2)
    return origin_in_adam(options, step, first, (float)states[1]);
  if (!is_finite(first)) return TN_OP_ADD;
  return is_finite((float)tn_train_lr(options, step) * first) ? TN_OP_SUB : TN_OP_MUL;
}
