/* op/op.h: what an operation is: its name, arity, attributes, shape and dtype rules.
 *
 * ops.def holds one entry per operation; this header sees its TN_SIG, TN_ATTRS, TN_RULES,
 * TN_VIEW and TN_PLAN groups only. Everything here is pure: a rule reads operand types and
 * attributes and writes a result type, or fills in a fault. A fault says what
 * is wrong without naming a code, because each language has its own code and
 * its own field names for the same mistake; the front ends translate (and
 * tn_fault_report gives the common spelling). Gradients live in ad/, kernels in
 * backend/, expansions of composed operations in graph/. */
#ifndef TN_OP_OP_H
#define TN_OP_OP_H

#include "diag/source.h"
#include "tensor/tensor.h"

struct tn_diags;

typedef enum {
  TN_OP_ERROR = 0,   /* node 0 of every graph: suppresses errors that would only follow from an earlier one */
#define TN_OP(id, ...) TN_OP_##id,
#include "op/ops.def"
  TN_OP_COUNT
} tn_op;

/* How an operation is executed; the optimiser and the back ends go by this. */
typedef enum {
  TN_KIND_INPUT,        /* given from outside: input, param */
  TN_KIND_LITERAL,      /* written in the program: const */
  TN_KIND_FILL,         /* one number everywhere: fill */
  TN_KIND_IOTA,         /* known before the run: iota; the last of the kinds of tn_op_is_source */
  TN_KIND_ELEMENTWISE,  /* out[i] depends on in[...][i] alone (operands broadcast) */
  TN_KIND_GENERATE,     /* out[i] depends on i and scalar operands: uniform, normal */
  TN_KIND_VIEW,         /* the same elements, arranged differently */
  TN_KIND_MOVE,         /* copies elements: concat, gather, pad */
  TN_KIND_REDUCE,       /* along axes */
  TN_KIND_SCAN,         /* along an axis, same shape: cumsum, softmax, layer_norm */
  TN_KIND_CONTRACT,     /* matmul */
  TN_KIND_BRANCH,       /* if */
  TN_KIND_PICK,         /* a result of a branch: pick */
  TN_KIND_EFFECT,       /* asks the host: clock, files */
  TN_KIND_COMPOSED      /* replaced by other operations; never in a graph */
} tn_op_kind;

#define TN_VARIADIC (-1)
#define TN_OPERAND_LIMIT 1000000   /* of a variadic operation */

/* The attributes an operation can have; an entry's `attrs` says which it reads. */
typedef enum {
  TN_ATTR_DTYPE = 1 << 0,
  TN_ATTR_SHAPE = 1 << 1,      /* may hold symbols */
  TN_ATTR_AXIS = 1 << 2,
  TN_ATTR_AXES = 1 << 3,
  TN_ATTR_KEEPDIMS = 1 << 4,
  TN_ATTR_LOW = 1 << 5,        /* slice: start;  pad: before;  windows: padding before (2) */
  TN_ATTR_HIGH = 1 << 6,       /* slice: end (exclusive); pad: after; windows: padding after (2) */
  TN_ATTR_STEP = 1 << 7,       /* slice: step; pad: between; windows: stride (2) */
  TN_ATTR_WINDOW = 1 << 8,     /* patches, fold, depthwise: height and width */
  TN_ATTR_NUMBER = 1 << 9,
  TN_ATTR_INDEX = 1 << 10,
  TN_ATTR_NAME = 1 << 11,
  TN_ATTR_REVERSE = 1 << 12,
  TN_ATTR_EXCLUSIVE = 1 << 13,
  TN_ATTR_LITERAL = 1 << 14,
  TN_ATTR_SAME = 1 << 15,      /* conv2d: padding "same" */
  TN_ATTR_REGIONS = 1 << 16,
  TN_ATTR_PROGRAM = 1 << 17,
  TN_ATTR_CAUSAL = 1 << 18     /* attention: a query sees no key after its own place */
} tn_attr_set;

struct tn_fused;   /* graph/fused.h */

/* Unused members are zero, so that equal attributes compare bytewise (literals by content). */
typedef struct {
  tn_dtype dtype;
  int32_t axis;                 /* normalised by the builder: 0 <= axis < rank */
  int32_t axis_count;
  int32_t axes[TN_RANK_LIMIT];  /* reductions: ascending; transpose: the permutation */
  bool keepdims, reverse, exclusive, same, causal;
  int32_t window[2];
  tn_shape shape;
  int64_t low[TN_RANK_LIMIT], high[TN_RANK_LIMIT], step[TN_RANK_LIMIT];
  double number;
  uint64_t index;
  tn_name name, argument;       /* host: the function and its text argument */
  const tn_tensor *literal;
  uint32_t region[2];           /* if: then and else */
  const struct tn_fused *program;
} tn_attrs;

typedef struct {
  tn_dtype dtype;
  tn_shape shape;
} tn_type;

bool tn_type_equal(const tn_type *a, const tn_type *b);
void tn_type_print(const tn_type *type, const tn_names *names, tn_text *out);   /* f32[2, B] */

/* What is wrong, before a language gives it a code. */
typedef enum {
  TN_FAULT_NONE = 0,
  TN_FAULT_ARITY,        /* expected, got */
  TN_FAULT_DTYPE,        /* operand, left, right: two dtypes that must be one; with a reason: left alone
                            is of a dtype that is not taken, and the reason says what is expected */
  TN_FAULT_BROADCAST,    /* left, right, dimension */
  TN_FAULT_INNER,        /* left, right, dimension (of left): lengths that are summed over differ */
  TN_FAULT_RANK,         /* operand, left (the operand), right (the other, where there are two), expected,
                            got, reason ("of at least 2 dimensions"): another rank is needed */
  TN_FAULT_AXIS,         /* axis, left: out of range, or given twice (`reason`) */
  TN_FAULT_COUNT,        /* left, right, expected, got: element counts differ */
  TN_FAULT_INFER,        /* left, right, reason: -1 in a shape cannot be inferred */
  TN_FAULT_PERMUTATION,  /* left; right.shape holds the axes as given, which are no permutation */
  TN_FAULT_SQUEEZE,      /* axis, left: not of length 1 */
  TN_FAULT_BOUNDS,       /* index (got), limit (expected), axis: outside the tensor; also at run time */
  TN_FAULT_JOIN,         /* left, right, dimension: concat and stack */
  TN_FAULT_SHAPE,        /* left, right, dimension: other shapes that do not fit */
  TN_FAULT_ARGUMENT,     /* reason, got: an attribute out of its range; the reason says what is expected */
  TN_FAULT_RANK_LIMIT,   /* got */
  TN_FAULT_TOO_LARGE,    /* left: more elements than a tensor may have; or `reason`: what else, expected */
  TN_FAULT_NO_GRADIENT,  /* op is on the path of a gradient and has none */
  TN_FAULT_DIVIDE,       /* integer division by zero, at run time */
  TN_FAULT_HOST,         /* the host refused or failed; it has reported itself */
  TN_FAULT_MEMORY,
  TN_FAULT_INTERRUPTED,
  TN_FAULT_DEVICE,       /* reason: the GPU that was to compute it failed or has no memory left */
  TN_FAULT_INTERNAL      /* reason; a bug in tern */
} tn_fault_kind;

typedef struct {
  tn_fault_kind kind;
  tn_op op;              /* as the user knows it: the composed operation, if one was being expanded */
  int operand;           /* from 0 */
  int dimension;         /* from 0 */
  int64_t axis, expected, got;
  tn_type left, right;
  const char *reason;    /* static */
  tn_span at;
} tn_fault;

/* What a rule may look at. Borrowed: valid only during the call. */
typedef struct {
  tn_op op;
  const tn_type *in;
  int count;
  const tn_attrs *attrs;   /* never NULL */
  tn_fault *fault;
} tn_op_args;

/* A rule: writes the result (shape or dtype part) or fills in the fault and returns false. */
typedef bool (*tn_op_rule)(const tn_op_args *args, tn_type *out);

/* The documented part of an entry. */
typedef struct {
  tn_op op;
  const char *name;        /* "matmul" */
  const char *group;       /* heading in the documentation */
  const char *doc;         /* one line; tie-breaks and order of summation, because that is the contract */
  const char *operands;    /* their names, separated by spaces: "x y" */
  const char *result;      /* its shape and dtype, for people */
  int arity;               /* or TN_VARIADIC */
  tn_op_kind kind;
  tn_dtype_set dtypes;     /* of the first operand, or of the result where there is none */
  uint32_t attrs;          /* tn_attr_set */
} tn_op_sig;

/* How an operation that the rules have accepted can still end a run. */
typedef enum {
  TN_FAILS_NEVER,
  TN_FAILS_ON_ZERO_DIVISOR,  /* of integers */
  TN_FAILS_ON_INDEX,         /* an index in operand 1, into attrs->axis of operand 0, is out of range */
  TN_FAILS_ON_NEW_INDEX,     /* likewise; without an axis, of the first. A gather before it may have looked
                                already */
  TN_FAILS_ON_LABEL,         /* likewise, of the last axis */
  TN_FAILS_ON_EMPTY,         /* no elements to choose one of */
  TN_FAILS_IN_HOST,          /* which may refuse, and sees that it was asked */
  TN_FAILS_AS_STEPS,         /* as the steps of its program */
  TN_FAILS_AS_PARTS          /* composed: never in a graph */
} tn_op_fails;

/* Which rows of the operands a row of the result depends on. A row is an index along the first
 * axis. */
typedef enum {
  TN_ROWS_NONE,       /* of several, or unknown */
  TN_ROWS_ALIGNED,    /* of the same row of every operand that has as many axes and rows, of all of others */
  TN_ROWS_OFF_AXIS,   /* of the same row, unless attrs->axis is the first; shapes stay */
  TN_ROWS_OFF_LAST,   /* as ALIGNED, unless the last axis is the first */
  TN_ROWS_OFF_AXES,   /* of the same row, unless the first axis is among those that are reduced */
  TN_ROWS_JOINED,     /* as OFF_AXIS, of every operand */
  TN_ROWS_RESHAPED,   /* elements keep their row-major order */
  TN_ROWS_PERMUTED,   /* of the same row, if attrs->axes leave the first axis where it is */
  TN_ROWS_STRETCHED,  /* of the same row, if there are as many */
  TN_ROWS_SLICED,     /* likewise, and attrs->low, high and step say which are taken */
  TN_ROWS_PADDED,     /* of the same row, if attrs->low, high and step add none */
  TN_ROWS_NAMED,      /* of the rows of operand 0 that the same row of operand 1 names, along attrs->axis */
  TN_ROWS_WINDOWS,    /* of the same row: an image is one */
  TN_ROWS_PRODUCT     /* matmul: of the same row of operand 0, all of operand 1; of leading axes, ALIGNED */
} tn_op_rows;

const tn_op_sig *tn_op_sig_of(tn_op op);
/* Whether the value is known before the run begins. */
static inline bool tn_op_is_source(tn_op op) { return tn_op_sig_of(op)->kind <= TN_KIND_IOTA; }
tn_op_rows tn_op_rows_of(tn_op op);
tn_op_fails tn_op_fails_of(tn_op op);
/* Whether it can for operands of this dtype, whatever else they are. */
bool tn_op_can_fail(tn_op op, tn_dtype dtype);
/* Nanoseconds that an element of the result takes, roughly; 0: its kernel says. */
double tn_op_cost(tn_op op);
/* TN_OP_ERROR when unknown. */
tn_op tn_op_find(tn_str name);
/* Its operands, what it computes and its result, in three lines (describe.c). */
void tn_op_describe(const tn_op_sig *sig, tn_text *out);
/* The operation that the user most likely meant; empty: none. */
tn_str tn_op_suggest(tn_str wrong);

/* Infers the result type: arity, then dtype, then shape. On failure fills *args->fault,
 * leaves *out untouched and returns false. Composed operations have no rule here. */
bool tn_op_infer(const tn_op_args *args, tn_type *out);

/* The view of `from` that a view operation gives, of the shape of its result. It starts *offset elements
 * after from->data; out->data is not moved, because a plan has no memory yet. False, with nothing written,
 * when strides cannot express it. */
bool tn_op_view(tn_op op, const tn_attrs *attrs, const tn_shape *shape, const tn_view *from, tn_view *out,
                int64_t *offset);
/* The same, with out->data where it starts. */
bool tn_op_view_data(tn_op op, const tn_attrs *attrs, const tn_shape *shape, const tn_view *from,
                     tn_view *out);

/* Normalises attributes given by a user. Reads and writes *attrs. Called by the builder before
 * tn_op_infer, also for composed operations, and again when symbols have been bound: what is
 * normal stays as it is, and what could not be computed yet stays as the user wrote it.
 *
 *   axis, axes   negative ones count from the end. Reductions: an axis_count below 0 means all
 *                axes, 0 none; afterwards ascending. transpose: below 0, or 0 of a tensor that
 *                has axes, means reversed. squeeze: below 0 means every axis of length 1.
 *   reshape      one -1 in `shape` is computed; TN_DIM_UNKNOWN is the same number, and stays
 *                where lengths are missing.
 *   slice        a step of 0 means 1; a high of INT64_MAX the end; negative low and high count
 *                from the end. Outside the axis is TN_FAULT_BOUNDS; an empty slice is fine.
 *   index        counts from the end when negative (as int64_t); outside is TN_FAULT_BOUNDS.
 *   windows      a step of 0 means 1.
 *   heads        an index of 0 means 1.
 *   groups       as windows and heads. */
bool tn_op_normalise(tn_op op, const tn_type *in, int count, tn_attrs *attrs, tn_fault *fault);

/* Attributes as text, only those the operation has: {axes=[0, 1], keepdims=true}. What is at
 * its default is left out, and nothing is written when that is all; regions and programs are
 * the graph's to write. Values: dtype=f32  shape=[2, B]  axis=0  axes=[0, 1]  keepdims=true
 * low=[0, 1]  high=[2, 3]  step=[1, 2]  window=[3, 3]  number=0.5  index=7  name="x"
 * argument="a.txt"  reverse=true  exclusive=true  same=true  causal=true  value=f32[2] [1,2]
 * names may be NULL (as for tn_shape_print). */
void tn_attrs_print(tn_op op, const tn_attrs *attrs, const tn_names *names, tn_text *out);
/* Whether tn_attrs_print would write nothing. */
bool tn_attrs_are_default(tn_op op, const tn_attrs *attrs);
/* Equal in everything the operation reads: numbers bit by bit, literals by content. */
bool tn_attrs_equal(tn_op op, const tn_attrs *a, const tn_attrs *b);
uint64_t tn_attrs_hash(tn_op op, const tn_attrs *attrs);

/* Reports a fault with the common codes (E2xxx). For the C API, graph text and MIND; AILang and
 * Ninth have their own codes. Returns false. */
bool tn_fault_report(const tn_fault *fault, const tn_names *names, struct tn_diags *diags);
#endif
