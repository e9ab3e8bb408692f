/* train/sample.c: samples a token from scores. */
#include "train/sample.h"

#include "base/elementary.h"

/* A number that is larger for a larger score; -0 and 0 are one score. */
static uint32_t rank_of(float score) {
  uint32_t bits = tn_bits_f32(score + 0.0f);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/* Sets scores of excluded tokens to -infinity. False if a score is NaN. */
static bool close_others(float *scores, const bool *allowed, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!allowed[i]) scores[i] = -tn_infinity_f32();
    if (scores[i] != scores[i]) return false;
  }
  return true;
}

static size_t largest(const float *scores, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++) {
    if (scores[i] > scores[best]) best = i;
  }
  return best;
}

static size_t count_from(const float *scores, size_t count, uint32_t rank) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) found += rank_of(scores[i]) >= rank;
  return found;
}

/* Keeps the k largest, on a tie the first ones. The smallest of them is found bit by bit, so that nothing is
 * sorted and no memory is needed. */
static void keep_largest(float *scores, size_t count, size_t k) {
  uint32_t least = 0;
  if (k == 0 || k >= count) return;
  for (int bit = 31; bit >= 0; bit--) {
    uint32_t higher = least | (uint32_t)1 << bit;
    if (count_from(scores, count, higher) >= k) least = higher;
  }
  size_t ties = k - (least == UINT32_MAX ? 0 : count_from(scores, count, least + 1));
  for (size_t i = 0; i < count; i++) {
    uint32_t rank = rank_of(scores[i]);
    if (rank > least) continue;
    if (rank == least && ties > 0)
      ties--;
    else
      scores[i] = -tn_infinity_f32();
  }
}

static double weight_of(const tn_sampling *sampling, float score, float best) {
  return tn_exp_f64(((double)score - (double)best) / sampling->temperature);
}

/* In [0, 1), with 53 bits. */
static double draw(tn_rng *rng) {
  uint64_t high = tn_rng_next(rng) >> 5, low = tn_rng_next(rng) >> 6;
  return (double)(high << 26 | low) * 0x1p-53;
}

static size_t pick(const tn_sampling *sampling, const float *scores, size_t count, size_t best, tn_rng *rng) {
  double total = 0, sum = 0;
  for (size_t i = 0; i < count; i++) total += weight_of(sampling, scores[i], scores[best]);
  double wanted = draw(rng) * total;
  for (size_t i = 0; i < count; i++) {
    sum += weight_of(sampling, scores[i], scores[best]);
    if (sum > wanted) return i;
  }
  return best;
}

size_t tn_sample(const tn_sampling *sampling, float *scores, const bool *allowed, size_t count, tn_rng *rng) {
  if (count == 0 || !close_others(scores, allowed, count)) return SIZE_MAX;
  size_t best = largest(scores, count);
  float size = scores[best];
  if (size == tn_infinity_f32() || size == -tn_infinity_f32()) return SIZE_MAX;
  if (sampling->temperature == 0) return best;
  keep_largest(scores, count, sampling->top_k);
  return pick(sampling, scores, count, best, rng);
}
