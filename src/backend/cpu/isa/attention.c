/* backend/cpu/isa/attention.c: attention and its gradient, a band of queries at a time.
 *
 * A band's scores become weights and meet the values while they are in a near cache;
 * no matrix of all queries by all keys is ever there. The gradient makes the weights
 * of a band again, and adds what the band gives to the gradients of keys and values
 * to what the bands above it gave: the chain of an output resumes where it was, so it
 * is the chain of the whole product.
 *
 * A thread that does several bands of a head transposes its keys and values once, if a near cache holds them:
 * the products of each band would pack them again. Larger ones would be packed from there too.
 *
 * Threads take whole heads of a gradient. Heads that do not come out even are shared: in
 * rounds of a few bands, threads first take bands, whose weights they leave in memory of
 * all, and then slices of keys, whose gradients they add up over the bands of the round.
 * A slice ends where the keys of a band end, so a band sees all of it or nothing.
 *
 * With a causal mask a band ends at the last key that one of its queries sees. The
 * products leave out weights that are +0, which changes nothing as long as what they
 * would meet is finite: adding +0 or -0 leaves every sum as it is but for the sign of
 * a zero, and the operation gives no -0. Where a number is so large that a product of
 * two might be infinite, the head is computed with every key. */
#include <math.h>

#define TN_CPU_VIEW_LIMIT 7
#include "backend/attention.h"
#include "backend/cpu/isa/matmul.h"
#include "backend/cpu/isa/pack.h"
#include "backend/cpu/isa/softmax.h"
#include "backend/cpu/isa/sums.h"
#include "backend/cpu/iterator.h"

#define BAND_ROWS    32      /* queries in a band: a few tiles, of whose keys few are left out in vain */
#define SLICE_KEYS   BAND_ROWS
#define SHARED_BYTES ((size_t)6 << 20) /* of the weights of a round, about */
#define UNEVEN       0.1     /* of the time of all threads: idleness from which on heads are shared */
#define SAFE         0x1p120 /* sums of products below this stay finite, roundings and all */
#define SAFE_F64     0x1p1000

enum { Q, K, V, G, DQ, DK, DV, MATRICES };
#define OUT G /* of the operation itself */

/* A matrix in memory; steps are in elements. */
typedef struct {
  char *data;
  int64_t rows, columns, down, across;
} matrix;

/* What the rows of a band need to know. */
typedef struct {
  int64_t first, rows;   /* queries */
  int64_t count;         /* keys that are there */
  int64_t step;          /* from a row of weights to the next */
  int64_t later;         /* keys that the first query sees besides its own */
  bool causal, whole;    /* whole: no key is left out */
  tn_stop *stop;
} band;

/* How many keys query i of a band sees. */
static int64_t open_keys(const band *b, int64_t i) {
  return b->causal ? tn_cpu_min(b->count, b->first + i + b->later + 1) : b->count;
}

#define TYPE      float
#define BITS      uint32_t
#define MAGNITUDE UINT32_C(0x7fffffff)
#define NAME(x)   x##_f32
#define SOFTMAX   softmax_below
#define SUM       sum_row
#define CANONICAL tn_canonical_f32
#include "backend/cpu/isa/attention.inc"

#define TYPE      double
#define BITS      uint64_t
#define MAGNITUDE UINT64_C(0x7fffffffffffffff)
#define NAME(x)   x##_f64
#define SOFTMAX   softmax_below_f64
#define SUM       sum_row_f64
#define CANONICAL tn_canonical_f64
#include "backend/cpu/isa/attention.inc"

/* ---- one call ---- */
typedef struct {
  const tn_kernel_call *call;
  tn_dtype dtype;
  int64_t bytes;              /* of an element */
  bool grad, causal;
  double factor;
  matrix first[MATRICES];     /* of the first head; OUT or G to DV */
  int matrices;
  tn_cpu_iterator heads;
  int64_t count;              /* heads of the whole batch */
  int64_t bands, step;        /* of a head; from a row of weights to the next */
  bool turns;                 /* heads of several bands transpose their keys and values first */
  size_t scaled, weights, slope, row, products; /* where pieces of a thread's scratch begin */
  size_t keys_turned, values_turned;
  size_t room;                                  /* its bytes */
  /* heads of a gradient that threads share */
  int threads;
  int64_t shared, slices;     /* the last so many; pieces of their keys */
  int64_t round, begin;       /* bands in a round; the first of this one */
  size_t round_weights, round_slope, round_room; /* as above, of one head; its scaled queries are first */
} attention_job;

/* A head, the scratch of the thread that computes it, and where the rows of a band go. */
typedef struct {
  const attention_job *job;
  matrix at[MATRICES];
  char *scratch;
  char *scaled, *weights, *slope;
  bool whole;
  bool turned; /* keys, and for a gradient values, are transposed in scratch memory */
} head;

static matrix matrix_of(const tn_view *view) {
  int r = view->rank - 2, c = view->rank - 1;
  return (matrix){ view->data, view->dim[r], view->dim[c], view->stride[r], view->stride[c] };
}

static band band_of(const head *h, int64_t number) {
  const attention_job *job = h->job;
  int64_t queries = job->first[Q].rows, keys = job->first[K].rows;
  band b = { .first = number * BAND_ROWS, .count = keys, .step = job->step, .later = keys - queries,
             .causal = job->causal, .whole = h->whole || !job->causal, .stop = job->call->stop };
  b.rows = tn_cpu_min(queries - b.first, BAND_ROWS);
  if (!b.whole) b.count = open_keys(&b, b.rows - 1);
  return b;
}

/* What has no elements may have no memory. */
static char *moved(char *data, int64_t bytes) { return data ? data + bytes : data; }

static matrix rows_of(const matrix *m, int64_t first, int64_t rows, int64_t bytes) {
  matrix part = *m;
  part.data = moved(m->data, first * m->down * bytes);
  part.rows = rows;
  return part;
}

static matrix turned(const matrix *m) {
  return (matrix){ m->data, m->columns, m->rows, m->across, m->down };
}

/* ---- products ---- */
static product product_of(const matrix *a, const matrix *b, const matrix *c, tn_stop *stop) {
  return (product){ .m = c->rows, .n = c->columns, .k = a->columns, .a = a->data, .b = b->data, .c = c->data,
                    .am = a->down, .ak = a->across, .bk = b->down, .bn = b->across, .cm = c->down,
                    .cn = c->across, .stop = stop };
}

typedef enum { SCORES, SEEN, SLOPE, VALUES, QUERIES, KEYS, PRODUCTS } band_product;

/* Keys or values as columns: the product packs them, unless they are transposed already. */
static matrix columns_of(const head *h, const matrix *m, size_t copy) {
  if (!h->turned) return turned(m);
  return (matrix){ moved(h->scratch, (int64_t)copy), m->columns, m->rows, h->job->step, 1 };
}

/* A product of a band; scratch and operands may have no memory yet. */
static product product_in(const head *h, const band *b, band_product which) {
  const attention_job *job = h->job;
  int64_t bytes = job->bytes, width = job->first[Q].columns;
  matrix scaled = { h->scaled, b->rows, width, width, 1 };
  matrix weights = { h->weights, b->rows, b->count, b->step, 1 }, slope = weights;
  slope.data = h->slope;
  matrix k = rows_of(&h->at[K], 0, b->count, bytes), v = rows_of(&h->at[V], 0, b->count, bytes);
  matrix g = rows_of(&h->at[G], b->first, b->rows, bytes), dq, dk, dv;
  matrix k_turned = columns_of(h, &k, job->keys_turned), v_turned = columns_of(h, &v, job->values_turned);
  tn_stop *stop = b->stop;
  if (which == SCORES) return product_of(&scaled, &k_turned, &weights, stop);
  if (which == SEEN) return product_of(&weights, &v, &g, stop);
  if (which == SLOPE) return product_of(&g, &v_turned, &slope, stop);
  dq = rows_of(&h->at[DQ], b->first, b->rows, bytes);
  if (which == QUERIES) return product_of(&slope, &k, &dq, stop);
  dk = rows_of(&h->at[DK], 0, b->count, bytes), dv = rows_of(&h->at[DV], 0, b->count, bytes);
  weights = turned(&weights), slope = turned(&slope);
  product sums =
      which == VALUES ? product_of(&weights, &g, &dv, stop) : product_of(&slope, &scaled, &dk, stop);
  sums.onto = b->first > 0;
  return sums;
}

static void multiply_in(const head *h, const band *b, band_product which) {
  product p = product_in(h, b, which);
  product_alone(h->job->dtype, &p, h->scratch + h->job->products);
}

/* Of keys that no band above has seen, the sums begin here. */
static void multiply_onto(const head *h, const band *b, band_product which, int64_t seen) {
  product p = product_in(h, b, which), more = p;
  if (p.onto && seen < p.m) {
    int64_t bytes = h->job->bytes;
    more.m = p.m - seen;
    more.a = (const char *)p.a + seen * p.am * bytes;
    more.c = (char *)p.c + seen * p.cm * bytes;
    more.onto = false;
    p.m = seen;
    product_alone(h->job->dtype, &more, h->scratch + h->job->products);
  }
  product_alone(h->job->dtype, &p, h->scratch + h->job->products);
}

/* ---- bands ---- */
static void weigh_band(const head *h, const band *b) {
  const attention_job *job = h->job;
  matrix q = rows_of(&h->at[Q], b->first, b->rows, job->bytes);
  void *row = h->scratch + job->row;
  if (job->dtype == TN_F32)
    scale_f32((void *)h->scaled, &q, (float)job->factor);
  else
    scale_f64((void *)h->scaled, &q, job->factor);
  multiply_in(h, b, SCORES);
  if (job->dtype == TN_F32)
    weigh_f32(b, (void *)h->weights, row);
  else
    weigh_f64(b, (void *)h->weights, row);
}

static void finish(const attention_job *job, const matrix *x, double factor) {
  if (!job->causal && factor == 1) return;
  if (job->dtype == TN_F32)
    finish_f32(x, (float)factor, job->causal ? 0.0f : -0.0f);
  else
    finish_f64(x, factor, job->causal ? 0.0 : -0.0);
}

static void forward_band(const head *h, const band *b) {
  weigh_band(h, b);
  multiply_in(h, b, SEEN);
  matrix out = rows_of(&h->at[OUT], b->first, b->rows, h->job->bytes);
  finish(h->job, &out, 1);
}

/* Weights, their slope, and the gradient of the band's queries. */
static void slope_band(const head *h, const band *b) {
  const attention_job *job = h->job;
  void *row = h->scratch + job->row;
  multiply_in(h, b, SLOPE);
  if (job->dtype == TN_F32)
    through_softmax_f32(b, (void *)h->weights, (void *)h->slope, row);
  else
    through_softmax_f64(b, (void *)h->weights, (void *)h->slope, row);
  multiply_in(h, b, QUERIES);
  matrix dq = rows_of(&h->at[DQ], b->first, b->rows, job->bytes);
  finish(job, &dq, job->factor);
}

static void backward_band(const head *h, const band *b, int64_t seen) {
  weigh_band(h, b);
  multiply_onto(h, b, VALUES, seen);
  slope_band(h, b);
  multiply_onto(h, b, KEYS, seen);
}

/* Without a query there is nothing to add up, and with a mask there may be keys that none sees. */
static void clear_rows(const head *h, int which, int64_t from) {
  const matrix *m = &h->at[which];
  product none = { .m = m->rows - from, .n = m->columns, .cm = m->down, .cn = m->across };
  none.c = moved(m->data, from * m->down * h->job->bytes);
  product_alone(h->job->dtype, &none, NULL);
}

static void backward(const head *h) {
  const attention_job *job = h->job;
  int64_t seen = 0;
  for (int64_t n = 0; n < job->bands && !tn_stop_asked(job->call->stop); n++) {
    band b = band_of(h, n);
    backward_band(h, &b, seen);
    seen = b.count;
  }
  clear_rows(h, DK, seen);
  clear_rows(h, DV, seen);
  finish(job, &h->at[DK], 1);
}

/* ---- slices of keys ---- */
typedef struct {
  int64_t first, keys;
  int64_t band, bands; /* those of this round that see it */
  bool seen;           /* by one of an earlier round */
} slice;

/* The first one is shorter where the keys of bands do not end at multiples. */
static int64_t slice_start(const attention_job *job, int64_t number) {
  int64_t keys = job->first[K].rows, odd = (keys - job->first[Q].rows) % SLICE_KEYS;
  if (number == 0 || !job->causal || odd == 0) return tn_cpu_min(number * SLICE_KEYS, keys);
  return tn_cpu_min((number - 1) * SLICE_KEYS + odd, keys);
}

static slice slice_of(const head *h, int64_t number) {
  const attention_job *job = h->job;
  int64_t later = job->first[K].rows - job->first[Q].rows, from = 0;
  slice s = { .first = slice_start(job, number) };
  s.keys = slice_start(job, number + 1) - s.first;
  if (job->causal && !h->whole && s.first > later) from = (s.first - later) / BAND_ROWS;
  s.band = from > job->begin ? from : job->begin;
  s.bands = tn_cpu_min(job->begin + job->round, job->bands) - s.band;
  s.seen = from < job->begin;
  return s;
}

/* Points the head at memory of all threads: at the rows of a band of this round. */
static void use_round(head *h, int64_t number, int64_t from) {
  const attention_job *job = h->job;
  int64_t row = (from - job->begin) * BAND_ROWS * job->bytes, index = number - (job->count - job->shared);
  char *all = (char *)job->call->scratch + (size_t)job->threads * job->room + (size_t)index * job->round_room;
  h->scaled = moved(all, row * job->first[Q].columns);
  h->weights = moved(all, (int64_t)job->round_weights + row * job->step);
  h->slope = moved(all, (int64_t)job->round_slope + row * job->step);
}

static product product_over(const head *h, const slice *s, band_product which) {
  const attention_job *job = h->job;
  int64_t bytes = job->bytes, width = job->first[Q].columns, first = s->band * BAND_ROWS;
  int64_t rows = tn_cpu_min(s->bands * BAND_ROWS, job->first[Q].rows - first);
  matrix scaled = { h->scaled, rows, width, width, 1 }, g = rows_of(&h->at[G], first, rows, bytes);
  matrix weights = { which == VALUES ? h->weights : h->slope, rows, s->keys, job->step, 1 };
  matrix sums = rows_of(&h->at[which == VALUES ? DV : DK], s->first, s->keys, bytes);
  weights.data = moved(weights.data, s->first * bytes);
  weights = turned(&weights);
  product p = product_of(&weights, which == VALUES ? &g : &scaled, &sums, job->call->stop);
  p.onto = s->seen;
  return p;
}

static void backward_slice(head *h, int64_t head_number, int64_t number) {
  const attention_job *job = h->job;
  slice s = slice_of(h, number);
  if (s.bands <= 0) return;
  use_round(h, head_number, s.band);
  product values = product_over(h, &s, VALUES), keys = product_over(h, &s, KEYS);
  product_alone(job->dtype, &values, h->scratch + job->products);
  product_alone(job->dtype, &keys, h->scratch + job->products);
  matrix dk = rows_of(&h->at[DK], s.first, s.keys, job->bytes);
  if (job->begin + job->round >= job->bands) finish(job, &dk, 1);
}

/* ---- heads ---- */
static double largest(const attention_job *job, const matrix *m) {
  return job->dtype == TN_F32 ? largest_f32(m) : largest_f64(m);
}

/* Whether every number that a hidden key meets, and every score, is finite: a NaN compares false. */
static bool is_tame(const attention_job *job, const head *h) {
  double safe = job->dtype == TN_F32 ? SAFE : SAFE_F64;
  double q = largest(job, &h->at[Q]), k = largest(job, &h->at[K]), v = largest(job, &h->at[V]);
  if (!(q * k * (double)(h->at[Q].columns + 1) < safe && q < safe && k < safe && v < safe)) return false;
  double g = job->grad ? largest(job, &h->at[G]) : 0;
  return g < safe && g * v * (double)(h->at[V].columns + 1) < safe;
}

static void turn_rows(const head *h, int which, size_t copy) {
  const matrix *m = &h->at[which];
  pack_f32((float *)(void *)(h->scratch + copy), (int)h->job->step, (const float *)(const void *)m->data,
           m->down, m->across, (int)m->rows, m->columns);
}

/* `bands`: how many of the head this thread does, one after another. */
static head head_at(const attention_job *job, const tn_cpu_part *part, int64_t number, int64_t bands) {
  head h = { .job = job, .scratch = (char *)job->call->scratch + (size_t)part->thread * job->room };
  h.scaled = h.scratch + job->scaled, h.weights = h.scratch + job->weights, h.slope = h.scratch + job->slope;
  tn_cpu_iterator at;
  tn_cpu_iterator_copy(&at, &job->heads);
  tn_cpu_iterator_seek(&at, at.rank, number);
  for (int i = 0; i < job->matrices; i++) {
    h.at[i] = job->first[i];
    h.at[i].data = moved(h.at[i].data, at.offset[i] * job->bytes);
  }
  h.whole = job->causal && !is_tame(job, &h);
  h.turned = job->turns && bands > 1;
  if (h.turned) turn_rows(&h, K, job->keys_turned);
  if (h.turned && job->grad) turn_rows(&h, V, job->values_turned);
  return h;
}

/* The bands or slices of a head from both ends, so that neighbours take as long as others where a mask makes
 * some of them short. */
static int64_t from_both_ends(int64_t count, int64_t turn) {
  return turn % 2 ? count - 1 - turn / 2 : turn / 2;
}

static void forward_share(void *context, const tn_cpu_part *part) {
  const attention_job *job = context;
  int64_t begin, end;
  tn_cpu_share(job->count * job->bands, 1, part, &begin, &end);
  head h = { .job = NULL };
  for (int64_t i = begin; i < end && !tn_stop_asked(job->call->stop); i++) {
    int64_t rest = tn_cpu_min(end - i, job->bands - i % job->bands);
    if (i == begin || i % job->bands == 0) h = head_at(job, part, i / job->bands, rest);
    band b = band_of(&h, from_both_ends(job->bands, i % job->bands));
    forward_band(&h, &b);
  }
}

static void backward_share(void *context, const tn_cpu_part *part) {
  const attention_job *job = context;
  int64_t begin, end;
  tn_cpu_share(job->count - job->shared, 1, part, &begin, &end);
  for (int64_t i = begin; i < end; i++) {
    head h = head_at(job, part, i, job->bands);
    backward(&h);
  }
}

static void shared_bands_share(void *context, const tn_cpu_part *part) {
  const attention_job *job = context;
  int64_t begin, end, bands = tn_cpu_min(job->round, job->bands - job->begin), number = 0;
  tn_cpu_share(job->shared * bands, 1, part, &begin, &end);
  head h = { .job = NULL };
  for (int64_t i = begin; i < end && !tn_stop_asked(job->call->stop); i++) {
    int64_t rest = tn_cpu_min(end - i, bands - i % bands);
    if (i == begin || i % bands == 0)
      number = job->count - job->shared + i / bands, h = head_at(job, part, number, rest);
    band b = band_of(&h, job->begin + from_both_ends(bands, i % bands));
    use_round(&h, number, b.first / BAND_ROWS);
    weigh_band(&h, &b);
    slope_band(&h, &b);
  }
}

static void shared_slices_share(void *context, const tn_cpu_part *part) {
  const attention_job *job = context;
  int64_t begin, end, number = 0;
  tn_cpu_share(job->shared * job->slices, 1, part, &begin, &end);
  head h = { .job = NULL };
  for (int64_t i = begin; i < end && !tn_stop_asked(job->call->stop); i++) {
    if (i == begin || i % job->slices == 0)
      number = job->count - job->shared + i / job->slices, h = head_at(job, part, number, 0);
    backward_slice(&h, number, from_both_ends(job->slices, i % job->slices));
  }
}

/* ---- scratch ---- */
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* What the products of one band need. */
static size_t products_room(const head *h, int64_t number) {
  const attention_job *job = h->job;
  size_t room = 0;
  band b = band_of(h, number), above = number > 0 ? band_of(h, number - 1) : b;
  for (band_product which = SCORES; which < (job->grad ? PRODUCTS : SLOPE); which++) {
    product p = product_in(h, &b, which);
    if (job->grad && which == SEEN) continue;
    room = larger(room, product_room(job->dtype, &p));
    if (!p.onto) continue;
    p.m = above.count;
    room = larger(room, product_room(job->dtype, &p));
    p.m = b.count - above.count, p.onto = false;
    room = larger(room, product_room(job->dtype, &p));
  }
  return room;
}

/* The same with hidden keys and without, and with keys that are transposed already or not. */
static size_t band_room(const attention_job *job, int64_t number) {
  size_t room = 0;
  for (int whole = 0; whole <= job->causal; whole++)
    for (int turned = 0; turned <= job->turns; turned++) {
      head h = { .job = job, .whole = whole, .turned = turned };
      for (int i = 0; i < job->matrices; i++) h.at[i] = job->first[i], h.at[i].data = NULL;
      room = larger(room, products_room(&h, number));
    }
  return room;
}

/* And those of the slices of all rounds. */
static size_t slice_room(const attention_job *job) {
  size_t room = 0;
  attention_job at = *job;
  for (int whole = 0; whole <= job->causal; whole++) {
    head h = { .job = &at, .whole = whole };
    for (int i = 0; i < job->matrices; i++) h.at[i] = job->first[i], h.at[i].data = NULL;
    for (at.begin = 0; at.begin < job->bands; at.begin += job->round)
      for (int64_t n = 0; n < job->slices; n++) {
        slice s = slice_of(&h, n);
        product values = product_over(&h, &s, VALUES), keys = product_over(&h, &s, KEYS);
        if (s.bands > 0) room = larger(room, product_room(job->dtype, &values));
        if (s.bands > 0) room = larger(room, product_room(job->dtype, &keys));
      }
  }
  return room;
}

static size_t piece(size_t *room, int64_t rows, int64_t columns, int64_t bytes) {
  size_t begin = *room;
  *room += tn_cpu_round_up((size_t)(rows * columns * bytes), 64) + 64; /* vectors may pass the end */
  return begin;
}

/* Rows of weights begin with a cache line, and do not collide. */
static int64_t row_step(int64_t keys, int64_t bytes) {
  int64_t line = 64 / bytes, step = (keys + line - 1) / line * line;
  return step * bytes % APART_BYTES == 0 ? step + line : step;
}

/* Nanoseconds on one thread for so many heads: the multiplications, and what is done to each score. */
static double cost_of(const attention_job *job, int64_t heads) {
  double scores = (double)heads * (double)job->first[Q].rows * (double)job->first[K].rows;
  double steps = (double)(job->first[Q].columns + job->first[V].columns) * (job->grad ? 2.5 : 1);
  double each = TN_LANES > 4 ? 0.5 / TN_LANES : 0.7;
  return scores * (steps * each + (job->grad ? 2 : 1)) * (job->causal ? 0.6 : 1);
}

/* Which heads of a gradient are shared, and in what rounds. */
static void choose_shared(attention_job *job) {
  int64_t rest = job->count % job->threads, times = job->count / job->threads + 1;
  double idle = (double)(job->threads - rest) / (double)job->threads / (double)times;
  if (!job->grad || rest == 0 || job->bands < 2 || job->threads < 2 || idle < UNEVEN) return;
  int64_t keys = job->first[K].rows, width = job->first[Q].columns;
  size_t band_bytes = (size_t)(BAND_ROWS * (2 * job->step + width) * job->bytes);
  int64_t most = (int64_t)(SHARED_BYTES / band_bytes) / rest;
  job->shared = rest;
  int64_t rounds = most > 1 ? (job->bands + most - 1) / most : job->bands;
  job->round = (job->bands + rounds - 1) / rounds;
  while (job->slices == 0 || slice_start(job, job->slices) < keys) job->slices++;
  (void)piece(&job->round_room, job->round * BAND_ROWS, width, job->bytes);
  job->round_weights = piece(&job->round_room, job->round * BAND_ROWS, job->step, job->bytes);
  job->round_slope = piece(&job->round_room, job->round * BAND_ROWS, job->step, job->bytes);
}

static void measure(attention_job *job, int limit) {
  int64_t bytes = job->bytes, keys = job->first[K].rows;
  size_t products = 0;
  job->step = row_step(keys, bytes);
  job->bands = (job->first[Q].rows + BAND_ROWS - 1) / BAND_ROWS;
  int64_t most = job->count * (job->bands > 0 ? job->bands : 1);
  job->threads = tn_cpu_threads_for(cost_of(job, job->count), limit);
  if (job->threads > most) job->threads = most > 0 ? (int)most : 1;
  choose_shared(job);
  job->scaled = piece(&job->room, BAND_ROWS, job->first[Q].columns, bytes);
  job->weights = piece(&job->room, BAND_ROWS, job->step, bytes);
  job->slope = piece(&job->room, job->grad ? BAND_ROWS : 0, job->step, bytes);
  job->row = piece(&job->room, 1, job->step, bytes);
  int64_t width = job->first[Q].columns;
  job->turns = job->dtype == TN_F32 && job->bands > 1 && job->step * width * bytes <= FIRST_BYTES;
  job->keys_turned = piece(&job->room, job->turns ? width : 0, job->step, bytes);
  job->values_turned =
      piece(&job->room, job->turns && job->grad ? job->first[V].columns : 0, job->step, bytes);
  for (int64_t n = 0; n < job->bands; n++) products = larger(products, band_room(job, n));
  if (job->shared > 0) products = larger(products, slice_room(job));
  job->products = job->room;
  job->room = tn_cpu_round_up(job->room + products + 64, 64);
}

static void prepare(attention_job *job, const tn_kernel_call *call) {
  *job = (attention_job){ .call = call, .dtype = call->out->dtype, .grad = call->op == TN_OP_ATTENTION_GRAD,
                          .causal = call->attrs->causal };
  tn_view views[MATRICES];
  for (int i = 0; i < 3; i++) views[i] = call->in[i];
  views[OUT] = job->grad ? call->in[G] : *call->out;
  for (int i = 0; job->grad && i < 3; i++) views[DQ + i] = tn_attention_grad_of(call, i);
  job->bytes = (int64_t)tn_cpu_bytes(job->dtype);
  job->matrices = job->grad ? MATRICES : OUT + 1;
  for (int i = 0; i < job->matrices; i++) {
    views[i] = tn_attention_heads(&views[i], call->attrs);
    job->first[i] = matrix_of(&views[i]);
    views[i].rank -= 2;
  }
  job->factor = 1 / sqrt((double)job->first[Q].columns);
  job->count = tn_cpu_elements(&views[Q]);
  if (job->count > 0) {
    tn_cpu_iterator_init(&job->heads, &views[Q]);
    for (int i = 0; i < job->matrices; i++) tn_cpu_iterator_add(&job->heads, &views[i]);
    tn_cpu_iterator_merge(&job->heads);
  }
  measure(job, call->threads);
}

static void run_forward(attention_job *job) {
  int64_t bands = job->count * job->bands;
  tn_cpu_run_evenly(job->call, job->threads, bands, cost_of(job, job->count), forward_share, job);
}

static void run_backward(attention_job *job) {
  const tn_kernel_call *call = job->call;
  int64_t own = job->count - job->shared;
  double cost = cost_of(job, job->shared) * (double)job->round / (double)(job->bands > 0 ? job->bands : 1);
  if (own > 0)
    tn_cpu_run_evenly(call, (int)tn_cpu_min(job->threads, own), own, cost_of(job, own), backward_share, job);
  for (; job->shared > 0 && job->begin < job->bands; job->begin += job->round) {
    tn_cpu_run(call, job->threads, cost * 0.6, shared_bands_share, job);
    tn_cpu_run(call, job->threads, cost * 0.4, shared_slices_share, job);
  }
}

static bool run(const tn_kernel_call *call) {
  attention_job job;
  if (tn_cpu_elements(call->out) == 0) return true;
  prepare(&job, call);
  if (job.count == 0) return true;
  (job.grad ? run_backward : run_forward)(&job);
  return true;
}

bool TN_CPU_NAME(attention)(const tn_kernel_call *call) { return run(call); }
bool TN_CPU_NAME(attention_grad)(const tn_kernel_call *call) { return run(call); }

static size_t scratch_of(const tn_kernel_call *call) {
  attention_job job;
  if (tn_cpu_elements(call->out) == 0) return 0;
  prepare(&job, call);
  return job.room * (size_t)job.threads + job.round_room * (size_t)job.shared;
}

size_t TN_CPU_NAME(attention_scratch)(const tn_kernel_call *call) { return scratch_of(call); }
size_t TN_CPU_NAME(attention_grad_scratch)(const tn_kernel_call *call) { return scratch_of(call); }
