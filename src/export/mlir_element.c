/* export/mlir_element.c: writes elementwise operations in MLIR.
 *
 * Each gives tern's result, special cases included: integers wrap, the least integer divided by -1
 * is itself, conversions to integers saturate. A division of integers by zero has no result in
 * tern; here it divides by 1, because the dialect leaves it undefined. */
#include "base/elementary.h"
#include "export/element.h"
#include "export/mlir_internal.h"

static bool is_float(tn_dtype dtype) { return tn_dtype_in(dtype, TN_FLOATS); }

static tn_str apply1(tn_mlir *m, const char *op, tn_dtype dtype, tn_str x) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = $ $ : $", r, tn_str_of(op), x, tn_mlir_dtype(dtype));
  return r;
}

static tn_str apply2(tn_mlir *m, const char *op, tn_dtype dtype, tn_str x, tn_str y) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = $ $, $ : $", r, tn_str_of(op), x, y, tn_mlir_dtype(dtype));
  return r;
}

static tn_str compare(tn_mlir *m, const char *floats, const char *ints, tn_dtype dtype, tn_str x, tn_str y) {
  tn_str r = tn_mlir_fresh(m);
  bool real = is_float(dtype);
  TN_MLIR(m, "$ = arith.$ $, $, $ : $", r, real ? TN_LIT("cmpf") : TN_LIT("cmpi"),
          tn_str_of(real ? floats : ints), x, y, tn_mlir_dtype(dtype));
  return r;
}

static tn_str choose(tn_mlir *m, tn_dtype dtype, tn_str condition, tn_str x, tn_str y) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.select $, $, $ : $", r, condition, x, y, tn_mlir_dtype(dtype));
  return r;
}

static tn_str convert(tn_mlir *m, const char *op, tn_str x, tn_str from, tn_str to) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = $ $ : $ to $", r, tn_str_of(op), x, from, to);
  return r;
}

static tn_str number(tn_mlir *m, tn_dtype dtype, double value) { return tn_mlir_constant(m, dtype, value); }

tn_str tn_mlir_canonical(tn_mlir *m, tn_dtype dtype, tn_str x) {
  if (!is_float(dtype)) return x;
  tn_str nan = number(m, dtype, tn_nan_f64());
  return choose(m, dtype, compare(m, "uno", "", dtype, x, x), nan, x);
}

tn_str tn_mlir_add(tn_mlir *m, tn_dtype dtype, tn_str x, tn_str y) {
  return apply2(m, is_float(dtype) ? "arith.addf" : "arith.addi", dtype, x, y);
}

/* ---- the rows of elementwise.def ---- */

typedef struct row row;
/* Empty when the dialect cannot say it. */
typedef tn_str (*row_writer)(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in);
struct row {
  row_writer write;
  const char *real, *whole; /* words of the dialect, for floats and for the others; or a function and what
                               stands for it among f64 */
  tn_mlir_helper helper;
};
static const row rows[TN_OP_COUNT];

static tn_str element(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  return rows[op].write ? rows[op].write(m, op, dtype, in) : (tn_str){ 0 };
}

static tn_str word_number(void *writer, tn_dtype dtype, double value) {
  return tn_mlir_constant(writer, dtype, value);
}

static tn_str word_choose(void *writer, tn_dtype dtype, const tn_str *in) {
  return choose(writer, dtype, in[0], in[1], in[2]);
}

static tn_str word_element(void *writer, tn_op op, tn_dtype dtype, const tn_str *in) {
  return element(writer, op, dtype, in);
}

/* recursion: the operations of a formula; a formula that is the operation itself has none. */
static tn_str formula(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  const tn_export_words words = { m, word_number, word_choose, word_element };
  return tn_export_formula(&words, op, dtype, in);
}

static tn_str word(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  const char *text = is_float(dtype) ? rows[op].real : rows[op].whole;
  if (!text) return formula(m, op, dtype, in);
  return tn_op_sig_of(op)->arity == 1 ? apply1(m, text, dtype, in[0]) : apply2(m, text, dtype, in[0], in[1]);
}

static tn_str comparison(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  return compare(m, rows[op].real, rows[op].whole, dtype, in[0], in[1]);
}

static tn_str negation(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  (void)op;
  return apply2(m, "arith.xori", dtype, in[0], number(m, TN_BOOL, 1));
}

/* A function of tern's own for f32, a word of the dialect for f64. */
static tn_str call(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  bool two = tn_op_sig_of(op)->arity == 2;
  tn_str name = tn_str_of(rows[op].real);
  if (dtype != TN_F32 && !rows[op].whole) return (tn_str){ 0 };
  if (dtype != TN_F32)
    return two ? apply2(m, rows[op].whole, dtype, in[0], in[1]) : apply1(m, rows[op].whole, dtype, in[0]);
  tn_str r = tn_mlir_fresh(m);
  m->used[rows[op].helper] = true;
  if (two)
    TN_MLIR(m, "$ = func.call @tern_$_f32($, $) : (f32, f32) -> f32", r, name, in[0], in[1]);
  else
    TN_MLIR(m, "$ = func.call @tern_$_f32($) : (f32) -> f32", r, name, in[0]);
  return r;
}

/* 1 / (1 + exp(-x)) for f64, because the dialect has no word. */
static tn_str sigmoid(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  if (dtype == TN_F32) return call(m, op, dtype, in);
  tn_str e = apply1(m, "math.exp", dtype, apply1(m, "arith.negf", dtype, in[0]));
  tn_str one = number(m, dtype, 1);
  return apply2(m, "arith.divf", dtype, one, apply2(m, "arith.addf", dtype, one, e));
}

/* Integer division by -1 may overflow, which the dialect leaves undefined: the quotient is -x and the
 * remainder 0. Division by 0 has no result. */
static tn_str divided(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in, bool remainder) {
  if (is_float(dtype)) return word(m, op, dtype, in);
  tn_str zero = number(m, dtype, 0), one = number(m, dtype, 1), minus = number(m, dtype, -1);
  tn_str turns = compare(m, "", "eq", dtype, in[1], minus), none = compare(m, "", "eq", dtype, in[1], zero);
  tn_str safe = choose(m, dtype, turns, one, choose(m, dtype, none, one, in[1]));
  tn_str instead = remainder ? zero : apply2(m, "arith.subi", dtype, zero, in[0]);
  return choose(m, dtype, turns, instead, apply2(m, rows[op].whole, dtype, in[0], safe));
}

static tn_str quotient(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  return divided(m, op, dtype, in, false);
}

static tn_str remainder_of(tn_mlir *m, tn_op op, tn_dtype dtype, const tn_str *in) {
  return divided(m, op, dtype, in, true);
}

static const row rows[TN_OP_COUNT] = {
#define MLIR_WORD(real, whole)         { word, real, whole, 0 }
#define MLIR_COMPARE(real, whole)      { comparison, real, whole, 0 }
#define MLIR_QUOTIENT(real, whole)     { quotient, real, whole, 0 }
#define MLIR_REMAINDER(real, whole)    { remainder_of, real, whole, 0 }
#define MLIR_CALL(name, helper, wide)  { call, name, wide, TN_MLIR_##helper }
#define MLIR_SIGMOID(name, helper)     { sigmoid, name, NULL, TN_MLIR_##helper }
#define MLIR_NOT                       { negation, NULL, NULL, 0 }
#define MLIR_FORMULA                   { formula, NULL, NULL, 0 }
#define TN_ELEMENT(ID, KIND, DTYPES, NAME, DOC, REAL, WHOLE, TRUTH, VJP, JVP, SLOPE_X, SLOPE_Y, HOW, NANS,   \
                   COST, FAILS, AIL, MIND, NINTH, MLIR, ONNX)                                                \
  [TN_OP_##ID] = MLIR,
#include "op/elementwise.def"
};

tn_str tn_mlir_unary(tn_mlir *m, tn_op op, tn_dtype dtype, tn_str x) { return element(m, op, dtype, &x); }

/* ---- conversions ---- */

/* Truncates and saturates; NaN gives 0. What is out of range is not converted at all. */
static tn_str float_to_int(tn_mlir *m, tn_dtype from, tn_dtype to, tn_str x) {
  double limit = to == TN_I32 ? 0x1p31 : 0x1p63;
  tn_str high = number(m, from, limit), low = number(m, from, -limit), zero = number(m, from, 0);
  tn_str above = compare(m, "oge", "", from, x, high), below = compare(m, "olt", "", from, x, low);
  tn_str nan = compare(m, "uno", "", from, x, x);
  tn_str odd = apply2(m, "arith.ori", TN_BOOL, nan, apply2(m, "arith.ori", TN_BOOL, above, below));
  tn_str safe = choose(m, from, odd, zero, x);
  tn_str r = convert(m, "arith.fptosi", safe, tn_mlir_dtype(from), tn_mlir_dtype(to));
  int64_t most = to == TN_I32 ? INT32_MAX : INT64_MAX, least = to == TN_I32 ? INT32_MIN : INT64_MIN;
  tn_str top = tn_mlir_fresh(m), bottom = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.constant $ : $", top, tn_mlir_int(m, most), tn_mlir_dtype(to));
  TN_MLIR(m, "$ = arith.constant $ : $", bottom, tn_mlir_int(m, least), tn_mlir_dtype(to));
  return choose(m, to, above, top, choose(m, to, below, bottom, r));
}

/* To nearest even on the bits; the dialect's own conversion needs a library that may be missing. */
static tn_str f32_to_bf16(tn_mlir *m, tn_str x) {
  tn_str i32 = TN_LIT("i32"), bits = convert(m, "arith.bitcast", x, TN_LIT("f32"), i32);
  tn_str sixteen = number(m, TN_I32, 16), one = number(m, TN_I32, 1);
  tn_str odd = apply2(m, "arith.andi", TN_I32, apply2(m, "arith.shrui", TN_I32, bits, sixteen), one);
  tn_str half = apply2(m, "arith.addi", TN_I32, odd, number(m, TN_I32, 0x7fff));
  tn_str moved = apply2(m, "arith.addi", TN_I32, bits, half);
  tn_str top = apply2(m, "arith.shrui", TN_I32, moved, sixteen);
  tn_str quiet = number(m, TN_I32, 0x7fc0);
  tn_str kept = choose(m, TN_I32, compare(m, "uno", "", TN_F32, x, x), quiet, top);
  return convert(m, "arith.bitcast", convert(m, "arith.trunci", kept, i32, TN_LIT("i16")), TN_LIT("i16"),
                 TN_LIT("bf16"));
}

/* recursion: once, through f32. */
static tn_str float_to_float(tn_mlir *m, tn_dtype from, tn_dtype to, tn_str x) {
  if (from == to) return x;
  if (tn_dtype_in(to, TN_STORAGE)) {
    if (from != TN_F32) x = float_to_float(m, from, TN_F32, x);
    return to == TN_BF16 ? f32_to_bf16(m, x) : convert(m, "arith.truncf", x, TN_LIT("f32"), TN_LIT("f16"));
  }
  bool narrower = from == TN_F64;
  return convert(m, narrower ? "arith.truncf" : "arith.extf", x, tn_mlir_dtype(from), tn_mlir_dtype(to));
}

/* recursion: once, through f32. */
static tn_str cast(tn_mlir *m, tn_dtype from, tn_dtype to, tn_str x) {
  bool from_float = tn_dtype_in(from, TN_FLOATS | TN_STORAGE),
       to_float = tn_dtype_in(to, TN_FLOATS | TN_STORAGE);
  if (from == to) return x;
  if (from_float && tn_dtype_in(from, TN_STORAGE) && to != TN_F32)
    return cast(m, TN_F32, to, cast(m, from, TN_F32, x));
  if (to == TN_BOOL) return compare(m, "une", "ne", from, x, number(m, from, 0));
  if (from_float && to_float) return float_to_float(m, from, to, x);
  if (from_float) return float_to_int(m, from, to, x);
  if (to_float) {
    tn_dtype first = tn_dtype_in(to, TN_STORAGE) ? TN_F32 : to;
    const char *op = from == TN_BOOL ? "arith.uitofp" : "arith.sitofp";
    return float_to_float(m, first, to, convert(m, op, x, tn_mlir_dtype(from), tn_mlir_dtype(first)));
  }
  const char *op = from == TN_BOOL ? "arith.extui" : to == TN_I64 ? "arith.extsi" : "arith.trunci";
  return convert(m, op, x, tn_mlir_dtype(from), tn_mlir_dtype(to));
}

/* An elementwise operation on numbers; writes lines and gives the value. Empty after a failure. */
static tn_str element_of(tn_mlir *m, const tn_node *node, const tn_str *in) {
  tn_dtype dtype = tn_graph_type(m->graph, node->in[0])->dtype;
  tn_str result;
  if (node->op == TN_OP_CAST)
    result = cast(m, dtype, node->type.dtype, in[0]);
  else if (node->op == TN_OP_SELECT)
    result = choose(m, node->type.dtype, in[0], in[1], in[2]);
  else
    result = element(m, node->op, dtype, in);
  if (!result.len) tn_mlir_unsupported(m, "this operation in MLIR", node->at);
  return result;
}

/* ---- whole tensors ---- */

/* The position of an element of the operand, for each position of the result: (d0, 0, d2). */
static tn_str map_of(tn_mlir *m, const tn_shape *operand, const tn_shape *result) {
  tn_str places = TN_LIT(""), all = TN_LIT("");
  for (int i = 0; i < result->rank; i++) {
    all = TN_MLIR_TEXT(m, i ? "$, d$" : "$d$", all, tn_mlir_int(m, i));
    int own = i - (result->rank - operand->rank);
    if (own < 0) continue;
    bool stretched = operand->dim[own] == 1 && result->dim[i] != 1;
    tn_str place = stretched ? TN_LIT("0") : TN_MLIR_TEXT(m, "d$", tn_mlir_int(m, i));
    places = TN_MLIR_TEXT(m, places.len ? "$, $" : "$$", places, place);
  }
  return TN_MLIR_TEXT(m, "affine_map<($) -> ($)>", all, places);
}

/* ins(%a, %b : ta, tb), their maps, and the names of their elements; numbers are used directly. */
typedef struct {
  tn_str maps, operands, types, arguments;
  tn_str elements[3];
} generic;

static void add_operand(tn_mlir *m, generic *g, const tn_node *node, int index) {
  const tn_type *type = tn_graph_type(m->graph, node->in[index]);
  tn_str value = m->values[node->in[index]];
  g->elements[index] = value;
  if (type->shape.rank == 0) return;
  tn_str element = tn_mlir_fresh(m);
  g->elements[index] = element;
  g->maps = TN_MLIR_TEXT(m, "$$, ", g->maps, map_of(m, &type->shape, &node->type.shape));
  g->operands = TN_MLIR_TEXT(m, g->operands.len ? "$, $" : "$$", g->operands, value);
  g->types = TN_MLIR_TEXT(m, g->types.len ? "$, $" : "$$", g->types, tn_mlir_type(m, type));
  g->arguments = TN_MLIR_TEXT(m, "$$: $, ", g->arguments, element, tn_mlir_dtype(type->dtype));
}

static tn_str parallel(tn_mlir *m, int rank) {
  tn_str list = TN_LIT("");
  for (int i = 0; i < rank; i++) list = TN_MLIR_TEXT(m, i ? "$, \"parallel\"" : "$\"parallel\"", list);
  return list;
}

bool tn_mlir_elementwise(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  generic g = { .maps = TN_LIT(""), .operands = TN_LIT(""), .types = TN_LIT(""), .arguments = TN_LIT("") };
  tn_str dims[TN_RANK_LIMIT];
  if (node->type.shape.rank == 0) {
    for (int i = 0; i < node->count; i++) g.elements[i] = m->values[node->in[i]];
    m->values[value] = element_of(m, node, g.elements);
    return m->values[value].len > 0;
  }
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  tn_str empty = tn_mlir_empty(m, &node->type, dims), type = tn_mlir_type(m, &node->type);
  for (int i = 0; i < node->count; i++) add_operand(m, &g, node, i);
  tn_str made = tn_mlir_fresh(m), own = tn_mlir_fresh(m);
  tn_str ins = g.operands.len ? TN_MLIR_TEXT(m, " ins($ : $)", g.operands, g.types) : TN_LIT("");
  TN_MLIR(m, "$ = linalg.generic {indexing_maps = [$$], iterator_types = [$]}$ outs($ : $) {", made, g.maps,
          map_of(m, &node->type.shape, &node->type.shape), parallel(m, node->type.shape.rank), ins, empty,
          type);
  TN_MLIR(m, "^bb0($$: $):", g.arguments, own, tn_mlir_dtype(node->type.dtype));
  m->indent++;
  tn_str result = element_of(m, node, g.elements);
  TN_MLIR(m, "linalg.yield $ : $", result, tn_mlir_dtype(node->type.dtype));
  m->indent--;
  TN_MLIR(m, "} -> $", type);
  m->values[value] = made;
  return result.len > 0;
}
