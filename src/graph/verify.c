/* graph/verify.c: checks that a graph is valid, as graph.h defines it.
 *
 * Run after lowering and after every pass, in tests always. It trusts nothing: types are inferred
 * again, attributes must be normalised, and a value may be used only where it is visible. */
#include "graph/internal.h"

#define FEW_OPERANDS 8

typedef const char *problem; /* NULL: none */

static bool sees(const tn_graph *graph, uint32_t from, uint32_t region) {
  uint32_t depth = graph->regions.at[region].depth;
  while (graph->regions.at[from].depth > depth) from = graph->regions.at[from].parent;
  return from == region;
}

/* ---- regions ---- */

static problem check_owner(const tn_graph *graph, uint32_t r) {
  const tn_region *region = &graph->regions.at[r];
  if (region->owner == TN_ERROR_VALUE) return "a region without an if";
  if (region->owner >= graph->nodes.count) return "a region of a node that is not there";
  const tn_node *owner = tn_graph_node(graph, region->owner);
  if (owner->op != TN_OP_IF) return "a region of a node that is not an if";
  bool first = owner->attrs->region[0] == r, second = owner->attrs->region[1] == r;
  if (first == second) return "an if and its regions do not name each other";
  return owner->region == region->parent ? NULL : "a region outside of the region of its if";
}

static problem check_region_nodes(const tn_graph *graph, uint32_t r, size_t *total) {
  const tn_region *region = &graph->regions.at[r];
  for (size_t i = 0; i < region->nodes.count; i++) {
    tn_value value = region->nodes.at[i];
    if (value == TN_ERROR_VALUE || value >= graph->nodes.count)
      return "a region lists a node that is not there";
    if (tn_graph_node(graph, value)->region != r) return "a region lists a node of another one";
    if (i > 0 && value <= region->nodes.at[i - 1]) return "a region lists its nodes out of order";
    if (r != 0 && value >= region->owner) return "a node of a region comes after its if";
  }
  *total += region->nodes.count;
  return NULL;
}

static problem check_results(const tn_graph *graph, uint32_t r) {
  const tn_region *region = &graph->regions.at[r];
  if (r == 0 && region->results.count > 0) return "the program itself yields results";
  for (size_t i = 0; i < region->results.count; i++) {
    tn_value value = region->results.at[i];
    if (value == TN_ERROR_VALUE || value >= region->owner) return "a region yields what it cannot have";
    const tn_node *node = tn_graph_node(graph, value);
    if (!sees(graph, r, node->region)) return "a region yields what it cannot see";
    if (node->op == TN_OP_IF) return "an if is used other than by pick";
  }
  return NULL;
}

static problem check_regions(const tn_graph *graph, tn_value *where) {
  size_t total = 1;
  if (graph->regions.count == 0) return "no regions";
  for (size_t i = 0; i < graph->regions.count; i++) {
    uint32_t r = (uint32_t)i;
    const tn_region *region = &graph->regions.at[r];
    *where = region->owner;
    if (r == 0 && (region->depth != 0 || region->parent != 0)) return "the program has a region around it";
    if (r > 0 && region->parent >= r) return "a region comes before the one around it";
    if (r > 0 && region->depth != graph->regions.at[region->parent].depth + 1) return "a wrong depth";
    if (region->depth > TN_REGION_DEPTH_LIMIT) return "regions nested too deep";
    problem wrong = r == 0 ? NULL : check_owner(graph, r);
    if (!wrong) wrong = check_region_nodes(graph, r, &total);
    if (!wrong) wrong = check_results(graph, r);
    if (wrong) return wrong;
  }
  *where = TN_ERROR_VALUE;
  return total == graph->nodes.count ? NULL : "a node is in no region's list";
}

/* ---- nodes ---- */

static problem check_operands(const tn_graph *graph, tn_value value) {
  const tn_node *node = tn_graph_node(graph, value);
  if (node->count < 0 || (node->count > 0 && !node->in)) return "no operands";
  for (int i = 0; i < node->count; i++) {
    tn_value operand = node->in[i];
    if (operand == TN_ERROR_VALUE) return "the error value is used";
    if (operand >= value) return "an operand does not come before its user";
    const tn_node *from = tn_graph_node(graph, operand);
    if (!sees(graph, node->region, from->region)) return "an operand cannot be seen from where it is used";
    if ((from->op == TN_OP_IF) != (node->op == TN_OP_PICK)) {
      return from->op == TN_OP_IF ? "an if is used other than by pick"
                                  : "a pick of something that is not an if";
    }
  }
  return NULL;
}

/* Attributes are as the builder leaves them, and the rules give the node's type. */
static problem check_rules(const tn_node *node, const tn_type *in) {
  tn_attrs normal = *node->attrs;
  tn_fault ignored;
  tn_type type;
  tn_op_args args = { .op = node->op, .in = in, .count = node->count, .attrs = &normal };
  if (node->op == TN_OP_CONST && (!normal.literal || !normal.literal->buffer))
    return "a constant without a value";
  if (!tn_op_normalise(node->op, in, node->count, &normal, &ignored))
    return "the operation refuses its attributes";
  if (!tn_attrs_equal(node->op, &normal, node->attrs)) return "attributes that are not normal";
  if (!tn_op_infer(&args, &type)) return "the operation refuses its operands";
  if (node->op == TN_OP_IF) return NULL;
  return tn_type_equal(&type, &node->type) ? NULL : "a type that is not the one inferred";
}

static problem check_if(const tn_graph *graph, tn_value value) {
  const tn_node *node = tn_graph_node(graph, value);
  const uint32_t *r = node->attrs->region;
  if (r[0] == 0 || r[1] == 0 || r[0] >= graph->regions.count || r[1] >= graph->regions.count) {
    return "an if of regions that are not there";
  }
  const tn_region *a = &graph->regions.at[r[0]], *b = &graph->regions.at[r[1]];
  if (a->owner != value || b->owner != value) return "an if and its regions do not name each other";
  if (a->results.count != b->results.count) return "branches with different numbers of results";
  for (size_t i = 0; i < a->results.count; i++) {
    const tn_type *left = tn_graph_type(graph, a->results.at[i]),
                  *right = tn_graph_type(graph, b->results.at[i]);
    if (!tn_type_equal(left, right)) return "branches with results of different types";
    if (i == 0 && !tn_type_equal(left, &node->type)) return "an if that has not the type of its first result";
  }
  return NULL;
}

static problem check_pick(const tn_graph *graph, const tn_node *node) {
  const tn_node *branch = tn_graph_node(graph, node->in[0]);
  const tn_region *region = &graph->regions.at[branch->attrs->region[0]];
  if (node->attrs->index >= region->results.count) return "a pick of a result that is not there";
  const tn_type *type = tn_graph_type(graph, region->results.at[node->attrs->index]);
  return tn_type_equal(type, &node->type) ? NULL : "a pick that has not the type of the result";
}

static problem check_typed(const tn_graph *graph, tn_value value, tn_type *in) {
  const tn_node *node = tn_graph_node(graph, value);
  for (int i = 0; i < node->count; i++) in[i] = *tn_graph_type(graph, node->in[i]);
  problem wrong = check_rules(node, in);
  if (wrong) return wrong;
  if (node->op == TN_OP_IF) return check_if(graph, value);
  if (node->op == TN_OP_PICK) return check_pick(graph, node);
  if (node->op == TN_OP_FUSED) return tn_fused_verify(node->attrs->program, in, node->count, &node->type);
  return NULL;
}

static problem check_node(const tn_graph *graph, tn_value value) {
  const tn_node *node = tn_graph_node(graph, value);
  tn_type few[FEW_OPERANDS], *in = few;
  if (node->op <= TN_OP_ERROR || node->op >= TN_OP_COUNT) return "a node of no operation";
  if (tn_op_sig_of(node->op)->kind == TN_KIND_COMPOSED) return "a composed operation that was not expanded";
  problem wrong = check_operands(graph, value);
  if (wrong) return wrong;
  size_t bytes = (size_t)node->count * sizeof *in;
  if (node->count > FEW_OPERANDS) in = tn_heap_alloc(graph->heap, bytes);
  if (!in) return "out of memory";
  wrong = check_typed(graph, value, in);
  if (in != few) tn_heap_free(graph->heap, in, bytes);
  return wrong;
}

/* ---- the interface ---- */

/* `list` holds exactly the nodes of this op, in order, and all of them are outside of branches. */
static problem check_list(const tn_graph *graph, tn_op op, const tn_value *list, size_t count) {
  size_t found = 0;
  for (size_t v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = &graph->nodes.at[v];
    if (node->op != op) continue;
    if (node->region != 0) return "an input or parameter inside a branch";
    if (found == count || list[found++] != v) return "the lists of inputs and parameters are wrong";
  }
  return found == count ? NULL : "the lists of inputs and parameters are wrong";
}

static problem check_outputs(const tn_graph *graph, tn_value *where) {
  for (size_t i = 0; i < graph->outputs.count; i++) {
    tn_value value = graph->outputs.at[i].value;
    *where = value;
    if (value == TN_ERROR_VALUE || value >= graph->nodes.count) return "an output that is not there";
    const tn_node *node = tn_graph_node(graph, value);
    if (node->region != 0) return "an output inside a branch";
    if (node->op == TN_OP_IF) return "an if is used other than by pick";
  }
  *where = TN_ERROR_VALUE;
  return NULL;
}

const char *tn_graph_verify(const tn_graph *graph, tn_value *where) {
  tn_value ignored;
  if (!where) where = &ignored;
  *where = TN_ERROR_VALUE;
  if (graph->nodes.count == 0 || graph->nodes.at[0].op != TN_OP_ERROR) return "node 0 is not the error node";
  if (graph->nodes.count > TN_NODE_LIMIT) return "too many nodes";
  for (size_t v = 1; v < graph->nodes.count; v++) {
    *where = (tn_value)v;
    if (graph->nodes.at[v].region >= graph->regions.count) return "a node in a region that is not there";
    if (!graph->nodes.at[v].attrs) return "a node without attributes";
  }
  problem wrong = check_regions(graph, where);
  for (size_t v = 1; !wrong && v < graph->nodes.count; v++) {
    *where = (tn_value)v;
    wrong = check_node(graph, (tn_value)v);
  }
  if (wrong) return wrong;
  *where = TN_ERROR_VALUE;
  wrong = check_list(graph, TN_OP_INPUT, graph->inputs.at, graph->inputs.count);
  if (!wrong) wrong = check_list(graph, TN_OP_PARAM, graph->params.at, graph->params.count);
  return wrong ? wrong : check_outputs(graph, where);
}
