/* backend/cpu/isa/scatter.c: scatter_add, row_update and fold: several elements are added to one,
 * in order.
 *
 * The order of additions to an element is part of the operation, so threads divide the result: each
 * reads everything that is to be added, in order, and adds what belongs to its part. */
#include "backend/cpu/isa/index.h"
#include "backend/cpu/isa/windows.h"
#include "backend/cpu/iterator.h"

/* ---- adding one run of elements ---- */
#define ADD_RUN(name, type, canonical)                                                                       \
  static void name(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count) {          \
    type *t = to;                                                                                            \
    const type *f = from;                                                                                    \
    if (to_step == 1 && from_step == 1) {                                                                    \
      TN_ANY_ORDER                                                                                           \
      for (int64_t i = 0; i < count; i++) t[i] = canonical(t[i] + f[i]);                                     \
    } else {                                                                                                 \
      for (int64_t i = 0; i < count; i++) t[i * to_step] = canonical(t[i * to_step] + f[i * from_step]);     \
    }                                                                                                        \
  }
ADD_RUN(add_run_f32, float, tn_canonical_f32)
ADD_RUN(add_run_f64, double, tn_canonical_f64)
ADD_RUN(add_run_i32, uint32_t, )
ADD_RUN(add_run_i64, uint64_t, )

typedef void (*add_run)(void *to, int64_t to_step, const void *from, int64_t from_step, int64_t count);

static add_run add_run_of(tn_dtype dtype) {
  switch (dtype) {
    case TN_F32: return add_run_f32;
    case TN_F64: return add_run_f64;
    case TN_I32: return add_run_i32;
    default: return add_run_i64;
  }
}

/* ---- scatter_add ---- */
/* out[before..., index[i...], after...] += y[before..., i..., after...], in the order of i. */
typedef struct {
  const tn_kernel_call *call;
  add_run add;
  tn_cpu_iterator before, places, after; /* views: out and y; index and y; out and y */
  int64_t befores, indices, rows;
  int64_t slice; /* elements that one place of the index adds */
  int64_t step; /* of out along the axis */
} scatter_job;

/* A run that may be long. */
static void add_pieces(const scatter_job *job, char *to, int64_t to_step, const char *from, int64_t from_step,
                       int64_t count) {
  const int64_t piece = 1 << 20, bytes = (int64_t)tn_cpu_bytes(job->call->out->dtype);
  for (int64_t i = 0; i < count; i += piece) {
    if (i > 0 && tn_stop_asked(job->call->stop)) return;
    job->add(to + i * to_step * bytes, to_step, from + i * from_step * bytes, from_step,
             tn_cpu_min(count - i, piece));
  }
}

static void add_slice(const scatter_job *job, char *to, const char *from, tn_cpu_iterator *after) {
  int64_t bytes = (int64_t)tn_cpu_bytes(job->call->out->dtype);
  int inner = after->rank - 1;
  int64_t count = after->dim[inner], rows = tn_cpu_iterator_count(after, 0, inner);
  for (int64_t r = 0; r < rows && !tn_cpu_stopped(job->call, r); r++) {
    add_pieces(job, to + after->offset[0] * bytes, after->stride[0][inner],
               from + after->offset[1] * bytes, after->stride[1][inner], count);
    tn_cpu_iterator_next(after, inner);
  }
}

static void scatter_share(void *context, const tn_cpu_part *part) {
  const scatter_job *job = context;
  const tn_view *index = &job->call->in[1], *y = &job->call->in[2], *out = job->call->out;
  int64_t begin, end, bytes = (int64_t)tn_cpu_bytes(out->dtype);
  tn_cpu_iterator before, places, after;
  tn_cpu_iterator_copy(&before, &job->before);
  tn_cpu_iterator_copy(&places, &job->places);
  tn_cpu_iterator_copy(&after, &job->after);
  tn_cpu_share(job->befores * job->rows, 1, part, &begin, &end); /* of the places along the axis */
  tn_cpu_iterator_seek(&before, before.rank, 0);
  tn_cpu_iterator_seek(&places, places.rank, 0);
  tn_cpu_iterator_seek(&after, after.rank - 1, 0);
  for (int64_t b = 0; b < job->befores; b++, tn_cpu_iterator_next(&before, before.rank)) {
    if ((b + 1) * job->rows <= begin || b * job->rows >= end) continue;
    for (int64_t i = 0; i < job->indices; i++, tn_cpu_iterator_next(&places, places.rank)) {
      int64_t row = tn_cpu_index_at(index->data, index->dtype, places.offset[0]), place = b * job->rows + row;
      if ((job->slice > 1024 || i % 1024 == 1023) && tn_stop_asked(job->call->stop)) return;
      if (place < begin || place >= end) continue;
      add_slice(job, (char *)out->data + (before.offset[0] + row * job->step) * bytes,
                (const char *)y->data + (before.offset[1] + places.offset[1]) * bytes, &after);
    }
  }
}

bool TN_CPU_NAME(scatter_add)(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2], *out = call->out;
  int axis = call->attrs->axis, after = axis + index->rank;
  if (!tn_cpu_check_index(call, index, x->dim[axis], axis)) return false;
  if (out->data != x->data) tn_cpu_move(call, out, x);
  if (tn_cpu_elements(y) == 0) return true;

  scatter_job job;
  job.call = call, job.add = add_run_of(out->dtype), job.rows = x->dim[axis], job.step = out->stride[axis];
  tn_view out_before = tn_cpu_axes(out, 0, axis), y_before = tn_cpu_axes(y, 0, axis);
  tn_view y_places = tn_cpu_axes(y, axis, after);
  tn_view out_after = tn_cpu_axes(out, axis + 1, out->rank), y_after = tn_cpu_axes(y, after, y->rank);
  job.befores = tn_cpu_elements(&out_before);
  job.indices = tn_cpu_elements(index);
  tn_cpu_iterator_two(&job.before, &out_before, &y_before);
  tn_cpu_iterator_two(&job.places, index, &y_places);
  tn_cpu_iterator_two(&job.after, &out_after, &y_after);
  job.slice = tn_cpu_elements(&y_after);
  double cost = (double)job.befores * (double)job.indices * (8 + 0.2 * (double)job.slice);
  tn_cpu_parallel(call, tn_cpu_threads_for(cost, call->threads), cost, scatter_share, &job);
  return true;
}

/* ---- row_update ----
 * The slices of one row must be added up before the row changes, so the places of the index that name
 * the same row are chained together, in order: a table in scratch leads from a row to its chain. Then
 * each row is done at once, and rows that are not named are not touched. The table has a place for every row
 * where there are not many more rows than places of the index; else it is a hash table. */
typedef struct {
  int64_t row, first, last; /* first and last place of the index that names the row */
} chain;

typedef struct {
  const tn_kernel_call *call;
  tn_cpu_iterator places, after; /* views: index and y; x, out and y */
  int64_t indices, chains;
  chain *chain;
  int64_t *next;   /* by place of the index: the next one that names the same row, or -1 */
  int64_t *offset; /* by place: of its slice in y */
  int64_t *bucket;   /* hash table of chain numbers, -1 where empty */
  int64_t buckets;   /* a power of two */
} update_job;

static int64_t buckets_for(int64_t indices) {
  int64_t buckets = 16;
  while (buckets < 2 * indices) buckets *= 2;
  return buckets;
}

/* ---- row_update with a place for every row: f32, rows without gaps ----
 * Most rows of a large table are named once. They go first and together: which row comes next is then known
 * ahead, and no branch depends on the index. */
typedef struct {
  const tn_kernel_call *call;
  int64_t indices, columns, rows;
  int32_t *head;      /* by row: the first place of the index that names it, or -1 */
  int32_t *next;      /* by place: the next one that names the same row, or -1 */
  const int32_t *row; /* by place */
  int64_t *from;      /* by place: where its slice is in y */
  uint8_t *later;     /* by place, counted from 1: an earlier one names the same row; 0 is unused */
  int32_t *order; /* first places of rows: from the front of those named once, from the end of the others */
  int64_t once, often; /* how many there are of each */
} direct_job;

static bool is_direct(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2], *out = call->out;
  int64_t indices = tn_cpu_elements(index);
  if (x->dtype != TN_F32 || x->rank != 2 || x->stride[1] != 1 || out->stride[1] != 1) return false;
  if (y->stride[y->rank - 1] != 1 || indices > INT32_MAX / 64) return false;
  return x->dim[0] <= 32 * indices + 256;
}

static size_t direct_scratch(const tn_kernel_call *call) {
  size_t indices = (size_t)tn_cpu_elements(&call->in[1]), rows = (size_t)call->in[0].dim[0];
  return indices * (sizeof(int64_t) + 3 * sizeof(int32_t) + 1) + 1 + rows * sizeof(int32_t);
}

/* Where the slices are, and the rows, which stay where they are if they can. */
static void find_places(direct_job *job, int32_t *rows) {
  const tn_view *index = &job->call->in[1], *y = &job->call->in[2];
  tn_cpu_iterator places;
  tn_view slices = tn_cpu_axes(y, 0, index->rank);
  tn_cpu_iterator_two(&places, index, &slices);
  int inner = places.rank - 1;
  int64_t step = places.stride[0][inner], slice_step = places.stride[1][inner], n = places.dim[inner];
  bool copied = index->dtype != TN_I32 || !tn_cpu_is_flat(index);
  job->row = copied ? rows : index->data;
  tn_cpu_iterator_seek(&places, inner, 0);
  for (int64_t place = 0; place < job->indices; place += n, tn_cpu_iterator_next(&places, inner)) {
    int64_t slice = places.offset[1];
    for (int64_t i = 0; i < n; i++, slice += slice_step) job->from[place + i] = slice;
    for (int64_t i = 0; copied && i < n; i++)
      rows[place + i] = (int32_t)tn_cpu_index_at(index->data, index->dtype, places.offset[0] + i * step);
  }
}

/* From the last place to the first, so that each chain ascends. */
static void chain_places(const direct_job *job) {
  const int32_t *row = job->row;
  int32_t *head = job->head, *next = job->next;
  uint8_t *later = job->later;
  memset(later, 0, (size_t)job->indices + 1);
  for (int64_t r = 0; r < job->rows; r++) head[r] = -1;
  for (int64_t i = job->indices - 1; i >= 0; i--) {
    int32_t at = row[i], after = head[at];
    later[after + 1] = 1;
    next[i] = after;
    head[at] = (int32_t)i;
  }
}

/* No branch predictor can tell which of the two a position is, or neither: all are written, and
 * counted. */
static void order_places(direct_job *job) {
  const uint8_t *later = job->later + 1;
  const int32_t *next = job->next;
  int32_t *once = job->order, *often = job->order + job->indices - 1;
  for (int64_t i = 0, count = job->indices; i < count; i++) {
    int first = !later[i], last = next[i] < 0;
    *once = *often = (int32_t)i;
    once += first & last;
    often -= first & !last;
  }
  job->once = once - job->order;
  job->often = job->order + job->indices - 1 - often;
}

/* What the loop over rows needs of a job, by itself: a compiler cannot know that storing leaves a job as it
 * is. */
typedef struct {
  const float *x, *y;
  float *out;
  int64_t x_step, out_step;
  const int32_t *row, *next;
  const int64_t *from;
  VF scale;
} row_loop;

/* x - scale * (sum of the slices from +0): `vectors` vectors of one row, the last one with `left` columns. */
TN_ALWAYS_INLINE void update_vectors(const row_loop *l, int32_t place, int64_t column, bool once, int vectors,
                                     int left) {
  const float *old = l->x + l->row[place] * l->x_step + column;
  float *to = l->out + l->row[place] * l->out_step + column;
  VF sum[4];
  TN_UNROLL for (int v = 0; v < vectors; v++) sum[v] = vf_set(0.0f);
  for (int32_t i = place; i >= 0; i = once ? -1 : l->next[i]) {
    const float *slice = l->y + l->from[i] + column;
    TN_UNROLL for (int v = 0; v < vectors - 1; v++) sum[v] = sum[v] + vf_load(slice + v * TN_LANES);
    sum[vectors - 1] = sum[vectors - 1] + tn_load_some(slice + (vectors - 1) * TN_LANES, left);
  }
  TN_UNROLL for (int v = 0; v < vectors - 1; v++)
      vf_store(to + v * TN_LANES, vf_canonical(vf_load(old + v * TN_LANES) - l->scale * sum[v]));
  VF last = tn_load_some(old + (vectors - 1) * TN_LANES, left) - l->scale * sum[vectors - 1];
  tn_store_some(to + (vectors - 1) * TN_LANES, vf_canonical(last), left);
}

#define AHEAD 8 /* rows: how far ahead one is prefetched */

static row_loop loop_of(const direct_job *job) {
  const tn_kernel_call *call = job->call;
  return (row_loop){ .x = call->in[0].data,
                     .y = call->in[2].data,
                     .out = call->out->data,
                     .x_step = call->in[0].stride[0],
                     .out_step = call->out->stride[0],
                     .row = job->row,
                     .next = job->next,
                     .from = job->from,
                     .scale = vf_set(*(const float *)call->in[3].data) };
}

TN_ALWAYS_INLINE void prefetch_row(const row_loop *l, int32_t place, int64_t columns) {
  const float *row = l->x + l->row[place] * l->x_step;
  for (int64_t c = 0; c < columns && c < 256; c += 16) TN_PREFETCH(row + c);
}

TN_ALWAYS_INLINE void update_rows(const direct_job *job, const int32_t *order, int64_t begin, int64_t end,
                                  bool once, int64_t columns) {
  const row_loop l = loop_of(job);
  for (int64_t k = begin; k < end; k++) {
    prefetch_row(&l, order[tn_cpu_min(k + AHEAD, end - 1)], columns);
    int64_t c = 0;
    for (; c + 4 * TN_LANES <= columns; c += 4 * TN_LANES) update_vectors(&l, order[k], c, once, 4, TN_LANES);
    for (; c < columns; c += TN_LANES)
      update_vectors(&l, order[k], c, once, 1, (int)tn_cpu_min(columns - c, TN_LANES));
  }
}

/* out = x - down, a row of TN_COMMON_COLUMNS. One question finds a NaN in any vector: their sum is NaN then,
 * and seldom else. */
TN_ALWAYS_INLINE void update_common(float *out, const float *x, const VF *down) {
  VF row[TN_COMMON_VECTORS];
  TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) row[v] = vf_load(x + v * TN_LANES) - down[v];
  VF even = row[0], odd = row[1];
  TN_UNROLL for (int v = 2; v < TN_COMMON_VECTORS; v += 2) even = even + row[v], odd = odd + row[v + 1];
  if (vm_any(vf_isnan(even + odd)))
    for (int v = 0; v < TN_COMMON_VECTORS; v++) row[v] = vf_canonical(row[v]);
  TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) vf_store(out + v * TN_LANES, row[v]);
}

/* The words of a text whose vectors meet in a mean have one gradient: places side by side often add the same
 * slice, which is multiplied by the scale once. */
static void update_common_once(const direct_job *job, int64_t begin, int64_t end) {
  const row_loop l = loop_of(job);
  for (int64_t k = begin; k < end;) {
    const int64_t slice = l.from[job->order[k]];
    VF down[TN_COMMON_VECTORS];
    TN_UNROLL for (int v = 0; v < TN_COMMON_VECTORS; v++) down[v] =
        l.scale * (vf_set(0.0f) + vf_load(l.y + slice + v * TN_LANES));
    for (; k < end && l.from[job->order[k]] == slice; k++) {
      const int64_t row = l.row[job->order[k]];
      prefetch_row(&l, job->order[tn_cpu_min(k + AHEAD, end - 1)], TN_COMMON_COLUMNS);
      update_common(l.out + row * l.out_step, l.x + row * l.x_step, down);
    }
  }
}

static void update_named_once(const direct_job *job, int64_t begin, int64_t end) {
  if (job->columns == TN_COMMON_COLUMNS)
    update_common_once(job, begin, end);
  else
    update_rows(job, job->order, begin, end, true, job->columns);
}

static void update_named_often(const direct_job *job, int64_t begin, int64_t end) {
  const int32_t *order = job->order + job->indices - job->often;
  if (job->columns == TN_COMMON_COLUMNS)
    update_rows(job, order, begin, end, false, TN_COMMON_COLUMNS);
  else
    update_rows(job, order, begin, end, false, job->columns);
}

static void direct_share(void *context, const tn_cpu_part *part) {
  const direct_job *job = context;
  int64_t begin, end;
  tn_cpu_share(job->once, 1, part, &begin, &end);
  update_named_once(job, begin, end);
  tn_cpu_share(job->often, 1, part, &begin, &end);
  update_named_often(job, begin, end);
}

static void row_update_direct(const tn_kernel_call *call) {
  direct_job job = { .call = call,
                     .indices = tn_cpu_elements(&call->in[1]),
                     .columns = call->in[0].dim[1],
                     .rows = call->in[0].dim[0],
                     .from = call->scratch };
  job.next = (int32_t *)(job.from + job.indices);
  job.order = job.next + job.indices;
  job.head = job.order + job.indices;
  int32_t *copies = job.head + job.rows;
  job.later = (uint8_t *)(copies + job.indices);
  find_places(&job, copies);
  chain_places(&job);
  order_places(&job);
  double cost = (double)job.indices * (5 + 0.1 * (double)job.columns);
  int64_t bytes = job.indices * job.columns * (int64_t)sizeof(float);
  tn_cpu_run(call, tn_cpu_threads_for_rows(cost, bytes, call->threads), cost, direct_share, &job);
}

/* ---- row_update with a hash table ---- */
size_t TN_CPU_NAME(row_update_scratch)(const tn_kernel_call *call) {
  int64_t indices = tn_cpu_elements(&call->in[1]);
  if (is_direct(call)) return direct_scratch(call);
  return (size_t)indices * (sizeof(chain) + 2 * sizeof(int64_t)) +
         (size_t)buckets_for(indices) * sizeof(int64_t);
}

/* The chain of a row: where it is, or where it is to be entered. */
static int64_t *find_bucket(const update_job *job, int64_t row) {
  uint64_t at = (uint64_t)row * 0x9e3779b97f4a7c15u >> 20;
  for (;; at++) {
    int64_t *bucket = &job->bucket[at & (uint64_t)(job->buckets - 1)];
    if (*bucket < 0 || job->chain[*bucket].row == row) return bucket;
  }
}

static void link_places(update_job *job) {
  const tn_view *index = &job->call->in[1];
  tn_cpu_iterator places;
  tn_cpu_iterator_copy(&places, &job->places);
  for (int64_t s = 0; s < job->buckets; s++) job->bucket[s] = -1;
  tn_cpu_iterator_seek(&places, places.rank, 0);
  for (int64_t i = 0; i < job->indices; i++, tn_cpu_iterator_next(&places, places.rank)) {
    int64_t row = tn_cpu_index_at(index->data, index->dtype, places.offset[0]);
    int64_t *bucket = find_bucket(job, row);
    job->offset[i] = places.offset[1];
    job->next[i] = -1;
    if (*bucket < 0) {
      *bucket = job->chains++;
      job->chain[*bucket] = (chain){ row, i, i };
    } else {
      chain *at = &job->chain[*bucket];
      job->next[at->last] = i;
      at->last = i;
    }
  }
}

#define UPDATE_COLUMNS 256
/* x - scale * (sum of the slices from +0), for count columns of one row. */
#define UPDATE_RUN(name, type, canonical)                                                                    \
  static void name(const update_job *job, const chain *at, const void *from, int64_t from_step, void *to,    \
                   int64_t to_step, const void *slices, int64_t step, int64_t count) {                       \
    const type *x = from, *y = slices, scale = *(const type *)job->call->in[3].data;                         \
    type *out = to, sum[UPDATE_COLUMNS];                                                                     \
    for (int64_t c = 0; c < count; c++) sum[c] = 0;                                                          \
    for (int64_t i = at->first; i >= 0; i = job->next[i]) {                                                  \
      const type *slice = y + job->offset[i];                                                                \
      if (step == 1)                                                                                         \
        for (int64_t c = 0; c < count; c++) sum[c] += slice[c];                                              \
      else                                                                                                   \
        for (int64_t c = 0; c < count; c++) sum[c] += slice[c * step];                                       \
    }                                                                                                        \
    for (int64_t c = 0; c < count; c++) out[c * to_step] = canonical(x[c * from_step] - scale * sum[c]);     \
  }
UPDATE_RUN(update_run_f32, float, tn_canonical_f32)
UPDATE_RUN(update_run_f64, double, tn_canonical_f64)

static void update_row(const update_job *job, const chain *at, tn_cpu_iterator *after) {
  const tn_view *x = &job->call->in[0], *y = &job->call->in[2], *out = job->call->out;
  int64_t bytes = (int64_t)tn_cpu_bytes(x->dtype);
  int inner = after->rank - 1;
  const int64_t step[3] = { after->stride[0][inner], after->stride[1][inner], after->stride[2][inner] };
  for (int64_t r = tn_cpu_iterator_count(after, 0, inner); r > 0; r--, tn_cpu_iterator_next(after, inner))
    for (int64_t c = 0; c < after->dim[inner]; c += UPDATE_COLUMNS) {
      int64_t count = tn_cpu_min(after->dim[inner] - c, UPDATE_COLUMNS);
      const char *from =
          (const char *)x->data + (at->row * x->stride[0] + after->offset[0] + c * step[0]) * bytes;
      char *to = (char *)out->data + (at->row * out->stride[0] + after->offset[1] + c * step[1]) * bytes;
      const char *slices = (const char *)y->data + (after->offset[2] + c * step[2]) * bytes;
      if (x->dtype == TN_F32)
        update_run_f32(job, at, from, step[0], to, step[1], slices, step[2], count);
      else
        update_run_f64(job, at, from, step[0], to, step[1], slices, step[2], count);
    }
}

static void update_share(void *context, const tn_cpu_part *part) {
  const update_job *job = context;
  int64_t begin, end;
  tn_cpu_iterator after;
  tn_cpu_iterator_copy(&after, &job->after);
  tn_cpu_share(job->chains, 1, part, &begin, &end);
  tn_cpu_iterator_seek(&after, after.rank - 1, 0);
  for (int64_t c = begin; c < end; c++) update_row(job, &job->chain[c], &after);
}

bool TN_CPU_NAME(row_update)(const tn_kernel_call *call) {
  const tn_view *x = &call->in[0], *index = &call->in[1], *y = &call->in[2], *out = call->out;
  bool fits = tn_cpu_is_flat(index) && tn_cpu_index_fits(call, index, tn_cpu_elements(index), x->dim[0]);
  if (!fits && !tn_cpu_check_index(call, index, x->dim[0], 0)) return false;
  if (out->data != x->data) tn_cpu_move(call, out, x);
  if (tn_cpu_elements(y) == 0) return true;
  if (is_direct(call)) {
    row_update_direct(call);
    return true;
  }

  update_job job;
  job.call = call, job.indices = tn_cpu_elements(index), job.chains = 0;
  tn_view y_places = tn_cpu_axes(y, 0, index->rank), y_after = tn_cpu_axes(y, index->rank, y->rank);
  tn_view x_after = tn_cpu_axes(x, 1, x->rank), out_after = tn_cpu_axes(out, 1, out->rank);
  tn_cpu_iterator_two(&job.places, index, &y_places);
  tn_cpu_iterator_init(&job.after, &x_after);
  tn_cpu_iterator_add(&job.after, &x_after);
  tn_cpu_iterator_add(&job.after, &out_after);
  tn_cpu_iterator_add(&job.after, &y_after);
  tn_cpu_iterator_merge(&job.after);
  job.buckets = buckets_for(job.indices);
  job.chain = call->scratch;
  job.next = (int64_t *)(job.chain + job.indices);
  job.offset = job.next + job.indices;
  job.bucket = job.offset + job.indices;
  link_places(&job);
  double cost = (double)job.indices * (10 + 0.2 * (double)tn_cpu_elements(&y_after));
  tn_cpu_run(call, tn_cpu_threads_for(cost, call->threads), cost, update_share, &job);
  return true;
}

/* ---- fold ---- */
/* x: [n, oh, ow, kh * kw * c], out: [n, h, w, c]. A unit is one row of one image: zeros, then every
 * window that covers some of it, by window row and window column; a window has one of its rows here. */
typedef struct {
  const tn_kernel_call *call;
  add_run add;
} fold_job;

static void fold_window(const fold_job *job, int64_t n, int64_t h, int64_t oh, int64_t ow) {
  const tn_view *x = &job->call->in[0], *out = job->call->out;
  const tn_attrs *attrs = job->call->attrs;
  int64_t bytes = (int64_t)tn_cpu_bytes(out->dtype), channels = out->dim[3], columns = attrs->window[1];
  int64_t row = h + attrs->low[0] - oh * attrs->step[0], first = ow * attrs->step[1] - attrs->low[1];
  int64_t begin = first < 0 ? -first : 0, end = tn_cpu_min(out->dim[2] - first, columns);
  if (begin >= end) return;
  const char *from = (const char *)x->data + (n * x->stride[0] + oh * x->stride[1] + ow * x->stride[2] +
                                              (row * columns + begin) * channels * x->stride[3]) *
                                                 bytes;
  char *to = (char *)out->data +
             (n * out->stride[0] + h * out->stride[1] + (first + begin) * out->stride[2]) * bytes;
  if (out->stride[2] == channels * out->stride[3]) {
    job->add(to, out->stride[3], from, x->stride[3], (end - begin) * channels);
    return;
  }
  for (int64_t c = begin; c < end; c++)
    job->add(to + (c - begin) * out->stride[2] * bytes, out->stride[3],
             from + (c - begin) * channels * x->stride[3] * bytes, x->stride[3], channels);
}

/* ---- f32 without gaps: every pixel takes what covers it, and is written once ---- */
typedef struct {
  const float *first;            /* of the first window that covers the pixel, its element there */
  int64_t rows, columns;         /* windows that cover it */
  int64_t next_row, next_column; /* from one of them to the next, in elements */
} cover;

#define ABREAST 4   /* pixels whose sums are found together: each addition waits for the one before */

/* `left` channels of neighbouring pixels, from channel c on: window row by window row, as the contract has
 * it. The windows of each lie `apart` elements after those of the one before. */
TN_ALWAYS_INLINE void add_covers(const cover *at, int64_t apart, int pixels, float *to, int64_t channels,
                                 int64_t c, int left) {
  VF sum[ABREAST];
  TN_UNROLL for (int p = 0; p < pixels; p++) sum[p] = vf_set(0.0f);
  for (int64_t i = 0; i < at->rows; i++) {
    const float *from = at->first + c + i * at->next_row;
    for (int64_t k = 0; k < at->columns; k++, from += at->next_column) {
      TN_UNROLL for (int p = 0; p < pixels; p++) sum[p] = sum[p] + tn_load_some(from + p * apart, left);
    }
  }
  TN_UNROLL for (int p = 0; p < pixels; p++)
      tn_store_some(to + p * channels + c, vf_canonical(sum[p]), left);
}

TN_ALWAYS_INLINE void fold_pixels(const cover *at, int64_t apart, int pixels, float *to, int64_t channels) {
  int64_t c = 0;
  for (; c + TN_LANES <= channels; c += TN_LANES)
    add_covers(at, apart, pixels, to, channels, c, TN_LANES);
  if (c < channels) add_covers(at, apart, pixels, to, channels, c, (int)(channels - c));
}

/* Whether as many windows cover each of the ABREAST pixels from w on, and each time one window further: so
 * the step is 1. */
static bool are_alike(const tn_kernel_call *call, int64_t w, const windows_cover *across) {
  const tn_attrs *attrs = call->attrs;
  int64_t end = w + ABREAST - 1;
  if (end >= call->out->dim[2]) return false;
  windows_cover last =
      windows_covering(end, attrs->low[1], attrs->step[1], attrs->window[1], call->in[0].dim[2]);
  return last.begin == across->begin + ABREAST - 1 && last.end == across->end + ABREAST - 1;
}

static void fold_line(const tn_kernel_call *call, int64_t n, int64_t h) {
  const tn_view *x = &call->in[0], *out = call->out;
  const tn_attrs *attrs = call->attrs;
  int64_t channels = out->dim[3], columns = attrs->window[1], size = x->dim[3], pixels;
  windows_cover down = windows_covering(h, attrs->low[0], attrs->step[0], attrs->window[0], x->dim[1]);
  float *to = (float *)out->data + (n * out->dim[1] + h) * out->dim[2] * channels;
  cover at = { .rows = down.end - down.begin,
               .next_row = x->dim[2] * size - attrs->step[0] * columns * channels,
               .next_column = size - attrs->step[1] * channels };
  for (int64_t w = 0; w < out->dim[2]; w += pixels, to += pixels * channels) {
    if (w % 64 > 64 - ABREAST && tn_stop_asked(call->stop)) return;
    windows_cover across = windows_covering(w, attrs->low[1], attrs->step[1], columns, x->dim[2]);
    int64_t oh = down.begin, row = h + attrs->low[0] - oh * attrs->step[0];
    int64_t ow = across.begin, column = w + attrs->low[1] - ow * attrs->step[1];
    at.columns = across.end - ow;
    pixels = 1;
    if (at.rows <= 0 || at.columns <= 0) {
      memset(to, 0, (size_t)channels * sizeof *to);
      continue;
    }
    at.first = (const float *)x->data + ((n * x->dim[1] + oh) * x->dim[2] + ow) * size +
               (row * columns + column) * channels;
    if (are_alike(call, w, &across)) {
      fold_pixels(&at, size, ABREAST, to, channels);
      pixels = ABREAST;
    } else {
      fold_pixels(&at, size, 1, to, channels);
    }
  }
}

static void fold_share(void *context, const tn_cpu_part *part) {
  const fold_job *job = context;
  const tn_view *x = &job->call->in[0], *out = job->call->out;
  const tn_attrs *attrs = job->call->attrs;
  int64_t begin, end;
  tn_cpu_share(out->dim[0] * out->dim[1], 1, part, &begin, &end);
  bool flat = out->dtype == TN_F32 && tn_cpu_is_flat(x) && tn_cpu_is_flat(out);
  for (int64_t unit = begin; unit < end; unit++) {
    int64_t n = unit / out->dim[1], h = unit % out->dim[1];
    if (flat) {
      fold_line(job->call, n, h);
      continue;
    }
    tn_view image = tn_view_slice(out, 0, n, 1, 1), line = tn_view_slice(&image, 1, h, 1, 1);
    tn_cpu_clear(job->call, &line);
    for (int64_t oh = 0; oh < x->dim[1]; oh++) {
      int64_t row = h + attrs->low[0] - oh * attrs->step[0];
      if (row < 0 || row >= attrs->window[0]) continue;
      for (int64_t ow = 0; ow < x->dim[2] && !tn_stop_asked(job->call->stop); ow++)
        fold_window(job, n, h, oh, ow);
    }
  }
}

bool TN_CPU_NAME(fold)(const tn_kernel_call *call) {
  fold_job job = { call, add_run_of(call->out->dtype) };
  if (tn_cpu_elements(call->out) == 0) return true;
  double cost = (double)tn_cpu_elements(&call->in[0]) * 0.5;
  int64_t lines = call->out->dim[0] * call->out->dim[1];
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), lines, cost, fold_share, &job);
  return true;
}
