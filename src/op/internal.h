/* op/internal.h: shared by the files of op/: the rules, and arithmetic of lengths that may be
 * names. */
#ifndef TN_OP_INTERNAL_H
#define TN_OP_INTERNAL_H

#include "op/op.h"

/* The rules that ops.def names. */
#define TN_OP(id, ...) __VA_ARGS__
#define TN_RULES(...) TN_OP_DECLARE(__VA_ARGS__)
#define TN_OP_DECLARE(shape, dtype)                    \
  bool tn_op_##shape(const tn_op_args *args, tn_type *out); \
  bool tn_op_##dtype(const tn_op_args *args, tn_type *out);
#include "op/ops.def"
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

/* The rank that an axis of this operation refers to: that of its first operand, or of the given
 * shape; one more if the axis is new. */
int tn_op_axis_rank(const tn_op_args *args);

/* ---- lengths (lengths.c) ---- */

/* What two lengths that must be equal have in common; false when they differ. */
bool tn_dim_join(int64_t a, int64_t b, int64_t *out);
/* The sum of two lengths; unknown if it cannot be determined. */
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
