/* base/rng_normal.c: normal random numbers, in a separate file because they need log and cos. */
#include "base/elementary.h"
#include "base/rng.h"

#define TWO_PI 6.283185307179586

/* sqrt(-2 ln u1) * cos(2 pi u2) in f64, whose error is far below half a unit of
 * f32. u1 = 0 means the middle of its cell: log 0 would be infinite. Square
 * root is exact by IEEE 754, log and cos are tern's own. */
float tn_rng_normal_of(uint32_t first, uint32_t second) {
  double u1 = (double)tn_rng_uniform_of(first), u2 = (double)tn_rng_uniform_of(second);
  if (u1 == 0) u1 = 0x1p-25;
  return (float)(__builtin_sqrt(-2.0 * tn_log_f64(u1)) * tn_cos_f64(TWO_PI * u2));
}

float tn_rng_normal(tn_rng *rng) {
  uint32_t first = tn_rng_next(rng);
  return tn_rng_normal_of(first, tn_rng_next(rng));
}
