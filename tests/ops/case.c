/* tests/ops/case.c: lengths, layouts and values of made-up operands. */
#include "case.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

void case_begin(op_case *c, tn_op op, int number) {
  memset(c, 0, sizeof *c);
  c->op = op;
  c->number = number;
  tn_rng_init(&c->rng, tn_rng_mix((uint64_t)op, (uint64_t)number));
}

void case_end(op_case *c) {
  for (int i = 0; i < c->memories; i++) free(c->memory[i]);
  c->memories = 0;
}

void *case_memory(op_case *c, size_t bytes) {
  void *memory = calloc(bytes ? bytes : 1, 1);
  if (!memory || c->memories == COUNT_OF(c->memory)) abort();
  return c->memory[c->memories++] = memory;
}

/* ---- choosing ---- */
int below(op_case *c, int n) { return (int)tn_rng_below(&c->rng, (uint32_t)n); }
bool one_in(op_case *c, int n) { return below(c, n) == 0; }

/* Not simply by the number, which also says what is big: those cases must see all dtypes too. */
tn_dtype dtype_of(op_case *c, tn_dtype_set set) {
  int members = 0;
  for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) members += tn_dtype_in(dtype, set);
  int skip = (c->number + c->number / 4 + c->number / 16) % members;
  for (tn_dtype dtype = 0;; dtype++)
    if (tn_dtype_in(dtype, set) && skip-- == 0) return dtype;
}

bool is_big(const op_case *c) { return c->number % 16 == 15; }

/* Vectors have 4 to 16 elements, a chunk of a sum 512, a tile 1024; 0 and 1 are edges of their own. */
int64_t edge_length(op_case *c) {
  static const int64_t edges[] = { 1, 0, 7, 16, 15, 17, 31, 33, 511, 512, 513, 1025, 2, 3, 4, 5, 8, 9, 32, 63,
                                   64, 65, 127, 128, 129, 255, 257, 1023, 1024, 1537, 2049 };
  if (c->number < COUNT_OF(edges)) return edges[c->number];
  return one_in(c, 2) ? edges[below(c, COUNT_OF(edges))] : 1 + below(c, 40);
}

int64_t small_length(op_case *c) { return one_in(c, 24) ? 0 : 1 + below(c, 7); }

tn_shape any_shape(op_case *c, int min_rank, int max_rank, int64_t budget) {
  tn_shape shape = { .rank = min_rank + below(c, max_rank - min_rank + 1) };
  if (is_big(c) && shape.rank == 0) shape.rank = 1;
  if (shape.rank == 0) return shape;
  int edge = one_in(c, 2) ? shape.rank - 1 : below(c, shape.rank);
  int64_t length = edge_length(c), count = is_big(c) ? 1 : length ? length : 1;
  for (int axis = 0; axis < shape.rank; axis++) {
    if (axis == edge) continue;
    shape.dim[axis] = small_length(c);
    if (is_big(c) && shape.dim[axis] == 0) shape.dim[axis] = 2;
    if (count * shape.dim[axis] > budget) shape.dim[axis] = 1;
    count *= shape.dim[axis] ? shape.dim[axis] : 1;
  }
  shape.dim[edge] = is_big(c) ? (40000 + below(c, 60000)) / count + 1 : length;
  return shape;
}

/* ---- layouts ---- */
typedef struct {
  int order[TN_RANK_LIMIT];      /* order[i] is the axis that stands at place i in memory */
  int64_t gap[TN_RANK_LIMIT];    /* elements of this axis that lie between two of the view's */
  int64_t skip[TN_RANK_LIMIT];   /* before the first */
  bool reversed[TN_RANK_LIMIT], repeated[TN_RANK_LIMIT];
} layout;

static layout any_layout(op_case *c, int rank, bool unique) {
  layout l = { 0 };
  bool plain = c->contiguous || one_in(c, 3), permuted = one_in(c, 2);
  for (int i = 0; i < rank; i++) l.order[i] = i;
  if (plain) return l;
  for (int i = rank - 1; permuted && i > 0; i--) {
    int j = below(c, i + 1), swapped = l.order[i];
    l.order[i] = l.order[j], l.order[j] = swapped;
  }
  for (int axis = 0; axis < rank; axis++) {
    int kind = below(c, 8);
    if (kind == 0) l.gap[axis] = 1 + below(c, 3), l.skip[axis] = below(c, 3);
    if (kind == 1) l.reversed[axis] = true;
    if (kind == 2 && !unique) l.repeated[axis] = true;
    if (kind == 3) l.skip[axis] = below(c, 5);
  }
  return l;
}

/* The memory has the permuted axes, longer by gaps and skips; the view is cut out of it. */
operand lay_out(op_case *c, tn_dtype dtype, const tn_shape *shape, bool unique) {
  layout l = any_layout(c, shape->rank, unique);
  tn_shape inside = { .rank = shape->rank };
  int back[TN_RANK_LIMIT];
  for (int i = 0; i < shape->rank; i++) {
    int axis = l.order[i];
    back[axis] = i;
    inside.dim[i] = l.skip[axis] + (l.repeated[axis] ? 1 : shape->dim[axis] * (l.gap[axis] + 1));
  }
  operand o = { .bytes = (size_t)tn_shape_count(&inside) * tn_dtype_bytes(dtype) };
  o.base = case_memory(c, o.bytes);
  o.view = tn_view_make(o.base, dtype, &inside);
  o.view = tn_view_permute(&o.view, back);
  for (int axis = 0; axis < shape->rank; axis++) {
    int64_t count = l.repeated[axis] ? 1 : shape->dim[axis];
    int64_t step = l.gap[axis] + 1, first = l.skip[axis];
    if (l.reversed[axis] && count) first += (count - 1) * step, step = -step;
    o.view = tn_view_slice(&o.view, axis, first, step, count);
    o.repeats = o.repeats || (l.repeated[axis] && shape->dim[axis] > 1);
  }
  tn_shape seen = tn_view_shape(&o.view);
  for (int axis = 0; axis < shape->rank; axis++)
    if (l.repeated[axis]) seen.dim[axis] = shape->dim[axis];
  o.view = tn_view_broadcast(&o.view, &seen);
  return o;
}

tn_shape narrower(op_case *c, const tn_shape *shape) {
  tn_shape from = *shape;
  int dropped = one_in(c, 3) ? below(c, shape->rank + 1) : 0;
  for (int axis = 0; axis < shape->rank - dropped; axis++) from.dim[axis] = shape->dim[axis + dropped];
  for (int axis = shape->rank - dropped; axis < TN_RANK_LIMIT; axis++) from.dim[axis] = 0;
  from.rank -= dropped;
  for (int axis = 0; axis < from.rank; axis++)
    if (one_in(c, 5)) from.dim[axis] = 1;
  return from;
}

/* ---- values ---- */
typedef enum {
  NEAR_ONE,
  WIDE,       /* of many sizes */
  BITS,       /* any pattern: denormals, huge numbers */
  SPECIAL,    /* NaN, infinities and edges among ordinary numbers */
  ZEROS,      /* -0 and +0, or only one of them */
  TIES        /* few different numbers */
} float_style;

static float_style any_style(op_case *c, contents what) {
  static const float_style any[] = { NEAR_ONE, NEAR_ONE, WIDE, WIDE, BITS, SPECIAL, SPECIAL, ZEROS, TIES };
  static const float_style small[] = { NEAR_ONE, NEAR_ONE, NEAR_ONE, NEAR_ONE, ZEROS, TIES };
  return what == SMALL_VALUES ? small[below(c, COUNT_OF(small))] : any[below(c, COUNT_OF(any))];
}

static float special_f32(op_case *c) {
  static const float values[] = {
    0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 3.0f, 1e-45f, -1e-45f, 1e-40f, 0x1p-126f,
    -0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f, 88.0f, -88.0f, 104.0f, 0x1p23f, -0x1p24f, 0x1p31f,
    -0x1p31f, 0x1p63f, __builtin_inff(), -__builtin_inff(), __builtin_nanf(""),
  };
  return values[below(c, COUNT_OF(values))];
}

static double special_f64(op_case *c) {
  static const double values[] = { 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 709.0, -745.0,
                                   0x1p52, -0x1p53, 0x1p63, 0x1p31, 2147483647.5, 0x1.000001p0 };
  return one_in(c, 3) ? values[below(c, COUNT_OF(values))] : special_f32(c);
}

/* Which zeros an operand has follows from the number of the case. */
static double any_zero(op_case *c) {
  static const double kinds[3][2] = { { -0.0, -0.0 }, { -0.0, 0.0 }, { 0.0, -0.0 } };
  return kinds[c->number % 3][below(c, 16) == 0];
}

static double ordinary(op_case *c, float_style style) {
  double x = tn_rng_normal(&c->rng);
  if (style == ZEROS) return any_zero(c);
  if (style == TIES) return below(c, 5) - 2.0;
  if (style == WIDE) x *= (double)((int64_t)1 << below(c, 40)) / (double)(1 << below(c, 30));
  return x;
}

static uint64_t any_bits(op_case *c) {
  uint64_t high = tn_rng_next(&c->rng);
  return high << 32 | tn_rng_next(&c->rng);
}

static float any_f32(op_case *c, float_style style) {
  float x = (float)ordinary(c, style);
  uint32_t bits = (uint32_t)any_bits(c);
  if (style == SPECIAL && one_in(c, 3)) x = special_f32(c);
  if (style == BITS) memcpy(&x, &bits, sizeof x);
  return x == x ? x : __builtin_nanf("");
}

static double any_f64(op_case *c, float_style style) {
  double x = ordinary(c, style);
  uint64_t bits = any_bits(c);
  if (style == SPECIAL && one_in(c, 3)) x = special_f64(c);
  if (style == BITS) memcpy(&x, &bits, sizeof x);
  return x == x ? x : __builtin_nan("");
}

static int64_t any_int(op_case *c, int64_t least, int64_t most) {
  int64_t edges[] = { 0, 1, -1, 2, -2, least, most, least + 1, 7, 1000 };
  switch (below(c, 4)) {
    case 0: return edges[below(c, COUNT_OF(edges))];
    case 1: return below(c, 21) - 10;
    default: return (int64_t)any_bits(c);   /* cut to the dtype when stored */
  }
}

static uint16_t any_storage(op_case *c, tn_dtype dtype) {
  float x = any_f32(c, one_in(c, 2) ? SPECIAL : NEAR_ONE);
  return dtype == TN_BF16 ? tn_bf16_from_f32(x) : tn_f16_from_f32(x);
}

static void store_any(op_case *c, char *at, tn_dtype dtype, float_style style) {
  switch (dtype) {
    case TN_F32: *(float *)at = any_f32(c, style); break;
    case TN_F64: *(double *)at = any_f64(c, style); break;
    case TN_I32: *(int32_t *)at = (int32_t)any_int(c, INT32_MIN, INT32_MAX); break;
    case TN_I64: *(int64_t *)at = any_int(c, INT64_MIN, INT64_MAX); break;
    case TN_BOOL: *(uint8_t *)at = (uint8_t)below(c, 2); break;
    default: *(uint16_t *)at = any_storage(c, dtype); break;
  }
}

/* The whole memory gets values, also what lies between the elements of the view. */
static void fill_any(op_case *c, const operand *o, contents what) {
  size_t size = tn_dtype_bytes(o->view.dtype);
  float_style style = any_style(c, what);
  for (size_t at = 0; at < o->bytes; at += size) {
    store_any(c, o->base + at, o->view.dtype, style);
    if (what != NONZERO_VALUES) continue;
    if (o->view.dtype == TN_I32 && *(int32_t *)(o->base + at) == 0) *(int32_t *)(o->base + at) = 3;
    if (o->view.dtype == TN_I64 && *(int64_t *)(o->base + at) == 0) *(int64_t *)(o->base + at) = -3;
  }
}

static void fill_index(op_case *c, const operand *o, int64_t limit) {
  int spread = one_in(c, 3) && limit > 3 ? 3 : (int)limit;   /* sometimes the same few repeatedly */
  size_t size = tn_dtype_bytes(o->view.dtype);
  for (size_t at = 0; at < o->bytes && spread > 0; at += size) {
    int64_t index = below(c, spread);
    if (o->view.dtype == TN_I32) *(int32_t *)(o->base + at) = (int32_t)index;
    else *(int64_t *)(o->base + at) = index;
  }
}

void add_operand(op_case *c, tn_dtype dtype, const tn_shape *shape, contents what, int64_t limit) {
  operand o = lay_out(c, dtype, shape, false);
  if (what == INDEX_VALUES) fill_index(c, &o, limit);
  else fill_any(c, &o, what);
  c->in[c->count++] = o;
}
