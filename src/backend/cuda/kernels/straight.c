/* backend/cuda/kernels/straight.c: elementwise programs that are known when this is compiled: single
 * operations, and those of programs.def.
 *
 * A thread loads eight elements of every operand before it computes, or sixteen if there is only one,
 * and all steps are in registers: so they are bound by memory. Operands are f32 or i32, contiguous in the
 * last axis or constant along it. Four elements are one load where rows allow it (card_straight_arguments:
 * runs); else each is found by itself, and some may be in the next row. */
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#define FOURS 2         /* of a thread */
#define UNARY_FOURS 4   /* the same with one operand: as many bytes are on their way */

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_straight 256 3");
__asm__("// bounds card_kernel_straight_unary 256 4");
#endif

typedef struct {
  float of[FOURS][4];
} eight;

/* ---- places ---- */
typedef struct {
  int64_t row, column;
  int count;             /* of four elements: those that are there */
  bool run;              /* all, and side by side */
} place;

/* This thread's four of the round that is `number` in the order of elements. */
CARD_INLINE place place_of(const card_straight_arguments *a, int64_t number) {
  int64_t n = (number * card_threads() + card_thread()) * 4;
  place at = { .column = n };
  if (n >= a->shape.count) return at;
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

CARD_INLINE void load(const card_straight_operand *x, place at, int64_t width, float *to) {
  const char *from = at_place(x, &at);
  if (at.run && x->column == 0) {
    float same = *(const float *)(const void *)from;
    to[0] = to[1] = to[2] = to[3] = same;
  } else if (at.run) {
    card_run run = *(const card_run *)(const void *)from;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) to[i] = run[i];
  } else {
    CARD_UNROLL
    for (int i = 0; i < 4; i++) {
      if (i < at.count) to[i] = *(const float *)(const void *)at_place(x, &at);
      next_element(&at, width);
    }
  }
}

CARD_INLINE void store(const card_straight_operand *out, place at, int64_t width, const float *from) {
  float x[4];
  CARD_UNROLL
  for (int i = 0; i < 4; i++) x[i] = tn_canonical_f32(from[i]);
  if (at.run) {
    *(card_run *)(void *)at_place(out, &at) = (card_run){ x[0], x[1], x[2], x[3] };
  } else {
    CARD_UNROLL
    for (int i = 0; i < 4; i++) {
      if (i < at.count) *(float *)(void *)at_place(out, &at) = x[i];
      next_element(&at, width);
    }
  }
}

/* ---- programs ---- */
#define I(k) in[k].of[f][i]
#define W(k) ((int32_t)tn_bits_f32(in[k].of[f][i]))
#define S(k) scalar[k]
#define N(k) a->number[k]
#define V(s) v##s
#define ONE(s, ID, x)           const float v##s = tn_of_##ID##_f32(x);
#define TWO(s, ID, x, y)        const float v##s = tn_of_##ID##_f32(x, y);
#define TEST(s, ID, x, y)       const bool v##s = tn_of_##ID##_f32(x, y);
#define TEST_WHOLE(s, ID, x, y) const bool v##s = tn_of_##ID##_i32(x, y);
#define TO_NUMBER(s, c)         const float v##s = (c) ? 1 : 0;
#define CHOOSE(s, c, x, y)      const float v##s = (c) ? (x) : (y);
#define EACH(...)                             \
  CARD_UNROLL                                 \
  for (int f = 0; f < FOURS; f++) {           \
    CARD_UNROLL                               \
    for (int i = 0; i < 4; i++) __VA_ARGS__   \
  }

CARD_INLINE void compute(const card_straight_arguments *a, const eight *in, const float *scalar, eight *out) {
  switch (a->program) {
#define TN_PROGRAM(NAME, LAST, STEPS) \
  case CARD_PROGRAM_##NAME: EACH({ STEPS out->of[f][i] = V(LAST); }) break;
#include "backend/cuda/kernels/programs.def"
#define ONE_UNARY(ID) \
  case CARD_PROGRAMS + TN_OP_##ID: EACH({ out->of[f][i] = tn_of_##ID##_f32(I(0)); }) break;
#define ONE_BINARY(ID) \
  case CARD_PROGRAMS + TN_OP_##ID: EACH({ out->of[f][i] = tn_of_##ID##_f32(I(0), I(1)); }) break;
    CARD_STRAIGHT_OPERATIONS(ONE_UNARY, ONE_BINARY)
    default: break;
  }
}

CARD_KERNEL(straight, card_straight_arguments) {
  float scalar[CARD_STRAIGHT_SCALARS] = { 0 };
  CARD_UNROLL
  for (int k = 0; k < CARD_STRAIGHT_SCALARS; k++)
    if (a->scalar[k]) scalar[k] = *(const float *)(const void *)a->scalar[k];
  CARD_ROLLED
  for (int64_t number = card_block(); number < a->parts; number += card_blocks()) {
    eight in[CARD_STRAIGHT_OPERANDS] = { { { { 0 } } } }, out = { { { 0 } } };
    place at[FOURS];
    CARD_UNROLL
    for (int f = 0; f < FOURS; f++) at[f] = place_of(a, number * FOURS + f);
    CARD_UNROLL
    for (int k = 0; k < CARD_STRAIGHT_OPERANDS; k++) {
      CARD_UNROLL
      for (int f = 0; f < FOURS; f++)
        if (k < a->operand_count) load(&a->in[k], at[f], a->width, in[k].of[f]);
    }
    compute(a, in, scalar, &out);
    CARD_UNROLL
    for (int f = 0; f < FOURS; f++) store(&a->out, at[f], a->width, out.of[f]);
  }
}

/* ---- one operand, one operation ---- */
CARD_INLINE void compute_unary(int program, float x[UNARY_FOURS][4]) {
  switch (program) {
#define IN_PLACE(ID)                                                                \
  case CARD_PROGRAMS + TN_OP_##ID:                                                  \
    CARD_UNROLL                                                                     \
    for (int f = 0; f < UNARY_FOURS; f++) {                                         \
      CARD_UNROLL                                                                   \
      for (int i = 0; i < 4; i++) x[f][i] = tn_of_##ID##_f32(x[f][i]);              \
    }                                                                               \
    break;
#define NOT_UNARY(ID)
    CARD_STRAIGHT_OPERATIONS(IN_PLACE, NOT_UNARY)
    default: break;
  }
}

CARD_KERNEL(straight_unary, card_straight_arguments) {
  CARD_ROLLED
  for (int64_t number = card_block(); number < a->parts; number += card_blocks()) {
    float x[UNARY_FOURS][4] = { { 0 } };
    place at[UNARY_FOURS];
    CARD_UNROLL
    for (int f = 0; f < UNARY_FOURS; f++) at[f] = place_of(a, number * UNARY_FOURS + f);
    CARD_UNROLL
    for (int f = 0; f < UNARY_FOURS; f++) load(&a->in[0], at[f], a->width, x[f]);
    compute_unary(a->program, x);
    CARD_UNROLL
    for (int f = 0; f < UNARY_FOURS; f++) store(&a->out, at[f], a->width, x[f]);
  }
}
