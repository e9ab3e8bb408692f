/* backend/cuda/depthwise.c: depth-wise convolution and its gradients. */
#include "backend/cuda/internal.h"

static card_operand operand_of(const tn_view *view) {
  card_operand to = { .data = view->data, .dtype = (int32_t)view->dtype,
                      .bytes = (int32_t)tn_dtype_bytes(view->dtype) };
  for (int axis = 0; axis < 4; axis++) to.stride[axis] = view->stride[axis] * to.bytes;
  return to;
}

static bool launch(const tn_kernel_call *call, tn_card_kernel first, const tn_view *image,
                   const tn_view *outputs, const tn_view *weights) {
  card_depthwise_arguments a = { .image = operand_of(image), .outputs = operand_of(outputs),
                                 .weights = operand_of(weights), .count = tn_view_count(call->out) };
  if (a.count == 0) return true;
  a.each = outputs->dim[3] / image->dim[3];
  for (int axis = 0; axis < 4; axis++)
    a.image_dim[axis] = image->dim[axis], a.outputs_dim[axis] = outputs->dim[axis];
  for (int k = 0; k < 2; k++) {
    a.step[k] = call->attrs->step[k];
    a.low[k] = call->attrs->low[k];
    a.window[k] = call->attrs->window[k];
  }
  return tn_card_launch(call, tn_card_typed(first, call->out->dtype), a.count, &a.start, sizeof a);
}

bool tn_cuda_depthwise(const tn_kernel_call *call) {
  return launch(call, TN_CARD_depthwise_f32, &call->in[0], call->out, &call->in[1]);
}
bool tn_cuda_depthwise_image(const tn_kernel_call *call) {
  return launch(call, TN_CARD_depthwise_image_f32, call->out, &call->in[0], &call->in[1]);
}
bool tn_cuda_depthwise_weights(const tn_kernel_call *call) {
  return launch(call, TN_CARD_depthwise_weights_f32, &call->in[0], &call->in[1], call->out);
}
