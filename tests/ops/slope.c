/* tests/ops/slope.c: small differentiable calls of every operation. */
#include "slope.h"

static int below(slope *s, int n) { return (int)tn_rng_below(&s->rng, (uint32_t)n); }
static bool one_in(slope *s, int n) { return below(s, n) == 0; }

/* Few elements, because each is moved by itself; now and then none at all. */
static tn_shape any_shape(slope *s, int min_rank, int max_rank) {
  tn_shape shape = { .rank = min_rank + below(s, max_rank - min_rank + 1) };
  for (int axis = 0; axis < shape.rank; axis++) shape.dim[axis] = 1 + below(s, shape.rank > 2 ? 2 : 4);
  if (shape.rank > 0 && s->number % 8 == 7) shape.dim[below(s, shape.rank)] = 0;
  return shape;
}

static void add_between(slope *s, tn_shape shape, double low, double high) {
  s->in[s->count++] = (slope_operand){ .type = { TN_F64, shape }, .low = low, .high = high };
}

static void add(slope *s, tn_shape shape) { add_between(s, shape, -2, 2); }

static void add_index(slope *s, tn_shape shape, int64_t limit) {
  s->in[s->count++] = (slope_operand){ .type = { one_in(s, 2) ? TN_I32 : TN_I64, shape }, .limit = limit };
}

static tn_shape narrower(slope *s, const tn_shape *shape) {
  int dropped = one_in(s, 3) ? below(s, shape->rank + 1) : 0;
  tn_shape from = { .rank = shape->rank - dropped };
  for (int axis = 0; axis < from.rank; axis++)
    from.dim[axis] = one_in(s, 4) ? 1 : shape->dim[axis + dropped];
  return from;
}

/* ---- elementwise ---- */
static void make_unary(slope *s) {
  bool positive = s->op == TN_OP_LOG || s->op == TN_OP_SQRT;
  add_between(s, any_shape(s, 0, 3), positive ? 0.4 : -2, positive ? 3 : 2);
}

static void make_binary(slope *s) {
  tn_shape shape = any_shape(s, 0, 3), other = narrower(s, &shape);
  bool swapped = one_in(s, 2);
  add_between(s, swapped ? other : shape, s->op == TN_OP_POW ? 0.4 : -2, 2);
  add_between(s, swapped ? shape : other, s->op == TN_OP_DIV ? 0.4 : -2, 2);
}

static void make_select(slope *s) {
  tn_shape shape = any_shape(s, 0, 3);
  s->in[s->count++] = (slope_operand){ .type = { TN_BOOL, one_in(s, 2) ? shape : narrower(s, &shape) } };
  add(s, one_in(s, 2) ? shape : narrower(s, &shape));
  add(s, shape);
}

/* The f32 between rounds, so the steps must be large. */
static void make_cast(slope *s) {
  s->attrs.dtype = TN_F32;
  s->step = 1e-2;
  s->tolerance = 1e-3;
  s->flat = true;
  add(s, any_shape(s, 0, 2));
}

static void make_dropout(slope *s) {
  s->attrs.number = 0.4;
  s->attrs.index = (uint64_t)below(s, 1000);
  add(s, any_shape(s, 0, 3));
  s->in[s->count++] = (slope_operand){ .type = { TN_I64, TN_SCALAR_SHAPE }, .limit = 1000 };
}

/* ---- arranging ---- */
static void make_reshape(slope *s) {
  tn_shape shape = any_shape(s, 0, 3);
  s->attrs.shape = tn_shape_make(2, (int64_t)1, tn_shape_count(&shape));
  add(s, shape);
}

static void make_transpose(slope *s) {
  tn_shape shape = any_shape(s, 0, 4);
  s->attrs.axis_count = shape.rank;
  int first = shape.rank > 0 ? below(s, shape.rank) : 0;
  for (int axis = 0; axis < shape.rank; axis++) s->attrs.axes[axis] = (first + axis) % shape.rank;
  add(s, shape);
}

static void make_broadcast_to(slope *s) {
  s->attrs.shape = any_shape(s, 0, 3);
  add(s, narrower(s, &s->attrs.shape));
}

static void make_slice(slope *s) {
  tn_shape shape = any_shape(s, 0, 3);
  for (int axis = 0; axis < shape.rank; axis++) {
    s->attrs.low[axis] = below(s, (int)shape.dim[axis] + 1);
    s->attrs.high[axis] = shape.dim[axis];
    s->attrs.step[axis] = 1 + below(s, 2);
  }
  add(s, shape);
}

static void make_pad(slope *s) {
  tn_shape shape = any_shape(s, 0, 3);
  for (int axis = 0; axis < shape.rank; axis++) {
    s->attrs.low[axis] = below(s, 3);
    s->attrs.high[axis] = below(s, 3);
    s->attrs.step[axis] = below(s, 2);
  }
  add(s, shape);
}

static void make_concat(slope *s) {
  tn_shape shape = any_shape(s, 1, 3);
  s->attrs.axis = below(s, shape.rank);
  for (int k = 0; k < 3; k++) {
    shape.dim[s->attrs.axis] = below(s, 3);
    add(s, shape);
  }
}

static void make_stack(slope *s) {
  tn_shape shape = any_shape(s, 0, 2);
  s->attrs.axis = below(s, shape.rank + 1);
  for (int k = 0; k < 3; k++) add(s, shape);
}

static void make_squeeze(slope *s) {
  s->attrs.axis_count = 1;
  s->attrs.axes[0] = 1;
  add(s, tn_shape_make(3, (int64_t)(1 + below(s, 3)), (int64_t)1, (int64_t)(1 + below(s, 3))));
}

static void make_expand_dims(slope *s) {
  tn_shape shape = any_shape(s, 0, 2);
  s->attrs.axis = below(s, shape.rank + 1);
  add(s, shape);
}

static void make_index(slope *s) {
  tn_shape shape = any_shape(s, 1, 3);
  s->attrs.axis = below(s, shape.rank);
  if (shape.dim[s->attrs.axis] == 0) shape.dim[s->attrs.axis] = 1;
  s->attrs.index = (uint64_t)below(s, (int)shape.dim[s->attrs.axis]);
  add(s, shape);
}

/* ---- by index ---- */
static tn_shape with_axis_replaced(const tn_shape *x, const tn_shape *index, int axis) {
  tn_shape out = { 0 };
  for (int a = 0; a < axis; a++) out.dim[out.rank++] = x->dim[a];
  for (int a = 0; a < index->rank; a++) out.dim[out.rank++] = index->dim[a];
  for (int a = axis + 1; a < x->rank; a++) out.dim[out.rank++] = x->dim[a];
  return out;
}

static tn_shape table(slope *s) {
  tn_shape shape = any_shape(s, 1, 3);
  s->attrs.axis = below(s, shape.rank);
  if (shape.dim[s->attrs.axis] == 0) shape.dim[s->attrs.axis] = 2;
  return shape;
}

static void make_gather(slope *s) {
  tn_shape x = table(s);
  add(s, x);
  add_index(s, any_shape(s, 0, 2), x.dim[s->attrs.axis]);
}

static void make_embedding(slope *s) {
  add_index(s, any_shape(s, 0, 2), 3);
  add(s, tn_shape_make(2, (int64_t)3, (int64_t)(1 + below(s, 3))));
}

static void make_scatter_add(slope *s) {
  tn_shape x = table(s), index = any_shape(s, 0, 2);
  add(s, x);
  add_index(s, index, x.dim[s->attrs.axis]);
  add(s, with_axis_replaced(&x, &index, s->attrs.axis));
}

/* ---- windows ---- */
static void any_window(slope *s) {
  for (int side = 0; side < 2; side++) {
    s->attrs.window[side] = 1 + below(s, 2);
    s->attrs.step[side] = 1 + below(s, 2);
    s->attrs.low[side] = below(s, 2);
    s->attrs.high[side] = below(s, 2);
  }
}

static tn_shape any_image(slope *s) {
  return tn_shape_make(4, (int64_t)(1 + below(s, 2)), (int64_t)(2 + below(s, 2)), (int64_t)(2 + below(s, 2)),
                       (int64_t)(1 + below(s, 2)));
}

static void make_patches(slope *s) {
  any_window(s);
  add(s, any_image(s));
}

static void make_fold(slope *s) {
  const tn_attrs *a = &s->attrs;
  any_window(s);
  s->attrs.shape = any_image(s);
  tn_shape patches = { .rank = 4, .dim = { a->shape.dim[0] } };
  for (int side = 0; side < 2; side++)
    patches.dim[1 + side] =
        (a->shape.dim[1 + side] + a->low[side] + a->high[side] - a->window[side]) / a->step[side] + 1;
  patches.dim[3] = a->window[0] * a->window[1] * a->shape.dim[3];
  add(s, patches);
}

static void make_conv2d(slope *s) {
  tn_shape image = any_image(s);
  for (int side = 0; side < 2; side++) s->attrs.step[side] = 1 + below(s, 2);
  s->attrs.same = one_in(s, 2);
  s->attrs.index = (uint64_t)(1 + below(s, 3));
  int64_t groups = (int64_t)s->attrs.index, channels = image.dim[3];
  image.dim[3] *= groups;
  add(s, image);
  add(s, tn_shape_make(4, (int64_t)(1 + below(s, 2)), (int64_t)(1 + below(s, 2)), channels,
                       groups * (int64_t)(1 + below(s, 2))));
}

static void make_depthwise(slope *s) {
  tn_attrs *a = &s->attrs;
  tn_shape image = any_image(s), outputs = image;
  for (int side = 0; side < 2; side++) {
    a->window[side] = 1 + (int32_t)below(s, 2);
    a->step[side] = 1 + below(s, 2);
    a->low[side] = below(s, 2), a->high[side] = below(s, 2);
    int64_t room = image.dim[1 + side] + a->low[side] + a->high[side] - a->window[side];
    outputs.dim[1 + side] = room / a->step[side] + 1;
  }
  outputs.dim[3] *= (int64_t)(1 + below(s, 2));
  tn_shape weights = tn_shape_make(4, a->window[0], a->window[1], 1, outputs.dim[3]);
  if (s->op == TN_OP_DEPTHWISE_IMAGE) a->shape = image;
  add(s, s->op == TN_OP_DEPTHWISE_IMAGE ? outputs : image);
  add(s, s->op == TN_OP_DEPTHWISE_WEIGHTS ? outputs : weights);
}

/* ---- along axes ---- */
static void make_reduction(slope *s) {
  tn_shape shape = any_shape(s, 0, 3);
  bool needs_one = s->op == TN_OP_MAX || s->op == TN_OP_MIN || s->op == TN_OP_MEAN;   /* else NaN */
  for (int axis = 0; axis < shape.rank; axis++) {
    if (one_in(s, 3)) continue;
    if (needs_one && shape.dim[axis] == 0) shape.dim[axis] = 2;
    s->attrs.axes[s->attrs.axis_count++] = axis;
  }
  s->attrs.keepdims = one_in(s, 2);
  add(s, shape);
  if (s->op == TN_OP_PROD) s->in[0].zeros = s->number % 3;   /* where dividing by x would fail */
}

static void make_count(slope *s) {
  s->attrs.axis_count = 1;
  s->attrs.dtype = TN_F64;
  add(s, any_shape(s, 1, 3));
}

static void make_along(slope *s) {
  tn_shape shape = any_shape(s, 1, 3);
  s->attrs.axis = below(s, shape.rank);
  bool scan = s->op == TN_OP_CUMSUM || s->op == TN_OP_CUMPROD;
  s->attrs.reverse = scan && one_in(s, 2);
  s->attrs.exclusive = scan && one_in(s, 2);
  add(s, shape);
  if (s->op == TN_OP_CUMPROD) s->in[0].zeros = s->number % 3;
}

static void make_cross_entropy(slope *s) {
  tn_shape rows = any_shape(s, 0, 2), logits = rows;
  int64_t classes = 2 + below(s, 3);
  for (int axis = 0; axis < rows.rank; axis++)   /* the mean of no rows is NaN */
    if (rows.dim[axis] == 0) rows.dim[axis] = logits.dim[axis] = 1;
  logits.dim[logits.rank++] = classes;
  add(s, logits);
  add_index(s, rows, classes);
}

static void make_layer_norm(slope *s) {
  tn_shape shape = tn_shape_make(2, (int64_t)(1 + below(s, 2)), (int64_t)(2 + below(s, 3)));
  tn_shape row = tn_shape_make(1, shape.dim[1]);
  s->attrs.number = 1e-3;
  add(s, shape);
  add(s, row);
  add(s, row);
}

static void make_layer_norm_grad(slope *s) {
  tn_shape shape = tn_shape_make(2, (int64_t)(1 + below(s, 2)), (int64_t)(2 + below(s, 3)));
  s->attrs.number = 1e-3;
  add(s, shape);
  add(s, tn_shape_make(1, shape.dim[1]));
  add(s, shape);
}

static void make_mean_pool_time(slope *s) {
  int64_t batch = 1 + below(s, 2), time = 1 + below(s, 3), width = 1 + below(s, 2);
  add(s, tn_shape_make(3, batch, time, width));
}

static void make_mse_loss(slope *s) {
  tn_shape shape = any_shape(s, 0, 2);
  for (int axis = 0; axis < shape.rank; axis++)
    if (shape.dim[axis] == 0) shape.dim[axis] = 1;
  add(s, shape);
  add(s, narrower(s, &shape));
}

/* ---- products ---- */
static void make_matmul(slope *s) {
  tn_shape x = any_shape(s, 0, 2), y = narrower(s, &x);
  int64_t m = 1 + below(s, 2), k = 1 + below(s, 3), n = 1 + below(s, 2);
  x.dim[x.rank++] = m, x.dim[x.rank++] = k;
  y.dim[y.rank++] = k, y.dim[y.rank++] = n;
  add(s, x);
  add(s, y);
}

static void make_linear(slope *s) {
  int64_t rows = 1 + below(s, 3), k = 1 + below(s, 3), n = 1 + below(s, 3);
  add(s, tn_shape_make(2, rows, k));
  add(s, tn_shape_make(2, k, n));
  if (one_in(s, 2)) add(s, tn_shape_make(1, n));
}

static void make_dot(slope *s) {
  tn_shape shape = tn_shape_make(1, (int64_t)below(s, 6));
  add(s, shape);
  add(s, shape);
}

static void make_attention(slope *s) {
  tn_shape shape = any_shape(s, 0, 1);
  s->attrs.index = (uint64_t)(1 + below(s, 2));
  s->attrs.causal = one_in(s, 2);
  int64_t queries = 1 + below(s, 3), keys = queries + below(s, 2);
  int64_t width = (int64_t)s->attrs.index * (1 + below(s, 2)), values = (int64_t)s->attrs.index;
  for (int i = 0; i < (s->op == TN_OP_ATTENTION ? 3 : 4); i++) {
    tn_shape of = shape;
    of.dim[of.rank++] = i == 1 || i == 2 ? keys : queries;
    of.dim[of.rank++] = i < 2 ? width : values;
    add(s, of);
  }
}

/* ---- the table ---- */
static const slope_maker special[TN_OP_COUNT] = {
  [TN_OP_SELECT] = make_select, [TN_OP_CAST] = make_cast, [TN_OP_DROPOUT] = make_dropout,
  [TN_OP_RESHAPE] = make_reshape, [TN_OP_TRANSPOSE] = make_transpose,
  [TN_OP_BROADCAST_TO] = make_broadcast_to, [TN_OP_SLICE] = make_slice, [TN_OP_PAD] = make_pad,
  [TN_OP_CONCAT] = make_concat, [TN_OP_STACK] = make_stack, [TN_OP_SQUEEZE] = make_squeeze,
  [TN_OP_EXPAND_DIMS] = make_expand_dims, [TN_OP_FLATTEN] = make_unary, [TN_OP_INDEX] = make_index,
  [TN_OP_GATHER] = make_gather, [TN_OP_EMBEDDING] = make_embedding, [TN_OP_SCATTER_ADD] = make_scatter_add,
  [TN_OP_PATCHES] = make_patches, [TN_OP_FOLD] = make_fold, [TN_OP_CONV2D] = make_conv2d,
  [TN_OP_SUM] = make_reduction, [TN_OP_MEAN] = make_reduction, [TN_OP_MAX] = make_reduction,
  [TN_OP_MIN] = make_reduction, [TN_OP_PROD] = make_reduction, [TN_OP_ELEMENTS] = make_count,
  [TN_OP_CUMSUM] = make_along, [TN_OP_CUMPROD] = make_along, [TN_OP_SOFTMAX] = make_along,
  [TN_OP_LOG_SOFTMAX] = make_along, [TN_OP_CROSS_ENTROPY] = make_cross_entropy,
  [TN_OP_LAYER_NORM] = make_layer_norm, [TN_OP_LAYER_NORM_GRAD] = make_layer_norm_grad,
  [TN_OP_MEAN_POOL_TIME] = make_mean_pool_time,
  [TN_OP_MSE_LOSS] = make_mse_loss, [TN_OP_MATMUL] = make_matmul, [TN_OP_LINEAR] = make_linear,
  [TN_OP_DOT] = make_dot, [TN_OP_ATTENTION] = make_attention, [TN_OP_ATTENTION_GRAD] = make_attention,
  [TN_OP_DEPTHWISE] = make_depthwise, [TN_OP_DEPTHWISE_IMAGE] = make_depthwise,
  [TN_OP_DEPTHWISE_WEIGHTS] = make_depthwise,
};

slope_maker slope_maker_of(tn_op op) {
  const tn_op_sig *sig = tn_op_sig_of(op);
  bool elementwise = sig->kind == TN_KIND_ELEMENTWISE || sig->kind == TN_KIND_COMPOSED;
  if (special[op]) return special[op];
  if (!elementwise || sig->attrs != 0 || !(sig->dtypes & TN_DTYPE_BIT(TN_F64))) return NULL;
  return sig->arity == 1 ? make_unary : sig->arity == 2 ? make_binary : NULL;
}

slope slope_make(tn_op op, int number) {
  slope s = { .op = op, .number = number, .step = 1e-5, .tolerance = 1e-6 };
  tn_rng_init(&s.rng, tn_rng_mix(1000 + (uint64_t)op, (uint64_t)number));
  slope_maker_of(op)(&s);
  return s;
}
