/* backend/cuda/kernels/lines.c: softmax, log_softmax, layer_norm and cross entropy with their gradients, of
 * rows that lie side by side: a row is read once, and stays in registers until its result is written. */
#include "backend/cuda/kernels/lines.h"
#include "backend/cuda/kernels/quotient.h"

CARD_SHARED float best[HALVES], sums[HALVES], squares[HALVES], slopes[HALVES];

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_softmax_lines 256 3");
__asm__("// bounds card_kernel_norm_lines 256 3");
__asm__("// bounds card_kernel_norm_grad_lines 256 2");
#endif

/* A thread's first element. A row that is not there has none. */
CARD_INLINE float *line_of(const card_rows_arguments *a, const card_operand *x, const card_line *line) {
  int64_t row = line->there ? line->row : 0;
  char *at = a->rows.rank == 1 ? x->data + row * x->stride[0] : card_at(&a->rows, x, row);
  return (float *)(void *)at + line->first;
}
CARD_INLINE const float *line_in(const card_rows_arguments *a, const card_operand *x, const card_line *line) {
  return line_of(a, x, line);
}

/* What the row no longer has becomes `nothing`. `whole`, a constant here and below: a row has all of every
 * group of eight, so that no element must be asked for. */
CARD_INLINE void load_line(const card_rows_arguments *a, const card_operand *operand, const card_line *line,
                           bool whole, float nothing, float *x) {
  const float *from = line_in(a, operand, line);
  CARD_EACH(*line, e) x[e] = whole || e < line->count ? from[e * CARD_LANES] : nothing;
}

static inline bool is_whole(const card_rows_arguments *a) { return a->length % (GROUP * CARD_LANES) == 0; }

CARD_INLINE float *line_out(const card_rows_arguments *a, const card_line *line) {
  return line_of(a, &a->out, line);
}

/* A float as an integer that is larger where the float is: -0 is below +0, and a NaN above all. */
static inline int32_t key_of(float x) {
  int32_t bits = (int32_t)tn_bits_f32(x);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
static inline float of_key(int32_t key) {
  return tn_float_of_bits((uint32_t)(key ^ (key >> 31 & 0x7fffffff)));
}

CARD_INLINE float largest(const float *x, const card_line *line, int chunks, int halves) {
  int32_t most = key_of(-tn_infinity_f32());
  CARD_EACH(*line, e) most = key_of(x[e]) > most ? key_of(x[e]) : most;
  return card_join_halves(CARD_MAX, of_key(most), line, chunks, halves, best);
}

CARD_INLINE void give_loss(const card_rows_arguments *a, const card_line *line, float most, float sum) {
  if (!line->there || line->chunk > 0 || card_thread() % CARD_LANES > 0) return;
  const void *at = card_at(&a->rows, &a->label, line->row);
  int64_t label = a->label.bytes == 4 ? *(const int32_t *)at : *(const int64_t *)at;
  float log_probability = (line_in(a, &a->x, line)[label] - most) - tn_log_f32(sum);
  ((float *)(void *)a->losses)[line->row] = tn_canonical_f32(-log_probability);
}

CARD_INLINE const char *whole_in(const card_rows_arguments *a, const card_operand *x, int64_t along,
                                 const card_line *line) {
  return card_at(&a->rows, x, line->there ? line->row : 0) + line->first * along;
}

_Static_assert(EACH <= 32, "a word has a bit for each element of a thread");

/* Bit e: element e is that of the label. Read before anything is written, so that nothing waits in turn. */
CARD_INLINE uint32_t hits_of(const card_rows_arguments *a, const card_line *line) {
  const char *label = whole_in(a, &a->label, a->label_along, line);
  const char *class = whole_in(a, &a->class, a->class_along, line);
  uint32_t hits = 0;
  CARD_EACH_THERE(*line, e) {
    int32_t wanted = *(const int32_t *)(const void *)(label + e * CARD_LANES * a->label_along);
    int32_t here = *(const int32_t *)(const void *)(class + e * CARD_LANES * a->class_along);
    hits |= (uint32_t)(wanted == here) << e;
  }
  return hits;
}

/* x: exponentials, whose sum is known. */
CARD_INLINE void give_slopes(const card_rows_arguments *a, const card_line *line, uint32_t hits,
                             const float *x, float sum) {
  float factor = a->factor ? *a->factor : (float)a->number, *out = line_out(a, line);
  CARD_EACH_THERE(*line, e)
    out[e * CARD_LANES] = tn_canonical_f32((x[e] / sum - (hits >> e & 1 ? 1.0f : 0.0f)) * factor);
}

/* Minus infinity changes neither the largest nor the sum of exponentials, which is never -0. */
CARD_KERNEL(softmax_lines, card_rows_arguments) {
  int chunks = (int)a->chunks, halves = card_halves_of(chunks), together = HALVES / halves;
  bool exponents = a->kind == CARD_LOG_SOFTMAX;
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->length, halves);
    float x[EACH] = { 0 }, sum = identity_f32(CARD_ADD);
    load_line(a, &a->x, &line, false, -tn_infinity_f32(), x);
    uint32_t hits = a->kind == CARD_XENT_SLOPE ? hits_of(a, &line) : 0;
    float most = largest(x, &line, chunks, halves);
    CARD_EACH(line, e) {
      float c = x[e] - most, exponential = tn_exp_f32(c);
      sum += exponential;
      x[e] = exponents ? c : exponential;
    }
    sum = card_join_halves(CARD_ADD, sum, &line, chunks, halves, sums);
    if (a->kind == CARD_CROSS_ENTROPY) {
      give_loss(a, &line, most, sum);
    } else if (a->kind == CARD_XENT_SLOPE) {
      give_slopes(a, &line, hits, x, sum);
    } else {
      float logarithm = exponents ? tn_log_f32(sum) : 0, *out = line_out(a, &line);
      CARD_EACH_THERE(line, e)
        out[e * CARD_LANES] = tn_canonical_f32(exponents ? x[e] - logarithm : x[e] / sum);
    }
    card_barrier();
  }
}

/* ---- layer_norm ---- */
/* A row's. The inverse is 0 where its differences from the mean must not be divided the short way. */
typedef struct {
  float mean, spread, inverse;
} measures;

/* x, which has been loaded, becomes its differences from the mean. -0 changes no sum. */
CARD_INLINE measures measure(const card_rows_arguments *a, const card_line *line, int halves, bool whole,
                             float *x) {
  const float nothing = identity_f32(CARD_ADD);
  float sum = nothing, square = nothing;
  int chunks = (int)a->chunks;
  measures of;
  CARD_EACH(*line, e) sum += x[e];
  of.mean = card_join_halves(CARD_ADD, sum, line, chunks, halves, sums) / (float)a->length;
  int count = card_anew(line->count);
  CARD_EACH(*line, e) {
    x[e] -= of.mean;
    square += whole || e < count ? x[e] * x[e] : nothing;
  }
  float variance = card_join_halves(CARD_ADD, square, line, chunks, halves, squares) / (float)a->length;
  of.spread = tn_sqrt_f32(variance + (float)a->number);
  of.inverse = card_inverse_f32(of.mean, of.spread);
  return of;
}

/* What is left to do for an element is little code for registers, or a loop over memory with divisions: code
 * for both in registers would not fit the cache of instructions. */
CARD_INLINE void norm_quick(const card_rows_arguments *a, const card_line *line, bool whole,
                            const measures *of, const float *c) {
  const float *gamma = line_in(a, &a->gamma, line), *beta = line_in(a, &a->beta, line);
  float *out = line_out(a, line);
  int count = card_anew(line->count);
  CARD_EACH(*line, e) {
    if (!whole && e >= count) continue;
    float scaled = card_quotient(c[e], of->spread, of->inverse) * gamma[e * CARD_LANES];
    out[e * CARD_LANES] = tn_canonical_f32(scaled + beta[e * CARD_LANES]);
  }
}

CARD_INLINE void norm_any(const card_rows_arguments *a, const card_line *line, const measures *of) {
  const float *x = line_in(a, &a->x, line), *gamma = line_in(a, &a->gamma, line);
  const float *beta = line_in(a, &a->beta, line);
  float *out = line_out(a, line);
  CARD_ROLLED
  for (int i = 0; i < line->count * CARD_LANES; i += CARD_LANES)
    out[i] = tn_canonical_f32((x[i] - of->mean) / of->spread * gamma[i] + beta[i]);
}

CARD_INLINE void norm_rows(const card_rows_arguments *a, bool whole) {
  int halves = card_halves_of((int)a->chunks), together = HALVES / halves;
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->length, halves);
    float x[EACH] = { 0 };
    load_line(a, &a->x, &line, whole, identity_f32(CARD_ADD), x);
    measures of = measure(a, &line, halves, whole, x);
    if (of.inverse > 0) norm_quick(a, &line, whole, &of, x);
    else norm_any(a, &line, &of);
    card_barrier();
  }
}

CARD_KERNEL(norm_lines, card_rows_arguments) {
  if (is_whole(a)) norm_rows(a, true);
  else norm_rows(a, false);
}

/* ---- layer_norm_grad ---- */
/* The sum of h (y / spread) with h = g gamma and y = c / spread. g becomes h; what the row no longer has
 * stays -0. */
CARD_INLINE float slopes_quick(const card_rows_arguments *a, const card_line *line, bool whole,
                               const measures *of, const float *c, float *g, card_sizes *sizes) {
  const float nothing = identity_f32(CARD_ADD), *gamma = line_in(a, &a->gamma, line);
  float slope = nothing;
  int count = card_anew(line->count);
  CARD_EACH(*line, e) {
    bool there = whole || e < count;
    float y = card_quotient(c[e], of->spread, of->inverse);
    g[e] = there ? g[e] * gamma[e * CARD_LANES] : nothing;
    card_meet(sizes, g[e]);
    slope += there ? g[e] * card_quotient(y, of->spread, of->inverse) : nothing;
  }
  return slope;
}

CARD_INLINE float slopes_any(const card_rows_arguments *a, const card_line *line, const measures *of) {
  const float *x = line_in(a, &a->x, line), *g = line_in(a, &a->g, line);
  const float *gamma = line_in(a, &a->gamma, line);
  float slope = identity_f32(CARD_ADD);
  CARD_ROLLED
  for (int i = 0; i < line->count * CARD_LANES; i += CARD_LANES)
    slope += g[i] * gamma[i] * ((x[i] - of->mean) / of->spread / of->spread);
  return slope;
}

/* The gradient through c: (h / spread + slope c) + slope c. Their sum is that of the mean. */
CARD_INLINE float results_quick(const card_rows_arguments *a, const card_line *line, bool whole,
                                const measures *of, const float *c, const float *h, float slope) {
  float *out = line_out(a, line), sum = identity_f32(CARD_ADD);
  int count = card_anew(line->count);
  CARD_EACH(*line, e) {
    if (!whole && e >= count) continue;
    float from_square = slope * c[e];
    float gradient = card_signed_quotient(h[e], of->spread, of->inverse) + from_square + from_square;
    out[e * CARD_LANES] = tn_canonical_f32(gradient);
    sum += gradient;
  }
  return sum;
}

CARD_INLINE float results_any(const card_rows_arguments *a, const card_line *line, const measures *of,
                              float slope) {
  const float *x = line_in(a, &a->x, line), *g = line_in(a, &a->g, line);
  const float *gamma = line_in(a, &a->gamma, line);
  float *out = line_out(a, line), sum = identity_f32(CARD_ADD);
  CARD_ROLLED
  for (int i = 0; i < line->count * CARD_LANES; i += CARD_LANES) {
    float from_square = slope * (x[i] - of->mean);
    float gradient = g[i] * gamma[i] / of->spread + from_square + from_square;
    out[i] = tn_canonical_f32(gradient);
    sum += gradient;
  }
  return sum;
}

/* The first thread of a row writes what there is one of. */
CARD_INLINE void give_measures(const card_rows_arguments *a, const card_line *line, const measures *of,
                               float sum) {
  if (!line->there || line->chunk > 0 || card_thread() % CARD_LANES > 0) return;
  card_run *measured = (card_run *)(void *)a->measured + line->row;
  *measured = (card_run){ of->mean, of->spread, of->inverse, 0 };
  *(float *)(void *)card_at(&a->rows, &a->mean, line->row) = tn_canonical_f32(-sum / (float)a->length);
}

/* x and g are read at once, before the first sum waits for x. */
CARD_INLINE void norm_grad_rows(const card_rows_arguments *a, bool whole) {
  int chunks = (int)a->chunks, halves = card_halves_of(chunks), together = HALVES / halves;
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->length, halves);
    card_sizes sizes = card_no_sizes();
    float x[EACH] = { 0 }, h[EACH] = { 0 };
    load_line(a, &a->x, &line, whole, identity_f32(CARD_ADD), x);
    load_line(a, &a->g, &line, whole, identity_f32(CARD_ADD), h);
    measures of = measure(a, &line, halves, whole, x);
    bool quick = of.inverse > 0;
    float slope = quick ? slopes_quick(a, &line, whole, &of, x, h, &sizes) : slopes_any(a, &line, &of);
    slope = card_join_halves(CARD_ADD, slope, &line, chunks, halves, slopes);
    slope = -slope * 0.5f / of.spread / (float)a->length;
    quick = quick && card_are_usual(&sizes);
    float sum = quick ? results_quick(a, &line, whole, &of, x, h, slope) : results_any(a, &line, &of, slope);
    give_measures(a, &line, &of, card_join_halves(CARD_ADD, sum, &line, chunks, halves, best));
    card_barrier();
  }
}

CARD_KERNEL(norm_grad_lines, card_rows_arguments) {
  if (is_whole(a)) norm_grad_rows(a, true);
  else norm_grad_rows(a, false);
}
