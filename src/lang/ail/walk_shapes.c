/* lang/ail/walk_shapes.c: makes operations on shapes with named lengths.
 *
 * The rules of op/ treat two names as two lengths. In AILang `x [B, D]` times `W [K, 2]` may still
 * be valid, if D and K turn out equal. So when a rule refuses shapes with names, the names in the
 * mismatched dimension are replaced by unknown lengths and the rule is applied again; what it
 * refuses then is wrong for all lengths. */
#include "base/number.h"
#include "lang/ail/walk.h"
#include "op/fault.h"
#include "tensor/shape_field.h"

/* ---- names in reports ---- */

/* The length that a name has in this run; a dimension that has none stays as it is. */
static int64_t length_of(const tn_ail_walk *w, int64_t dim) {
  for (size_t i = 0; w->sizes && tn_dim_is_symbol(dim) && i < w->sizes->name_count; i++) {
    if (w->sizes->names[i].symbol == tn_dim_name(dim)) return w->sizes->names[i].length;
  }
  return dim;
}

tn_field tn_ail_shape_field(const tn_ail_walk *w, const char *name, const tn_shape *shape) {
  tn_shape lengths = *shape;
  for (int i = 0; i < shape->rank; i++) lengths.dim[i] = length_of(w, shape->dim[i]);
  return tn_shape_field_bound(name, shape, &lengths, w->program->host->names, TN_SHAPE_COMMA);
}

static bool is_kept_as(const tn_ail *program, uint64_t number, const tn_shape *shape) {
  return number > 0 && tn_shape_equal(&program->named_shapes.at[number - 1], shape);
}

static uint32_t find_shape(tn_ail *program, const tn_shape *shape) {
  tn_str bytes = { (const char *)shape->dim, (size_t)shape->rank * sizeof shape->dim[0] };
  uint64_t hash = tn_str_hash(bytes);
  const uint64_t *found = tn_map_get(&program->shape_index, hash);
  if (found && is_kept_as(program, *found, shape)) return (uint32_t)*found;
  bool kept = tn_vec_push(program->host->heap, &program->named_shapes, *shape) &&
              tn_map_put(&program->shape_index, hash, program->named_shapes.count);
  if (!kept) program->arena.failed = true;
  return kept ? (uint32_t)program->named_shapes.count : 0;
}

/* The number of a shape with names among those that are kept; 0: it has none, or memory ran out. Most often
 * it is one of the site before. */
static uint32_t keep_shape(tn_ail *program, const tn_ail_site_shapes *before, const tn_shape *shape) {
  if (tn_shape_is_known(shape)) return 0;
  if (is_kept_as(program, before->left, shape)) return before->left;
  return is_kept_as(program, before->right, shape) ? before->right : find_shape(program, shape);
}

void tn_ail_note_site(tn_ail_walk *w, const tn_shape *left, const tn_shape *right) {
  tn_ail *program = w->program;
  w->site++;
  program->host->looked_at++;
  if (!w->records) return;
  tn_ail_site_shapes before = program->sites.count ? tn_vec_last(&program->sites) : (tn_ail_site_shapes){ 0 };
  tn_ail_site_shapes shapes = { keep_shape(program, &before, left), keep_shape(program, &before, right) };
  if (!tn_vec_push(program->host->heap, &program->sites, shapes)) program->arena.failed = true;
}

void tn_ail_named_shapes(const tn_ail_walk *w, tn_shape *left, tn_shape *right) {
  const tn_ail *program = w->program;
  if (!w->replays || w->site > program->sites.count) return;
  tn_ail_site_shapes shapes = program->sites.at[w->site - 1];
  if (shapes.left) *left = program->named_shapes.at[shapes.left - 1];
  if (shapes.right) *right = program->named_shapes.at[shapes.right - 1];
}

bool tn_ail_shapes_differ(const tn_shape *a, const tn_shape *b, int *dimension) {
  int rank = a->rank < b->rank ? a->rank : b->rank;
  for (int i = 0; i < rank; i++) {
    *dimension = i;
    if (tn_dim_is_known(a->dim[i]) && tn_dim_is_known(b->dim[i]) && a->dim[i] != b->dim[i]) return true;
  }
  *dimension = rank;
  return a->rank != b->rank;
}

/* ---- faults with the codes of the language ---- */

tn_field tn_ail_function_field(const tn_ail_site *site, tn_op op) {
  if (site->written.len > 0) return TN_TEXT("function", site->written);
  return TN_STR("function", site->function ? site->function : tn_op_sig_of(op)->name);
}

static bool report_argument(tn_ail_walk *w, const tn_ail_site *site, tn_op op, tn_str expected,
                            tn_field got) {
  return tn_ail_say(w, TN_DIAG_E_INVALID_ARGUMENTS, site->at, tn_ail_function_field(site, op),
                    TN_TEXT("expected", expected), got);
}

static bool report_axis(tn_ail_walk *w, const tn_ail_site *site, const tn_fault *fault,
                        const tn_shape *left) {
  tn_text expected;
  tn_text_init(&expected, w->program->host->heap);
  if (left->rank == 0) {
    tn_text_puts(&expected, "a tensor of at least 1 dimension");
  } else {
    tn_text_puts(&expected, "an axis from ");
    tn_text_int(&expected, -left->rank);
    tn_text_puts(&expected, " to ");
    tn_text_int(&expected, left->rank - 1);
    if (tn_fault_repeats(fault)) tn_text_puts(&expected, ", each once");
  }
  tn_field got = left->rank == 0 ? tn_ail_shape_field(w, "got", left) : TN_INT("got", fault->axis);
  report_argument(w, site, fault->op, tn_text_str(&expected), got);
  tn_text_free(&expected);
  return false;
}

static bool report_permutation(tn_ail_walk *w, const tn_ail_site *site, const tn_fault *fault) {
  tn_text got;
  tn_text_init(&got, w->program->host->heap);
  tn_text_byte(&got, '[');
  for (int i = 0; i < fault->right.shape.rank; i++) {
    if (i) tn_text_puts(&got, ", ");
    tn_text_int(&got, fault->right.shape.dim[i]);
  }
  tn_text_byte(&got, ']');
  report_argument(w, site, fault->op, TN_LIT("every axis once"), TN_TEXT("got", tn_text_str(&got)));
  tn_text_free(&got);
  return false;
}

static bool report_size(tn_ail_walk *w, const tn_ail_site *site, const tn_fault *fault) {
  if (fault->reason) { /* the graph itself, or its branches; it would be said of all that follows */
    w->stopped = true;
    return tn_ail_say(w, TN_DIAG_E_TOO_LARGE, site->at, TN_STR("what", fault->reason),
                      TN_INT("limit", fault->expected));
  }
  return tn_ail_say(w, TN_DIAG_E_TOO_LARGE, site->at, TN_STR("what", "the number of elements"),
                    TN_INT("limit", TN_ELEMENT_LIMIT),
                    tn_ail_shape_field(w, "requested", &fault->left.shape));
}

/* A rank that the operation cannot take. With one operand the other shape is what it needs: [_, _, _, _]. */
static bool report_rank(tn_ail_walk *w, const tn_ail_site *site, const tn_fault *fault,
                        const tn_shape *left) {
  tn_text needed;
  tn_text_init(&needed, w->program->host->heap);
  tn_text_byte(&needed, '[');
  for (int64_t i = 0; i < fault->expected; i++) tn_text_puts(&needed, i ? ", _" : "_");
  tn_text_byte(&needed, ']');
  tn_ail_say(w, TN_DIAG_E_SHAPE_MISMATCH, site->at, tn_ail_function_field(site, fault->op),
             tn_ail_shape_field(w, "left", left), TN_TEXT("right", tn_text_str(&needed)),
             TN_INT("dimension", left->rank < fault->expected ? left->rank : fault->expected));
  tn_text_free(&needed);
  return false;
}

bool tn_ail_report_op_fault(tn_ail_walk *w, const tn_ail_site *site, const tn_fault *fault,
                            const tn_shape *left, const tn_shape *right) {
  bool alone = tn_op_sig_of(fault->op)->arity == 1;
  if (fault->kind == TN_FAULT_RANK && alone) return report_rank(w, site, fault, left);
  switch (fault->kind) {
    case TN_FAULT_BROADCAST:
    case TN_FAULT_INNER:
    case TN_FAULT_RANK:
    case TN_FAULT_JOIN:
    case TN_FAULT_SHAPE:
    case TN_FAULT_COUNT:
    case TN_FAULT_INFER:
      return tn_ail_say(w, TN_DIAG_E_SHAPE_MISMATCH, site->at, tn_ail_function_field(site, fault->op),
                        tn_ail_shape_field(w, "left", left), tn_ail_shape_field(w, "right", right),
                        TN_INT("dimension", fault->dimension));
    case TN_FAULT_AXIS: return report_axis(w, site, fault, left);
    case TN_FAULT_PERMUTATION: return report_permutation(w, site, fault);
    case TN_FAULT_SQUEEZE:
      return report_argument(w, site, fault->op, TN_LIT("axes of length 1"),
                             tn_ail_shape_field(w, "got", left));
    case TN_FAULT_BOUNDS:
      return report_argument(w, site, fault->op, TN_LIT("indices inside the tensor"),
                             TN_INT("got", fault->got));
    case TN_FAULT_ARGUMENT:
      return report_argument(w, site, fault->op, tn_str_of(fault->reason), TN_INT("got", fault->got));
    case TN_FAULT_DTYPE:
      return report_argument(w, site, fault->op, tn_str_of(fault->reason ? fault->reason : "one dtype"),
                             TN_STR("got", tn_dtype_name(fault->left.dtype)));
    case TN_FAULT_RANK_LIMIT:
      return tn_ail_say(w, TN_DIAG_E_RANK_LIMIT, site->at, TN_INT("rank", fault->got),
                        TN_INT("limit", TN_RANK_LIMIT));
    case TN_FAULT_TOO_LARGE: return report_size(w, site, fault);
    default: break;
  }
  w->failed = w->stopped = true;
  tn_fault placed = *fault;
  placed.at = site->at;
  return w->quiet ? false : tn_ail_report_plain_fault(w->program, &placed);
}

/* ---- one operation ---- */

static bool is_misfit(tn_fault_kind kind) {
  switch (kind) {
    case TN_FAULT_BROADCAST:
    case TN_FAULT_INNER:
    case TN_FAULT_JOIN:
    case TN_FAULT_SHAPE:
    case TN_FAULT_COUNT:
    case TN_FAULT_INFER:
    case TN_FAULT_SQUEEZE: return true;
    default: return false;
  }
}

/* Whether the name of dimension `i` may be what the fault is about. */
static bool is_at_fault(const tn_fault *fault, tn_op op, const tn_shape *shape, int operand, int rank,
                        int i) {
  if (fault->kind == TN_FAULT_INNER && op == TN_OP_MATMUL) return i == shape->rank - (operand == 0 ? 1 : 2);
  if (fault->kind == TN_FAULT_BROADCAST && op != TN_OP_MATMUL)
    return i + rank - shape->rank == fault->dimension;
  return true;
}

/* Forgets the names that the fault may be about; false when there is none. */
static bool forget_names(tn_ail_walk *w, tn_op op, const tn_fault *fault, tn_value *in, int count) {
  bool changed = false;
  int rank = 0;
  for (int k = 0; k < count; k++) {
    int other = tn_build_type(w->builder, in[k])->shape.rank;
    if (other > rank) rank = other;
  }
  for (int k = 0; k < count; k++) {
    tn_type type = *tn_build_type(w->builder, in[k]);
    bool here = false;
    for (int i = 0; i < type.shape.rank; i++) {
      if (!tn_dim_is_symbol(type.shape.dim[i]) || !is_at_fault(fault, op, &type.shape, k, rank, i)) continue;
      type.shape.dim[i] = TN_DIM_UNKNOWN;
      here = changed = true;
    }
    if (here) in[k] = tn_typer_value(w->typer, type.dtype, &type.shape);
  }
  return changed;
}

static bool has_names(const tn_ail_walk *w, const tn_value *in, int count) {
  for (int k = 0; k < count; k++) {
    if (!tn_shape_is_known(&tn_build_type(w->builder, in[k])->shape)) return true;
  }
  return false;
}

tn_value tn_ail_apply(tn_ail_walk *w, const tn_ail_site *site, tn_op op, const tn_value *in, int count,
                      const tn_attrs *attrs) {
  tn_value operands[4] = { 0 };
  for (int i = 0; i < count; i++) {
    if (in[i] == TN_ERROR_VALUE) return TN_ERROR_VALUE;
    operands[i] = in[i];
  }
  tn_shape left = count > 0 ? tn_build_type(w->builder, in[0])->shape : attrs->shape;
  tn_shape right = count > 1                  ? tn_build_type(w->builder, in[1])->shape
                   : op == TN_OP_BROADCAST_TO ? attrs->shape
                                              : left;
  tn_ail_note_site(w, &left, &right);
  if (w->stopped) return TN_ERROR_VALUE;
  w->builder->at = site->at;
  tn_value value = tn_build(w->builder, op, operands, count, attrs);
  while (value == TN_ERROR_VALUE && w->typer && is_misfit(w->builder->fault.kind)) {
    tn_fault fault = w->builder->fault;
    tn_build_forget(w->builder);
    if (!forget_names(w, op, &fault, operands, count)) {
      w->builder->fault = fault;
      break;
    }
    value = tn_build(w->builder, op, operands, count, attrs);
  }
  if (value != TN_ERROR_VALUE) return value;
  tn_fault fault = w->builder->fault;
  tn_build_forget(w->builder);
  if (w->unnamed && is_misfit(fault.kind) && has_names(w, in, count)) {
    tn_ail_get_stuck(w);
    return TN_ERROR_VALUE;
  }
  tn_ail_named_shapes(w, &left, &right);
  tn_ail_report_op_fault(w, site, &fault, &left, &right);
  return TN_ERROR_VALUE;
}
