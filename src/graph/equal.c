/* graph/equal.c: when two graphs are one program, and its digest.
 *
 * Places in program text do not count, nor do attributes an operation does not
 * read. The digest spells operations and names out, so that it outlives a new
 * entry in the table of operations; it says of every number how wide it is. */
#include <string.h>

#include "base/bytes.h"
#include "base/sha256.h"
#include "graph/internal.h"

/* ---- equality ---- */

static bool same_attrs(const tn_node *a, const tn_node *b) {
  tn_attrs x = *a->attrs, y = *b->attrs;
  if (a->op == TN_OP_FUSED) {
    if (!x.program || !y.program || !tn_fused_equal(x.program, y.program)) return false;
    y.program = x.program;
  }
  return tn_attrs_equal(a->op, &x, &y);
}

static bool same_node(const tn_node *a, const tn_node *b) {
  if (a->op != b->op || a->region != b->region || a->count != b->count) return false;
  if (!tn_type_equal(&a->type, &b->type) || !same_attrs(a, b)) return false;
  return a->count == 0 || memcmp(a->in, b->in, (size_t)a->count * sizeof *a->in) == 0;
}

static bool same_region(const tn_region *a, const tn_region *b) {
  if (a->parent != b->parent || a->owner != b->owner || a->results.count != b->results.count) return false;
  if (a->results.count == 0) return true;
  return memcmp(a->results.at, b->results.at, a->results.count * sizeof *a->results.at) == 0;
}

bool tn_graph_equal(const tn_graph *a, const tn_graph *b) {
  if (a->nodes.count != b->nodes.count || a->regions.count != b->regions.count) return false;
  if (a->outputs.count != b->outputs.count) return false;
  for (size_t v = 1; v < a->nodes.count; v++) {
    if (!same_node(&a->nodes.at[v], &b->nodes.at[v])) return false;
  }
  for (size_t r = 0; r < a->regions.count; r++) {
    if (!same_region(&a->regions.at[r], &b->regions.at[r])) return false;
  }
  for (size_t i = 0; i < a->outputs.count; i++) {
    const tn_output *x = &a->outputs.at[i], *y = &b->outputs.at[i];
    if (x->name != y->name || x->value != y->value) return false;
  }
  return true;
}

/* ---- digest ---- */

typedef struct {
  tn_sha256 sha;
  const tn_names *names;
} digest;

static void add_number(digest *d, uint64_t number) {
  unsigned char bytes[8];
  tn_store_le64(bytes, number);
  tn_sha256_update(&d->sha, bytes, sizeof bytes);
}

static void add_f64(digest *d, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  add_number(d, bits);
}

static void add_text(digest *d, tn_str text) {
  add_number(d, text.len);
  tn_sha256_update(&d->sha, text.at, text.len);
}

static void add_name(digest *d, tn_name name) { add_text(d, tn_names_text(d->names, name)); }

static void add_dtype(digest *d, tn_dtype dtype) { add_text(d, tn_str_of(tn_dtype_name(dtype))); }

/* A symbol by its text: numbers of names differ between sessions. */
static void add_shape(digest *d, const tn_shape *shape) {
  add_number(d, (uint64_t)shape->rank);
  for (int i = 0; i < shape->rank; i++) {
    bool symbol = tn_dim_is_symbol(shape->dim[i]);
    add_number(d, symbol ? (uint64_t)-2 : (uint64_t)shape->dim[i]);
    if (symbol) add_name(d, tn_dim_name(shape->dim[i]));
  }
}

static void add_numbers(digest *d, const int64_t *numbers) {
  for (int i = 0; i < TN_RANK_LIMIT; i++) add_number(d, (uint64_t)numbers[i]);
}

static void add_literal(digest *d, const tn_view *view) {
  unsigned char content[TN_SHA256_BYTES];
  tn_shape shape = tn_view_shape(view);
  add_dtype(d, view->dtype);
  add_shape(d, &shape);
  tn_view_sha256(view, content);
  tn_sha256_update(&d->sha, content, sizeof content);
}

static void add_program(digest *d, const tn_fused *program) {
  add_number(d, (uint64_t)program->operand_count);
  for (int i = 0; i < program->operand_count; i++) add_dtype(d, program->operand_dtype[i]);
  add_number(d, (uint64_t)program->step_count);
  for (int i = 0; i < program->step_count; i++) {
    const tn_fused_step *step = &program->step[i];
    add_text(d, tn_str_of(tn_op_sig_of(step->op)->name));
    add_dtype(d, step->dtype);
    for (int k = 0; k < tn_fused_step_arity(step->op); k++) add_number(d, step->in[k]);
    if (step->op == TN_OP_FILL) add_f64(d, step->number);
  }
}

static void add_axes(digest *d, const tn_attrs *a) {
  add_number(d, (uint64_t)a->axis_count);
  for (int i = 0; i < a->axis_count; i++) add_number(d, (uint64_t)a->axes[i]);
}

static void add_attr(digest *d, const tn_attrs *a, tn_attr_set which) {
  switch (which) {
    case TN_ATTR_DTYPE: add_dtype(d, a->dtype); break;
    case TN_ATTR_SHAPE: add_shape(d, &a->shape); break;
    case TN_ATTR_AXIS: add_number(d, (uint64_t)a->axis); break;
    case TN_ATTR_AXES: add_axes(d, a); break;
    case TN_ATTR_KEEPDIMS: add_number(d, a->keepdims); break;
    case TN_ATTR_LOW: add_numbers(d, a->low); break;
    case TN_ATTR_HIGH: add_numbers(d, a->high); break;
    case TN_ATTR_STEP: add_numbers(d, a->step); break;
    case TN_ATTR_WINDOW:
      for (int i = 0; i < 2; i++) add_number(d, (uint64_t)a->window[i]);
      break;
    case TN_ATTR_NUMBER: add_f64(d, a->number); break;
    case TN_ATTR_INDEX: add_number(d, a->index); break;
    case TN_ATTR_NAME:
      add_name(d, a->name);
      add_name(d, a->argument);
      break;
    case TN_ATTR_REVERSE: add_number(d, a->reverse); break;
    case TN_ATTR_EXCLUSIVE: add_number(d, a->exclusive); break;
    case TN_ATTR_LITERAL: add_literal(d, &a->literal->view); break;
    case TN_ATTR_SAME: add_number(d, a->same); break;
    case TN_ATTR_REGIONS:
      for (int i = 0; i < 2; i++) add_number(d, a->region[i]);
      break;
    case TN_ATTR_PROGRAM: add_program(d, a->program); break;
  }
}

static void add_node(digest *d, const tn_node *node) {
  const tn_op_sig *sig = tn_op_sig_of(node->op);
  add_text(d, tn_str_of(sig->name));
  add_number(d, node->region);
  add_number(d, (uint64_t)node->count);
  for (int i = 0; i < node->count; i++) add_number(d, node->in[i]);
  for (uint32_t which = 1; which <= TN_ATTR_PROGRAM; which <<= 1) {
    if (sig->attrs & which) add_attr(d, node->attrs, (tn_attr_set)which);
  }
}

void tn_graph_sha256(const tn_graph *graph, uint8_t out[32]) {
  digest d = { .names = graph->names };
  tn_sha256_init(&d.sha);
  add_text(&d, TN_LIT("tern graph 1"));
  add_number(&d, graph->nodes.count);
  for (size_t v = 1; v < graph->nodes.count; v++) add_node(&d, &graph->nodes.at[v]);
  add_number(&d, graph->regions.count);
  for (size_t r = 1; r < graph->regions.count; r++) {
    const tn_region *region = &graph->regions.at[r];
    add_number(&d, region->parent);
    add_number(&d, region->results.count);
    for (size_t i = 0; i < region->results.count; i++) add_number(&d, region->results.at[i]);
  }
  add_number(&d, graph->outputs.count);
  for (size_t i = 0; i < graph->outputs.count; i++) {
    add_name(&d, graph->outputs.at[i].name);
    add_number(&d, graph->outputs.at[i].value);
  }
  tn_sha256_final(&d.sha, out);
}
