/* ad/arrange.c: derivatives of operations that rearrange elements.
 *
 * Each of these operations is linear, so its reverse rule is its transpose:
 * reshape back, permute back, pad what was cut out, cut out what was padded,
 * add up where something was repeated. */
#include "ad/internal.h"

/* There is a derivative, but it cannot be expressed before the length is known. */
static bool no_length(const tn_ad_node *node, int operand, int axis) {
  tn_fault fault = { .kind = TN_FAULT_NO_GRADIENT,
                     .operand = operand,
                     .left = tn_ad_type(node, operand),
                     .dimension = axis,
                     .reason = "an axis has no known length" };
  tn_build_fault(node->builder, node->op, fault);
  return false;
}

/* 0, 1, 2, ... of the given length. */
static tn_value places(const tn_ad_node *node, int64_t length) {
  tn_attrs attrs = { .dtype = TN_I64, .shape = tn_shape_make(1, length) };
  return tn_build(node->builder, TN_OP_IOTA, NULL, 0, &attrs);
}

bool tn_ad_vjp_reshape(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_type type = tn_ad_type(node, 0);
  grads[0] = tn_build_reshape(node->builder, gradient, &type.shape);
  return tn_ad_done(node);
}

bool tn_ad_vjp_transpose(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  int back[TN_RANK_LIMIT];
  for (int i = 0; i < node->attrs->axis_count; i++) back[node->attrs->axes[i]] = i;
  grads[0] = tn_build_transpose(node->builder, gradient, back);
  return tn_ad_done(node);
}

bool tn_ad_vjp_broadcast_to(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_type type = tn_ad_type(node, 0);
  grads[0] = tn_build_sum_to(node->builder, gradient, &type.shape);
  return tn_ad_done(node);
}

/* ---- slice and pad ---- */

/* What puts `count` elements back to their places on an axis of a known length. */
static void pad_back(const tn_attrs *slice, int axis, int64_t length, int64_t count, tn_attrs *pad) {
  int64_t low = slice->low[axis] < length ? slice->low[axis] : length;
  int64_t step = slice->step[axis];
  pad->low[axis] = low;
  pad->step[axis] = step - 1;
  pad->high[axis] = length - low - (count > 0 ? (count - 1) * step + 1 : 0);
}

/* Zeros of the shape x has after the same slice along the axes after `axis` that have named
 * lengths: those are not put back yet. They are cut out of zeros like x, because what a slice of
 * a named length leaves may have no name. */
static tn_value zeros_up_to(const tn_ad_node *node, int axis, const bool *named) {
  tn_value zeros = tn_build_like(node->builder, node->in[0], 0);
  tn_attrs rest = { 0 };
  bool any = false;
  for (int a = 0; a < TN_RANK_LIMIT; a++) {
    bool sliced = a > axis && named[a];
    rest.low[a] = sliced ? node->attrs->low[a] : 0;
    rest.high[a] = sliced ? node->attrs->high[a] : INT64_MAX;
    rest.step[a] = sliced ? node->attrs->step[a] : 1;
    any = any || sliced;
  }
  return any ? tn_build(node->builder, TN_OP_SLICE, &zeros, 1, &rest) : zeros;
}

/* The same on an axis whose length is a symbol: added into zeros, at the places that the same
 * slice takes from 0, 1, 2, ... */
static tn_value scatter_back(const tn_ad_node *node, tn_value gradient, int axis, const bool *named) {
  tn_builder *builder = node->builder;
  const tn_attrs *slice = node->attrs;
  tn_value all = places(node, tn_ad_type(node, 0).shape.dim[axis]);
  tn_value index = tn_build_slice(builder, all, 0, slice->low[axis], slice->high[axis], slice->step[axis]);
  const tn_value in[] = { zeros_up_to(node, axis, named), index, gradient };
  return tn_build(builder, TN_OP_SCATTER_ADD, in, 3, &(tn_attrs){ .axis = axis });
}

static bool is_whole_axis(const tn_attrs *slice, int axis) {
  return slice->low[axis] == 0 && slice->high[axis] == INT64_MAX && slice->step[axis] == 1;
}

bool tn_ad_vjp_slice(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_shape from = tn_ad_type(node, 0).shape, to = tn_ad_out_type(node).shape;
  tn_attrs pad = { 0 };
  bool named[TN_RANK_LIMIT] = { false }, cut = false;
  for (int a = 0; a < from.rank; a++) {
    if (tn_dim_is_known(from.dim[a])) {
      pad_back(node->attrs, a, from.dim[a], to.dim[a], &pad);
      cut = cut || pad.low[a] || pad.high[a] || pad.step[a];
    } else if (!is_whole_axis(node->attrs, a)) {
      if (from.dim[a] == TN_DIM_UNKNOWN) return no_length(node, 0, a);
      named[a] = true;
    }
  }
  grads[0] = cut ? tn_build(node->builder, TN_OP_PAD, &gradient, 1, &pad) : gradient;
  for (int a = 0; a < from.rank; a++) {
    if (named[a]) grads[0] = scatter_back(node, grads[0], a, named);
  }
  return tn_ad_done(node);
}

/* A length that is not known is counted from the end. */
bool tn_ad_vjp_pad(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_attrs *pad = node->attrs;
  tn_shape from = tn_ad_type(node, 0).shape;
  tn_attrs slice = { 0 };
  for (int a = 0; a < from.rank; a++) {
    int64_t count = from.dim[a];
    slice.low[a] = pad->low[a];
    slice.step[a] = pad->step[a] + 1;
    slice.high[a] = count > 0 ? slice.low[a] + (count - 1) * slice.step[a] + 1 : slice.low[a];
    if (!tn_dim_is_known(count)) slice.high[a] = pad->high[a] ? -pad->high[a] : INT64_MAX;
  }
  tn_value inner = tn_build(node->builder, TN_OP_SLICE, &gradient, 1, &slice);
  grads[0] = tn_build_broadcast_like(node->builder, inner, node->in[0]); /* gives lengths their names */
  return tn_ad_done(node);
}

/* ---- concat ---- */

/* Where an operand begins: after known lengths, and after others that are counted. */
typedef struct {
  int64_t known;
  tn_value counted; /* i64; TN_NO_VALUE while there is none */
} offset;

static tn_value cut_out(const tn_ad_node *node, tn_value gradient, offset start, int64_t length) {
  tn_builder *builder = node->builder;
  int axis = node->attrs->axis;
  if (start.counted == TN_NO_VALUE && tn_dim_is_known(length)) {
    return tn_build_slice(builder, gradient, axis, start.known, start.known + length, 1);
  }
  tn_value index = places(node, length), known = tn_build_number(builder, TN_I64, (double)start.known);
  index = tn_ad_binary(node, TN_OP_ADD, index, known);
  if (start.counted != TN_NO_VALUE) index = tn_ad_binary(node, TN_OP_ADD, index, start.counted);
  const tn_value in[] = { gradient, index };
  return tn_build(builder, TN_OP_GATHER, in, 2, &(tn_attrs){ .axis = axis });
}

static void move_on(const tn_ad_node *node, int operand, int64_t length, offset *start) {
  if (tn_dim_is_known(length)) {
    start->known += length;
    return;
  }
  tn_attrs along = { .dtype = TN_I64, .axis_count = 1, .axes = { node->attrs->axis } };
  tn_value count = tn_build(node->builder, TN_OP_ELEMENTS, &node->in[operand], 1, &along);
  bool first = start->counted == TN_NO_VALUE;
  start->counted = first ? count : tn_ad_binary(node, TN_OP_ADD, start->counted, count);
}

bool tn_ad_vjp_concat(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  offset start = { 0, TN_NO_VALUE };
  for (int i = 0; i < node->count; i++) {
    int64_t length = tn_ad_type(node, i).shape.dim[node->attrs->axis];
    if (node->wanted[i] && length == TN_DIM_UNKNOWN) return no_length(node, i, node->attrs->axis);
    if (node->wanted[i]) grads[i] = cut_out(node, gradient, start, length);
    move_on(node, i, length, &start);
  }
  return tn_ad_done(node);
}

bool tn_ad_jvp_concat(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  size_t bytes = (size_t)node->count * sizeof(tn_value);
  tn_value *parts = tn_heap_alloc(node->builder->heap, bytes);
  if (!parts) {
    tn_build_fault(node->builder, node->op, (tn_fault){ .kind = TN_FAULT_MEMORY });
    return false;
  }
  for (int i = 0; i < node->count; i++) {
    bool zero = tangents[i] == TN_NO_VALUE;
    parts[i] = zero ? tn_build_like(node->builder, node->in[i], 0) : tangents[i];
  }
  *tangent = tn_build(node->builder, TN_OP_CONCAT, parts, node->count, node->attrs);
  tn_heap_free(node->builder->heap, parts, bytes);
  return tn_ad_done(node);
}

/* ---- gather and scatter_add ---- */

bool tn_ad_vjp_gather(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_value in[] = { tn_build_like(node->builder, node->in[0], 0), node->in[1], gradient };
  if (node->wanted[0]) grads[0] = tn_build(node->builder, TN_OP_SCATTER_ADD, in, 3, node->attrs);
  return tn_ad_done(node);
}

bool tn_ad_vjp_scatter_add(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  const tn_value in[] = { gradient, node->in[1] };
  if (node->wanted[0]) grads[0] = gradient;
  if (node->wanted[2]) grads[2] = tn_build(node->builder, TN_OP_GATHER, in, 2, node->attrs);
  return tn_ad_done(node);
}

bool tn_ad_jvp_scatter_add(const tn_ad_node *node, const tn_value *tangents, tn_value *tangent) {
  *tangent = tangents[0];
  if (tangents[2] == TN_NO_VALUE) return true;
  if (tangents[0] == TN_NO_VALUE) *tangent = tn_build_like(node->builder, node->in[0], 0);
  const tn_value in[] = { *tangent, node->in[1], tangents[2] };
  *tangent = tn_build(node->builder, TN_OP_SCATTER_ADD, in, 3, node->attrs);
  return tn_ad_done(node);
}

/* ---- windows ---- */

bool tn_ad_vjp_patches(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_attrs attrs = *node->attrs;
  attrs.shape = tn_ad_type(node, 0).shape;
  grads[0] = tn_build(node->builder, TN_OP_FOLD, &gradient, 1, &attrs);
  return tn_ad_done(node);
}

bool tn_ad_vjp_fold(const tn_ad_node *node, tn_value gradient, tn_value *grads) {
  tn_attrs attrs = *node->attrs;
  attrs.shape = TN_SCALAR_SHAPE;
  grads[0] = tn_build(node->builder, TN_OP_PATCHES, &gradient, 1, &attrs);
  return tn_ad_done(node);
}
