/* op/internal.h: what the files of op/ share: the rules and the arithmetic of
 * lengths that may have names. */
#ifndef TN_OP_INTERNAL_H
#define TN_OP_INTERNAL_H

#include "op/op.h"

/* Every rule that ops.def names, in the file that holds it. */
#define TN_OP_RULES(X)                                                                           \
  /* rules_dtype.c */                                                                            \
  X(dtype_attr) X(dtype_literal) X(dtype_same) X(dtype_compare) X(dtype_select) X(dtype_gather)  \
  X(dtype_scatter) X(dtype_row_update) X(dtype_random) X(dtype_index) X(dtype_cross_entropy)     \
  X(dtype_if)                                                                                    \
  /* rules_source.c */                                                                           \
  X(shape_attr) X(shape_literal) X(shape_iota) X(shape_random) X(shape_scalar) X(shape_first)    \
  X(shape_if)                                                                                    \
  /* rules_arrange.c */                                                                          \
  X(shape_reshape) X(shape_transpose) X(shape_broadcast_to) X(shape_slice) X(shape_pad)          \
  X(shape_concat) X(shape_patches) X(shape_fold)                                                 \
  /* rules_combine.c */                                                                          \
  X(shape_broadcast) X(shape_matmul) X(shape_reduce) X(shape_argmax) X(shape_cross_entropy)      \
  X(shape_layer_norm) X(shape_gather) X(shape_scatter_add) X(shape_row_update)
#define TN_OP_DECLARE(name) bool tn_op_##name(const tn_op_args *args, tn_type *out);
TN_OP_RULES(TN_OP_DECLARE)
#undef TN_OP_DECLARE

/* Fills in the fault, if the caller wants one, with the operation's name. Returns false. */
bool tn_op_fail(const tn_op_args *args, tn_fault fault);
bool tn_op_fail_argument(const tn_op_args *args, const char *expected, int64_t got);
bool tn_op_fail_rank_limit(const tn_op_args *args, int rank);
/* The number of operands fits the operation. */
bool tn_op_check_arity(const tn_op_args *args);
/* The operand has exactly this rank (up to 4), or at least this one (up to 2). */
bool tn_op_check_rank(const tn_op_args *args, int operand, int rank);
bool tn_op_check_least_rank(const tn_op_args *args, int operand, int rank);
/* No more elements than a tensor may have, as far as lengths are known. */
bool tn_op_check_size(const tn_op_args *args, const tn_type *type);

/* The rank that an axis of this operation counts in: of its first operand, or of the
 * shape it is given; one more where the axis is a new one. */
int tn_op_axis_rank(const tn_op_args *args);

/* ---- lengths (lengths.c) ---- */

/* What two lengths that must be equal have in common; false when they differ. */
bool tn_dim_join(int64_t a, int64_t b, int64_t *out);
/* The length of one after the other; unknown where it cannot be said. */
int64_t tn_dim_add(int64_t a, int64_t b);
/* Two shapes that must be equal; on failure *dimension is the first that differs
 * (the smaller rank, where they have different ranks). */
bool tn_shape_join(const tn_shape *a, const tn_shape *b, tn_shape *out, int *dimension);

/* A number of elements as a product of lengths, some of them names. */
typedef struct {
  int64_t known;                    /* product of the known lengths that are not 0 */
  bool empty;                       /* one of them is 0 */
  bool unknown;                     /* a factor about which nothing is known */
  int symbol_count;
  int64_t symbol[TN_RANK_LIMIT];    /* ascending */
} tn_product;

/* False when the known lengths are past TN_ELEMENT_LIMIT. */
bool tn_product_of(const tn_shape *shape, tn_product *out);
/* Removes the symbols that both have, as often as both have them. */
void tn_product_cancel(tn_product *a, tn_product *b);
#endif
