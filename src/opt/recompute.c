/* opt/recompute.c: rematerialisation: cheap values are recomputed instead of being kept.
 *
 * A backward pass reads values of the forward pass, and most of the memory of a training step holds
 * values that wait for it. Some of them follow from others by a few cheap operations, elementwise
 * ones or layer_norm: the result of gelu from its operand, normalised rows from the rows. So the
 * pass finds the point of the graph at which most bytes are live. A value that is live there, is
 * not read for a long time around it and follows cheaply from values that are kept anyway is
 * recomputed after that point, just before its next reader. It is the same operation on the same
 * operands, so no bit changes. Small graphs stay as they are: there it would cost time and save
 * nothing. So do those of a GPU that has memory to spare. */
#include "opt/internal.h"

#define LIMIT       2.0                   /* nanoseconds per element that making it again may take */
#define DEPTH_LIMIT 16                    /* operations in a row */
#define OPERANDS    4                     /* of an operation that is repeated, at most */
#define NEVER       ((tn_value)0)
#define ALWAYS      ((tn_value)UINT32_MAX)

/* What is worth doing. */
typedef struct {
  uint64_t alive;   /* a graph of which fewer bytes are alive at once stays as it is, */
  uint64_t part;    /* as does one of which not even one in so many is saved */
  uint64_t bytes;   /* of a value, at least */
  uint32_t kernels; /* other than elementwise ones between two of its readers, at least */
} limits;

static const limits usual = { (uint64_t)64 << 20, 8, (uint64_t)256 << 10, 8 };
static const limits none = { 0, UINT64_MAX, 0, 0 };

typedef struct {
  const tn_graph *graph;
  limits limit;
  tn_value peak;      /* the node at which most bytes are alive */
  uint64_t most;      /* so many */
  tn_value *last;     /* by value: its last reader, through views too; ALWAYS: also outside of region 0 */
  tn_value *before;   /* by value: its last reader up to the peak */
  tn_value *after;    /* by value: its first reader after the peak; ALWAYS: none */
  uint32_t *kernels;  /* by value: how many kernels that are not elementwise precede it */
  tn_value *until;    /* by value: until when it is live or can be recomputed; NEVER: not after the peak */
  double *work;       /* by value: nanoseconds of making it again */
  uint8_t *depth;     /* by value: operations in a row for that; 0: it is there */
  bool *dropped;      /* by value: readers after the peak get another one */
  bool *made;         /* by value: that one is there */
} recompute;

static tn_op_kind kind_of(const tn_node *node) { return tn_op_sig_of(node->op)->kind; }

static bool is_view(const tn_node *node) { return kind_of(node) == TN_KIND_VIEW; }

/* Of the block that intermediate values live in; 0: it has none there. */
static uint64_t bytes_of(const tn_node *node) {
  size_t bytes;
  int64_t count = tn_shape_is_known(&node->type.shape) ? tn_shape_count(&node->type.shape) : 0;
  if (tn_op_is_source(node->op) || is_view(node) || count <= 0) return 0;
  return tn_size_mul((size_t)count, tn_dtype_bytes(node->type.dtype), &bytes) ? bytes : 0;
}

/* ---- who reads what, and when ---- */

static void pin(recompute *r, tn_value value) { r->last[value] = ALWAYS; }

static void pin_results(recompute *r) {
  const tn_graph *graph = r->graph;
  for (size_t i = 0; i < graph->outputs.count; i++) pin(r, graph->outputs.at[i].value);
  for (size_t g = 1; g < graph->regions.count; g++) {
    const tn_region *region = &graph->regions.at[g];
    for (size_t i = 0; i < region->results.count; i++) pin(r, region->results.at[i]);
  }
}

static void note_read(recompute *r, tn_value value, tn_value reader) {
  if (r->last[value] < reader) r->last[value] = reader;
}

/* Readers have larger numbers than what they read, so a sweep backwards knows those of a view in time. */
static void find_last_readers(recompute *r) {
  const tn_graph *graph = r->graph;
  pin_results(r);
  for (tn_value v = (tn_value)graph->nodes.count; v-- > 1;) {
    const tn_node *node = tn_graph_node(graph, v);
    tn_value reader = node->region != 0 ? ALWAYS : is_view(node) ? r->last[v] : v;
    for (int i = 0; i < node->count; i++) note_read(r, node->in[i], reader);
  }
}

/* Bytes that are alive, node by node, in the order in which they run. */
static bool find_peak(recompute *r, tn_arena *arena) {
  size_t count = r->graph->nodes.count;
  uint64_t *dying = tn_arena_array(arena, count + 1, sizeof *dying), alive = 0;
  if (!dying) return false;
  for (tn_value v = 1; v < count; v++) {
    uint64_t bytes = bytes_of(tn_graph_node(r->graph, v));
    alive += bytes;
    if (r->last[v] != ALWAYS) dying[r->last[v] > v ? r->last[v] : v] += bytes;
    if (alive > r->most) r->most = alive, r->peak = v;
    alive -= dying[v];
  }
  return true;
}

static void find_readers_around_peak(recompute *r) {
  const tn_graph *graph = r->graph;
  for (tn_value v = 1; v < graph->nodes.count; v++) r->after[v] = ALWAYS;
  for (tn_value v = (tn_value)graph->nodes.count; v-- > 1;) {
    const tn_node *node = tn_graph_node(graph, v);
    bool view = is_view(node);
    tn_value before = view ? r->before[v] : v <= r->peak ? v : NEVER;
    tn_value after = view ? r->after[v] : v > r->peak ? v : ALWAYS;
    for (int i = 0; i < node->count; i++) {
      tn_value in = node->in[i];
      if (r->before[in] < before) r->before[in] = before;
      if (r->after[in] > after) r->after[in] = after;
    }
  }
}

static void count_kernels(recompute *r) {
  uint32_t kernels = 0;
  for (tn_value v = 1; v < r->graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(r->graph, v);
    r->kernels[v] = kernels;
    kernels += bytes_of(node) > 0 && kind_of(node) != TN_KIND_ELEMENTWISE;
  }
}

/* ---- what is recomputed ---- */

static bool crosses_peak(const recompute *r, tn_value value) {
  return value <= r->peak && r->last[value] > r->peak;
}

static bool is_far(const recompute *r, tn_value value) {
  tn_value from = r->before[value] > value ? r->before[value] : value, to = r->after[value];
  return to != ALWAYS && r->kernels[to] - r->kernels[from] >= r->limit.kernels;
}

static bool can_repeat(const tn_node *node) {
  bool cheap = tn_op_cost(node->op) > 0 && !tn_op_can_fail(node->op, node->type.dtype);
  return node->region == 0 && tn_shape_is_known(&node->type.shape) && node->count > 0 &&
         node->count <= OPERANDS && (is_view(node) || cheap);
}

static double own_work(const tn_node *node) {
  return is_view(node) ? 0 : tn_op_cost(node->op) * (double)tn_shape_count(&node->type.shape);
}

/* Until when the value can be recomputed from live values, and the cost. */
static void derive(recompute *r, tn_value value, const tn_node *node) {
  double work = own_work(node);
  tn_value until = ALWAYS;
  uint8_t depth = 0;
  for (int i = 0; i < node->count; i++) {
    tn_value in = node->in[i];
    if (r->until[in] < until) until = r->until[in];
    if (r->depth[in] > depth) depth = r->depth[in];
    work += r->work[in];
  }
  bool cheap = is_view(node) || work <= LIMIT * (double)tn_shape_count(&node->type.shape);
  if (until == NEVER || depth >= DEPTH_LIMIT || !cheap) return;
  r->until[value] = until;
  r->work[value] = work;
  r->depth[value] = (uint8_t)(depth + 1);
}

static void keep(recompute *r, tn_value value) {
  r->until[value] = r->last[value];
  r->work[value] = 0;
  r->depth[value] = 0;
}

/* Without what it is made of having to live longer. */
static bool is_worth_dropping(const recompute *r, tn_value value, const tn_node *node) {
  if (r->until[value] == NEVER || r->last[value] == ALWAYS) return false;
  if (is_view(node)) return r->depth[value] > 1;
  return bytes_of(node) >= r->limit.bytes && is_far(r, value) && r->until[value] >= r->after[value];
}

/* In the order in which values are made, so that what is kept is known before what follows from it. Returns
 * the bytes that are saved at the peak. */
static uint64_t choose(recompute *r) {
  uint64_t saved = 0;
  for (tn_value v = 1; v <= r->peak; v++) {
    const tn_node *node = tn_graph_node(r->graph, v);
    if (tn_op_is_source(node->op)) {
      r->until[v] = ALWAYS;
      continue;
    }
    if (can_repeat(node)) derive(r, v, node);
    if (!crosses_peak(r, v)) continue;
    r->dropped[v] = is_worth_dropping(r, v, node);
    if (r->dropped[v]) saved += bytes_of(node);
    else keep(r, v);
  }
  return saved;
}

/* ---- making it ---- */

/* Replaces `value` of the old graph by a recomputed copy in everything that is written from here
 * on. */
static bool make_again(tn_rewrite *rewrite, recompute *r, tn_value value) {
  const tn_node *node = tn_graph_node(rewrite->from, value);
  tn_value in[OPERANDS];
  if (r->made[value] || r->depth[value] == 0) return true;
  if (!tn_stack_room(&rewrite->to.heap->stack)) return false;
  for (int i = 0; i < node->count; i++) {
    if (!make_again(rewrite, r, node->in[i])) return false;
    in[i] = rewrite->map[node->in[i]];
  }
  rewrite->map[value] = tn_rewrite_keep(rewrite, node, in);
  r->made[value] = true;
  return rewrite->map[value] != TN_ERROR_VALUE;
}

static void before_node(tn_rewrite *rewrite, tn_value old, const tn_node *node) {
  recompute *r = rewrite->context;
  if (old <= r->peak) return;
  for (int i = 0; i < node->count; i++) {
    if (r->dropped[node->in[i]] && !make_again(rewrite, r, node->in[i])) rewrite->to.failed = true;
  }
}

static tn_value keep_node(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  (void)old;
  return tn_rewrite_keep(rewrite, node, in);
}

static bool prepare(recompute *r, tn_arena *arena) {
  size_t count = r->graph->nodes.count;
  r->last = tn_arena_array(arena, count, sizeof *r->last);
  r->before = tn_arena_array(arena, count, sizeof *r->before);
  r->after = tn_arena_array(arena, count, sizeof *r->after);
  r->kernels = tn_arena_array(arena, count, sizeof *r->kernels);
  r->until = tn_arena_array(arena, count, sizeof *r->until);
  r->work = tn_arena_array(arena, count, sizeof *r->work);
  r->depth = tn_arena_array(arena, count, sizeof *r->depth);
  r->dropped = tn_arena_array(arena, count, sizeof *r->dropped);
  r->made = tn_arena_array(arena, count, sizeof *r->made);
  if (arena->failed) return false;
  find_last_readers(r);
  return find_peak(r, arena);
}

/* The bytes that are saved; 0: nothing is to be done. */
static uint64_t look(recompute *r) {
  if (r->most < r->limit.alive) return 0;
  find_readers_around_peak(r);
  count_kernels(r);
  uint64_t saved = choose(r);
  return saved >= r->most / r->limit.part ? saved : 0;
}

bool tn_opt_recompute(tn_graph *graph, uint64_t plenty) {
  tn_arena arena;
  tn_arena_init(&arena, graph->heap);
  recompute r = { .graph = graph, .limit = plenty == TN_OPT_ALWAYS ? none : usual };
  if (plenty != 0 && plenty != TN_OPT_ALWAYS) r.limit.alive = plenty;
  bool ok = prepare(&r, &arena);
  if (ok && look(&r) > 0) {
    tn_rewrite rewrite = { .before = before_node, .node = keep_node, .context = &r };
    ok = tn_rewrite_run(&rewrite, graph) && tn_opt_dce(graph);
  }
  tn_arena_free(&arena);
  return ok;
}
