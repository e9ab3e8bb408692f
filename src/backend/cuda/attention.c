/* backend/cuda/attention.c: attention and its gradient.
 *
 * f32 has fused kernels (kernels/attention*.c) as long as a band of queries by
 * all keys fits into shared memory. Otherwise each part of graph/attention.c is
 * one launch of an ordinary kernel over all heads, and the matrices of all
 * queries by all keys lie in scratch. Only shapes decide between the two. */
#include <math.h>

#include "backend/attention.h"
#include "backend/cuda/internal.h"

enum { Q, K, V, G };

/* ---- fused, by bands of queries ---- */

static int64_t rounded(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

/* Rows of weights begin on banks that are four apart. */
static int64_t pitch_of(int64_t keys) { return rounded(keys, 32) + 4; }

static int64_t flat_room(int64_t keys) {
  int64_t stages = CARD_ATTENTION_STAGES * CARD_ATTENTION_FLAT_STAGE;
  return (CARD_ATTENTION_FLAT * (pitch_of(keys) + CARD_ATTENTION_PITCH) + stages) * 4;
}

/* How bands are computed: the rows of a block, its threads, and the bytes of its shared memory. */
typedef struct {
  tn_card_kernel kernel;
  int64_t rows, threads, room;
} band_kind;

static band_kind tall_band(bool grad) {
  return (band_kind){ grad ? TN_CARD_attention_queries_tall : TN_CARD_attention_tall, CARD_ATTENTION_TALL,
                      CARD_ATTENTION_TALL_THREADS,
                      (grad ? CARD_ATTENTION_QUERIES_ROOM : CARD_ATTENTION_TALL_ROOM) * 4 };
}

static band_kind flat_band(bool grad, int64_t keys) {
  return (band_kind){ grad ? TN_CARD_attention_queries_flat : TN_CARD_attention_flat, CARD_ATTENTION_FLAT,
                      CARD_ATTENTION_FLAT_THREADS, flat_room(keys) };
}

/* The smallest band has not too many keys. */
static bool has_room(int64_t keys) {
  return keys <= CARD_ATTENTION_HELD ||
         (keys <= CARD_ATTENTION_CHUNKS * CARD_CHUNK && flat_room(keys) <= TN_CARD_ROOM);
}

_Static_assert(CARD_ATTENTION_QUERIES_ROOM * 4 <= TN_CARD_ROOM, "a tall band fits");
_Static_assert(CARD_ATTENTION_ROWS + CARD_ATTENTION_KEY_ROOM <=
               CARD_ATTENTION_BAND + CARD_ATTENTION_VALUE_ROOM,
               "queries and keys fit where weights and values are later");
_Static_assert(CARD_ATTENTION_VALUE_ROOM <= CARD_ATTENTION_KEY_ROOM, "keys fit as values do");
_Static_assert(CARD_ATTENTION_KEYS_ROOM * 4 <= TN_CARD_ROOM, "a block of keys fits");

static bool fits(int64_t width) { return width > 0 && width <= CARD_ATTENTION_WIDTH && width % 4 == 0; }

static bool has_bands(const tn_kernel_call *call) {
  tn_view q = tn_attention_heads(&call->in[Q], call->attrs);
  tn_view v = tn_attention_heads(&call->in[V], call->attrs);
  int64_t queries = q.dim[q.rank - 2], keys = v.dim[v.rank - 2], count = tn_view_count(&q);
  return call->out->dtype == TN_F32 && fits(q.dim[q.rank - 1]) && fits(v.dim[v.rank - 1]) && count > 0 &&
         keys > 0 && has_room(keys) && count / q.dim[q.rank - 1] + queries < INT32_MAX;
}

static card_matrix matrix_of(const tn_view *view, const card_operand *at, const card_shape *heads) {
  int r = view->rank - 2, c = view->rank - 1;
  card_matrix m = { .at = *at, .row = view->stride[r] * 4, .column = view->stride[c] * 4,
                    .rows = (int32_t)view->dim[r], .columns = (int32_t)view->dim[c] };
  m.runs = m.column == 4 && m.row % 16 == 0 && (uintptr_t)at->data % 16 == 0;
  for (int axis = 0; axis < heads->rank; axis++) m.runs = m.runs && at->stride[axis] % 16 == 0;
  return m;
}

/* Writes the matrices in the order of card_attention_arguments and returns how many there are. */
static int views_of(const tn_kernel_call *call, tn_view *views) {
  bool grad = call->op == TN_OP_ATTENTION_GRAD;
  int count = 0;
  for (int i = 0; i < (grad ? 4 : 3); i++) views[count++] = call->in[i];
  if (!grad) views[count++] = *call->out;
  for (int i = 0; grad && i < 3; i++) views[count++] = tn_attention_grad_of(call, i);
  for (int i = 0; i < count; i++) views[i] = tn_attention_heads(&views[i], call->attrs);
  return count;
}

static card_attention_arguments arguments_of(const tn_kernel_call *call) {
  tn_view views[7], leading[7];
  const tn_view *each[7];
  tn_card_views seen;
  card_attention_arguments a = { .causal = call->attrs->causal };
  int count = views_of(call, views);
  for (int i = 0; i < count; i++) leading[i] = views[i], leading[i].rank -= 2, each[i] = &leading[i];
  tn_card_see(each, count, &seen);
  a.heads = seen.shape;
  card_matrix *const forward[] = { &a.q, &a.k, &a.v, &a.out };
  card_matrix *const backward[] = { &a.q, &a.k, &a.v, &a.g, &a.out, &a.dk, &a.dv };
  for (int i = 0; i < count; i++)
    *(count == 4 ? forward : backward)[i] = matrix_of(&views[i], &seen.operand[i], &a.heads);
  a.factor = (float)(1 / sqrt((double)a.q.columns));
  a.pitch = (int32_t)pitch_of(a.k.rows);
  return a;
}

/* Scratch: flags per head (`whole`), then values per query (`kept`). */
static size_t bands_scratch(const tn_kernel_call *call) {
  tn_view q = tn_attention_heads(&call->in[Q], call->attrs);
  int64_t rows = tn_view_count(&q) / q.dim[q.rank - 1], heads = rows / q.dim[q.rank - 2];
  int64_t kept = call->op == TN_OP_ATTENTION_GRAD ? rows * CARD_ATTENTION_KEPT : 0;
  return (size_t)(rounded(heads, 16) + kept) * 4;
}

/* A block for each `rows` of `all`, of every head. */
static bool launch_bands(const tn_kernel_call *call, const band_kind *kind, int64_t all,
                         card_attention_arguments *a) {
  a->bands = (all + kind->rows - 1) / kind->rows;
  a->start = (card_start){ call->queue->fault, call->queue->step };
  return call->queue->launch(call->queue, kind->kernel, a->heads.count * a->bands, (int)kind->threads,
                             (int)kind->room, a, sizeof *a);
}

static bool look(const tn_kernel_call *call, card_attention_arguments *a) {
  a->start = (card_start){ call->queue->fault, call->queue->step };
  return call->queue->launch(call->queue, TN_CARD_attention_look, a->heads.count, CARD_BLOCK,
                             3 * CARD_BLOCK / CARD_WARP * 4, a, sizeof *a);
}

static bool run_bands(const tn_kernel_call *call) {
  card_attention_arguments a = arguments_of(call);
  bool grad = call->op == TN_OP_ATTENTION_GRAD;
  band_kind by_queries = a.k.rows <= CARD_ATTENTION_HELD ? tall_band(grad) : flat_band(grad, a.k.rows);
  band_kind by_keys = { TN_CARD_attention_keys, CARD_ATTENTION_KEYS, CARD_ATTENTION_KEYS_THREADS,
                        CARD_ATTENTION_KEYS_ROOM * 4 };
  a.whole = call->scratch;
  a.kept = (float *)call->scratch + rounded(a.heads.count, 16);
  if (a.causal && !look(call, &a)) return false;
  return launch_bands(call, &by_queries, a.q.rows, &a) &&
         (!grad || launch_bands(call, &by_keys, a.k.rows, &a));
}

/* ---- unfused, part by part ---- */

typedef struct {
  const tn_kernel_call *call;
  char *memory;              /* scratch; NULL while its size is measured */
  size_t used;
  tn_view q, k, v;           /* split into heads */
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

/* slope = weights * (slope - sum(slope * weights)), and 0 where the causal mask hides the key. */
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

bool tn_cuda_attention(const tn_kernel_call *call) {
  return has_bands(call) ? run_bands(call) : forward(call).ok;
}

bool tn_cuda_attention_grad(const tn_kernel_call *call) {
  return has_bands(call) ? run_bands(call) : backward(call).ok;
}

size_t tn_card_attention_scratch(const tn_kernel_call *call) {
  if (has_bands(call)) return bands_scratch(call);
  return (call->op == TN_OP_ATTENTION_GRAD ? backward(call) : forward(call)).used;
}
