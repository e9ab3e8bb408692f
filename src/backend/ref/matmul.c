/* backend/ref/matmul.c: matrix products: z[..., i, j] from row i of x and column j of y.
 *
 * One chain: acc = fma(x[i, k], y[k, j], acc), from +0, k ascending. Blocking
 * over i and j, and over k by keeping acc, does not change it; adding partial
 * chains would. */
#include "backend/ref/internal.h"

/* The leading axes are those of the result, the last two the operand's own. */
static tn_view with_leading_axes(const tn_view *operand, const tn_view *out) {
  tn_shape shape = tn_view_shape(out);
  for (int axis = 1; axis <= 2; axis++) shape.dim[shape.rank - axis] = operand->dim[operand->rank - axis];
  return tn_view_broadcast(operand, &shape);
}

bool tn_ref_matmul(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  tn_view x = with_leading_axes(&call->in[0], out);   /* [..., m, k] */
  tn_view y = with_leading_axes(&call->in[1], out);   /* [..., k, n] */
  int row = out->rank - 2, column = out->rank - 1;
  tn_ternary fma = tn_scalar_fma(out->dtype);
  for (tn_index i = tn_index_over(call, out); i.inside; tn_index_next(&i)) {
    tn_index from_x = i, from_y = i;
    tn_element sum = tn_element_of_i64(0, out->dtype);
    for (int64_t k = 0; k < x.dim[column] && !tn_ref_stopped(call->stop, k); k++) {
      from_x.at[column] = from_y.at[row] = k;
      sum = fma(tn_ref_load(&x, from_x.at), tn_ref_load(&y, from_y.at), sum);
    }
    tn_ref_store(out, i.at, sum);
  }
  return true;
}
