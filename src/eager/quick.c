/* eager/quick.c: the short path for a few f32 elements.
 *
 * Most of what a stack language does is arithmetic on single numbers and short
 * vectors; there the cost is everything but the arithmetic. Operands of one
 * shape, or of one shape and a single number, are computed straight into a slot
 * with the same scalar functions that the back ends are held to: a fresh one, or
 * that of an operand nobody needs any more.
 *
 * The commonest operations take lanes of elements at once. A slot has room for
 * whole groups of lanes, so the last group may compute with what happens to lie
 * behind the elements; nobody looks at that. */
#include <string.h>

#include "backend/scalar.h"
#include "base/elementary.h"
#include "eager/internal.h"

static inline float canonical(float x) { return tn_canonical_f32(x); }

/* ---- elements ---- */

#define EACH(expression)                                                                                     \
  do {                                                                                                       \
    for (uint32_t i = 0; i < count; i++) out[i] = (expression);                                              \
    return true;                                                                                             \
  } while (0)

/* What is negative and no NaN becomes 0, by its bits. */
static bool relu_lanes(const float *x, uint32_t count, float *out) {
  for (uint32_t at = 0; at < count; at += TN_SLOT_LANES) {
    uint32_t bits[TN_SLOT_LANES];
    memcpy(bits, x + at, sizeof bits);
    for (int i = 0; i < TN_SLOT_LANES; i++) {
      uint32_t negative = (uint32_t) - (int32_t)(bits[i] >> 31);
      uint32_t nan = (uint32_t) - (int32_t)((int32_t)(bits[i] & 0x7fffffffu) > 0x7f800000);
      bits[i] &= ~negative | nan;
    }
    memcpy(out + at, bits, sizeof bits);
  }
  return true;
}

static bool compute_unary(tn_op op, const float *x, uint32_t count, float *out) {
  switch (op) {
    case TN_OP_NEG: EACH(canonical(-x[i]));
    case TN_OP_RELU: return relu_lanes(x, count, out);
    case TN_OP_EXP: EACH(tn_exp_f32(x[i]));
    case TN_OP_LOG: EACH(tn_log_f32(x[i]));
    case TN_OP_TANH: EACH(tn_tanh_f32(x[i]));
    case TN_OP_SIGMOID: EACH(tn_sigmoid_f32(x[i]));
    default: break;
  }
  tn_unary scalar = tn_scalar_unary(op, TN_F32);
  if (!scalar) return false;
  EACH(scalar((tn_element){ .f32 = x[i] }).f32);
}

/* A single number repeats. */
static inline void load_lanes(float *lanes, const float *from, bool single) {
  if (!single) {
    memcpy(lanes, from, TN_SLOT_LANES * sizeof *lanes);
    return;
  }
  for (int i = 0; i < TN_SLOT_LANES; i++) lanes[i] = *from;
}

#define LANES(sign)                                                                                          \
  for (uint32_t at = 0; at < count; at += TN_SLOT_LANES) {                                                   \
    float a[TN_SLOT_LANES], b[TN_SLOT_LANES];                                                                \
    load_lanes(a, dx ? x + at : x, !dx);                                                                     \
    load_lanes(b, dy ? y + at : y, !dy);                                                                     \
    for (int i = 0; i < TN_SLOT_LANES; i++) a[i] = a[i] sign b[i];                                           \
    tn_slot_store_lanes(out + at, a, TN_SLOT_LANES);                                                         \
  }                                                                                                          \
  return true

/* dx and dy are 0 for a single number. The result may be where an operand is. */
static bool compute_binary(tn_op op, const float *x, int dx, const float *y, int dy, uint32_t count,
                           float *out) {
  switch (op) {
    case TN_OP_ADD: LANES(+);
    case TN_OP_SUB: LANES(-);
    case TN_OP_MUL: LANES(*);
    case TN_OP_DIV: LANES(/);
    default: break;
  }
  tn_binary scalar = tn_scalar_binary(op, TN_F32);
  if (!scalar) return false;
  float first = *x, second = *y; /* a single number may lie where the result goes */
  EACH(scalar((tn_element){ .f32 = dx ? x[i] : first }, (tn_element){ .f32 = dy ? y[i] : second }).f32);
}

static bool compute_single(tn_op op, float x, float y, float *out) {
  switch (op) {
    case TN_OP_ADD: *out = canonical(x + y); return true;
    case TN_OP_SUB: *out = canonical(x - y); return true;
    case TN_OP_MUL: *out = canonical(x * y); return true;
    case TN_OP_DIV: *out = canonical(x / y); return true;
    default: return compute_binary(op, &x, 0, &y, 0, 1, out);
  }
}

/* ---- slots ---- */

typedef struct {
  tn_op op;
  int count;
  tn_value in[2]; /* what variables name now */
  tn_slot *slot[2];
  bool gradient; /* can flow through it */
  bool reuse;    /* an operand that nobody else holds may become the result */
} call;

/* A slot for a result of the operand's shape: the operand itself if that may go, else a fresh one. */
static tn_value place_for(tn_eager *eager, const call *c, int which) {
  const tn_slot *slot = c->slot[which];
  if (c->reuse && slot->references == 1 && !slot->leaf && slot->op == TN_OP_ERROR) return c->in[which];
  tn_value value = tn_slot_blank(eager);
  if (value != TN_ERROR_VALUE) tn_slot_shape_like(tn_slot_of(eager, value), slot);
  return value;
}

/* What was computed in place needs no more; a fresh value remembers, or goes when nothing was computed. */
static tn_value finish(tn_eager *eager, const call *c, tn_value value, bool computed) {
  bool in_place = value == c->in[0] || value == c->in[1];
  if (computed && (in_place || !(c->gradient || eager->everything))) return value;
  if (computed) return tn_eager_remember(eager, value, c->op, c->in, c->count, NULL, c->gradient);
  if (!in_place) tn_eager_unref(eager, value);
  return TN_ERROR_VALUE;
}

static tn_value quick_unary(tn_eager *eager, const call *c) {
  const tn_slot *x = c->slot[0];
  tn_value value = place_for(eager, c, 0);
  if (value == TN_ERROR_VALUE) return value;
  return finish(eager, c, value, compute_unary(c->op, x->few, x->elements, tn_slot_of(eager, value)->few));
}

static tn_value quick_binary(tn_eager *eager, const call *c) {
  const tn_slot *x = c->slot[0], *y = c->slot[1];
  bool x_single = tn_slot_is_single(x), y_single = tn_slot_is_single(y);
  if (!x_single && !y_single && !tn_slot_same_shape(x, y)) return TN_ERROR_VALUE;
  tn_value value = place_for(eager, c, x_single);
  if (value == TN_ERROR_VALUE) return value;
  float *out = tn_slot_of(eager, value)->few;
  bool computed = x_single && y_single ? compute_single(c->op, x->few[0], y->few[0], out)
                                       : compute_binary(c->op, x->few, !x_single, y->few, !y_single,
                                                        x_single ? y->elements : x->elements, out);
  return finish(eager, c, value, computed);
}

/* The operand, or what the variable names; 0 when it is not small. */
static inline tn_value resolve(tn_eager *eager, tn_value value, tn_slot **slot) {
  *slot = tn_slot_of(eager, value);
  if ((*slot)->variable) {
    value = (*slot)->value;
    *slot = tn_slot_of(eager, value);
  }
  return (*slot)->small ? value : TN_ERROR_VALUE;
}

/* Elementwise operations that give f32: how many operands they have. */
static int operands_of(tn_op op) {
  switch (op) {
    case TN_OP_ADD:
    case TN_OP_SUB:
    case TN_OP_MUL:
    case TN_OP_DIV:
    case TN_OP_REM:
    case TN_OP_POW:
    case TN_OP_MINIMUM:
    case TN_OP_MAXIMUM: return 2;
    case TN_OP_NEG:
    case TN_OP_ABS:
    case TN_OP_SIGN:
    case TN_OP_SQRT:
    case TN_OP_EXP:
    case TN_OP_LOG:
    case TN_OP_TANH:
    case TN_OP_SIGMOID:
    case TN_OP_RELU:
    case TN_OP_ERF:
    case TN_OP_SIN:
    case TN_OP_COS:
    case TN_OP_FLOOR:
    case TN_OP_CEIL:
    case TN_OP_ROUND: return 1;
    default: return 0;
  }
}

tn_value tn_eager_quick(tn_eager *eager, tn_op op, const tn_value *in, int count, bool reuse) {
  call c = { .op = op, .count = count };
  if (count == 0 || count != operands_of(op)) return TN_ERROR_VALUE;
  bool depends = false;
  for (int i = 0; i < count; i++) {
    c.in[i] = resolve(eager, in[i], &c.slot[i]);
    if (c.in[i] == TN_ERROR_VALUE) return TN_ERROR_VALUE;
    depends |= c.slot[i]->needs_grad;
  }
  c.gradient = depends && tn_eager_flows(eager, op, c.in, count, TN_F32);
  c.reuse = reuse && !c.gradient && !eager->everything;
  return count == 1 ? quick_unary(eager, &c) : quick_binary(eager, &c);
}

/* ---- the shortest path ---- */

/* Four elements in a register of any machine that has such. */
typedef float four __attribute__((vector_size(16)));
typedef int32_t four_bits __attribute__((vector_size(16)));

#define FOURS(sign)                                                                                          \
  for (int at = 0; at < TN_SLOT_LANES; at += 4) {                                                            \
    four x, y;                                                                                               \
    memcpy(&x, a + at, sizeof x);                                                                            \
    memcpy(&y, b + at, sizeof y);                                                                            \
    x = x sign y;                                                                                            \
    four_bits nan = x != x, bits = ((four_bits)x & ~nan) | (nan & 0x7fc00000);                               \
    memcpy(out + at, &bits, sizeof bits);                                                                    \
  }                                                                                                          \
  break

/* The four operations of arithmetic on one group of lanes. The result may be where an operand is. */
static inline void arithmetic(tn_op op, const float *a, const float *b, float *out) {
  switch (op) {
    case TN_OP_ADD: FOURS(+);
    case TN_OP_SUB: FOURS(-);
    case TN_OP_MUL: FOURS(*);
    default: FOURS(/);
  }
}

static inline bool is_arithmetic(tn_op op) {
  return op == TN_OP_ADD || op == TN_OP_SUB || op == TN_OP_MUL || op == TN_OP_DIV;
}

/* No gradient flows through either, and nobody else holds the first: the sum of what a loop in a program does
 * most. The result is in the first one's place. */
static inline bool compute_in_place(tn_op op, tn_slot *x, const tn_slot *y) {
  if (x->references != 1 || x->leaf || x->op != TN_OP_ERROR) return false;
  if (x->elements > TN_SLOT_LANES || !tn_slot_same_shape(x, y)) return false;
  arithmetic(op, x->few, y->few, x->few);
  return true;
}

/* The tape holds an operand, of a variable the value it has now. What the caller gave up goes with it. */
static inline void hand_over(tn_eager *eager, tn_value given, tn_value operand, tn_slot *slot, bool keeps) {
  if (given == operand && !keeps) return;
  slot->references++;
  if (!keeps) tn_eager_unref(eager, given);
}

static inline void give_back(tn_eager *eager, tn_value value, tn_slot *slot) {
  if (slot->references > 1)
    slot->references--;
  else
    tn_eager_unref(eager, value);
}

static inline void compute_small(tn_op op, const tn_slot *x, const tn_slot *y, tn_slot *slot, bool same) {
  if (slot->elements == 1)
    compute_single(op, x->few[0], y->few[0], slot->few);
  else if (same && slot->elements <= TN_SLOT_LANES)
    arithmetic(op, x->few, y->few, slot->few);
  else
    compute_binary(op, x->few, !tn_slot_is_single(x), y->few, !tn_slot_is_single(y), slot->elements,
                   slot->few);
}

tn_value tn_eager_arithmetic(tn_eager *eager, tn_op op, const tn_value *in, bool keeps_second) {
  tn_slot *x, *y;
  tn_value a = resolve(eager, in[0], &x), b = resolve(eager, in[1], &y);
  if (a == TN_ERROR_VALUE || b == TN_ERROR_VALUE || !is_arithmetic(op) || eager->everything)
    return TN_ERROR_VALUE;
  if (!eager->recording || !(x->needs_grad | y->needs_grad)) {
    if (a != in[0] || b != in[1] || !compute_in_place(op, x, y)) return TN_ERROR_VALUE;
    if (!keeps_second) give_back(eager, b, y);
    return a;
  }
  bool same = tn_slot_same_shape(x, y), x_single = !same && tn_slot_is_single(x);
  if (!same && !x_single && !tn_slot_is_single(y)) return TN_ERROR_VALUE;
  tn_value value = tn_slot_blank(eager);
  if (value == TN_ERROR_VALUE) return value;
  tn_slot *slot = tn_slot_of(eager, value);
  tn_slot_shape_like(slot, x_single ? y : x);
  compute_small(op, x, y, slot, same);
  slot->op = (uint16_t)op;
  slot->needs_grad = 1;
  slot->count = 2;
  slot->in[0] = a;
  slot->in[1] = b;
  hand_over(eager, in[0], a, x, false);
  hand_over(eager, in[1], b, y, keeps_second);
  return value;
}
