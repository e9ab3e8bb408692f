/* backend/cpu/isa/chain.c: the links of chain.h. */
#include "backend/cpu/isa/chain.h"

#include "backend/cpu/isa/element.h"
#include "backend/cpu/isa/exp.h"
#include "backend/cpu/isa/stream.h"

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

/* The rows of op/elementwise.def that say LINK; of two operands also the other way round. */
#define REVERSED(ID)                static inline VF reversed_##ID(VF x, VF y) { return vf_of_##ID(y, x); }
#define LINK_LINK_UNARY(ID)         UNARY(ID, vf_of_##ID)
#define LINK_LINK_BINARY(ID)        BINARY(ID, vf_of_##ID) REVERSED(ID) BINARY(reverse_##ID, reversed_##ID)
#define LINK_STEP_UNARY(ID)
#define LINK_STEP_BINARY(ID)
#define LINK_STEP_COMPARE(ID)
#define LINK_BLOCKS_UNARY(ID) /* below */
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, ...)    \
  LINK_##HOW##_##KIND(ID)
#include "op/elementwise.def"

static LINK(EXP) {
  VF x[2][4] = { { a, b, c, d }, { e, f, g, h } };
  tn_exp_any(x[0], 4);
  tn_exp_any(x[1], 4);
  a = x[0][0], b = x[0][1], c = x[0][2], d = x[0][3];
  e = x[1][0], f = x[1][1], g = x[1][2], h = x[1][3];
  NEXT;
}

typedef struct {
  tn_link_run run, reversed;
} link_entry;

#define ENTRY_LINK_UNARY(ID)     [TN_OP_##ID] = { ID, ID },
#define ENTRY_LINK_BINARY(ID)    [TN_OP_##ID] = { ID, reverse_##ID },
#define ENTRY_BLOCKS_UNARY(ID)   [TN_OP_##ID] = { ID, ID },
#define ENTRY_STEP_UNARY(ID)
#define ENTRY_STEP_BINARY(ID)
#define ENTRY_STEP_COMPARE(ID)
static const link_entry entries[TN_OP_COUNT] = {
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, ...)    \
  ENTRY_##HOW##_##KIND(ID)
#include "op/elementwise.def"
};

tn_link_run link_of(tn_op op, bool reversed) { return reversed ? entries[op].reversed : entries[op].run; }
