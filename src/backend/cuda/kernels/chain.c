/* backend/cuda/kernels/chain.c: elementwise programs of f32 and bool, step by step.
 *
 * A thread brings four elements of every operand into slots of its own in shared memory, by copies all under
 * way at once, goes through the steps, and ends (flat.c says why). What a step works on comes from slots or
 * from the step before, and what a later step needs goes into a slot. So a step is chosen once for four
 * elements, and only the result is written to memory. A NaN is made canonical there and nowhere before:
 * nothing but a result shows which NaN it is.
 *
 * There are two kernels: `chain_runs` for at most two axes, along the last of which elements are side by
 * side, or one is for all; and `chain` for the others, which finds every place by itself. */
#include "backend/cuda/kernels/quick.h"
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

#if defined(__NVPTX__)
__asm__("// bounds card_kernel_chain 128 10");
__asm__("// bounds card_kernel_chain_runs 128 10");
#endif

/* ---- truths are the words 0 and 1 ---- */
static inline float word_of(bool truth) { return tn_float_of_bits(truth); }
static inline uint8_t truth_of(float word) { return (uint8_t)tn_bits_f32(word); }

/* ---- slots ---- */
CARD_INLINE CARD_NEAR float *slot_at(int slot) {
  return card_room + (slot * CARD_CHAIN_THREADS + card_thread()) * 4;
}

CARD_INLINE card_four read_slot(int slot) {
  return card_four_of(*(CARD_NEAR card_run *)(CARD_NEAR void *)slot_at(slot));
}

CARD_INLINE void write_slot(int slot, card_four x) {
  *(CARD_NEAR card_run *)(CARD_NEAR void *)slot_at(slot) = card_run_of(x);
}

/* ---- places ---- */
/* Four elements, from number n on; `count` of them are there. */
typedef struct {
  int64_t n;
  int count;
  uint32_t row, column;   /* of a shape of two axes: found once for all operands */
} place;

CARD_INLINE bool has_rows(const card_shape *shape) { return shape->rank == 2 && shape->narrow; }

CARD_INLINE place place_of(const card_shape *shape, int64_t n) {
  place at = { .n = n, .count = (int)card_least(shape->count - n, 4) };
  if (has_rows(shape)) {
    at.row = card_divided(shape, 1, (uint32_t)n);
    at.column = (uint32_t)n - at.row * (uint32_t)shape->dim[1];
  }
  return at;
}

CARD_INLINE char *address(const card_shape *shape, const card_operand *x, const place *at) {
  if (has_rows(shape)) return x->data + (int64_t)at->row * x->stride[0] + (int64_t)at->column * x->stride[1];
  return card_at(shape, x, at->n);
}

/* ---- operands ---- */
static inline float load_word(int bytes, const char *at) {
  return bytes == 4 ? *(const float *)(const void *)at : word_of(*(const uint8_t *)at != 0);
}

/* Four elements of operand k into its slot. */
CARD_INLINE void bring_four(const card_chain_arguments *a, int k, const place *of) {
  const card_operand *x = &a->in[k];
  const char *at = address(&a->shape, x, of);
  int kind = a->kind[k], count = of->count;
  if (kind == CARD_FOUR) {
    card_copy_some(slot_at(k), at, 4 * count);
    return;
  }
  card_four four = { { 0 } };
  if (kind == CARD_ALIKE) {
    four.of[0] = four.of[1] = four.of[2] = four.of[3] = load_word(x->bytes, at);
  } else {
    int64_t step = a->shape.rank ? x->stride[a->shape.rank - 1] : 0;
    CARD_UNROLL
    for (int i = 0; i < 4; i++) {
      if (i < count && i > 0) at = kind == CARD_APART ? card_at(&a->shape, x, of->n + i) : at + step;
      if (i < count) four.of[i] = load_word(x->bytes, at);
    }
  }
  write_slot(k, four);
}

CARD_INLINE void store_word(const card_operand *out, char *at, float x) {
  if (out->bytes == 4) *(float *)(void *)at = tn_canonical_f32(x);
  else *(uint8_t *)at = truth_of(x);
}

CARD_INLINE card_four canonical(card_four x) {
  CARD_UNROLL
  for (int i = 0; i < 4; i++) x.of[i] = tn_canonical_f32(x.of[i]);
  return x;
}

CARD_INLINE void give_four(const card_chain_arguments *a, const place *of, card_four x) {
  char *at = address(&a->shape, &a->out, of);
  int count = of->count;
  if (a->out_kind == CARD_FOUR) {
    card_give_four(at, count, canonical(x));
    return;
  }
  int64_t step = a->shape.rank ? a->out.stride[a->shape.rank - 1] : 0;
  CARD_UNROLL
  for (int i = 0; i < 4; i++) {
    if (i < count && i > 0)
      at = a->out_kind == CARD_APART ? card_at(&a->shape, &a->out, of->n + i) : at + step;
    if (i < count) store_word(&a->out, at, x.of[i]);
  }
}

/* Numbers, into the slots after those of the program. */
CARD_INLINE void bring_same(const card_chain_arguments *a) {
  CARD_ROLLED
  for (int k = 0; k < a->same_count; k++) {
    const card_same *same = &a->same[k];
    float x = same->data ? load_word(same->bytes, same->data) : same->number;
    write_slot(a->slots + k, (card_four){ { x, x, x, x } });
  }
}

/* What a step works on. */
CARD_INLINE card_four fetch(const card_chain_arguments *a, int from, card_four last) {
  if (from == CARD_LAST) return last;
  return read_slot(from < CARD_SAME ? from : a->slots + from - CARD_SAME);
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
      CARD_ONCE card_run rows_##ID(card_run x, card_run y) {                                               \
        card_four r;                                                                                       \
        if (card_has_quick(TN_OP_##ID) && card_all_quick(TN_OP_##ID, card_four_of(x), card_four_of(y), &r)) \
          return card_run_of(r);                                                                           \
        return (card_run){ row_##ID(x[0], y[0]), row_##ID(x[1], y[1]), row_##ID(x[2], y[2]),               \
                           row_##ID(x[3], y[3]) };                                                         \
      })                                                                                                   \
  TN_IF_TRUTH_##DTYPES(CARD_INLINE float truth_##ID(float x, float y) { return (void)y, TRUTH_##KIND(ID); })
#include "op/elementwise.def"

#define CALLED(function) r = card_four_of(function(card_run_of(x), card_run_of(y)));
#define IN_PLACE(value) \
  CARD_UNROLL           \
  for (int i = 0; i < 4; i++) r.of[i] = value;

CARD_INLINE card_four carry_out(const card_chain_arguments *a, const card_link *link, card_four last) {
  card_four x = fetch(a, link->in[0], last), y = fetch(a, link->in[1], last), r = x;
  switch ((card_code)link->code) {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SX, SY, HOW, NANS, COST, ...) \
    TN_IF_REAL_##DTYPES(                                                                                   \
    case CARD_OF_NUMBERS_##ID:                                                                             \
      if ((COST) > CARD_LONG) { CALLED(rows_##ID) } else { IN_PLACE(row_##ID(x.of[i], y.of[i])) }          \
      break;)                                                                                              \
    TN_IF_TRUTH_##DTYPES(                                                                                  \
    case CARD_OF_TRUTHS_##ID:                                                                              \
      IN_PLACE(truth_##ID(x.of[i], y.of[i]))                                                               \
      break;)
#include "op/elementwise.def"
    case CARD_TO_TRUTH: IN_PLACE(word_of(x.of[i] != 0)) break;
    case CARD_TO_NUMBER: IN_PLACE((float)truth_of(x.of[i])) break;
    case CARD_CHOOSE: {
      card_four z = fetch(a, link->in[2], last);
      IN_PLACE(truth_of(x.of[i]) ? y.of[i] : z.of[i])
      break;
    }
    case CARD_KEEP: break;
    default: CARD_NEVER;
  }
  return r;
}

CARD_INLINE card_four compute(const card_chain_arguments *a) {
  card_four last = { { 0 } };
  CARD_ROLLED
  for (int s = 0; s < a->link_count; s++) {
    last = carry_out(a, &a->link[s], last);
    if (a->link[s].to != CARD_LAST) write_slot(a->link[s].to, last);
  }
  return last;
}

/* ---- four elements side by side ---- */
typedef struct {
  int64_t row, column;
  int count;
} run_place;

CARD_INLINE run_place run_place_of(const card_shape *shape, int64_t n) {
  run_place at = { .column = n, .count = (int)card_least(shape->count - n, 4) };
  if (shape->rank == 2) {
    at.row = card_divided(shape, 1, (uint32_t)n);
    at.column = n - at.row * shape->dim[1];
  }
  return at;
}

CARD_INLINE uint32_t read_truths(const char *at, int count) {
  if (count >= 4) return *(const uint32_t *)(const void *)at;
  uint32_t all = 0;
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (i < count) all |= (uint32_t)(uint8_t)at[i] << 8 * i;
  return all;
}

CARD_INLINE void give_truths(char *at, int count, card_four x) {
  uint32_t all = 0;
  CARD_UNROLL
  for (int i = 0; i < 4; i++) all |= (uint32_t)truth_of(x.of[i]) << 8 * i;
  if (count == 4) *(uint32_t *)(void *)at = all;
  CARD_UNROLL
  for (int i = 0; i < 3; i++)
    if (count < 4 && i < count) at[i] = (char)(all >> 8 * i & 0xff);
}

/* Four elements of operand k, if they are copied; else what makes them: four bools, or the one element.
 * `all`: four are there. */
CARD_INLINE uint32_t bring_run(const card_chain_arguments *a, int k, run_place of, bool all) {
  const card_operand *x = &a->in[k];
  const int count = all ? 4 : of.count;
  const char *row = x->data + of.row * x->stride[0];
  if (a->kind[k] == CARD_TRUTHS) return read_truths(row + of.column, count);
  if (a->kind[k] == CARD_ALIKE) return tn_bits_f32(load_word(x->bytes, row));
  card_copy_some(slot_at(k), row + 4 * of.column, 4 * count);
  return 0;
}

CARD_INLINE void write_brought(const card_chain_arguments *a, int k, uint32_t word) {
  float same = tn_float_of_bits(word);
  card_four x = { { same, same, same, same } };
  CARD_UNROLL
  for (int i = 0; i < 4; i++)
    if (a->kind[k] == CARD_TRUTHS) x.of[i] = word_of((word >> 8 * i & 0xff) != 0);
  write_slot(k, x);
}

/* All are under way before the first is waited for. */
CARD_INLINE void bring_runs(const card_chain_arguments *a, run_place at, bool all) {
  uint32_t words[CARD_CHAIN_OPERANDS];
  CARD_UNROLL
  for (int k = 0; k < CARD_CHAIN_OPERANDS; k++)
    words[k] = k < a->operand_count ? bring_run(a, k, at, all) : 0;
  card_copies_end();
  CARD_UNROLL
  for (int k = 0; k < CARD_CHAIN_OPERANDS; k++)
    if (k < a->operand_count && a->kind[k] != CARD_FOUR) write_brought(a, k, words[k]);
}

CARD_INLINE void give_run(const card_chain_arguments *a, run_place of, card_four x) {
  char *row = a->out.data + of.row * a->out.stride[0];
  if (a->out_kind == CARD_FOUR) card_give_four(row + 4 * of.column, of.count, canonical(x));
  else give_truths(row + of.column, of.count, x);
}

/* ---- a thread's elements ---- */
/* The fault is looked at while elements are on their way. Most blocks have all of their fours. */
CARD_KERNEL_LATE(chain_runs, card_chain_arguments) {
  const int64_t part = 4 * CARD_CHAIN_THREADS;
  CARD_ROLLED
  for (int64_t first = card_block() * part; first < a->shape.count; first += card_blocks() * part) {
    run_place at = run_place_of(&a->shape, first + 4 * card_thread());
    if (at.count <= 0) return;
    if (first + part <= a->shape.count) bring_runs(a, at, true);
    else bring_runs(a, at, false);
    if (card_has_failed(a->start.fault)) return;
    bring_same(a);
    card_copies_wait(0);
    give_run(a, at, compute(a));
  }
}

CARD_KERNEL_LATE(chain, card_chain_arguments) {
  CARD_ROLLED
  for (int64_t n = card_number() * 4; n < a->shape.count; n += card_numbers() * 4) {
    place at = place_of(&a->shape, n);
    CARD_ROLLED
    for (int k = 0; k < a->operand_count; k++) bring_four(a, k, &at);
    card_copies_end();
    if (card_has_failed(a->start.fault)) return;
    bring_same(a);
    card_copies_wait(0);
    give_four(a, &at, compute(a));
  }
}
