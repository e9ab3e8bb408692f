/* backend/ref/reduce.c: reductions.
 *
 * The order of a sum depends only on the number of elements: chunks of 512, 16 lanes in a chunk, a
 * tree over the lanes, a tree over the chunks. It is written once, in join, and every sum uses it. */
#include "backend/ref/internal.h"

#define CHUNK 512
#define LANE_COUNT 16

/* ---- rows ---- */
void tn_ref_split(const tn_view *x, const int32_t *axes, int count, tn_view *kept, tn_view *along) {
  *kept = *along = (tn_view){ .data = x->data, .dtype = x->dtype };
  bool marked[TN_RANK_LIMIT] = { 0 };
  for (int k = 0; k < count; k++) marked[axes[k]] = true;
  for (int axis = 0; axis < x->rank; axis++) {
    tn_view *to = marked[axis] ? along : kept;
    to->dim[to->rank] = x->dim[axis];
    to->stride[to->rank++] = x->stride[axis];
  }
}

tn_view tn_ref_row(const tn_view *kept, const tn_view *along, const int64_t *at) {
  tn_view row = *along;
  if (tn_view_count(along) > 0) row.data = tn_ref_place(kept, at);   /* an empty row is nowhere */
  return row;
}

/* ---- the order of sums ---- */
typedef struct {
  const tn_kernel_call *call;
  const tn_view *x;
  tn_element (*each)(tn_dtype dtype, tn_element x);   /* what an element counts as */
  tn_binary join;
  tn_element identity;   /* what a lane starts with: -0 for a sum, 1 for a product */
} series;

static tn_element join_chunk(const series *s, int64_t first, int64_t count) {
  tn_element lane[LANE_COUNT];
  for (int l = 0; l < LANE_COUNT; l++) lane[l] = s->identity;

  tn_index at = tn_index_from(s->call, s->x, first);
  for (int64_t i = 0; i < count; i++, tn_index_next(&at))
    lane[i % LANE_COUNT] = s->join(lane[i % LANE_COUNT], s->each(s->x->dtype, tn_ref_load(s->x, at.at)));

  for (int k = LANE_COUNT / 2; k > 0; k /= 2)
    for (int l = 0; l < k; l++) lane[l] = s->join(lane[l], lane[l + k]);
  return lane[0];
}

/* Joining neighbours, (0,1) (2,3) ..., until one is left, with an odd one at the end moving up
 * unchanged, makes this tree: on the left as many chunks as the largest power of two that leaves
 * some for the right.
 * recursion: the logarithm of the chunks, at most 40. */
static tn_element join_chunks(const series *s, int64_t first_chunk, int64_t chunks) {
  if (tn_stop_asked(s->call->stop)) return s->identity;
  if (chunks == 1) {
    int64_t first = first_chunk * CHUNK, left = tn_view_count(s->x) - first;
    return join_chunk(s, first, left < CHUNK ? left : CHUNK);
  }
  int64_t half = 1;
  while (half * 2 < chunks) half *= 2;
  tn_element left = join_chunks(s, first_chunk, half);
  return s->join(left, join_chunks(s, first_chunk + half, chunks - half));
}

static tn_element join(const tn_kernel_call *call, const tn_view *x,
                       tn_element (*each)(tn_dtype dtype, tn_element x), tn_op op, double identity,
                       double of_nothing) {
  series s = { call, x, each, tn_scalar_binary(op, x->dtype), tn_element_of_f64(identity, x->dtype) };
  int64_t count = tn_view_count(x);
  if (count == 0) return tn_element_of_f64(of_nothing, x->dtype);
  return join_chunks(&s, 0, (count + CHUNK - 1) / CHUNK);
}

/* The same in any order, so any order will do. */
static tn_element extreme(const tn_kernel_call *call, const tn_view *x, tn_op better) {
  tn_binary choose = tn_scalar_binary(better, x->dtype);
  tn_index i = tn_index_over(call, x);
  tn_element best = tn_ref_load(x, i.at);
  for (; i.inside; tn_index_next(&i)) best = choose(best, tn_ref_load(x, i.at));
  return best;
}

tn_element tn_ref_max_of(const tn_kernel_call *call, const tn_view *x) {
  return extreme(call, x, TN_OP_MAXIMUM);
}

/* ---- sum, mean, max, min, prod ---- */
typedef tn_element (*row_rule)(const tn_kernel_call *call, const tn_view *row);

static tn_element smallest(const tn_kernel_call *call, const tn_view *row) {
  return extreme(call, row, TN_OP_MINIMUM);
}

static bool of_nothing(const tn_kernel_call *call) {
  return tn_ref_fail(call, (tn_fault){ .kind = TN_FAULT_ARGUMENT, .op = call->op,
                                       .reason = "there is no largest or smallest of no elements" });
}

static bool reduce(const tn_kernel_call *call, row_rule rule) {
  tn_view kept, along;
  tn_ref_split(&call->in[0], call->attrs->axes, call->attrs->axis_count, &kept, &along);
  bool needs_one = tn_op_fails_of(call->op) == TN_FAILS_ON_EMPTY;
  if (needs_one && tn_view_count(&along) == 0 && tn_view_count(&kept) > 0) return of_nothing(call);

  /* With keepdims the result has axes of length 1 more than `kept`; the order is the same. */
  tn_index to = tn_index_over(call, call->out);
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i), tn_index_next(&to)) {
    tn_view row = tn_ref_row(&kept, &along, i.at);
    tn_ref_store(call->out, to.at, rule(call, &row));
  }
  return true;
}

#define PASTED(name, kernel) name##_##kernel
#define NAME(name, kernel)   PASTED(name, kernel)
#define OPERATION_OF(id)     TN_OP_##id
#define OPERATION(id)        OPERATION_OF(id)
#define ONE(ID, x)           tn_scalar_unary(TN_OP_##ID, dtype)(x)
#define TWO(ID, x, y)        tn_scalar_binary(TN_OP_##ID, dtype)(x, y)
#define TN_MAKE_KERNEL       "backend/ref/reduction.inc"
#include "backend/reductions.def"

tn_element tn_ref_sum_of(const tn_kernel_call *call, const tn_view *x) { return row_sum(call, x); }

tn_element tn_ref_mean_of(const tn_kernel_call *call, const tn_view *x) {
  tn_element count = tn_element_of_i64(tn_view_count(x), x->dtype);
  return tn_scalar_binary(TN_OP_DIV, x->dtype)(row_sum(call, x), count);
}

bool tn_ref_mean(const tn_kernel_call *call) { return reduce(call, tn_ref_mean_of); }
bool tn_ref_max(const tn_kernel_call *call) { return reduce(call, tn_ref_max_of); }
bool tn_ref_min(const tn_kernel_call *call) { return reduce(call, smallest); }

/* ---- count ---- */
bool tn_ref_count(const tn_kernel_call *call) {
  int64_t count = 1;
  for (int k = 0; k < call->attrs->axis_count; k++) count *= call->in[0].dim[call->attrs->axes[k]];
  tn_ref_set(call, call->out, tn_element_of_i64(count, call->out->dtype));
  return true;
}

/* ---- argmax ---- */
/* The first that none beats. NaN beats every number and is not beaten; -0 and +0 are a tie. */
static int64_t place_of_max(const tn_kernel_call *call, const tn_view *row) {
  tn_binary gt = tn_scalar_binary(TN_OP_GT, row->dtype), ne = tn_scalar_binary(TN_OP_NE, row->dtype);
  int64_t best = 0;
  for (int64_t i = 0; i < row->dim[0] && !tn_ref_stopped(call->stop, i); i++) {
    tn_element x = tn_ref_load(row, &i), y = tn_ref_load(row, &best);
    if (ne(y, y).boolean) break;
    if (gt(x, y).boolean || ne(x, x).boolean) best = i;
  }
  return best;
}

bool tn_ref_argmax(const tn_kernel_call *call) {
  tn_view kept, along;
  tn_ref_split(&call->in[0], &call->attrs->axis, 1, &kept, &along);
  if (along.dim[0] == 0 && tn_view_count(&kept) > 0) return of_nothing(call);

  tn_index to = tn_index_over(call, call->out);
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i), tn_index_next(&to)) {
    tn_view row = tn_ref_row(&kept, &along, i.at);
    tn_ref_store(call->out, to.at, tn_element_of_i64(place_of_max(call, &row), call->out->dtype));
  }
  return true;
}
