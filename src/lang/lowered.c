/* lang/lowered.c: memory of given values and of lowered programs. */
#include "lang/lang.h"

const tn_given *tn_given_find(const tn_given *givens, size_t count, tn_str name) {
  for (size_t i = count; i-- > 0;) { /* the last of several counts */
    if (tn_str_equal(givens[i].name, name)) return &givens[i];
  }
  return NULL;
}

void tn_givens_free(tn_heap *heap, tn_givens *givens) {
  for (size_t i = 0; i < givens->count; i++) tn_tensor_unref(&givens->at[i].data);
  tn_vec_free(heap, givens);
}

bool tn_unit_keep_param_take(tn_unit *unit, tn_str name, tn_tensor *value) {
  tn_given param = { .name = name, .data = *value };
  if (tn_vec_push(unit->host->heap, &unit->params, param)) return true;
  tn_tensor_unref(value);
  return tn_host_out_of_memory(unit->host);
}

bool tn_lowered_init(tn_lowered *lowered, tn_heap *heap, size_t inputs, size_t params) {
  *lowered = (tn_lowered){ .loss = -1, .logits = -1, .input_count = inputs, .param_count = params };
  lowered->inputs = tn_heap_alloc(heap, (inputs + 1) * sizeof *lowered->inputs);
  lowered->params = tn_heap_alloc(heap, (params + 1) * sizeof *lowered->params);
  lowered->exempt = tn_heap_alloc(heap, (params + 1) * sizeof *lowered->exempt);
  if (lowered->inputs && lowered->params && lowered->exempt) return true;
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
  tn_heap_free(heap, lowered->exempt, (lowered->param_count + 1) * sizeof *lowered->exempt);
  if (lowered->has_graph) tn_graph_free(&lowered->graph);
  *lowered = (tn_lowered){ .loss = -1, .logits = -1 };
}
