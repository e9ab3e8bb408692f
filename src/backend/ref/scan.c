/* backend/ref/scan.c: along one axis, row by row: running sums, softmax, cross entropy. */
#include "backend/ref/internal.h"

/* Runs a row kernel for every row of x along the axis and the same row of the result. */
typedef void (*row_kernel)(const tn_kernel_call *call, const tn_view *x, const tn_view *out);

static bool each_row(const tn_kernel_call *call, row_kernel row) {
  tn_view kept, along, out_kept, out_along;
  tn_ref_split(&call->in[0], &call->attrs->axis, 1, &kept, &along);
  tn_ref_split(call->out, &call->attrs->axis, 1, &out_kept, &out_along);
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i)) {
    tn_view x = tn_ref_row(&kept, &along, i.at), out = tn_ref_row(&out_kept, &out_along, i.at);
    row(call, &x, &out);
  }
  return true;
}

/* ---- cumsum, cumprod ---- */
static void scan_row(const tn_kernel_call *call, const tn_view *x, const tn_view *out, tn_op op, int first) {
  tn_binary join = tn_scalar_binary(op, x->dtype);
  tn_element total = tn_element_of_i64(first, x->dtype);
  for (int64_t n = 0; n < x->dim[0] && !tn_ref_stopped(call->stop, n); n++) {
    int64_t i = call->attrs->reverse ? x->dim[0] - 1 - n : n;
    tn_element before = total;
    total = join(total, tn_ref_load(x, &i));
    tn_ref_store(out, &i, call->attrs->exclusive ? before : total);
  }
}

static void cumsum_row(const tn_kernel_call *call, const tn_view *x, const tn_view *out) {
  scan_row(call, x, out, TN_OP_ADD, 0);
}

static void cumprod_row(const tn_kernel_call *call, const tn_view *x, const tn_view *out) {
  scan_row(call, x, out, TN_OP_MUL, 1);
}

bool tn_ref_cumsum(const tn_kernel_call *call) { return each_row(call, cumsum_row); }
bool tn_ref_cumprod(const tn_kernel_call *call) { return each_row(call, cumprod_row); }

/* ---- softmax, log_softmax ---- */

/* Of one row: its maximum, and the sum of e[i] = exp(x[i] - max), which are left in e. */
typedef struct {
  tn_element max, sum;
} normaliser;

static normaliser exponentials(const tn_kernel_call *call, const tn_view *x, const tn_view *e) {
  tn_binary sub = tn_scalar_binary(TN_OP_SUB, x->dtype);
  tn_unary exponential = tn_scalar_unary(TN_OP_EXP, x->dtype);
  tn_element max = tn_ref_max_of(call, x);
  for (int64_t i = 0; i < x->dim[0] && !tn_ref_stopped(call->stop, i); i++)
    tn_ref_store(e, &i, exponential(sub(tn_ref_load(x, &i), max)));
  return (normaliser){ max, tn_ref_sum_of(call, e) };
}

static tn_element log_softmax(tn_element x, normaliser of, tn_dtype dtype) {
  tn_binary sub = tn_scalar_binary(TN_OP_SUB, dtype);
  tn_unary logarithm = tn_scalar_unary(TN_OP_LOG, dtype);
  return sub(sub(x, of.max), logarithm(of.sum));
}

void tn_ref_softmax_row(const tn_kernel_call *call, const tn_view *x, const tn_view *out) {
  if (x->dim[0] == 0) return;
  tn_binary divide = tn_scalar_binary(TN_OP_DIV, x->dtype);
  normaliser of = exponentials(call, x, out);
  for (int64_t i = 0; i < x->dim[0] && !tn_ref_stopped(call->stop, i); i++)
    tn_ref_store(out, &i, divide(tn_ref_load(out, &i), of.sum));
}

static void log_softmax_row(const tn_kernel_call *call, const tn_view *x, const tn_view *out) {
  if (x->dim[0] == 0) return;
  normaliser of = exponentials(call, x, out);
  for (int64_t i = 0; i < x->dim[0] && !tn_ref_stopped(call->stop, i); i++)
    tn_ref_store(out, &i, log_softmax(tn_ref_load(x, &i), of, x->dtype));
}

bool tn_ref_softmax(const tn_kernel_call *call) { return each_row(call, tn_ref_softmax_row); }
bool tn_ref_log_softmax(const tn_kernel_call *call) { return each_row(call, log_softmax_row); }

/* ---- cross_entropy ---- */
/* logits: [..., classes], labels: [...]. In scratch: the loss of each row, then the exponentials
 * of one row. */
size_t tn_ref_cross_entropy_scratch(const tn_view *in) {
  int64_t rows = tn_view_count(&in[1]), classes = in[0].dim[in[0].rank - 1];
  return (size_t)(rows + classes) * tn_dtype_bytes(in[0].dtype);
}

static tn_element row_loss(const tn_kernel_call *call, const tn_view *row, int64_t label, const tn_view *e) {
  normaliser of = exponentials(call, row, e);
  tn_element log_probability = log_softmax(tn_ref_load(row, &label), of, row->dtype);
  return tn_scalar_unary(TN_OP_NEG, row->dtype)(log_probability);
}

bool tn_ref_cross_entropy(const tn_kernel_call *call) {
  const tn_view *logits = &call->in[0], *labels = &call->in[1];
  int32_t last = logits->rank - 1;
  if (!tn_ref_check_index(call, labels, logits->dim[last], last)) return false;

  tn_view kept, along;
  tn_ref_split(logits, &last, 1, &kept, &along);
  tn_shape rows = { .rank = 1, .dim = { tn_view_count(&kept) } };
  tn_shape classes = { .rank = 1, .dim = { along.dim[0] } };
  tn_view losses = tn_view_make(call->scratch, logits->dtype, &rows);
  tn_view e = tn_view_make(tn_ref_after(&losses), logits->dtype, &classes);

  int64_t n = 0;
  tn_index at = tn_index_over(call, labels);
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i), tn_index_next(&at), n++) {
    tn_view row = tn_ref_row(&kept, &along, i.at);
    int64_t label = tn_element_to_i64(tn_ref_load(labels, at.at), labels->dtype);
    tn_ref_store(&losses, &n, row_loss(call, &row, label, &e));
  }
  tn_ref_set(call, call->out, tn_ref_mean_of(call, &losses));
  return true;
}
