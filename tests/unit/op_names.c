/* What is inferred with names must hold when the names are bound.
 *
 * Operands of random shapes get lengths in which some are names or unknown; then each name is bound
 * to a length and the same operation is inferred again, as tn_graph_bind does it. Where both
 * succeed, every length and every name of the first result must agree with the second. Lengths are
 * 0 to 4, so that names are often 0 and 1, where rules are most easily wrong. */
#include "op_support.h"

#include "base/rng.h"

enum { NAMES = 3, ROUNDS = 60000 };

typedef struct {
  tn_rng rng;
  int64_t symbol[NAMES], bound[NAMES];
  tn_op op;
  int count;
  tn_type named[TYPES_LIMIT], plain[TYPES_LIMIT];   /* the same operands before and after binding */
  tn_attrs attrs, attrs_bound;
} trial;

static int64_t below(trial *t, int64_t limit) { return (int64_t)tn_rng_below(&t->rng, (uint32_t)limit); }
static bool one_in(trial *t, int64_t n) { return below(t, n) == 0; }
static int64_t length(trial *t) { return below(t, 5); }

/* A dimension with `plain` its length: the length itself, a name bound to it, or unknown. */
static int64_t dim_like(trial *t, int64_t plain) {
  if (one_in(t, 6)) return TN_DIM_UNKNOWN;
  for (int i = 0; i < NAMES; i++) {
    if (t->bound[i] == plain && one_in(t, 2)) return t->symbol[i];
  }
  return plain;
}

static void add_operand(trial *t, tn_dtype dtype, tn_shape shape) {
  tn_type *named = &t->named[t->count], *plain = &t->plain[t->count];
  *plain = (tn_type){ dtype, shape };
  *named = *plain;
  for (int i = 0; i < shape.rank; i++) named->shape.dim[i] = dim_like(t, shape.dim[i]);
  t->count++;
}

/* The same for a shape among the attributes. */
static void set_shape(trial *t, tn_shape shape) {
  t->attrs.shape = t->attrs_bound.shape = shape;
  for (int i = 0; i < shape.rank; i++) {
    t->attrs.shape.dim[i] = dim_like(t, shape.dim[i]);
    if (t->attrs.shape.dim[i] == TN_DIM_UNKNOWN) t->attrs_bound.shape.dim[i] = TN_DIM_UNKNOWN;
  }
}

static tn_shape any_shape(trial *t, int rank) {
  tn_shape shape = { .rank = rank };
  for (int i = 0; i < rank; i++) shape.dim[i] = one_in(t, 4) ? t->bound[below(t, NAMES)] : length(t);
  return shape;
}

/* ---- one maker of operands and attributes for each kind of rule ---- */

static void make_broadcast(trial *t) {
  tn_shape shape = any_shape(t, (int)below(t, 4));
  for (int n = t->op == TN_OP_SELECT ? 3 : 2, i = 0; i < n; i++) {
    tn_shape part = shape;
    for (int k = 0; k < part.rank; k++) {
      part.dim[k] = one_in(t, 3) ? 1 : one_in(t, 8) ? length(t) : part.dim[k];
    }
    add_operand(t, t->op == TN_OP_SELECT && i == 0 ? TN_BOOL : TN_F32, part);
  }
}

static void make_matmul(trial *t) {
  int64_t inner = length(t);
  tn_shape x = any_shape(t, 2 + (int)below(t, 2)), y = any_shape(t, 2 + (int)below(t, 2));
  x.dim[x.rank - 1] = inner;
  y.dim[y.rank - 2] = inner;
  add_operand(t, TN_F32, x);
  add_operand(t, TN_F32, y);
}

static void make_reshape(trial *t) {
  tn_shape from = any_shape(t, 1 + (int)below(t, 3)), to = from;
  for (int i = to.rank - 1; i > 0; i--) {   /* the same lengths in another order, two of them joined */
    int k = (int)below(t, i + 1);
    int64_t dim = to.dim[i];
    to.dim[i] = to.dim[k];
    to.dim[k] = dim;
  }
  if (to.rank > 1 && one_in(t, 2)) {
    to.dim[to.rank - 2] *= to.dim[to.rank - 1];
    to.dim[--to.rank] = 0;
  }
  add_operand(t, TN_F32, from);
  set_shape(t, to);
}

static void make_broadcast_to(trial *t) {
  tn_shape to = any_shape(t, 1 + (int)below(t, 3)), from = to;
  for (int i = 0; i < from.rank; i++) from.dim[i] = one_in(t, 3) ? 1 : from.dim[i];
  add_operand(t, TN_F32, from);
  set_shape(t, to);
}

static void make_slice(trial *t) {
  tn_shape shape = any_shape(t, 1 + (int)below(t, 3));
  for (int i = 0; i < shape.rank; i++) {
    t->attrs.low[i] = one_in(t, 2) ? 0 : below(t, 7) - 3;
    t->attrs.high[i] = one_in(t, 2) ? INT64_MAX : below(t, 8) - 3;
    t->attrs.step[i] = below(t, 3);
  }
  add_operand(t, TN_F32, shape);
}

static void make_pad(trial *t) {
  tn_shape shape = any_shape(t, 1 + (int)below(t, 3));
  for (int i = 0; i < shape.rank; i++) {
    t->attrs.low[i] = one_in(t, 2) ? 0 : length(t);
    t->attrs.high[i] = one_in(t, 2) ? 0 : length(t);
    t->attrs.step[i] = one_in(t, 2) ? 0 : length(t);
  }
  add_operand(t, TN_F32, shape);
}

static void make_concat(trial *t) {
  tn_shape shape = any_shape(t, 1 + (int)below(t, 3));
  t->attrs.axis = (int32_t)below(t, shape.rank);
  for (int n = 1 + (int)below(t, 4), i = 0; i < n; i++) {
    shape.dim[t->attrs.axis] = length(t);
    add_operand(t, TN_F32, shape);
  }
}

static void make_patches(trial *t) {
  for (int i = 0; i < 2; i++) {
    t->attrs.window[i] = 1 + (int32_t)below(t, 3);
    t->attrs.step[i] = below(t, 3);
    t->attrs.low[i] = below(t, 2);
    t->attrs.high[i] = below(t, 3);
  }
  add_operand(t, TN_F32, any_shape(t, 4));
}

/* The operand is what patches gives for the plain image. */
static void make_fold(trial *t) {
  tn_shape image = any_shape(t, 4);
  make_patches(t);
  t->count = 0;
  tn_type in = { TN_F32, image }, patches;
  tn_attrs attrs = t->attrs;
  tn_fault fault;
  if (!tn_op_normalise(TN_OP_PATCHES, &in, 1, &attrs, &fault)) return;
  if (!tn_op_infer(&(tn_op_args){ TN_OP_PATCHES, &in, 1, &attrs, &fault }, &patches)) return;
  add_operand(t, TN_F32, patches.shape);
  t->attrs_bound = t->attrs;
  set_shape(t, image);
}

static void make_axes(trial *t) {
  tn_shape shape = any_shape(t, (int)below(t, 4));
  t->attrs.axis_count = (int32_t)below(t, 3) - 1;
  t->attrs.axes[0] = (int32_t)below(t, 3);
  t->attrs.keepdims = one_in(t, 2);
  add_operand(t, TN_F32, shape);
}

static void make_along(trial *t) {
  tn_shape shape = any_shape(t, 1 + (int)below(t, 3));
  t->attrs.axis = (int32_t)below(t, shape.rank);
  t->attrs.keepdims = one_in(t, 2);
  add_operand(t, TN_F32, shape);
}

static void make_gather(trial *t) {
  make_along(t);
  add_operand(t, TN_I32, any_shape(t, (int)below(t, 3)));
}

static void make_scatter(trial *t) {
  make_gather(t);
  if (t->op == TN_OP_ROW_UPDATE) t->attrs.axis = 0;
  tn_shape slices = { 0 };
  for (int i = 0; i < t->attrs.axis; i++) slices.dim[slices.rank++] = t->plain[0].shape.dim[i];
  for (int i = 0; i < t->plain[1].shape.rank; i++) slices.dim[slices.rank++] = t->plain[1].shape.dim[i];
  for (int i = t->attrs.axis + 1; i < t->plain[0].shape.rank; i++) {
    slices.dim[slices.rank++] = t->plain[0].shape.dim[i];
  }
  add_operand(t, TN_F32, slices);
  if (t->op == TN_OP_ROW_UPDATE) add_operand(t, TN_F32, TN_SCALAR_SHAPE);
}

static void make_cross_entropy(trial *t) {
  tn_shape logits = any_shape(t, 1 + (int)below(t, 3));
  add_operand(t, TN_F32, logits);
  add_operand(t, TN_I32, tn_shape_of(logits.dim, logits.rank - 1));
}

static void make_shape(trial *t) { set_shape(t, any_shape(t, (int)below(t, 4))); }

static const struct {
  tn_op op;
  void (*make)(trial *t);
} makers[] = {
  { TN_OP_ADD, make_broadcast },     { TN_OP_SELECT, make_broadcast },     { TN_OP_MATMUL, make_matmul },
  { TN_OP_RESHAPE, make_reshape },   { TN_OP_BROADCAST_TO, make_broadcast_to }, { TN_OP_SLICE, make_slice },
  { TN_OP_PAD, make_pad },           { TN_OP_CONCAT, make_concat },        { TN_OP_PATCHES, make_patches },
  { TN_OP_FOLD, make_fold },         { TN_OP_SUM, make_axes },             { TN_OP_MAX, make_axes },
  { TN_OP_TRANSPOSE, make_axes },    { TN_OP_ARGMAX, make_along },         { TN_OP_SOFTMAX, make_along },
  { TN_OP_GATHER, make_gather },     { TN_OP_SCATTER_ADD, make_scatter },  { TN_OP_ROW_UPDATE, make_scatter },
  { TN_OP_CROSS_ENTROPY, make_cross_entropy }, { TN_OP_FILL, make_shape },
};

/* ---- the comparison ---- */

static bool infer_normal(tn_op op, const tn_type *in, int count, tn_attrs *attrs, tn_type *out) {
  tn_fault fault;
  if (!tn_op_normalise(op, in, count, attrs, &fault)) return false;
  return tn_op_infer(&(tn_op_args){ op, in, count, attrs, &fault }, out);
}

static bool agrees(const trial *t, int64_t named, int64_t plain) {
  for (int i = 0; i < NAMES; i++) {
    if (named == t->symbol[i]) return plain == t->bound[i] || plain == TN_DIM_UNKNOWN;
  }
  return named == TN_DIM_UNKNOWN || plain == TN_DIM_UNKNOWN || named == plain;
}

static void start(trial *t, size_t which) {
  tn_rng rng = t->rng;
  *t = (trial){ .rng = rng, .op = makers[which].op };
  static const char *const spelling[NAMES] = { "A", "B", "C" };
  for (int i = 0; i < NAMES; i++) {
    t->symbol[i] = TN_DIM_SYMBOL(tn_names_intern(names, tn_str_of(spelling[i])));
    t->bound[i] = length(t);
  }
  makers[which].make(t);
  tn_shape bound = t->attrs_bound.shape;
  t->attrs_bound = t->attrs;
  t->attrs_bound.shape = bound;
}

static void what_is_said_of_names_holds_for_lengths(void **state) {
  (void)state;
  trial t;
  int both[COUNT_OF(makers)] = { 0 };
  tn_rng_init(&t.rng, 99);
  for (int round = 0; round < ROUNDS; round++) {
    size_t which = (size_t)round % COUNT_OF(makers);
    tn_type named, plain;
    start(&t, which);
    if (!infer_normal(t.op, t.named, t.count, &t.attrs, &named)) continue;
    if (!infer_normal(t.op, t.plain, t.count, &t.attrs_bound, &plain)) continue;
    both[which]++;
    assert_int_equal(named.dtype, plain.dtype);
    assert_int_equal(named.shape.rank, plain.shape.rank);
    for (int i = 0; i < named.shape.rank; i++) {
      assert_true(agrees(&t, named.shape.dim[i], plain.shape.dim[i]));
    }
  }
  for (size_t i = 0; i < COUNT_OF(makers); i++) assert_true(both[i] > ROUNDS / (int)COUNT_OF(makers) / 20);
}

/* The way the graph binds: attributes as they were left by the first inference, names replaced. */
static void remaining_attributes_are_computed_when_names_are_bound(void **state) {
  (void)state;
  trial t;
  tn_rng_init(&t.rng, 100);
  for (int round = 0; round < ROUNDS; round++) {
    tn_type named, plain, again;
    start(&t, (size_t)round % COUNT_OF(makers));
    if (!infer_normal(t.op, t.named, t.count, &t.attrs, &named)) continue;
    for (int i = 0; i < t.attrs.shape.rank; i++) {
      for (int k = 0; k < NAMES; k++) {
        if (t.attrs.shape.dim[i] == t.symbol[k]) t.attrs.shape.dim[i] = t.bound[k];
      }
    }
    bool fresh = infer_normal(t.op, t.plain, t.count, &t.attrs_bound, &plain);
    bool bound = infer_normal(t.op, t.plain, t.count, &t.attrs, &again);
    if (!fresh || !bound) continue;   /* that one alone may fail is for the test of rules to say */
    assert_int_equal(again.shape.rank, plain.shape.rank);
    for (int i = 0; i < again.shape.rank; i++) {
      if (plain.shape.dim[i] != TN_DIM_UNKNOWN) assert_int_equal(again.shape.dim[i], plain.shape.dim[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_said_of_names_holds_for_lengths),
    cmocka_unit_test(remaining_attributes_are_computed_when_names_are_bound),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
