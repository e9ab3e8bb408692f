/* lang/mind/library.c: what every library function is made of, and the table of them.
 *
 * A lowering speaks to a builder and does not know whether it is being checked
 * or executed. Where the numeric result depends on an order of operations,
 * that order stands here and is part of the language:
 *
 *   arange     start + i * step in f64, rounded once to f32
 *   linspace   start + i * ((end - start) / (n - 1)) likewise; the last is end itself
 *   eye        1 where row and column are equal */
#include "lang/mind/library.h"

/* ---- elementwise, and whatever takes tensors alone ---- */

static tn_value lower_unary(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  return tn_build_unary(b, entry->op, args[0].value);
}

static tn_value lower_binary(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  return tn_build_binary(b, entry->op, args[0].value, args[1].value);
}

static tn_value lower_where(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  (void)entry;
  return tn_build_select(b, args[0].value, args[1].value, args[2].value);
}

static tn_value lower_cast(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  (void)entry;
  return tn_build_cast(b, args[0].value, args[1].dtype);
}

/* ---- sources ---- */

static tn_value filled(tn_builder *b, const tn_mind_arg *shape, const tn_mind_arg *dtype, double number) {
  tn_type type = { dtype->given ? dtype->dtype : TN_F32, shape->shape };
  return tn_build_fill(b, &type, number);
}

static tn_value lower_zeros(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  (void)entry;
  return filled(b, &args[1], &args[0], 0);
}

static tn_value lower_ones(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  (void)entry;
  return filled(b, &args[1], &args[0], 1);
}

/* A number that a variable holds may be differentiated by, so it is broadcast, not copied. */
static tn_value lower_full(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  (void)entry;
  const tn_mind_arg *value = &args[1];
  tn_dtype own = tn_build_type(b, value->value)->dtype;
  tn_dtype dtype = args[2].given ? args[2].dtype : own == TN_BOOL ? TN_BOOL : TN_F32;
  if (tn_dtype_in(own, TN_FLOATS) && !tn_dtype_in(dtype, TN_FLOATS | TN_STORAGE)) {
    tn_fault fault = { .kind = TN_FAULT_DTYPE, .left.dtype = dtype, .right.dtype = own };
    return tn_build_fault(b, TN_OP_FILL, fault);
  }
  if (value->plain && own != TN_I64)
    return tn_build_fill(b, &(tn_type){ dtype, args[0].shape }, value->number);
  return tn_build_broadcast_to(b, tn_build_cast(b, value->value, dtype), &args[0].shape);
}

static tn_value lower_random(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  tn_attrs attrs = { .shape = args[0].shape, .index = (uint64_t)args[TN_MIND_KEY].integer };
  return tn_build(b, entry->op, &args[TN_MIND_KEY].value, 1, &attrs);
}

static tn_value iota(tn_builder *b, tn_dtype dtype, const tn_shape *shape, int axis) {
  tn_attrs attrs = { .dtype = dtype, .shape = *shape, .axis = axis };
  return tn_build(b, TN_OP_IOTA, NULL, 0, &attrs);
}

static tn_value bad_argument(tn_builder *b, const tn_mind_entry *entry, const char *expected, int64_t got) {
  return tn_build_fault(b, entry->op,
                        (tn_fault){ .kind = TN_FAULT_ARGUMENT, .reason = expected, .got = got });
}

static int64_t size_of(const tn_mind_arg *arg) {
  return arg->symbol ? TN_DIM_SYMBOL(arg->symbol) : arg->integer;
}

static tn_value lower_eye(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  int64_t n = size_of(&args[0]);
  if (args[0].integer < 0) return bad_argument(b, entry, "a size of at least 1", args[0].integer);
  tn_shape shape = tn_shape_make(2, n, n);
  tn_value equal = tn_build_binary(b, TN_OP_EQ, iota(b, TN_I64, &shape, 0), iota(b, TN_I64, &shape, 1));
  return tn_build_cast(b, equal, args[1].given ? args[1].dtype : TN_F32);
}

/* start + i * step for i < count; count may be unknown. */
static tn_value ramp(tn_builder *b, int64_t count, tn_value start, tn_value step) {
  tn_shape shape = tn_shape_make(1, count);
  tn_value places = iota(b, TN_F64, &shape, 0);
  return tn_build_binary(b, TN_OP_ADD, start, tn_build_binary(b, TN_OP_MUL, places, step));
}

static tn_value wide(tn_builder *b, const tn_mind_arg *arg, double otherwise) {
  return arg->given ? tn_build_cast(b, arg->value, TN_F64) : tn_build_number(b, TN_F64, otherwise);
}

static tn_value lower_arange(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  double step = args[2].given ? args[2].number : 1, from = args[0].number, to = args[1].number;
  bool known = from == from && to == to && step == step;
  int64_t count = TN_DIM_UNKNOWN;
  if (step == 0) return bad_argument(b, entry, "a step other than 0", 0);
  if (known) {
    double steps = (to - from) / step, whole = (double)tn_i64_from_f64(steps);
    count = steps > 0 ? tn_i64_from_f64(whole < steps ? whole + 1 : whole) : 0;
  }
  return tn_build_cast(b, ramp(b, count, wide(b, &args[0], 0), wide(b, &args[2], 1)), TN_F32);
}

static tn_value lower_linspace(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  int64_t n = size_of(&args[2]);
  if (args[2].integer < 0) return bad_argument(b, entry, "a size of at least 1", args[2].integer);
  tn_value start = wide(b, &args[0], 0), end = wide(b, &args[1], 0);
  double gaps = n > 1 ? (double)(n - 1) : 1;
  tn_value step = tn_build_binary(b, TN_OP_DIV, tn_build_binary(b, TN_OP_SUB, end, start),
                                  tn_build_number(b, TN_F64, gaps));
  tn_value values = ramp(b, n, start, step);
  if (n > 1) {
    tn_shape shape = tn_shape_make(1, n);
    tn_value last =
        tn_build_binary(b, TN_OP_EQ, iota(b, TN_F64, &shape, 0), tn_build_number(b, TN_F64, gaps));
    values = tn_build_select(b, last, end, values);
  }
  return tn_build_cast(b, values, TN_F32);
}

/* ---- arranging ---- */

/* An axis that an attribute cannot even hold is out of range of everything. */
static bool set_axis(tn_builder *b, const tn_mind_entry *entry, tn_value x, int64_t axis, int32_t *out) {
  *out = (int32_t)axis;
  if (*out == axis) return true;
  tn_fault fault = { .kind = TN_FAULT_AXIS, .axis = axis, .left = *tn_build_type(b, x) };
  tn_build_fault(b, entry->op, fault);
  return false;
}

static bool set_axes(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args, tn_attrs *attrs) {
  const tn_mind_arg *axes = &args[1];
  attrs->axis_count = axes->given ? axes->count : -1;
  if (axes->count > TN_RANK_LIMIT) {
    tn_build_fault(b, entry->op, (tn_fault){ .kind = TN_FAULT_RANK_LIMIT, .got = axes->count });
    return false;
  }
  for (int i = 0; i < attrs->axis_count; i++) {
    if (!set_axis(b, entry, args[0].value, axes->integers[i], &attrs->axes[i])) return false;
  }
  return true;
}

static tn_value lower_reshape(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  return tn_build(b, entry->op, &args[0].value, 1, &(tn_attrs){ .shape = args[1].shape });
}

/* transpose, squeeze, and the reductions, whose third parameter is keepdims */
static tn_value lower_axes(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  tn_attrs attrs = { .keepdims = entry->count > 2 && args[2].truth };
  if (!set_axes(b, entry, args, &attrs)) return TN_ERROR_VALUE;
  return tn_build(b, entry->op, &args[0].value, 1, &attrs);
}

static tn_value lower_axis(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  tn_attrs attrs = { 0 };
  int64_t axis = args[1].given ? args[1].integer : -1;
  if (!set_axis(b, entry, args[0].value, axis, &attrs.axis)) return TN_ERROR_VALUE;
  return tn_build(b, entry->op, &args[0].value, 1, &attrs);
}

static tn_value lower_flatten(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  return tn_build(b, entry->op, &args[0].value, 1, NULL);
}

static tn_value lower_join(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  tn_attrs attrs = { .axis = 0 };
  if (!set_axis(b, entry, args[0].values[0], args[1].integer, &attrs.axis)) return TN_ERROR_VALUE;
  return tn_build(b, entry->op, args[0].values, args[0].count, &attrs);
}

static tn_value empty_slice(tn_builder *b, const tn_mind_entry *entry, tn_type of, int axis,
                            const tn_mind_arg *args) {
  int64_t start = args[2].integer, end = args[3].integer;
  tn_fault fault = { .kind = TN_FAULT_BOUNDS,
                     .left = of,
                     .axis = axis,
                     .got = start,
                     .expected = of.shape.dim[axis],
                     .right.shape = tn_shape_make(2, start, end),
                     .reason = "an empty slice" };
  return tn_build_fault(b, entry->op, fault);
}

static tn_value lower_slice(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  if (args[0].value == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  tn_type of = *tn_build_type(b, args[0].value);
  int axis;
  if (!tn_shape_axis(of.shape.rank, args[1].integer, &axis)) {
    return tn_build_fault(b, entry->op,
                          (tn_fault){ .kind = TN_FAULT_AXIS, .axis = args[1].integer, .left = of });
  }
  int64_t step = args[4].given ? args[4].integer : 1;
  if (step < 1) return bad_argument(b, entry, "a step of at least 1", step);
  tn_value made = tn_build_slice(b, args[0].value, axis, args[2].integer, args[3].integer, step);
  if (made == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  bool empty = tn_build_type(b, made)->shape.dim[axis] == 0;
  return empty ? empty_slice(b, entry, of, axis, args) : made;
}

static tn_value lower_index(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  tn_attrs attrs = { .index = (uint64_t)args[2].integer };
  if (!set_axis(b, entry, args[0].value, args[1].integer, &attrs.axis)) return TN_ERROR_VALUE;
  return tn_build(b, entry->op, &args[0].value, 1, &attrs);
}

static tn_value lower_gather(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  const tn_value in[] = { args[0].value, args[1].value };
  tn_attrs attrs = { .axis = 0 };
  if (!set_axis(b, entry, in[0], args[2].integer, &attrs.axis)) return TN_ERROR_VALUE;
  return tn_build(b, entry->op, in, 2, &attrs);
}

/* Without an axis, of all elements in a row. */
static tn_value lower_argmax(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  tn_attrs attrs = { .axis = 0 };
  tn_value x = args[0].value;
  if (!set_axis(b, entry, x, args[1].integer, &attrs.axis)) return TN_ERROR_VALUE;
  if (!args[1].given) x = tn_build(b, TN_OP_FLATTEN, &x, 1, NULL);
  return tn_build(b, entry->op, &x, 1, &attrs);
}

/* ---- products, normalisations, losses ---- */

bool tn_mind_is_padding(tn_str text) { return tn_str_is(text, "valid") || tn_str_is(text, "same"); }

static tn_value lower_conv2d(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  const tn_value in[] = { args[0].value, args[1].value };
  tn_attrs attrs = { .step = { 1, 1 }, .same = args[3].given && tn_str_is(args[3].text, "same") };
  if (args[2].given) {
    if (args[2].count != 1 && args[2].count != 2) return bad_argument(b, entry, "two strides", args[2].count);
    attrs.step[0] = args[2].integers[0];
    attrs.step[1] = args[2].integers[args[2].count - 1];
    for (int i = 0; i < 2; i++) {
      if (attrs.step[i] < 1) return bad_argument(b, entry, "a stride of at least 1", attrs.step[i]);
    }
  }
  int64_t groups = args[4].given ? args[4].integer : 1;
  if (groups < 1) return bad_argument(b, entry, "at least 1 group", groups);
  attrs.index = (uint64_t)groups;
  return tn_build(b, entry->op, in, 2, &attrs);
}

static tn_value lower_layer_norm(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  const tn_value in[] = { args[0].value, args[1].value, args[2].value };
  return tn_build(b, entry->op, in, 3, &(tn_attrs){ .number = args[3].given ? args[3].number : 1e-5 });
}

static tn_value lower_attention(tn_builder *b, const tn_mind_entry *entry, const tn_mind_arg *args) {
  const tn_value in[] = { args[0].value, args[1].value, args[2].value };
  int64_t heads = args[3].given ? args[3].integer : 1;
  if (heads < 1) return bad_argument(b, entry, "at least 1 head", heads);
  return tn_build(b, entry->op, in, 3,
                  &(tn_attrs){ .index = (uint64_t)heads, .causal = args[4].given && args[4].truth });
}

/* ---- the table ---- */

#define X                                                                                                    \
  { "x", TN_MIND_P_TENSOR, NULL }
#define AXES                                                                                                 \
  { "axes", TN_MIND_P_INTS, "all" }
#define UNARY(NAME, OP, DOC)                                                                                 \
  {                                                                                                          \
    NAME, DOC, lower_unary, OP, .elementwise = true, .count = 1, .params = { X }                             \
  }
#define REDUCTION(NAME, OP, DOC)                                                                             \
  {                                                                                                          \
    NAME, DOC, lower_axes, OP, .count = 3, .params = { X, AXES, { "keepdims", TN_MIND_P_TRUTH, "false" } }   \
  }
#define BINARY(NAME, OP, DOC)                                                                                \
  {                                                                                                          \
    NAME, DOC, lower_binary, OP, .elementwise = true, .count = 2, .params = {                                \
      X,                                                                                                     \
      { "y", TN_MIND_P_TENSOR, NULL }                                                                        \
    }                                                                                                        \
  }
#define TRANSFORM(NAME, SPECIAL, DOC)                                                                        \
  {                                                                                                          \
    NAME, DOC, NULL, TN_OP_ERROR, .special = SPECIAL, .count = 1, .params = {                                \
      { "f", TN_MIND_P_FUNCTION, NULL }                                                                      \
    }                                                                                                        \
  }

/* Elementwise functions and reductions are defined in ops.def. */
#define MIND_UNARY(NAME, OP, DOC)     UNARY(NAME, TN_OP_##OP, DOC),
#define MIND_BINARY(NAME, OP, DOC)    BINARY(NAME, TN_OP_##OP, DOC),
#define MIND_REDUCTION(NAME, OP, DOC) REDUCTION(NAME, TN_OP_##OP, DOC),
static const tn_mind_entry entries[] = {
#define TN_OP(id, ...) __VA_ARGS__
#define TN_MIND(...)   __VA_ARGS__
#include "op/ops.def"
  { "arange", "start, start + step, ... up to end, which is not included; f32", lower_arange, TN_OP_IOTA,
    .makes = true, .count = 3,
    .params = { { "start", TN_MIND_P_SCALAR, NULL },
                { "end", TN_MIND_P_SCALAR, NULL },
                { "step", TN_MIND_P_SCALAR, "1" } } },
  { "argmax", "the index of the largest element, i32; the first on a tie", lower_argmax, TN_OP_ARGMAX,
    .count = 2, .params = { X, { "axis", TN_MIND_P_INT, "of all elements" } } },
  { "attention", "softmax(q k^T / sqrt(d)) v for each head; causal: a query sees no later key",
    lower_attention, TN_OP_ATTENTION, .count = 5,
    .params = { { "q", TN_MIND_P_TENSOR, NULL },
                { "k", TN_MIND_P_TENSOR, NULL },
                { "v", TN_MIND_P_TENSOR, NULL },
                { "heads", TN_MIND_P_INT, "1" },
                { "causal", TN_MIND_P_TRUTH, "false" } } },
  { "cast", "the elements in another dtype", lower_cast, TN_OP_CAST, .elementwise = true, .count = 2,
    .params = { X, { "dtype", TN_MIND_P_DTYPE, NULL } } },
  { "concat", "tensors one after another along an axis", lower_join, TN_OP_CONCAT, .count = 2,
    .params = { { "tensors", TN_MIND_P_TENSORS, NULL }, { "axis", TN_MIND_P_INT, "0" } } },
  { "conv2d", "images [n, h, w, c] with filters [kh, kw, c / groups, o]", lower_conv2d, TN_OP_CONV2D,
    .count = 5,
    .params = { X,
                { "w", TN_MIND_P_TENSOR, NULL },
                { "strides", TN_MIND_P_INTS, "[1, 1]" },
                { "padding", TN_MIND_P_TEXT, "\"valid\"" },
                { "groups", TN_MIND_P_INT, "1" } } },
  { "cross_entropy", "mean of -log softmax at the label of each row", lower_binary, TN_OP_CROSS_ENTROPY,
    .count = 2, .params = { { "logits", TN_MIND_P_TENSOR, NULL }, { "labels", TN_MIND_P_INDICES, NULL } } },
  { "dot", "sum of products of two vectors", lower_binary, TN_OP_DOT, .count = 2,
    .params = { X, { "y", TN_MIND_P_TENSOR, NULL } } },
  { "dtype", "the name of the dtype, a string", NULL, TN_OP_ERROR, .special = TN_MIND_DTYPE_OF, .count = 1,
    .params = { X } },
  { "expand_dims", "a new dimension of size 1", lower_axis, TN_OP_EXPAND_DIMS, .count = 2,
    .params = { X, { "axis", TN_MIND_P_INT, NULL } } },
  { "eye", "the identity matrix of n rows, f32", lower_eye, TN_OP_IOTA, .makes = true, .count = 2,
    .params = { { "n", TN_MIND_P_INT, NULL }, { "dtype", TN_MIND_P_DTYPE, "f32" } } },
  { "flatten", "all elements in a row", lower_flatten, TN_OP_FLATTEN, .count = 1, .params = { X } },
  { "fold", "the last state of a loop: state = f(state, item) for every item, or a number of times", NULL,
    TN_OP_ERROR, .special = TN_MIND_FOLD, .count = 3,
    .params = { { "f", TN_MIND_P_FUNCTION, NULL },
                { "init", TN_MIND_P_ANY, NULL },
                { "over", TN_MIND_P_ANY, NULL } } },
  { "full", "one number everywhere", lower_full, TN_OP_FILL, .makes = true, .count = 3,
    .params = { { "shape", TN_MIND_P_SHAPE, NULL },
                { "value", TN_MIND_P_SCALAR, NULL },
                { "dtype", TN_MIND_P_DTYPE, "f32" } } },
  { "gather", "the places idx of an axis", lower_gather, TN_OP_GATHER, .count = 3,
    .params = { X, { "idx", TN_MIND_P_INDICES, NULL }, { "axis", TN_MIND_P_INT, "0" } } },
  { "grad", "gradients of a number (wrt=[x, W]), or the gradient of a function", NULL, TN_OP_ERROR,
    .special = TN_MIND_GRAD, .count = 2,
    .params = { { "loss", TN_MIND_P_ANY, NULL },
                { "wrt", TN_MIND_P_NAMES, "all float tensors it depends on" } } },
  TRANSFORM("hessian", TN_MIND_HESSIAN, "the function that gives all second derivatives of f"),
  { "index", "one index of an axis, which is removed; also x[i]", lower_index, TN_OP_INDEX, .count = 3,
    .params = { X, { "axis", TN_MIND_P_INT, NULL }, { "i", TN_MIND_P_INT, NULL } } },
  TRANSFORM("jacobian", TN_MIND_JACOBIAN,
            "the function that gives all derivatives of f: output dims, then input dims"),
  { "jvp", "(f(x), its change along v)", NULL, TN_OP_ERROR, .special = TN_MIND_JVP, .count = 3,
    .params = { { "f", TN_MIND_P_FUNCTION, NULL },
                { "x", TN_MIND_P_ANY, NULL },
                { "v", TN_MIND_P_ANY, NULL } } },
  { "layer_norm", "normalised over the last dimension, scaled by gamma, moved by beta", lower_layer_norm,
    TN_OP_LAYER_NORM, .count = 4,
    .params = { X,
                { "gamma", TN_MIND_P_TENSOR, NULL },
                { "beta", TN_MIND_P_TENSOR, NULL },
                { "eps", TN_MIND_P_NUMBER, "1e-5" } } },
  { "linspace", "n numbers from start to end, both included; f32", lower_linspace, TN_OP_IOTA, .makes = true,
    .count = 3,
    .params = { { "start", TN_MIND_P_SCALAR, NULL },
                { "end", TN_MIND_P_SCALAR, NULL },
                { "n", TN_MIND_P_INT, NULL } } },
  { "load", "the tensors that `save` wrote, for the same names", NULL, TN_OP_ERROR, .special = TN_MIND_LOAD,
    .effects = TN_MIND_FILEREAD, .count = 2,
    .params = { { "path", TN_MIND_P_TEXT, NULL }, { "names", TN_MIND_P_NAMES, NULL } } },
  { "log_softmax", "log of softmax along an axis", lower_axis, TN_OP_LOG_SOFTMAX, .count = 2,
    .params = { X, { "axis", TN_MIND_P_INT, "-1" } } },
  { "matmul", "matrix product; leading dimensions broadcast; also x @ y", lower_binary, TN_OP_MATMUL,
    .count = 2, .params = { X, { "y", TN_MIND_P_TENSOR, NULL } } },
  { "mse_loss", "mean of squared differences", lower_binary, TN_OP_MSE_LOSS, .count = 2,
    .params = { { "a", TN_MIND_P_TENSOR, NULL }, { "b", TN_MIND_P_TENSOR, NULL } } },
  { "now", "seconds since 1970", NULL, TN_OP_ERROR, .special = TN_MIND_NOW, .effects = TN_MIND_CLOCK,
    .count = 0 },
  { "ones", "ones of a shape; ones(i32, shape) of a dtype", lower_ones, TN_OP_FILL, .makes = true,
    .leading_dtype = true, .count = 2,
    .params = { { "dtype", TN_MIND_P_DTYPE, "f32" }, { "shape", TN_MIND_P_SHAPE, NULL } } },
  { "print", "prints a line", NULL, TN_OP_ERROR, .special = TN_MIND_PRINT, .effects = TN_MIND_IO, .count = 1,
    .params = { { "x", TN_MIND_P_ANY, NULL } } },
  { "rand", "random numbers from 0 to 1", lower_random, TN_OP_UNIFORM,
    .effects = TN_MIND_RANDOM, .makes = true, .count = 1, .params = { { "shape", TN_MIND_P_SHAPE, NULL } } },
  { "randn", "normal random numbers", lower_random, TN_OP_NORMAL,
    .effects = TN_MIND_RANDOM, .makes = true, .count = 1, .params = { { "shape", TN_MIND_P_SHAPE, NULL } } },
  { "rank", "the number of dimensions, i32", NULL, TN_OP_ERROR, .special = TN_MIND_RANK_OF, .count = 1,
    .params = { X } },
  { "read", "the text of a file", NULL, TN_OP_ERROR, .special = TN_MIND_READ, .effects = TN_MIND_FILEREAD,
    .count = 1, .params = { { "path", TN_MIND_P_TEXT, NULL } } },
  { "read_bytes", "the bytes of a file, i32", NULL, TN_OP_ERROR, .special = TN_MIND_READ_BYTES,
    .effects = TN_MIND_FILEREAD, .count = 1, .params = { { "path", TN_MIND_P_TEXT, NULL } } },
  { "read_csv", "the numbers of a table, f32: rows, columns", NULL, TN_OP_ERROR, .special = TN_MIND_READ_CSV,
    .effects = TN_MIND_FILEREAD, .count = 1, .params = { { "path", TN_MIND_P_TEXT, NULL } } },
  { "read_npy", "an array of NumPy with so many dimensions", NULL, TN_OP_ERROR, .special = TN_MIND_READ_NPY,
    .effects = TN_MIND_FILEREAD, .count = 3,
    .params = { { "path", TN_MIND_P_TEXT, NULL },
                { "rank", TN_MIND_P_INT, NULL },
                { "dtype", TN_MIND_P_DTYPE, "f32" } } },
  { "reshape", "the same elements with another shape; one dimension may be -1", lower_reshape, TN_OP_RESHAPE,
    .count = 2, .params = { X, { "shape", TN_MIND_P_SHAPE, NULL } } },
  { "save", "writes tensors to a file of safetensors, under their names", NULL, TN_OP_ERROR,
    .special = TN_MIND_SAVE, .effects = TN_MIND_FILEWRITE, .count = 2,
    .params = { { "path", TN_MIND_P_TEXT, NULL }, { "names", TN_MIND_P_NAMES, NULL } } },
  { "scan", "a loop whose f gives (state, value): the last state, and all values as one tensor", NULL,
    TN_OP_ERROR, .special = TN_MIND_SCAN, .count = 3,
    .params = { { "f", TN_MIND_P_FUNCTION, NULL },
                { "init", TN_MIND_P_ANY, NULL },
                { "over", TN_MIND_P_ANY, NULL } } },
  { "shape", "the sizes of the dimensions", NULL, TN_OP_ERROR, .special = TN_MIND_SHAPE_OF, .count = 1,
    .params = { X } },
  { "slice", "every step-th element of an axis from start to end, which is not included", lower_slice,
    TN_OP_SLICE, .count = 5,
    .params = { X,
                { "axis", TN_MIND_P_INT, NULL },
                { "start", TN_MIND_P_INT, NULL },
                { "end", TN_MIND_P_INT, NULL },
                { "step", TN_MIND_P_INT, "1" } } },
  { "softmax", "e^x divided by its sum along an axis", lower_axis, TN_OP_SOFTMAX, .count = 2,
    .params = { X, { "axis", TN_MIND_P_INT, "-1" } } },
  { "squeeze", "without dimensions of size 1", lower_axes, TN_OP_SQUEEZE, .count = 2,
    .params = { X, { "axes", TN_MIND_P_INTS, "all of size 1" } } },
  { "stack", "tensors of one shape along a new axis", lower_join, TN_OP_STACK, .count = 2,
    .params = { { "tensors", TN_MIND_P_TENSORS, NULL }, { "axis", TN_MIND_P_INT, "0" } } },
  { "to", "the same tensor on a device: cpu or gpu", NULL, TN_OP_ERROR, .special = TN_MIND_TO_DEVICE,
    .count = 2, .params = { X, { "device", TN_MIND_P_DEVICE, NULL } } },
  { "transpose", "the dimensions in another order", lower_axes, TN_OP_TRANSPOSE, .count = 2,
    .params = { X, { "axes", TN_MIND_P_INTS, "reversed" } } },
  TRANSFORM("value_and_grad", TN_MIND_VALUE_AND_GRAD, "the function that gives (f(x), its gradient)"),
  { "vjp", "(f(x), the function that pulls a gradient back to x)", NULL, TN_OP_ERROR, .special = TN_MIND_VJP,
    .count = 2, .params = { { "f", TN_MIND_P_FUNCTION, NULL }, { "x", TN_MIND_P_ANY, NULL } } },
  { "where", "x where the condition is true, else y", lower_where, TN_OP_SELECT, .count = 3,
    .params = { { "condition", TN_MIND_P_TENSOR, NULL }, X, { "y", TN_MIND_P_TENSOR, NULL } } },
  { "zeros", "zeros of a shape; zeros(i32, shape) of a dtype", lower_zeros, TN_OP_FILL, .makes = true,
    .leading_dtype = true, .count = 2,
    .params = { { "dtype", TN_MIND_P_DTYPE, "f32" }, { "shape", TN_MIND_P_SHAPE, NULL } } },
};
#define ENTRY_COUNT (sizeof entries / sizeof *entries)

const tn_mind_entry *tn_mind_library(size_t *count) {
  *count = ENTRY_COUNT;
  return entries;
}

/* Every name of a program that is bound to nothing else is looked for: two letters tell most apart. */
const tn_mind_entry *tn_mind_library_find(tn_str name) {
  char first = name.len ? name.at[0] : 0, second = name.len > 1 ? name.at[1] : 0;
  for (size_t i = 0; i < ENTRY_COUNT; i++) {
    const char *own = entries[i].name;
    if (own[0] == first && own[1] == second && tn_str_is(name, own)) return &entries[i];
  }
  return NULL;
}

void tn_mind_openers(tn_names *names, tn_name *out) {
  int count = 0;
  for (size_t i = 0; i < ENTRY_COUNT && count < TN_MIND_OPENER_COUNT; i++) {
    if (entries[i].effects & (TN_MIND_FILEREAD | TN_MIND_FILEWRITE))
      out[count++] = tn_names_intern(names, tn_str_of(entries[i].name));
  }
}

tn_mind_entry tn_mind_operator_entry(tn_op op, int count) {
  return (tn_mind_entry){ .name = tn_op_sig_of(op)->name,
                          .lower = count == 1 ? lower_unary : lower_binary,
                          .op = op,
                          .count = (uint8_t)count,
                          .params = { X, X } };
}

int tn_mind_entry_required(const tn_mind_entry *entry) {
  int required = 0;
  for (int i = 0; i < entry->count; i++) required += !entry->params[i].otherwise;
  return required;
}

bool tn_mind_entry_needs_floats(const tn_mind_entry *entry) {
  uint32_t takes = tn_op_sig_of(entry->op)->dtypes;
  return (takes & TN_FLOATS) && !(takes & TN_INTS);
}

/* `axis` means `axes` where there is only that. */
int tn_mind_entry_parameter(const tn_mind_entry *entry, tn_str name) {
  for (int i = 0; i < entry->count; i++) {
    if (tn_str_is(name, entry->params[i].name)) return i;
  }
  for (int i = 0; i < entry->count; i++) {
    if (tn_str_is(name, "axis") && tn_str_is(TN_LIT("axes"), entry->params[i].name)) return i;
  }
  return -1;
}

void tn_mind_entry_print(const tn_mind_entry *entry, tn_text *out) {
  tn_text_puts(out, entry->name);
  tn_text_byte(out, '(');
  for (int i = 0; i < entry->count; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_text_puts(out, entry->params[i].name);
    if (!entry->params[i].otherwise) continue;
    tn_text_byte(out, '=');
    tn_text_puts(out, entry->params[i].otherwise);
  }
  tn_text_byte(out, ')');
}
