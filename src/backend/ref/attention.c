/* backend/ref/attention.c: attention and its gradient, head by head.
 *
 * Every step is one of graph/attention.c's parts: a chain of fma for each product,
 * scores of -infinity where a query must not see a key, softmax along the keys. The
 * scratch holds what one head needs of each matrix. */
#include <math.h>

#include "backend/attention.h"
#include "backend/ref/internal.h"

enum { Q, K, V, G };

/* One head: matrices of two axes. */
typedef struct {
  const tn_kernel_call *call;
  tn_dtype dtype;
  tn_element factor;
  tn_view q, k, v; /* [T, D], [S, D], [S, E] */
  tn_view scaled;  /* [T, D] */
  tn_view weights; /* [T, S] */
} head;

/* The matrix at the coordinates of the leading axes. */
static tn_view matrix_at(const tn_view *heads, const int64_t *at) {
  const int32_t axes[] = { heads->rank - 2, heads->rank - 1 };
  tn_view kept, matrix;
  tn_ref_split(heads, axes, 2, &kept, &matrix);
  return tn_ref_row(&kept, &matrix, at);
}

static tn_view leading_axes(const tn_view *heads) {
  tn_view kept = *heads;
  kept.rank -= 2;
  return kept;
}

static tn_view matrix(void **memory, tn_dtype dtype, int64_t rows, int64_t columns) {
  tn_shape shape = tn_shape_make(2, rows, columns);
  tn_view view = tn_view_make(*memory, dtype, &shape);
  *memory = tn_ref_after(&view);
  return view;
}

static tn_view swapped(const tn_view *x) {
  tn_view view = *x;
  view.dim[0] = x->dim[1], view.dim[1] = x->dim[0];
  view.stride[0] = x->stride[1], view.stride[1] = x->stride[0];
  return view;
}

static tn_view row_of(const tn_view *x, int64_t row) {
  tn_view view = { .data = tn_ref_place(x, (const int64_t[]){ row, 0 }), .dtype = x->dtype, .rank = 1 };
  view.dim[0] = x->dim[1], view.stride[0] = x->stride[1];
  return view;
}

static void multiply(const head *h, tn_view x, tn_view y, const tn_view *out) {
  tn_ref_matmul(&(tn_kernel_call){ .op = TN_OP_MATMUL, .in = (tn_view[]){ x, y }, .count = 2, .out = out,
                                   .stop = h->call->stop });
}

static bool is_open(const head *h, const int64_t *at) {
  return !h->call->attrs->causal || at[1] <= at[0] + h->k.dim[0] - h->q.dim[0];
}

/* What a query must not see becomes `closed`. */
static void mask(const head *h, const tn_view *scores, double closed) {
  for (tn_index i = tn_index_over(h->call, scores); i.inside; tn_index_next(&i))
    if (!is_open(h, i.at)) tn_ref_store(scores, i.at, tn_element_of_f64(closed, h->dtype));
}

/* Where keys are left out, -0 becomes +0. */
static tn_element positive_zero(const head *h, tn_element x) {
  if (!h->call->attrs->causal) return x;
  return tn_scalar_binary(TN_OP_ADD, h->dtype)(x, tn_element_of_f64(0, h->dtype));
}

static void finish(const head *h, const tn_view *out) {
  for (tn_index i = tn_index_over(h->call, out); i.inside; tn_index_next(&i))
    tn_ref_store(out, i.at, positive_zero(h, tn_ref_load(out, i.at)));
}

/* Scaled queries and weights, in memory from `memory` on, which is moved behind them. */
static head weigh(const tn_kernel_call *call, const int64_t *at, void **memory) {
  head h = { .call = call, .dtype = call->out->dtype };
  tn_view in[3];
  for (int i = 0; i < 3; i++) {
    tn_view heads = tn_attention_heads(&call->in[i], call->attrs);
    in[i] = matrix_at(&heads, at);
  }
  h.q = in[Q], h.k = in[K], h.v = in[V];
  h.factor = tn_element_of_f64(1 / sqrt((double)h.q.dim[1]), h.dtype);
  h.scaled = matrix(memory, h.dtype, h.q.dim[0], h.q.dim[1]);
  h.weights = matrix(memory, h.dtype, h.q.dim[0], h.k.dim[0]);
  for (tn_index i = tn_index_over(call, &h.q); i.inside; tn_index_next(&i))
    tn_ref_store(&h.scaled, i.at, tn_scalar_binary(TN_OP_MUL, h.dtype)(tn_ref_load(&h.q, i.at), h.factor));
  multiply(&h, h.scaled, swapped(&h.k), &h.weights);
  mask(&h, &h.weights, -HUGE_VAL);
  for (int64_t t = 0; t < h.q.dim[0]; t++) {
    tn_view row = row_of(&h.weights, t);
    tn_ref_softmax_row(call, &row, &row);
  }
  return h;
}

static size_t weights_scratch(const tn_view *in, const tn_attrs *attrs) {
  int64_t queries = in[Q].dim[in[Q].rank - 2], keys = in[K].dim[in[K].rank - 2];
  int64_t width = in[Q].dim[in[Q].rank - 1] / (int64_t)attrs->index;
  return (size_t)(queries * (width + keys)) * tn_dtype_bytes(in[Q].dtype);
}

size_t tn_ref_attention_scratch(const tn_view *in, const tn_attrs *attrs) {
  return weights_scratch(in, attrs);
}

bool tn_ref_attention(const tn_kernel_call *call) {
  tn_view out = tn_attention_heads(call->out, call->attrs), kept = leading_axes(&out);
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i)) {
    void *memory = call->scratch;
    head h = weigh(call, i.at, &memory);
    tn_view result = matrix_at(&out, i.at);
    multiply(&h, h.weights, h.v, &result);
    finish(&h, &result);
  }
  return true;
}

/* ---- the gradient ---- */

/* slope = weights * (slope - sum(slope * weights)), row by row; `products` has room for a row. */
static void through_softmax(const head *h, const tn_view *slope, const tn_view *products) {
  tn_binary mul = tn_scalar_binary(TN_OP_MUL, h->dtype), sub = tn_scalar_binary(TN_OP_SUB, h->dtype);
  for (int64_t t = 0; t < slope->dim[0]; t++) {
    tn_view g = row_of(slope, t), w = row_of(&h->weights, t);
    for (int64_t s = 0; s < g.dim[0]; s++)
      tn_ref_store(products, &s, mul(tn_ref_load(&g, &s), tn_ref_load(&w, &s)));
    tn_element sum = tn_ref_sum_of(h->call, products);
    for (int64_t s = 0; s < g.dim[0]; s++)
      tn_ref_store(&g, &s, mul(tn_ref_load(&w, &s), sub(tn_ref_load(&g, &s), sum)));
  }
}

size_t tn_ref_attention_grad_scratch(const tn_view *in, const tn_attrs *attrs) {
  int64_t queries = in[Q].dim[in[Q].rank - 2], keys = in[K].dim[in[K].rank - 2];
  return weights_scratch(in, attrs) + (size_t)((queries + 1) * keys) * tn_dtype_bytes(in[Q].dtype);
}

static void head_grads(const tn_kernel_call *call, const int64_t *at, const tn_view g, const tn_view out[3]) {
  void *memory = call->scratch;
  head h = weigh(call, at, &memory);
  tn_view slope = matrix(&memory, h.dtype, h.q.dim[0], h.k.dim[0]);
  tn_view row = matrix(&memory, h.dtype, 1, h.k.dim[0]), products = row_of(&row, 0);
  multiply(&h, swapped(&h.weights), g, &out[V]);
  multiply(&h, g, swapped(&h.v), &slope);
  through_softmax(&h, &slope, &products);
  mask(&h, &slope, 0);
  multiply(&h, slope, h.k, &out[Q]);
  multiply(&h, swapped(&slope), h.scaled, &out[K]);
  for (tn_index i = tn_index_over(call, &out[Q]); i.inside; tn_index_next(&i))
    tn_ref_store(&out[Q], i.at,
                 tn_scalar_binary(TN_OP_MUL, h.dtype)(tn_ref_load(&out[Q], i.at), h.factor));
  finish(&h, &out[Q]);
  finish(&h, &out[K]);
}

bool tn_ref_attention_grad(const tn_kernel_call *call) {
  tn_view g = tn_attention_heads(&call->in[G], call->attrs), kept = leading_axes(&g), whole[3], out[3];
  for (int i = 0; i < 3; i++) {
    tn_view grad = tn_attention_grad_of(call, i);
    whole[i] = tn_attention_heads(&grad, call->attrs);
  }
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i)) {
    for (int k = 0; k < 3; k++) out[k] = matrix_at(&whole[k], i.at);
    head_grads(call, i.at, matrix_at(&g, i.at), out);
  }
  return true;
}
