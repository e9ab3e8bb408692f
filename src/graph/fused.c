/* graph/fused.c: sizes and the well-formedness of fused programs. */
#include "graph/fused.h"

size_t tn_fused_bytes(int step_count) {
  return sizeof(tn_fused) + (size_t)step_count * sizeof(tn_fused_step);
}
