/* backend/cuda/views.c: views as kernels take them, and launches. */
#include <string.h>

#include "backend/cuda/internal.h"

card_shape tn_card_shape(int rank, const int64_t *dim) {
  card_shape shape = { .count = 1, .rank = rank };
  for (int axis = 0; axis < rank; axis++) {
    shape.dim[axis] = dim[axis];
    shape.count *= dim[axis];
  }
  shape.narrow = shape.count <= INT32_MAX;
  for (int axis = 0; axis < rank && shape.narrow && shape.count > 0; axis++) {
    uint64_t length = (uint64_t)dim[axis];
    int bits = 0;                       /* 2^bits >= length, as small as possible */
    while (length > UINT64_C(1) << bits) bits++;
    if (length == 1) continue;
    shape.shift[axis] = (uint8_t)(bits - 1);
    shape.magic[axis] = (uint32_t)(((UINT64_C(1) << (31 + bits)) + length - 1) / length);
  }
  return shape;
}

/* Whether an axis with these strides is contiguous with the inner axis of that length in every view. */
static bool continues(const tn_view *const *views, int count, int axis, const int64_t *stride, int64_t dim) {
  for (int k = 0; k < count; k++)
    if (stride[k] != views[k]->stride[axis] * dim) return false;
  return true;
}

/* Goes from the last axis to the first and drops axes of length 1. Filled in backwards, then reversed. */
void tn_card_see(const tn_view *const *views, int count, tn_card_views *out) {
  int64_t dim[TN_RANK_LIMIT], forward[TN_RANK_LIMIT];   /* from the last axis on; from the first */
  int from[TN_RANK_LIMIT], rank = 0;
  for (int axis = views[0]->rank - 1; axis >= 0; axis--) {
    int64_t length = views[0]->dim[axis], stride[TN_CARD_VIEW_LIMIT];
    if (length == 1) continue;
    for (int k = 0; k < count; k++) stride[k] = views[k]->stride[axis];
    if (rank > 0 && continues(views, count, from[rank - 1], stride, dim[rank - 1])) {
      dim[rank - 1] *= length;
    } else {
      dim[rank] = length;
      from[rank++] = axis;
    }
  }
  for (int a = 0; a < rank; a++) forward[rank - 1 - a] = dim[a];
  out->shape = tn_card_shape(rank, forward);
  for (int k = 0; k < count; k++) {
    int32_t bytes = (int32_t)tn_dtype_bytes(views[k]->dtype);
    out->operand[k] = (card_operand){ .data = views[k]->data, .dtype = (int32_t)views[k]->dtype,
                                      .bytes = bytes };
    for (int a = 0; a < rank; a++) out->operand[k].stride[rank - 1 - a] = views[k]->stride[from[a]] * bytes;
  }
}

tn_view tn_card_axes(const tn_view *x, const bool *marked, bool wanted) {
  tn_view part = { .data = x->data, .dtype = x->dtype };
  for (int axis = 0; axis < x->rank; axis++) {
    if (marked[axis] != wanted) continue;
    part.dim[part.rank] = x->dim[axis];
    part.stride[part.rank++] = x->stride[axis];
  }
  return part;
}

bool tn_card_launch_room(const tn_kernel_call *call, tn_card_kernel kernel, int64_t blocks, int threads,
                         int room, card_start *arguments, size_t bytes) {
  tn_card_queue *queue = call->queue;
  if (blocks == 0) return true;
  int64_t limit = queue->block_limit ? queue->block_limit : TN_CARD_BLOCK_LIMIT;
  *arguments = (card_start){ queue->fault, queue->step };
  return queue->launch(queue, kernel, blocks < limit ? blocks : limit, threads, room, arguments, bytes);
}

bool tn_card_launch_blocks(const tn_kernel_call *call, tn_card_kernel kernel, int64_t blocks, int threads,
                           card_start *arguments, size_t bytes) {
  return tn_card_launch_room(call, kernel, blocks, threads, 0, arguments, bytes);
}

bool tn_card_launch(const tn_kernel_call *call, tn_card_kernel kernel, int64_t work, card_start *arguments,
                    size_t bytes) {
  int64_t blocks = tn_card_parts(work, CARD_BLOCK);
  return tn_card_launch_blocks(call, kernel, blocks, CARD_BLOCK, arguments, bytes);
}

tn_card_kernel tn_card_typed(tn_card_kernel first, tn_dtype dtype) {
  return (tn_card_kernel)(first + (dtype == TN_F32 ? 0 : dtype == TN_F64 ? 1 : dtype == TN_I32 ? 2 : 3));
}

bool tn_card_fault_of(const card_fault *from, tn_fault *fault) {
  if (!from->kind) return true;
  *fault = (tn_fault){ .kind = (tn_fault_kind)from->kind, .op = (tn_op)from->op, .axis = from->axis,
                       .got = from->got, .expected = from->expected };
  return false;
}
