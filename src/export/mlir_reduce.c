/* export/mlir_reduce.c: writes reductions, scans and matrix products in MLIR.
 *
 * A reduction treats its operand as a matrix: kept axes are rows, reduced axes run along a row, in
 * row-major order. The functions that reduce one row (mlir_helper.c) define the order of sums. */
#include "export/mlir_internal.h"

static tn_str list_of(tn_mlir *m, const tn_str *texts, int count) {
  tn_str list = TN_LIT("");
  for (int i = 0; i < count; i++) list = TN_MLIR_TEXT(m, i ? "$, $" : "$$", list, texts[i]);
  return list;
}

static tn_type matrix_of(tn_dtype dtype) {
  return (tn_type){ dtype, tn_shape_make(2, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN) };
}

static tn_type column_of(tn_dtype dtype) { return (tn_type){ dtype, tn_shape_make(1, TN_DIM_UNKNOWN) }; }

/* ---- matrices ---- */

/* The axes that are kept, then those that are reduced. */
typedef struct {
  int order[TN_RANK_LIMIT];
  int kept, rank;
  tn_str dims[TN_RANK_LIMIT]; /* in that order */
  tn_type type;               /* in that order */
} arrangement;

static arrangement arrange(tn_mlir *m, tn_value value, const int32_t *axes, int count) {
  const tn_type *type = tn_graph_type(m->graph, value);
  arrangement a = { .rank = type->shape.rank, .type = { type->dtype, { .rank = type->shape.rank } } };
  bool reduced[TN_RANK_LIMIT] = { false };
  for (int i = 0; i < count; i++) reduced[axes[i]] = true;
  for (int i = 0; i < a.rank; i++) {
    if (!reduced[i]) a.order[a.kept++] = i;
  }
  for (int i = 0, next = a.kept; i < a.rank; i++) {
    if (reduced[i]) a.order[next++] = i;
  }
  for (int i = 0; i < a.rank; i++) {
    a.dims[i] = tn_mlir_dim(m, value, a.order[i]);
    a.type.shape.dim[i] = type->shape.dim[a.order[i]];
  }
  return a;
}

static bool in_order(const arrangement *a) {
  for (int i = 0; i < a->rank; i++) {
    if (a->order[i] != i) return false;
  }
  return true;
}

static tn_str transposed(tn_mlir *m, tn_str x, const tn_type *from, const tn_type *to, const tn_str *dims,
                         const int *order) {
  tn_str empty = tn_mlir_empty(m, to, dims), made = tn_mlir_fresh(m), axes[TN_RANK_LIMIT];
  for (int i = 0; i < to->shape.rank; i++) axes[i] = tn_mlir_int(m, order[i]);
  TN_MLIR(m, "$ = linalg.transpose ins($ : $) outs($ : $) permutation = [$]", made, x, tn_mlir_type(m, from),
          empty, tn_mlir_type(m, to), list_of(m, axes, to->shape.rank));
  return made;
}

static tn_str as_matrix(tn_mlir *m, tn_value value, const arrangement *a, tn_str *rows, tn_str *length) {
  const tn_type *type = tn_graph_type(m->graph, value);
  tn_str x = m->values[value];
  tn_type matrix = matrix_of(type->dtype);
  *rows = tn_mlir_product(m, a->dims, a->kept);
  *length = tn_mlir_product(m, a->dims + a->kept, a->rank - a->kept);
  if (!in_order(a)) x = transposed(m, x, type, &a->type, a->dims, a->order);
  const tn_str dims[] = { *rows, *length };
  if (type->shape.rank > 0) return tn_mlir_reshaped(m, x, &a->type, &matrix, dims);
  return tn_mlir_filled(m, x, &matrix, dims);
}

/* Back from a matrix to the shape and order it came from. */
static tn_str from_matrix(tn_mlir *m, tn_str matrix, tn_value like, const arrangement *a) {
  const tn_type *type = tn_graph_type(m->graph, like);
  tn_type wide = matrix_of(type->dtype);
  int back[TN_RANK_LIMIT];
  tn_str dims[TN_RANK_LIMIT], x = tn_mlir_reshaped(m, matrix, &wide, &a->type, a->dims);
  if (in_order(a)) return x;
  for (int i = 0; i < a->rank; i++) {
    back[a->order[i]] = i;
    dims[a->order[i]] = a->dims[i];
  }
  return transposed(m, x, &a->type, type, dims, back);
}

/* A tensor as a matrix whose rows are what is reduced: kept axes first, then those of `axes`. */
static tn_str reduced_rows(tn_mlir *m, tn_value value, const int32_t *axes, int count, tn_str *rows,
                           tn_str *length) {
  arrangement a = arrange(m, value, axes, count);
  return as_matrix(m, value, &a, rows, length);
}

/* ---- one number for each row ---- */

static tn_str reduce_row(tn_mlir *m, tn_mlir_row kind, tn_str matrix, tn_dtype dtype, tn_str row) {
  tn_str made = tn_mlir_fresh(m), function = tn_mlir_row_function(m, kind, dtype);
  TN_MLIR(m, "$ = func.call @$($, $) : (tensor<?x?x$>, index) -> $", made, function, matrix, row,
          tn_mlir_dtype(dtype), kind == TN_MLIR_ARGMAX ? TN_LIT("i32") : tn_mlir_dtype(dtype));
  return made;
}

/* A column with what `kind` makes of each row. */
static tn_str reduce_rows(tn_mlir *m, tn_mlir_row kind, tn_str matrix, tn_dtype dtype, tn_str rows) {
  tn_str made = tn_mlir_fresh(m), row = tn_mlir_fresh(m);
  tn_dtype gives = kind == TN_MLIR_ARGMAX ? TN_I32 : dtype;
  TN_MLIR(m, "$ = tensor.generate $ {", made, rows);
  TN_MLIR(m, "^bb0($: index):", row);
  m->indent++;
  tn_str element = reduce_row(m, kind, matrix, dtype, row);
  TN_MLIR(m, "tensor.yield $ : $", element, tn_mlir_dtype(gives));
  m->indent--;
  TN_MLIR(m, "} : tensor<?x$>", tn_mlir_dtype(gives));
  return made;
}

static tn_str size_as(tn_mlir *m, tn_str size, tn_dtype dtype) {
  tn_str wide = tn_mlir_fresh(m), made = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.index_cast $ : index to i64", wide, size);
  if (dtype == TN_I64) return wide;
  TN_MLIR(m, dtype == TN_I32 ? "$ = arith.trunci $ : i64 to $" : "$ = arith.sitofp $ : i64 to $", made, wide,
          tn_mlir_dtype(dtype));
  return made;
}

static tn_str divided(tn_mlir *m, tn_dtype dtype, tn_str x, tn_str y) {
  tn_str made = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.divf $, $ : $", made, x, y, tn_mlir_dtype(dtype));
  return made;
}

static tn_str subtracted(tn_mlir *m, tn_dtype dtype, tn_str x, tn_str y) {
  tn_str made = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.subf $, $ : $", made, x, y, tn_mlir_dtype(dtype));
  return made;
}

/* Each sum divided by the length of the row. */
static tn_str means(tn_mlir *m, tn_str sums, tn_dtype dtype, tn_str rows, tn_str length) {
  tn_str count = size_as(m, length, dtype), made = tn_mlir_fresh(m), row = tn_mlir_fresh(m),
         sum = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = tensor.generate $ {", made, rows);
  TN_MLIR(m, "^bb0($: index):", row);
  m->indent++;
  TN_MLIR(m, "$ = tensor.extract $[$] : tensor<?x$>", sum, sums, row, tn_mlir_dtype(dtype));
  TN_MLIR(m, "tensor.yield $ : $", divided(m, dtype, sum, count), tn_mlir_dtype(dtype));
  m->indent--;
  TN_MLIR(m, "} : tensor<?x$>", tn_mlir_dtype(dtype));
  return made;
}

bool tn_mlir_count(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_str dims[TN_RANK_LIMIT];
  for (int i = 0; i < node->attrs->axis_count; i++)
    dims[i] = tn_mlir_dim(m, node->in[0], node->attrs->axes[i]);
  m->values[value] = size_as(m, tn_mlir_product(m, dims, node->attrs->axis_count), node->type.dtype);
  return true;
}

static bool reduce(tn_mlir *m, tn_value value, tn_mlir_row row, bool mean) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_dtype dtype = tn_graph_type(m->graph, node->in[0])->dtype;
  bool place = row == TN_MLIR_ARGMAX;
  tn_str rows, length, dims[TN_RANK_LIMIT];
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  tn_str matrix = reduced_rows(m, node->in[0], place ? &node->attrs->axis : node->attrs->axes,
                               place ? 1 : node->attrs->axis_count, &rows, &length);
  if (node->type.shape.rank == 0) {
    tn_str made = reduce_row(m, row, matrix, dtype, tn_mlir_index(m, 0));
    m->values[value] = mean ? divided(m, dtype, made, size_as(m, length, dtype)) : made;
    return true;
  }
  tn_str column = reduce_rows(m, row, matrix, dtype, rows);
  if (mean) column = means(m, column, dtype, rows, length);
  tn_type flat = column_of(node->type.dtype);
  m->values[value] = tn_mlir_reshaped(m, column, &flat, &node->type, dims);
  return true;
}

bool tn_mlir_sum(tn_mlir *m, tn_value value) { return reduce(m, value, TN_MLIR_SUM, false); }
bool tn_mlir_mean(tn_mlir *m, tn_value value) { return reduce(m, value, TN_MLIR_SUM, true); }
bool tn_mlir_prod(tn_mlir *m, tn_value value) { return reduce(m, value, TN_MLIR_PROD, false); }
bool tn_mlir_max(tn_mlir *m, tn_value value) { return reduce(m, value, TN_MLIR_MAX, false); }
bool tn_mlir_min(tn_mlir *m, tn_value value) { return reduce(m, value, TN_MLIR_MIN, false); }
bool tn_mlir_argmax(tn_mlir *m, tn_value value) { return reduce(m, value, TN_MLIR_ARGMAX, false); }

/* ---- along an axis ---- */

static tn_str at(tn_mlir *m, tn_str x, tn_dtype dtype, tn_str row, tn_str column) {
  tn_str made = tn_mlir_fresh(m);
  if (column.len)
    TN_MLIR(m, "$ = tensor.extract $[$, $] : tensor<?x?x$>", made, x, row, column, tn_mlir_dtype(dtype));
  else
    TN_MLIR(m, "$ = tensor.extract $[$] : tensor<?x$>", made, x, row, tn_mlir_dtype(dtype));
  return made;
}

static void begin_matrix(tn_mlir *m, tn_str made, tn_str rows, tn_str length, tn_str row, tn_str column) {
  TN_MLIR(m, "$ = tensor.generate $, $ {", made, rows, length);
  TN_MLIR(m, "^bb0($: index, $: index):", row, column);
  m->indent++;
}

static void end_matrix(tn_mlir *m, tn_dtype dtype, tn_str element) {
  TN_MLIR(m, "tensor.yield $ : $", element, tn_mlir_dtype(dtype));
  m->indent--;
  TN_MLIR(m, "} : tensor<?x?x$>", tn_mlir_dtype(dtype));
}

/* What softmax, log_softmax and cross_entropy share: maxima, exponentials, their sums. */
typedef struct {
  tn_str x, maxima, exponentials, sums, rows, length;
  tn_dtype dtype;
} normalised;

static normalised normalise(tn_mlir *m, tn_str matrix, tn_dtype dtype, tn_str rows, tn_str length) {
  normalised n = { .x = matrix, .rows = rows, .length = length, .dtype = dtype };
  tn_str row = tn_mlir_fresh(m), column = tn_mlir_fresh(m);
  n.maxima = reduce_rows(m, TN_MLIR_MAX, matrix, dtype, rows);
  n.exponentials = tn_mlir_fresh(m);
  begin_matrix(m, n.exponentials, rows, length, row, column);
  tn_str x = at(m, matrix, dtype, row, column), most = at(m, n.maxima, dtype, row, (tn_str){ 0 });
  tn_str moved = subtracted(m, dtype, x, most);
  end_matrix(m, dtype, tn_mlir_unary(m, TN_OP_EXP, dtype, moved));
  n.sums = reduce_rows(m, TN_MLIR_SUM, n.exponentials, dtype, rows);
  return n;
}

static tn_str log_probability(tn_mlir *m, const normalised *n, tn_str row, tn_str column) {
  tn_str x = at(m, n->x, n->dtype, row, column), most = at(m, n->maxima, n->dtype, row, (tn_str){ 0 });
  tn_str moved = subtracted(m, n->dtype, x, most), sum = at(m, n->sums, n->dtype, row, (tn_str){ 0 });
  return subtracted(m, n->dtype, moved, tn_mlir_unary(m, TN_OP_LOG, n->dtype, sum));
}

static bool softmax(tn_mlir *m, tn_value value, bool log) {
  const tn_node *node = tn_graph_node(m->graph, value);
  arrangement a = arrange(m, node->in[0], &node->attrs->axis, 1);
  tn_str rows, length, row = tn_mlir_fresh(m), column = tn_mlir_fresh(m), made = tn_mlir_fresh(m);
  tn_str matrix = as_matrix(m, node->in[0], &a, &rows, &length);
  normalised n = normalise(m, matrix, node->type.dtype, rows, length);
  begin_matrix(m, made, rows, length, row, column);
  if (log) {
    end_matrix(m, n.dtype, log_probability(m, &n, row, column));
  } else {
    tn_str e = at(m, n.exponentials, n.dtype, row, column), sum = at(m, n.sums, n.dtype, row, (tn_str){ 0 });
    end_matrix(m, n.dtype, divided(m, n.dtype, e, sum));
  }
  m->values[value] = from_matrix(m, made, node->in[0], &a);
  return true;
}

bool tn_mlir_softmax(tn_mlir *m, tn_value value) { return softmax(m, value, false); }
bool tn_mlir_log_softmax(tn_mlir *m, tn_value value) { return softmax(m, value, true); }

/* One by one along each row. */
static bool running(tn_mlir *m, tn_value value, const char *real, const char *whole, int first) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_dtype dtype = node->type.dtype;
  tn_str element = tn_mlir_dtype(dtype), type = TN_MLIR_TEXT(m, "tensor<?x?x$>", element), rows, length;
  arrangement a = arrange(m, node->in[0], &node->attrs->axis, 1);
  tn_str matrix = as_matrix(m, node->in[0], &a, &rows, &length), empty = tn_mlir_fresh(m);
  tn_str outer = tn_mlir_fresh(m), row = tn_mlir_fresh(m), before = tn_mlir_fresh(m),
         inner = tn_mlir_fresh(m);
  tn_str step = tn_mlir_fresh(m), made = tn_mlir_fresh(m), total = tn_mlir_fresh(m), next = tn_mlir_fresh(m);
  tn_str start = tn_mlir_constant(m, dtype, first), zero = tn_mlir_index(m, 0),
         one = tn_mlir_index(m, 1);
  TN_MLIR(m, "$ = tensor.empty($, $) : $", empty, rows, length, type);
  TN_MLIR(m, "$ = scf.for $ = $ to $ step $ iter_args($ = $) -> ($) {", outer, row, zero, rows, one, before,
          empty, type);
  m->indent++;
  TN_MLIR(m, "$:2 = scf.for $ = $ to $ step $ iter_args($ = $, $ = $) -> ($, $) {", inner, step, zero, length,
          one, made, before, total, start, type, element);
  m->indent++;
  tn_str place = step;
  if (node->attrs->reverse) {
    tn_str last = tn_mlir_fresh(m);
    place = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.subi $, $ : index", last, length, one);
    TN_MLIR(m, "$ = arith.subi $, $ : index", place, last, step);
  }
  tn_str x = at(m, matrix, dtype, row, place), changed = tn_mlir_fresh(m);
  tn_str join = tn_str_of(tn_dtype_in(dtype, TN_FLOATS) ? real : whole);
  TN_MLIR(m, "$ = $ $, $ : $", next, join, total, x, element);
  TN_MLIR(m, "$ = tensor.insert $ into $[$, $] : $", changed, node->attrs->exclusive ? total : next, made,
          row, place, type);
  TN_MLIR(m, "scf.yield $, $ : $, $", changed, next, type, element);
  m->indent--;
  tn_mlir_line(m, "}", NULL);
  TN_MLIR(m, "scf.yield $#0 : $", inner, type);
  m->indent--;
  tn_mlir_line(m, "}", NULL);
  m->values[value] = from_matrix(m, outer, node->in[0], &a);
  return true;
}

bool tn_mlir_cumsum(tn_mlir *m, tn_value value) { return running(m, value, "arith.addf", "arith.addi", 0); }
bool tn_mlir_cumprod(tn_mlir *m, tn_value value) { return running(m, value, "arith.mulf", "arith.muli", 1); }

/* The losses of the rows, then their mean. */
bool tn_mlir_cross_entropy(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *logits = tn_graph_type(m->graph, node->in[0]),
                *labels = tn_graph_type(m->graph, node->in[1]);
  int32_t last = logits->shape.rank - 1;
  tn_str rows, length, row = tn_mlir_fresh(m), made = tn_mlir_fresh(m), where = tn_mlir_fresh(m),
                       one = tn_mlir_index(m, 1);
  tn_str matrix = reduced_rows(m, node->in[0], &last, 1, &rows, &length);
  normalised n = normalise(m, matrix, logits->dtype, rows, length);
  tn_type flat = column_of(labels->dtype);
  tn_str column =
      labels->shape.rank ? tn_mlir_reshaped(m, m->values[node->in[1]], labels, &flat, &rows) : (tn_str){ 0 };
  TN_MLIR(m, "$ = tensor.generate $, $ {", made, one, rows);
  TN_MLIR(m, "^bb0($: index, $: index):", tn_mlir_fresh(m), row);
  m->indent++;
  tn_str label = column.len ? at(m, column, labels->dtype, row, (tn_str){ 0 }) : m->values[node->in[1]];
  TN_MLIR(m, "$ = arith.index_cast $ : $ to index", where, label, tn_mlir_dtype(labels->dtype));
  tn_str loss = tn_mlir_fresh(m), likely = log_probability(m, &n, row, where);
  TN_MLIR(m, "$ = arith.negf $ : $", loss, likely, tn_mlir_dtype(n.dtype));
  end_matrix(m, n.dtype, loss);
  tn_str sum = reduce_row(m, TN_MLIR_SUM, made, n.dtype, tn_mlir_index(m, 0));
  m->values[value] = divided(m, n.dtype, sum, size_as(m, rows, n.dtype));
  return true;
}

/* ---- products ---- */

/* Leading axes are aligned from the right; one of size 1 is stretched. */
static tn_str operand_map(tn_mlir *m, const tn_shape *operand, const tn_shape *result, const char *last,
                          tn_str all) {
  int batch = result->rank - 2, added = result->rank - operand->rank;
  tn_str places = TN_LIT("");
  for (int i = 0; i < operand->rank - 2; i++) {
    bool stretched = operand->dim[i] == 1 && result->dim[i + added] != 1;
    tn_str place = stretched ? TN_LIT("0") : TN_MLIR_TEXT(m, "d$", tn_mlir_int(m, i + added));
    places = TN_MLIR_TEXT(m, "$$, ", places, place);
  }
  tn_str row = TN_MLIR_TEXT(m, "d$", tn_mlir_int(m, batch)),
         column = TN_MLIR_TEXT(m, "d$", tn_mlir_int(m, batch + 1));
  tn_str along = TN_MLIR_TEXT(m, "d$", tn_mlir_int(m, batch + 2));
  const tn_str two[] = { last[0] == 'm' ? row : along, last[1] == 'k' ? along : column };
  return TN_MLIR_TEXT(m, "affine_map<($) -> ($$, $)>", all, places, two[0], two[1]);
}

/* out[m, n] = fma(x[m, k], y[k, n], out[m, n]), k ascending, from +0 */
bool tn_mlir_matmul(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *x = tn_graph_type(m->graph, node->in[0]), *y = tn_graph_type(m->graph, node->in[1]);
  tn_str dims[TN_RANK_LIMIT], all = TN_LIT(""), kinds = TN_LIT("");
  tn_str type = tn_mlir_type(m, &node->type), element = tn_mlir_dtype(node->type.dtype);
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  for (int i = 0; i < node->type.shape.rank + 1; i++) {
    all = TN_MLIR_TEXT(m, i ? "$, d$" : "$d$", all, tn_mlir_int(m, i));
    bool along = i == node->type.shape.rank;
    kinds =
        TN_MLIR_TEXT(m, i ? "$, \"$\"" : "$\"$\"", kinds, along ? TN_LIT("reduction") : TN_LIT("parallel"));
  }
  tn_str zero = tn_mlir_constant(m, node->type.dtype, 0);
  tn_str start = tn_mlir_filled(m, zero, &node->type, dims), made = tn_mlir_fresh(m), a = tn_mlir_fresh(m),
         b = tn_mlir_fresh(m), sum = tn_mlir_fresh(m), next = tn_mlir_fresh(m);
  TN_MLIR(
      m,
      "$ = linalg.generic {indexing_maps = [$, $, $], iterator_types = [$]} ins($, $ : $, $) outs($ : $) {",
      made, operand_map(m, &x->shape, &node->type.shape, "mk", all),
      operand_map(m, &y->shape, &node->type.shape, "kn", all),
      operand_map(m, &node->type.shape, &node->type.shape, "mn", all), kinds, m->values[node->in[0]],
      m->values[node->in[1]], tn_mlir_type(m, x), tn_mlir_type(m, y), start, type);
  TN_MLIR(m, "^bb0($: $, $: $, $: $):", a, element, b, element, sum, element);
  m->indent++;
  if (tn_dtype_in(node->type.dtype, TN_FLOATS)) {
    TN_MLIR(m, "$ = math.fma $, $, $ : $", next, a, b, sum, element);
  } else {
    tn_str product = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.muli $, $ : $", product, a, b, element);
    TN_MLIR(m, "$ = arith.addi $, $ : $", next, sum, product, element);
  }
  TN_MLIR(m, "linalg.yield $ : $", next, element);
  m->indent--;
  TN_MLIR(m, "} -> $", type);
  m->values[value] = made;
  return true;
}
