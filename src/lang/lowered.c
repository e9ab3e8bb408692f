/* lang/lowered.c: a program as a graph with its values. */
#include "lang/lang.h"

bool tn_lowered_init(tn_lowered *lowered, tn_heap *heap, size_t inputs, size_t params) {
  *lowered = (tn_lowered){ .loss = -1, .input_count = inputs, .param_count = params };
  lowered->inputs = tn_heap_alloc(heap, (inputs + 1) * sizeof *lowered->inputs);
  lowered->params = tn_heap_alloc(heap, (params + 1) * sizeof *lowered->params);
  if (lowered->inputs && lowered->params) return true;
  tn_lowered_free(lowered, heap);
  return false;
}

static void free_tensors(tn_heap *heap, tn_tensor *tensors, size_t count) {
  for (size_t i = 0; tensors && i < count; i++) tn_tensor_unref(&tensors[i]);
  tn_heap_free(heap, tensors, (count + 1) * sizeof *tensors);
}

void tn_lowered_free(tn_lowered *lowered, tn_heap *heap) {
  free_tensors(heap, lowered->inputs, lowered->input_count);
  free_tensors(heap, lowered->params, lowered->param_count);
  if (lowered->has_graph) tn_graph_free(&lowered->graph);
  *lowered = (tn_lowered){ .loss = -1 };
}
