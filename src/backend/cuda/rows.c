/* backend/cuda/rows.c: softmax, log_softmax, layer_norm and cross entropy with their gradients: one
 * block per row. */
#include "backend/cuda/internal.h"
#include "backend/layer_norm.h"
#include "op/scalar.h"

#define BLOCKS 1024   /* that rows of many chunks have room for their sums in scratch */

size_t tn_card_rows_scratch(int64_t rows, int64_t length, size_t element) {
  int64_t blocks = rows < BLOCKS ? rows : BLOCKS, chunks = tn_card_parts(length, CARD_CHUNK);
  return chunks > CARD_CHUNK ? (size_t)(blocks * chunks) * element : 0;
}

/* A warp for a row of one or two chunks, half a warp per chunk for more. */
static int threads_for(int64_t length) {
  int threads = CARD_WARP;
  while (threads < CARD_BLOCK && threads * 16 < length) threads *= 2;
  return threads;
}

/* Rows that stay in registers: kernels/lines.h. */
#define LINE_CHUNKS 16

static bool are_lines(const card_rows_arguments *a, tn_dtype dtype) {
  bool side_by_side = a->x_along == 4 && (a->kind == CARD_CROSS_ENTROPY || a->out_along == 4);
  if (a->kind == CARD_LAYER_NORM) side_by_side = side_by_side && a->gamma_along == 4 && a->beta_along == 4;
  if (a->kind == CARD_LAYER_NORM_GRAD) side_by_side = side_by_side && a->gamma_along == 4 && a->g_along == 4;
  return dtype == TN_F32 && a->chunks <= LINE_CHUNKS && (side_by_side || a->length == 1);
}

static bool launch_lines(const tn_kernel_call *call, card_rows_arguments *a) {
  tn_card_kernel kernel = a->kind == CARD_LAYER_NORM        ? TN_CARD_norm_lines
                          : a->kind == CARD_LAYER_NORM_GRAD ? TN_CARD_norm_grad_lines
                                                            : TN_CARD_softmax_lines;
  int64_t halves = 1;
  while (halves < a->chunks) halves *= 2;
  int64_t together = LINE_CHUNKS / halves;
  return tn_card_launch_blocks(call, kernel, tn_card_parts(a->rows.count, together), CARD_BLOCK, &a->start,
                               sizeof *a);
}

static bool launch(const tn_kernel_call *call, card_rows_arguments *a, tn_dtype dtype) {
  a->chunks = tn_card_parts(a->length, CARD_CHUNK);
  if (are_lines(a, dtype)) return launch_lines(call, a);
  int64_t blocks = a->rows.count;
  if (a->chunks > CARD_CHUNK && blocks > BLOCKS) blocks = BLOCKS;
  return tn_card_launch_blocks(call, dtype == TN_F32 ? TN_CARD_rows_f32 : TN_CARD_rows_f64, blocks,
                               threads_for(a->length), &a->start, sizeof *a);
}

static bool softmax(const tn_kernel_call *call, card_row_kind kind) {
  const tn_view *x = &call->in[0], *out = call->out;
  int axis = call->attrs->axis;
  bool marked[TN_RANK_LIMIT] = { 0 };
  marked[axis] = true;
  tn_view rows = tn_card_axes(x, marked, false), to = tn_card_axes(out, marked, false);
  tn_card_views seen;
  if (x->dim[axis] == 0) return true;
  tn_card_see((const tn_view *[]){ &rows, &to }, 2, &seen);
  card_rows_arguments a = { .rows = seen.shape, .length = x->dim[axis], .x = seen.operand[0],
                            .out = seen.operand[1], .x_along = x->stride[axis] * seen.operand[0].bytes,
                            .out_along = out->stride[axis] * seen.operand[1].bytes, .partial = call->scratch,
                            .kind = (int32_t)kind };
  return launch(call, &a, x->dtype);
}

bool tn_cuda_softmax(const tn_kernel_call *call) { return softmax(call, CARD_SOFTMAX); }
bool tn_cuda_log_softmax(const tn_kernel_call *call) { return softmax(call, CARD_LOG_SOFTMAX); }

#define VIEWS 5

/* Tensors of one shape, [..., n], as rows: where they begin, and the bytes from element to element. */
static tn_card_views see_rows(const tn_view *whole, int count, int64_t along[VIEWS]) {
  int last = whole[0].rank - 1;
  bool marked[TN_RANK_LIMIT] = { 0 };
  tn_view rows[VIEWS];
  const tn_view *seen_by[VIEWS];
  tn_card_views seen;
  marked[last] = true;
  for (int k = 0; k < count; k++) {
    rows[k] = tn_card_axes(&whole[k], marked, false);
    seen_by[k] = &rows[k];
    along[k] = whole[k].stride[last] * (int64_t)tn_dtype_bytes(whole[k].dtype);
  }
  tn_card_see(seen_by, count, &seen);
  return seen;
}

bool tn_cuda_layer_norm(const tn_kernel_call *call) {
  tn_shape shape = tn_view_shape(call->out);
  int64_t along[VIEWS], n = shape.dim[shape.rank - 1];
  tn_view whole[4];
  if (n == 0) return true;
  for (int k = 0; k < 4; k++) whole[k] = k < 3 ? tn_view_broadcast(&call->in[k], &shape) : *call->out;
  tn_card_views seen = see_rows(whole, 4, along);
  card_rows_arguments a = { .rows = seen.shape, .length = n, .x = seen.operand[0],
                            .gamma = seen.operand[1], .beta = seen.operand[2], .out = seen.operand[3],
                            .x_along = along[0], .gamma_along = along[1], .beta_along = along[2],
                            .out_along = along[3], .number = call->attrs->number, .partial = call->scratch,
                            .kind = CARD_LAYER_NORM };
  return launch(call, &a, call->out->dtype);
}

/* ---- layer_norm_grad ---- */

/* Scratch: what was measured of each row; then sums of chunks, first of rows, then of columns. */
size_t tn_card_norm_grad_scratch(const tn_view *x) {
  int64_t rows = tn_layer_norm_rows(x), n = x->dim[x->rank - 1];
  size_t bytes = tn_dtype_bytes(x->dtype), of_rows = tn_card_rows_scratch(rows, n, bytes);
  size_t of_columns = tn_card_join_scratch(2 * n, rows, bytes);
  return (size_t)(CARD_MEASURED * rows) * bytes + (of_rows > of_columns ? of_rows : of_columns);
}

/* After the rows: one more launch, or two where there are several chunks of them. */
static bool launch_columns(const tn_kernel_call *call, card_rows_arguments *a) {
  tn_dtype dtype = call->out->dtype;
  tn_view sums = tn_layer_norm_grad_of(call, TN_LAYER_NORM_GAMMA);
  sums.dim[0] *= 2;
  a->sums = sums.data;
  a->out_along = sums.stride[0] * (int64_t)tn_dtype_bytes(dtype);
  a->row_chunks = tn_card_parts(a->rows.count, CARD_CHUNK);
  int64_t blocks = tn_card_parts(a->length, CARD_WARP) * a->row_chunks;
  tn_card_kernel kernel = dtype == TN_F32 ? TN_CARD_norm_columns_f32 : TN_CARD_norm_columns_f64;
  if (dtype == TN_F32 && a->rows.rank == 1) kernel = TN_CARD_norm_columns;
  if (!tn_card_launch_blocks(call, kernel, blocks, CARD_BLOCK, &a->start, sizeof *a)) return false;
  return a->row_chunks == 1 || tn_card_join_parts(call, &sums, a->row_chunks, a->partial);
}

/* By row and with an axis of n, like the others, though it has one number for each row. */
static tn_view means_of(const tn_kernel_call *call, int64_t n) {
  tn_view mean = tn_layer_norm_grad_of(call, TN_LAYER_NORM_MEAN);
  mean.dim[mean.rank] = n;
  mean.stride[mean.rank++] = 0;
  return mean;
}

bool tn_cuda_layer_norm_grad(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0];
  tn_shape shape = tn_view_shape(x);
  int64_t along[VIEWS], rows = tn_layer_norm_rows(x), n = shape.dim[shape.rank - 1];
  if (tn_view_count(x) == 0) return tn_card_fill(call, call->out, n == 0 ? __builtin_nan("") : 0);
  const tn_view whole[] = { *x, tn_view_broadcast(&call->in[1], &shape), call->in[2],
                            tn_layer_norm_grad_of(call, TN_LAYER_NORM_X), means_of(call, n) };
  tn_card_views seen = see_rows(whole, VIEWS, along);
  char *after_measured = (char *)call->scratch + (size_t)(CARD_MEASURED * rows) * tn_dtype_bytes(x->dtype);
  card_rows_arguments a = { .rows = seen.shape, .length = n, .x = seen.operand[0],
                            .gamma = seen.operand[1], .g = seen.operand[2], .out = seen.operand[3],
                            .mean = seen.operand[4], .x_along = along[0], .gamma_along = along[1],
                            .g_along = along[2], .out_along = along[3], .number = call->attrs->number,
                            .measured = call->scratch, .partial = after_measured,
                            .kind = CARD_LAYER_NORM_GRAD };
  return launch(call, &a, x->dtype) && launch_columns(call, &a);
}

/* ---- cross entropy ---- */

/* Scratch: the loss of each row, then the scratch of the launch, which the reduction reuses. */
bool tn_cuda_cross_entropy(const tn_kernel_call *call) {
  const tn_view *logits = &call->in[0], *labels = &call->in[1];
  int last = logits->rank - 1;
  bool marked[TN_RANK_LIMIT] = { 0 };
  marked[last] = true;
  if (!tn_card_check_index(call, labels, logits->dim[last], last)) return false;
  tn_view rows = tn_card_axes(logits, marked, false);
  int64_t count = tn_view_count(&rows);
  if (count == 0) return tn_card_fill(call, call->out, __builtin_nan(""));

  tn_card_views seen;
  tn_card_see((const tn_view *[]){ &rows, labels }, 2, &seen);
  char *after_losses = (char *)call->scratch + (size_t)count * tn_dtype_bytes(logits->dtype);
  card_rows_arguments a = { .rows = seen.shape, .length = logits->dim[last], .x = seen.operand[0],
                            .label = seen.operand[1], .x_along = logits->stride[last] * seen.operand[0].bytes,
                            .losses = call->scratch, .partial = after_losses, .kind = CARD_CROSS_ENTROPY };
  if (!launch(call, &a, logits->dtype)) return false;
  tn_shape one = { .rank = 0 }, all = { .rank = 1, .dim = { count } };
  tn_view row = tn_view_make(call->scratch, logits->dtype, &one);
  tn_view losses = tn_view_make(call->scratch, logits->dtype, &all);
  return tn_card_join_rows(call, &row, &losses, call->out, CARD_ADD, true, after_losses);
}

/* The constant of the program: there is one where the factor is no operand. */
static float constant_of(const tn_fused *program) {
  int s = 0;
  while (program->step[s].op != TN_OP_FILL) s++;
  return tn_element_of_f64(program->step[s].number, TN_F32).f32;
}

/* TN_FUSION_XENT_SLOPE. Rows are short enough to stay in registers. */
bool tn_cuda_xent_slope(const tn_kernel_call *call) {
  tn_shape shape = tn_view_shape(call->out);
  int64_t along[VIEWS];
  tn_view whole[4];
  for (int k = 0; k < 4; k++) whole[k] = k < 3 ? tn_view_broadcast(&call->in[k], &shape) : *call->out;
  tn_card_views seen = see_rows(whole, 4, along);
  card_rows_arguments a = { .rows = seen.shape, .length = shape.dim[shape.rank - 1], .x = seen.operand[0],
                            .label = seen.operand[1], .class = seen.operand[2], .out = seen.operand[3],
                            .x_along = along[0], .label_along = along[1], .class_along = along[2],
                            .out_along = along[3], .kind = CARD_XENT_SLOPE };
  if (call->count > 3) a.factor = call->in[3].data;
  else a.number = (double)constant_of(call->attrs->program);
  return launch(call, &a, TN_F32);
}
