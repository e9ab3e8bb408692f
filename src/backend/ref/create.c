/* backend/ref/create.c: creates tensors: fill, iota, and random numbers.
 *
 * A random element is addressed, not drawn: its index determines the words of the generator it
 * uses, so any part of a tensor can be computed in any order. */
#include "backend/ref/internal.h"
#include "base/rng.h"

bool tn_ref_fill(const tn_kernel_call *call) {
  tn_ref_set(call, call->out, tn_element_of_f64(call->attrs->number, call->out->dtype));
  return true;
}

bool tn_ref_iota(const tn_kernel_call *call) {
  const tn_view *out = call->out;
  for (tn_index i = tn_index_over(call, out); i.inside; tn_index_next(&i))
    tn_ref_store(out, i.at, tn_element_of_i64(i.at[call->attrs->axis], out->dtype));
  return true;
}

/* The sequence that the key, an i64 scalar, names. */
static tn_rng_key key_of(const tn_kernel_call *call) {
  int64_t seed = tn_ref_load(&call->in[0], (int64_t[TN_RANK_LIMIT]){ 0 }).i64;
  return tn_rng_key_of((uint64_t)seed);
}

bool tn_ref_uniform(const tn_kernel_call *call) {
  tn_rng_key key = key_of(call);
  uint64_t word = call->attrs->index;
  for (tn_index i = tn_index_over(call, call->out); i.inside; tn_index_next(&i), word++) {
    float number = tn_rng_uniform_of(tn_rng_word_at(&key, word));
    tn_ref_store(call->out, i.at, (tn_element){ .f32 = number });
  }
  return true;
}

bool tn_ref_normal(const tn_kernel_call *call) {
  tn_rng_key key = key_of(call);
  uint64_t word = call->attrs->index;
  for (tn_index i = tn_index_over(call, call->out); i.inside; tn_index_next(&i), word += 2) {
    float number = tn_rng_normal_of(tn_rng_word_at(&key, word), tn_rng_word_at(&key, word + 1));
    tn_ref_store(call->out, i.at, (tn_element){ .f32 = number });
  }
  return true;
}
