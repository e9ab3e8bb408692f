/* export/mlir_text.c: writes lines, types, numbers and sizes in MLIR. */
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"
#include "export/mlir_internal.h"

void tn_mlir_fail(tn_mlir *m) {
  m->failed = true;
  m->problem->feature = NULL;
}

bool tn_mlir_unsupported(tn_mlir *m, const char *feature, tn_span at) {
  if (!m->failed) *m->problem = (tn_export_problem){ feature, at };
  m->failed = true;
  return false;
}

static void expand(const char *pattern, const tn_str *texts, tn_text *out) {
  for (const char *c = pattern; *c; c++) {
    if (*c == '$')
      tn_text_add(out, *texts++);
    else
      tn_text_byte(out, *c);
  }
}

void tn_mlir_line(tn_mlir *m, const char *pattern, const tn_str *texts) {
  tn_text_repeat(&m->body, ' ', (size_t)m->indent * 2);
  expand(pattern, texts, &m->body);
  tn_text_byte(&m->body, '\n');
}

tn_str tn_mlir_text(tn_mlir *m, const char *pattern, const tn_str *texts) {
  tn_text text;
  tn_text_init(&text, m->heap);
  expand(pattern, texts, &text);
  tn_str kept = tn_arena_str(&m->arena, tn_text_str(&text));
  if (text.failed || m->arena.failed) tn_mlir_fail(m);
  tn_text_free(&text);
  return kept;
}

tn_str tn_mlir_int(tn_mlir *m, int64_t number) {
  char digits[TN_NUMBER_BYTES];
  return tn_arena_str(&m->arena, (tn_str){ digits, tn_number_print_i64(number, digits) });
}

tn_str tn_mlir_fresh(tn_mlir *m) { return TN_MLIR_TEXT(m, "%$", tn_mlir_int(m, m->next++)); }

/* ---- types ---- */

tn_str tn_mlir_dtype(tn_dtype dtype) {
  return dtype == TN_BOOL ? TN_LIT("i1") : tn_str_of(tn_dtype_name(dtype));
}

tn_str tn_mlir_tensor_type(tn_mlir *m, const tn_type *type) {
  tn_text text;
  tn_text_init(&text, m->heap);
  tn_text_puts(&text, "tensor<");
  for (int i = 0; i < type->shape.rank; i++) {
    if (tn_dim_is_known(type->shape.dim[i]))
      tn_text_int(&text, type->shape.dim[i]);
    else
      tn_text_byte(&text, '?');
    tn_text_byte(&text, 'x');
  }
  tn_text_add(&text, tn_mlir_dtype(type->dtype));
  tn_text_byte(&text, '>');
  tn_str kept = tn_arena_str(&m->arena, tn_text_str(&text));
  tn_text_free(&text);
  return kept;
}

tn_str tn_mlir_type(tn_mlir *m, const tn_type *type) {
  return type->shape.rank ? tn_mlir_tensor_type(m, type) : tn_mlir_dtype(type->dtype);
}

/* ---- numbers ---- */

static bool remember_constant(tn_mlir *m, int64_t number) {
  if (m->constant_count == m->constant_room) {
    size_t room = m->constant_room ? m->constant_room * 2 : 16;
    int64_t *grown = tn_arena_array(&m->arena, room, sizeof *grown);
    if (!grown) return false;
    if (m->constant_count) memcpy(grown, m->constants, m->constant_count * sizeof *grown);
    m->constants = grown;
    m->constant_room = room;
  }
  m->constants[m->constant_count++] = number;
  return true;
}

/* Constants of type index are at the head of the function, named after their value. */
tn_str tn_mlir_index(tn_mlir *m, int64_t number) {
  tn_str digits = tn_mlir_int(m, number < 0 ? -number : number);
  tn_str name = TN_MLIR_TEXT(m, number < 0 ? "%c.m$" : "%c.$", digits);
  for (size_t i = 0; i < m->constant_count; i++) {
    if (m->constants[i] == number) return name;
  }
  if (!remember_constant(m, number)) tn_mlir_fail(m);
  const tn_str texts[] = { name, tn_mlir_int(m, number) };
  expand("    $ = arith.constant $ : index\n", texts, &m->head);
  return name;
}

static tn_str hexadecimal(tn_mlir *m, uint64_t bits, int digits) {
  char text[18] = "0x";
  for (int i = 0; i < digits; i++) text[2 + i] = "0123456789ABCDEF"[bits >> (4 * (digits - 1 - i)) & 15];
  return tn_arena_str(&m->arena, (tn_str){ text, (size_t)digits + 2 });
}

/* MLIR wants a point, and reads a decimal as a double first: what that changes is written as bits. */
static tn_str decimal(tn_mlir *m, tn_str digits) {
  bool point = memchr(digits.at, '.', digits.len) != NULL;
  const char *exponent = memchr(digits.at, 'e', digits.len);
  size_t whole = exponent ? (size_t)(exponent - digits.at) : digits.len;
  tn_str front = { digits.at, whole }, back = { digits.at + whole, digits.len - whole };
  return TN_MLIR_TEXT(m, point ? "$$" : "$.0$", front, back);
}

static tn_str f32_text(tn_mlir *m, float number) {
  char digits[TN_NUMBER_BYTES];
  tn_str text = { digits, tn_number_print_f32(number, digits) };
  double read;
  bool finite = number - number == 0;
  bool same = finite && tn_number_parse_f64(text, &read) && (float)read == number;
  return same ? decimal(m, text) : hexadecimal(m, tn_bits_f32(tn_canonical_f32(number)), 8);
}

static tn_str f64_text(tn_mlir *m, double number) {
  char digits[TN_NUMBER_BYTES];
  if (!(number - number == 0)) return hexadecimal(m, tn_bits_f64(tn_canonical_f64(number)), 16);
  return decimal(m, (tn_str){ digits, tn_number_print_f64(number, digits) });
}

tn_str tn_mlir_number(tn_mlir *m, tn_dtype dtype, const void *element) {
  union {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    uint8_t boolean;
    uint16_t half;
  } raw;
  memcpy(&raw, element, tn_dtype_bytes(dtype));
  switch (dtype) {
    case TN_F32: return f32_text(m, raw.f32);
    case TN_F64: return f64_text(m, raw.f64);
    case TN_I32: return tn_mlir_int(m, raw.i32);
    case TN_I64: return tn_mlir_int(m, raw.i64);
    case TN_BOOL: return raw.boolean ? TN_LIT("true") : TN_LIT("false");
    default: return hexadecimal(m, raw.half, 4);
  }
}

tn_str tn_mlir_constant(tn_mlir *m, tn_dtype dtype, double number) {
  tn_element room;
  tn_view_number(&room, dtype, number);
  tn_str value = tn_mlir_fresh(m), text = tn_mlir_number(m, dtype, &room);
  if (dtype == TN_BOOL)
    TN_MLIR(m, "$ = arith.constant $", value, text);
  else
    TN_MLIR(m, "$ = arith.constant $ : $", value, text, tn_mlir_dtype(dtype));
  return value;
}

/* ---- sizes ---- */

tn_str tn_mlir_dim(tn_mlir *m, tn_value value, int axis) {
  const tn_type *type = tn_graph_type(m->graph, value);
  int64_t dim = type->shape.dim[axis];
  if (tn_dim_is_known(dim)) return tn_mlir_index(m, dim);
  if (tn_dim_is_symbol(dim)) return TN_MLIR_TEXT(m, "%$", tn_names_text(m->graph->names, tn_dim_name(dim)));
  tn_str size = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = tensor.dim $, $ : $", size, m->values[value], tn_mlir_index(m, axis),
          tn_mlir_type(m, type));
  return size;
}

tn_str tn_mlir_empty(tn_mlir *m, const tn_type *type, const tn_str *dims) {
  tn_str sizes = TN_LIT(""), value = tn_mlir_fresh(m);
  for (int i = 0; i < type->shape.rank; i++) {
    if (!tn_dim_is_known(type->shape.dim[i]))
      sizes = TN_MLIR_TEXT(m, sizes.len ? "$, $" : "$$", sizes, dims[i]);
  }
  TN_MLIR(m, "$ = tensor.empty($) : $", value, sizes, tn_mlir_tensor_type(m, type));
  return value;
}

tn_str tn_mlir_filled(tn_mlir *m, tn_str number, const tn_type *type, const tn_str *dims) {
  tn_str empty = tn_mlir_empty(m, type, dims), made = tn_mlir_fresh(m), tensor = tn_mlir_tensor_type(m, type);
  TN_MLIR(m, "$ = linalg.fill ins($ : $) outs($ : $) -> $", made, number, tn_mlir_dtype(type->dtype), empty,
          tensor, tensor);
  return made;
}

tn_str tn_mlir_product(tn_mlir *m, const tn_str *dims, int count) {
  tn_str product = tn_mlir_index(m, 1);
  for (int i = 0; i < count; i++) {
    if (i == 0) {
      product = dims[0];
      continue;
    }
    tn_str next = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.muli $, $ : index", next, product, dims[i]);
    product = next;
  }
  return product;
}

/* ---- sizes of results that have no name ---- */

/* Broadcasting: the operands' sizes are equal or 1. */
static tn_str shape_broadcast(tn_mlir *m, const tn_node *node, int axis) {
  tn_str size = { 0 };
  for (int i = 0; i < node->count; i++) {
    const tn_shape *shape = &tn_graph_type(m->graph, node->in[i])->shape;
    int own = axis - (node->type.shape.rank - shape->rank);
    if (own < 0 || shape->dim[own] == 1) continue;
    tn_str dim = tn_mlir_dim(m, node->in[i], own);
    if (!size.len) {
      size = dim;
      continue;
    }
    tn_str wider = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.maxui $, $ : index", wider, size, dim);
    size = wider;
  }
  return size.len ? size : tn_mlir_index(m, 1);
}

static tn_str shape_concat(tn_mlir *m, const tn_node *node, int axis) {
  if (axis != node->attrs->axis) return tn_mlir_dim(m, node->in[0], axis);
  tn_str sum = tn_mlir_dim(m, node->in[0], axis);
  for (int i = 1; i < node->count; i++) {
    tn_str next = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.addi $, $ : index", next, sum, tn_mlir_dim(m, node->in[i], axis));
    sum = next;
  }
  return sum;
}

/* All elements divided by what the other axes hold. */
static tn_str shape_reshape(tn_mlir *m, const tn_node *node, int axis) {
  tn_str from[TN_RANK_LIMIT], to[TN_RANK_LIMIT], size = tn_mlir_fresh(m);
  const tn_shape *in = &tn_graph_type(m->graph, node->in[0])->shape, *out = &node->type.shape;
  int count = 0;
  for (int i = 0; i < in->rank; i++) from[i] = tn_mlir_dim(m, node->in[0], i);
  for (int i = 0; i < out->rank; i++) {
    if (i == axis) continue;
    bool known = tn_dim_is_known(out->dim[i]);
    to[count++] = known ? tn_mlir_index(m, out->dim[i])
                        : TN_MLIR_TEXT(m, "%$", tn_names_text(m->graph->names, tn_dim_name(out->dim[i])));
  }
  tn_str all = tn_mlir_product(m, from, in->rank), others = tn_mlir_product(m, to, count);
  TN_MLIR(m, "$ = arith.divui $, $ : index", size, all, others);
  return size;
}

/* high - low, counted from the end where they are negative, in steps. */
static tn_str shape_slice(tn_mlir *m, const tn_node *node, int axis) {
  const tn_attrs *a = node->attrs;
  tn_str length = tn_mlir_dim(m, node->in[0], axis), ends[2];
  const int64_t given[] = { a->low[axis], a->high[axis] };
  for (int i = 0; i < 2; i++) {
    ends[i] = given[i] == INT64_MAX ? length : tn_mlir_index(m, given[i]);
    if (given[i] >= 0) continue;
    tn_str counted = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.addi $, $ : index", counted, length, tn_mlir_index(m, given[i]));
    ends[i] = counted;
  }
  tn_str span = tn_mlir_fresh(m), rounded = tn_mlir_fresh(m), size = tn_mlir_fresh(m);
  TN_MLIR(m, "$ = arith.subi $, $ : index", span, ends[1], ends[0]);
  TN_MLIR(m, "$ = arith.addi $, $ : index", rounded, span, tn_mlir_index(m, a->step[axis] - 1));
  TN_MLIR(m, "$ = arith.divui $, $ : index", size, rounded, tn_mlir_index(m, a->step[axis]));
  return size;
}

/* What is added before, between and after. */
static tn_str shape_pad(tn_mlir *m, const tn_node *node, int axis) {
  const tn_attrs *a = node->attrs;
  tn_str length = tn_mlir_dim(m, node->in[0], axis), size = tn_mlir_fresh(m);
  if (a->step[axis]) {
    tn_str gaps = tn_mlir_fresh(m), last = tn_mlir_fresh(m), zeros = tn_mlir_fresh(m), all = tn_mlir_fresh(m);
    TN_MLIR(m, "$ = arith.subi $, $ : index", last, length, tn_mlir_index(m, 1));
    TN_MLIR(m, "$ = arith.maxsi $, $ : index", gaps, last, tn_mlir_index(m, 0));
    TN_MLIR(m, "$ = arith.muli $, $ : index", zeros, gaps, tn_mlir_index(m, a->step[axis]));
    TN_MLIR(m, "$ = arith.addi $, $ : index", all, length, zeros);
    length = all;
  }
  TN_MLIR(m, "$ = arith.addi $, $ : index", size, length, tn_mlir_index(m, a->low[axis] + a->high[axis]));
  return size;
}

static tn_str shape_gather(tn_mlir *m, const tn_node *node, int axis) {
  int rank = tn_graph_type(m->graph, node->in[1])->shape.rank;
  if (axis < node->attrs->axis) return tn_mlir_dim(m, node->in[0], axis);
  if (axis < node->attrs->axis + rank) return tn_mlir_dim(m, node->in[1], axis - node->attrs->axis);
  return tn_mlir_dim(m, node->in[0], axis - rank + 1);
}

/* The length of the axis of operand 0 that the axis of the result was, when these have disappeared. */
static tn_str kept(tn_mlir *m, const tn_node *node, const int32_t *axes, int count, int axis) {
  int from = 0;
  for (int left = axis; !node->attrs->keepdims; from++) {
    bool reduced = false;
    for (int k = 0; k < count; k++) reduced |= axes[k] == from;
    if (!reduced && left-- == 0) break;
  }
  return tn_mlir_dim(m, node->in[0], node->attrs->keepdims ? axis : from);
}

static tn_str shape_reduce(tn_mlir *m, const tn_node *node, int axis) {
  return kept(m, node, node->attrs->axes, node->attrs->axis_count, axis);
}

static tn_str shape_argmax(tn_mlir *m, const tn_node *node, int axis) {
  return kept(m, node, &node->attrs->axis, 1, axis);
}

static tn_str shape_matmul(tn_mlir *m, const tn_node *node, int axis) {
  int rank = node->type.shape.rank;
  int x = tn_graph_type(m->graph, node->in[0])->shape.rank,
      y = tn_graph_type(m->graph, node->in[1])->shape.rank;
  if (axis == rank - 2) return tn_mlir_dim(m, node->in[0], x - 2);
  if (axis == rank - 1) return tn_mlir_dim(m, node->in[1], y - 1);
  return shape_broadcast(m, node, axis); /* leading axes are aligned from the right, as all are */
}

static tn_str shape_transpose(tn_mlir *m, const tn_node *node, int axis) {
  return tn_mlir_dim(m, node->in[0], node->attrs->axes[axis]);
}

static tn_str shape_first(tn_mlir *m, const tn_node *node, int axis) {
  return tn_mlir_dim(m, node->in[0], axis);
}

/* What says its lengths itself, or has no axes, has none that follow from its operands. */
static tn_str says_itself(tn_mlir *m, const tn_node *node, int axis) {
  (void)m, (void)node, (void)axis;
  return (tn_str){ 0 };
}
#define shape_attr          says_itself
#define shape_literal       says_itself
#define shape_iota          says_itself
#define shape_random        says_itself
#define shape_scalar        says_itself
#define shape_if            says_itself
#define shape_cross_entropy says_itself
#define shape_patches       says_itself /* the number of windows is written as a length by its builder */
#define shape_fold          says_itself
#define shape_broadcast_to  shape_broadcast
#define shape_scatter_add   shape_first
#define shape_row_update    shape_first
#define shape_layer_norm    shape_first
#define shape_layer_norm_grad   says_itself /* written in parts, as those that follow */
#define shape_attention         says_itself
#define shape_attention_grad    says_itself
#define shape_depthwise         says_itself
#define shape_depthwise_image   says_itself
#define shape_depthwise_weights says_itself

/* By the rule that gives the operation its shape. */
static tn_str (*const lengths[TN_OP_COUNT])(tn_mlir *m, const tn_node *node, int axis) = {
#define FIRST(first, ...) first
#define TN_OP(id, ...)    [TN_OP_##id] = __VA_ARGS__,
#define TN_RULES(...)     FIRST(__VA_ARGS__)
#define TN_EXPAND(...)    NULL /* composed: never in a graph */
#include "op/ops.def"
};

bool tn_mlir_result_dims(tn_mlir *m, tn_value value, tn_str *dims) {
  const tn_node *node = tn_graph_node(m->graph, value);
  for (int i = 0; i < node->type.shape.rank; i++) {
    int64_t dim = node->type.shape.dim[i];
    if (tn_dim_is_known(dim))
      dims[i] = tn_mlir_index(m, dim);
    else if (tn_dim_is_symbol(dim))
      dims[i] = TN_MLIR_TEXT(m, "%$", tn_names_text(m->graph->names, tn_dim_name(dim)));
    else
      dims[i] = lengths[node->op](m, node, i);
    if (!dims[i].len) return tn_mlir_unsupported(m, "an operation whose size follows from no name", node->at);
  }
  return true;
}
