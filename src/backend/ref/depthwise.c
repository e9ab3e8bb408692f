/* backend/ref/depthwise.c: depth-wise convolution and its gradients, element by element. */
#include "backend/depthwise.h"
#include "backend/ref/internal.h"

static bool run(const tn_kernel_call *call,
                tn_element (*element_at)(const tn_kernel_call *call, const int64_t at[4])) {
  for (tn_index i = tn_index_over(call, call->out); i.inside; tn_index_next(&i))
    tn_ref_store(call->out, i.at, element_at(call, i.at));
  return true;
}

bool tn_ref_depthwise(const tn_kernel_call *call) { return run(call, tn_depthwise_at); }
bool tn_ref_depthwise_image(const tn_kernel_call *call) { return run(call, tn_depthwise_image_at); }
bool tn_ref_depthwise_weights(const tn_kernel_call *call) { return run(call, tn_depthwise_weights_at); }
