/* export/mlir_move.c: writes sources and operations that rearrange elements in MLIR.
 *
 * Most of it is tensor.generate: for each index of the result, the element there. That works for
 * every shape, gives a fresh tensor, and matches the reference kernel exactly. */
#include <string.h>

#include "export/draw.h"
#include "export/mlir_internal.h"

/* ---- lists of texts ---- */

static tn_str list_of(tn_mlir *m, const tn_str *texts, int count) {
  tn_str list = TN_LIT("");
  for (int i = 0; i < count; i++) list = TN_MLIR_TEXT(m, i ? "$, $" : "$$", list, texts[i]);
  return list;
}

/* ---- generating ---- */

typedef struct {
  tn_str value;
  tn_str places[TN_RANK_LIMIT];
} generator;

static generator begin_generate(tn_mlir *m, const tn_type *type, const tn_str *dims) {
  generator g = { .value = tn_mlir_fresh(m) };
  tn_str sizes = TN_LIT(""), arguments = TN_LIT("");
  for (int i = 0; i < type->shape.rank; i++) {
    g.places[i] = tn_mlir_fresh(m);
    arguments = TN_MLIR_TEXT(m, i ? "$, $: index" : "$$: index", arguments, g.places[i]);
    if (!tn_dim_is_known(type->shape.dim[i]))
      sizes = TN_MLIR_TEXT(m, sizes.len ? "$, $" : "$$", sizes, dims[i]);
  }
  TN_MLIR(m, "$ = tensor.generate $ {", g.value, sizes);
  TN_MLIR(m, "^bb0($):", arguments);
  m->indent++;
  return g;
}

static void end_generate(tn_mlir *m, const tn_type *type, tn_str element) {
  TN_MLIR(m, "tensor.yield $ : $", element, tn_mlir_dtype(type->dtype));
  m->indent--;
  TN_MLIR(m, "} : $", tn_mlir_tensor_type(m, type));
}

static tn_str extract(tn_mlir *m, tn_str x, const tn_type *type, const tn_str *places) {
  tn_str element = tn_mlir_fresh(m);
  if (type->shape.rank == 0) return x;
  TN_MLIR(m, "$ = tensor.extract $[$] : $", element, x, list_of(m, places, type->shape.rank),
          tn_mlir_type(m, type));
  return element;
}

static tn_str index_op(tn_mlir *m, const char *op, tn_str x, tn_str y) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.$ $, $ : index", r, tn_str_of(op), x, y);
  return r;
}

static tn_str index_compare(tn_mlir *m, const char *order, tn_str x, tn_str y) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.cmpi $, $, $ : index", r, tn_str_of(order), x, y);
  return r;
}

static tn_str both(tn_mlir *m, tn_str x, tn_str y) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.andi $, $ : i1", r, x, y);
  return r;
}

static tn_str choose(tn_mlir *m, tn_str condition, tn_str x, tn_str y, tn_str type) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.select $, $, $ : $", r, condition, x, y, type);
  return r;
}

/* Between 0 and size - 1, so that nothing outside is ever read. */
static tn_str clamped(tn_mlir *m, tn_str place, tn_str size) {
  tn_str zero = tn_mlir_index(m, 0), last = index_op(m, "subi", size, tn_mlir_index(m, 1));
  return index_op(m, "maxsi", index_op(m, "minsi", place, last), zero);
}

/* Whether 0 <= place < size. */
static tn_str is_inside(tn_mlir *m, tn_str place, tn_str size) {
  tn_str from = index_compare(m, "sge", place, tn_mlir_index(m, 0));
  return both(m, from, index_compare(m, "slt", place, size));
}

tn_str tn_mlir_copy(tn_mlir *m, tn_str x, const tn_type *type, const tn_str *dims, bool canonical) {
  generator g = begin_generate(m, type, dims);
  tn_str element = extract(m, x, type, g.places);
  end_generate(m, type, canonical ? tn_mlir_canonical(m, type->dtype, element) : element);
  return g.value;
}

/* ---- reshape ---- */

static tn_str shape_constant(tn_mlir *m, const tn_shape *shape) {
  tn_str texts[TN_RANK_LIMIT], value = tn_mlir_fresh(m);
  for (int i = 0; i < shape->rank; i++) texts[i] = tn_mlir_int(m, shape->dim[i]);
  TN_MLIR(m, "$ = arith.constant dense<[$]> : tensor<$xi64>", value, list_of(m, texts, shape->rank),
          tn_mlir_int(m, shape->rank));
  return value;
}

tn_str tn_mlir_reshaped(tn_mlir *m, tn_str x, const tn_type *from, const tn_type *to, const tn_str *dims) {
  tn_str value, shape, zeros[TN_RANK_LIMIT];
  for (int i = 0; i < TN_RANK_LIMIT; i++) zeros[i] = tn_mlir_index(m, 0);
  if (to->shape.rank == 0) return extract(m, x, from, zeros);
  if (from->shape.rank == 0) return tn_mlir_filled(m, x, to, dims);
  value = tn_mlir_fresh(m);
  bool known = tn_shape_is_known(&to->shape);
  if (known) {
    shape = shape_constant(m, &to->shape);
  } else {
    shape = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = tensor.from_elements $ : tensor<$xindex>", shape, list_of(m, dims, to->shape.rank),
            tn_mlir_int(m, to->shape.rank));
  }
  TN_MLIR(m, "$ = tensor.reshape $($) : ($, tensor<$x$>) -> $", value, x, shape, tn_mlir_type(m, from),
          tn_mlir_int(m, to->shape.rank), known ? TN_LIT("i64") : TN_LIT("index"), tn_mlir_type(m, to));
  return value;
}

/* ---- sources ---- */

#define HEXADECIMAL_FROM 256 /* elements; from here on a constant is written as its bytes */

static bool is_splat(const tn_view *view) {
  int64_t count = tn_view_count(view);
  size_t bytes = tn_dtype_bytes(view->dtype);
  for (int64_t i = 1; i < count; i++) {
    if (memcmp(view->data, (const char *)view->data + (size_t)i * bytes, bytes) != 0) return false;
  }
  return true;
}

/* recursion: TN_RANK_LIMIT deep. */
static void add_nested(tn_mlir *m, const tn_view *view, int axis, int64_t *next, tn_text *out) {
  if (axis == view->rank) {
    tn_text_add(out, tn_mlir_number(m, view->dtype,
                                    (const char *)view->data + *next * (int64_t)tn_dtype_bytes(view->dtype)));
    (*next)++;
    return;
  }
  tn_text_byte(out, '[');
  for (int64_t i = 0; i < view->dim[axis]; i++) {
    if (i) tn_text_puts(out, ", ");
    add_nested(m, view, axis + 1, next, out);
  }
  tn_text_byte(out, ']');
}

/* Little-endian bytes, as the format has them. */
static void add_bytes(const tn_view *view, tn_text *out) {
  size_t width = tn_dtype_bytes(view->dtype);
  int64_t count = tn_view_count(view);
  tn_text_puts(out, "\"0x");
  for (int64_t i = 0; i < count; i++) {
    union {
      uint64_t bits;
      uint32_t b32;
      uint16_t b16;
      uint8_t bytes[8];
    } raw = { 0 };
    const char *at = (const char *)view->data + (size_t)i * width;
    if (width == 8) memcpy(&raw.bits, at, 8);
    uint64_t value = raw.bits;
    if (width == 4) {
      uint32_t narrow;
      memcpy(&narrow, at, 4);
      value = narrow;
    } else if (width == 2) {
      uint16_t narrow;
      memcpy(&narrow, at, 2);
      value = narrow;
    }
    for (size_t b = 0; b < width; b++) raw.bytes[b] = (uint8_t)(value >> (8 * b));
    tn_text_hex(out, raw.bytes, width);
  }
  tn_text_byte(out, '"');
}

/* The first element. */
static tn_str first_number(tn_mlir *m, const tn_view *view) {
  tn_str value = tn_mlir_fresh(m), number = tn_mlir_number(m, view->dtype, view->data);
  if (view->dtype == TN_BOOL)
    TN_MLIR(m, "$ = arith.constant $", value, number);
  else
    TN_MLIR(m, "$ = arith.constant $ : $", value, number, tn_mlir_dtype(view->dtype));
  return value;
}

/* The view is contiguous. */
static tn_str dense(tn_mlir *m, const tn_view *view) {
  tn_type type = { view->dtype, tn_view_shape(view) };
  tn_str dims[TN_RANK_LIMIT];
  if (type.shape.rank == 0) return first_number(m, view);
  for (int i = 0; i < type.shape.rank; i++) dims[i] = tn_mlir_index(m, type.shape.dim[i]);
  if (is_splat(view) && tn_view_count(view) > 0) return tn_mlir_filled(m, first_number(m, view), &type, dims);
  tn_str value = tn_mlir_fresh(m);
  tn_text text;
  int64_t next = 0;
  tn_text_init(&text, m->heap);
  if (tn_view_count(view) >= HEXADECIMAL_FROM && type.dtype != TN_BOOL)
    add_bytes(view, &text);
  else
    add_nested(m, view, 0, &next, &text);
  TN_MLIR(m, "$ = arith.constant dense<$> : $", value, tn_text_str(&text), tn_mlir_type(m, &type));
  if (text.failed) tn_mlir_fail(m);
  tn_text_free(&text);
  return value;
}

bool tn_mlir_literal(tn_mlir *m, tn_value value) {
  const tn_view *view = &tn_graph_node(m->graph, value)->attrs->literal->view;
  tn_tensor copy = { 0 };
  if (!tn_view_is_contiguous(view)) {
    if (!tn_tensor_copy(m->heap, view, &copy)) {
      tn_mlir_fail(m);
      return false;
    }
    view = &copy.view;
  }
  m->values[value] = dense(m, view);
  tn_tensor_unref(&copy);
  return true;
}

bool tn_mlir_fill(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_str dims[TN_RANK_LIMIT];
  if (node->type.shape.rank == 0) {
    m->values[value] = tn_mlir_constant(m, node->type.dtype, node->attrs->number);
    return true;
  }
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  tn_str number = tn_mlir_constant(m, node->type.dtype, node->attrs->number);
  m->values[value] = tn_mlir_filled(m, number, &node->type, dims);
  return true;
}

static tn_str index_to(tn_mlir *m, tn_str index, tn_dtype dtype) {
  tn_str wide = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.index_cast $ : index to i64", wide, index);
  if (dtype == TN_I64) return wide;
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, dtype == TN_I32 ? "$ = arith.trunci $ : i64 to $" : "$ = arith.sitofp $ : i64 to $", r, wide,
          tn_mlir_dtype(dtype));
  return r;
}

bool tn_mlir_iota(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_str dims[TN_RANK_LIMIT];
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  generator g = begin_generate(m, &node->type, dims);
  end_generate(m, &node->type, index_to(m, g.places[node->attrs->axis], node->type.dtype));
  m->values[value] = g.value;
  return true;
}

/* The generator is not written: its numbers are known here and become a constant. */
static bool draw(tn_mlir *m, tn_value value, tn_draw next) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_tensor drawn;
  if (!tn_export_can_draw(m->graph, node))
    return tn_mlir_unsupported(m, "random numbers of a shape that is not known", node->at);
  if (!tn_export_draw(m->graph, node, next, m->heap, &drawn)) {
    tn_mlir_fail(m);
    return false;
  }
  m->values[value] = dense(m, &drawn.view);
  tn_tensor_unref(&drawn);
  return true;
}

bool tn_mlir_uniform(tn_mlir *m, tn_value value) { return draw(m, value, tn_rng_uniform); }
bool tn_mlir_normal(tn_mlir *m, tn_value value) { return draw(m, value, tn_rng_normal); }

/* ---- views ---- */

static bool is_identity(const tn_node *node) {
  for (int i = 0; i < node->type.shape.rank; i++) {
    if (node->attrs->axes[i] != i) return false;
  }
  return true;
}

bool tn_mlir_transpose(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_str dims[TN_RANK_LIMIT], axes[TN_RANK_LIMIT];
  if (is_identity(node)) {
    m->values[value] = m->values[node->in[0]];
    return true;
  }
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  for (int i = 0; i < node->type.shape.rank; i++) axes[i] = tn_mlir_int(m, node->attrs->axes[i]);
  tn_str empty = tn_mlir_empty(m, &node->type, dims), made = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = linalg.transpose ins($ : $) outs($ : $) permutation = [$]", made, m->values[node->in[0]],
          tn_mlir_type(m, tn_graph_type(m->graph, node->in[0])), empty, tn_mlir_type(m, &node->type),
          list_of(m, axes, node->type.shape.rank));
  m->values[value] = made;
  return true;
}

/* The position in the operand of an element of the result. */
typedef bool (*place_rule)(tn_mlir *m, const tn_node *node, const tn_str *places, tn_str *from);

static bool write_by_places(tn_mlir *m, tn_value value, place_rule rule) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *x = tn_graph_type(m->graph, node->in[0]);
  tn_str dims[TN_RANK_LIMIT], from[TN_RANK_LIMIT];
  if (node->type.shape.rank == 0) {
    if (!rule(m, node, NULL, from)) return false;
    m->values[value] = extract(m, m->values[node->in[0]], x, from);
    return true;
  }
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  generator g = begin_generate(m, &node->type, dims);
  if (!rule(m, node, g.places, from)) return false;
  end_generate(m, &node->type, extract(m, m->values[node->in[0]], x, from));
  m->values[value] = g.value;
  return true;
}

static bool broadcast_places(tn_mlir *m, const tn_node *node, const tn_str *places, tn_str *from) {
  const tn_shape *x = &tn_graph_type(m->graph, node->in[0])->shape;
  int added = node->type.shape.rank - x->rank;
  for (int i = 0; i < x->rank; i++) {
    bool stretched = x->dim[i] == 1 && node->type.shape.dim[i + added] != 1;
    from[i] = stretched ? tn_mlir_index(m, 0) : places[i + added];
  }
  return true;
}

static bool slice_places(tn_mlir *m, const tn_node *node, const tn_str *places, tn_str *from) {
  for (int i = 0; i < node->type.shape.rank; i++) {
    int64_t low = node->attrs->low[i], step = node->attrs->step[i];
    tn_str start = tn_mlir_index(m, low);
    if (low < 0) start = index_op(m, "addi", tn_mlir_dim(m, node->in[0], i), start);
    tn_str moved = step == 1 ? places[i] : index_op(m, "muli", places[i], tn_mlir_index(m, step));
    from[i] = low == 0 ? moved : index_op(m, "addi", moved, start);
  }
  return true;
}

static tn_str integer_index(tn_mlir *m, tn_str x, tn_dtype dtype) {
  tn_str r = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.index_cast $ : $ to index", r, x, tn_mlir_dtype(dtype));
  return r;
}

/* out[before..., i..., after...] = x[before..., index[i...], after...] */
static bool gather_places(tn_mlir *m, const tn_node *node, const tn_str *places, tn_str *from) {
  const tn_type *index = tn_graph_type(m->graph, node->in[1]);
  int axis = node->attrs->axis, rank = tn_graph_type(m->graph, node->in[0])->shape.rank;
  tn_str where = extract(m, m->values[node->in[1]], index, places ? places + axis : NULL);
  for (int i = 0; i < axis; i++) from[i] = places[i];
  tn_str limit = tn_mlir_dim(m, node->in[0], axis);
  from[axis] = clamped(m, integer_index(m, where, index->dtype), limit);
  for (int i = axis + 1; i < rank; i++) from[i] = places[i - 1 + index->shape.rank];
  return true;
}

/* ---- pad ---- */

bool tn_mlir_pad(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *x = tn_graph_type(m->graph, node->in[0]);
  tn_str dims[TN_RANK_LIMIT], from[TN_RANK_LIMIT], inside = { 0 };
  if (node->type.shape.rank == 0) {
    m->values[value] = m->values[node->in[0]];
    return true;
  }
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  generator g = begin_generate(m, &node->type, dims);
  tn_str zero = tn_mlir_index(m, 0);
  for (int i = 0; i < x->shape.rank; i++) {
    tn_str gap = tn_mlir_index(m, node->attrs->step[i] + 1), size = tn_mlir_dim(m, node->in[0], i);
    tn_str after = index_op(m, "subi", g.places[i], tn_mlir_index(m, node->attrs->low[i]));
    tn_str at = index_op(m, "divsi", after, gap), rest = index_op(m, "remsi", after, gap);
    tn_str begun = index_compare(m, "sge", after, zero), whole = index_compare(m, "eq", rest, zero);
    tn_str fits = both(m, both(m, begun, whole), index_compare(m, "slt", at, size));
    inside = inside.len ? both(m, inside, fits) : fits;
    from[i] = clamped(m, at, size);
  }
  tn_str element = extract(m, m->values[node->in[0]], x, from);
  tn_str nothing = tn_mlir_constant(m, node->type.dtype, 0);
  end_generate(m, &node->type, choose(m, inside, element, nothing, tn_mlir_dtype(node->type.dtype)));
  m->values[value] = g.value;
  return true;
}

/* ---- concat ---- */

bool tn_mlir_concat(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  int rank = node->type.shape.rank, axis = node->attrs->axis;
  tn_str dims[TN_RANK_LIMIT], offsets[TN_RANK_LIMIT], sizes[TN_RANK_LIMIT], steps[TN_RANK_LIMIT];
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  tn_str joined = tn_mlir_empty(m, &node->type, dims), start = tn_mlir_index(m, 0);
  for (int k = 0; k < node->count; k++) {
    const tn_type *part = tn_graph_type(m->graph, node->in[k]);
    for (int i = 0; i < rank; i++) {
      offsets[i] = i == axis ? start : TN_LIT("0");
      bool known = tn_dim_is_known(part->shape.dim[i]);
      sizes[i] = known ? tn_mlir_int(m, part->shape.dim[i]) : tn_mlir_dim(m, node->in[k], i);
      steps[i] = TN_LIT("1");
    }
    tn_str next = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = tensor.insert_slice $ into $[$] [$] [$] : $ into $", next, m->values[node->in[k]], joined,
            list_of(m, offsets, rank), list_of(m, sizes, rank), list_of(m, steps, rank),
            tn_mlir_type(m, part), tn_mlir_type(m, &node->type));
    joined = next;
    start = index_op(m, "addi", start, tn_mlir_dim(m, node->in[k], axis));
  }
  m->values[value] = joined;
  return true;
}

/* ---- scatter_add ---- */

/* Loops over the places of y, in order, around one step that changes the tensor. */
bool tn_mlir_scatter_add(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *index = tn_graph_type(m->graph, node->in[1]), *y = tn_graph_type(m->graph, node->in[2]);
  tn_str dims[TN_RANK_LIMIT], places[TN_RANK_LIMIT], results[TN_RANK_LIMIT], to[TN_RANK_LIMIT];
  tn_str type = tn_mlir_type(m, &node->type);
  int axis = node->attrs->axis, rank = y->shape.rank;
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  tn_str zero = tn_mlir_index(m, 0), one = tn_mlir_index(m, 1);
  tn_str sum = tn_mlir_copy(m, m->values[node->in[0]], &node->type, dims, false);
  for (int i = 0; i < rank; i++) {
    tn_str size = tn_mlir_dim(m, node->in[2], i), inner = tn_mlir_fresh(m);
    places[i] = tn_mlir_fresh(m);
    results[i] = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = scf.for $ = $ to $ step $ iter_args($ = $) -> ($) {", results[i], places[i], zero, size,
            one, inner, sum, type);
    m->indent++;
    sum = inner;
  }
  tn_str where = extract(m, m->values[node->in[1]], index, places + axis);
  for (int i = 0; i < axis; i++) to[i] = places[i];
  tn_str limit = tn_mlir_dim(m, node->in[0], axis);
  to[axis] = clamped(m, integer_index(m, where, index->dtype), limit);
  for (int i = axis + 1; i < node->type.shape.rank; i++) to[i] = places[i - 1 + index->shape.rank];
  tn_str before = extract(m, sum, &node->type, to), more = extract(m, m->values[node->in[2]], y, places);
  tn_str added = tn_mlir_add(m, node->type.dtype, before, more), changed = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = tensor.insert $ into $[$] : $", changed, added, sum, list_of(m, to, node->type.shape.rank),
          type);
  for (int i = rank - 1; i >= 0; i--) {
    TN_MLIR(m, "scf.yield $ : $", changed, type);
    m->indent--;
    tn_mlir_line(m, "}", NULL);
    changed = results[i];
  }
  m->values[value] = changed;
  return true;
}

/* ---- windows ---- */

/* Which row, column and channel of a window place p is: p = (row * kw + column) * c + channel. */
bool tn_mlir_patches(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *x = tn_graph_type(m->graph, node->in[0]);
  const tn_attrs *a = node->attrs;
  tn_str dims[TN_RANK_LIMIT], sizes[4], from[4], ok[2];
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  for (int i = 0; i < 4; i++) sizes[i] = tn_mlir_dim(m, node->in[0], i);
  generator g = begin_generate(m, &node->type, dims);
  tn_str cell = index_op(m, "divui", g.places[3], sizes[3]), width = tn_mlir_index(m, a->window[1]);
  tn_str shift[] = { index_op(m, "divui", cell, width), index_op(m, "remui", cell, width) };
  from[0] = g.places[0];
  from[3] = index_op(m, "remui", g.places[3], sizes[3]);
  for (int i = 0; i < 2; i++) {
    tn_str start = index_op(m, "muli", g.places[1 + i], tn_mlir_index(m, a->step[i]));
    tn_str before = tn_mlir_index(m, a->low[i]);
    tn_str at = index_op(m, "subi", index_op(m, "addi", start, shift[i]), before);
    ok[i] = is_inside(m, at, sizes[1 + i]);
    from[1 + i] = clamped(m, at, sizes[1 + i]);
  }
  tn_str element = extract(m, m->values[node->in[0]], x, from), nothing = tn_mlir_constant(m, x->dtype, 0);
  end_generate(m, &node->type, choose(m, both(m, ok[0], ok[1]), element, nothing, tn_mlir_dtype(x->dtype)));
  m->values[value] = g.value;
  return true;
}

/* For each element of the image, the windows that hold it, by row and column of the window. */
bool tn_mlir_fold(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  const tn_type *x = tn_graph_type(m->graph, node->in[0]);
  const tn_attrs *a = node->attrs;
  tn_str dims[TN_RANK_LIMIT], loops[2], shift[2], sums[2], from[4], ok[2], zero = tn_mlir_index(m, 0);
  tn_str one = tn_mlir_index(m, 1), element = tn_mlir_dtype(x->dtype);
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  tn_str windows[] = { tn_mlir_dim(m, node->in[0], 1), tn_mlir_dim(m, node->in[0], 2) };
  generator g = begin_generate(m, &node->type, dims);
  tn_str sum = tn_mlir_constant(m, x->dtype, 0);
  for (int i = 0; i < 2; i++) {
    loops[i] = tn_mlir_fresh(m);
    shift[i] = tn_mlir_fresh(m);
    sums[i] = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = scf.for $ = $ to $ step $ iter_args($ = $) -> ($) {", loops[i], shift[i], zero,
            tn_mlir_index(m, a->window[i]), one, sums[i], sum, element);
    m->indent++;
    sum = sums[i];
  }
  for (int i = 0; i < 2; i++) { /* the windows in ascending order hold it at descending places */
    tn_str last = tn_mlir_index(m, a->window[i] - 1);
    shift[i] = index_op(m, "subi", last, shift[i]);
  }
  from[0] = g.places[0];
  for (int i = 0; i < 2; i++) {
    tn_str step = tn_mlir_index(m, a->step[i]);
    tn_str moved = index_op(m, "addi", g.places[1 + i], tn_mlir_index(m, a->low[i]));
    tn_str at = index_op(m, "subi", moved, shift[i]);
    tn_str window = index_op(m, "divsi", at, step), rest = index_op(m, "remsi", at, step);
    tn_str begun = index_compare(m, "sge", at, zero), whole = index_compare(m, "eq", rest, zero);
    ok[i] = both(m, both(m, begun, whole), index_compare(m, "slt", window, windows[i]));
    from[1 + i] = clamped(m, window, windows[i]);
  }
  tn_str cell = index_op(m, "addi", index_op(m, "muli", shift[0], tn_mlir_index(m, a->window[1])), shift[1]);
  from[3] = index_op(m, "addi", index_op(m, "muli", cell, dims[3]), g.places[3]);
  tn_str more = tn_mlir_add(m, x->dtype, sum, extract(m, m->values[node->in[0]], x, from));
  tn_str next = choose(m, both(m, ok[0], ok[1]), more, sum, element);
  for (int i = 1; i >= 0; i--) {
    TN_MLIR(m, "scf.yield $ : $", next, element);
    m->indent--;
    tn_mlir_line(m, "}", NULL);
    next = loops[i];
  }
  end_generate(m, &node->type, next);
  m->values[value] = g.value;
  return true;
}

/* ---- the same elements, elsewhere ---- */

bool tn_mlir_broadcast_to(tn_mlir *m, tn_value value) { return write_by_places(m, value, broadcast_places); }
bool tn_mlir_slice(tn_mlir *m, tn_value value) { return write_by_places(m, value, slice_places); }
bool tn_mlir_gather(tn_mlir *m, tn_value value) { return write_by_places(m, value, gather_places); }

bool tn_mlir_reshape(tn_mlir *m, tn_value value) {
  const tn_node *node = tn_graph_node(m->graph, value);
  tn_str dims[TN_RANK_LIMIT];
  if (!tn_mlir_result_dims(m, value, dims)) return false;
  m->values[value] =
      tn_mlir_reshaped(m, m->values[node->in[0]], tn_graph_type(m->graph, node->in[0]), &node->type, dims);
  return true;
}
