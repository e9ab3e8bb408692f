/* opt/cse.c: common subexpressions: the same operation on the same operands is done once.
 *
 * An earlier node replaces a later one if operation, operands, attributes and type agree and the
 * earlier one is visible from the later one: in the same region or an enclosing one. Two calls of
 * the host may give two answers, so they are never merged, and neither are branches.
 *
 * The gradient of a layer_norm uses its parts. If they are in the graph, the operation is first
 * replaced by its parts, so that those are shared: two more passes over x cost less than a kernel
 * that computes all of them again. */
#include "base/map.h"
#include "graph/builder.h"
#include "opt/internal.h"

/* How many equal nodes are compared. Branches beside each other may hold any number of them, none of
 * which is visible from the next; the newest are the likeliest. */
#define CANDIDATE_LIMIT 64

typedef struct {
  tn_map first;           /* hash of a node: the newest candidate */
  tn_vec(tn_value) older; /* by new value: the next candidate with that hash; 0 ends */
} table;

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

static uint64_t hash_node(const tn_node *node, const tn_value *in) {
  uint64_t hash = mix((uint64_t)node->op, tn_attrs_hash(node->op, node->attrs));
  for (int i = 0; i < node->count; i++) hash = mix(hash, in[i]);
  return hash;
}

static bool visible_from(const tn_graph *graph, uint32_t region, uint32_t from) {
  for (; from != region; from = graph->regions.at[from].parent) {
    if (from == 0) return false;
  }
  return true;
}

static bool same(const tn_node *candidate, const tn_node *node, const tn_value *in) {
  if (candidate->op != node->op || candidate->count != node->count) return false;
  for (int i = 0; i < node->count; i++) {
    if (candidate->in[i] != in[i]) return false;
  }
  return tn_type_equal(&candidate->type, &node->type) &&
         tn_attrs_equal(node->op, candidate->attrs, node->attrs);
}

static bool remember(tn_rewrite *rewrite, table *t, uint64_t hash, tn_value value) {
  tn_heap *heap = rewrite->to.heap;
  uint64_t *first = tn_map_get(&t->first, hash);
  while (t->older.count <= value) {
    if (!tn_vec_push(heap, &t->older, TN_ERROR_VALUE)) return false;
  }
  t->older.at[value] = first ? (tn_value)*first : TN_ERROR_VALUE;
  return tn_map_put(&t->first, hash, value);
}

static tn_value merge(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  (void)old;
  table *t = rewrite->context;
  tn_op_kind kind = tn_op_sig_of(node->op)->kind;
  if (kind == TN_KIND_EFFECT || node->op == TN_OP_IF) return tn_rewrite_keep(rewrite, node, in);
  uint64_t hash = hash_node(node, in);
  uint64_t *first = tn_map_get(&t->first, hash);
  int left = CANDIDATE_LIMIT;
  for (tn_value c = first ? (tn_value)*first : 0; c != 0 && left-- > 0; c = t->older.at[c]) {
    const tn_node *candidate = tn_graph_node(&rewrite->to, c);
    if (same(candidate, node, in) &&
        visible_from(&rewrite->to, candidate->region, rewrite->region[node->region])) {
      return c;
    }
  }
  tn_value value = tn_rewrite_keep(rewrite, node, in);
  if (value != TN_ERROR_VALUE && !remember(rewrite, t, hash, value)) rewrite->to.failed = true;
  return value;
}

/* ---- parts that are already in the graph ---- */

static bool is_centred(const tn_graph *graph, const tn_node *node) {
  if (node->op != TN_OP_SUB) return false;
  const tn_node *mean = tn_graph_node(graph, node->in[1]);
  return mean->op == TN_OP_MEAN && mean->in[0] == node->in[0] && mean->attrs->axis_count == 1 &&
         mean->attrs->axes[0] == node->type.shape.rank - 1;
}

static tn_value write_parts(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  (void)old;
  const uint32_t *centred = rewrite->context; /* by value x: 1 + the region of x - mean(x) */
  if (node->op != TN_OP_LAYER_NORM || centred[node->in[0]] != node->region + 1)
    return tn_rewrite_keep(rewrite, node, in);
  tn_graph_builder builder;
  tn_graph_builder_init(&builder, &rewrite->to);
  builder.region = rewrite->region[node->region];
  builder.base.at = node->at;
  tn_value value = tn_build_parts(&builder.base, node->op, in, node->count, node->attrs);
  if (value == TN_ERROR_VALUE) rewrite->to.failed = true;
  return value;
}

static bool share_parts(tn_graph *graph) {
  size_t count = graph->nodes.count;
  uint32_t *centred = tn_heap_alloc(graph->heap, count * sizeof *centred);
  bool any = false, ok = centred != NULL;
  for (size_t v = count; ok && v-- > 1;) {
    const tn_node *node = &graph->nodes.at[v];
    if (is_centred(graph, node)) centred[node->in[0]] = node->region + 1;
    any = any || (node->op == TN_OP_LAYER_NORM && centred[node->in[0]] == node->region + 1);
  }
  tn_rewrite rewrite = { .node = write_parts, .context = centred };
  ok = ok && (!any || tn_rewrite_run(&rewrite, graph));
  tn_heap_free(graph->heap, centred, count * sizeof *centred);
  return ok;
}

bool tn_opt_cse(tn_graph *graph) {
  tn_heap *heap = graph->heap;
  if (!share_parts(graph)) return false;
  table t = { 0 };
  tn_map_init(&t.first, heap);
  tn_rewrite rewrite = { .node = merge, .context = &t };
  bool ok = tn_rewrite_run(&rewrite, graph);
  tn_map_free(&t.first);
  tn_vec_free(heap, &t.older);
  return ok;
}
