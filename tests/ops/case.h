/* tests/ops/case.h: one call of one operation, made up from a number.
 *
 * Case n of an operation is always the same: everything in it is drawn from a
 * generator seeded with the operation and n. So a failing case can be run again
 * alone, and no case depends on those before it. */
#ifndef TN_TESTS_OPS_CASE_H
#define TN_TESTS_OPS_CASE_H

#include "backend/backend.h"
#include "base/rng.h"

#define CASE_OPERANDS 16

/* A view together with the memory it looks into, so that both can be copied. */
typedef struct {
  tn_view view;
  char *base;
  size_t bytes;
  bool repeats;     /* some elements are seen more than once */
} operand;

typedef struct {
  tn_op op;
  int number;
  tn_rng rng;
  tn_attrs attrs;
  operand in[CASE_OPERANDS];
  int count;
  tn_type out;                  /* of the result */
  bool may_fail;                /* a fault is an answer too */
  bool contiguous;              /* so are all operands */
  void *memory[CASE_OPERANDS + 2];
  int memories;
} op_case;

/* What elements an operand is given. */
typedef enum {
  ANY_VALUES,       /* of all sizes, with NaN, infinities, -0, denormals; extreme integers */
  SMALL_VALUES,     /* near 1, zeros, ties */
  NONZERO_VALUES,   /* integers to divide by */
  INDEX_VALUES      /* 0 .. limit-1 */
} contents;

void case_begin(op_case *c, tn_op op, int number);
void case_end(op_case *c);
void *case_memory(op_case *c, size_t bytes);   /* zeroed, freed by case_end */

/* ---- choosing ---- */
int below(op_case *c, int n);                  /* 0 .. n-1 */
bool one_in(op_case *c, int n);
tn_dtype dtype_of(op_case *c, tn_dtype_set set);   /* goes round with the number of the case */
/* A length at the edge of a vector, a tile or a chunk; the first cases go through all of them. */
int64_t edge_length(op_case *c);
int64_t small_length(op_case *c);              /* 0 now and then, else 1 .. 7 */
/* Rank min..max, one axis of edge_length, the others small; at most `budget` elements. Every
 * sixteenth case is large enough for several threads. */
tn_shape any_shape(op_case *c, int min_rank, int max_rank, int64_t budget);
bool is_big(const op_case *c);

/* ---- operands ---- */
/* Contiguous, or permuted, stepped, reversed and repeated at random. */
void add_operand(op_case *c, tn_dtype dtype, const tn_shape *shape, contents what, int64_t limit);
/* Memory laid out at random for a view of the shape, without repeated elements if `unique`. */
operand lay_out(op_case *c, tn_dtype dtype, const tn_shape *shape, bool unique);
/* A shape that broadcasts to `shape`. */
tn_shape narrower(op_case *c, const tn_shape *shape);

/* ---- generators: fill in attrs and operands of c ---- */
typedef struct {
  void (*make)(op_case *c);
  int cases;
} generator;
/* NULL in .make when there is none. */
generator generator_of(tn_op op);

void make_unary(op_case *c);
void make_binary(op_case *c);
void make_select(op_case *c);
void make_cast(op_case *c);
void make_fused(op_case *c);
void make_fill(op_case *c);
void make_iota(op_case *c);
void make_random(op_case *c);
void make_reshape(op_case *c);
void make_transpose(op_case *c);
void make_broadcast_to(op_case *c);
void make_slice(op_case *c);
void make_pad(op_case *c);
void make_concat(op_case *c);
void make_gather(op_case *c);
void make_scatter_add(op_case *c);
void make_row_update(op_case *c);
void make_patches(op_case *c);
void make_fold(op_case *c);
void make_reduction(op_case *c);
void make_count(op_case *c);
void make_argmax(op_case *c);
void make_scan(op_case *c);
void make_softmax(op_case *c);
void make_layer_norm(op_case *c);
void make_layer_norm_grad(op_case *c);
void make_cross_entropy(op_case *c);
void make_matmul(op_case *c);
void make_attention(op_case *c);
void make_depthwise(op_case *c);
#endif
