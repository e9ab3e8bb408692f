/* opt/places.c: converts a graph over a sequence to one for a single position, with a KV cache.
 *
 * A causal model computes its output at a position (a "place") from the tokens up to there. Most
 * operations use no other position: they are kept, with an axis of length 1. Attention is
 * different: the scores of a query are products with the keys of every position, and the resulting
 * weights are multiplied by the values of every position. So keys and values are cached from
 * position to position. The step inserts those of its own position, so the sums run over as many
 * elements, in the same order and with the same zeros, as in the whole graph, and give the same
 * bits.
 *
 * The conversion is a proof: for each value it is known which axis holds the positions. Scores are
 * safe if a mask that is known before the run hides every later key. If anything is uncertain, the
 * graph is evaluated as a whole. */
#include <math.h>

#include "graph/builder.h"
#include "op/scalar.h"
#include "opt/internal.h"

#define OPERANDS 4 /* of what is computed element by element or along an axis */

typedef enum {
  SAME,   /* does not depend on the sequence */
  PLACES, /* place t of `axis` depends on the sequence up to t */
  SCORES  /* element (i, j) of `axis` and `keys` is of query i and key j */
} dependence;

/* Of scores: the value where the key is later than the query. */
typedef enum {
  OPEN,   /* something that depends on the key */
  CLOSED, /* something that does not */
  LOWEST, /* -infinity */
  ZERO
} later_keys;

typedef struct {
  dependence kind;
  int axis, keys; /* counted from the last axis, which is 0: so broadcasting leaves them where they are */
  later_keys later;
  tn_value value; /* in the step, where the axis has length 1 */
  tn_value kept;  /* the same for all places, once it was asked for; 0: it was not */
} place;

typedef struct {
  const tn_graph *graph;
  int64_t length; /* of the sequence */
  tn_graph_builder builder;
  tn_value number; /* of the place, i32 [1] */
  place *places;   /* by value of the graph */
  tn_one_place *out;
} derivation;

/* ---- shapes ---- */

static const tn_shape *shape_of(const derivation *d, tn_value value) {
  return &tn_graph_type(d->graph, value)->shape;
}

static int rank_of(const derivation *d, tn_value value) { return shape_of(d, value)->rank; }

/* The axis of a value, counted from the first. */
static int axis_of(const derivation *d, tn_value value, int from_last) {
  return rank_of(d, value) - 1 - from_last;
}

static bool has_length(const derivation *d, tn_value value, int from_last, int64_t length) {
  int axis = axis_of(d, value, from_last);
  return axis >= 0 && shape_of(d, value)->dim[axis] == length;
}

static const place *operand(const derivation *d, const tn_node *node, int i) {
  return &d->places[node->in[i]];
}

static tn_builder *builder(derivation *d) { return &d->builder.base; }

static bool no_memory(derivation *d) {
  d->out->step.failed = true;
  return false;
}

/* ---- one place of what does not depend on the sequence ---- */

static tn_value gather_place(derivation *d, tn_value value, int axis) {
  const tn_value in[] = { value, d->number };
  return tn_build(builder(d), TN_OP_GATHER, in, 2, &(tn_attrs){ .axis = axis });
}

/* A comparison of lengths that broadcast is large, and its operands are small. */
static tn_value compare_place(derivation *d, const tn_node *node, int from_last) {
  tn_value in[2];
  for (int i = 0; i < 2; i++) {
    in[i] = operand(d, node, i)->value;
    if (has_length(d, node->in[i], from_last, d->length))
      in[i] = gather_place(d, in[i], axis_of(d, node->in[i], from_last));
  }
  return tn_build(builder(d), node->op, in, 2, node->attrs);
}

/* The operand in the step. `from_last`: the axis along which the places of the result lie. */
static tn_value at_place(derivation *d, tn_value value, int from_last) {
  const place *p = &d->places[value];
  const tn_node *node = tn_graph_node(d->graph, value);
  if (p->kind != SAME || !has_length(d, value, from_last, d->length)) return p->value;
  if (node->count == 2 && tn_op_sig_of(node->op)->kind == TN_KIND_ELEMENTWISE)
    return compare_place(d, node, from_last);
  return gather_place(d, p->value, axis_of(d, value, from_last));
}

/* ---- what is kept of every place ---- */

/* The kept values with those of this place among them. */
static tn_value keep(derivation *d, tn_value value) {
  place *p = &d->places[value];
  tn_builder *b = builder(d);
  const tn_type *type = tn_graph_type(d->graph, value);
  if (p->kept) return p->kept;
  tn_attrs along = { .dtype = TN_I32, .axis = axis_of(d, value, p->axis), .shape = type->shape };
  for (int i = 0; i < along.shape.rank; i++)
    if (i != along.axis) along.shape.dim[i] = 1;
  tn_value before = tn_build_param(b, 0, type);
  tn_value here = tn_build_binary(b, TN_OP_EQ, tn_build(b, TN_OP_IOTA, NULL, 0, &along), d->number);
  p->kept = tn_build_select(b, here, p->value, before);
  if (!tn_vec_push(d->graph->heap, &d->out->kept, value)) d->out->step.failed = true;
  return p->kept;
}

/* ---- masks ---- */

/* The number that a value which is known before the run has for query i and key j. */
static bool number_at(const derivation *d, tn_value value, const place *scores, int64_t i, int64_t j,
                      double *out) {
  const tn_node *node = tn_graph_node(d->graph, value);
  const tn_shape *shape = &node->type.shape;
  int64_t at = 0, along = 0;
  if (node->op == TN_OP_FILL) return *out = node->attrs->number, true;
  if (node->op != TN_OP_CONST && node->op != TN_OP_IOTA) return false;
  for (int a = 0; a < shape->rank; a++) {
    int from_last = shape->rank - 1 - a;
    int64_t here = from_last == scores->axis ? i : from_last == scores->keys ? j : 0;
    bool is_long = shape->dim[a] != 1, known = from_last == scores->axis || from_last == scores->keys;
    if (is_long && (!known || shape->dim[a] != d->length)) return false;
    if (!is_long) here = 0;
    at = at * shape->dim[a] + here;
    if (a == node->attrs->axis) along = here;
  }
  *out = node->op == TN_OP_IOTA ? (double)along : tn_view_get_f64(&node->attrs->literal->view, at);
  return !tn_dtype_in(node->type.dtype, TN_INTS) || fabs(*out) < 0x1p53; /* larger ones are rounded */
}

/* False: it is not a comparison. */
static bool compare(tn_op op, double x, double y, bool *out) {
  tn_binary compared = tn_scalar_binary(op, TN_F64);
  if (!compared || tn_scalar_gives(op, TN_F64) != TN_BOOL) return false;
  *out = compared((tn_element){ .f64 = x }, (tn_element){ .f64 = y }).boolean;
  return true;
}

/* Whether the condition is known, and false. */
static bool is_false_at(const derivation *d, tn_value value, const place *scores, int64_t i, int64_t j) {
  const tn_node *node = tn_graph_node(d->graph, value);
  double x, y;
  bool open = true;
  if (number_at(d, value, scores, i, j, &x)) return x == 0;
  return node->count == 2 && number_at(d, node->in[0], scores, i, j, &x) &&
         number_at(d, node->in[1], scores, i, j, &y) && compare(node->op, x, y, &open) && !open;
}

static bool hides_later_keys(const derivation *d, tn_value condition, const place *scores) {
  for (int64_t i = 0; i < d->length; i++) {
    for (int64_t j = i + 1; j < d->length; j++)
      if (!is_false_at(d, condition, scores, i, j)) return false;
  }
  return true;
}

static bool is_number(const derivation *d, tn_value value, double *out) {
  const tn_node *node = tn_graph_node(d->graph, value);
  return node->op == TN_OP_FILL && (*out = node->attrs->number, true);
}

/* select(mask, scores, number) */
static bool masks(const derivation *d, const tn_node *node, const place *scores, double *number) {
  return node->op == TN_OP_SELECT && operand(d, node, 0)->kind == SAME &&
         operand(d, node, 1)->kind == SCORES && is_number(d, node->in[2], number) &&
         hides_later_keys(d, node->in[0], scores);
}

static later_keys later_of(const derivation *d, const tn_node *node, const place *scores) {
  double number;
  if (masks(d, node, scores, &number))
    return number == 0 ? ZERO : isinf(number) && number < 0 ? LOWEST : CLOSED;
  for (int i = 0; i < node->count; i++)
    if (operand(d, node, i)->kind == SCORES && operand(d, node, i)->later == OPEN) return OPEN;
  return node->op == TN_OP_EXP && operand(d, node, 0)->later == LOWEST ? ZERO : CLOSED;
}

/* ---- rules: each writes what the result is, and makes it; false: it cannot be told ---- */

static bool make(derivation *d, const tn_node *node, const tn_value *in, const tn_attrs *attrs, place *out) {
  out->value = tn_build(builder(d), node->op, in, node->count, attrs);
  return true;
}

/* All operands whose places are known have them along one axis of the result. */
static bool agree(const derivation *d, const tn_node *node, place *out) {
  out->kind = SAME;
  for (int i = 0; i < node->count; i++) {
    const place *p = operand(d, node, i);
    if (p->kind == SAME) continue;
    if (out->kind != SAME && p->axis != out->axis) return false;
    if (out->kind == SCORES && p->kind == SCORES && p->keys != out->keys) return false;
    out->axis = p->axis;
    if (p->kind == SCORES) out->keys = p->keys;
    if (out->kind != SCORES) out->kind = p->kind;
  }
  return true;
}

static bool make_aligned(derivation *d, const tn_node *node, place *out) {
  tn_value in[OPERANDS];
  if (node->count > OPERANDS || !agree(d, node, out)) return false;
  if (out->kind == SCORES) out->later = later_of(d, node, out);
  for (int i = 0; i < node->count; i++) in[i] = at_place(d, node->in[i], out->axis);
  return make(d, node, in, node->attrs, out);
}

/* Along an axis, with the shape of the operand: softmax and sums that run. */
static bool make_along(derivation *d, const tn_node *node, place *out) {
  int from_last = node->type.shape.rank - 1 - node->attrs->axis;
  *out = *operand(d, node, 0);
  out->kept = 0;
  if (from_last == out->axis) return false;
  if (out->kind == SCORES && from_last == out->keys) {
    if (out->later == OPEN) return false;
    out->later = node->op == TN_OP_SOFTMAX && out->later == LOWEST ? ZERO : CLOSED;
  } else if (out->later != OPEN) {
    out->later = CLOSED;
  }
  return make(d, node, &operand(d, node, 0)->value, node->attrs, out);
}

/* Over the last axis, with further operands of its length. */
static bool make_off_last(derivation *d, const tn_node *node, place *out) {
  tn_value in[OPERANDS];
  *out = *operand(d, node, 0);
  out->kept = 0;
  if (out->kind != PLACES || out->axis == 0 || node->count > OPERANDS) return false;
  for (int i = 0; i < node->count; i++) {
    if (i > 0 && operand(d, node, i)->kind != SAME) return false;
    in[i] = operand(d, node, i)->value;
  }
  return make(d, node, in, node->attrs, out);
}

static bool reduces(const tn_node *node, int axis) {
  if (tn_op_sig_of(node->op)->attrs & TN_ATTR_AXIS) return node->attrs->axis == axis;
  for (int i = 0; i < node->attrs->axis_count; i++)
    if (node->attrs->axes[i] == axis) return true;
  return false;
}

/* Where an axis is in the result of a reduction, counted from the last. */
static int reduced_axis(const derivation *d, const tn_node *node, int from_last) {
  int rank = rank_of(d, node->in[0]), kept = 0;
  if (node->attrs->keepdims) return from_last;
  for (int axis = rank - from_last; axis < rank; axis++) kept += !reduces(node, axis);
  return kept;
}

static bool make_reduced(derivation *d, const tn_node *node, place *out) {
  tn_value x = node->in[0];
  *out = *operand(d, node, 0);
  out->kept = 0;
  if (reduces(node, axis_of(d, x, out->axis))) return false;
  if (out->kind == SCORES && reduces(node, axis_of(d, x, out->keys))) {
    if (out->later == OPEN) return false;
    out->kind = PLACES;
  }
  if (out->kind == SCORES) out->keys = reduced_axis(d, node, out->keys);
  if (out->later != OPEN) out->later = CLOSED;
  out->axis = reduced_axis(d, node, out->axis);
  return make(d, node, &operand(d, node, 0)->value, node->attrs, out);
}

static bool make_joined(derivation *d, const tn_node *node, place *out) {
  int from_last = node->type.shape.rank - 1 - node->attrs->axis;
  if (!agree(d, node, out) || out->kind != PLACES || out->axis == from_last) return false;
  tn_value *in = tn_heap_alloc(d->graph->heap, (size_t)node->count * sizeof *in);
  if (!in) return no_memory(d);
  for (int i = 0; i < node->count; i++) in[i] = at_place(d, node->in[i], out->axis);
  make(d, node, in, node->attrs, out);
  tn_heap_free(d->graph->heap, in, (size_t)node->count * sizeof *in);
  return true;
}

/* ---- arranging ---- */

static int64_t count_after(const tn_shape *shape, int axis) {
  int64_t count = 1;
  for (int i = axis + 1; i < shape->rank; i++) count *= shape->dim[i];
  return count;
}

/* The axis of the new shape that is this one: as long, and with as many elements in each of its places. */
static bool find_reshaped(const derivation *d, const tn_node *node, int from_last, int *out) {
  const tn_shape *from = shape_of(d, node->in[0]), *to = &node->type.shape;
  int64_t after = count_after(from, axis_of(d, node->in[0], from_last));
  for (int i = 0; i < to->rank; i++) {
    if (to->dim[i] != d->length || count_after(to, i) != after) continue;
    *out = to->rank - 1 - i;
    return true;
  }
  return false;
}

static bool find_transposed(const derivation *d, const tn_node *node, int from_last, int *out) {
  int rank = node->type.shape.rank, axis = axis_of(d, node->in[0], from_last);
  for (int i = 0; i < rank; i++)
    if (node->attrs->axes[i] == axis) *out = rank - 1 - i;
  return true;
}

static bool find_stretched(const derivation *d, const tn_node *node, int from_last, int *out) {
  (void)d, (void)node;
  *out = from_last;
  return true;
}

static bool find_sliced(const derivation *d, const tn_node *node, int from_last, int *out) {
  const tn_attrs *attrs = node->attrs;
  int axis = axis_of(d, node->in[0], from_last);
  *out = from_last;
  return attrs->low[axis] == 0 && attrs->high[axis] == d->length && attrs->step[axis] == 1;
}

static bool find_padded(const derivation *d, const tn_node *node, int from_last, int *out) {
  const tn_attrs *attrs = node->attrs;
  int axis = axis_of(d, node->in[0], from_last);
  *out = from_last;
  return attrs->low[axis] == 0 && attrs->high[axis] == 0 && attrs->step[axis] == 0;
}

/* What is arranged lies along other axes. `find` says where one of the operand went. */
static bool make_arranged(derivation *d, const tn_node *node, place *out,
                          bool (*find)(const derivation *, const tn_node *, int, int *)) {
  const place *p = operand(d, node, 0);
  tn_attrs attrs = *node->attrs;
  *out = *p;
  out->kept = 0;
  if (!find(d, node, p->axis, &out->axis)) return false;
  if (p->kind == SCORES && !find(d, node, p->keys, &out->keys)) return false;
  int axis = node->type.shape.rank - 1 - out->axis;
  if (tn_op_sig_of(node->op)->attrs & TN_ATTR_SHAPE) attrs.shape.dim[axis] = 1;
  if (node->op == TN_OP_SLICE) attrs.high[axis] = 1;
  if (node->op == TN_OP_PAD && out->later != OPEN) out->later = CLOSED;
  return make(d, node, &p->value, &attrs, out);
}

/* ---- tables and products ---- */

/* x[index] along an axis of x. */
static bool make_gathered(derivation *d, const tn_node *node, place *out) {
  const place *x = operand(d, node, 0), *index = operand(d, node, 1);
  const tn_value in[] = { x->value, index->value };
  int after = rank_of(d, node->in[0]) - 1 - node->attrs->axis; /* axes of x after the index */
  out->kind = PLACES;
  if (x->kind == SAME && index->kind == PLACES)
    out->axis = index->axis + after;
  else if (x->kind == PLACES && index->kind == SAME && x->axis != after)
    out->axis = x->axis < after ? x->axis : x->axis - 1 + rank_of(d, node->in[1]);
  else
    return false;
  return make(d, node, in, node->attrs, out);
}

/* Rows of x, columns of y, and both where leading axes broadcast. */
static bool make_matmul(derivation *d, const tn_node *node, place *out) {
  const place *x = operand(d, node, 0), *y = operand(d, node, 1);
  tn_value in[] = { x->value, y->value };
  out->kind = PLACES;
  if (x->kind == PLACES && x->axis == 1 && y->kind == PLACES && y->axis == 0) {
    *out = (place){ .kind = SCORES, .axis = 1, .keys = 0, .later = OPEN };
    in[1] = keep(d, node->in[1]);
  } else if (x->kind == SCORES && x->axis == 1 && x->keys == 0 && x->later == ZERO && y->kind == PLACES &&
             y->axis == 1) {
    out->axis = 1;
    in[1] = keep(d, node->in[1]);
  } else if (x->kind == PLACES && x->axis == 1 && y->kind == SAME) {
    out->axis = 1;
  } else if (x->kind == SAME && y->kind == PLACES && y->axis == 0) {
    out->axis = 0;
  } else if (agree(d, node, out) && out->kind == PLACES && out->axis > 1) {
    for (int i = 0; i < 2; i++) in[i] = at_place(d, node->in[i], out->axis);
  } else {
    return false;
  }
  return make(d, node, in, node->attrs, out);
}

/* ---- every value ---- */

static bool is_same(const derivation *d, const tn_node *node) {
  for (int i = 0; i < node->count; i++)
    if (operand(d, node, i)->kind != SAME) return false;
  return true;
}

static bool make_same(derivation *d, const tn_node *node, place *out) {
  tn_value *in = tn_heap_alloc(d->graph->heap, ((size_t)node->count + 1) * sizeof *in);
  *out = (place){ .kind = SAME };
  if (!in) return no_memory(d);
  for (int i = 0; i < node->count; i++) in[i] = operand(d, node, i)->value;
  make(d, node, in, node->attrs, out);
  tn_heap_free(d->graph->heap, in, ((size_t)node->count + 1) * sizeof *in);
  return true;
}

static bool make_by_rows(derivation *d, const tn_node *node, place *out) {
  switch (tn_op_rows_of(node->op)) {
    case TN_ROWS_ALIGNED: return make_aligned(d, node, out);
    case TN_ROWS_OFF_AXIS: return make_along(d, node, out);
    case TN_ROWS_OFF_LAST: return make_off_last(d, node, out);
    case TN_ROWS_OFF_AXES: return make_reduced(d, node, out);
    case TN_ROWS_JOINED: return make_joined(d, node, out);
    case TN_ROWS_RESHAPED: return make_arranged(d, node, out, find_reshaped);
    case TN_ROWS_PERMUTED: return make_arranged(d, node, out, find_transposed);
    case TN_ROWS_STRETCHED: return make_arranged(d, node, out, find_stretched);
    case TN_ROWS_SLICED: return make_arranged(d, node, out, find_sliced);
    case TN_ROWS_PADDED: return make_arranged(d, node, out, find_padded);
    case TN_ROWS_NAMED: return make_gathered(d, node, out);
    case TN_ROWS_PRODUCT: return make_matmul(d, node, out);
    case TN_ROWS_WINDOWS:
    case TN_ROWS_NONE: return false;
  }
  return false;
}

/* Keys and values are kept; the query of this place sees those up to it. */
static bool make_attention(derivation *d, const tn_node *node, place *out) {
  tn_builder *b = builder(d);
  for (int i = 0; i < 3; i++) {
    const place *p = operand(d, node, i);
    if (p->kind != PLACES || p->axis != 1 || !has_length(d, node->in[i], 1, d->length)) return false;
  }
  if (!node->attrs->causal) return false;
  tn_attrs along = { .dtype = TN_I32, .axis = 1, .shape = tn_shape_make(2, (int64_t)1, d->length) };
  tn_value in[] = { operand(d, node, 0)->value, keep(d, node->in[1]), 0 };
  in[2] = keep(d, node->in[2]);
  tn_value keys = tn_build(b, TN_OP_IOTA, NULL, 0, &along);
  tn_value open = tn_build_binary(b, TN_OP_GE, d->number, keys);
  *out = (place){ .kind = PLACES, .axis = 1 };
  out->value = tn_build_attention_open(b, in, node->attrs, open);
  return true;
}

static bool make_node(derivation *d, tn_value value) {
  const tn_node *node = tn_graph_node(d->graph, value);
  place made = { .kind = SAME };
  if (node->op == TN_OP_HOST || node->op == TN_OP_FUSED) return false;
  builder(d)->at = node->at;
  bool ok = is_same(d, node)               ? make_same(d, node, &made)
            : node->op == TN_OP_ATTENTION ? make_attention(d, node, &made)
                                          : make_by_rows(d, node, &made);
  d->places[value] = made;
  return ok && made.value != TN_ERROR_VALUE;
}

/* The interface comes first and in its order; the number of the place follows the inputs. */
static void make_interface(derivation *d, size_t sequence) {
  const tn_graph *graph = d->graph;
  for (size_t i = 0; i < graph->inputs.count; i++) {
    const tn_node *node = tn_graph_node(graph, graph->inputs.at[i]);
    tn_type type = node->type;
    place *p = &d->places[graph->inputs.at[i]];
    if (i == sequence) *p = (place){ .kind = PLACES, .axis = 0 };
    if (i == sequence) type.shape.dim[type.shape.rank - 1] = 1;
    p->value = tn_build_input(builder(d), node->attrs->name, &type);
  }
  d->number = tn_build_input(builder(d), 0, &(tn_type){ TN_I32, tn_shape_make(1, (int64_t)1) });
  for (size_t i = 0; i < graph->params.count; i++) {
    const tn_node *node = tn_graph_node(graph, graph->params.at[i]);
    d->places[graph->params.at[i]].value = tn_build_param(builder(d), node->attrs->name, &node->type);
  }
}

/* The answer, then what is kept for the next place. */
static bool make_outputs(derivation *d) {
  const tn_output *answer = &d->graph->outputs.at[0];
  const place *p = &d->places[answer->value];
  if (p->kind != PLACES || p->axis != 1) return false;
  if (!tn_graph_output(&d->out->step, answer->name, p->value)) return false;
  for (size_t i = 0; i < d->out->kept.count; i++)
    if (!tn_graph_output(&d->out->step, 0, d->places[d->out->kept.at[i]].kept)) return false;
  return true;
}

static bool derive(derivation *d, const bool *needed, size_t sequence) {
  make_interface(d, sequence);
  for (tn_value v = 1; v < d->graph->nodes.count; v++) {
    tn_op op = tn_graph_node(d->graph, v)->op;
    if (!needed[v] || op == TN_OP_INPUT || op == TN_OP_PARAM) continue;
    if (!make_node(d, v)) return false;
  }
  return tn_build_ok(builder(d)) && make_outputs(d);
}

bool tn_opt_one_place(const tn_graph *graph, size_t sequence, tn_one_place *out) {
  tn_heap *heap = graph->heap;
  const tn_shape *shape = &tn_graph_type(graph, graph->inputs.at[sequence])->shape;
  size_t bytes = graph->nodes.count * sizeof(place);
  *out = (tn_one_place){ 0 };
  if (graph->regions.count > 1 || shape->rank < 1 || shape->dim[shape->rank - 1] < 2) return true;
  if (!tn_graph_init(&out->step, heap, graph->names)) return false;
  derivation d = { .graph = graph, .length = shape->dim[shape->rank - 1], .out = out };
  tn_graph_builder_init(&d.builder, &out->step);
  bool *needed = tn_opt_needed(graph);
  d.places = tn_heap_alloc(heap, bytes);
  bool ready = needed && d.places;
  out->derived = ready && derive(&d, needed, sequence);
  bool ok = ready && !out->step.failed && d.builder.base.fault.kind != TN_FAULT_MEMORY;
  tn_heap_free(heap, d.places, bytes);
  tn_heap_free(heap, needed, graph->nodes.count * sizeof *needed);
  if (!ok || !out->derived) tn_one_place_free(heap, out);
  return ok;
}

void tn_one_place_free(tn_heap *heap, tn_one_place *derived) {
  if (derived->step.heap) tn_graph_free(&derived->step);
  tn_vec_free(heap, &derived->kept);
  *derived = (tn_one_place){ 0 };
}
