/* base/elementary.c: the f32 functions for one lane. Compiled from the same source as every vector
 * version, these are the definition of their bits. */
#include <float.h>

#define TN_SIMD_SCALAR 1
#include "base/simd.h"

#include "base/elementary.inc.h"

/* A compiler that computes floats in something wider rounds twice. */
_Static_assert(FLT_EVAL_METHOD == 0, "f32 arithmetic must round to f32 at every step");

float tn_exp_f32(float x) { return vf_exp(x); }
float tn_log_f32(float x) { return vf_log(x); }
float tn_tanh_f32(float x) { return vf_tanh(x); }
float tn_sigmoid_f32(float x) { return vf_sigmoid(x); }
float tn_erf_f32(float x) { return vf_erf(x); }
float tn_sin_f32(float x) { return vf_sin(x); }
float tn_cos_f32(float x) { return vf_cos(x); }
float tn_pow_f32(float x, float y) { return vf_pow(x, y); }

/* A float is exact as a double, and a result within an ulp of a double is as good as exact for a
 * float. */
float tn_sin_large_f32(float x) { return tn_canonical_f32((float)tn_sin_f64((double)x)); }
float tn_cos_large_f32(float x) { return tn_canonical_f32((float)tn_cos_f64((double)x)); }
