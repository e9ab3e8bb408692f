/* tests/ops/make_move.c: cases of operations that move and accumulate elements. */
#include <math.h>

#include "case.h"

#define BUDGET 6000

void make_reshape(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET), to = { 0 };
  int64_t left = tn_shape_count(&shape);
  to.rank = left == 1 ? below(c, 3) : 1 + below(c, 4);
  for (int axis = 0; axis < to.rank; axis++) {
    int64_t part = 1 + below(c, 4);
    to.dim[axis] = axis == to.rank - 1 ? left : left % part == 0 ? part : 1;
    left = to.dim[axis] ? left / to.dim[axis] : 0;
  }
  c->attrs.shape = to;
  add_operand(c, dtype_of(c, TN_ANY_DTYPE), &shape, ANY_VALUES, 0);
}

void make_transpose(op_case *c) {
  tn_shape shape = any_shape(c, 0, 5, BUDGET);
  if (is_big(c)) shape = tn_shape_make(2, (int64_t)(100 + below(c, 200)), (int64_t)(100 + below(c, 200)));
  c->attrs.axis_count = shape.rank;
  for (int axis = 0; axis < shape.rank; axis++) c->attrs.axes[axis] = axis;
  for (int axis = shape.rank - 1; axis > 0; axis--) {
    int other = below(c, axis + 1);
    int32_t swapped = c->attrs.axes[axis];
    c->attrs.axes[axis] = c->attrs.axes[other], c->attrs.axes[other] = swapped;
  }
  add_operand(c, dtype_of(c, TN_ANY_DTYPE), &shape, ANY_VALUES, 0);
}

void make_broadcast_to(op_case *c) {
  c->attrs.shape = any_shape(c, 0, 4, BUDGET);
  tn_shape from = narrower(c, &c->attrs.shape);
  add_operand(c, dtype_of(c, TN_ANY_DTYPE), &from, ANY_VALUES, 0);
}

void make_slice(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET);
  for (int axis = 0; axis < shape.rank; axis++) {
    c->attrs.low[axis] = below(c, (int)shape.dim[axis] + 1);
    c->attrs.high[axis] = one_in(c, 2) ? shape.dim[axis] : below(c, (int)shape.dim[axis] + 1);
    c->attrs.step[axis] = one_in(c, 2) ? 1 : 1 + below(c, 4);
    if (is_big(c)) c->attrs.low[axis] = 0, c->attrs.high[axis] = shape.dim[axis];
  }
  add_operand(c, dtype_of(c, TN_ANY_DTYPE), &shape, ANY_VALUES, 0);
}

void make_pad(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET / 4);
  for (int axis = 0; axis < shape.rank; axis++) {
    c->attrs.low[axis] = one_in(c, 2) ? 0 : below(c, 4);
    c->attrs.high[axis] = one_in(c, 2) ? 0 : below(c, 4);
    c->attrs.step[axis] = one_in(c, 3) ? below(c, 3) : 0;
  }
  add_operand(c, dtype_of(c, TN_ANY_DTYPE), &shape, ANY_VALUES, 0);
}

void make_concat(op_case *c) {
  tn_shape shape = any_shape(c, 1, 4, BUDGET / 4);
  int axis = below(c, shape.rank), parts = 1 + below(c, 5);
  tn_dtype dtype = dtype_of(c, TN_ANY_DTYPE);
  c->attrs.axis = axis;
  for (int k = 0; k < parts; k++) {
    if (k > 0) shape.dim[axis] = small_length(c);
    add_operand(c, dtype, &shape, ANY_VALUES, 0);
  }
}

/* ---- by index ---- */
static tn_shape index_shape(op_case *c) {
  tn_shape shape = { .rank = below(c, 3) };
  for (int axis = 0; axis < shape.rank; axis++) shape.dim[axis] = small_length(c);
  if (shape.rank > 0 && one_in(c, 2)) shape.dim[0] = 1 + below(c, 60);
  return shape;
}

/* x with its axis replaced by those of the index. */
static tn_shape slices_shape(const tn_shape *x, const tn_shape *index, int axis) {
  tn_shape out = { 0 };
  for (int a = 0; a < axis; a++) out.dim[out.rank++] = x->dim[a];
  for (int a = 0; a < index->rank; a++) out.dim[out.rank++] = index->dim[a];
  for (int a = axis + 1; a < x->rank; a++) out.dim[out.rank++] = x->dim[a];
  return out;
}

/* Now and then one place is outside; an empty axis leaves no place inside. */
static void add_index(op_case *c, const tn_shape *shape, int64_t limit) {
  int64_t bad[] = { limit, -1, limit + 7, INT32_MIN };
  add_operand(c, one_in(c, 2) ? TN_I32 : TN_I64, shape, INDEX_VALUES, limit);
  operand *index = &c->in[c->count - 1];
  int64_t count = tn_view_count(&index->view);
  c->may_fail = limit == 0 || one_in(c, 8);
  if (c->may_fail && limit > 0 && count > 0)
    tn_view_set_f64(&index->view, below(c, (int)count), (double)bad[below(c, 4)]);
}

static tn_shape table_shape(op_case *c, int *axis) {
  tn_shape shape = any_shape(c, 1, 3, BUDGET / 8);
  *axis = below(c, shape.rank);
  if (is_big(c)) {
    shape = tn_shape_make(2, (int64_t)(300 + below(c, 300)), (int64_t)(40 + below(c, 100)));
    *axis = below(c, 2);
  }
  return shape;
}

void make_gather(op_case *c) {
  int axis;
  tn_shape x = table_shape(c, &axis), index = index_shape(c);
  if (is_big(c)) index = tn_shape_make(1, (int64_t)(300 + below(c, 300)));
  c->attrs.axis = axis;
  add_operand(c, dtype_of(c, TN_ANY_DTYPE), &x, ANY_VALUES, 0);
  add_index(c, &index, x.dim[axis]);
}

/* Thousands of entries for few rows, some of which have most: a GPU has ways of its own for that. */
static bool names_few_rows_often(op_case *c, tn_shape *x, tn_shape *index, tn_dtype *dtype) {
  static const int64_t rows[] = { 1, 3, 17, 40, 200, 700 }, columns[] = { 1, 31, 32, 33, 64, 96 };
  if (c->number % 6 != 3 && c->number % 6 != 4) return false;
  *x = tn_shape_make(2, rows[below(c, 6)], columns[below(c, 6)]);
  *index = tn_shape_make(1, (int64_t)(2048 + (one_in(c, 4) ? 0 : below(c, 1500))));
  if (c->number % 12 == 3) { /* rows in the order of their entries, of which a thread moves many */
    *x = tn_shape_make(2, (int64_t)700, (int64_t)(1 + below(c, 40)));
    *index = tn_shape_make(1, (int64_t)(4500 + below(c, 4000)));
  }
  *dtype = TN_F32;
  c->contiguous = one_in(c, 2);
  return true;
}

void make_scatter_add(op_case *c) {
  int axis;
  tn_shape x = table_shape(c, &axis), index = index_shape(c);
  if (is_big(c)) index = tn_shape_make(1, (int64_t)(300 + below(c, 300)));
  tn_dtype dtype = dtype_of(c, TN_NUMBERS);
  if (names_few_rows_often(c, &x, &index, &dtype)) axis = c->number % 4 == 2;
  tn_shape y = slices_shape(&x, &index, axis);
  c->attrs.axis = axis;
  add_operand(c, dtype, &x, ANY_VALUES, 0);
  add_index(c, &index, x.dim[axis]);
  add_operand(c, dtype, &y, one_in(c, 6) ? ANY_VALUES : SMALL_VALUES, 0);
}

void make_row_update(op_case *c) {
  int ignored;
  tn_shape x = table_shape(c, &ignored), index = index_shape(c), scalar = TN_SCALAR_SHAPE;
  if (is_big(c)) index = tn_shape_make(1, (int64_t)(300 + below(c, 300)));
  tn_dtype dtype = dtype_of(c, TN_FLOATS);
  bool odd = c->number % 12 == 4, few = c->number % 2 == 1;
  if (c->number % 3 == 1) { /* wide rows: many of which few are named, some, and few that are named often */
    uint64_t rows = few ? 1000 + below(c, 500) : odd ? 100 : 1 + below(c, 30);
    x = tn_shape_make(2, (int64_t)rows, one_in(c, 2) ? (int64_t)64 : (int64_t)(1 + below(c, 150)));
    index = tn_shape_make(2, (int64_t)(1 + below(c, 5)), (int64_t)(few ? 3 : 1 + below(c, 40)));
    dtype = TN_F32;
  }
  if (c->number % 3 == 0) names_few_rows_often(c, &x, &index, &dtype);
  tn_shape y = slices_shape(&x, &index, 0);
  add_operand(c, dtype, &x, ANY_VALUES, 0);
  add_index(c, &index, x.dim[0]);
  add_operand(c, dtype, &y, SMALL_VALUES, 0);
  if (c->number % 3 == 1 && one_in(c, 2)) c->in[2].view.stride[1] = 0; /* a slice is shared, as in a mean */
  add_operand(c, dtype, &scalar, one_in(c, 4) ? ANY_VALUES : SMALL_VALUES, 0);
  if (odd) { /* 0 times infinity is NaN, canonical only if a kernel makes it so */
    tn_view_set_f64(&c->in[2].view, 0, 0);
    tn_view_set_f64(&c->in[3].view, 0, INFINITY);
  }
}

/* ---- windows ---- */
static int64_t places(const tn_attrs *attrs, int64_t length, int which) {
  return (length + attrs->low[which] + attrs->high[which] - attrs->window[which]) / attrs->step[which] + 1;
}

/* An image, and windows that fit it at least once. */
static tn_shape any_windows(op_case *c) {
  static const int64_t channels[] = { 1, 2, 3, 4, 7, 8, 16, 17, 33 };
  tn_shape image = tn_shape_make(4, (int64_t)(is_big(c) ? 4 : 1 + below(c, 2)), (int64_t)(1 + below(c, 12)),
                                 (int64_t)(1 + below(c, 12)), channels[below(c, 9)]);
  if (is_big(c)) image.dim[1] = image.dim[2] = 14 + below(c, 8);
  if (one_in(c, 16)) image.dim[below(c, 2) * 3] = 0;
  for (int which = 0; which < 2; which++) {
    c->attrs.low[which] = one_in(c, 2) ? 0 : below(c, 3);
    c->attrs.high[which] = one_in(c, 2) ? 0 : below(c, 3);
    c->attrs.step[which] = 1 + below(c, 3);
    int64_t most = image.dim[1 + which] + c->attrs.low[which] + c->attrs.high[which];
    c->attrs.window[which] = 1 + below(c, most < 5 ? (int)most : 5);
  }
  return image;
}

void make_patches(op_case *c) {
  tn_shape image = any_windows(c);
  add_operand(c, dtype_of(c, TN_NUMBERS), &image, ANY_VALUES, 0);
}

void make_fold(op_case *c) {
  tn_shape image = any_windows(c);
  tn_shape patches = tn_shape_make(4, image.dim[0], places(&c->attrs, image.dim[1], 0),
                                   places(&c->attrs, image.dim[2], 1),
                                   c->attrs.window[0] * c->attrs.window[1] * image.dim[3]);
  c->attrs.shape = image;
  add_operand(c, dtype_of(c, TN_NUMBERS), &patches, one_in(c, 4) ? ANY_VALUES : SMALL_VALUES, 0);
}

/* Two of an image, what is made of its windows, and weights; the operation gives the third. */
void make_depthwise(op_case *c) {
  tn_shape image = any_windows(c);
  int64_t each = one_in(c, 3) ? 1 + below(c, 3) : 1;
  tn_shape outputs = tn_shape_make(4, image.dim[0], places(&c->attrs, image.dim[1], 0),
                                   places(&c->attrs, image.dim[2], 1), image.dim[3] * each);
  tn_shape weights = tn_shape_make(4, c->attrs.window[0], c->attrs.window[1], 1, outputs.dim[3]);
  tn_dtype dtype = one_in(c, 2) ? TN_F32 : dtype_of(c, TN_NUMBERS);
  contents what = one_in(c, 4) ? ANY_VALUES : SMALL_VALUES;
  c->contiguous = one_in(c, 2);
  if (c->op == TN_OP_DEPTHWISE_IMAGE) c->attrs.shape = image;
  add_operand(c, dtype, c->op == TN_OP_DEPTHWISE_IMAGE ? &outputs : &image, what, 0);
  add_operand(c, dtype, c->op == TN_OP_DEPTHWISE_WEIGHTS ? &outputs : &weights, what, 0);
}
