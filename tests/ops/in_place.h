/* tests/ops/in_place.h: a graph becomes its own gradient. */
#ifndef TN_TESTS_OPS_IN_PLACE_H
#define TN_TESTS_OPS_IN_PLACE_H

#include "unit/graph_support.h"

#include "ad/ad.h"

/* Its first output becomes the gradient of that output for the first parameter. */
static inline void become_gradient(tn_graph *graph) {
  tn_graph_builder builder;
  tn_value loss = graph->outputs.at[0].value, slope;
  tn_graph_builder_init(&builder, graph);
  tn_grad_request request = { .builder = &builder, .outputs = &loss, .output_count = 1,
                              .wrt = graph->params.at, .wrt_count = 1, .policy = TN_AD_STRICT };
  assert_true(tn_ad_grad(&request, &slope));
  assert_true(tn_graph_output(graph, 0, slope));
}
#endif
