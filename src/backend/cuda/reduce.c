/* backend/cuda/reduce.c: reductions and scans. */
#include <string.h>

#include "backend/cuda/internal.h"

/* ---- joining rows ---- */
/* Partial results of the chunks, and of one round of joining; later rounds alternate between the two. */
size_t tn_card_join_scratch(int64_t rows, int64_t length, size_t element) {
  int64_t chunks = tn_card_parts(length, CARD_CHUNK);
  return chunks > 1 ? (size_t)(rows * (chunks + tn_card_parts(chunks, CARD_GROUP))) * element : 0;
}

/* As many threads as there are pairs, of whole warps. */
static int join_threads(int64_t count) {
  int threads = CARD_WARP;
  while (threads < CARD_BLOCK && 2 * threads < count) threads *= 2;
  return threads;
}

static bool join_chunks(const tn_kernel_call *call, const card_reduce_arguments *from, tn_dtype dtype,
                        char *scratch) {
  size_t element = tn_dtype_bytes(dtype);
  int64_t count = from->chunks;
  char *here = scratch, *there = scratch + (size_t)(from->rows.count * count) * element;
  while (count > 1) {
    int64_t groups = tn_card_parts(count, CARD_GROUP);
    card_join_arguments a = { .rows = from->rows, .from = here, .to = there, .count = count, .groups = groups,
                              .kind = from->kind, .last = groups == 1, .out = from->out,
                              .divisor = groups == 1 ? from->divisor : 0 };
    if (!tn_card_launch_blocks(call, tn_card_typed(TN_CARD_join_chunks_f32, dtype), from->rows.count * groups,
                               join_threads(count), &a.start, sizeof a))
      return false;
    char *next = here;
    here = there, there = next;
    count = groups;
  }
  return true;
}

bool tn_card_join_parts(const tn_kernel_call *call, const tn_view *out, int64_t parts, void *scratch) {
  tn_card_views seen;
  tn_card_see(&out, 1, &seen);
  card_reduce_arguments a = { .rows = seen.shape, .chunks = parts, .kind = CARD_ADD, .out = seen.operand[0] };
  return join_chunks(call, &a, out->dtype, scratch);
}

/* Whether neighbouring rows are adjacent in memory. */
static bool side_by_side(const card_reduce_arguments *a) {
  return a->kind == CARD_ADD && a->along.rank == 1 && a->rows.rank > 0 && a->rows.count >= CARD_WARP &&
         a->row.stride[a->rows.rank - 1] == a->row.bytes && a->x.stride[0] != a->row.bytes;
}

/* Rows with contiguous elements: kernels/reduce_lines.c. A block reduces 512 chunks, or several rows of at
 * most 16 chunks. */
#define LINE_CHUNKS 16

static bool are_lines(const card_reduce_arguments *a, tn_dtype dtype) {
  return dtype == TN_F32 && a->along.rank == 1 && (a->x.stride[0] == 4 || a->along.count == 1);
}

static bool join_lines(const tn_kernel_call *call, card_reduce_arguments *a) {
  int64_t groups = tn_card_parts(a->chunks, CARD_LINE_GROUP), halves = 1;
  while (halves < a->chunks && halves < LINE_CHUNKS) halves *= 2;
  int64_t together = LINE_CHUNKS / halves;
  int64_t blocks = tn_card_parts(a->rows.count, together);
  if (a->chunks > LINE_CHUNKS) blocks = a->rows.count * groups;
  if (!tn_card_launch_blocks(call, TN_CARD_reduce_lines, blocks, CARD_BLOCK, &a->start, sizeof *a))
    return false;
  a->chunks = groups;
  return groups == 1 || join_chunks(call, a, TN_F32, a->partial);
}

bool tn_card_join_rows(const tn_kernel_call *call, const tn_view *rows, const tn_view *along,
                       const tn_view *out, card_join_kind kind, bool mean, void *scratch) {
  int64_t length = tn_view_count(along), chunks = tn_card_parts(length, CARD_CHUNK);
  tn_card_views seen, line;
  tn_card_see((const tn_view *[]){ rows, out }, 2, &seen);
  tn_card_see(&along, 1, &line);
  if (line.shape.rank == 0) line.shape.rank = 1, line.shape.dim[0] = 1;
  card_reduce_arguments a = { .rows = seen.shape, .along = line.shape, .row = seen.operand[0],
                              .x = line.operand[0], .partial = scratch, .chunks = chunks,
                              .kind = (int32_t)kind, .last = chunks == 1, .divisor = mean ? length : 0,
                              .out = seen.operand[1] };
  bool columns = side_by_side(&a);
  if (!columns && are_lines(&a, out->dtype)) return join_lines(call, &a);
  tn_card_kernel kernel = tn_card_typed(columns ? TN_CARD_sum_columns_f32 : TN_CARD_reduce_f32, out->dtype);
  int64_t items = columns ? tn_card_parts(a.rows.count, CARD_WARP) * chunks * CARD_BLOCK
                          : (a.rows.count * chunks + 1) / 2 * CARD_WARP;
  if (!tn_card_launch(call, kernel, items, &a.start, sizeof a)) return false;
  return chunks == 1 || join_chunks(call, &a, out->dtype, scratch);
}

static bool of_nothing(const tn_kernel_call *call) {
  *call->fault = (tn_fault){ .kind = TN_FAULT_ARGUMENT, .op = call->op,
                             .reason = "there is no largest or smallest of no elements" };
  return false;
}

/* The result without the axes of length 1 that keepdims keeps. */
static tn_view result_by_rows(const tn_kernel_call *call, const bool *marked, const tn_view *rows) {
  if (!call->attrs->keepdims) return *call->out;
  tn_view out = tn_card_axes(call->out, marked, false);
  return out.rank == rows->rank ? out : *call->out;
}

static bool reduce(const tn_kernel_call *call, card_join_kind kind, bool mean, double nothing) {
  bool marked[TN_RANK_LIMIT] = { 0 };
  for (int k = 0; k < call->attrs->axis_count; k++) marked[call->attrs->axes[k]] = true;
  tn_view rows = tn_card_axes(&call->in[0], marked, false), along = tn_card_axes(&call->in[0], marked, true);
  tn_view out = result_by_rows(call, marked, &rows);
  if (tn_view_count(&rows) == 0) return true;
  if (tn_view_count(&along) > 0)
    return tn_card_join_rows(call, &rows, &along, &out, kind, mean, call->scratch);
  bool needs_one = kind == CARD_MAX || kind == CARD_MIN;
  return needs_one ? of_nothing(call) : tn_card_fill(call, &out, nothing);
}

bool tn_cuda_sum(const tn_kernel_call *call) { return reduce(call, CARD_ADD, false, 0); }
bool tn_cuda_mean(const tn_kernel_call *call) { return reduce(call, CARD_ADD, true, __builtin_nan("")); }
bool tn_cuda_max(const tn_kernel_call *call) { return reduce(call, CARD_MAX, false, 0); }
bool tn_cuda_min(const tn_kernel_call *call) { return reduce(call, CARD_MIN, false, 0); }
bool tn_cuda_prod(const tn_kernel_call *call) { return reduce(call, CARD_MUL, false, 1); }

/* ---- argmax, cumsum, cumprod ---- */
static card_scan_arguments along_axis(const tn_kernel_call *call, bool keeps_axis) {
  const tn_view *x = &call->in[0];
  bool marked[TN_RANK_LIMIT] = { 0 };
  int axis = call->attrs->axis;
  marked[axis] = true;
  tn_view rows = tn_card_axes(x, marked, false), out = *call->out;
  if (keeps_axis) out = tn_card_axes(call->out, marked, false);
  tn_card_views seen;
  tn_card_see((const tn_view *[]){ &rows, &out }, 2, &seen);
  return (card_scan_arguments){
    .rows = seen.shape, .x = seen.operand[0], .out = seen.operand[1], .length = x->dim[axis],
    .x_along = x->stride[axis] * seen.operand[0].bytes,
    .out_along = keeps_axis ? call->out->stride[axis] * seen.operand[1].bytes : 0,
    .reverse = call->attrs->reverse, .exclusive = call->attrs->exclusive
  };
}

bool tn_cuda_argmax(const tn_kernel_call *call) {
  card_scan_arguments a = along_axis(call, call->attrs->keepdims);
  if (a.length == 0 && a.rows.count > 0) return of_nothing(call);
  return tn_card_launch_blocks(call, tn_card_typed(TN_CARD_argmax_f32, call->in[0].dtype), a.rows.count,
                               a.length > CARD_CHUNK ? CARD_BLOCK : CARD_WARP, &a.start, sizeof a);
}

static bool scan(const tn_kernel_call *call, bool product) {
  card_scan_arguments a = along_axis(call, true);
  a.product = product;
  return tn_card_launch(call, tn_card_typed(TN_CARD_scan_f32, call->out->dtype), a.rows.count, &a.start,
                        sizeof a);
}

bool tn_cuda_cumsum(const tn_kernel_call *call) { return scan(call, false); }
bool tn_cuda_cumprod(const tn_kernel_call *call) { return scan(call, true); }
