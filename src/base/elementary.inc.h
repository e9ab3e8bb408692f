/* base/elementary.inc.h: the f32 elementary functions, once for every instruction set.
 *
 * Written against base/simd.h, which must have been included first; defines, static inline:
 *
 *   vf_exp(x)  vf_log(x)  vf_tanh(x)  vf_sigmoid(x)  vf_erf(x)  vf_sin(x)  vf_cos(x)  vf_pow(x, y)
 *
 * Nothing here depends on the number of lanes, and every operation used is exact or rounded as IEEE
 * 754 says, so the bits of a lane do not depend on where it runs. There is no branch on data,
 * except that sin and cos hand lanes with huge arguments to a scalar function.
 *
 * How one unit in the last place is kept: the last operation of each function adds a correction to a
 * larger value that is exact, or known together with its rounding error. So the only error of full size
 * is the rounding of the result; errors of the correction count less, by as much as it is smaller than
 * the result. Two idioms do the work. If |a| >= |b| (or a = 0), then after s = a + b the difference
 * (a - s) + b is exactly what the rounding lost. And fma(-q, d, n) is exactly what a quotient lost.
 *
 * The coefficients come from tools/minimax.py. */

#define K(constant) vf_set(constant)

/* Adding this number rounds to a whole number: the sum has no bits left for a fraction. */
#define ROUND_F32 0x1.8p23f

/* (exp(r) - 1) / r, |r| <= 0.35 */
static inline VF exp_slope(VF r) {
  VF p = vf_fma(K(0x1.6ac146p-10f), r, K(0x1.123da6p-7f));
  p = vf_fma(p, r, K(0x1.555858p-5f));
  p = vf_fma(p, r, K(0x1.55548cp-3f));
  p = vf_fma(p, r, K(0x1.fffffcp-2f));
  return vf_fma(p, r, K(1.0f));
}

/* exp(x) = 2^n exp(r), |r| <= 0.35: gives n, and exp(r) in *rest. The first of the two differences that
 * make r is exact: x and n times the float nearest to ln2 are multiples of 2^-25 (or n is 0), and so is
 * their difference, which is too small to need more than 24 bits. No more is done for the last bits: r and
 * the polynomial are rounded, and each adds up to a fifth of a unit to the half of the result. */
static inline VF exp_parts(VF x, VF *rest) {
  VF n = vf_fma(x, K(0x1.715476p+0f), K(ROUND_F32)) - K(ROUND_F32);
  VF r = vf_fma(n, K(0x1.05c610p-29f), vf_fnma(n, K(0x1.62e430p-1f), x));
  *rest = vf_fma(exp_slope(r), r, K(1.0f));
  return n;
}

static inline VF vf_exp(VF x) {
  VF rest, n = exp_parts(vf_clamp(x, K(104.0f)), &rest);   /* beyond, infinity or 0 in any case */
  return vf_select(vf_isnan(x), K(tn_nan_f32()), vf_scale(rest, n));
}

/* exp(r) = 1 + r + r*r p(r), |r| <= 0.35. Pairs of terms shorten the wait for the one before; the
 * largest term is added last and alone, so that it is rounded once. */
static inline VF exp_rest(VF r, VF square) {
  VF p = vf_fma(K(0x1.a207f6p-13f), square, vf_fma(K(0x1.6d3b14p-10f), r, K(0x1.11102p-7f)));
  p = vf_fma(p, square, vf_fma(K(0x1.5554f8p-5f), r, K(0x1.555556p-3f)));
  return vf_fma(p, r, K(0.5f));
}

/* exp(x + x_low) = 2^n (1 + r + w), |r| <= 0.35, w about r*r/2: gives 2^n. r is exact, as in vf_exp. What ln2
 * has beyond a float goes into w, where it meets numbers of its own size. For |x| <= 80. */
static inline VF exp_split(VF x, VF x_low, VF *r, VF *w) {
  VF shifted = vf_fma(x, K(0x1.715476p+0f), K(ROUND_F32 + 127.0f)), n = shifted - K(ROUND_F32 + 127.0f);
  *r = vf_fnma(n, K(0x1.62e430p-1f), x);
  VF low = vf_fma(n, K(0x1.05c610p-29f), x_low);
  VF sum = *r + low, square = sum * sum;
  *w = vf_fma(square, exp_rest(sum, square), low);
  return vi_as_float(vi_shl(vf_as_int(shifted), 23));   /* n + 127 is the exponent field of 2^n */
}

/* log(x 2^-more), x positive and normal. x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log x = e ln2 +
 * f - f*f/2 + f*f*f p(f). */
static inline VF log_of_normal(VF x, VF more) {
  VI steps = vi_sub(vf_as_int(x), vi_set(0x3f3504f3));   /* from sqrt(1/2), in units of the last place */
  VF e = vf_from_int(vi_sar(steps, 23)) - more;
  VF f = vi_as_float(vi_add(vi_and(steps, vi_set(0x7fffff)), vi_set(0x3f3504f3))) - K(1.0f);

  VF z = f * f;
  VF p = vf_fma(K(0x1.1b3b12p-4f), z, vf_fma(K(-0x1.e2dfbep-4f), f, K(0x1.e64e02p-4f)));
  p = vf_fma(p, z, vf_fma(K(-0x1.fb4476p-4f), f, K(0x1.233308p-3f)));
  p = vf_fma(p, z, vf_fma(K(-0x1.5562dep-3f), f, K(0x1.99a542p-3f)));
  p = vf_fma(p, z, vf_fma(K(-0x1.ffffeep-3f), f, K(0x1.555546p-2f)));

  VF sum = vf_fma(e, K(0x1.62e430p-1f), f);
  VF lost = vf_fma(e, K(0x1.62e430p-1f), -sum) + f;
  VF low = vf_fma(e, K(-0x1.05c610p-29f), lost);
  VF rest = vf_fma(z * f, p, low);
  return sum + vf_fnma(K(0.5f) * f, f, rest);
}

static inline VF vf_log(VF x) {
  VM denormal = vf_lt(x, K(0x1p-126f));
  VF result = log_of_normal(vf_select(denormal, x * K(0x1p23f), x), vf_select(denormal, K(23.0f), K(0.0f)));
  result = vf_select(vf_eq(x, K(0.0f)), -K(tn_infinity_f32()), result);
  result = vf_select(vf_eq(x, K(tn_infinity_f32())), x, result);
  return vf_select(vf_ge(x, K(0.0f)), result, K(tn_nan_f32()));
}

/* z / d of tanh, 1 / d of sigmoid. RECIPROCAL_GUESS(d) is within two units in the last place of 1 / d, or 0
 * where that is denormal. It is for GPUs, whose division is twice as long and has a branch. Not every
 * quotient is the division's, but tanh and sigmoid of every x are (tests/unit/guessed_quotients.c). */
#if defined(__NVPTX__)
#define RECIPROCAL_GUESS(d) __nvvm_rcp_approx_ftz_f(d)
#endif
#if defined(RECIPROCAL_GUESS)
static inline VF near_reciprocal(VF d) {
  VF guess = RECIPROCAL_GUESS(d);
  return vf_fma(guess, vf_fnma(guess, d, K(1.0f)), guess);
}
static inline VF tanh_quotient(VF z, VF d) {
  VF inverse = near_reciprocal(d), q = z * inverse;
  return vf_fma(vf_fnma(q, d, z), inverse, q);
}
static inline VF sigmoid_quotient(VF one, VF d) { return one * near_reciprocal(d); }
#else
static inline VF tanh_quotient(VF z, VF d) { return z / d; }
static inline VF sigmoid_quotient(VF one, VF d) { return one / d; }
#endif

/* tanh |x| = c - c (c*c / d), c = min(|x|, 1). Up to 1, d = b(x*x), a function as good as straight; from 1
 * on, where c is 1, d = (exp(2|x|) + 1) / 2. Of the two the larger one is the right one, on either side of
 * 1. exp(2|x|) = 2^n exp(2r) has the polynomial of exp, with the powers of two for 2r; what ln2 has beyond
 * a float can be left out: n is small where it would be seen. */
static inline VF vf_tanh(VF x) {
  VF size = vf_size_at_most(x, K(10.0f));   /* from 9.02 on the result is 1 */
  VF c = vf_at_most(size, K(1.0f)), z = c * c;
  VF b = vf_fma(K(0x1.dad29ap-13f), z, K(-0x1.750566p-8f));
  b = vf_fma(b, z, K(0x1.3332bap+0f));
  b = vf_fma(b, z, K(0x1.800006p+1f));

  VF shifted = vf_fma(size, K(0x1.715476p+1f), K(ROUND_F32 + 126.0f));
  VF half = vi_as_float(vi_shl(vf_as_int(shifted), 23));   /* 2^n / 2 */
  VF r = vf_fnma(shifted - K(ROUND_F32 + 126.0f), K(0x1.62e430p-2f), size);
  VF p = vf_fma(K(0x1.6ac146p-4f), r, K(0x1.123da6p-2f));
  p = vf_fma(p, r, K(0x1.555858p-1f));
  p = vf_fma(p, r, K(0x1.55548cp+0f));
  p = vf_fma(p, r, K(0x1.fffffcp+0f));
  p = vf_fma(p, r, K(2.0f));
  VF d = vf_at_least(b, vf_fma(half * r, p, half + K(0.5f)));

  VF result = vf_with_sign(vf_fnma(c, tanh_quotient(z, d), c), x);
  return vf_select(vf_isnan(x), K(tn_nan_f32()), result);
}

/* With s = 1 / (1 + exp |x|): s for negative x, 1 - s for positive x. exp and 1 + exp are kept together
 * with what their rounding lost, and both 2^-24 times as large, so that they are finite where s is
 * denormal; one step of Newton's method puts right what the quotient and those lost. */
static inline VF vf_sigmoid(VF x) {
  VF size = vf_size_at_most(x, K(104.0f)), one = K(0x1p-24f);
  VF shifted = vf_fma(size, K(0x1.715476p+0f), K(ROUND_F32 + 103.0f));
  VF u = vi_as_float(vi_shl(vf_as_int(shifted), 23));   /* 2^n one */
  VF n = shifted - K(ROUND_F32 + 103.0f);
  VF r = vf_fma(n, K(0x1.05c610p-29f), vf_fnma(n, K(0x1.62e430p-1f), size));
  VF p = exp_slope(r), rise = u * r;
  VF e = vf_fma(rise, p, u);
  VF e_low = vf_fma(rise, p, u - e);
  VF d = e + one;
  VF d_low = ((e - d) + one) + e_low;
  VF q = sigmoid_quotient(one, d);
  VF rest = vf_fnma(q, d_low, vf_fnma(q, d, one));
  VF s = vf_fma(rest, q * K(0x1p24f), q);
  VF result = vf_select(vf_lt(x, K(0.0f)), s, K(1.0f) - s);
  return vf_select(vf_isnan(x), K(tn_nan_f32()), result);
}

/* erf(x) = x + x p(x*x) up to 0.6875; beyond, with b = |x| - 0.6875, 1 - exp(g + g_low), g = c + b
 * q(b). Of a NaN it is a number. */
static inline VF erf_of_number(VF x) {
  VF size = vf_at_most(vf_abs(x), K(4.0f));   /* from 3.92 on the result is 1 */
  VF z = size * size;
  VF p = vf_fma(K(-0x1.6bd0eap-11f), z, K(0x1.5093d4p-8f));
  p = vf_fma(p, z, K(-0x1.b7cb96p-6f));
  p = vf_fma(p, z, K(0x1.ce2c28p-4f));
  p = vf_fma(p, z, K(-0x1.81273ep-2f));
  p = vf_fma(p, z, K(0x1.06eba8p-3f));
  VF small = vf_fma(size, p, size);

  VF b = size - K(0.6875f);   /* where it is negative, `large` is not used */
  VF c = b * b;
  VF q = vf_fma(K(-0x1.cb410ap-17f), b, K(0x1.2f0092p-12f));
  q = vf_fma(q, c, vf_fma(K(-0x1.45ecd6p-9f), b, K(0x1.ba811cp-7f)));
  q = vf_fma(q, c, vf_fma(K(-0x1.cc446p-5f), b, K(-0x1.9862a6p-1f)));
  q = vf_fma(q, b, K(-0x1.101132p+1f));
  VF g = vf_fma(q, b, K(-0x1.1b1bc8p+0f));
  VF g_low = vf_fma(q, b, K(-0x1.1b1bc8p+0f) - g) + K(-0x1.eb5944p-25f);
  VF r, w;
  VF u = exp_split(g, g_low, &r, &w);
  VF large = vf_fnma(u, r + w, K(1.0f) - u);

  return vf_with_sign(vf_select(vf_lt(size, K(0.6875f)), small, large), x);
}

static inline VF vf_erf(VF x) { return vf_select(vf_isnan(x), K(tn_nan_f32()), erf_of_number(x)); }

/* |x| = n pi/2 + r + low for |x| <= TRIG_LARGE, |r| <= pi/4. The first difference is exact, as in exp_split.
 * What first + part loses is computed as if `first` were the larger: of the floats up to TRIG_LARGE 29,223
 * have a larger `part`, and low comes out the same for each. */
#define TRIG_LARGE 0x1p16f

static inline VI trig_split(VF size, VF *r, VF *low) {
  VF shifted = vf_fma(size, K(0x1.45f306p-1f), K(ROUND_F32));
  VF n = shifted - K(ROUND_F32);
  VF first = vf_fnma(n, K(0x1.921fb6p+0f), size);
  VF part = n * K(0x1.777a5cp-25f);
  VF part_low = vf_fma(n, K(0x1.777a5cp-25f), -part);
  VF sum = first + part, lost = part - (sum - first);
  *r = sum;
  *low = vf_fma(n, K(0x1.ee59dap-50f), lost + part_low);
  return vf_as_int(shifted);
}

/* sin and cos of r + low; quadrant q of the circle takes the one or the other: an odd q swaps them,
 * bit 1 is the sign. What low adds is low * cos r to the sine, where 1 - r*r/2 is cosine enough,
 * and -low * r to the cosine. */
static inline VF trig_quadrant(VI quadrant, VF r, VF low) {
  VF z = r * r, cube = z * r, half = K(0.5f) * r;
  VF sum = vf_fnma(half, r, K(1.0f));
  VF lost = vf_fnma(half, r, K(1.0f) - sum);
  VF c = vf_fma(K(0x1.99e0f2p-16f), z, K(-0x1.6c0c1ap-10f));
  c = vf_fma(c, z, K(0x1.55554ap-5f));
  c = sum + vf_fma(z * z, c, vf_fnma(r, low, lost));

  VF s = vf_fma(K(-0x1.9955b6p-13f), z, K(0x1.11077cp-7f));
  s = vf_fma(cube, z * s, low * sum);
  s = r + vf_fma(cube, K(-0x1.555546p-3f), s);

  VM odd = vi_eq(vi_and(quadrant, vi_set(1)), vi_set(1));
  return vf_flip_sign(vf_select(odd, c, s), vi_as_float(vi_shl(quadrant, 30)));
}

/* NaN and infinity are "large" too: the comparison is false for them. */
static inline VF vf_sin(VF x) {
  VF size = vf_abs(x);
  VF r, low;
  VI quadrant = trig_split(size, &r, &low);
  VF result = vf_flip_sign(trig_quadrant(quadrant, r, low), x);
  VM large = vm_not(vf_le(size, K(TRIG_LARGE)));
  return vm_any(large) ? vf_map(large, vf_select(large, x, result), tn_sin_large_f32) : result;
}

static inline VF vf_cos(VF x) {
  VF size = vf_abs(x);
  VF r, low;
  VI quadrant = trig_split(size, &r, &low);
  VF result = trig_quadrant(vi_add(quadrant, vi_set(1)), r, low);
  VM large = vm_not(vf_le(size, K(TRIG_LARGE)));
  return vm_any(large) ? vf_map(large, vf_select(large, x, result), tn_cos_large_f32) : result;
}

/* Coefficients of log2((1 + s) / (1 - s)) / s by powers of s*s, and of 2^f, |f| <= 1/2, by powers of f. */
#define POW_LOG_6 0x1.f1703519c0f57p-3
#define POW_LOG_5 0x1.0bb8be1ec92d7p-2
#define POW_LOG_4 0x1.484fa2823e674p-2
#define POW_LOG_3 0x1.a61756a39fa52p-2
#define POW_LOG_2 0x1.2776c516770b9p-1
#define POW_LOG_1 0x1.ec709dc39ccf2p-1
#define POW_LOG_0 0x1.71547652b82ffp+1
#define POW_EXP_8 0x1.640a5699b3a77p-20
#define POW_EXP_7 0x1.00dc1a66c9e0ep-16
#define POW_EXP_6 0x1.430874adab49ap-13
#define POW_EXP_5 0x1.5d874610ef839p-10
#define POW_EXP_4 0x1.3b2ab7395fd9dp-7
#define POW_EXP_3 0x1.c6b08dd670e2p-5
#define POW_EXP_2 0x1.ebfbdff80cd08p-3
#define POW_EXP_1 0x1.62e42fef85399p-1

/* x^y = 2^(y log2 x) for positive x, in double: log2 x and the product keep far more bits than the
 * result needs, and the conversion back is the one rounding that counts, overflow and denormals
 * included. No fma here: the plain operations are accurate enough and fast on machines without it. */
static inline VD pow_positive(VD x, VD y) {
  VD e;
  VD m = vd_split(x, &e);
  VD s = (m - vd_set(1.0)) / (m + vd_set(1.0));
  VD z = s * s;
  VD p = vd_set(POW_LOG_6) * z + vd_set(POW_LOG_5);
  p = p * z + vd_set(POW_LOG_4);
  p = p * z + vd_set(POW_LOG_3);
  p = p * z + vd_set(POW_LOG_2);
  p = p * z + vd_set(POW_LOG_1);
  p = p * z + vd_set(POW_LOG_0);
  VD t = vd_at_least(vd_at_most(y * (e + s * p), vd_set(200.0)), vd_set(-200.0));

  VD n = (t + vd_set(0x1.8p52)) - vd_set(0x1.8p52);
  VD f = t - n;
  VD q = vd_set(POW_EXP_8) * f + vd_set(POW_EXP_7);
  q = q * f + vd_set(POW_EXP_6);
  q = q * f + vd_set(POW_EXP_5);
  q = q * f + vd_set(POW_EXP_4);
  q = q * f + vd_set(POW_EXP_3);
  q = q * f + vd_set(POW_EXP_2);
  q = q * f + vd_set(POW_EXP_1);
  return (q * f + vd_set(1.0)) * vd_pow2(n);
}

/* The special cases of IEEE 754, the strongest last. An infinite y is an even whole number. */
static inline VF vf_pow(VF x, VF y) {
  VF size = vf_abs(x);
  VF result = vf_join(pow_positive(vd_low(size), vd_low(y)), pow_positive(vd_high(size), vd_high(y)));

  VM zero = vf_eq(x, K(0.0f)), infinite = vf_eq(size, K(tn_infinity_f32())), falling = vf_lt(y, K(0.0f));
  VM to_zero = vm_or(vm_andnot(zero, falling), vm_and(infinite, falling));
  VM to_infinity = vm_or(vm_and(zero, falling), vm_andnot(infinite, falling));
  result = vf_select(to_zero, K(0.0f), vf_select(to_infinity, K(tn_infinity_f32()), result));

  VF half = K(0.5f) * y;
  VM whole = vf_eq(vf_round_even(y), y);
  VM odd = vm_andnot(whole, vf_eq(vf_round_even(half), half));
  result = vf_select(odd, vf_with_sign(result, x), result);

  VM finite_negative = vm_andnot(vf_lt(x, K(0.0f)), infinite);
  VM invalid = vm_or(vm_andnot(finite_negative, whole), vm_or(vf_isnan(x), vf_isnan(y)));
  result = vf_select(invalid, K(tn_nan_f32()), result);

  VM turning = vm_and(vf_eq(size, K(1.0f)), vf_eq(vf_abs(y), K(tn_infinity_f32())));
  VM one = vm_or(vm_or(vf_eq(x, K(1.0f)), vf_eq(y, K(0.0f))), turning);
  return vf_select(one, K(1.0f), result);
}

#undef K
#undef ROUND_F32
