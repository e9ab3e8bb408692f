/* backend/cuda/kernels/straight.c: elementwise programs that are known when this is compiled: those of
 * programs.def, and single operations whose operands do not lie without gaps (those that do: flat.c).
 *
 * Operands are f32 or i32, contiguous in the last axis or constant along it. A thread has four elements,
 * which are one load of each operand where rows allow it (card_straight_arguments: runs); else each is found
 * by itself, and some may be in the next row. All steps are in registers. */
#include "backend/cuda/kernels/four.h"
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_straight 128 10");
#endif

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

CARD_INLINE void give_run(char *to, card_four x) {
  CARD_UNROLL
  for (int i = 0; i < 4; i++) x.of[i] = tn_canonical_f32(x.of[i]);
  card_give_four(to, 4, x);
}

CARD_INLINE card_four load(const card_straight_operand *x, place at, int64_t width) {
  const char *from = at_place(x, &at);
  if (at.run && x->column != 0) return card_read_four(from, 4);
  float same = at.run ? *(const float *)(const void *)from : 0;
  card_four to = { { same, same, same, same } };
  CARD_UNROLL
  for (int i = 0; i < 4 && !at.run; i++) {
    if (i < at.count) to.of[i] = *(const float *)(const void *)at_place(x, &at);
    next_element(&at, width);
  }
  return to;
}

CARD_INLINE void store(const card_straight_operand *out, place at, int64_t width, card_four from) {
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

CARD_INLINE card_four compute(const card_straight_arguments *a, const card_four *in, const float *scalar) {
  card_four out = in[0];
  switch (a->program) {
#define TN_PROGRAM(NAME, LAST, STEPS) \
  case CARD_PROGRAM_##NAME: EACH({ STEPS out.of[i] = V(LAST); }) break;
#include "backend/cuda/kernels/programs.def"
    CARD_STRAIGHT_OPERATIONS(ONE_UNARY, ONE_BINARY)
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
    bool plain = at.run && !a->some_same;
    card_four in[CARD_STRAIGHT_OPERANDS] = { { { 0 } } };
    CARD_UNROLL
    for (int k = 0; k < CARD_STRAIGHT_OPERANDS && plain; k++)   /* no question between the loads but one */
      if (k < a->operand_count) in[k] = card_read_four(at_place(&a->in[k], &at), 4);
    CARD_UNROLL
    for (int k = 0; k < CARD_STRAIGHT_OPERANDS && !plain; k++)
      if (k < a->operand_count) in[k] = load(&a->in[k], at, a->width);
    if (card_has_failed(a->start.fault)) return;
    store(&a->out, at, a->width, compute(a, in, scalar));
  }
}
