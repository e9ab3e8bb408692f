/* tests/gpu/planned.h: a plan on the GPU that the driver finds: that of tests/gpu/driver.c, or a real one. */
#ifndef TN_TESTS_GPU_PLANNED_H
#define TN_TESTS_GPU_PLANNED_H

#include "backend/cuda/card.h"
#include "unit/graph_support.h"

typedef struct {
  world w;
  tn_card *card;
  tn_backend backend;
  tn_graph graph;
  tn_plan *plan;
} planned;

/* The graph in `text` with these options, whose back end is set here. planned_close ends it. */
static inline void planned_open(planned *p, const char *text, tn_plan_options options) {
  const char *why;
  tn_fault fault;
  *p = (planned){ 0 };
  world_open(&p->w);
  p->card = tn_card_open(&p->w.heap, 0, &why);
  if (!p->card) fail_msg("%s", why);
  p->backend = *tn_backend_cuda();
  p->backend.card = p->card;
  p->backend.host = tn_backend_ref();
  graph_from(&p->w, text, &p->graph);
  options.backend = &p->backend;
  p->plan = tn_plan_new(&p->w.heap, &p->graph, &options, &fault);
  assert_non_null(p->plan);
}

static inline void planned_close(planned *p) {
  tn_plan_free(p->plan);
  tn_graph_free(&p->graph);
  tn_card_close(p->card);
  world_close(&p->w);
}

static inline void planned_input(planned *p, int input, void *data, tn_dtype dtype, tn_shape shape) {
  tn_view view = tn_view_make(data, dtype, &shape);
  tn_plan_bind_input(p->plan, input, &view);
}
#endif
