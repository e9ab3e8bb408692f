/* backend/cpu/isa/norm_grad.c: layer_norm_grad.
 *
 * With c = x - mean(x), s = sqrt(mean(c c) + eps), y = c / s and h = g gamma, rounded after each operation:
 *
 *   k = ((-sum(h (y / s)) 0.5) / s) / n   the gradient of a square c c
 *   x = ((h / s) + k c) + k c             and through the mean -sum(x) / n
 *   gamma = the sum of g y over the rows, beta = that of g
 *
 * Rows are read from memory once. The four passes over a row find it in the first-level cache; means and
 * squares of several rows go side by side, because an addition waits for the one before.
 *
 * Sums over rows have the order of sums (sums.h): a lane adds every 16th row of a chunk. So rows are visited
 * lane by lane, and what has been added stays in a near cache. In the order 0 8 4 12 2 10 ... the tree over
 * the lanes joins neighbours, as the tree over the chunks does: the lanes are the leaves of one tree, and
 * threads share it by blocks of leaves that are whole subtrees.
 *
 * Quotients are quick ones (divide.h) where the numbers are well inside the normal range. */
#include <math.h>

#include "backend/cpu/isa/divide.h"
#include "backend/cpu/isa/sums.h"
#include "backend/cpu/iterator.h"
#include "backend/layer_norm.h"

#define ABREAST      4        /* rows that are measured side by side, */
#define ABREAST_MOST 2048     /* unless they are longer: they would leave the first-level cache */
#define EACH_THREAD  4        /* blocks of leaves for each thread, about */
#define COST         0.5      /* nanoseconds for an element */
#define TINY         0x1p-90f /* what a quick quotient takes is 0 or lies between */
#define LARGE        0x1p80f

enum { X, GAMMA, G };

/* One row and what it adds to. */
typedef struct {
  const void *x, *g, *gamma;
  void *out, *mean;         /* the gradients of x, and through its mean */
  void *by_gamma, *by_beta; /* the sums over rows so far */
} place;

/* ---- f32 ---- */
typedef struct {
  const float *x, *g, *gamma;
  float *out, *by_gamma, *by_beta;
  int64_t n;
  VF mean, spread, inverse, slope; /* the same in every lane */
  float root;                      /* the spread, as a number */
  bool usual;                      /* c / s and y / s may be quick */
  tn_stop *stop;
} row;

/* What a pass adds up. */
typedef enum { ELEMENTS, SQUARES, SLOPES, RESULTS } pass;

/* e / spread; a quick one loses the sign of e = -0. */
TN_ALWAYS_INLINE VF over_spread(const row *r, VF e, bool quick) {
  return quick ? tn_quotient(e, r->spread, r->inverse) : e / r->spread;
}

TN_ALWAYS_INLINE VF signed_over_spread(const row *r, VF e, bool quick) {
  if (!quick) return e / r->spread;
  VI sign = vi_and(vf_as_int(e), vi_set(INT32_MIN));
  return vi_as_float(vi_xor(vf_as_int(over_spread(r, vf_abs(e), true)), sign));
}

/* Lanes of h that no quick quotient can take; 0 can be taken. */
TN_ALWAYS_INLINE VM is_odd(VF h) {
  VF size = vf_abs(h);
  VM tiny = vm_andnot(vf_lt(size, vf_set(TINY)), vf_eq(size, vf_set(0.0f)));
  return vm_or(tiny, vf_gt(size, vf_set(LARGE)));
}

/* h (y / s); adds the row to the sums over rows. */
TN_ALWAYS_INLINE VF slope_at(const row *r, int64_t at, int left, bool quick, VM *odd) {
  VF g = tn_load_some(r->g + at, left), h = g * tn_load_some(r->gamma + at, left);
  VF y = over_spread(r, tn_load_some(r->x + at, left) - r->mean, quick);
  tn_store_some(r->by_beta + at, tn_load_some(r->by_beta + at, left) + g, left);
  tn_store_some(r->by_gamma + at, tn_load_some(r->by_gamma + at, left) + g * y, left);
  *odd = vm_or(*odd, is_odd(h));
  return h * over_spread(r, y, quick);
}

TN_ALWAYS_INLINE VF gradient_at(const row *r, int64_t at, int left, bool quick) {
  VF from_square = r->slope * (tn_load_some(r->x + at, left) - r->mean);
  VF h = tn_load_some(r->g + at, left) * tn_load_some(r->gamma + at, left);
  VF result = signed_over_spread(r, h, quick) + from_square + from_square;
  tn_store_some(r->out + at, vf_canonical(result), left);
  return result;
}

TN_ALWAYS_INLINE VF term_at(const row *r, pass which, int64_t at, int left, bool quick, VM *odd) {
  if (which == ELEMENTS) return tn_load_some(r->x + at, left);
  if (which == SLOPES) return slope_at(r, at, left, quick, odd);
  if (which == RESULTS) return gradient_at(r, at, left, quick);
  VF c = tn_load_some(r->x + at, left) - r->mean;
  return c * c;
}

/* One chunk of `number` rows. */
TN_ALWAYS_INLINE void sum_chunk(const row *given, int number, pass which, bool quick, int64_t at,
                                int64_t count, float *sums, VM *odd) {
  row r[ABREAST]; /* so that no store can change them */
  VF acc[ABREAST][TN_SUM_GROUPS];
  for (int k = 0; k < number; k++) r[k] = given[k];
  for (int k = 0; k < number; k++)
    for (int g = 0; g < TN_SUM_GROUPS; g++) acc[k][g] = vf_set(-0.0f);
  int64_t i = at, end = at + count;
  for (; i + TN_SUM_LANES <= end; i += TN_SUM_LANES)
    for (int g = 0; g < TN_SUM_GROUPS; g++)
      for (int k = 0; k < number; k++)
        acc[k][g] = acc[k][g] + term_at(&r[k], which, i + g * TN_LANES, TN_LANES, quick, odd);
  for (int g = 0; i < end; i += TN_LANES, g++) {
    int left = (int)tn_cpu_min(end - i, TN_LANES);
    VM inside = tn_first_lanes(left);
    for (int k = 0; k < number; k++)
      acc[k][g] = acc[k][g] + vf_select(inside, term_at(&r[k], which, i, left, quick, odd), vf_set(-0.0f));
  }
  for (int k = 0; k < number; k++) sums[k] = tn_sum_vectors(acc[k]);
}

/* The sums of what a pass gives for the elements of `number` rows. */
TN_ALWAYS_INLINE void sum_pass(const row *r, int number, pass which, bool quick, float *sums, VM *odd) {
  tn_sum_f32 tree[ABREAST];
  for (int k = 0; k < number; k++) tree[k].count = 0;
  for (int64_t i = 0; i < r->n; i += TN_SUM_CHUNK) {
    sum_chunk(r, number, which, quick, i, tn_cpu_min(r->n - i, TN_SUM_CHUNK), sums, odd);
    for (int k = 0; k < number; k++) tn_sum_f32_add(&tree[k], sums[k]);
    if (tn_cpu_row_stopped(r->stop, i)) break;
  }
  for (int k = 0; k < number; k++) sums[k] = tn_sum_f32_end(&tree[k]);
}

/* A difference from such a mean is 0 or no smaller than 2^-65. */
static bool is_usual(float mean, float spread) {
  return TN_FMA_IN_HARDWARE && fabsf(mean) >= 0x1p-40f && spread >= 0x1p-40f && spread <= 0x1p24f;
}

/* Finds the mean and the spread of each. */
TN_ALWAYS_INLINE void measure(row *r, int number, float eps) {
  float sums[ABREAST], mean[ABREAST], n = (float)r->n;
  VM odd;
  sum_pass(r, number, ELEMENTS, false, sums, &odd);
  for (int k = 0; k < number; k++) mean[k] = sums[k] / n, r[k].mean = vf_set(mean[k]);
  sum_pass(r, number, SQUARES, false, sums, &odd);
  for (int k = 0; k < number; k++) {
    r[k].root = sqrtf(sums[k] / n + eps);
    r[k].spread = vf_set(r[k].root);
    r[k].inverse = vf_set(1.0f / r[k].root);
    r[k].usual = is_usual(mean[k], r[k].root);
  }
}

TN_NEVER_INLINE void measure_one(row *r, float eps) { measure(r, 1, eps); }
TN_NEVER_INLINE void measure_several(row *r, float eps) { measure(r, ABREAST, eps); }

TN_ALWAYS_INLINE float slopes(const row *r, bool quick, bool *odd) {
  float sum;
  VM lanes = vf_lt(r->mean, r->mean); /* none */
  sum_pass(r, 1, SLOPES, quick, &sum, &lanes);
  *odd = vm_any(lanes);
  return sum;
}

TN_ALWAYS_INLINE float results(const row *r, bool quick) {
  float sum;
  VM odd;
  sum_pass(r, 1, RESULTS, quick, &sum, &odd);
  return sum;
}

TN_NEVER_INLINE float slopes_ordinary(const row *r, bool *odd) { return slopes(r, false, odd); }
TN_NEVER_INLINE float slopes_quick(const row *r, bool *odd) { return slopes(r, true, odd); }
TN_NEVER_INLINE float results_ordinary(const row *r) { return results(r, false); }
TN_NEVER_INLINE float results_quick(const row *r) { return results(r, true); }

/* The gradients of a row that has been measured. */
static void finish_row(row *r, float *mean) {
  float n = (float)r->n;
  bool odd;
  float sum = r->usual ? slopes_quick(r, &odd) : slopes_ordinary(r, &odd);
  r->slope = vf_set(-sum * 0.5f / r->root / n);
  *mean = tn_canonical_f32(-(r->usual && !odd ? results_quick(r) : results_ordinary(r)) / n);
}

static void grad_rows_f32(const tn_kernel_call *call, const place *p, int number, int64_t n) {
  row r[ABREAST];
  float eps = (float)call->attrs->number;
  for (int k = 0; k < number; k++)
    r[k] = (row){ .x = p[k].x, .g = p[k].g, .gamma = p[k].gamma, .out = p[k].out, .by_gamma = p[k].by_gamma,
                  .by_beta = p[k].by_beta, .n = n, .stop = call->stop };
  if (number == ABREAST)
    measure_several(r, eps);
  else
    for (int k = 0; k < number; k++) measure_one(&r[k], eps);
  for (int k = 0; k < number; k++) finish_row(&r[k], p[k].mean);
}

/* ---- f64: one row ---- */
typedef struct {
  const double *x, *g, *gamma;
  double mean, spread, slope;
} row_f64;

static double term_f64(const row_f64 *r, pass which, int64_t i) {
  double c = r->x[i] - r->mean, h = r->g[i] * r->gamma[i];
  if (which == SQUARES) return c * c;
  if (which == SLOPES) return h * (c / r->spread / r->spread);
  return h / r->spread + r->slope * c + r->slope * c;
}

static double sum_pass_f64(tn_stop *stop, const row_f64 *r, int64_t n, pass which) {
  double terms[TN_SUM_CHUNK];
  tn_sum_f64 tree;
  tree.count = 0;
  for (int64_t i = 0; i < n; i += TN_SUM_CHUNK) {
    int64_t count = tn_cpu_min(n - i, TN_SUM_CHUNK);
    for (int64_t k = 0; k < count; k++) terms[k] = term_f64(r, which, i + k);
    tn_sum_f64_add(&tree, sum_row_f64(NULL, terms, count));
    if (tn_cpu_row_stopped(stop, i)) break;
  }
  return tn_sum_f64_end(&tree);
}

static void grad_row_f64(const tn_kernel_call *call, const place *p, int64_t n) {
  row_f64 r = { .x = p->x, .g = p->g, .gamma = p->gamma };
  double *by_gamma = p->by_gamma, *by_beta = p->by_beta, *out = p->out;
  r.mean = sum_row_f64(call->stop, r.x, n) / (double)n;
  r.spread = sqrt(sum_pass_f64(call->stop, &r, n, SQUARES) / (double)n + call->attrs->number);
  r.slope = -sum_pass_f64(call->stop, &r, n, SLOPES) * 0.5 / r.spread / (double)n;
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(call->stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i++) {
      by_gamma[i] += r.g[i] * ((r.x[i] - r.mean) / r.spread);
      by_beta[i] += r.g[i];
      out[i] = tn_canonical_f64(term_f64(&r, RESULTS, i));
    }
  }
  *(double *)p->mean = tn_canonical_f64(-sum_row_f64(call->stop, out, n) / (double)n);
}

/* ---- rows of a tensor ---- */
typedef struct {
  const tn_kernel_call *call;
  int64_t count, n, bytes;       /* rows, elements of each, bytes of an element */
  tn_cpu_iterator rows;          /* where rows begin: x, g */
  int64_t step[3], out_step;     /* the distance of elements in x, gamma and g, and in the result */
  int64_t leaves, block, blocks; /* leaves in all and in a block, */
  int levels;                    /* which is a tree of so many levels */
  int threads;
  size_t row_room, sums_room; /* bytes of a row and of a pair of sums in scratch, */
  size_t thread_room;         /* and of what a thread has there, after the sums of the blocks */
} grad_job;

/* A thread's memory. */
typedef struct {
  const grad_job *job;
  const void *gamma;        /* contiguous */
  char *x, *g, *out, *next; /* room for a row each; for sums of leaves */
} worker;

static bool stopped(const grad_job *job) { return tn_stop_asked(job->call->stop); }

/* The row at `from` of an operand: there, or copied to `to` if it has gaps. */
static const void *contiguous(const grad_job *job, int operand, const char *from, char *to) {
  int64_t step = job->step[operand];
  if (step == 1) return from;
  tn_cpu_copy_row(job->call->stop, job->bytes, job->n, to, 1, from, step);
  return to;
}

static char *result_at(const grad_job *job, int64_t element) {
  return (char *)job->call->out->data + element * job->out_step * job->bytes;
}

static place locate(const worker *w, int64_t number, char *sums) {
  const grad_job *job = w->job;
  const char *x = job->call->in[X].data, *g = job->call->in[G].data;
  tn_cpu_iterator rows;
  tn_cpu_iterator_copy(&rows, &job->rows);
  tn_cpu_iterator_seek(&rows, rows.rank, number);
  return (place){ .x = contiguous(job, X, x + rows.offset[0] * job->bytes, w->x),
                  .g = contiguous(job, G, g + rows.offset[1] * job->bytes, w->g),
                  .gamma = w->gamma,
                  .out = job->out_step == 1 ? result_at(job, number * job->n) : w->out,
                  .mean = result_at(job, (job->count + 2) * job->n + number),
                  .by_gamma = sums,
                  .by_beta = sums + job->n * job->bytes };
}

static bool has_gaps(const grad_job *job) {
  return job->step[X] != 1 || job->step[G] != 1 || job->out_step != 1;
}

/* `left` rows, 16 apart, from `number` on: the gradients of the first of them. Returns how many. */
static int run_rows(const worker *w, int64_t number, int64_t left, char *sums) {
  const grad_job *job = w->job;
  bool several = left >= ABREAST && job->n <= ABREAST_MOST && job->bytes == 4 && !has_gaps(job);
  int rows = several ? ABREAST : 1;
  place p[ABREAST];
  for (int i = 0; i < rows; i++) p[i] = locate(w, number + i * TN_SUM_LANES, sums);
  if (job->bytes == 8)
    grad_row_f64(job->call, p, job->n);
  else
    grad_rows_f32(job->call, p, rows, job->n);
  if (job->out_step != 1)
    tn_cpu_copy_row(job->call->stop, job->bytes, job->n, result_at(job, number * job->n), job->out_step,
                    w->out, 1);
  return rows;
}

/* ---- the tree over rows ---- */

/* -0 changes nothing that is added to it. */
static void begin_sums(const grad_job *job, void *sums) {
  float *f32 = sums;
  double *f64 = sums;
  for (int64_t i = 0; job->bytes == 4 && i < 2 * job->n; i++) f32[i] = -0.0f;
  for (int64_t i = 0; job->bytes == 8 && i < 2 * job->n; i++) f64[i] = -0.0;
}

static void add_sums(const grad_job *job, void *left, const void *right) {
  float *f32 = left;
  double *f64 = left;
  for (int64_t i = 0; job->bytes == 4 && i < 2 * job->n; i++) f32[i] += ((const float *)right)[i];
  for (int64_t i = 0; job->bytes == 8 && i < 2 * job->n; i++) f64[i] += ((const double *)right)[i];
}

/* Leaves are lanes in the order 0 8 4 12 2 10 6 14 1 9 5 13 3 11 7 15. */
static int64_t lane_of(int64_t leaf) {
  return (leaf & 1) << 3 | (leaf & 2) << 1 | (leaf & 4) >> 1 | (leaf & 8) >> 3;
}

static void run_leaf(const worker *w, int64_t leaf, char *sums) {
  int64_t chunk = leaf / TN_SUM_LANES * TN_SUM_CHUNK;
  int64_t end = tn_cpu_min(chunk + TN_SUM_CHUNK, w->job->count);
  begin_sums(w->job, sums);
  for (int64_t k = chunk + lane_of(leaf); k < end && !stopped(w->job);)
    k += TN_SUM_LANES * run_rows(w, k, (end - k + TN_SUM_LANES - 1) / TN_SUM_LANES, sums);
}

/* Joins leaves as they come, on a stack: the last two are one as soon as they are subtrees of one size; what
 * is left joins from the right. The bottom of the stack is the block's place in scratch. */
static void run_block(const worker *w, int64_t block) {
  const grad_job *job = w->job;
  int64_t begin = block * job->block, end = tn_cpu_min(begin + job->block, job->leaves);
  char *stack[TN_SUM_LEVELS + 4], **top = stack;
  stack[0] = (char *)job->call->scratch + (size_t)block * job->sums_room;
  for (int i = 1; i <= job->levels; i++) stack[i] = w->next + (size_t)(i - 1) * job->sums_room;
  for (int64_t leaf = begin; leaf < end && !stopped(job); leaf++) {
    run_leaf(w, leaf, *top++);
    for (int64_t done = leaf - begin + 1; !(done & 1); done >>= 1, top--) add_sums(job, top[-2], top[-1]);
  }
  for (; top > stack + 1; top--) add_sums(job, top[-2], top[-1]);
}

static void grad_share(void *context, const tn_cpu_part *part) {
  const grad_job *job = context;
  char *room = (char *)job->call->scratch + (size_t)job->blocks * job->sums_room;
  int64_t begin, end;
  tn_cpu_share(job->blocks, 1, part, &begin, &end);
  if (begin >= end) return;
  room += (size_t)part->thread * job->thread_room;
  worker w = { .job = job, .x = room + job->row_room, .g = room + 2 * job->row_room };
  w.gamma = contiguous(job, GAMMA, job->call->in[GAMMA].data, room);
  w.out = room + 3 * job->row_room;
  w.next = room + 4 * job->row_room;
  for (int64_t b = begin; b < end; b++) run_block(&w, b);
}

/* The tree over the blocks; its root is the gradients of gamma and beta. */
static void join_blocks(const grad_job *job) {
  char *sums = job->call->scratch;
  for (int64_t step = 1; step < job->blocks; step *= 2)
    for (int64_t b = 0; b + step < job->blocks; b += 2 * step)
      add_sums(job, sums + (size_t)b * job->sums_room, sums + (size_t)(b + step) * job->sums_room);
  for (int64_t i = 0; i < 2 * job->n; i++) {
    void *to = result_at(job, job->count * job->n + i);
    if (job->bytes == 4)
      *(float *)to = tn_canonical_f32(((const float *)sums)[i]);
    else
      *(double *)to = tn_canonical_f64(((const double *)sums)[i]);
  }
}

/* ---- preparing ---- */

static void prepare_rows(grad_job *job) {
  const tn_kernel_call *call = job->call;
  int last = call->in[X].rank - 1;
  tn_view x = call->in[X], g = call->in[G];
  for (int v = 0; v < 3; v++) job->step[v] = job->n == 1 ? 1 : call->in[v].stride[v == GAMMA ? 0 : last];
  job->out_step = call->out->stride[0];
  x.rank = g.rank = last;
  tn_cpu_iterator_two(&job->rows, &x, &g);
}

/* Not for tensors without elements. */
static void prepare(grad_job *job, const tn_kernel_call *call) {
  *job = (grad_job){ .call = call, .bytes = (int64_t)tn_cpu_bytes(call->out->dtype) };
  int64_t elements = tn_cpu_elements(&call->in[X]);
  job->n = call->in[X].dim[call->in[X].rank - 1];
  job->count = elements / job->n;
  prepare_rows(job);
  job->threads = tn_cpu_threads_for((double)elements * COST, call->threads);
  job->leaves = tn_sum_chunks(job->count) * TN_SUM_LANES;
  int64_t most = job->threads > 1 ? job->threads * EACH_THREAD : 1;
  for (job->block = 1; job->block * most < job->leaves; job->block *= 2) job->levels++;
  job->blocks = (job->leaves + job->block - 1) / job->block;
  job->row_room = tn_cpu_round_up((size_t)(job->n * job->bytes), 64);
  job->sums_room = 2 * job->row_room;
  job->thread_room = 4 * job->row_room + (size_t)job->levels * job->sums_room;
}

/* Sums over no rows are +0; the mean of no elements is NaN. */
static bool of_nothing(const tn_kernel_call *call) {
  double number = call->in[X].dim[call->in[X].rank - 1] == 0 ? tn_nan_f64() : 0;
  for (int64_t i = 0; i < call->out->dim[0]; i++) {
    char *to = (char *)call->out->data + i * call->out->stride[0] * (int64_t)tn_cpu_bytes(call->out->dtype);
    if (call->out->dtype == TN_F32)
      *(float *)to = tn_canonical_f32((float)number);
    else
      *(double *)to = number;
  }
  return true;
}

bool TN_CPU_NAME(layer_norm_grad)(const tn_kernel_call *call) {
  grad_job job;
  if (tn_cpu_elements(&call->in[X]) == 0) return of_nothing(call);
  prepare(&job, call);
  double cost = (double)(job.count * job.n) * COST;
  tn_cpu_run_evenly(call, job.threads, job.blocks, cost, grad_share, &job);
  join_blocks(&job);
  return true;
}

size_t TN_CPU_NAME(layer_norm_grad_scratch)(const tn_kernel_call *call) {
  grad_job job;
  if (tn_cpu_elements(&call->in[X]) == 0) return 0;
  prepare(&job, call);
  return (size_t)job.blocks * job.sums_room + (size_t)job.threads * job.thread_room;
}
