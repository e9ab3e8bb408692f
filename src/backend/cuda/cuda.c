/* backend/cuda/cuda.c: the back end of NVIDIA's cards.
 *
 *   kernels/       what runs on the card, in plain C: PTX by clang, host functions for tests
 *   elementwise.c, move.c, reduce.c, rows.c    the kernels of the table: what a call means to a card
 *   views.c        views and launches
 *   driver.c       libcuda, found at run time
 *   card.c         a card: its memory, its queue
 *
 * Every kernel gives the bits of ref; tests/ops/card.c compares them on the host, and on a card. */
#include "backend/cuda/internal.h"

/* The table names the kernels without the prefix that functions have across files. */
#define FORWARD(name) \
  static bool cuda_##name(const tn_kernel_call *call) { return tn_cuda_##name(call); }
TN_CUDA_KERNELS(FORWARD)

typedef struct {
  tn_kernel cuda;
} entry;
_Static_assert(sizeof(entry) == sizeof(tn_kernel), "a table of entries is read as a table of kernels");

#define TN_OP(id, ...) [TN_OP_##id] = { __VA_ARGS__ },
#define TN_KERNEL(for_ref, for_cpu, for_small, for_cuda) for_cuda
#define TN_EXPAND(...) .cuda = NULL
static const entry entries[TN_OP_COUNT] = {
#include "op/ops.def"
};

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t scratch(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                      int count, const tn_view *out, int threads) {
  (void)attrs, (void)count, (void)threads;
  tn_kernel kernel = backend->kernels[op];
  size_t bytes = tn_dtype_bytes(out->dtype);
  int64_t rows = tn_view_count(out);
  if (kernel == cuda_sum || kernel == cuda_mean || kernel == cuda_max || kernel == cuda_min ||
      kernel == cuda_prod)
    return rows ? tn_card_join_scratch(rows, tn_view_count(&in[0]) / rows, bytes) : 0;
  if (kernel == cuda_softmax || kernel == cuda_log_softmax || kernel == cuda_layer_norm) {
    int64_t length = in[0].dim[kernel == cuda_layer_norm ? in[0].rank - 1 : attrs->axis];
    return length ? tn_card_rows_scratch(rows / length, length, bytes) : 0;
  }
  if (kernel != cuda_cross_entropy) return 0;
  int64_t losses = tn_view_count(&in[1]);
  return (size_t)losses * bytes + larger(tn_card_rows_scratch(losses, in[0].dim[in[0].rank - 1], bytes),
                                         tn_card_join_scratch(1, losses, bytes));
}

const tn_backend *tn_backend_cuda(void) {
  static const tn_backend cuda = {
    .name = "cuda", .isa = "", .kernels = &entries[0].cuda, .scratch = scratch,
  };
  return &cuda;
}
