/* backend/cuda/windows.c: convolutions that read windows directly from the images: TN_FUSION_WINDOWS.
 *
 *   patches x, w -> out   a convolution: rows of the matrix are windows
 *   matmul x, g -> out    the gradient of its weights: columns are windows
 *
 * The attributes are those of patches. Tiles are those of matmul.c that accept any operand layout. */
#include "backend/cuda/internal.h"

#define MULTIPROCESSORS 132   /* as in matmul.c */

static const struct {
  tn_card_kernel of_matrices;   /* the matmul.c kernel of the same tile */
  tn_card_kernel kernel;
  bool turned;
} kernels[] = {
  { TN_CARD_matmul_any64x64, TN_CARD_matmul_any64x64_windows, false },
  { TN_CARD_matmul_any32x32, TN_CARD_matmul_any32x32_windows, false },
  { TN_CARD_matmul_any32x32, TN_CARD_matmul_any32x32_turned, true },
  { TN_CARD_matmul_any16x32, TN_CARD_matmul_any16x32_turned, true },
};
#define KERNEL_COUNT ((int)(sizeof kernels / sizeof kernels[0]))

static const tn_card_tile *tile_of(int kernel) {
  int t = 0;
  while (tn_card_tile_at(t)->kernel != kernels[kernel].of_matrices) t++;
  return tn_card_tile_at(t);
}

/* Time per step of k. */
static double cost(const tn_card_tile *tile, const card_matmul_arguments *a) {
  int64_t blocks = tn_card_parts(a->m, tile->m) * tn_card_parts(a->n, tile->n);
  double filled = tile->full * (double)tn_card_parts(blocks, MULTIPROCESSORS);
  return filled > tile->alone ? filled : tile->alone;
}

/* ---- arguments ---- */
static card_windows windows_of(const tn_view *image, const tn_attrs *attrs) {
  card_windows w = { .height = (int32_t)image->dim[1], .width = (int32_t)image->dim[2],
                     .channels = (int32_t)image->dim[3], .columns = attrs->window[1] };
  int32_t places[2];
  for (int k = 0; k < 2; k++) {
    int64_t room = image->dim[1 + k] + attrs->low[k] + attrs->high[k] - attrs->window[k];
    places[k] = (int32_t)(room / attrs->step[k] + 1);
    w.step[k] = (int32_t)attrs->step[k], w.low[k] = (int32_t)attrs->low[k];
  }
  w.down = places[0], w.across = places[1];
  return w;
}

static bool by_runs(const tn_view *matrix) {
  return matrix->stride[1] == 1 && matrix->stride[0] % 4 == 0 && (uintptr_t)matrix->data % 16 == 0;
}

static card_matmul_arguments arguments_of(const tn_kernel_call *call) {
  const tn_view *image = &call->in[0], *y = &call->in[1], *out = call->out;
  return (card_matmul_arguments){
    .batch = { .count = 1 }, .x = { .data = image->data }, .y = { .data = y->data },
    .out = { .data = out->data }, .m = out->dim[0], .n = out->dim[1], .k = y->dim[0],
    .y_row = y->stride[0] * 4, .y_column = y->stride[1] * 4,
    .out_row = out->stride[0] * 4, .out_column = out->stride[1] * 4, .out_runs = by_runs(out),
    .y_kind = by_runs(y) ? CARD_RUNS : y->stride[1] < y->stride[0] ? CARD_ACROSS : CARD_ALONG,
    .windows = windows_of(image, call->attrs)
  };
}

bool tn_card_windows_by(const tn_kernel_call *call, int kernel) {
  const tn_card_tile *tile = tile_of(kernel);
  card_matmul_arguments a = arguments_of(call);
  a.tiles_m = tn_card_parts(a.m, tile->m), a.tiles_n = tn_card_parts(a.n, tile->n);
  a.start = (card_start){ call->queue->fault, call->queue->step };
  return call->queue->launch(call->queue, kernels[kernel].kernel, a.tiles_m * a.tiles_n, tile->threads, 0,
                             &a, sizeof a);
}

int tn_card_windows_kernel(const tn_kernel_call *call, int after) {
  bool turned = call->op == TN_OP_MATMUL;
  do after++;
  while (after < KERNEL_COUNT && kernels[after].turned != turned);
  return after < KERNEL_COUNT ? after : -1;
}

bool tn_cuda_windows(const tn_kernel_call *call) {
  card_matmul_arguments a = arguments_of(call);
  int best = tn_card_windows_kernel(call, -1);
  for (int k = best; k >= 0; k = tn_card_windows_kernel(call, k))
    if (cost(tile_of(k), &a) < cost(tile_of(best), &a)) best = k;
  return tn_card_windows_by(call, best);
}
