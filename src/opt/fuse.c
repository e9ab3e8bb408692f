/* opt/fuse.c: fusion: chains of elementwise operations become one pass over memory.
 *
 * Seen from the end, a node joins the group of its users when all of them are
 * in one group, in its own region, and of its own shape, so that nothing is
 * computed twice or sooner than before. A group becomes one FUSED node in the
 * place of its last member. Constants that fill join as steps. So does a cheap
 * operation on one tensor that only groups read: each group recomputes it, from an operand of the
 * same size, so it needs no memory between the forward and the backward pass. The steps are the
 * operations themselves, so no bit changes. */
#include <string.h>

#include "graph/fused.h"
#include "opt/internal.h"

#define NO_GROUP ((tn_value)0)
#define SEVERAL  ((tn_value)UINT32_MAX)
#define CHEAP    0.05 /* nanoseconds an element: less than reading one from memory */

typedef struct {
  tn_value *group;        /* by old value: the last member of its group; 0: none */
  tn_value *user;         /* by old value: the group of its users, or SEVERAL */
  int32_t *operands;      /* by group: an upper bound */
  int32_t *steps;         /* by group: an upper bound, fills included */
  int32_t *members;       /* by group */
  tn_value *next_member;  /* by member: the next larger one of its group */
  tn_value *first_member; /* by group */
  bool *wanted;           /* by old value: something needs it in memory */
  bool *repeated;         /* by old value: each group that reads it makes it again */
} groups;

static bool is_elementwise(const tn_node *node) {
  if (node->op == TN_OP_FUSED || tn_op_sig_of(node->op)->kind != TN_KIND_ELEMENTWISE) return false;
  return tn_shape_is_known(&node->type.shape);
}

/* bf16 and f16 are only read and written by casts on their own. */
static bool can_fuse(const tn_graph *graph, const tn_node *node) {
  if (!is_elementwise(node) || tn_dtype_in(node->type.dtype, TN_STORAGE)) return false;
  for (int i = 0; i < node->count; i++) {
    if (tn_dtype_in(tn_graph_type(graph, node->in[i])->dtype, TN_STORAGE)) return false;
  }
  return true;
}

static bool is_fill(const tn_graph *graph, tn_value value) {
  return tn_graph_node(graph, value)->op == TN_OP_FILL;
}

/* The operand of a cheap operation whose other operands are fills; 0: the operation may not be
 * repeated, or its operand has another size. */
static tn_value source_of(const tn_graph *graph, tn_value value) {
  const tn_node *node = tn_graph_node(graph, value);
  tn_value source = 0;
  if (!can_fuse(graph, node) || !tn_dtype_in(node->type.dtype, TN_FLOATS)) return 0;
  if (tn_op_cost(node->op) > CHEAP || node->count > 2) return 0;
  for (int i = 0; i < node->count; i++) {
    if (is_fill(graph, node->in[i])) continue;
    if (source != 0 && source != node->in[i]) return 0;
    source = node->in[i];
  }
  if (source == 0) return 0;
  const tn_node *from = tn_graph_node(graph, source);
  bool alike = from->type.dtype == node->type.dtype && from->region == node->region &&
               tn_shape_equal(&from->type.shape, &node->type.shape);
  return alike ? source : 0;
}

/* One step for the operation and one for each operand that is a fill; three for one that may be repeated. */
static int32_t steps_for(const tn_graph *graph, const tn_node *node) {
  int32_t steps = 1;
  for (int i = 0; i < node->count; i++)
    steps += is_fill(graph, node->in[i]) ? 1 : source_of(graph, node->in[i]) != 0 ? 3 : 0;
  return steps;
}

static void note_user(groups *g, tn_value value, tn_value group) {
  if (g->user[value] == NO_GROUP)
    g->user[value] = group;
  else if (g->user[value] != group)
    g->user[value] = SEVERAL;
}

/* A value that only groups of its own shape and region read needs no memory. */
static void note_want(const tn_graph *graph, groups *g, tn_value value, tn_value group) {
  const tn_node *node = tn_graph_node(graph, value);
  const tn_node *last = group == NO_GROUP ? NULL : tn_graph_node(graph, group);
  if (!last || node->region != last->region || !tn_shape_equal(&node->type.shape, &last->type.shape))
    g->wanted[value] = true;
}

static bool is_repeated(const tn_graph *graph, const groups *g, tn_value value) {
  return g->user[value] == SEVERAL && !g->wanted[value] && source_of(graph, value) != 0;
}

static bool joins(const tn_graph *graph, const groups *g, tn_value value) {
  tn_value root = g->user[value];
  if (root == NO_GROUP || root == SEVERAL) return false;
  const tn_node *node = tn_graph_node(graph, value), *last = tn_graph_node(graph, root);
  return g->group[root] == root && node->region == last->region &&
         tn_shape_equal(&node->type.shape, &last->type.shape) &&
         g->steps[root] + steps_for(graph, node) <= TN_FUSED_STEP_LIMIT &&
         g->operands[root] + node->count - 1 <= TN_FUSED_OPERAND_LIMIT;
}

static void want_elsewhere(groups *g, tn_value value) {
  g->user[value] = SEVERAL;
  g->wanted[value] = true;
}

static void form_groups(const tn_graph *graph, groups *g) {
  for (size_t i = 0; i < graph->outputs.count; i++) want_elsewhere(g, graph->outputs.at[i].value);
  for (size_t r = 1; r < graph->regions.count; r++) {
    for (size_t i = 0; i < graph->regions.at[r].results.count; i++)
      want_elsewhere(g, graph->regions.at[r].results.at[i]);
  }
  for (tn_value v = (tn_value)graph->nodes.count; v-- > 1;) {
    const tn_node *node = tn_graph_node(graph, v);
    tn_value group = NO_GROUP;
    g->repeated[v] = is_repeated(graph, g, v);
    if (can_fuse(graph, node) && !g->repeated[v]) {
      group = joins(graph, g, v) ? g->user[v] : v;
      g->operands[group] += group == v ? node->count : node->count - 1;
      g->steps[group] += steps_for(graph, node);
      g->members[group]++;
      g->group[v] = group;
      g->next_member[v] = g->first_member[group];
      g->first_member[group] = v;
    }
    /* A node outside every group counts as a group of its own, so that its operands see it. */
    for (int i = 0; i < node->count; i++) {
      note_user(g, node->in[i], group == NO_GROUP ? SEVERAL : group);
      note_want(graph, g, node->in[i], group);
    }
  }
}

/* ---- writing a group down ---- */

typedef struct {
  const tn_graph *from;
  tn_fused *program;
  tn_value operand[TN_FUSED_OPERAND_LIMIT]; /* old values */
  tn_value member[TN_FUSED_STEP_LIMIT];     /* by step */
} writer;

static int find(const tn_value *values, int count, tn_value value) {
  for (int i = 0; i < count; i++) {
    if (values[i] == value) return i;
  }
  return -1;
}

/* Operands first, so that register numbers of steps are known afterwards. */
static bool collect_operands(writer *w, const groups *g, tn_value root) {
  for (tn_value v = g->first_member[root]; v != 0; v = g->next_member[v]) {
    const tn_node *node = tn_graph_node(w->from, v);
    for (int i = 0; i < node->count; i++) {
      tn_value in = g->repeated[node->in[i]] ? source_of(w->from, node->in[i]) : node->in[i];
      if (g->group[in] == root || is_fill(w->from, in)) continue;
      if (find(w->operand, w->program->operand_count, in) >= 0) continue;
      if (w->program->operand_count == TN_FUSED_OPERAND_LIMIT) return false;
      w->program->operand_dtype[w->program->operand_count] = tn_graph_type(w->from, in)->dtype;
      w->operand[w->program->operand_count++] = in;
    }
  }
  return true;
}

static int push(writer *w, tn_value value, const tn_fused_step *step) {
  if (w->program->step_count == TN_FUSED_STEP_LIMIT) return -1;
  w->member[w->program->step_count] = value;
  w->program->step[w->program->step_count] = *step;
  return w->program->operand_count + w->program->step_count++;
}

/* The register of an operand or of a step that is written; -1: neither. */
static int written_register(const writer *w, tn_value value) {
  int operand = find(w->operand, w->program->operand_count, value);
  if (operand >= 0) return operand;
  int step = find(w->member, w->program->step_count, value);
  return step >= 0 ? w->program->operand_count + step : -1;
}

/* The same; a fill becomes a step of its own. */
static int fill_register(writer *w, tn_value value) {
  int known = written_register(w, value);
  if (known >= 0) return known;
  const tn_node *fill = tn_graph_node(w->from, value);
  return push(w, value,
              &(tn_fused_step){ .op = TN_OP_FILL, .dtype = fill->type.dtype, .number = fill->attrs->number });
}

/* The register that holds an operand of a member; a fill and what is repeated become steps. */
static int register_of(writer *w, const groups *g, tn_value value) {
  int known = written_register(w, value);
  if (known >= 0 || !g->repeated[value]) return known >= 0 ? known : fill_register(w, value);
  const tn_node *node = tn_graph_node(w->from, value);
  tn_fused_step step = { .op = node->op, .dtype = node->type.dtype };
  for (int i = 0; i < node->count; i++) {
    int number = fill_register(w, node->in[i]);
    if (number < 0) return -1;
    step.in[i] = (uint8_t)number;
  }
  return push(w, value, &step);
}

static bool write_steps(writer *w, const groups *g, tn_value root) {
  for (tn_value v = g->first_member[root]; v != 0; v = g->next_member[v]) {
    const tn_node *node = tn_graph_node(w->from, v);
    tn_fused_step step = { .op = node->op, .dtype = node->type.dtype };
    for (int i = 0; i < node->count; i++) {
      int number = register_of(w, g, node->in[i]);
      if (number < 0) return false;
      step.in[i] = (uint8_t)number;
    }
    if (push(w, v, &step) < 0) return false;
  }
  return true;
}

/* joins() has kept the group within the limits of a fused program. */
static tn_value fuse_group(tn_rewrite *rewrite, const groups *g, tn_value root, const tn_node *node) {
  tn_heap *heap = rewrite->to.heap;
  size_t bytes = tn_fused_bytes(TN_FUSED_STEP_LIMIT);
  writer w = { .from = rewrite->from, .program = tn_heap_alloc(heap, bytes) };
  if (!w.program) {
    rewrite->to.failed = true;
    return TN_ERROR_VALUE;
  }
  tn_value value = TN_ERROR_VALUE;
  if (collect_operands(&w, g, root) && write_steps(&w, g, root)) {
    tn_value in[TN_FUSED_OPERAND_LIMIT];
    for (int i = 0; i < w.program->operand_count; i++) in[i] = rewrite->map[w.operand[i]];
    tn_attrs attrs = { .program = w.program, .dtype = node->type.dtype, .shape = node->type.shape };
    value = tn_rewrite_add(rewrite, node, TN_OP_FUSED, in, w.program->operand_count, &attrs, &node->type);
  } else {
    rewrite->to.failed = true;
  }
  tn_heap_free(heap, w.program, bytes);
  return value;
}

static bool reads_repeated(const groups *g, const tn_node *node) {
  for (int i = 0; i < node->count; i++) {
    if (g->repeated[node->in[i]]) return true;
  }
  return false;
}

static tn_value fuse_node(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  const groups *g = rewrite->context;
  tn_value root = g->group[old];
  if (g->repeated[old]) return TN_ERROR_VALUE;
  bool alone = root == NO_GROUP || (g->members[root] < 2 && !reads_repeated(g, node));
  if (alone) return tn_rewrite_keep(rewrite, node, in);
  return root == old ? fuse_group(rewrite, g, root, node) : TN_ERROR_VALUE;
}

bool tn_opt_fuse(tn_graph *graph) {
  tn_heap *heap = graph->heap;
  size_t count = graph->nodes.count;
  tn_arena arena;
  tn_arena_init(&arena, heap);
  groups g = {
    .group = tn_arena_array(&arena, count, sizeof *g.group),
    .user = tn_arena_array(&arena, count, sizeof *g.user),
    .operands = tn_arena_array(&arena, count, sizeof *g.operands),
    .steps = tn_arena_array(&arena, count, sizeof *g.steps),
    .members = tn_arena_array(&arena, count, sizeof *g.members),
    .next_member = tn_arena_array(&arena, count, sizeof *g.next_member),
    .first_member = tn_arena_array(&arena, count, sizeof *g.first_member),
    .wanted = tn_arena_array(&arena, count, sizeof *g.wanted),
    .repeated = tn_arena_array(&arena, count, sizeof *g.repeated),
  };
  bool ok = !arena.failed;
  if (ok) {
    form_groups(graph, &g);
    tn_rewrite rewrite = { .node = fuse_node, .context = &g };
    ok = tn_rewrite_run(&rewrite, graph);
  }
  tn_arena_free(&arena);
  return ok && tn_opt_dce(graph); /* fills that became steps */
}
