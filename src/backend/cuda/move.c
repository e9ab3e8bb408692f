/* backend/cuda/move.c: copies, gather, scatter and windows. */
#include <string.h>

#include "backend/cuda/internal.h"

static tn_card_views see_one(const tn_view *view) {
  tn_card_views seen;
  tn_card_see(&view, 1, &seen);
  return seen;
}

/* Equal shapes are merged together, which leaves fewer axes. */
bool tn_card_move(const tn_kernel_call *call, const tn_view *out, const tn_view *x) {
  tn_shape to = tn_view_shape(out), from = tn_view_shape(x);
  card_move_arguments a;
  if (tn_shape_equal(&to, &from)) {
    tn_card_views both;
    tn_card_see((const tn_view *[]){ out, x }, 2, &both);
    a = (card_move_arguments){ .to_shape = both.shape, .from_shape = both.shape, .to = both.operand[0],
                               .from = both.operand[1] };
  } else {
    tn_card_views one = see_one(out), other = see_one(x);
    a = (card_move_arguments){ .to_shape = one.shape, .from_shape = other.shape, .to = one.operand[0],
                               .from = other.operand[0] };
  }
  return tn_card_launch(call, TN_CARD_move, a.to_shape.count, &a.start, sizeof a);
}

bool tn_cuda_copy(const tn_kernel_call *call) {
  tn_view x = call->in[0];
  tn_shape shape = tn_view_shape(call->out);
  tn_op_view_data(call->op, call->attrs, &shape, &call->in[0], &x);
  return tn_card_move(call, call->out, &x);
}

/* x is copied into a view of the result that skips the padding. */
bool tn_cuda_pad(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0];
  tn_view inner = *call->out;
  if (!tn_card_fill(call, call->out, 0)) return false;
  int64_t offset = 0;
  for (int axis = 0; axis < x->rank; axis++) {
    inner.dim[axis] = x->dim[axis];
    offset += call->attrs->low[axis] * inner.stride[axis];
    inner.stride[axis] *= 1 + call->attrs->step[axis];
  }
  if (tn_view_count(x) == 0) return true;
  inner.data = (char *)inner.data + offset * (int64_t)tn_dtype_bytes(inner.dtype);
  return tn_card_move(call, &inner, x);
}

bool tn_cuda_concat(const tn_kernel_call *call) {
  int axis = call->attrs->axis;
  int64_t start = 0;
  for (int k = 0; k < call->count; k++) {
    const tn_view *x = &call->in[k];
    tn_view part = tn_view_slice(call->out, axis, start, 1, x->dim[axis]);
    if (!tn_card_move(call, &part, x)) return false;
    start += x->dim[axis];
  }
  return true;
}

/* ---- by an index ---- */
bool tn_card_check_index(const tn_kernel_call *call, const tn_view *index, int64_t limit, int axis) {
  tn_card_views seen = see_one(index);
  card_check_arguments a = { .shape = seen.shape, .index = seen.operand[0], .limit = limit,
                             .op = (int32_t)call->op, .axis = axis };
  int threads = CARD_WARP;
  while (threads < CARD_WIDE && threads < seen.shape.count) threads *= 2;
  return tn_card_launch_blocks(call, TN_CARD_check_index, seen.shape.count > 0, threads, &a.start, sizeof a);
}

/* The operand viewed by the axes [before..., i..., after...], with stride 0 along the axes of the index i. x
 * has one axis in place of i; it is left out. */
static tn_view by_slices(const tn_view *whole, const tn_view *x, int axis, int index_rank) {
  tn_view view = *whole;
  view.data = x->data, view.dtype = x->dtype;
  for (int a = 0; a < whole->rank; a++) {
    bool inside = a >= axis && a < axis + index_rank;
    view.stride[a] = inside ? 0 : x->stride[a < axis ? a : a - index_rank + 1];
  }
  return view;
}

/* ---- elements of 16 bytes ---- */
#define RUN 16

static bool begins_runs(const card_operand *x, int last) {
  bool aligned = (uintptr_t)x->data % RUN == 0 && x->stride[last] == x->bytes;
  for (int axis = 0; axis < last; axis++) aligned = aligned && x->stride[axis] % RUN == 0;
  return aligned;
}

/* Views the last axis of the first `count` operands as elements of 16 bytes, if their elements are contiguous
 * and aligned there; the other operands must repeat along it. False: nothing has changed. */
static bool see_runs(tn_card_views *seen, int count, int others) {
  int last = seen->shape.rank - 1;
  if (last < 0 || seen->shape.dim[last] * seen->operand[0].bytes % RUN != 0) return false;
  for (int k = 0; k < count; k++)
    if (!begins_runs(&seen->operand[k], last)) return false;
  for (int k = count; k < count + others; k++)
    if (seen->operand[k].stride[last] != 0) return false;
  seen->shape.dim[last] /= RUN / seen->operand[0].bytes;
  seen->shape = tn_card_shape(seen->shape.rank, seen->shape.dim);
  for (int k = 0; k < count; k++) seen->operand[k].stride[last] = seen->operand[k].bytes = RUN;
  return true;
}

/* The index viewed by the same axes. */
static tn_view by_entries(const tn_view *whole, const tn_view *index, int axis) {
  tn_view view = *whole;
  view.data = index->data, view.dtype = index->dtype;
  for (int a = 0; a < whole->rank; a++)
    view.stride[a] = a >= axis && a < axis + index->rank ? index->stride[a - axis] : 0;
  return view;
}

bool tn_cuda_gather(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1];
  int axis = call->attrs->axis;
  if (!tn_card_check_index(call, index, x->dim[axis], axis)) return false;
  tn_view slices = by_slices(call->out, x, axis, index->rank), entries = by_entries(call->out, index, axis);
  tn_card_views seen;
  tn_card_see((const tn_view *[]){ call->out, &slices, &entries }, 3, &seen);
  int64_t axis_stride = x->stride[axis] * (int64_t)tn_dtype_bytes(x->dtype);
  if (axis_stride % RUN == 0) see_runs(&seen, 2, 1);
  card_gather_arguments a = { .shape = seen.shape, .out = seen.operand[0], .x = seen.operand[1],
                              .index = seen.operand[2], .axis_stride = axis_stride };
  return tn_card_launch(call, TN_CARD_gather, a.shape.count, &a.start, sizeof a);
}

/* The columns: x and the result without the axis, y without the axes of the index. `wide`: four elements may
 * be one column. */
static void see_columns(const tn_kernel_call *call, int axis, bool wide, card_scatter_arguments *a) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2];
  bool of_x[TN_RANK_LIMIT] = { 0 }, of_y[TN_RANK_LIMIT] = { 0 };
  tn_card_views seen;
  of_x[axis] = true;
  for (int k = 0; k < index->rank; k++) of_y[axis + k] = true;
  tn_view x_columns = tn_card_axes(x, of_x, false), out_columns = tn_card_axes(call->out, of_x, false);
  tn_view y_columns = tn_card_axes(y, of_y, false), y_entries = tn_card_axes(y, of_y, true);
  tn_card_see((const tn_view *[]){ &x_columns, &out_columns, &y_columns }, 3, &seen);
  bool aligned = wide && (a->x_row | a->out_row) % RUN == 0;
  for (int axis_of_y = 0; axis_of_y < y_entries.rank; axis_of_y++)
    aligned = aligned && y_entries.stride[axis_of_y] * (int64_t)tn_dtype_bytes(y->dtype) % RUN == 0;
  a->runs = aligned && see_runs(&seen, 3, 0);
  a->columns = seen.shape, a->x = seen.operand[0], a->out = seen.operand[1], a->y = seen.operand[2];
  tn_card_see((const tn_view *[]){ index, &y_entries }, 2, &seen);
  a->entries = seen.shape, a->index = seen.operand[0], a->y_entry = seen.operand[1];
}

/* ---- many rows ---- */
/* With fewer rows and entries, every row scans the whole index; from these on, sorting is faster. */
#define SORTED_ROWS 256
#define SORTED_ENTRIES 64
#define MANY_ENTRIES 2048

static bool is_sorted(tn_dtype dtype, int64_t rows, int64_t entries) {
  bool many = entries >= (rows >= SORTED_ROWS ? SORTED_ENTRIES : MANY_ENTRIES);
  return dtype == TN_F32 && many && rows > 0 && rows < INT32_MAX && entries < INT32_MAX;
}

size_t tn_card_scatter_scratch(tn_dtype dtype, int64_t rows, int64_t entries) {
  return is_sorted(dtype, rows, entries) ? (size_t)(4 * entries + rows + 1) * sizeof(int32_t) : 0;
}

/* Few rows that are named often: each may look for its entries itself, and has a block for 32 columns. */
#define OFTEN 16
#define LOOKS ((int64_t)1 << 23)   /* at entries of the index, by all rows together */

static bool is_often(int64_t rows, int64_t entries) {
  return entries / OFTEN >= rows && rows <= LOOKS / entries;
}

static bool scatter_often(const tn_kernel_call *call, card_scatter_arguments *a) {
  int64_t tiles = tn_card_parts(a->columns.count, CARD_WARP);
  return tn_card_launch_blocks(call, TN_CARD_find_entries, a->rows, CARD_WIDE, &a->start, sizeof *a) &&
         tn_card_launch_blocks(call, TN_CARD_scatter_often, a->rows * tiles, CARD_OFTEN_THREADS, &a->start,
                               sizeof *a);
}

static bool scatter_sorted(const tn_kernel_call *call, card_scatter_arguments *a, bool often) {
  int64_t entries = a->entries.count;
  int32_t *scratch = call->scratch;
  for (int k = 0; k < 2; k++) a->named[k] = scratch + k * entries, a->entry[k] = scratch + (2 + k) * entries;
  a->begin = scratch + 4 * entries;
  if (often && a->entries.rank == 1) return scatter_often(call, a);
  for (a->passes = 1; (a->rows - 1) >> (4 * a->passes); a->passes++) continue;
  int64_t tiles = tn_card_parts(a->columns.count, CARD_WARP);
  return tn_card_launch_blocks(call, TN_CARD_sort_entries, 1, CARD_SORT_THREADS, &a->start, sizeof *a) &&
         tn_card_launch(call, TN_CARD_begin_rows, entries + 1, &a->start, sizeof *a) &&
         tn_card_launch(call, TN_CARD_scatter_sorted, a->rows * tiles * CARD_WARP, &a->start, sizeof *a);
}

static bool scatter(const tn_kernel_call *call, int axis, const tn_view *scale) {
  const tn_view *x = &call->in[0], *out = call->out;
  int64_t bytes = (int64_t)tn_dtype_bytes(x->dtype);
  if (!call->checked && !tn_card_check_index(call, &call->in[1], x->dim[axis], axis)) return false;
  card_scatter_arguments a = { .rows = x->dim[axis], .x_row = x->stride[axis] * bytes,
                               .out_row = out->stride[axis] * bytes, .scale = scale ? scale->data : NULL,
                               .in_place = x->data == out->data };
  int64_t entries = tn_view_count(&call->in[1]);
  bool sorted = is_sorted(x->dtype, a.rows, entries), often = sorted && is_often(a.rows, entries);
  see_columns(call, axis, sorted && !often, &a);
  if (sorted) return scatter_sorted(call, &a, often);
  bool quick = x->dtype == TN_F32;
  int64_t tile = quick ? CARD_WARP : 4 * CARD_WARP, tiles = tn_card_parts(a.columns.count, tile);
  return tn_card_launch(call, quick ? TN_CARD_scatter_f32 : TN_CARD_scatter, a.rows * tiles * CARD_WARP,
                        &a.start, sizeof a);
}

bool tn_cuda_scatter_add(const tn_kernel_call *call) { return scatter(call, call->attrs->axis, NULL); }
bool tn_cuda_row_update(const tn_kernel_call *call) { return scatter(call, 0, &call->in[3]); }

/* ---- windows ---- */
static card_operand operand_of(const tn_view *view, int64_t *dim) {
  card_operand to = { .data = view->data, .dtype = (int32_t)view->dtype,
                      .bytes = (int32_t)tn_dtype_bytes(view->dtype) };
  for (int axis = 0; axis < 4; axis++) {
    dim[axis] = view->dim[axis];
    to.stride[axis] = view->stride[axis] * to.bytes;
  }
  return to;
}

static bool windows(const tn_kernel_call *call, tn_card_kernel kernel, const tn_view *image,
                    const tn_view *windows_of) {
  card_window_arguments a = { .count = tn_view_count(call->out) };
  a.image = operand_of(image, a.image_dim);
  a.windows = operand_of(windows_of, a.windows_dim);
  for (int k = 0; k < 2; k++) {
    a.step[k] = call->attrs->step[k];
    a.low[k] = call->attrs->low[k];
    a.window[k] = call->attrs->window[k];
  }
  return tn_card_launch(call, kernel, a.count, &a.start, sizeof a);
}

bool tn_cuda_patches(const tn_kernel_call *call) {
  return windows(call, TN_CARD_patches, &call->in[0], call->out);
}
bool tn_cuda_fold(const tn_kernel_call *call) { return windows(call, TN_CARD_fold, call->out, &call->in[0]); }
