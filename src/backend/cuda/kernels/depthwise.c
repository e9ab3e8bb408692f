/* backend/cuda/kernels/depthwise.c: depth-wise convolution and its gradients: a thread for each element, so
 * that neighbours read the channels of a pixel that lie side by side. */
#include "backend/cuda/kernels/types.h"

/* Coordinates in a view of four axes: image, row, column, channel. */
typedef struct {
  int64_t at[4];
} card_corner;

static inline card_corner corner_of(const int64_t *dim, int64_t number) {
  card_corner corner;
  CARD_UNROLL
  for (int axis = 3; axis > 0; axis--) corner.at[axis] = number % dim[axis], number /= dim[axis];
  corner.at[0] = number;
  return corner;
}

static inline char *place_at(const card_operand *x, int64_t a, int64_t b, int64_t c, int64_t d) {
  return x->data + a * x->stride[0] + b * x->stride[1] + c * x->stride[2] + d * x->stride[3];
}

#define TYPE float
#define OF(name) name##_f32
#include "backend/cuda/kernels/depthwise.inc.h"
#undef TYPE
#undef OF
#define TYPE double
#define OF(name) name##_f64
#include "backend/cuda/kernels/depthwise.inc.h"
#undef TYPE
#undef OF
#define TYPE int32_t
#define OF(name) name##_i32
#include "backend/cuda/kernels/depthwise.inc.h"
#undef TYPE
#undef OF
#define TYPE int64_t
#define OF(name) name##_i64
#include "backend/cuda/kernels/depthwise.inc.h"
