/* export/onnx_ops.c: writes operations in ONNX.
 *
 * Most have an ONNX operator. Some runtimes support an operator for f32 only: erf and cos of f64
 * are computed in f32. Windows of an image are concatenated slices. */
#include <string.h>

#include "export/draw.h"
#include "export/element.h"
#include "export/onnx_internal.h"

/* ---- elementwise ---- */

/* Empty when ONNX cannot say it. */
typedef tn_str (*row_writer)(tn_onnx *w, tn_op op, tn_dtype dtype, const tn_str *in);
typedef struct {
  row_writer write;
  const char *word;
  tn_dtype_set takes; /* the dtypes that runtimes know the word for */
} spelling;
static const spelling spellings[TN_OP_COUNT];

static tn_str element(tn_onnx *w, tn_op op, tn_dtype dtype, const tn_str *in) {
  return spellings[op].write ? spellings[op].write(w, op, dtype, in) : (tn_str){ 0 };
}

static tn_str word_number(void *writer, tn_dtype dtype, double number) {
  return tn_onnx_number(writer, dtype, number);
}

static tn_str word_choose(void *writer, tn_dtype dtype, const tn_str *in) {
  (void)dtype;
  return tn_onnx_op(writer, "Where", in, 3);
}

static tn_str word_element(void *writer, tn_op op, tn_dtype dtype, const tn_str *in) {
  return element(writer, op, dtype, in);
}

/* recursion: the operations of a formula; a formula that is the operation itself has none. */
static tn_str formula(tn_onnx *w, tn_op op, tn_dtype dtype, const tn_str *in) {
  const tn_export_words words = { w, word_number, word_choose, word_element };
  return tn_export_formula(&words, op, dtype, in);
}

static tn_str word(tn_onnx *w, tn_op op, tn_dtype dtype, const tn_str *in) {
  if (!tn_dtype_in(dtype, spellings[op].takes)) return formula(w, op, dtype, in);
  return tn_onnx_op(w, spellings[op].word, in, tn_op_sig_of(op)->arity);
}

/* f64 through f32. */
static tn_str narrow(tn_onnx *w, tn_op op, tn_dtype dtype, const tn_str *in) {
  if (dtype == TN_F32) return TN_ONNX_OP(w, spellings[op].word, in[0]);
  tn_str single = tn_onnx_cast(w, in[0], TN_ONNX_FLOAT), made = TN_ONNX_OP(w, spellings[op].word, single);
  return tn_onnx_cast(w, made, TN_ONNX_DOUBLE);
}

static tn_str modulo(tn_onnx *w, tn_op op, tn_dtype dtype, const tn_str *in) {
  (void)dtype;
  tn_onnx_attr_int(w, "fmod", 1);
  return tn_onnx_op(w, spellings[op].word, in, 2);
}

static const spelling spellings[TN_OP_COUNT] = {
#define ONNX_WORD(text, takes) { word, text, takes }
#define ONNX_NARROW(text)      { narrow, text, TN_FLOATS }
#define ONNX_MOD(text)         { modulo, text, TN_NUMBERS }
#define ONNX_FORMULA           { formula, NULL, 0 }
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, NANS,   \
                   COST, FAILS, AIL, MIND, NINTH, MLIR, ONNX)                                                \
  [TN_OP_##ID] = ONNX,
#include "op/elementwise.def"
};

bool tn_onnx_elementwise(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str in[3], made;
  for (int i = 0; i < node->count; i++) in[i] = w->values[node->in[i]];
  if (node->op == TN_OP_CAST)
    made = tn_onnx_cast(w, in[0], tn_onnx_dtype(node->type.dtype));
  else if (node->op == TN_OP_SELECT)
    made = tn_onnx_op(w, "Where", in, 3);
  else
    made = element(w, node->op, tn_graph_type(w->graph, node->in[0])->dtype, in);
  if (!made.len) return tn_onnx_unsupported(w, "this operation in ONNX", node->at);
  w->values[value] = made;
  return true;
}

/* ---- sources ---- */

static tn_str filled(tn_onnx *w, const tn_node *node) {
  tn_str number = tn_onnx_number(w, node->type.dtype, node->attrs->number);
  if (node->type.shape.rank == 0) return number;
  tn_str shape = tn_onnx_shape(w, &node->type.shape, node->at);
  return shape.len ? TN_ONNX_OP(w, "Expand", number, shape) : (tn_str){ 0 };
}

/* 0, 1, 2, ... along the axis, stretched over the others. */
static tn_str counted(tn_onnx *w, const tn_node *node) {
  int axis = node->attrs->axis, rank = node->type.shape.rank;
  tn_shape own = { .rank = 1, .dim = { node->type.shape.dim[axis] } };
  int64_t after[TN_RANK_LIMIT];
  tn_str length = tn_onnx_shape(w, &own, node->at), whole = tn_onnx_shape(w, &node->type.shape, node->at);
  if (!length.len || !whole.len) return (tn_str){ 0 };
  tn_str none = tn_onnx_ints(w, NULL, 0), zero = tn_onnx_number(w, TN_I64, 0);
  tn_str end = TN_ONNX_OP(w, "Reshape", length, none), one = tn_onnx_number(w, TN_I64, 1);
  tn_str whole_line = TN_ONNX_OP(w, "Range", zero, end, one);
  tn_str line = tn_onnx_cast(w, whole_line, tn_onnx_dtype(node->type.dtype));
  for (int i = axis + 1; i < rank; i++) after[i - axis - 1] = i - axis;
  if (axis + 1 < rank) {
    tn_str axes = tn_onnx_ints(w, after, rank - axis - 1);
    line = TN_ONNX_OP(w, "Unsqueeze", line, axes);
  }
  return TN_ONNX_OP(w, "Expand", line, whole);
}

static tn_str drawn(tn_onnx *w, const tn_node *node, tn_draw next) {
  tn_tensor numbers;
  if (!tn_export_can_draw(w->graph, node)) {
    tn_onnx_unsupported(w, "random numbers of a shape that is not known", node->at);
    return (tn_str){ 0 };
  }
  if (!tn_export_draw(w->graph, node, next, w->heap, &numbers)) {
    tn_onnx_fail(w);
    return (tn_str){ 0 };
  }
  tn_str made = tn_onnx_constant(w, &numbers.view);
  tn_tensor_unref(&numbers);
  return made;
}

static tn_str drawn_evenly(tn_onnx *w, const tn_node *node) { return drawn(w, node, tn_rng_uniform); }
static tn_str drawn_normally(tn_onnx *w, const tn_node *node) { return drawn(w, node, tn_rng_normal); }

static bool give(tn_onnx *w, tn_value value, tn_str made) {
  w->values[value] = made;
  return made.len > 0;
}
/* A writer that gives what a function makes of the node. */
#define GIVES(name, make)                                                                                    \
  bool tn_onnx_##name(tn_onnx *w, tn_value value) {                                                          \
    return give(w, value, make(w, tn_graph_node(w->graph, value)));                                          \
  }

bool tn_onnx_literal(tn_onnx *w, tn_value value) {
  return give(w, value, tn_onnx_constant(w, &tn_graph_node(w->graph, value)->attrs->literal->view));
}
GIVES(fill, filled)
GIVES(iota, counted)
GIVES(uniform, drawn_evenly)
GIVES(normal, drawn_normally)

/* ---- moving ---- */

static tn_str permuted(tn_onnx *w, tn_str x, const int32_t *axes, int rank) {
  int64_t order[TN_RANK_LIMIT];
  for (int i = 0; i < rank; i++) order[i] = axes[i];
  tn_onnx_attr_ints(w, "perm", order, rank);
  return TN_ONNX_OP(w, "Transpose", x);
}

static tn_str sliced(tn_onnx *w, tn_str x, const int64_t *low, const int64_t *high, const int64_t *step,
                     int rank) {
  int64_t axes[TN_RANK_LIMIT];
  for (int i = 0; i < rank; i++) axes[i] = i;
  tn_str from = tn_onnx_ints(w, low, rank), to = tn_onnx_ints(w, high, rank);
  tn_str all = tn_onnx_ints(w, axes, rank), by = tn_onnx_ints(w, step, rank);
  return TN_ONNX_OP(w, "Slice", x, from, to, all, by);
}

static tn_str padded(tn_onnx *w, tn_str x, tn_dtype dtype, const int64_t *low, const int64_t *high,
                     int rank) {
  int64_t both[2 * TN_RANK_LIMIT];
  memcpy(both, low, (size_t)rank * sizeof *both);
  memcpy(both + rank, high, (size_t)rank * sizeof *both);
  tn_str zero = tn_onnx_number(w, dtype, 0), pads = tn_onnx_ints(w, both, 2 * rank);
  return TN_ONNX_OP(w, "Pad", x, pads, zero);
}

bool tn_onnx_pad(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  int rank = node->type.shape.rank;
  for (int i = 0; i < rank; i++) {
    if (node->attrs->step[i])
      return tn_onnx_unsupported(w, "zeros between the elements of a tensor in ONNX", node->at);
  }
  tn_str x = w->values[node->in[0]];
  w->values[value] = rank ? padded(w, x, node->type.dtype, node->attrs->low, node->attrs->high, rank) : x;
  return true;
}

bool tn_onnx_reshape(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_shape shape = node->type.shape;
  int open = 0;
  for (int i = 0; i < shape.rank; i++) open += !tn_dim_is_known(shape.dim[i]);
  tn_str x = w->values[node->in[0]], to;
  if (open == 1) { /* one length follows from the others */
    for (int i = 0; i < shape.rank; i++) shape.dim[i] = tn_dim_is_known(shape.dim[i]) ? shape.dim[i] : -1;
    to = tn_onnx_ints(w, shape.dim, shape.rank);
  } else {
    to = tn_onnx_shape(w, &shape, node->at);
  }
  if (!to.len) return false;
  w->values[value] = TN_ONNX_OP(w, "Reshape", x, to);
  return true;
}

bool tn_onnx_broadcast_to(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str shape = tn_onnx_shape(w, &node->type.shape, node->at);
  if (!shape.len) return false;
  w->values[value] = TN_ONNX_OP(w, "Expand", w->values[node->in[0]], shape);
  return true;
}

bool tn_onnx_concat(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str *parts = tn_arena_array(&w->arena, (size_t)node->count, sizeof *parts);
  if (!parts) return false;
  for (int i = 0; i < node->count; i++) parts[i] = w->values[node->in[i]];
  tn_onnx_attr_int(w, "axis", node->attrs->axis);
  w->values[value] = tn_onnx_op(w, "Concat", parts, node->count);
  return true;
}

/* The axis first, then the others: what ScatterND adds to are rows. */
bool tn_onnx_scatter_add(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  int axis = node->attrs->axis, rank = node->type.shape.rank, index_rank;
  int32_t x_order[TN_RANK_LIMIT], y_order[TN_RANK_LIMIT], back[TN_RANK_LIMIT];
  index_rank = tn_graph_type(w->graph, node->in[1])->shape.rank;
  x_order[0] = axis;
  for (int i = 0, next = 1; i < rank; i++) {
    if (i != axis) x_order[next++] = i;
  }
  for (int i = 0; i < rank; i++) back[x_order[i]] = i;
  for (int i = 0; i < index_rank; i++) y_order[i] = axis + i;
  for (int i = 0, next = index_rank; i < rank - 1 + index_rank; i++) {
    if (i < axis || i >= axis + index_rank) y_order[next++] = i;
  }
  tn_str x = w->values[node->in[0]], y = w->values[node->in[2]];
  if (axis) x = permuted(w, x, x_order, rank);
  if (axis) y = permuted(w, y, y_order, rank - 1 + index_rank);
  tn_str index = tn_onnx_cast(w, w->values[node->in[1]], TN_ONNX_INT64);
  tn_str last = tn_onnx_ints(w, &(int64_t){ -1 }, 1), rows = TN_ONNX_OP(w, "Unsqueeze", index, last);
  tn_onnx_attr_word(w, "reduction", "add");
  tn_str made = TN_ONNX_OP(w, "ScatterND", x, rows, y);
  w->values[value] = axis ? permuted(w, made, back, rank) : made;
  return true;
}

/* x: [n, h, w, c]; for each position of the window its pixels, concatenated as channels. */
bool tn_onnx_patches(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  const tn_attrs *a = node->attrs;
  const tn_shape *out = &node->type.shape;
  int64_t low[] = { 0, a->low[0], a->low[1], 0 }, high[] = { 0, a->high[0], a->high[1], 0 };
  int64_t step[] = { 1, a->step[0], a->step[1], 1 };
  size_t count = (size_t)a->window[0] * (size_t)a->window[1];
  tn_str *parts = tn_arena_array(&w->arena, count, sizeof *parts);
  if (!parts) return false;
  if (!tn_dim_is_known(out->dim[1]) || !tn_dim_is_known(out->dim[2]))
    return tn_onnx_unsupported(w, "a convolution over an image whose size is not known in ONNX", node->at);
  tn_str x = padded(w, w->values[node->in[0]], node->type.dtype, low, high, 4);
  for (size_t i = 0; i < count; i++) {
    int64_t row = (int64_t)i / a->window[1], column = (int64_t)i % a->window[1];
    int64_t from[] = { 0, row, column, 0 };
    int64_t to[] = { INT64_MAX, row + (out->dim[1] - 1) * step[1] + 1,
                     column + (out->dim[2] - 1) * step[2] + 1, INT64_MAX };
    parts[i] = sliced(w, x, from, to, step, 4);
  }
  tn_onnx_attr_int(w, "axis", 3);
  w->values[value] = tn_onnx_op(w, "Concat", parts, (int)count);
  return true;
}

/* Conv has the channels before the sides, and runtimes know it for f32 only. */
bool tn_onnx_depthwise(tn_onnx *w, tn_value value) {
  static const int32_t channels_second[] = { 0, 3, 1, 2 }, channels_last[] = { 0, 2, 3, 1 };
  static const int32_t outputs_first[] = { 3, 2, 0, 1 };
  const tn_node *node = tn_graph_node(w->graph, value);
  const tn_attrs *a = node->attrs;
  int64_t channels = tn_graph_type(w->graph, node->in[0])->shape.dim[3];
  int64_t pads[] = { a->low[0], a->low[1], a->high[0], a->high[1] };
  if (node->type.dtype != TN_F32 || channels < 1) return tn_onnx_parts(w, value);
  tn_str x = permuted(w, w->values[node->in[0]], channels_second, 4);
  tn_str kernel = permuted(w, w->values[node->in[1]], outputs_first, 4);
  tn_onnx_attr_int(w, "group", channels);
  tn_onnx_attr_ints(w, "strides", a->step, 2);
  tn_onnx_attr_ints(w, "pads", pads, 4);
  return give(w, value, permuted(w, TN_ONNX_OP(w, "Conv", x, kernel), channels_last, 4));
}

bool tn_onnx_transpose(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  return give(w, value, permuted(w, w->values[node->in[0]], node->attrs->axes, node->type.shape.rank));
}

bool tn_onnx_slice(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  const tn_attrs *a = node->attrs;
  tn_str x = w->values[node->in[0]];
  return give(w, value, sliced(w, x, a->low, a->high, a->step, node->type.shape.rank));
}

bool tn_onnx_gather(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_onnx_attr_int(w, "axis", node->attrs->axis);
  return give(w, value, TN_ONNX_OP(w, "Gather", w->values[node->in[0]], w->values[node->in[1]]));
}

/* ---- along axes ---- */

static void set_axes(tn_onnx *w, const tn_attrs *a, const char *name) {
  int64_t axes[TN_RANK_LIMIT];
  for (int i = 0; i < a->axis_count; i++) axes[i] = a->axes[i];
  tn_onnx_attr_ints(w, name, axes, a->axis_count);
}

/* The axes as an attribute. */
static bool reduced(tn_onnx *w, tn_value value, const char *word) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str x = w->values[node->in[0]];
  if (node->attrs->axis_count == 0) return give(w, value, TN_ONNX_OP(w, "Identity", x));
  set_axes(w, node->attrs, "axes");
  tn_onnx_attr_int(w, "keepdims", node->attrs->keepdims);
  return give(w, value, TN_ONNX_OP(w, word, x));
}

bool tn_onnx_mean(tn_onnx *w, tn_value value) { return reduced(w, value, "ReduceMean"); }
bool tn_onnx_max(tn_onnx *w, tn_value value) { return reduced(w, value, "ReduceMax"); }
bool tn_onnx_min(tn_onnx *w, tn_value value) { return reduced(w, value, "ReduceMin"); }
bool tn_onnx_prod(tn_onnx *w, tn_value value) { return reduced(w, value, "ReduceProd"); }

/* This one takes them as an operand. */
bool tn_onnx_sum(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  const tn_attrs *a = node->attrs;
  tn_str x = w->values[node->in[0]];
  int64_t axes[TN_RANK_LIMIT];
  if (a->axis_count == 0) return give(w, value, TN_ONNX_OP(w, "Identity", x));
  for (int i = 0; i < a->axis_count; i++) axes[i] = a->axes[i];
  tn_str which = tn_onnx_ints(w, axes, a->axis_count);
  tn_onnx_attr_int(w, "keepdims", a->keepdims);
  return give(w, value, TN_ONNX_OP(w, "ReduceSum", x, which));
}

static tn_str place_of_greatest(tn_onnx *w, const tn_node *node) {
  tn_onnx_attr_int(w, "axis", node->attrs->axis);
  tn_onnx_attr_int(w, "keepdims", node->attrs->keepdims);
  tn_str place = TN_ONNX_OP(w, "ArgMax", w->values[node->in[0]]);
  return tn_onnx_cast(w, place, tn_onnx_dtype(node->type.dtype));
}

static tn_str element_count(tn_onnx *w, const tn_node *node) {
  tn_str count = tn_onnx_number(w, TN_I64, 1);
  for (int i = 0; i < node->attrs->axis_count; i++) {
    tn_str size = tn_onnx_size(w, node->in[0], node->attrs->axes[i]);
    tn_str number = TN_ONNX_OP(w, "Squeeze", size);
    count = TN_ONNX_OP(w, "Mul", count, number);
  }
  return tn_onnx_cast(w, count, tn_onnx_dtype(node->type.dtype));
}

/* The mean of -log_softmax at the labels. */
static tn_str cross_entropy(tn_onnx *w, const tn_node *node) {
  tn_onnx_attr_int(w, "axis", -1);
  tn_str likely = TN_ONNX_OP(w, "LogSoftmax", w->values[node->in[0]]);
  tn_str index = tn_onnx_cast(w, w->values[node->in[1]], TN_ONNX_INT64);
  tn_str last = tn_onnx_ints(w, &(int64_t){ -1 }, 1), column = TN_ONNX_OP(w, "Unsqueeze", index, last);
  tn_onnx_attr_int(w, "axis", -1);
  tn_str taken = TN_ONNX_OP(w, "GatherElements", likely, column);
  tn_str loss = TN_ONNX_OP(w, "Neg", taken);
  tn_onnx_attr_int(w, "keepdims", 0);
  return TN_ONNX_OP(w, "ReduceMean", loss);
}

GIVES(argmax, place_of_greatest)
GIVES(count, element_count)
GIVES(cross_entropy, cross_entropy)

/* ---- scans, products ---- */

bool tn_onnx_cumsum(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str axis = tn_onnx_number(w, TN_I64, node->attrs->axis);
  tn_onnx_attr_int(w, "exclusive", node->attrs->exclusive);
  tn_onnx_attr_int(w, "reverse", node->attrs->reverse);
  return give(w, value, TN_ONNX_OP(w, "CumSum", w->values[node->in[0]], axis));
}

static bool along(tn_onnx *w, tn_value value, const char *word) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_onnx_attr_int(w, "axis", node->attrs->axis);
  return give(w, value, TN_ONNX_OP(w, word, w->values[node->in[0]]));
}

bool tn_onnx_softmax(tn_onnx *w, tn_value value) { return along(w, value, "Softmax"); }
bool tn_onnx_log_softmax(tn_onnx *w, tn_value value) { return along(w, value, "LogSoftmax"); }

bool tn_onnx_matmul(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  return give(w, value, TN_ONNX_OP(w, "MatMul", w->values[node->in[0]], w->values[node->in[1]]));
}
