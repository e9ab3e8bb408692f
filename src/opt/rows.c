/* opt/rows.c: splits a graph into a part that works row by row and a part that needs all rows.
 *
 * Most of a model computes row i of a value from row i of the data: a large batch can be computed in pieces,
 * each with the bits it has in the whole, because no kernel's result depends on how many rows there are.
 * Operations that combine rows (a loss, a mean over the batch) need all of them at once. The cut is
 * the values of the first kind that the second kind or an output reads.
 *
 * The analysis reads two graphs of one program, one for all rows and one for a piece. A length that differs
 * between them is one that follows the number of rows; so an axis that happens to be as long as the
 * batch is not mistaken for it. A block of rows may have several entries: [rows, time, d] and [rows
 * * time, d]. */
#include "opt/internal.h"

typedef enum {
  MIXED, /* reads several rows at once, or unknown */
  SAME,  /* does not depend on rows: the same value in both graphs */
  ROWS   /* block i of the first axis comes from row i of the data alone */
} dependence;

typedef struct {
  const tn_graph *whole, *part;
  int64_t rows, part_rows;
  const bool *fed;   /* by input */
  dependence *known; /* by value */
} division;

/* ---- lengths ---- */

static const tn_shape *shape_of(const tn_graph *graph, tn_value value) {
  return &tn_graph_type(graph, value)->shape;
}

/* Whether the first axis, and no other, follows the number of rows. */
static bool follows_rows(const division *d, tn_value value) {
  const tn_type *whole = tn_graph_type(d->whole, value), *part = tn_graph_type(d->part, value);
  int rank = whole->shape.rank;
  if (whole->dtype != part->dtype || rank < 1 || rank != part->shape.rank) return false;
  for (int i = 1; i < rank; i++)
    if (whole->shape.dim[i] != part->shape.dim[i]) return false;
  int64_t block = whole->shape.dim[0] / d->rows;
  return block > 0 && whole->shape.dim[0] == block * d->rows && part->shape.dim[0] == block * d->part_rows;
}

static bool is_same_type(const division *d, tn_value value) {
  return tn_type_equal(tn_graph_type(d->whole, value), tn_graph_type(d->part, value));
}

/* An operand of rows has its blocks where the result has them. */
static bool blocks_match(const division *d, const tn_node *node, tn_value result, int operand) {
  const tn_shape *x = shape_of(d->whole, node->in[operand]), *out = shape_of(d->whole, result);
  return d->known[node->in[operand]] == SAME || (x->rank == out->rank && x->dim[0] == out->dim[0]);
}

static bool all_blocks_match(const division *d, const tn_node *node, tn_value result) {
  for (int i = 0; i < node->count; i++)
    if (!blocks_match(d, node, result, i)) return false;
  return true;
}

/* What a node says beside its operands is the same for a piece, except for the lengths that follow the number
 * of rows. A lowering may write such a length as a number too: then the node is another one. */
static bool attrs_match(const division *d, tn_value value) {
  const tn_node *whole = tn_graph_node(d->whole, value), *part = tn_graph_node(d->part, value);
  tn_attrs expected = *whole->attrs;
  expected.shape = part->attrs->shape;
  expected.high[0] = part->attrs->high[0];
  return tn_attrs_equal(whole->op, &expected, part->attrs);
}

/* ---- operations that read rows ---- */

static bool matmul_keeps_rows(const division *d, const tn_node *node, tn_value result) {
  bool by_left = d->known[node->in[0]] == ROWS && blocks_match(d, node, result, 0);
  if (shape_of(d->whole, result)->rank == 2) return by_left && d->known[node->in[1]] == SAME;
  return all_blocks_match(d, node, result);
}

static bool reduces_first_axis(const tn_node *node) {
  if (tn_op_sig_of(node->op)->attrs & TN_ATTR_AXIS) return node->attrs->axis == 0;
  for (int i = 0; i < node->attrs->axis_count; i++)
    if (node->attrs->axes[i] == 0) return true;
  return false;
}

/* The result's first axis is known to follow the number of rows. */
static bool keeps_rows(const division *d, const tn_node *node, tn_value result) {
  const tn_attrs *attrs = node->attrs;
  switch (tn_op_rows_of(node->op)) {
    case TN_ROWS_NONE: return false;
    case TN_ROWS_ALIGNED: return all_blocks_match(d, node, result);
    case TN_ROWS_OFF_AXIS: return attrs->axis != 0;
    case TN_ROWS_OFF_LAST: return node->type.shape.rank > 1 && all_blocks_match(d, node, result);
    case TN_ROWS_OFF_AXES: return !reduces_first_axis(node);
    case TN_ROWS_JOINED: return attrs->axis != 0 && all_blocks_match(d, node, result);
    case TN_ROWS_RESHAPED: return true; /* blocks stay what they are */
    case TN_ROWS_PERMUTED: return attrs->axes[0] == 0;
    case TN_ROWS_STRETCHED: return blocks_match(d, node, result, 0);
    case TN_ROWS_SLICED: return attrs->low[0] == 0 && blocks_match(d, node, result, 0);
    case TN_ROWS_PADDED: return attrs->low[0] == 0 && attrs->high[0] == 0 && attrs->step[0] == 0;
    case TN_ROWS_NAMED:
      return attrs->axis == 0 && d->known[node->in[0]] == SAME && shape_of(d->whole, node->in[1])->rank > 0;
    case TN_ROWS_WINDOWS:
      return blocks_match(d, node, result, 0) && (node->count == 1 || d->known[node->in[1]] == SAME);
    case TN_ROWS_PRODUCT: return matmul_keeps_rows(d, node, result);
  }
  return false;
}

/* ---- every value ---- */

static bool is_fed(const division *d, tn_value value) {
  for (size_t i = 0; i < d->whole->inputs.count; i++)
    if (d->whole->inputs.at[i] == value) return d->fed[i];
  return false;
}

static dependence judge(const division *d, tn_value value) {
  const tn_node *node = tn_graph_node(d->whole, value);
  bool reads_rows = false;
  if (!attrs_match(d, value)) return MIXED;
  if (node->region != 0 || node->op == TN_OP_IF || node->op == TN_OP_PICK) return MIXED;
  if (node->op == TN_OP_INPUT && is_fed(d, value)) return follows_rows(d, value) ? ROWS : MIXED;
  for (int i = 0; i < node->count; i++) {
    if (d->known[node->in[i]] == MIXED) return MIXED;
    reads_rows |= d->known[node->in[i]] == ROWS;
  }
  if (!reads_rows && is_same_type(d, value)) return SAME;
  return follows_rows(d, value) && keeps_rows(d, node, value) ? ROWS : MIXED;
}

/* Both graphs come from the same text; what depends on a length may still have made them differ. An effect
 * happens once, not once for each piece. */
static bool can_compare(const tn_graph *whole, const tn_graph *part) {
  if (whole->nodes.count != part->nodes.count || whole->regions.count != part->regions.count) return false;
  for (tn_value v = 1; v < whole->nodes.count; v++) {
    const tn_node *a = tn_graph_node(whole, v), *b = tn_graph_node(part, v);
    if (a->op != b->op || a->op == TN_OP_HOST || a->region != b->region || a->count != b->count) return false;
    for (int i = 0; i < a->count; i++)
      if (a->in[i] != b->in[i]) return false;
  }
  return true;
}

/* ---- the cut ---- */

static void mark_cut(const division *d, bool *cut) {
  const tn_graph *graph = d->whole;
  for (tn_value v = 1; v < graph->nodes.count; v++) {
    const tn_node *node = tn_graph_node(graph, v);
    for (int i = 0; d->known[v] == MIXED && i < node->count; i++)
      if (d->known[node->in[i]] == ROWS) cut[node->in[i]] = true;
  }
  for (size_t r = 0; r < graph->regions.count; r++)
    for (size_t i = 0; i < graph->regions.at[r].results.count; i++)
      if (d->known[graph->regions.at[r].results.at[i]] == ROWS)
        cut[graph->regions.at[r].results.at[i]] = true;
  for (size_t i = 0; i < graph->outputs.count; i++)
    if (d->known[graph->outputs.at[i].value] == ROWS) cut[graph->outputs.at[i].value] = true;
}

static bool is_input(const tn_graph *graph, tn_value value) {
  return tn_graph_node(graph, value)->op == TN_OP_INPUT;
}

/* An input that the rest reads is given to it as it is. */
static bool make_piece(const tn_graph *part, const bool *cut, tn_graph *out) {
  if (!tn_graph_copy(part, out)) return false;
  out->outputs.count = 0;
  for (tn_value v = 1; v < part->nodes.count; v++)
    if (cut[v] && !is_input(part, v) && !tn_graph_output(out, 0, v)) return false;
  return true;
}

static tn_value as_input(tn_rewrite *rewrite, tn_value old, const tn_node *node, const tn_value *in) {
  const bool *cut = rewrite->context;
  if (!cut[old] || is_input(rewrite->from, old)) return tn_rewrite_keep(rewrite, node, in);
  tn_attrs attrs = { .dtype = node->type.dtype, .shape = node->type.shape };
  return tn_rewrite_add(rewrite, node, TN_OP_INPUT, NULL, 0, &attrs, &node->type);
}

static bool make_rest(const tn_graph *whole, bool *cut, tn_graph *out) {
  tn_rewrite rewrite = { .node = as_input, .context = cut };
  return tn_graph_copy(whole, out) && tn_rewrite_run(&rewrite, out);
}

/* Positions among the inputs of the rest, which are in the order of the nodes they came from. */
static bool place_inputs(const division *d, const bool *cut, tn_row_pieces *out) {
  tn_heap *heap = d->whole->heap;
  int position = 0;
  for (tn_value v = 1; v < d->whole->nodes.count; v++) {
    bool own = is_input(d->whole, v), unread = d->known[v] == ROWS && !cut[v];
    if (own && !tn_vec_push(heap, &out->own_inputs, unread ? -1 : position)) return false;
    if (!own && cut[v] && !tn_vec_push(heap, &out->cut_inputs, position)) return false;
    position += own || cut[v];
  }
  return true;
}

static bool divide(const division *d, bool *cut, tn_row_pieces *out) {
  d->known[TN_ERROR_VALUE] = MIXED;
  for (tn_value v = 1; v < d->whole->nodes.count; v++) d->known[v] = judge(d, v);
  mark_cut(d, cut);
  out->divided = true;
  return make_piece(d->part, cut, &out->piece) && make_rest(d->whole, cut, &out->rest) &&
         place_inputs(d, cut, out);
}

bool tn_opt_divide_rows(const tn_graph *whole, const tn_graph *part, int64_t rows, int64_t part_rows,
                        const bool *fed, tn_row_pieces *out) {
  tn_heap *heap = whole->heap;
  size_t count = whole->nodes.count;
  *out = (tn_row_pieces){ 0 };
  if (rows == part_rows || !can_compare(whole, part)) return true;
  division d = { whole, part, rows, part_rows, fed, tn_heap_alloc(heap, count * sizeof *d.known) };
  bool *cut = tn_heap_alloc(heap, count * sizeof *cut);
  bool ok = d.known && cut && divide(&d, cut, out);
  tn_heap_free(heap, d.known, count * sizeof *d.known);
  tn_heap_free(heap, cut, count * sizeof *cut);
  if (!ok) tn_row_pieces_free(heap, out);
  return ok;
}

void tn_row_pieces_free(tn_heap *heap, tn_row_pieces *pieces) {
  if (pieces->piece.heap) tn_graph_free(&pieces->piece);
  if (pieces->rest.heap) tn_graph_free(&pieces->rest);
  tn_vec_free(heap, &pieces->own_inputs);
  tn_vec_free(heap, &pieces->cut_inputs);
  *pieces = (tn_row_pieces){ 0 };
}
