/* backend/cpu/isa/softmax.c: softmax, log_softmax and cross entropy.
 *
 * A row is read for its maximum and again for the exponentials, which are added
 * in the order of sums as they are made; rows are short enough to stay in the
 * cache between the two, and the maximum of the next row is found in the same pass. If the axis is
 * not the contiguous one, strips of neighbouring columns are computed together. Anything else is
 * copied into rows first. */
#include <math.h>

#include "backend/cpu/isa/divide.h"
#include "backend/cpu/isa/exp.h"
#include "backend/cpu/isa/softmax.h"
#include "backend/cpu/isa/stream.h"
#include "backend/cpu/isa/sums.h"
#include "backend/cpu/iterator.h"

#define STREAM_BYTES ((int64_t)32 << 20) /* a result that no cache will hold */
#define ROOM_LIMIT   65536 /* bytes of a row whose exponentials have a place in the near cache */
#define LEAST_ROWS   8     /* of a part: the maximum of its first row is found by itself */

/* ---- f32: one row ---- */
/* How the exponentials of a row are made: of numbers at or below a finite maximum, which need no look for NaN
 * and for what is too large, or of anything. */
typedef enum { TAME, WILD } manner;

#define BLOCK         (TN_LANES < 4 ? TN_SUM_LANES : 4 * TN_LANES) /* elements that go side by side */
#define BLOCK_VECTORS (BLOCK / TN_LANES)
#define AHEAD         2048 /* bytes between what is read and what is prefetched */

/* A row on its way. */
typedef struct {
  const float *x;
  int64_t n;
  float max;
  VF least;          /* the smallest x - max so far of a tame row */
  const float *next; /* a row whose largest is found on the way */
  VF most;           /* the largest of it so far, if it has no NaN */
  tn_stop *stop;
} exponentials;

/* x - max of one vector, or of the first `left` lanes of it; of a tame row no less than exp wants. */
TN_ALWAYS_INLINE VF difference_at(exponentials *r, int64_t at, int left, manner how, bool ahead) {
  bool whole = left == TN_LANES;
  VF x = whole ? vf_load(r->x + at) : tn_load_filled(r->x + at, left, r->max);
  VF difference = x - vf_set(r->max);
  if (ahead)
    r->most =
        vf_at_least(whole ? vf_load(r->next + at) : tn_load_filled(r->next + at, left, -HUGE_VALF), r->most);
  if (how == WILD) return difference;
  r->least = vf_at_most(r->least, difference);
  return vf_at_least(difference, vf_set(-104.0f)); /* below, exp is 0 in any case */
}

TN_ALWAYS_INLINE void exp_of(VF *v, int count, manner how, bool normal) {
  if (how == TAME)
    tn_exp_abreast(v, count, normal);
  else
    for (int k = 0; k < count; k++) v[k] = vf_exp(v[k]);
}

/* The exponentials of a block, none of which is denormal unless a number so far was small enough. More than
 * two vectors abreast would not fit the registers. */
TN_ALWAYS_INLINE void exp_of_block(VF *v, manner how, VF least) {
  if (how == TAME && TN_LIKELY(vm_all(vf_ge(least, vf_set(-TN_EXP_NORMAL)))))
    for (int k = 0; k < BLOCK_VECTORS; k += 2) exp_of(v + k, 2, how, true);
  else
    for (int k = 0; k < BLOCK_VECTORS; k += 2) exp_of(v + k, 2, how, false);
}

/* e = exp(x - max) of one chunk of `count` contiguous elements from `at` on; gives their sum over the
 * lanes. */
TN_ALWAYS_INLINE float exp_chunk(exponentials *row, int64_t at, int64_t count, manner how, bool ahead,
                                 float *e) {
  exponentials r = *row;
  VF acc[TN_SUM_GROUPS];
  for (int g = 0; g < TN_SUM_GROUPS; g++) acc[g] = vf_set(-0.0f);
  int64_t i = 0;
  for (; i + BLOCK <= count; i += BLOCK) {
    VF v[BLOCK_VECTORS];
    for (int64_t k = 0; ahead && k < BLOCK; k += 16)
      TN_PREFETCH_FAR((const void *)((uintptr_t)(r.next + at + i + k) + AHEAD));
    for (int k = 0; k < BLOCK_VECTORS; k++)
      v[k] = difference_at(&r, at + i + k * TN_LANES, TN_LANES, how, ahead);
    exp_of_block(v, how, r.least);
    for (int k = 0; k < BLOCK_VECTORS; k++) {
      vf_store(e + i + k * TN_LANES, v[k]);
      acc[k % TN_SUM_GROUPS] = acc[k % TN_SUM_GROUPS] + v[k];
    }
  }
  for (int g = 0; i < count; i += TN_LANES, g = (g + 1) % TN_SUM_GROUPS) {
    int left = (int)tn_cpu_min(count - i, TN_LANES);
    VF v = difference_at(&r, at + i, left, how, ahead);
    exp_of(&v, 1, how, false);
    vf_store_part(e + i, v, left);
    acc[g] = acc[g] + tn_load_filled(e + i, left, -0.0f);
  }
  row->least = r.least;
  row->most = r.most;
  return tn_sum_vectors(acc);
}

/* The sum of exp(x - max) over a contiguous row; the exponentials go to e unless it is NULL. */
TN_ALWAYS_INLINE float exp_chunks(exponentials *r, manner how, bool ahead, float *e) {
  float forgotten[TN_SUM_CHUNK];
  if (r->n <= TN_SUM_CHUNK) return exp_chunk(r, 0, r->n, how, ahead, e ? e : forgotten);
  tn_sum_f32 tree;
  tree.count = 0;
  for (int64_t i = 0; i < r->n; i += TN_SUM_CHUNK) {
    int64_t count = tn_cpu_min(r->n - i, TN_SUM_CHUNK);
    tn_sum_f32_add(&tree, exp_chunk(r, i, count, how, ahead, e ? e + i : forgotten));
    if (tn_cpu_row_stopped(r->stop, i)) break;
  }
  return tn_sum_f32_end(&tree);
}

TN_NEVER_INLINE float exp_wild(exponentials *r, float *e) { return exp_chunks(r, WILD, false, e); }
TN_NEVER_INLINE float exp_tame(exponentials *r, float *e) { return exp_chunks(r, TAME, false, e); }
TN_NEVER_INLINE float exp_ahead(exponentials *r, float *e) { return exp_chunks(r, TAME, true, e); }

static float exp_row(tn_stop *stop, const float *x, int64_t n, float max, float *e) {
  exponentials r = { .stop = stop, .x = x, .n = n, .max = max, .least = vf_set(0.0f) };
  return max - max == 0 ? exp_tame(&r, e) : exp_wild(&r, e);
}

static float log_of(float x) {
  float lane[TN_LANES];
  vf_store(lane, vf_log(vf_set(x)));
  return lane[0];
}

static inline VF divided(VF e, VF sum, VF inverse, bool ordinary) {
#if TN_FMA_IN_HARDWARE
  if (ordinary) return tn_quotient(e, sum, inverse);
  VM known = vm_or(vf_ge(e, vf_set(0x1p-60f)), vf_eq(e, vf_set(0.0f)));
  if (TN_LIKELY(vm_all(known))) return tn_quotient(e, sum, inverse);
#else
  (void)inverse, (void)ordinary;
#endif
  return e / sum;
}

TN_ALWAYS_INLINE void divide_row(const float *e, int64_t n, float sum, bool ordinary, bool streams,
                                 float *out) {
  VF s = vf_set(sum), inverse = vf_set(1.0f / sum);
  int64_t i = 0;
  for (; i + TN_LANES <= n; i += TN_LANES) {
    VF q = divided(vf_load(e + i), s, inverse, ordinary);
    if (streams)
      vf_stream(out + i, q);
    else
      vf_store(out + i, q);
  }
  if (i < n) vf_store_part(out + i, vf_load_part(e + i, (int)(n - i)) / s, (int)(n - i));
}

/* The largest of a row without NaN, and of two zeros any. */
static float largest_lane(VF most) { return tn_float_of_key(tn_key_max_lane(tn_key(most))); }

static VF largest_of_piece(const float *x, int64_t n, VF most) {
  for (int64_t i = 0; i < n; i += TN_LANES)
    most = vf_at_least(tn_load_filled(x + i, (int)tn_cpu_min(n - i, TN_LANES), -HUGE_VALF), most);
  return most;
}

static float largest(tn_stop *stop, const float *x, int64_t n) {
  VF most = vf_set(-HUGE_VALF);
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    most = largest_of_piece(x + at, end - at, most);
  }
  return largest_lane(most);
}

/* A row with a NaN or an infinity in it. */
TN_NEVER_INLINE void softmax_wild_row(tn_stop *stop, const float *x, int64_t n, float *e, float *out) {
  exponentials r = { .stop = stop, .x = x, .n = n, .max = max_row(stop, x, n), .least = vf_set(0.0f) };
  VF sum = vf_set(exp_wild(&r, e));
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i += TN_LANES) {
      int left = (int)tn_cpu_min(n - i, TN_LANES);
      vf_store_part(out + i, vf_canonical(vf_load_part(e + i, left) / sum), left);
    }
  }
}

/* A row that may be long. */
static void divide_pieces(tn_stop *stop, const float *e, int64_t n, float sum, bool ordinary, float *out) {
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    if (ordinary)
      divide_row(e + at, end - at, sum, true, false, out + at);
    else
      divide_row(e + at, end - at, sum, false, false, out + at);
  }
}

/* The exponentials are made in e, which may be the result itself. The maximum was found without a look at
 * NaN: a NaN, as an infinity, shows in the sum. Gives the maximum of the row `next`. */
static float softmax_row(tn_stop *stop, const float *x, int64_t n, float max, const float *next, float *e,
                         float *out, bool streams) {
  exponentials r = {
    .stop = stop, .x = x, .n = n, .max = max, .next = next, .least = vf_set(0.0f), .most = vf_set(-HUGE_VALF)
  };
  float sum = exp_ahead(&r, e);
  bool ordinary = vm_all(vf_ge(r.least, vf_set(-41.0f))); /* whose exp is above 2^-60 */
  if (!(max - max == 0 && sum >= 1.0f && sum <= 0x1p41f))
    softmax_wild_row(stop, x, n, e, out);
  else if (streams)
    divide_row(e, n, sum, false, true, out); /* such a row is short */
  else
    divide_pieces(stop, e, n, sum, ordinary, out);
  return largest_lane(r.most);
}

static void log_softmax_row(tn_stop *stop, const float *x, int64_t n, float *out) {
  float max = max_row(stop, x, n), log_sum = log_of(exp_row(stop, x, n, max, NULL));
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i += TN_LANES) {
      int left = (int)tn_cpu_min(n - i, TN_LANES);
      VF v = left == TN_LANES ? vf_load(x + i) : vf_load_part(x + i, left);
      vf_store_part(out + i, vf_canonical((v - vf_set(max)) - vf_set(log_sum)), left);
    }
  }
}

/* ---- f32: a strip of columns ---- */
/* width <= TN_STRIP neighbouring columns of n elements; x and out have their own step along the axis. */
typedef struct {
  const float *x;
  float *out, *max, *sum;
  int64_t step, out_step;
  int width;
  bool log;
} strip;

/* e = exp(x - max) of places begin..end-1 along the axis. */
static void exp_strip(const strip *given, int64_t begin, int64_t end) {
  const strip here = *given, *s = &here; /* so that no store can change it */
  for (int64_t i = begin; i < end; i++)
    for (int w = 0; w < s->width; w += TN_LANES) {
      int left = s->width - w < TN_LANES ? s->width - w : TN_LANES;
      VF e = vf_exp(vf_load_part(s->x + i * s->step + w, left) - vf_load_part(s->max + w, left));
      vf_store_part(s->out + i * s->out_step + w, e, left);
    }
}

/* The results of the same. */
static void finish_strip(const strip *given, int64_t begin, int64_t end) {
  const strip here = *given, *s = &here;
  for (int w = 0; w < s->width; w += TN_LANES) {
    int left = s->width - w < TN_LANES ? s->width - w : TN_LANES;
    VF sum = vf_load_part(s->sum + w, left), max = vf_load_part(s->max + w, left), log_sum = vf_log(sum);
    for (int64_t i = begin; i < end; i++) {
      const float *x = s->x + i * s->step + w;
      float *to = s->out + i * s->out_step + w;
      VF result = s->log ? (vf_load_part(x, left) - max) - log_sum : vf_load_part(to, left) / sum;
      vf_store_part(to, vf_canonical(result), left);
    }
  }
}

static void softmax_columns(tn_stop *stop, strip *s, int64_t n) {
  float max[TN_STRIP], sum[TN_STRIP];
  s->max = max, s->sum = sum;
  max_columns(stop, s->x, s->step, n, s->width, s->max);
  for (int64_t at = 0; at < n && !tn_cpu_row_stopped(stop, at); at = tn_cpu_piece_end(at, n))
    exp_strip(s, at, tn_cpu_piece_end(at, n));
  sum_columns(stop, s->out, s->out_step, n, s->width, s->sum);
  for (int64_t at = 0; at < n && !tn_cpu_row_stopped(stop, at); at = tn_cpu_piece_end(at, n))
    finish_strip(s, at, tn_cpu_piece_end(at, n));
}

/* ---- f64: one row ---- */
static double exp_row_f64(tn_stop *stop, const double *x, int64_t n, double max, double *e) {
  double forgotten[TN_SUM_CHUNK];
  tn_sum_f64 tree;
  tree.count = 0;
  for (int64_t i = 0; i < n; i += TN_SUM_CHUNK) {
    int64_t count = tn_cpu_min(n - i, TN_SUM_CHUNK);
    double *to = e ? e + i : forgotten;
    for (int64_t k = 0; k < count; k++) to[k] = tn_exp_f64(x[i + k] - max);
    tn_sum_f64_add(&tree, sum_row_f64(NULL, to, count));
    if (tn_cpu_row_stopped(stop, i)) break;
  }
  return tn_sum_f64_end(&tree);
}

static void softmax_row_f64(tn_stop *stop, const double *x, int64_t n, double *out) {
  double sum = exp_row_f64(stop, x, n, max_row_f64(stop, x, n), out);
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i++) out[i] = tn_canonical_f64(out[i] / sum);
  }
}

static void log_softmax_row_f64(tn_stop *stop, const double *x, int64_t n, double *out) {
  double max = max_row_f64(stop, x, n), log_sum = tn_log_f64(exp_row_f64(stop, x, n, max, NULL));
  for (int64_t at = 0, end; at < n && !tn_cpu_row_stopped(stop, at); at = end) {
    end = tn_cpu_piece_end(at, n);
    for (int64_t i = at; i < end; i++) out[i] = tn_canonical_f64((x[i] - max) - log_sum);
  }
}

/* ---- rows of other kernels ---- */
void softmax_below(tn_stop *stop, float *x, int64_t step, const int64_t *n, int64_t rows, float *e) {
  while (rows > 0 && n[0] <= 0) x += step, n++, rows--;
  if (rows == 0) return;
  float max = largest(stop, x, n[0]);
  for (int64_t i = 0; i < rows; i++, x += step) {
    int64_t more = i + 1 < rows ? n[i + 1] - n[i] : 0;
    float *next = i + 1 < rows ? x + step : x;
    float rest = more > 0 ? largest(stop, next + n[i], more) : -HUGE_VALF; /* before x is the result */
    max = softmax_row(stop, x, n[i], max, next, e, x, false);
    max = rest > max ? rest : max;
  }
}

void softmax_below_f64(tn_stop *stop, double *x, int64_t step, const int64_t *n, int64_t rows, double *e) {
  for (int64_t i = 0; i < rows; i++, x += step) {
    if (n[i] <= 0) continue;
    softmax_row_f64(stop, x, n[i], e);
    memcpy(x, e, (size_t)n[i] * sizeof *x);
  }
}

/* ---- rows of a tensor ---- */
typedef struct {
  const tn_kernel_call *call;
  tn_cpu_iterator rows;       /* views: the operand, and the result or the labels */
  int64_t count, n;       /* rows, and elements of each */
  int64_t step, out_step; /* along the axis */
  bool log;               /* log_softmax */
  bool strips;            /* rows lie side by side: f32 columns */
  bool streams;           /* the result goes past the caches */
  size_t room;            /* bytes of scratch for a row */
  char *losses;
} row_job;

static void copy_row(const row_job *job, char *to, int64_t to_step, const char *from, int64_t from_step) {
  int64_t bytes = (int64_t)tn_cpu_bytes(job->call->in[0].dtype);
  tn_cpu_copy_row(job->call->stop, bytes, job->n, to, to_step, from, from_step);
}

/* The row from memory, or a copy of it where it is not contiguous. */
static const void *collect(const row_job *job, const char *row, char *copy) {
  if (job->step == 1) return row;
  copy_row(job, copy, 1, row, job->step);
  return copy;
}

/* The common case without ado: everything is contiguous. */
static bool prepare_flat_rows(row_job *job, const tn_kernel_call *call, const tn_view *other, int axis) {
  const tn_view *x = &call->in[0];
  int64_t inner;
  if (!tn_cpu_is_flat(x) || !tn_cpu_is_flat(other)) return false;
  tn_cpu_iterator_around(&job->rows, x, axis, axis + 1, &job->n, &inner);
  job->step = job->n > 1 ? inner : 1;
  job->count = tn_cpu_iterator_count(&job->rows, 0, job->rows.rank);
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
  tn_cpu_iterator_two(&job->rows, &x, &y);
}

static double row_cost(const row_job *job) { return (double)job->count * ((double)job->n * 0.5 + 10); }

/* ---- softmax, log_softmax ---- */
static void softmax_of(const row_job *job, const void *x, void *out) {
  const tn_kernel_call *call = job->call;
  if (call->out->dtype == TN_F64 && job->log)
    log_softmax_row_f64(call->stop, x, job->n, out);
  else if (call->out->dtype == TN_F64)
    softmax_row_f64(call->stop, x, job->n, out);
  else if (job->log)
    log_softmax_row(call->stop, x, job->n, out);
  else
    softmax_row(call->stop, x, job->n, largest(call->stop, x, job->n), x, out, out, false);
}

static void softmax_rows(const row_job *job, int64_t begin, int64_t end, char *room) {
  const tn_kernel_call *call = job->call;
  int64_t bytes = (int64_t)tn_cpu_bytes(call->out->dtype);
  char *result = room ? room + job->room : NULL;
  tn_cpu_iterator rows;
  tn_cpu_iterator_copy(&rows, &job->rows);
  tn_cpu_iterator_seek(&rows, rows.rank, begin);
  for (int64_t r = begin; r < end; r++, tn_cpu_iterator_next(&rows, rows.rank)) {
    const void *x = collect(job, (const char *)call->in[0].data + rows.offset[0] * bytes, room);
    char *to = (char *)call->out->data + rows.offset[1] * bytes;
    softmax_of(job, x, job->out_step == 1 ? to : result);
    if (job->out_step != 1) copy_row(job, to, job->out_step, result, 1);
  }
}

/* softmax of contiguous rows of f32: each finds the maximum of the one after it. */
static void softmax_contiguous(const row_job *job, int64_t begin, int64_t end, char *room) {
  const float *data = job->call->in[0].data;
  float *result = job->call->out->data;
  tn_cpu_iterator rows;
  tn_cpu_iterator_copy(&rows, &job->rows);
  tn_cpu_iterator_seek(&rows, rows.rank, begin);
  const float *x = data + rows.offset[0];
  tn_stop *stop = job->call->stop;
  float max = largest(stop, x, job->n);
  for (int64_t r = begin; r < end; r++) {
    float *out = result + rows.offset[1], *e = job->room <= ROOM_LIMIT ? (float *)room : out;
    tn_cpu_iterator_next(&rows, rows.rank);
    const float *next = r + 1 < end ? data + rows.offset[0] : x;
    max = softmax_row(stop, x, job->n, max, next, e, out, job->streams);
    x = next;
  }
  if (job->streams) tn_stream_end();
}

static bool is_contiguous(const row_job *job) {
  const tn_kernel_call *call = job->call;
  return !job->log && call->out->dtype == TN_F32 && job->step == 1 && job->out_step == 1;
}

static void softmax_strips(const row_job *job, int64_t begin, int64_t end) {
  const tn_kernel_call *call = job->call;
  tn_cpu_iterator rows;
  tn_cpu_iterator_copy(&rows, &job->rows);
  int inner = rows.rank - 1;
  for (int64_t r = begin; r < end;) {
    tn_cpu_iterator_seek(&rows, rows.rank, r);
    int width = (int)tn_cpu_min(tn_cpu_min(rows.dim[inner] - rows.at[inner], end - r), TN_STRIP);
    strip s = { .x = (const float *)call->in[0].data + rows.offset[0],
                .out = (float *)call->out->data + rows.offset[1],
                .step = job->step,
                .out_step = job->out_step,
                .width = width,
                .log = job->log };
    softmax_columns(call->stop, &s, job->n);
    r += width;
  }
}

static void softmax_share(void *context, const tn_cpu_part *part) {
  const row_job *job = context;
  const tn_kernel_call *call = job->call;
  int64_t begin, end;
  tn_cpu_share(job->count, job->strips ? TN_LANES : 1, part, &begin, &end);
  if (begin >= end) return;
  char *room = call->scratch ? (char *)call->scratch + 2 * (size_t)part->thread * job->room : NULL;
  if (job->strips)
    softmax_strips(job, begin, end);
  else if (is_contiguous(job))
    softmax_contiguous(job, begin, end, room);
  else
    softmax_rows(job, begin, end, room);
}

/* Memory is not known yet while the scratch is measured: what may come is assumed. */
static bool should_stream(const row_job *job, bool measuring) {
  const tn_kernel_call *call = job->call;
  if (!is_contiguous(job) || job->n % 16 != 0 || job->room > ROOM_LIMIT) return false;
  if (job->count * job->n * 4 < STREAM_BYTES) return false;
  return measuring || (((uintptr_t)call->out->data & 63) == 0 && tn_cpu_is_flat(call->out));
}

static void prepare_softmax(row_job *job, const tn_kernel_call *call, bool log, bool measuring) {
  job->log = log;
  prepare_rows(job, call, call->out, call->attrs->axis);
  job->out_step = job->n > 1 ? call->out->stride[call->attrs->axis] : 1;
  const tn_cpu_iterator *rows = &job->rows;
  int inner = rows->rank - 1;
  job->strips = call->out->dtype == TN_F32 && !(job->step == 1 && job->out_step == 1) &&
                rows->dim[inner] > 1 && rows->stride[0][inner] == 1 && rows->stride[1][inner] == 1;
  job->streams = should_stream(job, measuring);
}

static bool softmax(const tn_kernel_call *call, bool log) {
  row_job job;
  if (tn_cpu_elements(call->out) == 0) return true;
  prepare_softmax(&job, call, log, false);
  double cost = row_cost(&job);
  int64_t units = job.count / (job.strips ? TN_STRIP : LEAST_ROWS);
  tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), units, cost, softmax_share, &job);
  return true;
}

bool TN_CPU_NAME(softmax)(const tn_kernel_call *call) { return softmax(call, false); }
bool TN_CPU_NAME(log_softmax)(const tn_kernel_call *call) { return softmax(call, true); }

static size_t scratch_of(const tn_kernel_call *call, bool log) {
  row_job job;
  if (tn_cpu_elements(call->out) == 0) return 0;
  prepare_softmax(&job, call, log, true);
  bool none = is_contiguous(&job) ? job.room > ROOM_LIMIT : job.step == 1 && job.out_step == 1;
  none = none || job.strips;
  return none ? 0 : 2 * job.room * (size_t)call->threads;
}

size_t TN_CPU_NAME(softmax_scratch)(const tn_kernel_call *call) { return scratch_of(call, false); }
size_t TN_CPU_NAME(log_softmax_scratch)(const tn_kernel_call *call) { return scratch_of(call, true); }

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

static void loss_row(tn_stop *stop, losses *l, const float *x, int64_t n, int64_t label) {
  float max = max_row(stop, x, n);
  l->picked[l->count] = x[label];
  l->max[l->count] = max;
  l->sum[l->count++] = exp_row(stop, x, n, max, NULL);
}

static double loss_row_f64(tn_stop *stop, const double *x, int64_t n, int64_t label) {
  double max = max_row_f64(stop, x, n), log_sum = tn_log_f64(exp_row_f64(stop, x, n, max, NULL));
  return tn_canonical_f64(-((x[label] - max) - log_sum));
}

static void loss_share(void *context, const tn_cpu_part *part) {
  const row_job *job = context;
  const tn_view *logits = &job->call->in[0], *labels = &job->call->in[1];
  int64_t begin, end, bytes = (int64_t)tn_cpu_bytes(logits->dtype);
  char *rooms = job->losses + tn_cpu_round_up((size_t)(job->count * bytes), 64);
  char *room = rooms + (size_t)part->thread * job->room;
  losses together;
  tn_cpu_iterator rows;
  tn_cpu_iterator_copy(&rows, &job->rows);
  tn_cpu_share(job->count, 1, part, &begin, &end);
  if (begin >= end) return;
  together.count = 0;
  tn_cpu_iterator_seek(&rows, rows.rank, begin);
  for (int64_t r = begin; r < end; r++, tn_cpu_iterator_next(&rows, rows.rank)) {
    const void *x = collect(job, (const char *)logits->data + rows.offset[0] * bytes, room);
    int64_t label = tn_cpu_index_at(labels->data, labels->dtype, rows.offset[1]);
    if (logits->dtype == TN_F64) {
      ((double *)job->losses)[r] = loss_row_f64(job->call->stop, x, job->n, label);
      continue;
    }
    loss_row(job->call->stop, &together, x, job->n, label);
    if (together.count == TN_LANES || r == end - 1)
      put_losses(&together, (float *)job->losses + r + 1 - together.count);
  }
}

static void store_mean(const tn_kernel_call *call, const char *rows, int64_t count) {
  if (call->out->dtype == TN_F32)
    *(float *)call->out->data =
        tn_canonical_f32(sum_row(call->stop, (const float *)rows, count) / (float)count);
  else
    *(double *)call->out->data =
        tn_canonical_f64(sum_row_f64(call->stop, (const double *)rows, count) / (double)count);
}

bool TN_CPU_NAME(cross_entropy)(const tn_kernel_call *call) {
  const tn_view *logits = &call->in[0], *labels = &call->in[1];
  int last = logits->rank - 1;
  row_job job;
  if (!tn_cpu_check_index(call, labels, logits->dim[last], last)) return false;
  prepare_rows(&job, call, labels, last);
  job.losses = call->scratch;
  double cost = row_cost(&job);
  int64_t units = job.count / TN_LANES;
  if (job.count > 0)
    tn_cpu_run_evenly(call, tn_cpu_threads_for(cost, call->threads), units, cost, loss_share, &job);
  store_mean(call, job.losses, job.count);
  return true;
}

size_t TN_CPU_NAME(cross_entropy_scratch)(const tn_kernel_call *call) {
  row_job job;
  prepare_rows(&job, call, &call->in[1], call->in[0].rank - 1);
  size_t rows = tn_cpu_round_up((size_t)job.count * tn_cpu_bytes(call->in[0].dtype), 64);
  return rows + (job.step == 1 ? 0 : job.room * (size_t)call->threads);
}
