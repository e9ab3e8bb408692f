/* export/draw.c: computes the random numbers of a graph, for formats without tern's generator. */
#include "export/draw.h"

bool tn_export_can_draw(const tn_graph *graph, const tn_node *node) {
  tn_op key = tn_graph_node(graph, node->in[0])->op;
  return tn_shape_is_known(&node->type.shape) && (key == TN_OP_FILL || key == TN_OP_CONST);
}

bool tn_export_draw(const tn_graph *graph, const tn_node *node, tn_draw next, tn_heap *heap, tn_tensor *out) {
  const tn_node *key = tn_graph_node(graph, node->in[0]);
  int64_t seed =
      key->op == TN_OP_FILL ? (int64_t)key->attrs->number : tn_view_get_i64(&key->attrs->literal->view, 0);
  tn_rng rng;
  if (!tn_tensor_new(heap, TN_F32, &node->type.shape, out)) return false;
  tn_rng_init(&rng, (uint64_t)seed);
  tn_rng_seek(&rng, node->attrs->index);
  float *to = out->view.data;
  int64_t count = tn_view_count(&out->view);
  for (int64_t i = 0; i < count; i++) to[i] = next(&rng);
  return true;
}
