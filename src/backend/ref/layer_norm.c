/* backend/ref/layer_norm.c: layer_norm and its gradient, row by row.
 *
 * Every step is one of graph/layer_norm.c's parts. */
#include "backend/layer_norm.h"
#include "backend/ref/internal.h"

/* ---- arithmetic of one dtype ---- */
typedef struct {
  tn_dtype dtype;
  tn_binary add, sub, mul, divide;
  tn_unary negate, root;
} arithmetic;

static arithmetic arithmetic_of(tn_dtype dtype) {
  return (arithmetic){ .dtype = dtype,
                       .add = tn_scalar_binary(TN_OP_ADD, dtype),
                       .sub = tn_scalar_binary(TN_OP_SUB, dtype),
                       .mul = tn_scalar_binary(TN_OP_MUL, dtype),
                       .divide = tn_scalar_binary(TN_OP_DIV, dtype),
                       .negate = tn_scalar_unary(TN_OP_NEG, dtype),
                       .root = tn_scalar_unary(TN_OP_SQRT, dtype) };
}

/* One row: elements and temporaries are vectors of n. */
typedef struct {
  const tn_kernel_call *call;
  arithmetic by;
  tn_view x;
  tn_element mean, spread;
} row;

static bool stopped(const row *r, int64_t i) { return tn_ref_stopped(r->call->stop, i); }

static tn_element centred(const row *r, int64_t i) { return r->by.sub(tn_ref_load(&r->x, &i), r->mean); }

static tn_element scaled(const row *r, int64_t i) { return r->by.divide(centred(r, i), r->spread); }

/* The row with its mean and spread = sqrt(mean(c * c) + eps), c = x - mean; `squares` is a temporary. */
static row measure(const tn_kernel_call *call, const tn_view *x, const tn_view *squares) {
  row r = { .call = call, .by = arithmetic_of(x->dtype), .x = *x, .mean = tn_ref_mean_of(call, x) };
  for (int64_t i = 0; i < x->dim[0] && !stopped(&r, i); i++)
    tn_ref_store(squares, &i, r.by.mul(centred(&r, i), centred(&r, i)));
  tn_element eps = tn_element_of_f64(call->attrs->number, x->dtype);
  r.spread = r.by.root(r.by.add(tn_ref_mean_of(call, squares), eps));
  return r;
}

static tn_view vector(void *memory, tn_dtype dtype, int64_t n) {
  tn_shape length = tn_shape_make(1, n);
  return tn_view_make(memory, dtype, &length);
}

/* ---- the value ---- */

/* In scratch: the squares of one row. */
size_t tn_ref_layer_norm_scratch(const tn_view *in) {
  return (size_t)in[0].dim[in[0].rank - 1] * tn_dtype_bytes(in[0].dtype);
}

/* out = ((c / spread) * gamma) + beta */
static void norm_row(const tn_kernel_call *call, const tn_view *x, const tn_view *gamma, const tn_view *beta,
                     const tn_view *out) {
  tn_view squares = vector(call->scratch, x->dtype, x->dim[0]);
  row r = measure(call, x, &squares);
  for (int64_t i = 0; i < x->dim[0] && !stopped(&r, i); i++) {
    tn_element product = r.by.mul(scaled(&r, i), tn_ref_load(gamma, &i));
    tn_ref_store(out, &i, r.by.add(product, tn_ref_load(beta, &i)));
  }
}

bool tn_ref_layer_norm(const tn_kernel_call *call) {
  tn_shape shape = tn_view_shape(call->out);
  int32_t last = shape.rank - 1;
  tn_view kept[4], along[4], at[4];
  for (int k = 0; k < 3; k++) {
    tn_view whole = tn_view_broadcast(&call->in[k], &shape);
    tn_ref_split(&whole, &last, 1, &kept[k], &along[k]);
  }
  tn_ref_split(call->out, &last, 1, &kept[3], &along[3]);
  for (tn_index i = tn_index_over(call, &kept[3]); i.inside; tn_index_next(&i)) {
    for (int k = 0; k < 4; k++) at[k] = tn_ref_row(&kept[k], &along[k], i.at);
    norm_row(call, &at[0], &at[1], &at[2], &at[3]);
  }
  return true;
}

/* ---- the gradient ---- */
enum { X, GAMMA, G };

/* In scratch: the products g * scaled of all rows, and a temporary of one row. */
size_t tn_ref_layer_norm_grad_scratch(const tn_view *in) {
  int64_t rows = tn_layer_norm_rows(&in[X]), n = in[X].dim[in[X].rank - 1];
  return (size_t)((rows + 1) * n) * tn_dtype_bytes(in[X].dtype);
}

/* The gradient of one square, with h = g * gamma: (-sum(h * (scaled / spread)) * 0.5 / spread) / n */
static tn_element slope_of_squares(const row *r, const tn_view *gamma, const tn_view *g,
                                   const tn_view *terms) {
  int64_t n = r->x.dim[0];
  const arithmetic *by = &r->by;
  for (int64_t i = 0; i < n && !stopped(r, i); i++) {
    tn_element h = by->mul(tn_ref_load(g, &i), tn_ref_load(gamma, &i));
    tn_ref_store(terms, &i, by->mul(h, by->divide(scaled(r, i), r->spread)));
  }
  tn_element negated = by->negate(tn_ref_sum_of(r->call, terms));
  tn_element of_root = by->divide(by->mul(negated, tn_element_of_f64(0.5, by->dtype)), r->spread);
  return by->divide(of_root, tn_element_of_f64((double)n, by->dtype));
}

/* out = (h / spread + slope * c) + slope * c; products = g * scaled. Returns the gradient through the
 * mean, -sum(out) / n. */
static tn_element grad_row(const row *r, const tn_view *gamma, const tn_view *g, const tn_view *terms,
                           const tn_view *products, const tn_view *out) {
  int64_t n = r->x.dim[0];
  const arithmetic *by = &r->by;
  tn_element slope = slope_of_squares(r, gamma, g, terms);
  for (int64_t i = 0; i < n && !stopped(r, i); i++) {
    tn_element h = by->mul(tn_ref_load(g, &i), tn_ref_load(gamma, &i));
    tn_element from_square = by->mul(slope, centred(r, i));
    tn_element first = by->add(by->divide(h, r->spread), from_square);
    tn_ref_store(out, &i, by->add(first, from_square));
    tn_ref_store(products, &i, by->mul(tn_ref_load(g, &i), scaled(r, i)));
  }
  return by->divide(by->negate(tn_ref_sum_of(r->call, out)), tn_element_of_f64((double)n, by->dtype));
}

/* out[j] = the sum of column j of x: [..., n] */
static void sum_columns(const tn_kernel_call *call, const tn_view *x, const tn_view *out) {
  tn_view kept, along;
  int32_t leading[TN_RANK_LIMIT];
  for (int axis = 0; axis < x->rank - 1; axis++) leading[axis] = axis;
  tn_ref_split(x, leading, x->rank - 1, &kept, &along);
  for (tn_index i = tn_index_over(call, &kept); i.inside; tn_index_next(&i)) {
    tn_view column = tn_ref_row(&kept, &along, i.at);
    tn_ref_store(out, i.at, tn_ref_sum_of(call, &column));
  }
}

bool tn_ref_layer_norm_grad(const tn_kernel_call *call) {
  const tn_view *x = &call->in[X], *g = &call->in[G], *gamma = &call->in[GAMMA];
  tn_view parts[TN_LAYER_NORM_PARTS], kept[4], along[4], at[4];
  tn_shape shape = tn_view_shape(x);
  int32_t last = shape.rank - 1;
  for (int i = 0; i < TN_LAYER_NORM_PARTS; i++) parts[i] = tn_layer_norm_grad_of(call, (tn_layer_norm_part)i);
  tn_view products = tn_view_make(call->scratch, x->dtype, &shape);
  tn_view terms = vector(tn_ref_after(&products), x->dtype, shape.dim[last]);
  const tn_view *all[] = { x, g, &products, &parts[TN_LAYER_NORM_X] };
  for (int k = 0; k < 4; k++) tn_ref_split(all[k], &last, 1, &kept[k], &along[k]);
  for (tn_index i = tn_index_over(call, &kept[0]); i.inside; tn_index_next(&i)) {
    for (int k = 0; k < 4; k++) at[k] = tn_ref_row(&kept[k], &along[k], i.at);
    row r = measure(call, &at[0], &terms);
    tn_element mean = grad_row(&r, gamma, &at[1], &terms, &at[2], &at[3]);
    tn_ref_store(&parts[TN_LAYER_NORM_MEAN], i.at, mean);
  }
  sum_columns(call, &products, &parts[TN_LAYER_NORM_GAMMA]);
  sum_columns(call, g, &parts[TN_LAYER_NORM_BETA]);
  return true;
}
