/* backend/cuda/kernels/brief.c: short programs of common operations, on f32 without gaps.
 *
 * What chain.c does for every program, for a few thousand elements: there a launch takes as long as its
 * instructions need to arrive, so this one has few of them. A thread keeps four elements of every operand in
 * registers, and the fault is looked at while they are on their way. */
#include "backend/cuda/kernels/four.h"
#include "backend/cuda/kernels/view.h"
#include "op/element.h"

static inline float word_of(bool truth) { return tn_float_of_bits(truth); }

/* One of a few that are told apart without an address, so that they stay in registers. */
CARD_INLINE card_four pick(const card_four *from, int which) {
  card_four x = from[0];
  CARD_UNROLL
  for (int k = 1; k < CARD_BRIEF_SLOTS; k++)
    if (which == k) x = from[k];
  return x;
}

CARD_INLINE card_four fetch(int from, const card_four *slot, const float *same, card_four last) {
  if (from == CARD_LAST) return last;
  if (from < CARD_SAME) return pick(slot, from);
  float number = same[0];
  CARD_UNROLL
  for (int k = 1; k < CARD_BRIEF_SAME; k++)
    if (from == CARD_SAME + k) number = same[k];
  return (card_four){ { number, number, number, number } };
}

#define EACH(value)           \
  CARD_UNROLL                 \
  for (int i = 0; i < 4; i++) r.of[i] = value;

CARD_INLINE card_four carry_out(int code, card_four x, card_four y, card_four z) {
  card_four r = x;
  switch (code) {
#define UNARY(ID)   case CARD_OF_NUMBERS_##ID: EACH(tn_of_##ID##_f32(x.of[i])) break;
#define BINARY(ID)  case CARD_OF_NUMBERS_##ID: EACH(tn_of_##ID##_f32(x.of[i], y.of[i])) break;
#define COMPARE(ID) case CARD_OF_NUMBERS_##ID: EACH(word_of(tn_of_##ID##_f32(x.of[i], y.of[i]))) break;
    CARD_BRIEF_OPERATIONS(UNARY, BINARY, COMPARE)
    case CARD_CHOOSE: EACH(tn_bits_f32(x.of[i]) ? y.of[i] : z.of[i]) break;
    default: break;   /* CARD_KEEP */
  }
  return r;
}

CARD_INLINE card_four compute(const card_chain_arguments *a, card_four *slot, const float *same) {
  card_four last = { { 0 } };
  CARD_ROLLED
  for (int s = 0; s < a->link_count; s++) {
    const card_link *link = &a->link[s];
    last = carry_out(link->code, fetch(link->in[0], slot, same, last), fetch(link->in[1], slot, same, last),
                     fetch(link->in[2], slot, same, last));
    CARD_UNROLL
    for (int k = 0; k < CARD_BRIEF_SLOTS; k++)
      if (link->to == k) slot[k] = last;
  }
  return last;
}

CARD_KERNEL_LATE(brief, card_chain_arguments) {
  float same[CARD_BRIEF_SAME];
  CARD_UNROLL
  for (int k = 0; k < CARD_BRIEF_SAME; k++) {
    same[k] = a->same[k].number;
    if (a->same[k].data) same[k] = *(const float *)(const void *)a->same[k].data;
  }
  CARD_ROLLED
  for (int64_t n = card_number() * 4; n < a->shape.count; n += card_numbers() * 4) {
    int count = (int)card_least(a->shape.count - n, 4);
    card_four slot[CARD_BRIEF_SLOTS] = { { { 0 } } };
    CARD_UNROLL
    for (int k = 0; k < CARD_BRIEF_SLOTS; k++)
      if (k < a->operand_count) slot[k] = card_read_four(a->in[k].data + 4 * n, count);
    if (card_has_failed(a->start.fault)) return;
    card_four last = compute(a, slot, same);
    CARD_UNROLL
    for (int i = 0; i < 4; i++) last.of[i] = tn_canonical_f32(last.of[i]);
    card_give_four(a->out.data + 4 * n, count, last);
  }
}
