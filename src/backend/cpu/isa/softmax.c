/* backend/cpu/isa/softmax.c: softmax, log_softmax and cross entropy, row by row.
 *
 * A row is read for its maximum and again for the exponentials, which are added
 * in the order of sums as they are made; rows are short enough to stay in the
 * cache between the two. Rows that are not contiguous are collected first. */
#include <math.h>

#include "backend/cpu/isa/sums.h"
#include "backend/cpu/walk.h"
#include "base/elementary.inc.h"

#define TYPE float
#define OF f32
#define V VF
#define V_LANES TN_LANES
#define V_SET vf_set
#define V_LOAD vf_load
#define V_LOAD_PART tn_load_filled
#define V_STORE vf_store
#define V_STORE_PART vf_store_part
#define V_EXP vf_exp
#define MAX_ROW max_row
#include "backend/cpu/isa/softmax.inc"

#define TYPE double
#define OF f64
#define V double
#define V_LANES 1
#define V_SET(x) (x)
#define V_LOAD(p) (*(p))
#define V_LOAD_PART(p, n, fill) ((void)(n), *(p))
#define V_STORE(p, v) (*(p) = (v))
#define V_STORE_PART(p, v, n) ((void)(n), *(p) = (v))
#define V_EXP tn_exp_f64
#define MAX_ROW max_row_f64
#include "backend/cpu/isa/softmax.inc"

/* ---- rows of a tensor ---- */
typedef struct {
  const tn_kernel_call *call;
  tn_cpu_walk rows;             /* views: the operand, and the result or the labels */
  int64_t count, n;             /* rows, and elements of each */
  int64_t step, out_step;       /* along the axis */
  size_t room;                  /* bytes of scratch for one thread's collected row */
  char *losses;
} row_job;

/* The row from memory, or a copy of it where it is not contiguous. */
static const void *collect(const row_job *job, const char *row, char *copy) {
  size_t bytes = tn_dtype_bytes(job->call->in[0].dtype);
  if (job->step == 1) return row;
  for (int64_t i = 0; i < job->n; i++)
    memcpy(copy + i * (int64_t)bytes, row + i * job->step * (int64_t)bytes, bytes);
  return copy;
}

static void prepare_rows(row_job *job, const tn_kernel_call *call, const tn_view *other, int axis) {
  tn_view x = call->in[0], y = *other;
  job->call = call;
  job->n = x.dim[axis];
  job->step = job->n > 1 ? x.stride[axis] : 1;
  x.dim[axis] = 1;
  if (y.rank == x.rank) y.dim[axis] = 1;
  job->count = tn_view_count(&x);
  job->room = tn_cpu_round_up((size_t)job->n * tn_dtype_bytes(x.dtype), 64);
  if (job->count == 0) return;
  if (y.rank < x.rank) x.rank--;   /* cross_entropy: labels have no last axis */
  tn_cpu_walk_init(&job->rows, &x);
  tn_cpu_walk_add(&job->rows, &x);
  tn_cpu_walk_add(&job->rows, &y);
  tn_cpu_walk_merge(&job->rows);
}

static double row_cost(const row_job *job) { return (double)job->count * ((double)job->n * 0.8 + 10); }

/* ---- softmax, log_softmax ---- */
static void softmax_of(const tn_kernel_call *call, const void *x, int64_t n, void *out) {
  bool plain = call->op == TN_OP_SOFTMAX;
  if (call->out->dtype == TN_F32) (plain ? softmax_row_f32 : log_softmax_row_f32)(x, n, out);
  else (plain ? softmax_row_f64 : log_softmax_row_f64)(x, n, out);
}

static void softmax_share(void *context, int part, int parts) {
  const row_job *job = context;
  const tn_kernel_call *call = job->call;
  int64_t begin, end, bytes = (int64_t)tn_dtype_bytes(call->out->dtype);
  /* Rows that are contiguous on both sides need no room. */
  char *room = call->scratch ? (char *)call->scratch + 2 * (size_t)part * job->room : NULL;
  char *result = room ? room + job->room : NULL;
  tn_cpu_walk rows = job->rows;
  tn_cpu_share(job->count, 1, part, parts, &begin, &end);
  if (begin >= end) return;
  tn_cpu_walk_seek(&rows, rows.rank, begin);
  for (int64_t r = begin; r < end; r++, tn_cpu_walk_next(&rows, rows.rank)) {
    const void *x = collect(job, (const char *)call->in[0].data + rows.offset[0] * bytes, room);
    char *to = (char *)call->out->data + rows.offset[1] * bytes;
    softmax_of(call, x, job->n, job->out_step == 1 ? to : result);
    for (int64_t i = 0; job->out_step != 1 && i < job->n; i++)
      memcpy(to + i * job->out_step * bytes, result + i * bytes, (size_t)bytes);
  }
}

static void prepare_softmax(row_job *job, const tn_kernel_call *call) {
  prepare_rows(job, call, call->out, call->attrs->axis);
  job->out_step = job->n > 1 ? call->out->stride[call->attrs->axis] : 1;
}

bool cpu_softmax(const tn_kernel_call *call) {
  row_job job;
  if (tn_view_count(call->out) == 0) return true;
  prepare_softmax(&job, call);
  tn_cpu_parallel(tn_cpu_threads_for(row_cost(&job), call->threads), softmax_share, &job);
  return true;
}

size_t softmax_scratch(const tn_kernel_call *call) {
  row_job job;
  prepare_softmax(&job, call);
  return job.step == 1 && job.out_step == 1 ? 0 : 2 * job.room * (size_t)call->threads;
}

/* ---- cross_entropy ---- */
/* logits: [..., classes], labels: [...]. In scratch: the loss of each row, then a row for each thread. */
static void loss_share(void *context, int part, int parts) {
  const row_job *job = context;
  const tn_view *logits = &job->call->in[0], *labels = &job->call->in[1];
  int64_t begin, end, bytes = (int64_t)tn_dtype_bytes(logits->dtype);
  char *room = job->losses + tn_cpu_round_up((size_t)(job->count * bytes), 64) + (size_t)part * job->room;
  tn_cpu_walk rows = job->rows;
  tn_cpu_share(job->count, 1, part, parts, &begin, &end);
  if (begin >= end) return;
  tn_cpu_walk_seek(&rows, rows.rank, begin);
  for (int64_t r = begin; r < end; r++, tn_cpu_walk_next(&rows, rows.rank)) {
    const void *x = collect(job, (const char *)logits->data + rows.offset[0] * bytes, room);
    int64_t label = tn_cpu_index_at(labels->data, labels->dtype, rows.offset[1]);
    if (logits->dtype == TN_F32) ((float *)job->losses)[r] = row_loss_f32(x, job->n, label);
    else ((double *)job->losses)[r] = row_loss_f64(x, job->n, label);
  }
}

bool cpu_cross_entropy(const tn_kernel_call *call) {
  const tn_view *logits = &call->in[0], *labels = &call->in[1];
  int last = logits->rank - 1;
  row_job job;
  if (!tn_cpu_check_index(call, labels, logits->dim[last], last)) return false;
  prepare_rows(&job, call, labels, last);
  job.losses = call->scratch;
  if (job.count > 0) tn_cpu_parallel(tn_cpu_threads_for(row_cost(&job), call->threads), loss_share, &job);
  if (logits->dtype == TN_F32) {
    float sum = job.count > 0 ? sum_row((const float *)job.losses, job.count) : 0.0f;
    *(float *)call->out->data = tn_canonical_f32(sum / (float)job.count);
  } else {
    double sum = job.count > 0 ? sum_row_f64((const double *)job.losses, job.count) : 0.0;
    *(double *)call->out->data = tn_canonical_f64(sum / (double)job.count);
  }
  return true;
}

size_t cross_entropy_scratch(const tn_kernel_call *call) {
  row_job job;
  prepare_rows(&job, call, &call->in[1], call->in[0].rank - 1);
  size_t losses = tn_cpu_round_up((size_t)job.count * tn_dtype_bytes(call->in[0].dtype), 64);
  return losses + (job.step == 1 ? 0 : job.room * (size_t)call->threads);
}
