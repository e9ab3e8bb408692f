/* backend/cuda/kernels/chain.c: elementwise programs of f32 and bool, eight elements at a time.
 *
 * A thread brings eight elements of every operand into slots of its own in shared memory, by copies that are
 * all under way at once, and goes through the steps. What a step works on comes from slots or from the step
 * before, and what a later step needs goes into a slot. So a step is chosen once for eight elements, and only
 * the result is written to memory. A NaN is made canonical there and nowhere before: nothing but a result
 * shows which NaN it is. */
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#define THREADS 128
#define FOURS 2         /* that a thread works on together */
#define WIDTH (4 * FOURS)

CARD_SHARED CARD_ALIGNED float slots[CARD_SLOTS][FOURS][THREADS][4];

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_chain 128 7");
#define ONCE static __attribute__((noinline))   /* long ones */
#else
#define ONCE static
#endif

typedef struct {
  float of[WIDTH];
} eight;

/* ---- truths are the words 0 and 1 ---- */
static inline float word_of(bool truth) { return tn_float_of_bits(truth); }
static inline uint8_t truth_of(float word) { return (uint8_t)tn_bits_f32(word); }

/* ---- slots ---- */
CARD_INLINE eight read_slot(int slot) {
  eight x;
  CARD_UNROLL
  for (int f = 0; f < FOURS; f++) {
    card_run run = *(CARD_NEAR card_run *)(CARD_NEAR void *)slots[slot][f][card_thread()];
    CARD_UNROLL
    for (int i = 0; i < 4; i++) x.of[4 * f + i] = run[i];
  }
  return x;
}

CARD_INLINE void write_four(int slot, int f, const float *x) {
  CARD_NEAR float *to = slots[slot][f][card_thread()];
  *(CARD_NEAR card_run *)(CARD_NEAR void *)to = (card_run){ x[0], x[1], x[2], x[3] };
}

CARD_INLINE void write_slot(int slot, const eight *x) {
  CARD_UNROLL
  for (int f = 0; f < FOURS; f++) write_four(slot, f, &x->of[4 * f]);
}

/* ---- places ---- */
/* Four elements, from number n on; `count` of them are there. */
typedef struct {
  int64_t n;
  int count;
  uint32_t row, column;   /* of a shape of two axes: found once for all operands */
} place;

CARD_INLINE bool has_rows(const card_shape *shape) { return shape->rank == 2 && shape->narrow; }

/* The f-th of the round that begins at four `first`. */
CARD_INLINE place place_of(const card_shape *shape, int64_t first, int f) {
  place at = { .n = (first + f * THREADS + card_thread()) * 4 };
  if (at.n >= shape->count) return at;
  at.count = (int)card_least(shape->count - at.n, 4);
  if (has_rows(shape)) {
    at.row = card_divided(shape, 1, (uint32_t)at.n);
    at.column = (uint32_t)at.n - at.row * (uint32_t)shape->dim[1];
  }
  return at;
}

CARD_INLINE char *address(const card_shape *shape, const card_operand *x, const place *at) {
  if (has_rows(shape)) return x->data + (int64_t)at->row * x->stride[0] + (int64_t)at->column * x->stride[1];
  return card_at(shape, x, at->n);
}

/* ---- operands ---- */
static inline float load_word(const card_operand *x, const char *at) {
  return x->bytes == 4 ? *(const float *)(const void *)at : word_of(*(const uint8_t *)at != 0);
}

/* Four elements of operand k into a slot. */
CARD_INLINE void bring_four(const card_chain_arguments *a, int k, int slot, int f, const place *of) {
  const card_operand *x = &a->in[k];
  const char *at = address(&a->shape, x, of);
  int kind = a->kind[k], count = of->count;
  if (kind == CARD_FOUR && count == 4 && x->bytes == 4) {
    card_copy_run(slots[slot][f][card_thread()], at);
    return;
  }
  float four[4] = { 0 };
  if (kind == CARD_SAME) {
    four[0] = four[1] = four[2] = four[3] = load_word(x, at);
  } else {
    int64_t step = a->shape.rank ? x->stride[a->shape.rank - 1] : 0;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) {
      if (i < count && i > 0) at = kind == CARD_APART ? card_at(&a->shape, x, of->n + i) : at + step;
      if (i < count) four[i] = load_word(x, at);
    }
  }
  write_four(slot, f, four);
}

CARD_INLINE void store_word(const card_operand *out, char *at, float x) {
  if (out->bytes == 4) *(float *)(void *)at = tn_canonical_f32(x);
  else *(uint8_t *)at = truth_of(x);
}

CARD_INLINE void give_four(const card_chain_arguments *a, const place *of, const float *x) {
  char *at = address(&a->shape, &a->out, of);
  int count = of->count;
  if (a->out_kind == CARD_FOUR && count == 4 && a->out.bytes == 4) {
    *(card_run *)(void *)at = (card_run){ tn_canonical_f32(x[0]), tn_canonical_f32(x[1]),
                                          tn_canonical_f32(x[2]), tn_canonical_f32(x[3]) };
    return;
  }
  int64_t step = a->shape.rank ? a->out.stride[a->shape.rank - 1] : 0;
  CARD_UNROLL
  for (int i = 0; i < 4; i++) {
    if (i < count && i > 0)
      at = a->out_kind == CARD_APART ? card_at(&a->shape, &a->out, of->n + i) : at + step;
    if (i < count) store_word(&a->out, at, x[i]);
  }
}

/* What a step works on. */
CARD_INLINE eight fetch(const card_chain_arguments *a, int from, int base, eight last) {
  if (from == CARD_LAST) return last;
  if (from < CARD_SCALAR) return read_slot(base + from);
  float same;
  if (from >= CARD_NUMBER) {
    same = a->number[from - CARD_NUMBER];
  } else {
    const char *at = a->scalar[from - CARD_SCALAR];
    same = a->scalar_bytes[from - CARD_SCALAR] == 4 ? *(const float *)(const void *)at
                                                    : word_of(*(const uint8_t *)at != 0);
  }
  eight x;
  CARD_UNROLL
  for (int i = 0; i < WIDTH; i++) x.of[i] = same;
  return x;
}

/* ---- steps ---- */
#define ROW_UNARY(ID)   tn_of_##ID##_f32(x)
#define ROW_BINARY(ID)  tn_of_##ID##_f32(x, y)
#define ROW_COMPARE(ID) word_of(tn_of_##ID##_f32(x, y))
#define TRUTH_UNARY(ID)   word_of(tn_of_##ID##_boolean(truth_of(x)))
#define TRUTH_BINARY(ID)  word_of(tn_of_##ID##_boolean(truth_of(x), truth_of(y)))
#define TRUTH_COMPARE(ID) TRUTH_BINARY(ID)

/* The rows of the table, as functions of one element and of four. */
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SX, SY, HOW, NANS, COST, ...) \
  TN_IF_REAL_##DTYPES(                                                                                     \
      CARD_INLINE float row_##ID(float x, float y) { return (void)y, ROW_##KIND(ID); }                     \
      ONCE card_run rows_##ID(card_run x, card_run y) {                                                    \
        return (card_run){ row_##ID(x[0], y[0]), row_##ID(x[1], y[1]), row_##ID(x[2], y[2]),               \
                           row_##ID(x[3], y[3]) };                                                         \
      })                                                                                                   \
  TN_IF_TRUTH_##DTYPES(CARD_INLINE float truth_##ID(float x, float y) { return (void)y, TRUTH_##KIND(ID); })
#include "op/elementwise.def"

#define CALLED(function)                                             \
  CARD_UNROLL                                                        \
  for (int i = 0; i < WIDTH; i += 4) {                               \
    card_run four = function((card_run){ x.of[i], x.of[i + 1], x.of[i + 2], x.of[i + 3] },   \
                             (card_run){ y.of[i], y.of[i + 1], y.of[i + 2], y.of[i + 3] });  \
    r.of[i] = four[0], r.of[i + 1] = four[1], r.of[i + 2] = four[2], r.of[i + 3] = four[3];  \
  }
#define IN_PLACE(value) \
  CARD_UNROLL           \
  for (int i = 0; i < WIDTH; i++) r.of[i] = value;

CARD_INLINE eight carry_out(const card_chain_arguments *a, const card_link *link, int base, eight x, eight y,
                            eight last) {
  eight r = x;
  switch (link->code) {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SX, SY, HOW, NANS, COST, ...) \
    TN_IF_REAL_##DTYPES(                                                                                   \
    case TN_OP_##ID:                                                                                       \
      if ((COST) > CARD_LONG) { CALLED(rows_##ID) } else { IN_PLACE(row_##ID(x.of[i], y.of[i])) }          \
      break;)                                                                                              \
    TN_IF_TRUTH_##DTYPES(                                                                                  \
    case CARD_OF_TRUTHS + TN_OP_##ID:                                                                      \
      IN_PLACE(truth_##ID(x.of[i], y.of[i]))                                                               \
      break;)
#include "op/elementwise.def"
    case CARD_TO_TRUTH: IN_PLACE(word_of(x.of[i] != 0)) break;
    case CARD_TO_NUMBER: IN_PLACE((float)truth_of(x.of[i])) break;
    case CARD_CHOOSE: {
      eight z = fetch(a, link->in[2], base, last);
      IN_PLACE(truth_of(x.of[i]) ? y.of[i] : z.of[i])
      break;
    }
    default: break;   /* CARD_KEEP */
  }
  return r;
}

/* ---- a thread's elements ---- */
CARD_INLINE void bring(const card_chain_arguments *a, int64_t first, int64_t end, int base) {
  CARD_UNROLL
  for (int f = 0; f < FOURS; f++) {
    place at = place_of(&a->shape, first, f);
    CARD_ROLLED
    for (int k = 0; k < a->operand_count && first < end && at.count; k++) bring_four(a, k, base + k, f, &at);
  }
  card_copies_end();
}

CARD_INLINE void give(const card_chain_arguments *a, int64_t first, const eight *x) {
  CARD_UNROLL
  for (int f = 0; f < FOURS; f++) {
    place at = place_of(&a->shape, first, f);
    if (at.count) give_four(a, &at, &x->of[4 * f]);
  }
}

/* Programs that need few slots use two sets: one round is computed while the next is loaded. */
CARD_KERNEL(chain, card_chain_arguments) {
  int64_t first = card_block() * a->rounds * FOURS * THREADS, fours = (a->shape.count + 3) / 4;
  int64_t end = card_least(fours, first + a->rounds * FOURS * THREADS);
  int base = 0, other = a->twice ? CARD_SLOTS / 2 : 0;
  if (a->twice) bring(a, first, end, 0);
  CARD_ROLLED
  for (; first < end; first += FOURS * THREADS) {
    if (a->twice) {
      bring(a, first + FOURS * THREADS, end, base ^ other);
      card_copies_wait(1);
    } else {
      bring(a, first, end, 0);
      card_copies_wait(0);
    }
    eight last = { { 0 } };
    CARD_ROLLED
    for (int s = 0; s < a->link_count; s++) {
      const card_link *link = &a->link[s];
      eight x = fetch(a, link->in[0], base, last), y = fetch(a, link->in[1], base, last);
      last = carry_out(a, link, base, x, y, last);
      if (link->to != CARD_LAST) write_slot(base + link->to, &last);
    }
    give(a, first, &last);
    base ^= other;
  }
}
