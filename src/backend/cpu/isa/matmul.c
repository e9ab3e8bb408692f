/* backend/cpu/isa/matmul.c: z[..., i, j] from row i of x and column j of y. */
#include "backend/cpu/isa/isa.h"
#include "backend/cpu/walk.h"

#define MATMUL(name, type, step, canonical)                                                       \
  static void name(const tn_view *x, const tn_view *y, const tn_view *out, const int64_t *offset, int rank) { \
    const type *a = (const type *)x->data + offset[0], *b = (const type *)y->data + offset[1];    \
    type *z = (type *)out->data + offset[2];                                                      \
    int64_t m = out->dim[rank - 2], n = out->dim[rank - 1], inner = x->dim[x->rank - 1];          \
    int64_t am = x->stride[x->rank - 2], ak = x->stride[x->rank - 1];                             \
    int64_t bk = y->stride[y->rank - 2], bn = y->stride[y->rank - 1];                             \
    int64_t zm = out->stride[rank - 2], zn = out->stride[rank - 1];                               \
    for (int64_t i = 0; i < m; i++)                                                               \
      for (int64_t j = 0; j < n; j++) {                                                           \
        type acc = 0;                                                                             \
        for (int64_t k = 0; k < inner; k++) acc = step(a[i * am + k * ak], b[k * bk + j * bn], acc); \
        z[i * zm + j * zn] = canonical(acc);                                                      \
      }                                                                                           \
  }
#define WRAPPING(a, b, c) ((a) * (b) + (c))
MATMUL(matmul_f32, float, tn_fma_f32, tn_canonical_f32)
MATMUL(matmul_f64, double, tn_fma_f64, tn_canonical_f64)
MATMUL(matmul_i32, uint32_t, WRAPPING, )
MATMUL(matmul_i64, uint64_t, WRAPPING, )

/* The leading axes, with the last two taken as one element. */
static tn_view leading(const tn_view *view) {
  tn_view part = *view;
  part.rank -= 2;
  return part;
}

bool cpu_matmul(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  if (tn_view_count(out) == 0) return true;
  tn_view z = leading(out), x = leading(&call->in[0]), y = leading(&call->in[1]);
  tn_cpu_walk batch;
  tn_cpu_walk_init(&batch, &z);
  tn_cpu_walk_add(&batch, &x), tn_cpu_walk_add(&batch, &y), tn_cpu_walk_add(&batch, &z);
  tn_cpu_walk_merge(&batch);
  tn_cpu_walk_seek(&batch, batch.rank, 0);
  for (int64_t b = tn_view_count(&z); b > 0; b--, tn_cpu_walk_next(&batch, batch.rank)) {
    switch (out->dtype) {
      case TN_F32: matmul_f32(&call->in[0], &call->in[1], out, batch.offset, out->rank); break;
      case TN_F64: matmul_f64(&call->in[0], &call->in[1], out, batch.offset, out->rank); break;
      case TN_I32: matmul_i32(&call->in[0], &call->in[1], out, batch.offset, out->rank); break;
      default: matmul_i64(&call->in[0], &call->in[1], out, batch.offset, out->rank); break;
    }
  }
  return true;
}

size_t matmul_scratch(const tn_kernel_call *call) {
  (void)call;
  return 0;
}
