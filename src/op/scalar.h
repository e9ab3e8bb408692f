/* op/scalar.h: elementwise operations on single elements.
 *
 * This is the only definition of every scalar operation of docs/numerics.md: back
 * ends that work on many elements at a time must give the same bits, and the
 * languages fold constants with these functions. op/element.h has the same
 * functions for callers that know the dtype. An element is passed as a union;
 * the dtype that selected the function says which member is set.
 *
 * Every function that computes returns the canonical NaN where it returns a
 * NaN. Functions that only select or copy (select, a cast to the same dtype)
 * return their operand unchanged. */
#ifndef TN_OP_SCALAR_H
#define TN_OP_SCALAR_H

#include "op/op.h"

tn_element tn_element_load(const void *at, tn_dtype dtype);
void tn_element_store(void *at, tn_dtype dtype, tn_element element);
/* The number rounded to the dtype, as `fill` and `cast` round. */
tn_element tn_element_of_f64(double number, tn_dtype dtype);
tn_element tn_element_of_i64(int64_t number, tn_dtype dtype);
/* Of an element of an integer dtype. */
int64_t tn_element_to_i64(tn_element element, tn_dtype dtype);

typedef tn_element (*tn_unary)(tn_element x);
typedef tn_element (*tn_binary)(tn_element x, tn_element y);
typedef tn_element (*tn_ternary)(tn_element x, tn_element y, tn_element z);

/* By operation and dtype of the operands; NULL where the table of operations does not
 * allow it. Comparisons give a boolean. The divisor of an integer division should not be 0,
 * see tn_scalar_divides; then the result is 0. */
tn_unary tn_scalar_unary(tn_op op, tn_dtype dtype);
tn_binary tn_scalar_binary(tn_op op, tn_dtype dtype);
/* The dtype of the result, of an operation that has one of these functions. */
tn_dtype tn_scalar_gives(tn_op op, tn_dtype dtype);
/* x * y + z: rounded once for floats, wrapping for integers. NULL for other dtypes. */
tn_ternary tn_scalar_fma(tn_dtype dtype);
/* x + y, x - y, x * y or x / y (towards 0) of whole numbers. False for any other operation, where the
 * result leaves 64 bits, and for a divisor of 0. */
bool tn_scalar_exact(tn_op op, int64_t x, int64_t y, int64_t *out);
/* Between any two dtypes. Conversions to and from bf16 and f16 go through f32. */
tn_element tn_scalar_cast(tn_element x, tn_dtype from, tn_dtype to);

/* Whether the operation fails for a divisor of 0: integer div and rem. */
bool tn_scalar_divides(tn_op op, tn_dtype dtype);
#endif
