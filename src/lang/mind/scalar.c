/* lang/mind/scalar.c: arithmetic of single numbers.
 *
 * Scalars are computed where they stand, by the functions that every kernel is
 * held to (op/scalar.h). An f32 is held in a double, exactly. */
#include "lang/mind/internal.h"
#include "op/scalar.h"

static tn_element element_of(tn_mind_number x) {
  if (tn_dtype_in(x.dtype, TN_FLOATS)) return tn_element_of_f64(x.number, x.dtype);
  return tn_element_of_i64(x.integer, x.dtype);
}

static tn_mind_number number_of(tn_element x, tn_dtype dtype) {
  switch (dtype) {
    case TN_F32: return (tn_mind_number){ .dtype = dtype, .number = (double)x.f32 };
    case TN_F64: return (tn_mind_number){ .dtype = dtype, .number = x.f64 };
    case TN_BOOL: return (tn_mind_number){ .dtype = dtype, .integer = x.boolean };
    default: return (tn_mind_number){ .dtype = dtype, .integer = tn_element_to_i64(x, dtype) };
  }
}

bool tn_mind_number_binary(tn_op op, tn_mind_number left, tn_mind_number right, tn_mind_number *out) {
  if (tn_scalar_divides(op, left.dtype) && right.integer == 0) return false;
  tn_element result = tn_scalar_binary(op, left.dtype)(element_of(left), element_of(right));
  *out = number_of(result, tn_scalar_gives(op, left.dtype));
  return true;
}

tn_mind_number tn_mind_number_negate(tn_mind_number x) {
  return number_of(tn_scalar_unary(TN_OP_NEG, x.dtype)(element_of(x)), x.dtype);
}

tn_mind_number tn_mind_number_cast(tn_mind_number x, tn_dtype dtype) {
  return number_of(tn_scalar_cast(element_of(x), x.dtype, dtype), dtype);
}

bool tn_mind_number_truth(tn_mind_number x) {
  return tn_dtype_in(x.dtype, TN_FLOATS) ? x.number != 0 : x.integer != 0;
}

double tn_mind_number_f64(tn_mind_number x) {
  return tn_dtype_in(x.dtype, TN_FLOATS) ? x.number : (double)x.integer;
}

bool tn_mind_number_exact(tn_op op, tn_mind_number left, tn_mind_number right) {
  int64_t exact;
  if (!tn_dtype_in(left.dtype, TN_INTS) || left.dtype != right.dtype) return false;
  if (!tn_scalar_exact(op, left.integer, right.integer, &exact)) return false;
  return left.dtype != TN_I32 || exact == (int32_t)exact;
}

void tn_mind_number_print(tn_mind_number x, tn_text *out) {
  switch (x.dtype) {
    case TN_F32: tn_text_f32(out, (float)x.number); break;
    case TN_F64: tn_text_f64(out, x.number); break;
    case TN_BOOL: tn_text_puts(out, x.integer ? "true" : "false"); break;
    default: tn_text_int(out, x.integer); break;
  }
}
