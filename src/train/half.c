/* train/half.c: shared by the parts of a step. */
#include "train/half.h"

#include <stdatomic.h>

#include "base/pool.h"

void tn_half_free(tn_half *half) {
  tn_plan_free(half->plan);
  if (half->graph.heap) tn_graph_free(&half->graph);
}

bool tn_half_gradients(tn_graph_builder *builder, tn_value loss, tn_value *grads) {
  tn_value seed = TN_NO_VALUE;
  tn_grad_request request = { .builder = builder,
                              .outputs = &loss,
                              .seeds = &seed,
                              .output_count = 1,
                              .wrt = builder->graph->params.at,
                              .wrt_count = (int)builder->graph->params.count,
                              .policy = TN_AD_LENIENT,
                              .sparse_zeros = true };
  return tn_ad_grad(&request, grads);
}

int tn_half_input(const tn_half *half, const char *name) {
  const tn_graph *graph = &half->graph;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    tn_name found = tn_graph_node(graph, graph->inputs.at[i])->attrs->name;
    if (tn_str_is(tn_names_text(graph->names, found), name)) return (int)i;
  }
  return -1;
}

/* ---- looking at every value ---- */

/* What can be checked: everything that is computed whatever branch is taken. */
bool tn_half_show_all(tn_half *half, tn_arena *arena) {
  tn_graph *graph = &half->graph;
  size_t count = graph->nodes.count;
  half->shown = tn_arena_array(arena, count + 1, sizeof *half->shown);
  if (!half->shown) return false;
  for (size_t v = 1; v < count; v++) {
    const tn_node *node = tn_graph_node(graph, (tn_value)v);
    if (node->region != 0 || !tn_dtype_in(node->type.dtype, TN_FLOATS)) continue;
    half->shown[v] = (int)graph->outputs.count;
    if (!tn_graph_output(graph, 0, (tn_value)v)) return false;
  }
  return true;
}

bool tn_view_not_finite(const tn_view *view, double *value) {
  int64_t count = tn_dtype_in(view->dtype, TN_FLOATS) ? tn_view_count(view) : 0;
  for (int64_t i = 0; i < count; i++) {
    *value = tn_view_get_f64(view, i);
    if (*value - *value != 0) return true; /* NaN, or an infinity less itself */
  }
  return false;
}

/* ---- many tensors ---- */

#define SCAN_COST 0.25 /* nanoseconds for an element that comes from memory */
#define SCAN_PART 16384

typedef struct {
  const tn_tensor *tensors;
  int64_t pieces;   /* of all of them */
  atomic_int first; /* that holds one */
} scan;

/* All bits of the exponent are set: one more carries into the place of the sign. */
static bool holds_not_finite(const uint32_t *bits, int64_t count) {
  uint32_t carried = 0;
  for (int64_t i = 0; i < count; i++)
    carried |= (bits[i] & UINT32_C(0x7f800000)) + UINT32_C(0x00800000);
  return carried >> 31;
}

static bool piece_is_spoiled(const tn_view *view, int64_t first, int64_t count) {
  double value;
  if (view->dtype == TN_F32) return holds_not_finite((const uint32_t *)view->data + first, count);
  return first == 0 && tn_view_not_finite(view, &value);
}

static int64_t pieces_of(const tn_view *view) { return (tn_view_count(view) + SCAN_PART - 1) / SCAN_PART; }

/* Parts share the pieces of all tensors as if these were one: most tensors have fewer pieces than parts. */
static void scan_part(void *context, const tn_part *part) {
  scan *job = context;
  int64_t from = job->pieces * part->number / part->count;
  int64_t to = job->pieces * (part->number + 1) / part->count;
  for (int t = 0; t < atomic_load(&job->first) && to > 0; t++) {
    const tn_view *view = &job->tensors[t].view;
    int64_t pieces = pieces_of(view), count = tn_view_count(view);
    int64_t begin = from > 0 ? from * SCAN_PART : 0, end = to < pieces ? to * SCAN_PART : count;
    from -= pieces, to -= pieces;
    if (begin >= end || !piece_is_spoiled(view, begin, end - begin)) continue;
    for (int seen = atomic_load(&job->first); t < seen;)
      if (atomic_compare_exchange_weak(&job->first, &seen, t)) break;
  }
}

int tn_first_not_finite(tn_pool *pool, const tn_tensor *tensors, int count) {
  scan job = { .tensors = tensors, .first = count };
  double elements = 0;
  for (int i = 0; i < count; i++) {
    elements += (double)tn_view_count(&tensors[i].view);
    job.pieces += pieces_of(&tensors[i].view);
  }
  double cost = elements * SCAN_COST;
  int threads = cost < 100e3 ? 1 : tn_pool_threads(pool);
  tn_work work = { .run = scan_part, .context = &job, .cost = cost, .threads = threads, .pieces = 1 };
  tn_pool_run(pool, &work);
  return atomic_load(&job.first);
}

static bool is_spoiled(const tn_half *half, tn_value value, double *number) {
  if (!half->shown[value]) return false;
  tn_view view = tn_plan_output(half->plan, half->shown[value]);
  return tn_view_not_finite(&view, number);
}

/* An infinity in a constant is intended. */
static bool is_origin(const tn_half *half, const tn_node *node) {
  double number;
  if (node->op == TN_OP_FILL || node->op == TN_OP_CONST) return false;
  for (int i = 0; i < node->count; i++) {
    if (is_spoiled(half, node->in[i], &number)) return false;
  }
  return true;
}

bool tn_half_find_not_finite(const tn_half *half, tn_not_finite *out) {
  for (size_t v = 1; half->shown && v < half->graph.nodes.count; v++) {
    const tn_node *node = tn_graph_node(&half->graph, (tn_value)v);
    double number;
    if (!is_spoiled(half, (tn_value)v, &number) || !is_origin(half, node)) continue;
    *out = (tn_not_finite){ node->op, node->at, number };
    return true;
  }
  return false;
}
