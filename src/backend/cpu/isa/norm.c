/* backend/cpu/isa/norm.c: layer_norm.
 *
 * c = x - mean(x), then ((c / sqrt(mean(c c) + eps)) gamma) + beta, rounded after each operation. A row is
 * read twice while it is in the first-level cache, for its squares and for its results. In a tensor of f32
 * without gaps the second pass also sums the next row and prefetches the one after it, so that rows come from
 * memory while others are worked on. Rows with gaps are copied first.
 *
 * A row's differences from a mean that is no smaller than 2^-75 are 0 or no smaller than 2^-100: they are
 * divided by one division (divide.h). Rows with a smaller mean, with NaN or infinities, or with a
 * spread far from 1 use ordinary divisions. */
#include <math.h>

#include "backend/cpu/isa/divide.h"
#include "backend/cpu/isa/stream.h"
#include "backend/cpu/isa/sums.h"
#include "backend/cpu/iterator.h"

#define STREAM_BYTES ((int64_t)32 << 20) /* a result too large for a near cache */
#define ABREAST      2 /* chunks of squares side by side: an addition waits for the one before */
#define LEAST_ROWS   8 /* of a part: its first row is summed by itself */

typedef struct {
  const float *x, *next; /* this row and the one after it, or any */
  const float *gamma, *beta;
  float *out;
  int64_t n;
  VF mean, spread, inverse; /* the same in every lane */
  tn_stop *stop;
} row;

/* ---- squares ---- */
TN_ALWAYS_INLINE VF square_of(VF x, VF mean) {
  VF c = x - mean;
  return c * c;
}

/* The last elements of a chunk, fewer than TN_SUM_LANES, go to their lanes. */
static void add_rest(VF *acc, const float *x, int64_t count, VF mean) {
  float squares[TN_LANES];
  for (int g = 0; g < TN_SUM_GROUPS && g * TN_LANES < count; g++) {
    int left = (int)tn_cpu_min(count - g * TN_LANES, TN_LANES);
    vf_store(squares, square_of(vf_load_part(x + g * TN_LANES, left), mean));
    acc[g] = acc[g] + tn_load_filled(squares, left, -0.0f);
  }
}

/* The sums of the squares of `number` chunks of `count` elements each. */
TN_ALWAYS_INLINE void add_squares(const row *r, int64_t at, int number, int64_t count, float *sums) {
  const float *x = r->x + at;
  VF acc[ABREAST][TN_SUM_GROUPS];
  for (int c = 0; c < number; c++)
    for (int g = 0; g < TN_SUM_GROUPS; g++) acc[c][g] = vf_set(-0.0f);
  int64_t i = 0;
  for (; i + TN_SUM_LANES <= count; i += TN_SUM_LANES)
    for (int c = 0; c < number; c++) {
      for (int g = 0; g < TN_SUM_GROUPS; g++)
        acc[c][g] = acc[c][g] + square_of(vf_load(x + c * TN_SUM_CHUNK + i + g * TN_LANES), r->mean);
    }
  for (int c = 0; c < number && i < count; c++)
    add_rest(acc[c], x + c * TN_SUM_CHUNK + i, count - i, r->mean);
  for (int c = 0; c < number; c++) sums[c] = tn_sum_vectors(acc[c]);
}

static float sum_of_squares(const row *r) {
  tn_sum_f32 tree;
  float sums[ABREAST];
  int64_t i = 0;
  tree.count = 0;
  for (; i + ABREAST * TN_SUM_CHUNK <= r->n; i += ABREAST * TN_SUM_CHUNK) {
    add_squares(r, i, ABREAST, TN_SUM_CHUNK, sums);
    for (int c = 0; c < ABREAST; c++) tn_sum_f32_add(&tree, sums[c]);
    if (tn_cpu_row_stopped(r->stop, i)) return tn_sum_f32_end(&tree);
  }
  for (; i < r->n; i += TN_SUM_CHUNK) {
    add_squares(r, i, 1, tn_cpu_min(r->n - i, TN_SUM_CHUNK), sums);
    tn_sum_f32_add(&tree, sums[0]);
  }
  return tn_sum_f32_end(&tree);
}

/* ---- results ---- */
typedef enum { ORDINARY, QUICK, QUICK_PAST_CACHES } manner;

TN_ALWAYS_INLINE VF result_of(const row *r, VF x, VF gamma, VF beta, manner how) {
  VF c = x - r->mean;
  VF scaled = how == ORDINARY ? c / r->spread : tn_quotient(c, r->spread, r->inverse);
  return vf_canonical(scaled * gamma + beta);
}

/* The results of one chunk; gives the sum of the next row's over the lanes. */
TN_ALWAYS_INLINE float finish_chunk(const row *given, int64_t at, int64_t count, manner how) {
  const row here = *given, *r = &here; /* so that no store can change it */
  VF acc[TN_SUM_GROUPS];
  for (int g = 0; g < TN_SUM_GROUPS; g++) acc[g] = vf_set(-0.0f);
  int64_t i = at, end = at + count;
  for (; i + TN_SUM_LANES <= end; i += TN_SUM_LANES) {
    TN_PREFETCH_FAR((const void *)((uintptr_t)(r->next + i) + (uintptr_t)r->n * sizeof(float)));
    for (int g = 0; g < TN_SUM_GROUPS; g++) {
      int64_t k = i + g * TN_LANES;
      VF v = result_of(r, vf_load(r->x + k), vf_load(r->gamma + k), vf_load(r->beta + k), how);
      if (how == QUICK_PAST_CACHES)
        vf_stream(r->out + k, v);
      else
        vf_store(r->out + k, v);
      acc[g] = acc[g] + vf_load(r->next + k);
    }
  }
  for (int g = 0; i < end; i += TN_LANES, g++) {
    int left = (int)tn_cpu_min(end - i, TN_LANES);
    VF x = vf_load_part(r->x + i, left);
    VF v = result_of(r, x, vf_load_part(r->gamma + i, left), vf_load_part(r->beta + i, left), how);
    vf_store_part(r->out + i, v, left);
    acc[g] = acc[g] + tn_load_filled(r->next + i, left, -0.0f);
  }
  return tn_sum_vectors(acc);
}

TN_ALWAYS_INLINE float finish_chunks(const row *r, manner how) {
  tn_sum_f32 tree;
  tree.count = 0;
  for (int64_t i = 0; i < r->n; i += TN_SUM_CHUNK) {
    tn_sum_f32_add(&tree, finish_chunk(r, i, tn_cpu_min(r->n - i, TN_SUM_CHUNK), how));
    if (tn_cpu_row_stopped(r->stop, i)) break;
  }
  return tn_sum_f32_end(&tree);
}

TN_NEVER_INLINE float finish_ordinary(const row *r) { return finish_chunks(r, ORDINARY); }
TN_NEVER_INLINE float finish_quick(const row *r) { return finish_chunks(r, QUICK); }
TN_NEVER_INLINE float finish_past_caches(const row *r) { return finish_chunks(r, QUICK_PAST_CACHES); }

/* A row whose elements' sum is known; gives that of the next one. */
static float norm_row(row *r, float sum, float eps, bool streams) {
  float mean = sum / (float)r->n;
  r->mean = vf_set(mean);
  float spread = sqrtf(sum_of_squares(r) / (float)r->n + eps);
  r->spread = vf_set(spread);
  r->inverse = vf_set(1.0f / spread);
  bool quick = TN_FMA_IN_HARDWARE && fabsf(mean) >= 0x1p-75f && spread >= 0x1p-40f && spread <= 0x1p24f;
  return !quick ? finish_ordinary(r) : streams ? finish_past_caches(r) : finish_quick(r);
}

/* ---- f64: one row ---- */
static double sum_of_squares_f64(tn_stop *stop, const double *x, int64_t n, double mean) {
  double squares[TN_SUM_CHUNK];
  tn_sum_f64 tree;
  tree.count = 0;
  for (int64_t i = 0; i < n && !tn_cpu_row_stopped(stop, i); i += TN_SUM_CHUNK) {
    int64_t count = tn_cpu_min(n - i, TN_SUM_CHUNK);
    for (int64_t k = 0; k < count; k++) squares[k] = (x[i + k] - mean) * (x[i + k] - mean);
    tn_sum_f64_add(&tree, sum_row_f64(NULL, squares, count));
  }
  return tn_sum_f64_end(&tree);
}

static void norm_row_f64(const tn_kernel_call *call, const double *x, const double *gamma, const double *beta,
                         int64_t n, double *out) {
  double mean = sum_row_f64(call->stop, x, n) / (double)n;
  double spread = sqrt(sum_of_squares_f64(call->stop, x, n, mean) / (double)n + call->attrs->number);
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(call->stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i++)
      out[i] = tn_canonical_f64((x[i] - mean) / spread * gamma[i] + beta[i]);
  }
}

/* ---- rows of a tensor ---- */
enum { X, GAMMA, BETA, OUT, VIEWS };

typedef struct {
  const tn_kernel_call *call;
  int64_t count, n;    /* rows, and elements of each */
  bool flat;           /* f32 without gaps; gamma and beta are one row */
  bool streams;        /* the result goes past the caches */
  tn_cpu_iterator rows;    /* else: where they begin, in each view, */
  int64_t step[VIEWS]; /* the distance of their elements, */
  size_t room;         /* and bytes of scratch for one */
} norm_job;

static void norm_flat_rows(const norm_job *job, int64_t begin, int64_t end) {
  const tn_kernel_call *call = job->call;
  const float *x = call->in[X].data;
  row r = { .gamma = call->in[GAMMA].data, .beta = call->in[BETA].data, .n = job->n, .stop = call->stop };
  float sum = sum_row(call->stop, x + begin * r.n, r.n);
  for (int64_t k = begin; k < end; k++) {
    r.x = x + k * r.n;
    r.next = k + 1 < end ? r.x + r.n : r.x;
    r.out = (float *)call->out->data + k * r.n;
    sum = norm_row(&r, sum, (float)call->attrs->number, job->streams);
  }
  if (job->streams) tn_stream_end();
}

static void norm_one_row(const norm_job *job, const void *const *in, void *out) {
  const tn_kernel_call *call = job->call;
  if (call->out->dtype == TN_F64) {
    norm_row_f64(call, in[X], in[GAMMA], in[BETA], job->n, out);
    return;
  }
  row r = { .x = in[X], .next = in[X], .gamma = in[GAMMA], .beta = in[BETA], .out = out };
  r.n = job->n;
  r.stop = call->stop;
  norm_row(&r, sum_row(call->stop, r.x, r.n), (float)call->attrs->number, false);
}

/* Each view has room for a copy of its row; that of gamma or beta often stays the same. */
static void norm_any_rows(const norm_job *job, int64_t begin, int64_t end, char *room) {
  const tn_kernel_call *call = job->call;
  int64_t bytes = (int64_t)tn_cpu_bytes(call->out->dtype);
  const void *in[OUT], *copied[OUT] = { NULL };
  tn_cpu_iterator rows;
  tn_cpu_iterator_copy(&rows, &job->rows);
  tn_cpu_iterator_seek(&rows, rows.rank, begin);
  for (int64_t k = begin; k < end; k++, tn_cpu_iterator_next(&rows, rows.rank)) {
    for (int v = 0; v < OUT; v++) {
      const char *from = (const char *)call->in[v].data + rows.offset[v] * bytes;
      in[v] = job->step[v] == 1 ? from : room + v * job->room;
      if (job->step[v] == 1 || copied[v] == from) continue;
      copied[v] = from;
      tn_cpu_copy_row(call->stop, bytes, job->n, room + v * job->room, 1, from, job->step[v]);
    }
    char *to = (char *)call->out->data + rows.offset[OUT] * bytes, *result = room + OUT * job->room;
    norm_one_row(job, in, job->step[OUT] == 1 ? to : result);
    if (job->step[OUT] != 1) tn_cpu_copy_row(call->stop, bytes, job->n, to, job->step[OUT], result, 1);
  }
}

static void norm_share(void *context, const tn_cpu_part *part) {
  const norm_job *job = context;
  int64_t begin, end;
  tn_cpu_share(job->count, 1, part, &begin, &end);
  if (begin >= end) return;
  if (job->flat)
    norm_flat_rows(job, begin, end);
  else
    norm_any_rows(job, begin, end, (char *)job->call->scratch + (size_t)part->thread * VIEWS * job->room);
}

static bool is_row(const tn_view *view, int64_t n) {
  return view->rank > 0 && view->dim[view->rank - 1] == n && tn_cpu_elements(view) == n &&
         tn_cpu_is_flat(view);
}

static bool is_flat(const tn_kernel_call *call, int64_t n) {
  return call->out->dtype == TN_F32 && tn_cpu_is_flat(&call->in[X]) && tn_cpu_is_flat(call->out) &&
         is_row(&call->in[GAMMA], n) && is_row(&call->in[BETA], n);
}

/* Views of the rows' first elements; the last axis is gone through inside a row. */
static void prepare_strided(norm_job *job) {
  int last = job->call->out->rank - 1;
  tn_view first = *job->call->out;
  first.dim[last] = 1;
  tn_cpu_iterator_init(&job->rows, &first);
  for (int v = 0; v < VIEWS; v++) {
    tn_view view = v == OUT ? *job->call->out : job->call->in[v];
    bool repeats = view.rank == 0 || (view.dim[view.rank - 1] == 1 && job->n > 1);
    job->step[v] = job->n == 1 ? 1 : repeats ? 0 : view.stride[view.rank - 1];
    if (view.rank > 0) view.dim[view.rank - 1] = 1;
    tn_cpu_iterator_add(&job->rows, &view);
  }
  tn_cpu_iterator_merge(&job->rows);
}

/* False when there is nothing to do. */
static bool prepare(norm_job *job, const tn_kernel_call *call) {
  int64_t elements = tn_cpu_elements(call->out);
  if (elements == 0) return false;
  job->call = call;
  job->n = call->out->dim[call->out->rank - 1];
  job->count = elements / job->n;
  job->flat = is_flat(call, job->n);
  job->room = job->flat ? 0 : tn_cpu_round_up((size_t)job->n * tn_cpu_bytes(call->out->dtype), 64);
  if (!job->flat) prepare_strided(job);
  return true;
}

bool TN_CPU_NAME(layer_norm)(const tn_kernel_call *call) {
  norm_job job;
  if (!prepare(&job, call)) return true;
  int64_t elements = job.count * job.n;
  job.streams = elements * 4 >= STREAM_BYTES && job.n % 16 == 0 && ((uintptr_t)call->out->data & 63) == 0;
  double cost = (double)elements * 0.4;
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), job.count / LEAST_ROWS, cost, norm_share,
                    &job);
  return true;
}

size_t TN_CPU_NAME(layer_norm_scratch)(const tn_kernel_call *call) {
  norm_job job;
  return prepare(&job, call) ? VIEWS * job.room * (size_t)call->threads : 0;
}
