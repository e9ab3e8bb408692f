/* tests/ops/make_reduce.c: cases of operations along axes, of matmul and of attention. */
#include <math.h>

#include "case.h"

#define BUDGET 6000

/* Values that keep a result from being NaN most of the time. */
static contents rather_small(op_case *c) { return one_in(c, 4) ? ANY_VALUES : SMALL_VALUES; }

static void choose_axes(op_case *c, int rank) {
  int kind = below(c, 4);
  for (int axis = 0; axis < rank; axis++)
    if (kind == 0 || one_in(c, 2) || (axis == rank - 1 && c->attrs.axis_count == 0 && kind == 1))
      c->attrs.axes[c->attrs.axis_count++] = axis;
}

/* Rows of several chunks, and chunks that are no power of two. */
static tn_shape long_rows(op_case *c) {
  static const int64_t lengths[] = { 512, 1024, 1536, 2047, 2560, 2561, 3585, 6144, 16385 };
  int64_t length = lengths[below(c, 9)];
  if (one_in(c, 2)) return tn_shape_make(2, (int64_t)(1 + below(c, 5)), length);
  return tn_shape_make(2, length, (int64_t)(1 + below(c, 20)));
}

void make_reduction(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, BUDGET);
  if (c->number % 4 == 1) shape = long_rows(c);
  choose_axes(c, shape.rank);
  c->attrs.keepdims = one_in(c, 2);
  bool needs_one = c->op == TN_OP_MAX || c->op == TN_OP_MIN;
  for (int k = 0; needs_one && k < c->attrs.axis_count; k++)   /* the rule refuses the others */
    if (shape.dim[c->attrs.axes[k]] == 0) shape.dim[c->attrs.axes[k]] = 2;
  add_operand(c, dtype_of(c, tn_op_sig_of(c->op)->dtypes), &shape, rather_small(c), 0);
}

void make_count(op_case *c) {
  tn_shape shape = any_shape(c, 0, 4, 100);
  choose_axes(c, shape.rank);
  c->attrs.dtype = dtype_of(c, TN_NUMBERS);
  add_operand(c, (tn_dtype)(c->number / 4 % TN_DTYPE_COUNT), &shape, ANY_VALUES, 0);
}

void make_argmax(op_case *c) {
  tn_shape shape = any_shape(c, 1, 4, BUDGET);
  c->attrs.axis = below(c, shape.rank);
  c->attrs.keepdims = one_in(c, 2);
  if (shape.dim[c->attrs.axis] == 0) shape.dim[c->attrs.axis] = 3;
  add_operand(c, dtype_of(c, TN_NUMBERS), &shape, rather_small(c), 0);
}

void make_scan(op_case *c) {
  tn_shape shape = any_shape(c, 1, 4, BUDGET);
  c->attrs.axis = below(c, shape.rank);
  c->attrs.reverse = one_in(c, 2);
  c->attrs.exclusive = one_in(c, 2);
  add_operand(c, dtype_of(c, TN_NUMBERS), &shape, rather_small(c), 0);
}

void make_softmax(op_case *c) {
  tn_shape shape = any_shape(c, 1, 4, BUDGET);
  if (c->number % 8 == 5) shape = long_rows(c);
  c->attrs.axis = one_in(c, 2) ? shape.rank - 1 : below(c, shape.rank);
  add_operand(c, dtype_of(c, TN_FLOATS), &shape, rather_small(c), 0);
}

/* Rows that leave the short way to a quotient, or nearly so: of other sizes, with mean 0, without a
 * difference, of zeros, with one number that is none or far from the others. */
static void vary_rows(op_case *c, tn_view *x) {
  static const double odd[] = { INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-100, 0x1p85, -0x1p125, 0x1p-95,
                                -0.0 };
  static const double sizes[] = { 0x1p-141, 0x1p-125, 0x1p-88, 0x1p-60, 0x1p-38, 0x1p22, 0x1p66, 0x1p125 };
  int64_t n = x->dim[x->rank - 1], rows = n ? tn_view_count(x) / n : 0;
  for (int64_t r = 0; r < rows; r++) {
    int kind = below(c, 8);
    double size = sizes[below(c, 8)];
    for (int64_t i = r * n; i < (r + 1) * n; i++) {
      double old = tn_view_get_f64(x, i);
      if (kind == 2) tn_view_set_f64(x, i, old * size);
      if (kind == 3) tn_view_set_f64(x, i, i % 2 ? -size : size);
      if (kind == 4) tn_view_set_f64(x, i, size);
      if (kind == 5) tn_view_set_f64(x, i, i % 3 ? -0.0 : 0.0);
      if (kind == 6 && i % 5 == 0) tn_view_set_f64(x, i, 0);
    }
    if (kind > 5) tn_view_set_f64(x, r * n + below(c, (int)n), odd[below(c, 9)]);
  }
}

/* Rows of whole groups of lanes have a way of their own on a GPU. */
static bool is_varied(op_case *c, tn_shape *shape) {
  static const int64_t lengths[] = { 128, 384, 384, 640, 1024, 1152, 1536, 2048 };
  if (c->number % 6 != 4) return false;
  int64_t length = lengths[below(c, 8)] + (one_in(c, 3) ? below(c, 9) : 0);
  *shape = tn_shape_make(2, (int64_t)(1 + below(c, 40)), length);
  return true;
}

/* gamma and beta are mostly one row, without gaps every other time: there is a way of its own for that. */
void make_layer_norm(op_case *c) {
  tn_shape shape = any_shape(c, 1, 4, BUDGET);
  if (c->number % 8 == 5) shape = long_rows(c);
  bool varied = is_varied(c, &shape);
  tn_dtype dtype = varied ? TN_F32 : dtype_of(c, TN_FLOATS);
  tn_shape row = tn_shape_make(1, shape.dim[shape.rank - 1]);
  c->contiguous = varied || c->number % 4 < 2;
  c->attrs.number = one_in(c, 4) ? 0 : 1e-5;
  add_operand(c, dtype, &shape, rather_small(c), 0);
  if (varied) vary_rows(c, &c->in[0].view);
  for (int i = 0; i < 2; i++) {
    tn_shape other = one_in(c, 3) ? narrower(c, &shape) : row;
    add_operand(c, dtype, &other, rather_small(c), 0);
  }
}

/* Lanes and chunks of rows: their sums have an order of their own; few rows have lanes without one. Means
 * far from 0 and small gradients take the short way to a quotient, as rows of a model do. */
void make_layer_norm_grad(op_case *c) {
  static const int64_t rows[] = { 0, 1, 2, 15, 16, 17, 33, 64, 511, 512, 513, 700, 1040, 1600 };
  tn_shape shape = any_shape(c, 1, 4, BUDGET);
  if (c->number % 8 == 5) shape = long_rows(c);
  if (c->number % 3 == 0) shape = tn_shape_make(2, rows[below(c, 14)], (int64_t)(1 + below(c, 40)));
  if (c->number % 60 == 7) shape = tn_shape_make(3, (int64_t)2, (int64_t)9, (int64_t)2060);
  bool varied = is_varied(c, &shape);
  tn_dtype dtype = varied ? TN_F32 : dtype_of(c, TN_FLOATS);
  tn_shape row = tn_shape_make(1, shape.dim[shape.rank - 1]);
  c->contiguous = varied || c->number % 4 < 2;
  c->attrs.number = one_in(c, 4) ? 0 : 1e-5;
  add_operand(c, dtype, &shape, rather_small(c), 0);
  add_operand(c, dtype, &row, varied ? SMALL_VALUES : rather_small(c), 0);
  add_operand(c, dtype, &shape, varied ? SMALL_VALUES : rather_small(c), 0);
  if (!varied && (c->number % 6 != 3 || dtype != TN_F32)) return;
  vary_rows(c, &c->in[0].view);
  vary_rows(c, &c->in[2].view);
}

void make_cross_entropy(op_case *c) {
  tn_shape logits = any_shape(c, 1, 3, BUDGET);
  tn_shape labels = tn_shape_of(logits.dim, logits.rank - 1);
  int64_t classes = logits.dim[logits.rank - 1];
  add_operand(c, dtype_of(c, TN_FLOATS), &logits, rather_small(c), 0);
  add_operand(c, one_in(c, 2) ? TN_I32 : TN_I64, &labels, INDEX_VALUES, classes);
  int64_t rows = tn_view_count(&c->in[1].view);
  c->may_fail = classes == 0 || one_in(c, 8);
  if (c->may_fail && rows > 0)
    tn_view_set_f64(&c->in[1].view, below(c, (int)rows), one_in(c, 2) ? -1 : (double)classes);
}

/* ---- matmul ---- */
/* Edges of register tiles (4, 6, 8, 9, 16, 32, 48) and of cache blocks. */
static int64_t tile_edge(op_case *c, bool long_one) {
  static const int64_t edges[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 28, 31, 32, 33,
                                   47, 48, 49, 64, 65 };
  static const int64_t longs[] = { 127, 128, 129, 255, 256, 257, 384, 385, 511, 512, 513, 1025 };
  if (one_in(c, 40)) return 0;
  return long_one ? longs[below(c, 12)] : edges[below(c, 26)];
}

/* The last five: matrices that stay in no near cache and meet few rows, rows that are packed, more rows
 * than a block has, rows a page apart, columns too long for a near cache. */
static void matmul_lengths(op_case *c, int64_t *m, int64_t *k, int64_t *n) {
  int along = below(c, 8);
  *m = tile_edge(c, along == 0), *k = tile_edge(c, along == 1), *n = tile_edge(c, along == 2);
  if (*m > 100 || *n > 100) *k = *k > 17 ? 17 : *k;
  if (*k > 100) *m = *m > 17 ? 17 : *m, *n = *n > 33 ? 33 : *n;
  if (along == 3) *m = 1;   /* matrix by vector, vector by matrix */
  if (along == 4) *n = 1;
  if (is_big(c)) *m = 60 + below(c, 90), *k = 60 + below(c, 120), *n = 60 + below(c, 90);
  if (c->number % 20 == 9) *m = 1 + below(c, 13), *k = 300 + below(c, 90), *n = 400 + below(c, 90);
  if (c->number % 40 == 19) *m = 18 + below(c, 13), *k = 380 + below(c, 400), *n = 260 + below(c, 90);
  if (c->number == 240) *m = 527, *k = 500, *n = 130;
  if (c->number == 280) *m = 30, *k = 1024, *n = 110;
  if (c->number == 301 || c->number == 304 || c->number == 308) *m = 13, *k = 7000, *n = 50;
}

/* Matrices without gaps, for what depends on where rows begin: columns that are read where they are; results
 * whose rows are 1024 bytes apart, over several blocks of k; rows 4096 and 2048 bytes apart that are packed
 * on the way, under columns read where they are and under packed ones; the same, shared by columns; and over
 * a number of rows that is no whole number of tiles. */
static void matmul_without_gaps(op_case *c, int64_t *m, int64_t *k, int64_t *n) {
  static const struct {
    int number;
    int64_t m, k, n;
  } cases[] = {
    { 42, 24, 80, 96 },     { 50, 104, 400, 256 },  { 56, 32, 1024, 208 },
    { 64, 50, 300, 112 },   { 322, 256, 512, 256 }, { 330, 264, 512, 304 },
    { 336, 33, 1024, 256 }, { 344, 40, 1024, 512 }, { 352, 96, 784, 512 },
    { 360, 128, 256, 256 },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (cases[i].number != c->number) continue;
    *m = cases[i].m, *k = cases[i].k, *n = cases[i].n;
    c->contiguous = true;
  }
}

/* A weight's gradient where it has few columns, and what a layer of few outputs sends back: shapes that have
 * ways of their own. One operand is stored the other way round, the other has no gaps. */
static bool few_columns_or_steps(op_case *c) {
  if (c->number % 7 < 5) return false;
  bool columns = c->number % 7 == 5;
  int64_t m = columns ? 16 + below(c, 120) : 8 + below(c, 30);
  int64_t n = columns ? 1 + below(c, 16) : 30 + below(c, 90);
  int64_t k = columns ? 6 + below(c, 60) : 1 + below(c, 14);
  if (c->number % 28 == 6) m += 40, n += 230;   /* several blocks of rows, and of strips of columns */
  tn_shape x = columns ? tn_shape_make(2, k, m) : tn_shape_make(2, m, k);
  tn_shape y = columns || one_in(c, 3) ? tn_shape_make(2, k, n) : tn_shape_make(2, n, k);
  bool y_turned = y.dim[0] == n && y.dim[1] == k;
  contents what = one_in(c, 6) ? ANY_VALUES : SMALL_VALUES;
  c->contiguous = true;
  add_operand(c, TN_F32, &x, what, 0);
  add_operand(c, TN_F32, &y, what, 0);
  if (columns) c->in[0].view = tn_view_permute(&c->in[0].view, (int[]){ 1, 0 });
  if (y_turned) c->in[1].view = tn_view_permute(&c->in[1].view, (int[]){ 1, 0 });
  return true;
}

/* A weight's gradient over many samples, whose rows lie side by side and are packed on the way: over one
 * block of steps and several, over a number of steps that is no multiple of those packed at a time, under
 * packed columns and columns read where they are. */
static bool many_rows_side_by_side(op_case *c) {
  static const struct {
    int number;
    int64_t m, k, n;
  } cases[] = { { 16, 64, 131, 96 }, { 24, 528, 128, 112 }, { 32, 96, 1000, 50 }, { 80, 1064, 400, 48 } };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (cases[i].number != c->number) continue;
    tn_shape x = tn_shape_make(2, cases[i].k, cases[i].m), y = tn_shape_make(2, cases[i].k, cases[i].n);
    c->contiguous = true;
    add_operand(c, TN_F32, &x, SMALL_VALUES, 0);
    add_operand(c, TN_F32, &y, SMALL_VALUES, 0);
    c->in[0].view = tn_view_permute(&c->in[0].view, (int[]){ 1, 0 });
    return true;
  }
  return false;
}

/* Batches of fewer products than threads, which are cut into bands of rows. */
static void few_large_products(op_case *c, tn_shape *leading, int64_t *m, int64_t *k, int64_t *n) {
  if (c->number % 80 != 72) return;
  *leading = c->number % 160 == 72 ? tn_shape_make(1, (int64_t)3) : tn_shape_make(2, (int64_t)2, (int64_t)2);
  *m = 50 + below(c, 60), *k = 60 + below(c, 20), *n = 60 + below(c, 40);
}

void make_matmul(op_case *c) {
  int64_t m, k, n;
  if (few_columns_or_steps(c) || many_rows_side_by_side(c)) return;
  matmul_lengths(c, &m, &k, &n);
  matmul_without_gaps(c, &m, &k, &n);
  tn_shape leading = { .rank = one_in(c, 2) ? 0 : 1 + below(c, 2) };
  for (int axis = 0; axis < leading.rank; axis++)
    leading.dim[axis] = m * k * n > 50000 ? 1 : one_in(c, 30) ? 0 : 1 + below(c, 3);
  few_large_products(c, &leading, &m, &k, &n);
  tn_shape x = leading, y = leading, fewer = narrower(c, &leading);
  int which = below(c, 4);
  if (which == 0) x = fewer;
  if (which == 1) y = fewer;
  x.dim[x.rank++] = m, x.dim[x.rank++] = k;
  y.dim[y.rank++] = k, y.dim[y.rank++] = n;
  tn_dtype dtype = c->number % 8 < 5 ? TN_F32 : dtype_of(c, TN_NUMBERS);
  contents what = one_in(c, 6) ? ANY_VALUES : SMALL_VALUES;
  add_operand(c, dtype, &x, what, 0);
  add_operand(c, dtype, &y, what, 0);
}

/* ---- attention ---- */
/* Bands of queries have 32 rows, and chunks of a sum 512 keys; with 5000 keys threads share a head in several
 * rounds. Numbers may be anything now and then: a weight of 0 times infinity is NaN, whether a mask hides the
 * key or not. */
void make_attention(op_case *c) {
  static const int64_t lengths[] = { 1, 2, 5, 16, 17, 31, 32, 33, 40, 65 };
  tn_shape shape = { .rank = below(c, 3) };
  for (int axis = 0; axis < shape.rank; axis++) shape.dim[axis] = one_in(c, 16) ? 0 : 1 + below(c, 2);
  c->attrs.index = (uint64_t)(1 + below(c, 3));
  c->attrs.causal = one_in(c, 2);
  c->contiguous = one_in(c, 3);
  int64_t queries = lengths[below(c, 10)], keys = one_in(c, 2) ? queries : lengths[below(c, 10)];
  if (queries <= 2 && one_in(c, 2)) keys = 520;
  if (queries == 65 && one_in(c, 4)) keys = 5000 + below(c, 40), c->attrs.index = 1;
  int64_t width = (int64_t)c->attrs.index * (1 + below(c, 9)), values = one_in(c, 2) ? width : width * 2;
  if (one_in(c, 16)) width = 0;
  if (c->attrs.causal && keys < queries) keys = queries + below(c, 3);
  tn_dtype dtype = dtype_of(c, TN_FLOATS);
  contents what = rather_small(c);
  for (int i = 0; i < (c->op == TN_OP_ATTENTION ? 3 : 4); i++) {
    tn_shape of = shape;
    of.dim[of.rank++] = i == 1 || i == 2 ? keys : queries;
    of.dim[of.rank++] = i < 2 ? width : values;
    add_operand(c, dtype, &of, one_in(c, 8) ? ANY_VALUES : what, 0);
  }
}
