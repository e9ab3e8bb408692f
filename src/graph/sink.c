/* graph/sink.c: moves operations that only a branch needs into that branch.
 *
 * A binding is written before the `if` that uses it, but evaluation is lazy. For a pure operation
 * this makes no difference; for one that calls the host or may fail it does. So such an operation,
 * and everything that depends on it, moves into the innermost region that holds all of its uses. An
 * `if` moves with its branches, so the regions nest in a new way: the graph is written again,
 * region by region. */
#include "graph/graph.h"

/* A region that is being written; regions nest too deep for a call each. */
typedef struct {
  uint32_t old, new;
  tn_value value;     /* the next one of the old region; 0: none */
  int branches;       /* of that value, an `if`, which are written */
  uint32_t region[2]; /* those */
} writing;

typedef struct {
  const tn_graph *from;
  tn_graph to;
  bool *sinks;          /* by value: it, or something it is made from, asks the host or may fail */
  bool *used;           /* by value */
  uint32_t *region;     /* by value: where it goes; of a value without a use: where it was */
  uint32_t *depth;      /* by region, when the values around it are placed */
  tn_value *map;        /* by value: the new one */
  tn_value *first;      /* by region: its first value; 0: none */
  tn_value *next;       /* by value: the next one of its region */
  tn_vec(writing) open; /* regions around the one that is written, and that one */
} sinking;

static void mark_sinking(sinking *s) {
  for (tn_value v = 1; v < s->from->nodes.count; v++) {
    const tn_node *node = tn_graph_node(s->from, v);
    s->sinks[v] = tn_op_can_fail(node->op, node->type.dtype); /* or asks the host: it can be seen to happen */
    for (int i = 0; i < node->count; i++) s->sinks[v] |= s->sinks[node->in[i]];
    for (int r = 0; node->op == TN_OP_IF && r < 2; r++) {
      const tn_region *region = &s->from->regions.at[node->attrs->region[r]];
      for (size_t i = 0; i < region->nodes.count; i++) s->sinks[v] |= s->sinks[region->nodes.at[i]];
      for (size_t i = 0; i < region->results.count; i++) s->sinks[v] |= s->sinks[region->results.at[i]];
    }
  }
}

/* ---- where a value goes ---- */

static uint32_t parent_of(const sinking *s, uint32_t region) {
  return region == 0 ? 0 : s->region[s->from->regions.at[region].owner];
}

static uint32_t common(const sinking *s, uint32_t a, uint32_t b) {
  while (s->depth[a] > s->depth[b]) a = parent_of(s, a);
  while (s->depth[b] > s->depth[a]) b = parent_of(s, b);
  while (a != b) a = parent_of(s, a), b = parent_of(s, b);
  return a;
}

static void use(sinking *s, tn_value value, uint32_t region) {
  s->region[value] = s->used[value] ? common(s, s->region[value], region) : region;
  s->used[value] = true;
}

/* A value that does not sink stays where it was, or where its region has gone. */
static void place(sinking *s, tn_value value) {
  const tn_node *node = tn_graph_node(s->from, value);
  bool stays = !s->used[value] || !s->sinks[value];
  if (stays) s->region[value] = node->region;
  for (int r = 0; node->op == TN_OP_IF && r < 2; r++) {
    uint32_t region = node->attrs->region[r];
    s->depth[region] = s->depth[s->region[value]] + 1;
    const tn_region *branch = &s->from->regions.at[region];
    for (size_t i = 0; i < branch->results.count; i++) use(s, branch->results.at[i], region);
  }
  for (int i = 0; i < node->count; i++) use(s, node->in[i], s->region[value]);
}

/* From the last to the first: all uses of a value are placed before it. */
static void place_all(sinking *s) {
  for (size_t i = 0; i < s->from->outputs.count; i++) use(s, s->from->outputs.at[i].value, 0);
  for (size_t v = s->from->nodes.count; v-- > 1;) place(s, (tn_value)v);
}

/* ---- the graph, region by region ---- */

/* The values of each region in a list, in their order. */
static void list_regions(sinking *s) {
  for (size_t v = s->from->nodes.count; v-- > 1;) {
    s->next[v] = s->first[s->region[v]];
    s->first[s->region[v]] = (tn_value)v;
  }
}

static bool write_node(sinking *s, const writing *at) {
  const tn_node *node = tn_graph_node(s->from, at->value);
  size_t bytes = ((size_t)node->count + 1) * sizeof(tn_value);
  tn_attrs attrs = *node->attrs;
  for (int r = 0; r < at->branches; r++) attrs.region[r] = at->region[r];
  tn_value *in = tn_heap_alloc(s->from->heap, bytes);
  if (!in) return false;
  for (int i = 0; i < node->count; i++) in[i] = s->map[node->in[i]];
  tn_value made = tn_graph_add(&s->to, at->new, node->op, in, node->count, &attrs, &node->type, node->at);
  tn_heap_free(s->from->heap, in, bytes);
  s->map[at->value] = made;
  return made != TN_ERROR_VALUE;
}

static bool yield(sinking *s, const writing *at) {
  const tn_region *region = &s->from->regions.at[at->old];
  for (size_t i = 0; i < region->results.count; i++)
    if (!tn_graph_yield(&s->to, at->new, &s->map[region->results.at[i]], 1)) return false;
  return true;
}

static bool open_region(sinking *s, uint32_t old, uint32_t new) {
  writing begun = { .old = old, .new = new, .value = s->first[old] };
  return tn_vec_push(s->from->heap, &s->open, begun);
}

/* The next branch of the `if` at hand, before the `if` itself. */
static bool open_branch(sinking *s, writing *at) {
  uint32_t old = tn_graph_node(s->from, at->value)->attrs->region[at->branches];
  uint32_t new = tn_graph_add_region(&s->to, at->new);
  if (new == 0) return false;
  at->region[at->branches++] = new;
  return open_region(s, old, new);
}

static bool write_next(sinking *s) {
  writing *at = &tn_vec_last(&s->open);
  if (at->value == 0) {
    bool ok = yield(s, at);
    s->open.count--;
    return ok;
  }
  bool branches = tn_graph_node(s->from, at->value)->op == TN_OP_IF && at->branches < 2;
  if (branches) return open_branch(s, at);
  if (!write_node(s, at)) return false;
  at->value = s->next[at->value];
  at->branches = 0;
  return true;
}

static bool write_graph(sinking *s) {
  if (!tn_graph_init(&s->to, s->from->heap, s->from->names)) return false;
  bool ok = open_region(s, 0, 0);
  while (ok && s->open.count > 0) ok = write_next(s);
  for (size_t i = 0; ok && i < s->from->outputs.count; i++) {
    const tn_output *output = &s->from->outputs.at[i];
    ok = tn_graph_output(&s->to, output->name, s->map[output->value]);
  }
  tn_vec_free(s->from->heap, &s->open);
  ok = ok && !s->to.failed;
  if (!ok) tn_graph_free(&s->to);
  return ok;
}

bool tn_graph_sink(tn_graph *graph) {
  size_t nodes = graph->nodes.count, regions = graph->regions.count;
  if (regions < 2) return true;
  tn_arena arena;
  tn_arena_init(&arena, graph->heap);
  sinking s = { .from = graph,
                .sinks = tn_arena_array(&arena, nodes, sizeof *s.sinks),
                .used = tn_arena_array(&arena, nodes, sizeof *s.used),
                .region = tn_arena_array(&arena, nodes, sizeof *s.region),
                .depth = tn_arena_array(&arena, regions, sizeof *s.depth),
                .map = tn_arena_array(&arena, nodes, sizeof *s.map),
                .first = tn_arena_array(&arena, regions, sizeof *s.first),
                .next = tn_arena_array(&arena, nodes, sizeof *s.next) };
  bool ok = !arena.failed;
  if (ok) {
    mark_sinking(&s);
    place_all(&s);
    list_regions(&s);
    ok = write_graph(&s);
  }
  tn_arena_free(&arena);
  if (!ok) return false;
  tn_graph_free(graph);
  *graph = s.to;
  return true;
}
