/* backend/cuda/kernels/quick.h: rows of the elementwise table in fewer instructions, for four elements. */
#ifndef TN_BACKEND_CUDA_KERNELS_QUICK_H
#define TN_BACKEND_CUDA_KERNELS_QUICK_H

#include "backend/cuda/kernels/four.h"
#include "base/elementary.h"

/* The rows of base/elementary.h that have a quick function. */
#define CARD_QUICK_ROWS(UNARY, BINARY) \
  UNARY(LOG, log) UNARY(ERF, erf) UNARY(SIN, sin) UNARY(COS, cos) BINARY(POW, pow)

CARD_INLINE bool card_has_quick(int op) {
#define QUICK(ID, name) || op == TN_OP_##ID
  return false CARD_QUICK_ROWS(QUICK, QUICK);
#undef QUICK
}

CARD_INLINE bool card_quick(int op, float x, float y, float *result) {
  switch (op) {
#define UNARY(ID, name)  case TN_OP_##ID: return tn_quick_##name##_f32(x, result);
#define BINARY(ID, name) case TN_OP_##ID: return tn_quick_##name##_f32(x, y, result);
    CARD_QUICK_ROWS(UNARY, BINARY)
#undef UNARY
#undef BINARY
    default: return false;
  }
}

/* Whether all four are known. One question for four: what is not known is rare. */
CARD_INLINE bool card_all_quick(int op, card_four x, card_four y, card_four *result) {
  bool all = true;
  CARD_UNROLL
  for (int i = 0; i < 4; i++) all = card_quick(op, x.of[i], y.of[i], &result->of[i]) & all;
  return all;
}
#endif
