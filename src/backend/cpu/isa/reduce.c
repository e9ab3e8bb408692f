/* backend/cpu/isa/reduce.c: sum, mean, prod, max, min over any axes, and argmax.
 *
 * The order of a sum is fixed (sums.h), the layout is not. After merging axes
 * there are three: the reduced elements are contiguous, so lanes are vectors;
 * the kept axis is contiguous, so vectors run across outputs and each output
 * has its 16 lanes in 16 vectors; or neither, and a chunk is collected first.
 *
 * max and min do not depend on the order and use the same loops. Threads take
 * outputs; where there are few outputs of many elements they take blocks of
 * chunks that are whole subtrees, and the blocks are joined by the same tree. */
#include "backend/cpu/isa/sums.h"

#include <math.h>

#include "backend/cpu/isa/element.h"
#include "backend/cpu/iterator.h"
#include "op/scalar.h"

typedef enum { ROWS, COLUMNS, SPREAD_OUT } layout;

typedef struct {
  const void *data;
  tn_cpu_iterator kept;           /* views: the operand, the result */
  tn_cpu_iterator along;          /* the operand over the reduced axes */
  int64_t outputs, n;             /* n elements for each output */
  int64_t chunk_begin, chunk_end; /* of n: what to join */
  layout layout;
  tn_stop *stop;
} reduction;

static inline int64_t chunk_length(int64_t n, int64_t chunk) {
  return tn_cpu_min(n - chunk * TN_SUM_CHUNK, TN_SUM_CHUNK);
}

/* ---- how to join: reduce.inc makes one of these for each operation and dtype ---- */
#define WIDE         4 /* vectors of outputs side by side */
#define ROWS_AT_ONCE 64
#define BLOCK        256 /* chunks of a row that are joined at once: half a megabyte of f32 */

typedef struct {
  size_t bytes; /* of an element */
  int strip;    /* neighbouring outputs that are joined at once */
  /* Several chunks of `count` contiguous elements each, each by itself. */
  void (*join_each)(const void *const *chunk, int64_t chunks, int64_t count, void *result);
  /* Chunks begin..end-1 of a row of n contiguous elements. */
  void (*join_row)(tn_stop *stop, const void *row, int64_t n, int64_t begin, int64_t end, void *result);
  /* `width` <= strip neighbouring outputs of one chunk, whose elements start at row[0..count-1]. */
  void (*join_columns)(const void *const *row, int64_t count, int width, void *result);
  /* result[i] = left[i] joined with right[i]; the result may stand in place of either. */
  void (*join_pairs)(const void *left, const void *right, int64_t count, void *result);
} reducer;

/* ---- names ---- */
#define PASTED(name, kernel, of)  name##_##kernel##_##of
#define NAMED(name, kernel, of)   PASTED(name, kernel, of)
#define NAME(name)                NAMED(name, KERNEL, OF)
#define ELEMENT_OF(id, of)        tn_of_##id##_##of
#define ELEMENT(id, of)           ELEMENT_OF(id, of)
#define VECTOR_OF(id)             vf_of_##id
#define VECTOR(id)                VECTOR_OF(id)

/* ---- f32 ---- */
#define OF                f32
#define OF_WHOLE          0
#define TYPE              float
#define V_OF_F32          1
#define V                 VF
#define V_LANES           TN_LANES
#define V_SET             vf_set
#define V_LOAD            vf_load
#define V_LOAD_PART       vf_load_part
#define V_FILLED(v, n)    vf_select(tn_first_lanes(n), v, V_SET(IDENTITY))
#define V_STORE           vf_store
#define V_JOIN            VECTOR(BY)
#define JOIN              ELEMENT(BY, f32)
#define IDENTITY          ((float)START)
#define ONE(ID, x)        vf_of_##ID(x)
#define TWO(ID, x, y)     vf_of_##ID(x, y)
#define TN_MAKE_KERNEL    "backend/cpu/isa/reduce.inc"
#include "backend/reductions.def"
#undef V
#undef V_SET
#undef V_LOAD
#undef V_LOAD_PART
#undef V_FILLED
#undef V_STORE
#undef V_JOIN
#undef JOIN
#undef IDENTITY
#undef ONE
#undef TWO

/* The largest and the smallest are found among integers (sums.h). */
#define V                 VI
#define V_SET(x)          tn_key(vf_set(x))
#define V_LOAD(p)         tn_key(vf_load(p))
#define V_LOAD_PART(p, n) tn_key(vf_load_part(p, n))
#define V_FILLED(v, n)    vi_select(tn_first_lanes(n), v, V_SET(IDENTITY))
#define V_STORE(p, v)     vf_store(p, tn_of_key(v))
#define V_JOIN            tn_key_max
#define JOIN              tn_larger_f32
#define IDENTITY          -HUGE_VALF
#define KERNEL            max
#define EACH              x
#define WHOLE             1
#include "backend/cpu/isa/reduce.inc"
#undef V_SET
#undef V_LOAD
#undef V_LOAD_PART
#undef V_STORE
#undef V_JOIN
#undef JOIN
#undef IDENTITY

#define V_SET(x)          tn_low_key(vf_set(x))
#define V_LOAD(p)         tn_low_key(vf_load(p))
#define V_LOAD_PART(p, n) tn_low_key(vf_load_part(p, n))
#define V_STORE(p, v)     vf_store(p, tn_of_low_key(v))
#define V_JOIN            tn_key_min
#define JOIN              tn_of_MINIMUM_f32
#define IDENTITY          HUGE_VALF
#define KERNEL            min
#define EACH              x
#define WHOLE             1
#include "backend/cpu/isa/reduce.inc"
#undef OF
#undef TYPE
#undef V_OF_F32
#undef V
#undef V_LANES
#undef V_SET
#undef V_LOAD
#undef V_LOAD_PART
#undef V_FILLED
#undef V_STORE
#undef V_JOIN
#undef JOIN
#undef IDENTITY

/* ---- other dtypes: vectors of one element; the loops over lanes are the compiler's ---- */
#define V_OF_F32          0
#define V                 TYPE
#define V_LANES           1
#define V_SET(x)          (x)
#define V_LOAD(p)         (*(p))
#define V_LOAD_PART(p, n) (*(p))
#define V_FILLED(v, n)    ((void)(n), (v))
#define V_STORE(p, v)     (*(p) = (v))
#define V_JOIN            JOIN
#define JOIN              ELEMENT(BY, OF)
#define IDENTITY          ((TYPE)START)
#define ONE(ID, x)        ELEMENT(ID, OF)(x)
#define TWO(ID, x, y)     ELEMENT(ID, OF)(x, y)

#define OF   f64
#define TYPE double
#include "backend/reductions.def"
#define KERNEL max
#define EACH   x
#define BY     MAXIMUM
#define START  -HUGE_VAL
#define WHOLE  1
#include "backend/cpu/isa/reduce.inc"
#define KERNEL min
#define EACH   x
#define BY     MINIMUM
#define START  HUGE_VAL
#define WHOLE  1
#include "backend/cpu/isa/reduce.inc"
#undef OF
#undef TYPE

#undef OF_WHOLE
#define OF_WHOLE 1
#define OF   i32
#define TYPE int32_t
#include "backend/reductions.def"
#define KERNEL max
#define EACH   x
#define BY     MAXIMUM
#define START  INT32_MIN
#define WHOLE  1
#include "backend/cpu/isa/reduce.inc"
#define KERNEL min
#define EACH   x
#define BY     MINIMUM
#define START  INT32_MAX
#define WHOLE  1
#include "backend/cpu/isa/reduce.inc"
#undef OF
#undef TYPE

#define OF   i64
#define TYPE int64_t
#include "backend/reductions.def"
#define KERNEL max
#define EACH   x
#define BY     MAXIMUM
#define START  INT64_MIN
#define WHOLE  1
#include "backend/cpu/isa/reduce.inc"
#define KERNEL min
#define EACH   x
#define BY     MINIMUM
#define START  INT64_MAX
#define WHOLE  1
#include "backend/cpu/isa/reduce.inc"
#undef OF
#undef TYPE

/* ---- by operation and dtype ---- */
#define REDUCERS(kernel)                                                                                     \
  {                                                                                                          \
    [TN_F32] = &NAMED(reducer, kernel, f32), [TN_F64] = &NAMED(reducer, kernel, f64),                        \
    [TN_I32] = &NAMED(reducer, kernel, i32), [TN_I64] = &NAMED(reducer, kernel, i64)                         \
  }
static const reducer *const largest[TN_DTYPE_COUNT] = REDUCERS(max);
static const reducer *const smallest[TN_DTYPE_COUNT] = REDUCERS(min);

/* ---- the tree over chunks, `width` of them side by side ---- */
#define STRIP_BYTES (TN_LANES > 1 ? TN_STRIP * sizeof(float) : WIDE * sizeof(double))

typedef struct {
  const reducer *how;
  size_t bytes; /* of the `width` values */
  int width;
  uint64_t count; /* chunks so far; its bits say which levels are taken */
  char level[TN_SUM_LEVELS][STRIP_BYTES];
} tree;

static void tree_begin(tree *t, const reducer *how, int width) {
  t->how = how;
  t->width = width;
  t->bytes = (size_t)width * how->bytes;
  t->count = 0;
}

static void tree_add(tree *t, void *value) {
  int level = 0;
  for (uint64_t taken = t->count++; taken & 1; taken >>= 1)
    t->how->join_pairs(t->level[level++], value, t->width, value);
  memcpy(t->level[level], value, t->bytes);
}

/* What is left on the levels joins from the right: an odd one at the end has moved up unchanged. */
static void tree_end(const tree *t, void *value) {
  uint64_t taken = t->count;
  int level = 0;
  for (; !(taken & 1); taken >>= 1) level++;
  memcpy(value, t->level[level], t->bytes);
  for (taken >>= 1, level++; taken; taken >>= 1, level++)
    if (taken & 1) t->how->join_pairs(t->level[level], value, t->width, value);
}

/* ---- the three layouts ---- */
/* Goes past the next places on the last axis that lie without a jump, `most` at the most. Returns how many,
 * and where they begin. */
static inline int64_t next_run(tn_cpu_iterator *along, int64_t most, int64_t *from) {
  int last = along->rank - 1;
  int64_t run = tn_cpu_min(along->dim[last] - along->at[last], most);
  *from = along->offset[0];
  along->at[last] += run - 1;
  along->offset[0] += (run - 1) * along->stride[0][last];
  tn_cpu_iterator_next(along, along->rank);
  return run;
}

/* Where the next `count` places lie, counted from data. */
static inline void locate(tn_cpu_iterator *along, const char *data, int64_t bytes, int64_t count,
                          const void **row) {
  int64_t step = along->stride[0][along->rank - 1] * bytes, from;
  for (int64_t i = 0, run; i < count; i += run) {
    run = next_run(along, count - i, &from);
    for (int64_t k = 0; k < run; k++) row[i + k] = data + from * bytes + k * step;
  }
}

/* Outputs begin..end-1, each a contiguous row. Rows of one chunk go side by side. */
static void reduce_rows(const reduction *r, const reducer *how, int64_t begin, int64_t end, char *to) {
  tn_cpu_iterator kept;
  tn_cpu_iterator_copy(&kept, &r->kept);
  tn_cpu_iterator_seek(&kept, kept.rank, begin);
  bool single = r->chunk_end - r->chunk_begin == 1;
  int64_t skip = single ? r->chunk_begin * TN_SUM_CHUNK : 0, count = chunk_length(r->n, r->chunk_begin);
  int64_t bytes = (int64_t)how->bytes;
  for (int64_t o = begin, rows; o < end; o += rows, to += rows * bytes) {
    const void *row[ROWS_AT_ONCE];
    rows = tn_cpu_min(end - o, ROWS_AT_ONCE);
    locate(&kept, (const char *)r->data + skip * bytes, bytes, rows, row);
    if (single)
      how->join_each(row, rows, count, to);
    else
      for (int64_t k = 0; k < rows; k++)
        how->join_row(r->stop, row[k], r->n, r->chunk_begin, r->chunk_end, to + k * bytes);
  }
}

/* The next `count` elements, of 4 or 8 bytes, side by side. */
static void collect(tn_cpu_iterator *along, const char *data, int64_t bytes, int64_t count, void *chunk) {
  int64_t step = along->stride[0][along->rank - 1] * bytes, from;
  char *to = chunk;
  for (int64_t i = 0, run; i < count; i += run) {
    run = next_run(along, count - i, &from);
    if (bytes == 4)
      for (int64_t k = 0; k < run; k++) memcpy(to + (i + k) * 4, data + from * 4 + k * step, 4);
    else
      for (int64_t k = 0; k < run; k++) memcpy(to + (i + k) * 8, data + from * 8 + k * step, 8);
  }
}

/* One chunk of the next `count` elements. */
static void join_next(const reduction *r, const reducer *how, tn_cpu_iterator *along, const char *data,
                      int64_t count, int width, void *result) {
  if (r->layout == SPREAD_OUT) {
    tn_element chunk[TN_SUM_CHUNK];
    const void *at = chunk;
    collect(along, data, (int64_t)how->bytes, count, chunk);
    how->join_each(&at, 1, count, result);
  } else {
    const void *row[TN_SUM_CHUNK];
    locate(along, data, (int64_t)how->bytes, count, row);
    how->join_columns(row, count, width, result);
  }
}

/* `width` neighbouring outputs from data on, width <= strip, or one where they are spread out. */
static void reduce_strip(const reduction *r, const reducer *how, const void *data, int width, void *to) {
  tn_cpu_iterator along;
  tn_cpu_iterator_copy(&along, &r->along);
  tree sums;
  tree_begin(&sums, how, width);
  _Alignas(double) char result[STRIP_BYTES];
  bool several = r->chunk_end - r->chunk_begin > 1;
  tn_cpu_iterator_seek(&along, along.rank, r->chunk_begin * TN_SUM_CHUNK);
  for (int64_t c = r->chunk_begin; c < r->chunk_end; c++) {
    join_next(r, how, &along, data, chunk_length(r->n, c), width, result);
    if (several) tree_add(&sums, result);
    if (tn_cpu_row_stopped(r->stop, c * TN_SUM_CHUNK)) break;
  }
  if (several) tree_end(&sums, result);
  memcpy(to, result, sums.bytes);
}

static void reduce_strips(const reduction *r, const reducer *how, int64_t begin, int64_t end, char *to) {
  tn_cpu_iterator kept;
  tn_cpu_iterator_copy(&kept, &r->kept);
  int inner = kept.rank - 1;
  int64_t bytes = (int64_t)how->bytes, most = r->layout == COLUMNS ? how->strip : 1;
  for (int64_t o = begin, width; o < end; o += width) {
    tn_cpu_iterator_seek(&kept, kept.rank, o);
    width = tn_cpu_min(tn_cpu_min(kept.dim[inner] - kept.at[inner], end - o), most);
    reduce_strip(r, how, (const char *)r->data + kept.offset[0] * bytes, (int)width,
                 to + (o - begin) * bytes);
  }
}

static void reduce_outputs(const reduction *r, const reducer *how, int64_t begin, int64_t end, void *to) {
  (r->layout == ROWS ? reduce_rows : reduce_strips)(r, how, begin, end, to);
}

/* The tree over blocks of chunks: block b of output o is at[b * outputs + o]; the result ends in block 0. */
static void join_blocks(const reducer *how, char *at, int64_t blocks, int64_t outputs) {
  int64_t row = outputs * (int64_t)how->bytes;
  for (int64_t step = 1; step < blocks; step *= 2)
    for (int64_t b = 0; b + step < blocks; b += 2 * step)
      how->join_pairs(at + b * row, at + (b + step) * row, outputs, at + b * row);
}

/* ---- preparing ---- */
/* The axes of x that are reduced, or those that are not, as a view. */
static tn_view axes_where(const tn_view *x, const bool *marked, bool want) {
  tn_view view = { .data = x->data, .dtype = x->dtype };
  for (int a = 0; a < x->rank; a++) {
    if (marked[a] != want) continue;
    view.dim[view.rank] = x->dim[a];
    view.stride[view.rank++] = x->stride[a];
  }
  return view;
}

/* The result with the same axes as the kept ones of x, whether or not it keeps those of length 1. */
static tn_view kept_axes_of_result(const tn_view *out, const tn_view *x, const bool *marked) {
  return out->rank == x->rank ? axes_where(out, marked, false) : *out;
}

static layout layout_of(const reduction *r) {
  const tn_cpu_iterator *along = &r->along, *kept = &r->kept;
  if (along->rank == 1 && (along->stride[0][0] == 1 || r->n == 1)) return ROWS;
  if (kept->stride[0][kept->rank - 1] == 1 && kept->dim[kept->rank - 1] > 1) return COLUMNS;
  return SPREAD_OUT;
}

/* The common case without ado: contiguous, and the axes are neighbours. */
static bool prepare_flat(reduction *r, const tn_kernel_call *call, const int32_t *axes, int count) {
  const tn_view *x = &call->in[0];
  if (count == 0 || axes[count - 1] - axes[0] != count - 1) return false;
  if (!tn_cpu_is_flat(x) || !tn_cpu_is_flat(call->out)) return false;
  int64_t inner;
  tn_cpu_iterator_around(&r->kept, x, axes[0], axes[0] + count, &r->n, &inner);
  r->kept.views = 2;
  r->kept.stride[1][r->kept.rank - 1] = 1;
  if (r->kept.rank == 2) r->kept.stride[1][0] = inner;
  r->along.rank = r->along.views = 1;
  r->along.dim[0] = r->n;
  r->along.stride[0][0] = inner;
  r->outputs = tn_cpu_iterator_count(&r->kept, 0, r->kept.rank);
  return r->outputs > 0 && r->n > 0;
}

static void prepare(reduction *r, const tn_kernel_call *call, const int32_t *axes, int count) {
  const tn_view *x = &call->in[0];
  r->data = x->data;
  r->stop = call->stop;
  if (prepare_flat(r, call, axes, count)) {
    r->chunk_begin = 0;
    r->chunk_end = tn_sum_chunks(r->n);
    r->layout = layout_of(r);
    return;
  }
  bool marked[TN_RANK_LIMIT] = { false };
  for (int k = 0; k < count; k++) marked[axes[k]] = true;
  tn_view kept = axes_where(x, marked, false), along = axes_where(x, marked, true);
  tn_view result = kept_axes_of_result(call->out, x, marked);
  r->outputs = tn_cpu_elements(&kept);
  r->n = tn_cpu_elements(&along);
  if (r->outputs == 0 || r->n == 0) return;
  tn_cpu_iterator_two(&r->kept, &kept, &result);
  tn_cpu_iterator_one(&r->along, &along);
  r->chunk_begin = 0;
  r->chunk_end = tn_sum_chunks(r->n);
  r->layout = layout_of(r);
}

/* ---- finishing ---- */
/* What was joined becomes the result: divided by n for a mean, NaN canonical. */
static void finish(const tn_kernel_call *call, int64_t n, void *joined, int64_t count) {
  bool mean = call->op == TN_OP_MEAN;
  if (call->out->dtype == TN_F32) {
    float *at = joined, by = (float)n;
    for (int64_t i = 0; i < count; i++) at[i] = tn_canonical_f32(mean ? at[i] / by : at[i]);
  } else if (call->out->dtype == TN_F64) {
    double *at = joined, by = (double)n;
    for (int64_t i = 0; i < count; i++) at[i] = tn_canonical_f64(mean ? at[i] / by : at[i]);
  }
}

static void store(const tn_kernel_call *call, const reduction *r, const void *joined, int64_t begin,
                  int64_t count) {
  size_t bytes = tn_cpu_bytes(call->out->dtype);
  tn_cpu_iterator kept;
  tn_cpu_iterator_copy(&kept, &r->kept);
  tn_cpu_iterator_seek(&kept, kept.rank, begin);
  for (int64_t i = 0; i < count; i++, tn_cpu_iterator_next(&kept, kept.rank))
    memcpy((char *)call->out->data + kept.offset[1] * (int64_t)bytes,
           (const char *)joined + i * (int64_t)bytes, bytes);
}

/* ---- running ---- */
#define OUTPUTS_AT_ONCE 512
#define PARTIAL_LIMIT   4096 /* results of blocks: of a long sum among threads */
#define BLOCKS_EACH     16   /* of them for each thread, at most */
#define FEW_OUTPUTS     64

typedef struct {
  const tn_kernel_call *call;
  const reducer *how;
  reduction r;
  int64_t grain; /* outputs of one share are a multiple of this */
  int64_t blocks, block_chunks;
  tn_element *partial; /* blocks x outputs */
} reduce_job;

static void outputs_share(void *context, const tn_cpu_part *part) {
  const reduce_job *job = context;
  int64_t begin, end;
  tn_element joined[OUTPUTS_AT_ONCE];
  bool direct = tn_cpu_is_flat(job->call->out);
  int64_t bytes = (int64_t)tn_cpu_bytes(job->call->out->dtype);
  tn_cpu_share(job->r.outputs, job->grain, part, &begin, &end);
  if (direct && begin < end) {
    char *to = (char *)job->call->out->data + begin * bytes;
    reduce_outputs(&job->r, job->how, begin, end, to);
    finish(job->call, job->r.n, to, end - begin);
    return;
  }
  for (int64_t o = begin; o < end; o += OUTPUTS_AT_ONCE) {
    int64_t count = tn_cpu_min(end - o, OUTPUTS_AT_ONCE);
    reduce_outputs(&job->r, job->how, o, o + count, joined);
    finish(job->call, job->r.n, joined, count);
    store(job->call, &job->r, joined, o, count);
  }
}

/* Rows of floats have a shorter way to their largest. */
static void max_rows_share(void *context, const tn_cpu_part *part) {
  const reduce_job *job = context;
  int64_t begin, end;
  tn_cpu_iterator kept;
  tn_cpu_iterator_copy(&kept, &job->r.kept);
  tn_cpu_share(job->r.outputs, 1, part, &begin, &end);
  if (begin >= end) return;
  tn_cpu_iterator_seek(&kept, kept.rank, begin);
  for (int64_t o = begin; o < end; o++, tn_cpu_iterator_next(&kept, kept.rank))
    ((float *)job->call->out->data)[kept.offset[1]] =
        max_row(job->r.stop, (const float *)job->r.data + kept.offset[0], job->r.n);
}

static void blocks_share(void *context, const tn_cpu_part *part) {
  const reduce_job *job = context;
  reduction r = job->r;
  int64_t begin, end, chunks = tn_sum_chunks(r.n);
  int64_t row = r.outputs * (int64_t)tn_cpu_bytes(job->call->out->dtype);
  tn_cpu_share(job->blocks, 1, part, &begin, &end);
  for (int64_t b = begin; b < end; b++) {
    r.chunk_begin = b * job->block_chunks;
    r.chunk_end = tn_cpu_min(chunks, r.chunk_begin + job->block_chunks);
    reduce_outputs(&r, job->how, 0, r.outputs, (char *)job->partial + b * row);
  }
}

/* Few outputs of many elements: blocks are a power of two of chunks, so each is a whole subtree. There are at
 * least half as many as may be, so that threads get about even shares of them. */
static void run_blocks(reduce_job *job, int threads, double cost) {
  tn_element partial[PARTIAL_LIMIT];
  int64_t chunks = tn_sum_chunks(job->r.n);
  int64_t most = tn_cpu_min(PARTIAL_LIMIT / job->r.outputs, (threads > 4 ? threads : 4) * BLOCKS_EACH);
  job->block_chunks = 1;
  while (job->block_chunks * most < chunks) job->block_chunks *= 2;
  job->blocks = (chunks + job->block_chunks - 1) / job->block_chunks;
  job->partial = partial;
  tn_cpu_run_evenly(job->call, threads, job->blocks, cost, blocks_share, job);
  if (tn_stop_asked(job->call->stop)) return; /* blocks may be missing */
  join_blocks(job->how, (char *)partial, job->blocks, job->r.outputs);
  finish(job->call, job->r.n, partial, job->r.outputs);
  store(job->call, &job->r, partial, 0, job->r.outputs);
}

static bool of_nothing(const tn_kernel_call *call) {
  *call->fault = (tn_fault){ .kind = TN_FAULT_ARGUMENT,
                             .op = call->op,
                             .reason = "there is no largest or smallest of no elements" };
  return false;
}

/* Sums and products of no elements; the mean of none is 0 / 0. */
static bool reduce_nothing(const tn_kernel_call *call, double number) {
  if (tn_op_fails_of(call->op) == TN_FAILS_ON_EMPTY) return of_nothing(call);
  tn_attrs attrs = *call->attrs;
  attrs.number = number;
  tn_kernel_call fill = *call;
  fill.attrs = &attrs;
  return tn_cpu_fill(&fill);
}

static bool reduce(const tn_kernel_call *call, const reducer *const *how, double of_none) {
  reduce_job job;
  job.call = call;
  job.how = how[call->out->dtype];
  prepare(&job.r, call, call->attrs->axes, call->attrs->axis_count);
  if (job.r.outputs == 0) return true;
  if (job.r.n == 0) return reduce_nothing(call, of_none);
  double cost = (double)job.r.outputs * (double)job.r.n * (job.r.layout == SPREAD_OUT ? 1.0 : 0.15);
  int threads = tn_cpu_threads_for(cost, call->threads);
  job.grain = job.r.layout == COLUMNS ? 64 : 1;
  if (threads > 1 && job.r.outputs <= FEW_OUTPUTS && job.r.outputs < threads * job.grain * 2 &&
      job.r.n > TN_SUM_CHUNK)
    run_blocks(&job, threads, cost);
  else if (how == largest && call->out->dtype == TN_F32 && job.r.layout == ROWS)
    tn_cpu_run_evenly(call, threads, job.r.outputs, cost, max_rows_share, &job);
  else if (job.r.layout == ROWS)
    tn_cpu_run_evenly(call, threads, job.r.outputs / ROWS_AT_ONCE, cost, outputs_share, &job);
  else
    tn_cpu_run(call, threads, cost, outputs_share, &job); /* narrower columns take longer */
  return true;
}

#undef TN_MAKE_KERNEL
#define TN_MAKE_KERNEL      "backend/cpu/isa/reduction.inc"
#define KERNEL_NAME(kernel) TN_CPU_NAME(kernel)
#include "backend/reductions.def"

bool TN_CPU_NAME(mean)(const tn_kernel_call *call) { return reduce(call, reducers_sum_of, (double)NAN); }
bool TN_CPU_NAME(max)(const tn_kernel_call *call) { return reduce(call, largest, 0); }
bool TN_CPU_NAME(min)(const tn_kernel_call *call) { return reduce(call, smallest, 0); }

/* ---- for other kernels ---- */
float sum_row(tn_stop *stop, const float *row, int64_t n) {
  return n > 0 ? join_row_sum_f32(stop, row, n, 0, tn_sum_chunks(n)) : 0.0f;
}
double sum_row_f64(tn_stop *stop, const double *row, int64_t n) {
  return n > 0 ? join_row_sum_f64(stop, row, n, 0, tn_sum_chunks(n)) : 0.0;
}
double max_row_f64(tn_stop *stop, const double *row, int64_t n) {
  return join_row_max_f64(stop, row, n, 0, tn_sum_chunks(n));
}

/* Of a row, or a piece of a longer one. */
TN_NEVER_INLINE float max_piece(const float *row, int64_t n) {
  VI most[4];
  int64_t i = 0;
  for (int k = 0; k < 4; k++) most[k] = vi_set(INT32_MIN);
  for (; i + 4 * TN_LANES <= n; i += 4 * TN_LANES)
    for (int k = 0; k < 4; k++) most[k] = tn_key_max(most[k], tn_key(vf_load(row + i + k * TN_LANES)));
  for (; i < n; i += TN_LANES) {
    int left = (int)tn_cpu_min(n - i, TN_LANES);
    most[0] = tn_key_max(most[0], tn_key(tn_load_filled(row + i, left, -HUGE_VALF)));
  }
  most[0] = tn_key_max(tn_key_max(most[0], most[1]), tn_key_max(most[2], most[3]));
  return tn_float_of_key(tn_key_max_lane(most[0]));
}

float max_row(tn_stop *stop, const float *row, int64_t n) {
  if (TN_LIKELY(n <= TN_CPU_ROW_PIECE)) return max_piece(row, n);
  float most = -HUGE_VALF;
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    most = tn_larger_f32(most, max_piece(row + at, end - at));
  }
  return most;
}

static reduction one_strip(tn_stop *stop, int64_t step, int64_t n) {
  reduction r = { .stop = stop, .layout = COLUMNS, .n = n, .chunk_begin = 0, .chunk_end = tn_sum_chunks(n) };
  r.along.rank = r.along.views = 1;
  r.along.dim[0] = n;
  r.along.stride[0][0] = step;
  return r;
}

void sum_columns(tn_stop *stop, const float *columns, int64_t step, int64_t n, int width, float *to) {
  reduction r = one_strip(stop, step, n);
  reduce_strip(&r, &reducer_sum_f32, columns, width, to);
}

void max_columns(tn_stop *stop, const float *columns, int64_t step, int64_t n, int width, float *to) {
  for (int w = 0; w < width; w += TN_LANES) {
    int part = width - w < TN_LANES ? width - w : TN_LANES;
    VI most = tn_key(tn_load_filled(columns + w, part, 0));
    for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
      end = tn_cpu_piece_end(at, n);
      for (int64_t i = at > 0 ? at : 1; i < end; i++)
        most = tn_key_max(most, tn_key(part == TN_LANES ? vf_load(columns + w + i * step)
                                                        : vf_load_part(columns + w + i * step, part)));
    }
    vf_store_part(to + w, tn_of_key(most), part);
  }
}

/* ---- argmax ---- */
/* The first that none beats: NaN beats every number and is not beaten; -0 and +0 are a tie. */
#define PLACE_OF_MAX(name, type)                                                                             \
  /* Among `best`, the place so far, and begin..end-1. */                                                    \
  static int64_t place_in_##name(const type *x, int64_t step, int64_t best, int64_t begin, int64_t end) {    \
    type most = x[best * step];                                                                              \
    for (int64_t i = begin; i < end && most == most; i++) {                                                  \
      type here = x[i * step];                                                                               \
      if (here > most || here != here) best = i, most = here;                                                \
    }                                                                                                        \
    return best;                                                                                             \
  }                                                                                                          \
  static int64_t place_of_max_##name(tn_stop *stop, const void *data, int64_t n, int64_t step) {             \
    if (TN_LIKELY(n <= TN_CPU_ROW_PIECE)) return place_in_##name(data, step, 0, 1, n);                       \
    int64_t best = 0;                                                                                        \
    for (int64_t at = 0; at < n && !tn_cpu_row_stopped(stop, at); at = tn_cpu_piece_end(at, n))              \
      best = place_in_##name(data, step, best, at, tn_cpu_piece_end(at, n));                                 \
    return best;                                                                                             \
  }
PLACE_OF_MAX(f32, float)
PLACE_OF_MAX(f64, double)
PLACE_OF_MAX(i32, int32_t)
PLACE_OF_MAX(i64, int64_t)

/* A contiguous row: its largest first, then the first place that equals it. */
static int64_t place_in_row(tn_stop *stop, const float *row, int64_t n) {
  float most = max_row(stop, row, n);
  VF wanted = vf_set(most);
  bool none = most != most;
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    int64_t i = at;
    end = tn_cpu_piece_end(at, n);
    for (; i + TN_LANES <= end; i += TN_LANES) {
      VF v = vf_load(row + i);
      if (vm_any(none ? vf_isnan(v) : vf_eq(v, wanted))) break;
    }
    for (; i < end; i++)
      if (none ? row[i] != row[i] : row[i] == most) return i;
  }
  return 0; /* it was stopped */
}

static int64_t place_of_max(tn_stop *stop, tn_dtype dtype, const void *data, int64_t n, int64_t step) {
  switch (dtype) {
    case TN_F32:
      if (step == 1 && n >= 2 * TN_LANES) return place_in_row(stop, data, n);
      return place_of_max_f32(stop, data, n, step);
    case TN_F64: return place_of_max_f64(stop, data, n, step);
    case TN_I32: return place_of_max_i32(stop, data, n, step);
    default: return place_of_max_i64(stop, data, n, step);
  }
}

/* Neighbouring columns of floats side by side: the largest so far and its place. */
static void places_in_columns(tn_stop *stop, const float *x, int64_t step, int64_t n, int width,
                              int32_t *place) {
  VF most = vf_load_part(x, width);
  VI best = vi_set(0);
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at > 0 ? at : 1; i < end; i++) {
      VF here = vf_load_part(x + i * step, width);
      VM beats = vm_andnot(vm_or(vf_gt(here, most), vf_isnan(here)), vf_isnan(most));
      most = vf_select(beats, here, most);
      best = vi_select(beats, vi_set((int32_t)i), best);
    }
  }
  vi_store_part(place, best, width);
}

static void argmax_columns(const reduce_job *job, int64_t begin, int64_t end) {
  const tn_kernel_call *call = job->call;
  tn_cpu_iterator kept;
  tn_cpu_iterator_copy(&kept, &job->r.kept);
  int inner = kept.rank - 1;
  for (int64_t o = begin; o < end;) {
    int32_t place[TN_LANES];
    tn_cpu_iterator_seek(&kept, kept.rank, o);
    int width = (int)tn_cpu_min(tn_cpu_min(kept.dim[inner] - kept.at[inner], end - o), TN_LANES);
    places_in_columns(call->stop, (const float *)job->r.data + kept.offset[0],
                      call->in[0].stride[call->attrs->axis], job->r.n, width, place);
    for (int w = 0; w < width; w++)
      ((int32_t *)call->out->data)[kept.offset[1] + w * kept.stride[1][inner]] = place[w];
    o += width;
  }
}

static void argmax_share(void *context, const tn_cpu_part *part) {
  const reduce_job *job = context;
  const tn_kernel_call *call = job->call;
  const tn_view *x = &call->in[0];
  int64_t begin, end, bytes = (int64_t)tn_cpu_bytes(x->dtype);
  tn_cpu_iterator kept;
  tn_cpu_iterator_copy(&kept, &job->r.kept);
  tn_cpu_share(job->r.outputs, TN_LANES, part, &begin, &end);
  if (begin >= end) return;
  if (job->r.layout == COLUMNS && x->dtype == TN_F32 && job->r.n <= INT32_MAX) {
    argmax_columns(job, begin, end);
    return;
  }
  tn_cpu_iterator_seek(&kept, kept.rank, begin);
  for (int64_t o = begin; o < end; o++, tn_cpu_iterator_next(&kept, kept.rank)) {
    const char *row = (const char *)x->data + kept.offset[0] * bytes;
    ((int32_t *)call->out->data)[kept.offset[1]] =
        (int32_t)place_of_max(call->stop, x->dtype, row, job->r.n, x->stride[call->attrs->axis]);
  }
}

bool TN_CPU_NAME(argmax)(const tn_kernel_call *call) {
  reduce_job job;
  job.call = call;
  prepare(&job.r, call, &call->attrs->axis, 1);
  if (job.r.outputs == 0) return true;
  if (job.r.n == 0) return of_nothing(call);
  double cost = (double)job.r.outputs * (double)job.r.n * 0.5;
  tn_cpu_run(call, tn_cpu_threads_for(cost, call->threads), cost, argmax_share, &job);
  return true;
}
