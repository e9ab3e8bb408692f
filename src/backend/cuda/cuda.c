/* backend/cuda/cuda.c: the back end for NVIDIA cards.
 *
 *   kernels/       what runs on the card, in plain C: PTX by clang, host functions for tests
 *   elementwise.c, matmul.c, windows.c, move.c, reduce.c, rows.c, attention.c, depthwise.c
 *                  the kernels of the table: they turn a call into launches
 *   views.c        views and launches
 *   driver.c       libcuda, found at run time
 *   modules.c      loading the kernels
 *   card.c         a card: its memory, its queue
 *
 * Every kernel gives the same bits as ref; tests/ops/card.c compares them on the host, and on a card. */
#include "backend/cuda/internal.h"

#define TN_OP(id, ...) [TN_OP_##id] = __VA_ARGS__,
#define TN_KERNEL(ref, cpu, small, cuda) cuda
#define TN_EXPAND(...) NULL
#define CUDA(name) tn_cuda_##name
#define NO_KERNEL NULL
static const tn_kernel kernels[TN_OP_COUNT] = {
#include "op/ops.def"
};

#define TN_FUSION(id, first, second, pattern, cpu, cuda) [TN_FUSION_##id] = cuda,
#define CUDA(name) tn_cuda_##name
#define NO_KERNEL NULL
static const tn_kernel fusions[TN_FUSION_COUNT] = {
#include "backend/fusions.def"
};

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t scratch(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                      int count, const tn_view *out, int threads) {
  (void)threads;
  tn_kernel kernel = backend->kernels[op];
  if (op == TN_OP_SOFTMAX && attrs->program) return 0;   /* TN_FUSION_XENT_SLOPE */
  if (kernel == tn_cuda_attention || kernel == tn_cuda_attention_grad)
    return tn_card_attention_scratch(
        &(tn_kernel_call){ .op = op, .attrs = attrs, .in = in, .count = count, .out = out });
  if (kernel == tn_cuda_layer_norm_grad) return tn_card_norm_grad_scratch(&in[0]);
  if (kernel == tn_cuda_scatter_add || kernel == tn_cuda_row_update)
    return tn_card_scatter_scratch(in[0].dtype, in[0].dim[kernel == tn_cuda_row_update ? 0 : attrs->axis],
                                   tn_view_count(&in[1]));
  size_t bytes = tn_dtype_bytes(out->dtype);
  int64_t rows = tn_view_count(out);
  if (kernel == tn_cuda_sum || kernel == tn_cuda_mean || kernel == tn_cuda_max || kernel == tn_cuda_min ||
      kernel == tn_cuda_prod)
    return rows ? tn_card_join_scratch(rows, tn_view_count(&in[0]) / rows, bytes) : 0;
  if (kernel == tn_cuda_softmax || kernel == tn_cuda_log_softmax || kernel == tn_cuda_layer_norm) {
    int64_t length = in[0].dim[kernel == tn_cuda_layer_norm ? in[0].rank - 1 : attrs->axis];
    return length ? tn_card_rows_scratch(rows / length, length, bytes) : 0;
  }
  if (kernel != tn_cuda_cross_entropy) return 0;
  int64_t losses = tn_view_count(&in[1]);
  return (size_t)losses * bytes + larger(tn_card_rows_scratch(losses, in[0].dim[in[0].rank - 1], bytes),
                                         tn_card_join_scratch(1, losses, bytes));
}

const tn_backend *tn_backend_cuda(void) {
  static const tn_backend cuda = {
    .name = "cuda", .isa = "", .kernels = kernels, .scratch = scratch, .fusions = fusions,
  };
  return &cuda;
}
