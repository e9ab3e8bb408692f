/* backend/cuda/kernels/lanes.inc.h: the order of sums (docs/numerics.md) on half a warp. Included with
 *   TYPE       float, double, int32_t, int64_t
 *   OF(name)   name##_f32 and its kin
 *   JOINS      how two become one: JOINS(ADD, x, y)
 * A chunk of 512 elements belongs to 16 lanes, each of which adds up every sixteenth; a tree joins them. */

static inline TYPE OF(lane_value)(TYPE value, int from) {
  uint32_t word[sizeof(TYPE) / 4];
  memcpy(word, &value, sizeof value);
  for (unsigned w = 0; w < sizeof(TYPE) / 4; w++) word[w] = card_lane_value(word[w], from);
  memcpy(&value, word, sizeof value);
  return value;
}

/* Of the 16 lanes of this half; the result is right in the first of them. All lanes of the warp call. */
static inline TYPE OF(join_lanes)(int kind, TYPE value) {
  int half = card_lane() & CARD_LANES, lane = card_lane() % CARD_LANES;
  CARD_UNROLL
  for (int k = CARD_LANES / 2; k > 0; k /= 2)
    value = OF(join)(kind, value, OF(lane_value)(value, half + (lane + k) % CARD_LANES));
  return value;
}

/* Neighbours, (0,1) (2,3) ..., until one is left; an odd one at the end moves up unchanged. All threads
 * of the block call; what they wrote is visible after a barrier. */
static inline TYPE OF(join_neighbours)(int kind, TYPE *value, int64_t count) {
  CARD_ROLLED
  for (; count > 1; count = (count + 1) / 2) {
    CARD_ROLLED
    for (int64_t first = 0; first < count / 2; first += card_threads()) {
      int64_t t = first + card_thread();
      bool mine = t < count / 2;
      TYPE both = mine ? OF(join)(kind, value[2 * t], value[2 * t + 1]) : value[0];
      card_barrier();
      if (mine) value[t] = both;
      card_barrier();
    }
    if (count % 2 && card_thread() == 0) value[count / 2] = value[count - 1];
    card_barrier();
  }
  TYPE all = value[0];
  card_barrier();
  return all;
}
