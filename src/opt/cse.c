/* opt/cse.c: common subexpressions: the same operation on the same operands is done once.
 *
 * An earlier node replaces a later one if operation, operands, attributes and type agree and the
 * earlier one is visible from the later one: in the same region or an enclosing one. Two calls of
 * the host may give two answers, so they are never merged, and neither are branches. */
#include "base/map.h"
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

bool tn_opt_cse(tn_graph *graph) {
  tn_heap *heap = graph->heap;
  table t = { 0 };
  tn_map_init(&t.first, heap);
  tn_rewrite rewrite = { .node = merge, .context = &t };
  bool ok = tn_rewrite_run(&rewrite, graph);
  tn_map_free(&t.first);
  tn_vec_free(heap, &t.older);
  return ok;
}
