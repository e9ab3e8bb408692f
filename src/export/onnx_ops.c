/* export/onnx_ops.c: operations in the words of ONNX.
 *
 * Most have a word of their own. Some runtimes know a word for f32 alone: erf and
 * cos of f64 are computed in f32. Windows of an image are slices put side by
 * side. */
#include <string.h>

#include "export/draw.h"
#include "export/onnx_internal.h"

/* ---- elementwise ---- */

static const struct {
  tn_op op;
  const char *name;
} words[] = {
  { TN_OP_NEG, "Neg" },     { TN_OP_ABS, "Abs" },           { TN_OP_SIGN, "Sign" },
  { TN_OP_SQRT, "Sqrt" },   { TN_OP_EXP, "Exp" },           { TN_OP_LOG, "Log" },
  { TN_OP_TANH, "Tanh" },   { TN_OP_SIGMOID, "Sigmoid" },   { TN_OP_RELU, "Relu" },
  { TN_OP_ERF, "Erf" },     { TN_OP_SIN, "Sin" },           { TN_OP_COS, "Cos" },
  { TN_OP_FLOOR, "Floor" }, { TN_OP_CEIL, "Ceil" },         { TN_OP_ROUND, "Round" },
  { TN_OP_NOT, "Not" },     { TN_OP_ADD, "Add" },           { TN_OP_SUB, "Sub" },
  { TN_OP_MUL, "Mul" },     { TN_OP_DIV, "Div" },           { TN_OP_REM, "Mod" },
  { TN_OP_POW, "Pow" },     { TN_OP_MINIMUM, "Min" },       { TN_OP_MAXIMUM, "Max" },
  { TN_OP_EQ, "Equal" },    { TN_OP_LT, "Less" },           { TN_OP_LE, "LessOrEqual" },
  { TN_OP_GT, "Greater" },  { TN_OP_GE, "GreaterOrEqual" }, { TN_OP_AND, "And" },
  { TN_OP_OR, "Or" },       { TN_OP_SELECT, "Where" },
};

static const char *word_of(tn_op op) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (words[i].op == op) return words[i].name;
  }
  return NULL;
}

static bool is_whole(tn_op op) { return op == TN_OP_FLOOR || op == TN_OP_CEIL || op == TN_OP_ROUND; }

/* What cannot be said by its word alone; empty: it can. */
static tn_str special(tn_onnx *w, const tn_node *node, const tn_str *in) {
  tn_dtype dtype = tn_graph_type(w->graph, node->in[0])->dtype;
  bool whole = tn_dtype_in(dtype, TN_INTS);
  if (node->op == TN_OP_CAST) return tn_onnx_cast(w, in[0], tn_onnx_dtype(node->type.dtype));
  if (node->op == TN_OP_NE) {
    tn_str equal = TN_ONNX_OP(w, "Equal", in[0], in[1]);
    return TN_ONNX_OP(w, "Not", equal);
  }
  if (whole && is_whole(node->op)) return in[0];
  if (whole && node->op == TN_OP_RELU) {
    tn_str zero = tn_onnx_number(w, dtype, 0);
    return TN_ONNX_OP(w, "Max", in[0], zero);
  }
  if (dtype == TN_F64 && (node->op == TN_OP_ERF || node->op == TN_OP_COS)) {
    tn_str narrow = tn_onnx_cast(w, in[0], TN_ONNX_FLOAT);
    tn_str made = TN_ONNX_OP(w, word_of(node->op), narrow);
    return tn_onnx_cast(w, made, TN_ONNX_DOUBLE);
  }
  return (tn_str){ 0 };
}

bool tn_onnx_elementwise(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str in[3];
  const char *word = word_of(node->op);
  if (node->count < 1 || node->count > 3)
    return tn_onnx_unsupported(w, "a fused operation in ONNX", node->at);
  for (int i = 0; i < node->count; i++) in[i] = w->values[node->in[i]];
  tn_str made = special(w, node, in);
  if (!made.len && !word) return tn_onnx_unsupported(w, "this operation in ONNX", node->at);
  if (!made.len) {
    if (node->op == TN_OP_REM) tn_onnx_attr_int(w, "fmod", 1);
    made = tn_onnx_op(w, word, in, node->count);
  }
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
  int64_t behind[TN_RANK_LIMIT];
  tn_str length = tn_onnx_shape(w, &own, node->at), whole = tn_onnx_shape(w, &node->type.shape, node->at);
  if (!length.len || !whole.len) return (tn_str){ 0 };
  tn_str none = tn_onnx_ints(w, NULL, 0), zero = tn_onnx_number(w, TN_I64, 0);
  tn_str end = TN_ONNX_OP(w, "Reshape", length, none), one = tn_onnx_number(w, TN_I64, 1);
  tn_str whole_line = TN_ONNX_OP(w, "Range", zero, end, one);
  tn_str line = tn_onnx_cast(w, whole_line, tn_onnx_dtype(node->type.dtype));
  for (int i = axis + 1; i < rank; i++) behind[i - axis - 1] = i - axis;
  if (axis + 1 < rank) {
    tn_str axes = tn_onnx_ints(w, behind, rank - axis - 1);
    line = TN_ONNX_OP(w, "Unsqueeze", line, axes);
  }
  return TN_ONNX_OP(w, "Expand", line, whole);
}

static tn_str drawn(tn_onnx *w, const tn_node *node) {
  tn_tensor numbers;
  if (!tn_export_can_draw(w->graph, node)) {
    tn_onnx_unsupported(w, "random numbers of a shape that is not known", node->at);
    return (tn_str){ 0 };
  }
  if (!tn_export_draw(w->graph, node, w->heap, &numbers)) {
    tn_onnx_fail(w);
    return (tn_str){ 0 };
  }
  tn_str made = tn_onnx_constant(w, &numbers.view);
  tn_tensor_unref(&numbers);
  return made;
}

bool tn_onnx_source(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  switch (node->op) {
    case TN_OP_CONST: w->values[value] = tn_onnx_constant(w, &node->attrs->literal->view); break;
    case TN_OP_FILL: w->values[value] = filled(w, node); break;
    case TN_OP_IOTA: w->values[value] = counted(w, node); break;
    default: w->values[value] = drawn(w, node);
  }
  return w->values[value].len > 0;
}

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

static bool write_pad(tn_onnx *w, tn_value value) {
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

static bool write_reshape(tn_onnx *w, tn_value value) {
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

static bool write_broadcast(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str shape = tn_onnx_shape(w, &node->type.shape, node->at);
  if (!shape.len) return false;
  w->values[value] = TN_ONNX_OP(w, "Expand", w->values[node->in[0]], shape);
  return true;
}

static bool write_concat(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str *parts = tn_arena_array(&w->arena, (size_t)node->count, sizeof *parts);
  if (!parts) return false;
  for (int i = 0; i < node->count; i++) parts[i] = w->values[node->in[i]];
  tn_onnx_attr_int(w, "axis", node->attrs->axis);
  w->values[value] = tn_onnx_op(w, "Concat", parts, node->count);
  return true;
}

/* The axis first, then the others: what ScatterND adds to are rows. */
static bool write_scatter_add(tn_onnx *w, tn_value value) {
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

/* x: [n, h, w, c]; for each place of the window the pixels that stand there, side by side as channels. */
static bool write_patches(tn_onnx *w, tn_value value) {
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

bool tn_onnx_move(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  const tn_attrs *a = node->attrs;
  tn_str x = w->values[node->in[0]];
  int rank = node->type.shape.rank;
  switch (node->op) {
    case TN_OP_RESHAPE: return write_reshape(w, value);
    case TN_OP_BROADCAST_TO: return write_broadcast(w, value);
    case TN_OP_PAD: return write_pad(w, value);
    case TN_OP_CONCAT: return write_concat(w, value);
    case TN_OP_SCATTER_ADD: return write_scatter_add(w, value);
    case TN_OP_PATCHES: return write_patches(w, value);
    case TN_OP_TRANSPOSE: w->values[value] = permuted(w, x, a->axes, rank); return true;
    case TN_OP_SLICE: w->values[value] = sliced(w, x, a->low, a->high, a->step, rank); return true;
    case TN_OP_GATHER:
      tn_onnx_attr_int(w, "axis", a->axis);
      w->values[value] = TN_ONNX_OP(w, "Gather", x, w->values[node->in[1]]);
      return true;
    case TN_OP_FOLD: return tn_onnx_unsupported(w, "the gradient of a convolution in ONNX", node->at);
    default: return tn_onnx_unsupported(w, "this operation in ONNX", node->at);
  }
}

/* ---- along axes ---- */

static void set_axes(tn_onnx *w, const tn_attrs *a, const char *name) {
  int64_t axes[TN_RANK_LIMIT];
  for (int i = 0; i < a->axis_count; i++) axes[i] = a->axes[i];
  tn_onnx_attr_ints(w, name, axes, a->axis_count);
}

/* ReduceSum takes its axes as an operand, the others still as an attribute. */
static tn_str reduced(tn_onnx *w, const tn_node *node) {
  const tn_attrs *a = node->attrs;
  tn_str x = w->values[node->in[0]];
  int64_t axes[TN_RANK_LIMIT];
  if (a->axis_count == 0) return TN_ONNX_OP(w, "Identity", x);
  if (node->op == TN_OP_SUM) {
    for (int i = 0; i < a->axis_count; i++) axes[i] = a->axes[i];
    tn_str which = tn_onnx_ints(w, axes, a->axis_count);
    tn_onnx_attr_int(w, "keepdims", a->keepdims);
    return TN_ONNX_OP(w, "ReduceSum", x, which);
  }
  set_axes(w, a, "axes");
  tn_onnx_attr_int(w, "keepdims", a->keepdims);
  const char *word = node->op == TN_OP_MEAN  ? "ReduceMean"
                     : node->op == TN_OP_MAX ? "ReduceMax"
                     : node->op == TN_OP_MIN ? "ReduceMin"
                                             : "ReduceProd";
  return TN_ONNX_OP(w, word, x);
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

bool tn_onnx_reduce(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  switch (node->op) {
    case TN_OP_ARGMAX: w->values[value] = place_of_greatest(w, node); break;
    case TN_OP_ELEMENTS: w->values[value] = element_count(w, node); break;
    case TN_OP_CROSS_ENTROPY: w->values[value] = cross_entropy(w, node); break;
    default: w->values[value] = reduced(w, node);
  }
  return true;
}

bool tn_onnx_scan(tn_onnx *w, tn_value value) {
  const tn_node *node = tn_graph_node(w->graph, value);
  tn_str x = w->values[node->in[0]];
  if (node->op == TN_OP_CUMPROD) return tn_onnx_unsupported(w, "a running product in ONNX", node->at);
  if (node->op == TN_OP_CUMSUM) {
    tn_str axis = tn_onnx_number(w, TN_I64, node->attrs->axis);
    tn_onnx_attr_int(w, "exclusive", node->attrs->exclusive);
    tn_onnx_attr_int(w, "reverse", node->attrs->reverse);
    w->values[value] = TN_ONNX_OP(w, "CumSum", x, axis);
    return true;
  }
  tn_onnx_attr_int(w, "axis", node->attrs->axis);
  w->values[value] = TN_ONNX_OP(w, node->op == TN_OP_SOFTMAX ? "Softmax" : "LogSoftmax", x);
  return true;
}
