/* tests/unit/elementary_lanes.c: every name of base/simd.h, and every elementary function, as a
 * loop over arrays. */
#include "unit/elementary_lanes.h"

#include "base/simd.h"

#include "base/elementary.inc.h"

#define JOIN_TOKENS(a, b) a##_##b
#define JOIN(a, b) JOIN_TOKENS(a, b)
#define TEXT_OF(token) #token
#define TEXT(token) TEXT_OF(token)

/* Whole vectors first, then the tail through partial loads and stores. */
#define CASE(name, expression)                                                                              \
  static void run_##name(const float *a, const float *b, const float *c, float *out, size_t count) {        \
    size_t i = 0;                                                                                           \
    for (; i + TN_LANES <= count; i += TN_LANES) {                                                          \
      VF x = vf_load(a + i), y = vf_load(b + i), z = vf_load(c + i);                                        \
      (void)y, (void)z;                                                                                     \
      vf_store(out + i, expression);                                                                        \
    }                                                                                                       \
    int left = (int)(count - i);                                                                            \
    VF x = vf_load_part(a + i, left), y = vf_load_part(b + i, left), z = vf_load_part(c + i, left);         \
    (void)y, (void)z;                                                                                       \
    vf_store_part(out + i, expression, left);                                                               \
  }

static inline VF mask_bits(VM mask) { return vi_as_float(vm_as_int(mask)); }
static inline VI bits(VF v) { return vf_as_int(v); }
static inline VF raw(VI v) { return vi_as_float(v); }

/* A whole number between -limit and limit that depends on v. */
static inline VF whole(VF v, float limit) {
  VF finite = vf_select(vf_isnan(v), vf_set(0.0f), vf_clamp(v, vf_set(limit)));
  return vf_round_even(finite);
}

/* A number between 0.5 and 1 with the mantissa of v. */
static inline VF near_one(VF v) {
  return raw(vi_or(vi_and(bits(v), vi_set(0x7fffff)), vi_set(0x3f000000)));
}

static inline VF split_exponent(VF v) {
  VD low, high;
  vd_split(vd_low(v), &low);
  vd_split(vd_high(v), &high);
  return vf_join(low, high);
}

static inline VF split_mantissa(VF v) {
  VD e;
  VD low = vd_split(vd_low(v), &e), high = vd_split(vd_high(v), &e);
  return vf_join(low, high);
}

static inline VF positive(VF v) {
  VF size = vf_abs(v);
  VM normal = vm_and(vf_gt(size, vf_set(0.0f)), vf_lt(size, vf_set(tn_infinity_f32())));
  return vf_select(normal, size, vf_set(1.0f));
}

/* An operation on doubles, on both halves of x, y and z. */
#define LOW(operation) operation(vd_low(x), vd_low(y), vd_low(z))
#define HIGH(operation) operation(vd_high(x), vd_high(y), vd_high(z))
#define HALVES(operation) vf_canonical(vf_join(LOW(operation), HIGH(operation)))
#define PRODUCT(a, b, c) ((a) * (b) + (c))
#define QUOTIENT(a, b, c) ((a) / (b) - (c))
#define AT_MOST(a, b, c) vd_at_most(a, b)
#define AT_LEAST(a, b, c) vd_at_least(a, b)

static inline VF through_integers(VF v) {
  int32_t words[TN_LANES];
  vi_store(words, bits(v));
  vi_store_part(words, vi_load_part(words, TN_LANES), TN_LANES);
  return raw(vi_load(words));
}

CASE(exp, vf_exp(x))
CASE(log, vf_log(x))
CASE(tanh, vf_tanh(x))
CASE(sigmoid, vf_sigmoid(x))
CASE(erf, vf_erf(x))
CASE(sin, vf_sin(x))
CASE(cos, vf_cos(x))
CASE(pow, vf_pow(x, y))

CASE(add, vf_canonical(x + y))
CASE(subtract, vf_canonical(x - y))
CASE(multiply, vf_canonical(x * y))
CASE(divide, vf_canonical(x / y))
CASE(negate, -x)
CASE(fma, vf_canonical(vf_fma(x, y, z)))
CASE(fnma, vf_canonical(vf_fnma(x, y, z)))
CASE(sqrt, vf_canonical(vf_sqrt(x)))
CASE(abs, vf_abs(x))
CASE(at_most, vf_at_most(x, y))
CASE(at_least, vf_at_least(x, y))
CASE(clamp, vf_select(vf_isnan(x), vf_set(0.0f), vf_clamp(x, vf_set(3.0f))))
CASE(size_at_most, vf_select(vf_isnan(x), vf_set(0.0f), vf_size_at_most(x, vf_set(3.0f))))
CASE(min, vf_min(x, y))
CASE(max, vf_max(x, y))
CASE(round_even, vf_canonical(vf_round_even(x)))
CASE(floor, vf_canonical(vf_floor(x)))
CASE(ceil, vf_canonical(vf_ceil(x)))
CASE(trunc, vf_canonical(vf_trunc(x)))
CASE(canonical, vf_canonical(x))
CASE(sign, vf_sign(x))
CASE(with_sign, vf_with_sign(x, y))
CASE(flip_sign, vf_flip_sign(x, y))
CASE(pow2, vf_pow2(whole(x, 126.0f)))
CASE(scale, vf_scale(near_one(x), whole(y, 200.0f)))
CASE(scale_small, vf_scale(near_one(x), vf_set(-130.0f) + whole(y, 20.0f)))
CASE(from_int, vf_from_int(bits(x)))
CASE(to_int, raw(vf_to_int(x)))
CASE(lt, mask_bits(vf_lt(x, y)))
CASE(le, mask_bits(vf_le(x, y)))
CASE(gt, mask_bits(vf_gt(x, y)))
CASE(ge, mask_bits(vf_ge(x, y)))
CASE(eq, mask_bits(vf_eq(x, y)))
CASE(isnan, mask_bits(vf_isnan(x)))
CASE(select, vf_select(vf_lt(x, y), z, x))
CASE(and, mask_bits(vm_and(vf_lt(x, y), vf_lt(y, z))))
CASE(or, mask_bits(vm_or(vf_lt(x, y), vf_lt(y, z))))
CASE(not, mask_bits(vm_not(vf_lt(x, y))))
CASE(andnot, mask_bits(vm_andnot(vf_lt(x, y), vf_lt(y, z))))
CASE(int_add, raw(vi_add(bits(x), bits(y))))
CASE(int_sub, raw(vi_sub(bits(x), bits(y))))
CASE(int_mul, raw(vi_mul(bits(x), bits(y))))
CASE(int_and, raw(vi_and(bits(x), bits(y))))
CASE(int_or, raw(vi_or(bits(x), bits(y))))
CASE(int_xor, raw(vi_xor(bits(x), bits(y))))
CASE(int_shl, raw(vi_shl(bits(x), 7)))
CASE(int_shr, raw(vi_shr(bits(x), 7)))
CASE(int_sar, raw(vi_sar(bits(x), 7)))
CASE(int_sar_all, raw(vi_sar(bits(x), 31)))
CASE(int_sar_none, raw(vi_sar(bits(x), 0)))
CASE(int_eq, mask_bits(vi_eq(bits(x), bits(y))))
CASE(int_lt, mask_bits(vi_lt(bits(x), bits(y))))
CASE(int_gt, mask_bits(vi_gt(bits(x), bits(y))))
CASE(int_select, raw(vi_select(vi_lt(bits(x), bits(y)), bits(y), bits(z))))
CASE(int_memory, through_integers(x))
CASE(double_product, HALVES(PRODUCT))
CASE(double_quotient, HALVES(QUOTIENT))
CASE(double_at_most, HALVES(AT_MOST))
CASE(double_at_least, HALVES(AT_LEAST))
CASE(double_pow2, vf_join(vd_pow2(vd_low(whole(x, 140.0f))), vd_pow2(vd_high(whole(x, 140.0f)))))
CASE(double_exponent, split_exponent(positive(x)))
CASE(double_mantissa, split_mantissa(positive(x)))
CASE(map, vf_map(vf_lt(x, y), vf_canonical(z), tn_sin_large_f32))

#define ROW(name) { #name, run_##name }
static const lanes_case cases[] = {
  ROW(exp), ROW(log), ROW(tanh), ROW(sigmoid), ROW(erf), ROW(sin), ROW(cos), ROW(pow),
  ROW(add), ROW(subtract), ROW(multiply), ROW(divide), ROW(negate), ROW(fma), ROW(fnma), ROW(sqrt), ROW(abs),
  ROW(at_most), ROW(at_least), ROW(clamp), ROW(size_at_most), ROW(min), ROW(max),
  ROW(round_even), ROW(floor), ROW(ceil),
  ROW(trunc), ROW(canonical), ROW(sign), ROW(with_sign), ROW(flip_sign), ROW(pow2), ROW(scale),
  ROW(scale_small), ROW(from_int), ROW(to_int), ROW(lt), ROW(le), ROW(gt), ROW(ge), ROW(eq), ROW(isnan),
  ROW(select), ROW(and), ROW(or), ROW(not), ROW(andnot), ROW(int_add), ROW(int_sub), ROW(int_mul),
  ROW(int_and), ROW(int_or), ROW(int_xor), ROW(int_shl), ROW(int_shr), ROW(int_sar), ROW(int_sar_all),
  ROW(int_sar_none), ROW(int_eq), ROW(int_lt), ROW(int_gt), ROW(int_select), ROW(int_memory),
  ROW(double_product), ROW(double_quotient), ROW(double_at_most), ROW(double_at_least), ROW(double_pow2),
  ROW(double_exponent), ROW(double_mantissa), ROW(map),
};

/* One lane, and all lanes but one, for every lane: what any and all say. */
static bool masks_hold(void) {
  for (int i = 0; i < TN_LANES; i++) {
    float one[TN_LANES] = { 0 };
    one[i] = 1.0f;
    VM only = vf_gt(vf_load(one), vf_set(0.0f));
    VM none = vm_andnot(only, only);
    if (!vm_any(only) || vm_all(only) != (TN_LANES == 1)) return false;
    if (vm_any(vm_not(only)) != (TN_LANES > 1) || vm_all(vm_not(only))) return false;
    if (vm_any(none) || vm_all(none) || !vm_any(vm_not(none)) || !vm_all(vm_not(none))) return false;
  }
  return true;
}

static void fma_f64(const double *a, const double *b, const double *c, double *out, size_t count) {
  for (size_t i = 0; i < count; i++) out[i] = tn_fma_f64(a[i], b[i], c[i]);
}

const lanes_table JOIN(lanes, TN_ISA) = {
  .isa = TEXT(TN_ISA), .lanes = TN_LANES, .hardware_fma = TN_FMA_IN_HARDWARE,
  .cases = cases, .count = sizeof cases / sizeof *cases,
  .masks_hold = masks_hold, .fma_f64 = fma_f64,
};
