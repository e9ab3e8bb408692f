/* backend/cuda/kernels/create.c: iota and counter-based random numbers. */
#include "backend/cuda/kernels/view.h"
#include "base/rng.h"
#include "op/scalar.h"

CARD_KERNEL(iota, card_iota_arguments) {
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->shape.count; n += card_numbers()) {
    int64_t after = 1;
    for (int axis = a->axis + 1; axis < a->shape.rank; axis++) after *= a->shape.dim[axis];
    int64_t at = n / after % a->shape.dim[a->axis];
    tn_element_store(card_at(&a->shape, &a->out, n), (tn_dtype)a->out.dtype,
                     tn_element_of_i64(at, (tn_dtype)a->out.dtype));
  }
}

CARD_KERNEL(random, card_random_arguments) {
  tn_rng_key key = tn_rng_key_of((uint64_t)*a->key);
  uint64_t first = a->index + *a->shift;
  CARD_ROLLED
  for (int64_t n = card_number(); n < a->shape.count; n += card_numbers()) {
    float number;
    if (a->normal)
      number = tn_rng_normal_of(tn_rng_word_at(&key, first + 2 * (uint64_t)n),
                                tn_rng_word_at(&key, first + 2 * (uint64_t)n + 1));
    else
      number = tn_rng_uniform_of(tn_rng_word_at(&key, first + (uint64_t)n));
    *(float *)card_at(&a->shape, &a->out, n) = number;
  }
}
