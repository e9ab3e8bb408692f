/* backend/ref/ref.c: the back end that defines every bit.
 *
 * docs/numerics.md says in words what each operation computes; this folder says it in code, with
 * the plainest possible loops, one element after another on one thread. Other back ends are right
 * if they give the same bits. So nothing here may become faster at the price of being less obvious.
 *
 *   create.c       fill, iota, uniform, normal
 *   elementwise.c  everything that works element by element, alone or fused
 *   move.c         reshape and the like, pad, concat, gather, patches
 *   accumulate.c   scatter_add, row_update, fold: added one by one
 *   reduce.c       sum and the order of sums, mean, max, min, prod, argmax, count
 *   scan.c         cumsum, cumprod, softmax, log_softmax, cross_entropy
 *   layer_norm.c   layer_norm and its gradient
 *   matmul.c       matmul
 *   attention.c    attention and its gradient
 *   depthwise.c    depth-wise convolution and its gradients
 *
 * The scalars they are made of are in op/scalar.c. */
#include "backend/ref/internal.h"

#define TN_OP(id, ...) [TN_OP_##id] = __VA_ARGS__,
#define TN_KERNEL(ref, cpu, small, cuda) ref
#define TN_EXPAND(...) NULL
#define REF(name) tn_ref_##name
#define NO_KERNEL NULL
static const tn_kernel kernels[TN_OP_COUNT] = {
#include "op/ops.def"
};

static size_t scratch(const tn_backend *backend, tn_op op, const tn_attrs *attrs, const tn_view *in,
                      int count, const tn_view *out, int threads) {
  (void)count, (void)out, (void)threads;
  tn_kernel kernel = backend->kernels[op];
  if (kernel == tn_ref_row_update) return tn_ref_row_update_scratch(in);
  if (kernel == tn_ref_attention) return tn_ref_attention_scratch(in, attrs);
  if (kernel == tn_ref_attention_grad) return tn_ref_attention_grad_scratch(in, attrs);
  if (kernel == tn_ref_layer_norm) return tn_ref_layer_norm_scratch(in);
  if (kernel == tn_ref_layer_norm_grad) return tn_ref_layer_norm_grad_scratch(in);
  return kernel == tn_ref_cross_entropy ? tn_ref_cross_entropy_scratch(in) : 0;
}

const tn_backend *tn_backend_ref(void) {
  static const tn_backend ref = {
    .name = "ref", .isa = "", .kernels = kernels, .scratch = scratch,
  };
  return &ref;
}
