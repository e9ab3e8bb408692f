/* lang/ail/library_make.c: builds the operations of each built-in function.
 *
 * Aliases and their expansions are equal, node for node: linear is matmul and add, meanpool is
 * mean_pool_time, xent is cross_entropy. */
#include "base/number.h"
#include "lang/ail/library.h"

static tn_ail_operand tensor(tn_value value) { return tn_ail_of_value(TN_DATA_TENSOR, value); }

static tn_value apply(tn_ail_make *m, tn_op op, const tn_value *in, int count, const tn_attrs *attrs) {
  return tn_ail_apply(m->w, &m->site, op, in, count, attrs);
}

static tn_shape shape_of(const tn_ail_make *m, tn_value value) {
  return tn_build_type(m->w->builder, value)->shape;
}

/* ---- ranks ---- */

/* The rank of a value is always known. `pattern` is what the operation works on. */
static bool require_rank(tn_ail_make *m, tn_value value, int rank, const char *pattern) {
  if (value == TN_ERROR_VALUE) return false;
  tn_shape shape = shape_of(m, value);
  if (shape.rank == rank) return true;
  return tn_ail_say(m->w, TN_DIAG_E_SHAPE_MISMATCH, m->site.at,
                    tn_ail_function_field(&m->site, m->builtin->op), tn_ail_shape_field(m->w, "left", &shape),
                    TN_STR("right", pattern), TN_INT("dimension", shape.rank < rank ? shape.rank : rank));
}

/* ---- elementwise and products ---- */

tn_ail_operand tn_ail_make_plain(tn_ail_make *m) {
  tn_value in[3];
  int count = 0;
  for (; count < 3 && m->builtin->params[count].name; count++) in[count] = tn_ail_make_tensor(m, count);
  return tensor(apply(m, m->builtin->op, in, count, NULL));
}

tn_ail_operand tn_ail_make_compare(tn_ail_make *m) {
  const tn_value in[] = { tn_ail_make_tensor(m, 0), tn_ail_make_tensor(m, 1) };
  return tn_ail_of_value(TN_DATA_BOOLEAN, apply(m, m->builtin->op, in, 2, NULL));
}

tn_ail_operand tn_ail_make_select(tn_ail_make *m) {
  const tn_ail_operand *given = tn_ail_make_operand(m, 0);
  bool boolean = given->kind == TN_DATA_BOOLEAN;
  tn_ail_operand condition = boolean ? *given : tn_ail_as_boolean(m->w, given, m->given[0]->at);
  const tn_value in[] = { tn_ail_as_value(m->w, &condition, m->given[0]->at), tn_ail_make_tensor(m, 1),
                          tn_ail_make_tensor(m, 2) };
  return tensor(apply(m, TN_OP_SELECT, in, 3, NULL));
}

tn_ail_operand tn_ail_make_linear(tn_ail_make *m) {
  const tn_value product[] = { tn_ail_make_tensor(m, 0), tn_ail_make_tensor(m, 1) };
  tn_value bias = m->given[2] ? tn_ail_make_tensor(m, 2) : TN_NO_VALUE;
  tn_value sum[] = { apply(m, TN_OP_MATMUL, product, 2, NULL), bias };
  return tensor(m->given[2] ? apply(m, TN_OP_ADD, sum, 2, NULL) : sum[0]);
}

tn_ail_operand tn_ail_make_layer_norm(tn_ail_make *m) {
  const tn_value in[] = { tn_ail_make_tensor(m, 0), tn_ail_make_tensor(m, 1), tn_ail_make_tensor(m, 2) };
  tn_attrs attrs = { 0 };
  if (!tn_ail_make_number(m, 3, 1e-5, &attrs.number)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_LAYER_NORM, in, 3, &attrs));
}

/* Each dropout draws words that no other draws, whatever the shapes are. */
#define DROPOUT_WORDS 40

tn_ail_operand tn_ail_make_dropout(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!tn_ail_make_number(m, 1, 0, &attrs.number)) return tn_ail_wrong();
  if (!(attrs.number >= 0 && attrs.number < 1)) {
    char digits[TN_NUMBER_BYTES];
    tn_str got = { digits, tn_number_print_f64(attrs.number, digits) };
    tn_ail_make_refuse(m, "a probability of at least 0 and below 1", got);
    return tn_ail_wrong();
  }
  if (m->w->key == TN_ERROR_VALUE) {
    tn_ail_note_site(m->w, &TN_SCALAR_SHAPE, &TN_SCALAR_SHAPE); /* as many sites as where it does drop out */
    return tensor(x);
  }
  attrs.index = m->w->dropouts++ << DROPOUT_WORDS;
  const tn_value in[] = { x, m->w->key };
  return tensor(apply(m, TN_OP_DROPOUT, in, 2, &attrs));
}

/* ---- along an axis ---- */

/* Whether the rules can be asked about it at all; they know how many axes there are. */
static bool may_be_axis(tn_ail_make *m, int i, int64_t axis) {
  if (axis >= INT32_MIN && axis <= INT32_MAX) return true;
  return tn_ail_make_refuse(m, "axes of the tensor", tn_ail_source_text(m->w->program, m->given[i]->at));
}

static bool read_axis(tn_ail_make *m, int i, int64_t fallback, tn_attrs *attrs) {
  int64_t axis;
  if (!tn_ail_make_int(m, i, fallback, &axis) || !may_be_axis(m, i, axis)) return false;
  attrs->axis = (int32_t)axis;
  return true;
}

tn_ail_operand tn_ail_make_along(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!read_axis(m, 1, -1, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, m->builtin->op, &x, 1, &attrs));
}

tn_ail_operand tn_ail_make_scan(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  bool ok = read_axis(m, 1, -1, &attrs) && tn_ail_make_flag(m, 2, &attrs.reverse) &&
            tn_ail_make_flag(m, 3, &attrs.exclusive);
  return ok ? tensor(apply(m, m->builtin->op, &x, 1, &attrs)) : tn_ail_wrong();
}

/* Positions are numbers of f32 here, like everything that is computed. */
tn_ail_operand tn_ail_make_argmax(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!read_axis(m, 1, -1, &attrs) || !tn_ail_make_flag(m, 2, &attrs.keepdims)) return tn_ail_wrong();
  tn_value places = apply(m, TN_OP_ARGMAX, &x, 1, &attrs);
  return tensor(apply(m, TN_OP_CAST, &places, 1, &(tn_attrs){ .dtype = TN_F32 }));
}

static bool read_axes(tn_ail_make *m, int i, tn_attrs *attrs) {
  int64_t axes[TN_RANK_LIMIT] = { 0 };
  int count;
  if (!tn_ail_make_ints(m, i, axes, &count)) return false;
  attrs->axis_count = count;
  for (int k = 0; k < count; k++) {
    if (!may_be_axis(m, i, axes[k])) return false;
    attrs->axes[k] = (int32_t)axes[k];
  }
  return true;
}

tn_ail_operand tn_ail_make_reduce(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!read_axes(m, 1, &attrs) || !tn_ail_make_flag(m, 2, &attrs.keepdims)) return tn_ail_wrong();
  return tensor(apply(m, m->builtin->op, &x, 1, &attrs));
}

tn_ail_operand tn_ail_make_pool(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!require_rank(m, x, 3, "[B, T, D]")) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_MEAN_POOL_TIME, &x, 1, NULL));
}

/* ---- indices ---- */

/* The name that a diagnostic shows for an argument. */
static tn_str argument_name(const tn_ail_make *m, int i) {
  const tn_ail_operand *operand = tn_ail_make_operand(m, i);
  bool named = operand->origin && (m->given[i]->form == TN_AIL_EXPR_NAME || operand->input >= 0);
  return named ? tn_ail_text_of(m->w->program, operand->origin)
               : tn_ail_source_text(m->w->program, m->given[i]->at);
}

/* Whether the argument is of the kind; a boolean is refused as one. */
static bool require_kind(tn_ail_make *m, int i, tn_data_kind kind, tn_diag_code code) {
  const tn_ail_operand *operand = tn_ail_make_operand(m, i);
  tn_span at = m->given[i]->at;
  if (operand->kind == kind) return true;
  if (operand->is_text || operand->kind == TN_DATA_BOOLEAN) return tn_ail_make_tensor(m, i) != TN_ERROR_VALUE;
  return tn_ail_say(m->w, code, at, TN_TEXT("input_name", argument_name(m, i)),
                    TN_STR("received_dtype", tn_data_kind_name(operand->kind)));
}

/* Indices of other operations: token ids, or E_INVALID_ARGUMENTS. */
static tn_value read_ids(tn_ail_make *m, int i) {
  const tn_ail_operand *operand = tn_ail_make_operand(m, i);
  if (operand->is_text || operand->kind == TN_DATA_BOOLEAN) return tn_ail_make_tensor(m, i);
  if (operand->kind == TN_DATA_TOKEN_IDS || operand->kind == TN_DATA_LABELS) {
    if (operand->kind == TN_DATA_TOKEN_IDS || m->builtin->op == TN_OP_ONE_HOT) return operand->value;
  }
  tn_ail_make_refuse(m, "token ids", tn_str_of(tn_data_kind_name(operand->kind)));
  return TN_ERROR_VALUE;
}

/* Keeps a length that the check has seen, for values that are made up later. */
static void record(tn_ail_make *m, const tn_ail_operand *operand, tn_ail_lengths *list, int64_t length) {
  if (!m->w->records || operand->input < 0) return;
  if (!tn_vec_push(m->w->program->host->heap, list, length)) m->w->program->arena.failed = true;
}

tn_ail_operand tn_ail_make_embedding(tn_ail_make *m) {
  bool ids = require_kind(m, 0, TN_DATA_TOKEN_IDS, TN_DIAG_E_EMBEDDING_REQUIRES_TOKEN_IDS);
  tn_value table = tn_ail_make_tensor(m, 1);
  if (!ids || !require_rank(m, table, 2, "[V, D]")) return tn_ail_wrong();
  const tn_ail_operand tokens = *tn_ail_make_operand(m, 0);
  record(m, &tokens, &m->w->program->embedding_rows, shape_of(m, table).dim[0]);
  const tn_value in[] = { tokens.value, table };
  return tensor(apply(m, TN_OP_EMBEDDING, in, 2, NULL));
}

tn_ail_operand tn_ail_make_cross_entropy(tn_ail_make *m) {
  bool kind = require_kind(m, 1, TN_DATA_LABELS, TN_DIAG_E_LABELS_REQUIRED);
  tn_value logits = tn_ail_make_tensor(m, 0);
  if (!kind || logits == TN_ERROR_VALUE) return tn_ail_wrong();
  const tn_ail_operand labels = *tn_ail_make_operand(m, 1);
  tn_shape shape = shape_of(m, logits);
  if (shape.rank > 0) record(m, &labels, &m->w->program->classes, shape.dim[shape.rank - 1]);
  const tn_value in[] = { logits, labels.value };
  tn_value loss = apply(m, TN_OP_CROSS_ENTROPY, in, 2, NULL);
  if (m->w->branches == 0 && loss != TN_ERROR_VALUE) m->w->logits = logits;
  return tensor(loss);
}

/* x: [N, D]; the result: [number of indices, D] */
tn_ail_operand tn_ail_make_gather_rows(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0), ids = read_ids(m, 1);
  if (!require_rank(m, x, 2, "[N, D]") || ids == TN_ERROR_VALUE) return tn_ail_wrong();
  const tn_ail_operand tokens = *tn_ail_make_operand(m, 1);
  record(m, &tokens, &m->w->program->gather_rows, shape_of(m, x).dim[0]);
  if (shape_of(m, ids).rank != 1) ids = apply(m, TN_OP_FLATTEN, &ids, 1, NULL);
  const tn_value in[] = { x, ids };
  return tensor(apply(m, TN_OP_GATHER, in, 2, NULL));
}

tn_ail_operand tn_ail_make_gather(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  const tn_value in[] = { tn_ail_make_tensor(m, 0), read_ids(m, 1) };
  if (!read_axis(m, 2, 0, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_GATHER, in, 2, &attrs));
}

tn_ail_operand tn_ail_make_scatter_add(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  const tn_value in[] = { tn_ail_make_tensor(m, 0), read_ids(m, 1), tn_ail_make_tensor(m, 2) };
  if (!read_axis(m, 3, 0, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_SCATTER_ADD, in, 3, &attrs));
}

tn_ail_operand tn_ail_make_one_hot(tn_ail_make *m) {
  tn_value ids = read_ids(m, 0);
  int64_t classes;
  if (!tn_ail_make_int(m, 1, 0, &classes) || ids == TN_ERROR_VALUE) return tn_ail_wrong();
  if (classes < 1) {
    tn_ail_make_refuse(m, "at least 1 class", tn_ail_source_text(m->w->program, m->given[1]->at));
    return tn_ail_wrong();
  }
  tn_attrs attrs = { .index = (uint64_t)classes, .dtype = TN_F32 };
  return tensor(apply(m, TN_OP_ONE_HOT, &ids, 1, &attrs));
}

/* ---- arranging ---- */

tn_ail_operand tn_ail_make_concat(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  const tn_value in[] = { tn_ail_make_tensor(m, 1), tn_ail_make_tensor(m, 2) };
  if (!read_axis(m, 0, 0, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_CONCAT, in, 2, &attrs));
}

static tn_value sliced(tn_ail_make *m, tn_value x, int axis, int64_t start, int64_t end, int64_t step) {
  tn_attrs attrs = { 0 };
  for (int i = 0; i < shape_of(m, x).rank; i++) {
    attrs.high[i] = INT64_MAX;
    attrs.step[i] = 1;
  }
  attrs.low[axis] = start;
  attrs.high[axis] = end;
  attrs.step[axis] = step;
  return apply(m, TN_OP_SLICE, &x, 1, &attrs);
}

/* x: [N, D]; the result: [len, D] */
tn_ail_operand tn_ail_make_slice_rows(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  int64_t start, len;
  bool ok = tn_ail_make_int(m, 1, 0, &start);
  ok = tn_ail_make_int(m, 2, 0, &len) && ok;
  if (!ok || !require_rank(m, x, 2, "[N, D]")) return tn_ail_wrong();
  int64_t rows = shape_of(m, x).dim[0];
  bool outside = tn_dim_is_known(rows) && (start > rows || len > rows - start);
  if (start < 0 || len < 1 || outside) {
    tn_text got;
    tn_text_init(&got, m->w->program->host->heap);
    tn_text_puts(&got, "start ");
    tn_text_int(&got, start);
    tn_text_puts(&got, " and len ");
    tn_text_int(&got, len);
    tn_ail_make_refuse(m, "rows inside the tensor", tn_text_str(&got));
    tn_text_free(&got);
    return tn_ail_wrong();
  }
  return tensor(sliced(m, x, 0, start, start + len, 1));
}

/* An axis that the tensor has, whatever sign it was given with. */
static bool resolve_axis(tn_ail_make *m, tn_value x, int i, int *axis) {
  int64_t given;
  if (!tn_ail_make_int(m, i, 0, &given) || x == TN_ERROR_VALUE) return false;
  tn_shape shape = shape_of(m, x);
  if (tn_shape_axis(shape.rank, given, axis)) return true;
  tn_fault fault = { .kind = TN_FAULT_AXIS, .op = m->builtin->op, .axis = given };
  return tn_ail_report_op_fault(m->w, &m->site, &fault, &shape, &shape);
}

tn_ail_operand tn_ail_make_slice(tn_ail_make *m) {
  tn_value x = tn_ail_make_tensor(m, 0);
  int64_t start, end, step;
  int axis;
  bool ok =
      tn_ail_make_int(m, 2, 0, &start) && tn_ail_make_int(m, 3, 0, &end) && tn_ail_make_int(m, 4, 1, &step);
  if (!ok || !resolve_axis(m, x, 1, &axis)) return tn_ail_wrong();
  if (step < 1) {
    tn_ail_make_refuse(m, "a step of at least 1", tn_ail_source_text(m->w->program, m->given[4]->at));
    return tn_ail_wrong();
  }
  return tensor(sliced(m, x, axis, start, end, step));
}

tn_ail_operand tn_ail_make_index(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  int64_t place;
  int axis;
  if (!tn_ail_make_int(m, 2, 0, &place) || !resolve_axis(m, x, 1, &axis)) return tn_ail_wrong();
  attrs.axis = axis;
  attrs.index = (uint64_t)place;
  return tensor(apply(m, TN_OP_INDEX, &x, 1, &attrs));
}

tn_ail_operand tn_ail_make_transpose(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!read_axes(m, 1, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, m->builtin->op, &x, 1, &attrs));
}

tn_ail_operand tn_ail_make_squeeze(tn_ail_make *m) { return tn_ail_make_transpose(m); }

tn_ail_operand tn_ail_make_expand_dims(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!read_axis(m, 1, 0, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_EXPAND_DIMS, &x, 1, &attrs));
}

tn_ail_operand tn_ail_make_pad(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  int before, after;
  bool ok = tn_ail_make_ints(m, 1, attrs.low, &before);
  ok = tn_ail_make_ints(m, 2, attrs.high, &after) && ok;
  if (!ok || x == TN_ERROR_VALUE) return tn_ail_wrong();
  int rank = shape_of(m, x).rank;
  if (before != rank || after != rank) {
    tn_ail_make_refuse(m, "one length for each dimension", tn_ail_source_text(m->w->program, m->site.at));
    return tn_ail_wrong();
  }
  return tensor(apply(m, TN_OP_PAD, &x, 1, &attrs));
}

tn_ail_operand tn_ail_make_broadcast_to(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  if (!tn_ail_make_shape(m, 1, &attrs.shape)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_BROADCAST_TO, &x, 1, &attrs));
}

/* ---- images ---- */

/* One number for both sides, or two. */
static bool read_pair(tn_ail_make *m, int i, int64_t fallback, int64_t out[2]) {
  int64_t given[TN_RANK_LIMIT] = { fallback };
  int count;
  if (!tn_ail_make_ints(m, i, given, &count)) return false;
  out[0] = given[0];
  out[1] = count == 2 ? given[1] : given[0];
  bool ok =
      count <= 2 && count != 0 && out[0] >= 1 && out[1] >= 1 && out[0] <= INT32_MAX && out[1] <= INT32_MAX;
  if (ok) return true;
  return tn_ail_make_refuse(m, "one or two numbers of at least 1",
                            tn_ail_source_text(m->w->program, m->given[i]->at));
}

/* x: [n, h, w, c], kernel: [kh, kw, c / groups, o] */
static bool channels_fit(int64_t x, int64_t kernel, int64_t outputs, int64_t groups) {
  bool known = tn_dim_is_known(x) && tn_dim_is_known(kernel);
  if (known && (x % groups != 0 || x / groups != kernel)) return false;
  return !tn_dim_is_known(outputs) || outputs % groups == 0;
}

/* Whether names among the lengths leave it open what comes out: the rules work out one length that is not
 * known, and here it may be both sides of the image. */
static bool is_open_conv2d(tn_ail_make *m, const tn_value in[2], int64_t groups) {
  if (!m->w->typer || in[0] == TN_ERROR_VALUE || in[1] == TN_ERROR_VALUE) return false;
  tn_shape x = shape_of(m, in[0]), kernel = shape_of(m, in[1]);
  if (x.rank != 4 || kernel.rank != 4) return false;
  if (!channels_fit(x.dim[3], kernel.dim[2], kernel.dim[3], groups)) return false;
  return !tn_shape_is_known(&x) || !tn_shape_is_known(&kernel);
}

static tn_value open_conv2d(tn_ail_make *m, const tn_value in[2]) {
  tn_shape x = shape_of(m, in[0]), kernel = shape_of(m, in[1]);
  tn_ail_note_site(m->w, &x, &kernel);
  tn_shape result = tn_shape_make(4, x.dim[0], TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, kernel.dim[3]);
  return tn_typer_value(m->w->typer, TN_F32, &result);
}

tn_ail_operand tn_ail_make_conv2d(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  const tn_value in[] = { tn_ail_make_tensor(m, 0), tn_ail_make_tensor(m, 1) };
  tn_str padding = TN_LIT("valid");
  int64_t groups = 1;
  if (!read_pair(m, 2, 1, attrs.step) || !tn_ail_make_text(m, 3, &padding) ||
      !tn_ail_make_int(m, 4, 1, &groups))
    return tn_ail_wrong();
  attrs.same = tn_str_is(padding, "same");
  if (!attrs.same && !tn_str_is(padding, "valid")) {
    tn_ail_make_refuse(m, "padding \"valid\" or \"same\"", padding);
    return tn_ail_wrong();
  }
  if (groups < 1) {
    tn_ail_make_refuse(m, "at least 1 group", tn_ail_source_text(m->w->program, m->given[4]->at));
    return tn_ail_wrong();
  }
  attrs.index = (uint64_t)groups;
  return tensor(is_open_conv2d(m, in, groups) ? open_conv2d(m, in) : apply(m, TN_OP_CONV2D, in, 2, &attrs));
}

tn_ail_operand tn_ail_make_patches(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  tn_value x = tn_ail_make_tensor(m, 0);
  int64_t window[2];
  if (!read_pair(m, 1, 1, window) || !read_pair(m, 2, 1, attrs.step)) return tn_ail_wrong();
  attrs.window[0] = (int32_t)window[0];
  attrs.window[1] = (int32_t)window[1];
  return tensor(apply(m, TN_OP_PATCHES, &x, 1, &attrs));
}

/* ---- out of nothing ---- */

tn_ail_operand tn_ail_make_fill(tn_ail_make *m) {
  tn_attrs attrs = { .dtype = TN_F32 };
  if (!tn_ail_make_shape(m, 0, &attrs.shape) || !tn_ail_make_number(m, 1, 0, &attrs.number))
    return tn_ail_wrong();
  return tensor(apply(m, TN_OP_FILL, NULL, 0, &attrs));
}

tn_ail_operand tn_ail_make_iota(tn_ail_make *m) {
  tn_attrs attrs = { .dtype = TN_F32 };
  if (!tn_ail_make_shape(m, 0, &attrs.shape) || !read_axis(m, 1, -1, &attrs)) return tn_ail_wrong();
  return tensor(apply(m, TN_OP_IOTA, NULL, 0, &attrs));
}

tn_ail_operand tn_ail_make_random(tn_ail_make *m) {
  tn_attrs attrs = { 0 };
  int64_t seed;
  if (!tn_ail_make_int(m, 0, 0, &seed) || !tn_ail_make_shape(m, 1, &attrs.shape)) return tn_ail_wrong();
  tn_value key = apply(m, TN_OP_FILL, NULL, 0, &(tn_attrs){ .dtype = TN_I64, .number = (double)seed });
  return tensor(apply(m, m->builtin->op, &key, 1, &attrs));
}

/* ---- effects ---- */

#define FILE_WORDS 8 /* of a SHA-256 */

static tn_name host_name(tn_ail_make *m, tn_str text) {
  tn_name name = tn_names_intern(m->w->program->host->names, text);
  if (name == 0) m->w->program->arena.failed = m->w->failed = true;
  return name;
}

tn_ail_operand tn_ail_make_now(tn_ail_make *m) {
  tn_attrs attrs = { .dtype = TN_F32, .name = host_name(m, TN_LIT("now")) };
  return tensor(apply(m, TN_OP_HOST, NULL, 0, &attrs));
}

tn_ail_operand tn_ail_make_read_file_text(tn_ail_make *m) {
  tn_str path;
  if (!tn_ail_make_text(m, 0, &path)) return tn_ail_wrong();
  tn_attrs attrs = { .dtype = TN_F32, .shape = tn_shape_make(1, FILE_WORDS) };
  attrs.name = host_name(m, TN_LIT("read_file_text"));
  attrs.argument = host_name(m, path);
  bool kept = tn_map_put(&m->w->program->read_paths, attrs.argument, 0);
  if (!kept) m->w->program->arena.failed = m->w->failed = true;
  return tensor(apply(m, TN_OP_HOST, NULL, 0, &attrs));
}
