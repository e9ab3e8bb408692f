/* backend/cuda/kernels/straight.c: elementwise programs that are known when this is compiled: single
 * operations, and those of programs.def.
 *
 * Memory bounds them, and it is busiest when many threads wait for it: so a thread has four elements, which
 * are one load of each operand, few registers, and ends when they are written. A multiprocessor that begins
 * new blocks all the time is up to a tenth faster than one whose threads go round (bench/gpu_stream.cu).
 *
 * Operands are f32 or i32, contiguous in the last axis or constant along it. Where rows do not allow one load
 * of four (card_straight_arguments: runs), each element is found by itself, and some may be in the next row.
 * Operands of single operations that lie without gaps (flat) have kernels of their own, which find them with
 * fewer instructions. */
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_straight 128 10");
#endif

typedef struct {
  float of[4];
} four;

/* ---- places ---- */
typedef struct {
  int64_t row, column;
  int count;             /* of four elements: those that are there */
  bool run;              /* all, and side by side */
} place;

/* Of the four elements from number n on, at least one of which is there. */
CARD_INLINE place place_of(const card_straight_arguments *a, int64_t n) {
  place at = { .column = n };
  at.count = (int)card_least(a->shape.count - n, 4);
  at.run = at.count == 4 && a->runs;
  if (a->shape.rank == 2) {
    uint32_t row = card_divided(&a->shape, 1, (uint32_t)n);
    at.row = row, at.column = (uint32_t)n - row * (uint32_t)a->width;
  }
  return at;
}

CARD_INLINE void next_element(place *at, int64_t width) {
  if (++at->column == width) at->column = 0, at->row++;
}

CARD_INLINE char *at_place(const card_straight_operand *x, const place *at) {
  return x->data + at->row * x->row + at->column * x->column;
}

CARD_INLINE four read_run(const char *from) {
  card_run run = *(const card_run *)(const void *)from;
  return (four){ { run[0], run[1], run[2], run[3] } };
}

CARD_INLINE void give_run(char *to, four x) {
  *(card_run *)(void *)to = (card_run){ tn_canonical_f32(x.of[0]), tn_canonical_f32(x.of[1]),
                                        tn_canonical_f32(x.of[2]), tn_canonical_f32(x.of[3]) };
}

CARD_INLINE four load(const card_straight_operand *x, place at, int64_t width) {
  const char *from = at_place(x, &at);
  if (at.run && x->column != 0) return read_run(from);
  float same = at.run ? *(const float *)(const void *)from : 0;
  four to = { { same, same, same, same } };
  CARD_UNROLL
  for (int i = 0; i < 4 && !at.run; i++) {
    if (i < at.count) to.of[i] = *(const float *)(const void *)at_place(x, &at);
    next_element(&at, width);
  }
  return to;
}

CARD_INLINE void store(const card_straight_operand *out, place at, int64_t width, four from) {
  if (at.run) {
    give_run(at_place(out, &at), from);
    return;
  }
  CARD_UNROLL
  for (int i = 0; i < 4; i++) {
    if (i < at.count) *(float *)(void *)at_place(out, &at) = tn_canonical_f32(from.of[i]);
    next_element(&at, width);
  }
}

/* ---- programs ---- */
#define I(k) in[k].of[i]
#define W(k) ((int32_t)tn_bits_f32(in[k].of[i]))
#define S(k) scalar[k]
#define N(k) a->number[k]
#define V(s) v##s
#define ONE(s, ID, x)           const float v##s = tn_of_##ID##_f32(x);
#define TWO(s, ID, x, y)        const float v##s = tn_of_##ID##_f32(x, y);
#define TEST(s, ID, x, y)       const bool v##s = tn_of_##ID##_f32(x, y);
#define TEST_WHOLE(s, ID, x, y) const bool v##s = tn_of_##ID##_i32(x, y);
#define TO_NUMBER(s, c)         const float v##s = (c) ? 1 : 0;
#define CHOOSE(s, c, x, y)      const float v##s = (c) ? (x) : (y);
#define EACH(...) \
  CARD_UNROLL     \
  for (int i = 0; i < 4; i++) __VA_ARGS__
#define ONE_UNARY(ID) \
  case CARD_PROGRAMS + TN_OP_##ID: EACH({ out.of[i] = tn_of_##ID##_f32(I(0)); }) break;
#define ONE_BINARY(ID) \
  case CARD_PROGRAMS + TN_OP_##ID: EACH({ out.of[i] = tn_of_##ID##_f32(I(0), I(1)); }) break;

CARD_INLINE four compute(const card_straight_arguments *a, const four *in, const float *scalar) {
  four out = in[0];
  switch (a->program) {
#define TN_PROGRAM(NAME, LAST, STEPS) \
  case CARD_PROGRAM_##NAME: EACH({ STEPS out.of[i] = V(LAST); }) break;
#include "backend/cuda/kernels/programs.def"
    CARD_STRAIGHT_OPERATIONS(ONE_UNARY, ONE_BINARY, ONE_UNARY)
    default: break;
  }
  return out;
}

/* The fault is looked at while elements are on their way. */
CARD_KERNEL_LATE(straight, card_straight_arguments) {
  float scalar[CARD_STRAIGHT_SCALARS] = { 0 };
  CARD_UNROLL
  for (int k = 0; k < CARD_STRAIGHT_SCALARS; k++)
    if (a->scalar[k]) scalar[k] = *(const float *)(const void *)a->scalar[k];
  CARD_ROLLED
  for (int64_t n = card_number() * 4; n < a->shape.count; n += card_numbers() * 4) {
    place at = place_of(a, n);
    four in[CARD_STRAIGHT_OPERANDS] = { { { 0 } } };
    CARD_UNROLL
    for (int k = 0; k < CARD_STRAIGHT_OPERANDS; k++)
      if (k < a->operand_count) in[k] = load(&a->in[k], at, a->width);
    if (card_has_failed(a->start.fault)) return;
    store(&a->out, at, a->width, compute(a, in, scalar));
  }
}

/* ---- single operations on operands that lie flat ---- */
/* `whole`: four elements are there. */
CARD_INLINE four read_flat(const char *data, int64_t n, int64_t count, bool whole) {
  if (whole || n + 4 <= count) return read_run(data + 4 * n);
  four x = { { 0 } };
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (n + i < count) x.of[i] = *(const float *)(const void *)(data + 4 * (n + i));
  return x;
}

CARD_INLINE void give_flat(char *data, int64_t n, int64_t count, bool whole, four x) {
  if (whole || n + 4 <= count) {
    *(card_run *)(void *)(data + 4 * n) = (card_run){ x.of[0], x.of[1], x.of[2], x.of[3] };
    return;
  }
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (n + i < count) *(float *)(void *)(data + 4 * (n + i)) = x.of[i];
}

/* Whether an operation gives NaNs that are not canonical: a column of the table. */
#define IF_CANONICAL 0
#define IF_LOOSE 1
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SX, SY, HOW, NANS, ...) \
  ID##_IS_LOOSE = IF_##NANS,
enum {
#include "op/elementwise.def"
};

#if defined(__NVPTX__)
#define BOUNDS(ID) __asm__("// bounds card_kernel_flat_" #ID " 128 16");
CARD_STRAIGHT_OPERATIONS(BOUNDS, BOUNDS, BOUNDS)
#endif

/* Block b has the b-th CARD_STRAIGHT_THREADS * FOURS fours; a thread's own are as far apart as the block has
 * threads. There are blocks for all. */
#define FLAT(ID, OPERANDS, FOURS, RESULT)                                                              \
  CARD_INLINE void part_##ID(const card_straight_arguments *a, int64_t first, bool whole) {            \
    int64_t n = first + card_thread() * 4, count = a->shape.count;                                     \
    four x[FOURS][OPERANDS];                                                                           \
    CARD_UNROLL                                                                                        \
    for (int f = 0; f < FOURS; f++) {                                                                  \
      CARD_UNROLL                                                                                      \
      for (int k = 0; k < OPERANDS; k++)                                                               \
        x[f][k] = read_flat(a->in[k].data, n + f * 4 * CARD_STRAIGHT_THREADS, count, whole);           \
    }                                                                                                  \
    if (card_has_failed(a->start.fault)) return;                                                       \
    CARD_UNROLL                                                                                        \
    for (int f = 0; f < FOURS; f++) {                                                                  \
      CARD_UNROLL                                                                                      \
      for (int i = 0; i < 4; i++) {                                                                    \
        float result = RESULT;                                                                         \
        x[f][0].of[i] = ID##_IS_LOOSE ? tn_canonical_f32(result) : result;                             \
      }                                                                                                \
      give_flat(a->out.data, n + f * 4 * CARD_STRAIGHT_THREADS, count, whole, x[f][0]);                \
    }                                                                                                  \
  }                                                                                                    \
  CARD_KERNEL_LATE(flat_##ID, card_straight_arguments) {                                               \
    const int64_t part = 4 * CARD_STRAIGHT_THREADS * FOURS, first = card_block() * part;               \
    if (first + part <= a->shape.count) part_##ID(a, first, true);                                     \
    else part_##ID(a, first, false);                                                                   \
  }
#define UNARY(ID)  FLAT(ID, 1, 1, tn_of_##ID##_f32(x[f][0].of[i]))
#define BINARY(ID) FLAT(ID, 2, 1, tn_of_##ID##_f32(x[f][0].of[i], x[f][1].of[i]))
#define LONG(ID)   FLAT(ID, 1, CARD_LONG_FOURS, tn_of_##ID##_f32(x[f][0].of[i]))
CARD_STRAIGHT_OPERATIONS(UNARY, BINARY, LONG)
