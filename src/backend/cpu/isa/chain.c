/* backend/cpu/isa/chain.c: the links of chain.h. */
#include "backend/cpu/isa/chain.h"

#include "backend/cpu/isa/exp.h"
#include "backend/cpu/isa/steps.h"
#include "backend/cpu/isa/stream.h"
#include "base/elementary.inc.h"

#define LINK(name) void name(const tn_link *at, int64_t i, VF a, VF b, VF c, VF d, VF e, VF f, VF g, VF h)
#define NEXT       at[1].run(at + 1, i, a, b, c, d, e, f, g, h)

/* STEP(x, k) for each vector x of the accumulator, the k-th */
#define EACH(STEP) STEP(a, 0) STEP(b, 1) STEP(c, 2) STEP(d, 3) STEP(e, 4) STEP(f, 5) STEP(g, 6) STEP(h, 7)

LINK(link_load) {
  const float *from = at->data + (i & at->mask);
#define LOAD(x, k) x = vf_load(from + (k)*TN_LANES);
  EACH(LOAD)
  NEXT;
}

LINK(link_keep) {
  float *to = at->data + (i & at->mask);
#define KEEP(x, k) vf_store(to + (k)*TN_LANES, x);
  EACH(KEEP)
  NEXT;
}

LINK(link_end) {
  float *to = at->data + (i & at->mask);
#define END(x, k) vf_store(to + (k)*TN_LANES, vf_canonical(x));
  EACH(END)
}

LINK(link_stream) {
  float *to = at->data + (i & at->mask);
#define STREAM(x, k) vf_stream(to + (k)*TN_LANES, vf_canonical(x));
  EACH(STREAM)
}

/* ---- operations ---- */
#define UNARY(name, FUNCTION)                                                                                \
  static LINK(name) {                                                                                        \
    a = FUNCTION(a), b = FUNCTION(b), c = FUNCTION(c), d = FUNCTION(d);                                      \
    e = FUNCTION(e), f = FUNCTION(f), g = FUNCTION(g), h = FUNCTION(h);                                      \
    NEXT;                                                                                                    \
  }
#define BINARY(name, FUNCTION)                                                                               \
  static LINK(name) {                                                                                        \
    const float *from = at->data + (i & at->mask);                                                           \
    a = FUNCTION(a, vf_load(from)), b = FUNCTION(b, vf_load(from + TN_LANES));                               \
    c = FUNCTION(c, vf_load(from + 2 * TN_LANES)), d = FUNCTION(d, vf_load(from + 3 * TN_LANES));            \
    e = FUNCTION(e, vf_load(from + 4 * TN_LANES)), f = FUNCTION(f, vf_load(from + 5 * TN_LANES));            \
    g = FUNCTION(g, vf_load(from + 6 * TN_LANES)), h = FUNCTION(h, vf_load(from + 7 * TN_LANES));            \
    NEXT;                                                                                                    \
  }

static inline VF negative(VF x) { return -x; }
static inline VF plus(VF x, VF y) { return x + y; }
static inline VF minus(VF x, VF y) { return x - y; }
static inline VF minus_reversed(VF x, VF y) { return y - x; }
static inline VF times(VF x, VF y) { return x * y; }
static inline VF over(VF x, VF y) { return x / y; }
static inline VF over_reversed(VF x, VF y) { return y / x; }

UNARY(neg, negative)
UNARY(absolute, vf_abs)
UNARY(sign, sign_of)
UNARY(square_root, vf_sqrt)
UNARY(relu, relu_of)
UNARY(logarithm, vf_log)
UNARY(hyperbolic_tangent, vf_tanh)
UNARY(sigmoid, vf_sigmoid)
UNARY(error_function, vf_erf)
BINARY(add, plus)
BINARY(sub, minus)
BINARY(sub_reversed, minus_reversed)
BINARY(mul, times)
BINARY(div_by, over)
BINARY(div_reversed, over_reversed)
BINARY(minimum, vf_min)
BINARY(maximum, vf_max)

static LINK(exponential) {
  VF x[2][4] = { { a, b, c, d }, { e, f, g, h } };
  for (int p = 0; p < 2; p++) {
    VF y[4];
    for (int k = 0; k < 4; k++) y[k] = vf_clamp(x[p][k], vf_set(104.0f));
    tn_exp_abreast(y, 4);
    for (int k = 0; k < 4; k++) x[p][k] = vf_select(vf_isnan(x[p][k]), x[p][k], y[k]);
  }
  a = x[0][0], b = x[0][1], c = x[0][2], d = x[0][3];
  e = x[1][0], f = x[1][1], g = x[1][2], h = x[1][3];
  NEXT;
}

tn_link_run link_of(tn_op op, bool reversed) {
  switch (op) {
    case TN_OP_NEG: return neg;
    case TN_OP_ABS: return absolute;
    case TN_OP_SIGN: return sign;
    case TN_OP_SQRT: return square_root;
    case TN_OP_RELU: return relu;
    case TN_OP_EXP: return exponential;
    case TN_OP_LOG: return logarithm;
    case TN_OP_TANH: return hyperbolic_tangent;
    case TN_OP_SIGMOID: return sigmoid;
    case TN_OP_ERF: return error_function;
    case TN_OP_ADD: return add;
    case TN_OP_SUB: return reversed ? sub_reversed : sub;
    case TN_OP_MUL: return mul;
    case TN_OP_DIV: return reversed ? div_reversed : div_by;
    case TN_OP_MINIMUM: return minimum;
    case TN_OP_MAXIMUM: return maximum;
    default: return NULL;
  }
}
