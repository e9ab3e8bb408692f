/* lang/mind/scalar.c: arithmetic of single numbers.
 *
 * Scalars are computed where they stand, with the same results as the kernels:
 * integers wrap, division truncates, the least integer divided by -1 is itself,
 * and every NaN is the canonical one. An f32 is held in a double: sums, products
 * and quotients of floats computed in double and rounded once are the f32 results,
 * because a double has more than twice the bits. */
#include <math.h> /* fmod, which is exact */

#include "base/elementary.h"
#include "lang/mind/mind.h"

static tn_mind_number truth(bool x) { return (tn_mind_number){ .dtype = TN_BOOL, .integer = x }; }

static tn_mind_number floating(tn_dtype dtype, double x) {
  if (dtype == TN_F32) x = (double)(float)x;
  return (tn_mind_number){ .dtype = dtype, .number = x == x ? x : tn_nan_f64() };
}

/* Two's complement: the bits that fit, read as signed. */
static tn_mind_number whole(tn_dtype dtype, uint64_t bits) {
  int64_t value = dtype == TN_I32 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
  return (tn_mind_number){ .dtype = dtype, .integer = value };
}

static tn_mind_number compare(tn_op op, bool less, bool equal, bool greater) {
  switch (op) {
    case TN_OP_EQ: return truth(equal);
    case TN_OP_NE: return truth(!equal);
    case TN_OP_LT: return truth(less);
    case TN_OP_LE: return truth(less || equal);
    case TN_OP_GT: return truth(greater);
    default: return truth(greater || equal);
  }
}

static bool is_comparison(tn_op op) {
  return op == TN_OP_EQ || op == TN_OP_NE || op == TN_OP_LT || op == TN_OP_LE || op == TN_OP_GT ||
         op == TN_OP_GE;
}

static bool integer_binary(tn_op op, tn_mind_number left, tn_mind_number right, tn_mind_number *out) {
  int64_t a = left.integer, b = right.integer;
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  if (is_comparison(op)) {
    *out = compare(op, a<b, a == b, a> b);
    return true;
  }
  switch (op) {
    case TN_OP_ADD: *out = whole(left.dtype, x + y); return true;
    case TN_OP_SUB: *out = whole(left.dtype, x - y); return true;
    case TN_OP_MUL: *out = whole(left.dtype, x * y); return true;
    default: break;
  }
  if (b == 0) return false;
  if (op == TN_OP_DIV)
    *out = b == -1 ? whole(left.dtype, 0 - x) : whole(left.dtype, (uint64_t)(a / b));
  else
    *out = whole(left.dtype, b == -1 ? 0 : (uint64_t)(a % b));
  return true;
}

static tn_mind_number float_binary(tn_op op, tn_mind_number left, tn_mind_number right) {
  double a = left.number, b = right.number;
  if (is_comparison(op)) return compare(op, a<b, a == b, a> b);
  switch (op) {
    case TN_OP_ADD: return floating(left.dtype, a + b);
    case TN_OP_SUB: return floating(left.dtype, a - b);
    case TN_OP_MUL: return floating(left.dtype, a * b);
    case TN_OP_DIV: return floating(left.dtype, a / b);
    default: return floating(left.dtype, fmod(a, b));
  }
}

bool tn_mind_number_binary(tn_op op, tn_mind_number left, tn_mind_number right, tn_mind_number *out) {
  if (!tn_dtype_in(left.dtype, TN_FLOATS)) return integer_binary(op, left, right, out);
  *out = float_binary(op, left, right);
  return true;
}

tn_mind_number tn_mind_number_negate(tn_mind_number x) {
  if (tn_dtype_in(x.dtype, TN_FLOATS)) return floating(x.dtype, -x.number);
  return whole(x.dtype, 0 - (uint64_t)x.integer);
}

tn_mind_number tn_mind_number_cast(tn_mind_number x, tn_dtype dtype) {
  bool from_float = tn_dtype_in(x.dtype, TN_FLOATS);
  if (x.dtype == dtype) return x;
  switch (dtype) {
    case TN_F32: return from_float ? floating(dtype, x.number) : floating(dtype, (double)(float)x.integer);
    case TN_F64: return floating(dtype, from_float ? x.number : (double)x.integer);
    case TN_I32: return whole(dtype, from_float ? (uint64_t)tn_i32_from_f64(x.number) : (uint64_t)x.integer);
    case TN_I64: return whole(dtype, from_float ? (uint64_t)tn_i64_from_f64(x.number) : (uint64_t)x.integer);
    default: return truth(tn_mind_number_truth(x));
  }
}

bool tn_mind_number_truth(tn_mind_number x) {
  return tn_dtype_in(x.dtype, TN_FLOATS) ? x.number != 0 : x.integer != 0;
}

double tn_mind_number_f64(tn_mind_number x) {
  return tn_dtype_in(x.dtype, TN_FLOATS) ? x.number : (double)x.integer;
}

static bool fits_sum(int64_t a, int64_t b) { return b >= 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b; }
static bool fits_difference(int64_t a, int64_t b) { return b >= 0 ? a >= INT64_MIN + b : a <= INT64_MAX + b; }

static bool fits_product(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return true;
  if (a == -1 || b == -1) return (a == -1 ? b : a) != INT64_MIN;
  return (int64_t)((uint64_t)a * (uint64_t)b) / b == a;
}

static bool fits(tn_op op, int64_t a, int64_t b) {
  switch (op) {
    case TN_OP_ADD: return fits_sum(a, b);
    case TN_OP_SUB: return fits_difference(a, b);
    case TN_OP_MUL: return fits_product(a, b);
    case TN_OP_DIV: return b != 0 && !(b == -1 && a == INT64_MIN);
    default: return false;
  }
}

bool tn_mind_number_exact(tn_op op, tn_mind_number left, tn_mind_number right, tn_mind_number *out) {
  bool narrow = left.dtype == TN_I32;
  if (!tn_dtype_in(left.dtype, TN_INTS) || left.dtype != right.dtype) return false;
  if (!fits(op, left.integer, right.integer)) return false;
  left.dtype = right.dtype = TN_I64; /* in which the result is exact */
  integer_binary(op, left, right, out);
  if (narrow && out->integer != (int32_t)out->integer) return false;
  out->dtype = narrow ? TN_I32 : TN_I64;
  return true;
}

void tn_mind_number_print(tn_mind_number x, tn_text *out) {
  switch (x.dtype) {
    case TN_F32: tn_text_f32(out, (float)x.number); break;
    case TN_F64: tn_text_f64(out, x.number); break;
    case TN_BOOL: tn_text_puts(out, x.integer ? "true" : "false"); break;
    default: tn_text_int(out, x.integer); break;
  }
}
