/* backend/cuda/kernels/lines.c: softmax, log_softmax, layer_norm with its gradient, and cross entropy of rows
 * that lie side by side: a row is read once, and stays in registers until its result is written. */
#include "backend/cuda/kernels/lines.h"

CARD_SHARED float best[HALVES], sums[HALVES], squares[HALVES], slopes[HALVES];

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_softmax_lines 256 3");
__asm__("// bounds card_kernel_norm_lines 256 3");
__asm__("// bounds card_kernel_norm_grad_lines 256 2");
#endif

/* A thread's first element. A row that is not there has none. */
CARD_INLINE const float *line_in(const card_rows_arguments *a, const card_operand *x, const card_line *line) {
  return (const float *)(const void *)card_at(&a->rows, x, line->there ? line->row : 0) + line->first;
}

/* What the row no longer has becomes `nothing`. */
CARD_INLINE void load_line(const card_rows_arguments *a, const card_line *line, float nothing, float *x) {
  const float *from = line_in(a, &a->x, line);
  CARD_EACH(*line, e) x[e] = e < line->count ? from[e * CARD_LANES] : nothing;
}

CARD_INLINE float *line_out(const card_rows_arguments *a, const card_line *line) {
  return (float *)(void *)card_at(&a->rows, &a->out, line->there ? line->row : 0) + line->first;
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

/* Minus infinity changes neither the largest nor the sum of exponentials, which is never -0. */
CARD_KERNEL(softmax_lines, card_rows_arguments) {
  int chunks = (int)a->chunks, halves = card_halves_of(chunks), together = HALVES / halves;
  bool exponents = a->kind == CARD_LOG_SOFTMAX;
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->length, halves);
    float x[EACH] = { 0 }, sum = identity_f32(CARD_ADD);
    load_line(a, &line, -tn_infinity_f32(), x);
    float most = largest(x, &line, chunks, halves);
    CARD_EACH(line, e) {
      float c = x[e] - most, exponential = tn_exp_f32(c);
      sum += exponential;
      x[e] = exponents ? c : exponential;
    }
    sum = card_join_halves(CARD_ADD, sum, &line, chunks, halves, sums);
    if (a->kind == CARD_CROSS_ENTROPY) {
      give_loss(a, &line, most, sum);
    } else {
      float logarithm = exponents ? tn_log_f32(sum) : 0, *out = line_out(a, &line);
      CARD_EACH_THERE(line, e)
        out[e * CARD_LANES] = tn_canonical_f32(exponents ? x[e] - logarithm : x[e] / sum);
    }
    card_barrier();
  }
}

/* The mean and the spread of a row of layer_norm; x becomes its differences from the mean. -0 changes no
 * sum. */
typedef struct {
  float mean, spread;
} measures;

CARD_INLINE measures measure(const card_rows_arguments *a, const card_line *line, int halves, float *x) {
  const float nothing = identity_f32(CARD_ADD);
  float sum = nothing, square = nothing;
  int chunks = (int)a->chunks;
  measures of;
  load_line(a, line, nothing, x);
  CARD_EACH(*line, e) sum += x[e];
  of.mean = card_join_halves(CARD_ADD, sum, line, chunks, halves, sums) / (float)a->length;
  int count = card_anew(line->count);
  CARD_EACH(*line, e) {
    x[e] -= of.mean;
    square += e < count ? x[e] * x[e] : nothing;
  }
  float variance = card_join_halves(CARD_ADD, square, line, chunks, halves, squares) / (float)a->length;
  of.spread = tn_sqrt_f32(variance + (float)a->number);
  return of;
}

CARD_KERNEL(norm_lines, card_rows_arguments) {
  int chunks = (int)a->chunks, halves = card_halves_of(chunks), together = HALVES / halves;
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->length, halves);
    float x[EACH] = { 0 };
    float spread = measure(a, &line, halves, x).spread;
    const float *gamma = line_in(a, &a->gamma, &line), *beta = line_in(a, &a->beta, &line);
    float *out = line_out(a, &line);
    CARD_EACH_THERE(line, e) {
      float scaled = x[e] / spread * gamma[e * CARD_LANES];
      out[e * CARD_LANES] = tn_canonical_f32(scaled + beta[e * CARD_LANES]);
    }
    card_barrier();
  }
}

/* h = g gamma; what the row no longer has is -0. */
CARD_INLINE void load_slopes(const card_rows_arguments *a, const card_line *line, float *h) {
  const float *from = line_in(a, &a->g, line), *gamma = line_in(a, &a->gamma, line);
  const float nothing = identity_f32(CARD_ADD);
  CARD_EACH(*line, e) h[e] = e < line->count ? from[e * CARD_LANES] * gamma[e * CARD_LANES] : nothing;
}

/* The first thread of a row writes what there is one of. */
CARD_INLINE void give_measures(const card_rows_arguments *a, const card_line *line, measures of, float sum) {
  if (!line->there || line->chunk > 0 || card_thread() % CARD_LANES > 0) return;
  float *measured = (float *)(void *)a->measured + 2 * line->row;
  measured[0] = of.mean, measured[1] = of.spread;
  *(float *)(void *)card_at(&a->rows, &a->mean, line->row) = tn_canonical_f32(-sum / (float)a->length);
}

CARD_KERNEL(norm_grad_lines, card_rows_arguments) {
  int chunks = (int)a->chunks, halves = card_halves_of(chunks), together = HALVES / halves;
  const float nothing = identity_f32(CARD_ADD);
  CARD_ROLLED
  for (int64_t first = card_block() * together; first < a->rows.count; first += card_blocks() * together) {
    card_line line = card_line_of(first, a->rows.count, (int)a->length, halves);
    float x[EACH] = { 0 }, h[EACH] = { 0 }, slope = nothing, sum = nothing;
    measures of = measure(a, &line, halves, x);
    load_slopes(a, &line, h);
    int count = card_anew(line.count);
    CARD_EACH(line, e) slope += e < count ? h[e] * (x[e] / of.spread / of.spread) : nothing;
    slope = card_join_halves(CARD_ADD, slope, &line, chunks, halves, slopes);
    slope = -slope * 0.5f / of.spread / (float)a->length;
    float *out = line_out(a, &line);
    CARD_EACH_THERE(line, e) {
      float from_square = slope * x[e], gradient = h[e] / of.spread + from_square + from_square;
      out[e * CARD_LANES] = tn_canonical_f32(gradient);
      sum += gradient;
    }
    give_measures(a, &line, of, card_join_halves(CARD_ADD, sum, &line, chunks, halves, best));
    card_barrier();
  }
}
