/* backend/cpu/isa/softmax.c: softmax, log_softmax and cross entropy.
 *
 * A row is read for its maximum and again for the exponentials, which are added
 * in the order of sums as they are made; rows are short enough to stay in the
 * cache between the two. Where the axis is not the contiguous one, strips of
 * neighbouring columns go together. Anything else is collected into rows first.
 *
 * Dividing many numbers by one divisor needs one division: with y = 1/s rounded
 * correctly, q = e y is nearly e/s, the remainder e - q s is exact in an fma, and
 * adding (e - q s) y to a q that is within one unit in the last place gives the
 * correctly rounded quotient (Markstein). q gets there by a first such step. The
 * proof wants all quantities well inside the normal range; numbers that are not
 * are divided the ordinary way. */
#include <math.h>

#include "backend/cpu/isa/stream.h"
#include "backend/cpu/isa/sums.h"
#include "backend/cpu/walk.h"
#include "base/elementary.inc.h"

#define STREAM_BYTES ((int64_t)32 << 20) /* a result that no cache will hold */

/* ---- f32: one row ---- */
static inline VF divided(VF e, VF sum, VF inverse) {
#if TN_FMA_IN_HARDWARE
  VM ordinary = vm_or(vf_ge(e, vf_set(0x1p-60f)), vf_eq(e, vf_set(0.0f)));
  VF q = e * inverse;
  q = vf_fma(vf_fnma(q, sum, e), inverse, q);
  q = vf_fma(vf_fnma(q, sum, e), inverse, q);
  if (TN_LIKELY(vm_all(ordinary))) return q;
#else
  (void)inverse;
#endif
  return vf_canonical(e / sum);
}

/* e = exp(x - max) of one chunk of `count` contiguous elements; gives their sum over the lanes. */
static inline float exp_chunk(const float *x, int64_t count, VF max, float *e) {
  VF acc[TN_SUM_GROUPS];
  for (int g = 0; g < TN_SUM_GROUPS; g++) acc[g] = vf_set(-0.0f);
  int64_t i = 0;
  for (; i + TN_SUM_LANES <= count; i += TN_SUM_LANES)
    for (int g = 0; g < TN_SUM_GROUPS; g++) {
      VF v = vf_exp(vf_load(x + i + g * TN_LANES) - max);
      vf_store(e + i + g * TN_LANES, v);
      acc[g] = acc[g] + v;
    }
  for (int g = 0; g < TN_SUM_GROUPS && i + g * TN_LANES < count; g++) {
    int left = (int)tn_cpu_min(count - i - g * TN_LANES, TN_LANES);
    vf_store_part(e + i + g * TN_LANES, vf_exp(vf_load_part(x + i + g * TN_LANES, left) - max), left);
    acc[g] = acc[g] + tn_load_filled(e + i + g * TN_LANES, left, -0.0f);
  }
  return tn_sum_vectors(acc);
}

/* The sum of exp(x - max) over a contiguous row; the exponentials go to e unless it is NULL. */
static float exp_row(const float *x, int64_t n, float max, float *e) {
  float forgotten[TN_SUM_CHUNK];
  if (n <= TN_SUM_CHUNK) return exp_chunk(x, n, vf_set(max), e ? e : forgotten);
  tn_sum_f32 tree;
  tree.count = 0;
  for (int64_t i = 0; i < n; i += TN_SUM_CHUNK)
    tn_sum_f32_add(&tree,
                   exp_chunk(x + i, tn_cpu_min(n - i, TN_SUM_CHUNK), vf_set(max), e ? e + i : forgotten));
  return tn_sum_f32_end(&tree);
}

static float log_of(float x) {
  float lane[TN_LANES];
  vf_store(lane, vf_log(vf_set(x)));
  return lane[0];
}

/* The exponentials may be made in another place than the result: where it is not read again. */
static void softmax_row(const float *x, int64_t n, float *e, float *out) {
  float sum = exp_row(x, n, max_row(x, n), e);
  VF s = vf_set(sum), inverse = vf_set(1.0f / sum);
  bool plain = sum >= 1.0f && sum <= 0x1p41f; /* not when a NaN or an infinity was in the row */
  int64_t i = 0;
  for (; plain && i + TN_LANES <= n; i += TN_LANES) vf_store(out + i, divided(vf_load(e + i), s, inverse));
  for (; i < n; i += TN_LANES) {
    int left = (int)tn_cpu_min(n - i, TN_LANES);
    vf_store_part(out + i, vf_canonical(vf_load_part(e + i, left) / s), left);
  }
}

static void log_softmax_row(const float *x, int64_t n, float *out) {
  float max = max_row(x, n), log_sum = log_of(exp_row(x, n, max, NULL));
  for (int64_t i = 0; i < n; i += TN_LANES) {
    int left = (int)tn_cpu_min(n - i, TN_LANES);
    VF v = left == TN_LANES ? vf_load(x + i) : vf_load_part(x + i, left);
    vf_store_part(out + i, vf_canonical((v - vf_set(max)) - vf_set(log_sum)), left);
  }
}

/* ---- f32: a strip of columns ---- */
/* width <= TN_STRIP neighbouring columns of n elements; x and out have their own step along the axis. */
static void softmax_columns(const float *x, int64_t step, int64_t n, int width, float *out, int64_t out_step,
                            bool log) {
  float max[TN_STRIP], sum[TN_STRIP];
  max_columns(x, step, n, width, max);
  for (int64_t i = 0; i < n; i++)
    for (int w = 0; w < width; w += TN_LANES) {
      int left = width - w < TN_LANES ? width - w : TN_LANES;
      VF e = vf_exp(vf_load_part(x + i * step + w, left) - vf_load_part(max + w, left));
      vf_store_part(out + i * out_step + w, e, left);
    }
  sum_columns(out, out_step, n, width, sum);
  for (int w = 0; w < width; w += TN_LANES) {
    int left = width - w < TN_LANES ? width - w : TN_LANES;
    VF s = vf_load_part(sum + w, left), m = vf_load_part(max + w, left), log_sum = vf_log(s);
    for (int64_t i = 0; i < n; i++) {
      float *to = out + i * out_step + w;
      VF result = log ? (vf_load_part(x + i * step + w, left) - m) - log_sum : vf_load_part(to, left) / s;
      vf_store_part(to, vf_canonical(result), left);
    }
  }
}

/* ---- f64: one row ---- */
static double exp_row_f64(const double *x, int64_t n, double max, double *e) {
  double forgotten[TN_SUM_CHUNK];
  tn_sum_f64 tree;
  tree.count = 0;
  for (int64_t i = 0; i < n; i += TN_SUM_CHUNK) {
    int64_t count = tn_cpu_min(n - i, TN_SUM_CHUNK);
    double *to = e ? e + i : forgotten;
    for (int64_t k = 0; k < count; k++) to[k] = tn_exp_f64(x[i + k] - max);
    tn_sum_f64_add(&tree, sum_row_f64(to, count));
  }
  return tn_sum_f64_end(&tree);
}

static void softmax_row_f64(const double *x, int64_t n, double *out) {
  double sum = exp_row_f64(x, n, max_row_f64(x, n), out);
  for (int64_t i = 0; i < n; i++) out[i] = tn_canonical_f64(out[i] / sum);
}

static void log_softmax_row_f64(const double *x, int64_t n, double *out) {
  double max = max_row_f64(x, n), log_sum = tn_log_f64(exp_row_f64(x, n, max, NULL));
  for (int64_t i = 0; i < n; i++) out[i] = tn_canonical_f64((x[i] - max) - log_sum);
}

/* ---- rows of a tensor ---- */
typedef struct {
  const tn_kernel_call *call;
  tn_cpu_walk rows;       /* views: the operand, and the result or the labels */
  int64_t count, n;       /* rows, and elements of each */
  int64_t step, out_step; /* along the axis */
  bool strips;            /* rows lie side by side: f32 columns */
  bool streams;           /* the result goes past the caches */
  size_t room;            /* bytes of scratch for a row */
  char *losses;
} row_job;

/* The row from memory, or a copy of it where it is not contiguous. */
static const void *collect(const row_job *job, const char *row, char *copy) {
  size_t bytes = tn_cpu_bytes(job->call->in[0].dtype);
  if (job->step == 1) return row;
  for (int64_t i = 0; i < job->n; i++)
    memcpy(copy + i * (int64_t)bytes, row + i * job->step * (int64_t)bytes, bytes);
  return copy;
}

/* The common case without ado: everything is contiguous. */
static bool prepare_flat_rows(row_job *job, const tn_kernel_call *call, const tn_view *other, int axis) {
  const tn_view *x = &call->in[0];
  int64_t inner;
  if (!tn_cpu_is_flat(x) || !tn_cpu_is_flat(other)) return false;
  tn_cpu_walk_around(&job->rows, x, axis, axis + 1, &job->n, &inner);
  job->step = job->n > 1 ? inner : 1;
  job->count = tn_cpu_walk_count(&job->rows, 0, job->rows.rank);
  job->room = tn_cpu_round_up((size_t)job->n * tn_cpu_bytes(x->dtype), 64);
  job->rows.views = 2;
  for (int a = 0; a < job->rows.rank; a++)
    job->rows.stride[1][a] = other->rank == x->rank ? job->rows.stride[0][a] : 1;
  return true;
}

static void prepare_rows(row_job *job, const tn_kernel_call *call, const tn_view *other, int axis) {
  job->call = call;
  if (prepare_flat_rows(job, call, other, axis)) return;
  tn_view x = call->in[0], y = *other;
  job->n = x.dim[axis];
  job->step = job->n > 1 ? x.stride[axis] : 1;
  x.dim[axis] = 1;
  if (y.rank == x.rank) y.dim[axis] = 1;
  job->count = tn_cpu_elements(&x);
  job->room = tn_cpu_round_up((size_t)job->n * tn_cpu_bytes(x.dtype), 64);
  if (job->count == 0) return;
  if (y.rank < x.rank) x.rank--; /* cross_entropy: labels have no last axis */
  tn_cpu_walk_init(&job->rows, &x);
  tn_cpu_walk_add(&job->rows, &x);
  tn_cpu_walk_add(&job->rows, &y);
  tn_cpu_walk_merge(&job->rows);
}

static double row_cost(const row_job *job) { return (double)job->count * ((double)job->n * 0.5 + 10); }

/* ---- softmax, log_softmax ---- */
static void softmax_of(const row_job *job, const void *x, void *out, void *room) {
  const tn_kernel_call *call = job->call;
  bool plain = call->op == TN_OP_SOFTMAX;
  if (call->out->dtype == TN_F64) {
    if (plain)
      softmax_row_f64(x, job->n, out);
    else
      log_softmax_row_f64(x, job->n, out);
  } else if (!plain) {
    log_softmax_row(x, job->n, out);
  } else if (job->streams) {
    softmax_row(x, job->n, room, room);
    tn_stream(out, room, (size_t)job->n * sizeof(float));
  } else {
    softmax_row(x, job->n, out, out);
  }
}

static void softmax_rows(const row_job *job, int64_t begin, int64_t end, char *room) {
  const tn_kernel_call *call = job->call;
  int64_t bytes = (int64_t)tn_cpu_bytes(call->out->dtype);
  char *result = room ? room + job->room : NULL;
  tn_cpu_walk rows;
  tn_cpu_walk_copy(&rows, &job->rows);
  tn_cpu_walk_seek(&rows, rows.rank, begin);
  for (int64_t r = begin; r < end; r++, tn_cpu_walk_next(&rows, rows.rank)) {
    const void *x = collect(job, (const char *)call->in[0].data + rows.offset[0] * bytes, room);
    char *to = (char *)call->out->data + rows.offset[1] * bytes;
    softmax_of(job, x, job->out_step == 1 ? to : result, result);
    for (int64_t i = 0; job->out_step != 1 && i < job->n; i++)
      memcpy(to + i * job->out_step * bytes, result + i * bytes, (size_t)bytes);
  }
  if (job->streams) tn_stream_end();
}

static void softmax_strips(const row_job *job, int64_t begin, int64_t end) {
  const tn_kernel_call *call = job->call;
  tn_cpu_walk rows;
  tn_cpu_walk_copy(&rows, &job->rows);
  int inner = rows.rank - 1;
  for (int64_t r = begin; r < end;) {
    tn_cpu_walk_seek(&rows, rows.rank, r);
    int width = (int)tn_cpu_min(tn_cpu_min(rows.dim[inner] - rows.at[inner], end - r), TN_STRIP);
    softmax_columns((const float *)call->in[0].data + rows.offset[0], job->step, job->n, width,
                    (float *)call->out->data + rows.offset[1], job->out_step, call->op == TN_OP_LOG_SOFTMAX);
    r += width;
  }
}

static void softmax_share(void *context, int part, int parts) {
  const row_job *job = context;
  const tn_kernel_call *call = job->call;
  int64_t begin, end;
  tn_cpu_share(job->count, job->strips ? TN_LANES : 1, part, parts, &begin, &end);
  if (begin >= end) return;
  if (job->strips)
    softmax_strips(job, begin, end);
  else
    softmax_rows(job, begin, end,
                 call->scratch ? (char *)call->scratch + 2 * (size_t)part * job->room : NULL);
}

/* Memory is not known yet while the scratch is measured: what may come is assumed. */
static bool should_stream(const row_job *job, bool measuring) {
  const tn_kernel_call *call = job->call;
  if (call->op != TN_OP_SOFTMAX || call->out->dtype != TN_F32 || job->step != 1 || job->out_step != 1)
    return false;
  if (job->n % 16 != 0 || job->room > 65536 || job->count * job->n * 4 < STREAM_BYTES) return false;
  return measuring || (((uintptr_t)call->out->data & 63) == 0 && tn_cpu_is_flat(call->out));
}

static void prepare_softmax(row_job *job, const tn_kernel_call *call, bool measuring) {
  prepare_rows(job, call, call->out, call->attrs->axis);
  job->out_step = job->n > 1 ? call->out->stride[call->attrs->axis] : 1;
  const tn_cpu_walk *rows = &job->rows;
  int inner = rows->rank - 1;
  job->strips = call->out->dtype == TN_F32 && !(job->step == 1 && job->out_step == 1) &&
                rows->dim[inner] > 1 && rows->stride[0][inner] == 1 && rows->stride[1][inner] == 1;
  job->streams = should_stream(job, measuring);
}

bool cpu_softmax(const tn_kernel_call *call) {
  row_job job;
  if (tn_cpu_elements(call->out) == 0) return true;
  prepare_softmax(&job, call, false);
  tn_cpu_parallel(tn_cpu_threads_for(row_cost(&job), call->threads), softmax_share, &job);
  return true;
}

size_t softmax_scratch(const tn_kernel_call *call) {
  row_job job;
  if (tn_cpu_elements(call->out) == 0) return 0;
  prepare_softmax(&job, call, true);
  bool none = job.strips || (job.step == 1 && job.out_step == 1 && !job.streams);
  return none ? 0 : 2 * job.room * (size_t)call->threads;
}

/* ---- cross_entropy ---- */
/* logits: [..., classes], labels: [...]. In scratch: the loss of each row, then a row for each thread. */

/* For TN_LANES rows together: -((picked - max) - log(sum)). */
typedef struct {
  float picked[TN_LANES], max[TN_LANES], sum[TN_LANES];
  int count;
} losses;

static void put_losses(losses *l, float *to) {
  VF log_sum = vf_log(vf_load_part(l->sum, l->count));
  VF log_probability = (vf_load_part(l->picked, l->count) - vf_load_part(l->max, l->count)) - log_sum;
  vf_store_part(to, vf_canonical(-log_probability), l->count);
  l->count = 0;
}

static void loss_row(losses *l, const float *x, int64_t n, int64_t label) {
  float max = max_row(x, n);
  l->picked[l->count] = x[label];
  l->max[l->count] = max;
  l->sum[l->count++] = exp_row(x, n, max, NULL);
}

static double loss_row_f64(const double *x, int64_t n, int64_t label) {
  double max = max_row_f64(x, n), log_sum = tn_log_f64(exp_row_f64(x, n, max, NULL));
  return tn_canonical_f64(-((x[label] - max) - log_sum));
}

static void loss_share(void *context, int part, int parts) {
  const row_job *job = context;
  const tn_view *logits = &job->call->in[0], *labels = &job->call->in[1];
  int64_t begin, end, bytes = (int64_t)tn_cpu_bytes(logits->dtype);
  char *room = job->losses + tn_cpu_round_up((size_t)(job->count * bytes), 64) + (size_t)part * job->room;
  losses together;
  tn_cpu_walk rows;
  tn_cpu_walk_copy(&rows, &job->rows);
  tn_cpu_share(job->count, 1, part, parts, &begin, &end);
  if (begin >= end) return;
  together.count = 0;
  tn_cpu_walk_seek(&rows, rows.rank, begin);
  for (int64_t r = begin; r < end; r++, tn_cpu_walk_next(&rows, rows.rank)) {
    const void *x = collect(job, (const char *)logits->data + rows.offset[0] * bytes, room);
    int64_t label = tn_cpu_index_at(labels->data, labels->dtype, rows.offset[1]);
    if (logits->dtype == TN_F64) {
      ((double *)job->losses)[r] = loss_row_f64(x, job->n, label);
      continue;
    }
    loss_row(&together, x, job->n, label);
    if (together.count == TN_LANES || r == end - 1)
      put_losses(&together, (float *)job->losses + r + 1 - together.count);
  }
}

static void store_mean(const tn_kernel_call *call, const char *rows, int64_t count) {
  if (call->out->dtype == TN_F32)
    *(float *)call->out->data = tn_canonical_f32(sum_row((const float *)rows, count) / (float)count);
  else
    *(double *)call->out->data = tn_canonical_f64(sum_row_f64((const double *)rows, count) / (double)count);
}

bool cpu_cross_entropy(const tn_kernel_call *call) {
  const tn_view *logits = &call->in[0], *labels = &call->in[1];
  int last = logits->rank - 1;
  row_job job;
  if (!tn_cpu_check_index(call, labels, logits->dim[last], last)) return false;
  prepare_rows(&job, call, labels, last);
  job.losses = call->scratch;
  if (job.count > 0) tn_cpu_parallel(tn_cpu_threads_for(row_cost(&job), call->threads), loss_share, &job);
  store_mean(call, job.losses, job.count);
  return true;
}

size_t cross_entropy_scratch(const tn_kernel_call *call) {
  row_job job;
  prepare_rows(&job, call, &call->in[1], call->in[0].rank - 1);
  size_t rows = tn_cpu_round_up((size_t)job.count * tn_cpu_bytes(call->in[0].dtype), 64);
  return rows + (job.step == 1 ? 0 : job.room * (size_t)call->threads);
}
