/* backend/cuda/attention.c: attention and its gradient, from the other kernels of a card.
 *
 * They are the parts of graph/attention.c, one launch for each, with all heads
 * together; matrices of all queries by all keys lie in scratch. */
#include <math.h>

#include "backend/attention.h"
#include "backend/cuda/internal.h"

enum { Q, K, V, G };

typedef struct {
  const tn_kernel_call *call;
  char *memory;              /* where the next piece of scratch begins; NULL while it is measured */
  size_t used;
  tn_view q, k, v;           /* by heads */
  tn_view factor, zero;      /* [] */
  tn_view scaled, weights, open;
  bool ok;
} parts;

/* ---- scratch ---- */

static tn_view piece(parts *p, tn_dtype dtype, const tn_shape *shape) {
  tn_view view = tn_view_make(p->memory ? p->memory + p->used : NULL, dtype, shape);
  p->used += ((size_t)tn_view_count(&view) * tn_dtype_bytes(dtype) + 63) / 64 * 64;
  return view;
}

static tn_view number(parts *p, tn_dtype dtype, double value) {
  tn_shape none = { .rank = 0 };
  tn_view view = piece(p, dtype, &none);
  if (p->memory) p->ok = p->ok && tn_card_fill(p->call, &view, value);
  return view;
}

/* ---- launches ---- */

static void launch(parts *p, tn_kernel kernel, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                   const tn_view *out, void *scratch) {
  tn_kernel_call call = *p->call;
  if (!p->memory || tn_view_count(out) == 0) return;
  call.op = op, call.attrs = attrs, call.in = in, call.count = count, call.out = out, call.scratch = scratch;
  p->ok = p->ok && kernel(&call);
}

static void elementwise(parts *p, tn_op op, tn_view x, tn_view y, const tn_view *out) {
  launch(p, tn_cuda_elementwise, op, p->call->attrs, (const tn_view[]){ x, y }, 2, out, NULL);
}

static void choose(parts *p, tn_view condition, tn_view x, tn_view y, const tn_view *out) {
  launch(p, tn_cuda_elementwise, TN_OP_SELECT, p->call->attrs, (const tn_view[]){ condition, x, y }, 3, out,
         NULL);
}

static void multiply(parts *p, tn_view x, tn_view y, const tn_view *out) {
  launch(p, tn_cuda_matmul, TN_OP_MATMUL, p->call->attrs, (const tn_view[]){ x, y }, 2, out, NULL);
}

static tn_view swapped(const tn_view *x) {
  tn_view view = *x;
  int r = x->rank - 2, c = x->rank - 1;
  view.dim[r] = x->dim[c], view.dim[c] = x->dim[r];
  view.stride[r] = x->stride[c], view.stride[c] = x->stride[r];
  return view;
}

/* ---- weights ---- */

static void find_open(parts *p, int64_t queries, int64_t keys) {
  tn_shape down = tn_shape_make(2, queries, (int64_t)1), along = tn_shape_make(2, (int64_t)1, keys);
  tn_shape both = tn_shape_make(2, queries, keys);
  tn_view rows = piece(p, TN_I32, &down), columns = piece(p, TN_I32, &along);
  tn_view more = number(p, TN_I32, (double)(keys - queries));
  p->open = piece(p, TN_BOOL, &both);
  launch(p, tn_cuda_iota, TN_OP_IOTA, &(tn_attrs){ .axis = 0 }, NULL, 0, &rows, NULL);
  launch(p, tn_cuda_iota, TN_OP_IOTA, &(tn_attrs){ .axis = 1 }, NULL, 0, &columns, NULL);
  elementwise(p, TN_OP_ADD, rows, more, &rows);
  elementwise(p, TN_OP_GE, rows, columns, &p->open);
}

static void softmax(parts *p) {
  const tn_view *w = &p->weights;
  int64_t length = w->dim[w->rank - 1];
  tn_attrs last = { .axis = w->rank - 1 };
  if (length == 0) return;
  size_t bytes = tn_card_rows_scratch(tn_view_count(w) / length, length, tn_dtype_bytes(w->dtype));
  tn_shape room = tn_shape_make(1, (int64_t)bytes);
  tn_view memory = piece(p, TN_BOOL, &room);
  launch(p, tn_cuda_softmax, TN_OP_SOFTMAX, &last, w, 1, w, memory.data);
}

static parts weigh(const tn_kernel_call *call) {
  parts p = { .call = call, .memory = call->scratch, .ok = true };
  tn_dtype dtype = call->in[Q].dtype;
  p.q = tn_attention_heads(&call->in[Q], call->attrs);
  p.k = tn_attention_heads(&call->in[K], call->attrs);
  p.v = tn_attention_heads(&call->in[V], call->attrs);
  int last = p.q.rank - 1;
  tn_shape scaled = tn_view_shape(&p.q), scores = scaled;
  scores.dim[last] = p.k.dim[last - 1];
  p.factor = number(&p, dtype, 1 / sqrt((double)p.q.dim[last]));
  p.zero = number(&p, dtype, 0);
  p.scaled = piece(&p, dtype, &scaled);
  p.weights = piece(&p, dtype, &scores);
  elementwise(&p, TN_OP_MUL, p.q, p.factor, &p.scaled);
  multiply(&p, p.scaled, swapped(&p.k), &p.weights);
  if (call->attrs->causal) {
    tn_view closed = number(&p, dtype, -HUGE_VAL);
    find_open(&p, scores.dim[last - 1], scores.dim[last]);
    choose(&p, p.open, p.weights, closed, &p.weights);
  }
  softmax(&p);
  return p;
}

static void finish(parts *p, const tn_view *out) {
  if (p->call->attrs->causal) elementwise(p, TN_OP_ADD, *out, p->zero, out);
}

/* ---- the operations ---- */

static parts forward(const tn_kernel_call *call) {
  parts p = weigh(call);
  tn_view out = tn_attention_heads(call->out, call->attrs);
  multiply(&p, p.weights, p.v, &out);
  finish(&p, &out);
  return p;
}

/* slope = weights * (slope - sum(slope * weights)), and 0 where a query must not look. */
static void through_softmax(parts *p, const tn_view *slope) {
  int last = slope->rank - 1;
  tn_shape shape = tn_view_shape(slope), rows = shape;
  tn_attrs along = { .axis_count = 1, .axes = { last }, .keepdims = true };
  rows.dim[last] = 1;
  tn_view products = piece(p, slope->dtype, &shape), sums = piece(p, slope->dtype, &rows);
  tn_shape room = tn_shape_make(1, (int64_t)tn_card_join_scratch(tn_view_count(&sums), shape.dim[last],
                                                                 tn_dtype_bytes(slope->dtype)));
  tn_view memory = piece(p, TN_BOOL, &room);
  elementwise(p, TN_OP_MUL, *slope, p->weights, &products);
  launch(p, tn_cuda_sum, TN_OP_SUM, &along, &products, 1, &sums, memory.data);
  elementwise(p, TN_OP_SUB, *slope, sums, slope);
  elementwise(p, TN_OP_MUL, p->weights, *slope, slope);
  if (p->call->attrs->causal) choose(p, p->open, *slope, p->zero, slope);
}

static parts backward(const tn_kernel_call *call) {
  parts p = weigh(call);
  tn_view g = tn_attention_heads(&call->in[G], call->attrs), out[3];
  tn_shape scores = tn_view_shape(&p.weights);
  tn_view slope = piece(&p, g.dtype, &scores);
  for (int i = 0; i < 3; i++)
    out[i] = tn_attention_grad_of(call, i), out[i] = tn_attention_heads(&out[i], call->attrs);
  multiply(&p, swapped(&p.weights), g, &out[V]);
  multiply(&p, g, swapped(&p.v), &slope);
  through_softmax(&p, &slope);
  multiply(&p, slope, p.k, &out[Q]);
  multiply(&p, swapped(&slope), p.scaled, &out[K]);
  elementwise(&p, TN_OP_MUL, out[Q], p.factor, &out[Q]);
  finish(&p, &out[Q]);
  finish(&p, &out[K]);
  return p;
}

bool tn_cuda_attention(const tn_kernel_call *call) { return forward(call).ok; }
bool tn_cuda_attention_grad(const tn_kernel_call *call) { return backward(call).ok; }

size_t tn_card_attention_scratch(const tn_kernel_call *call) {
  return (call->op == TN_OP_ATTENTION_GRAD ? backward(call) : forward(call)).used;
}
