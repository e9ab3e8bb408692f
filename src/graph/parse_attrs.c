/* graph/parse_attrs.c: parses the types, attributes and literals of graph text. */
#include "base/number.h"
#include "graph/parse.h"

/* ---- numbers and types ---- */

static bool read_i64(tn_graph_parser *p, int64_t *out) {
  if (p->token.kind != TN_TOKEN_WORD || !tn_number_parse_i64(p->token.text, out)) {
    return tn_parser_fail(p, p->token.at, "an integer is expected here");
  }
  tn_parser_advance(p);
  return true;
}

/* An index counts from the end when negative, and a word of the generator needs 64 bits. */
static bool read_index(tn_graph_parser *p, uint64_t *out) {
  int64_t number;
  if (p->token.kind != TN_TOKEN_WORD || !tn_number_parse_u64(p->token.text, out)) {
    if (!read_i64(p, &number)) return false;
    *out = (uint64_t)number;
    return true;
  }
  tn_parser_advance(p);
  return true;
}

bool tn_parser_number(tn_graph_parser *p, double *out) {
  if (p->token.kind != TN_TOKEN_WORD || !tn_number_parse_f64(p->token.text, out)) {
    return tn_parser_fail(p, p->token.at, "a number is expected here");
  }
  tn_parser_advance(p);
  return true;
}

bool tn_parser_dtype(tn_graph_parser *p, tn_dtype *out) {
  if (p->token.kind != TN_TOKEN_WORD || !tn_dtype_find(p->token.text, out)) {
    return tn_parser_fail(p, p->token.at, "a dtype is expected here");
  }
  tn_parser_advance(p);
  return true;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* dim = integer | name | "?" ; -1 is the same as "?" */
static bool read_dim(tn_graph_parser *p, int64_t *out) {
  tn_token token = p->token;
  *out = TN_DIM_UNKNOWN;
  if (tn_parser_take(p, '?')) return true;
  if (token.kind == TN_TOKEN_WORD && is_letter(token.text.at[0])) {
    tn_name name = tn_names_intern(p->names, token.text);
    if (name == 0) return tn_parser_no_memory(p);
    *out = TN_DIM_SYMBOL(name);
    tn_parser_advance(p);
    return true;
  }
  if (!read_i64(p, out)) return false;
  return *out >= TN_DIM_UNKNOWN || tn_parser_fail(p, token.at, "a length is not negative");
}

static bool rank_limit(tn_graph_parser *p) {
  p->failed = true;
  return tn_report(p->diags, TN_DIAG_E_RANK_LIMIT, p->token.at, TN_INT("rank", TN_RANK_LIMIT + 1),
                   TN_INT("limit", TN_RANK_LIMIT));
}

/* shape = "[" [ dim { "," dim } ] "]" */
static bool read_shape(tn_graph_parser *p, tn_shape *out) {
  tn_shape shape = { .rank = 0 };
  if (!tn_parser_expect(p, '[', "a shape is expected here: [2, 3]")) return false;
  while (!tn_parser_is(p, ']')) {
    if (shape.rank > 0 && !tn_parser_expect(p, ',', "a comma or ] is expected here")) return false;
    if (shape.rank == TN_RANK_LIMIT) return rank_limit(p);
    if (!read_dim(p, &shape.dim[shape.rank++])) return false;
  }
  tn_parser_advance(p);
  *out = shape;
  return true;
}

/* type = dtype shape */
bool tn_parser_type(tn_graph_parser *p, tn_type *out) {
  return tn_parser_dtype(p, &out->dtype) && read_shape(p, &out->shape);
}

/* numbers = "[" [ integer { "," integer } ] "]" , at most `limit` */
static bool read_numbers(tn_graph_parser *p, int limit, int64_t *out, int *count) {
  *count = 0;
  if (!tn_parser_expect(p, '[', "a list is expected here: [0, 1]")) return false;
  while (!tn_parser_is(p, ']')) {
    if (*count > 0 && !tn_parser_expect(p, ',', "a comma or ] is expected here")) return false;
    if (*count == limit) return tn_parser_fail(p, p->token.at, "too many numbers");
    if (!read_i64(p, &out[(*count)++])) return false;
  }
  tn_parser_advance(p);
  return true;
}

static bool read_small(tn_graph_parser *p, int32_t *out) {
  tn_span at = p->token.at;
  int64_t number;
  if (!read_i64(p, &number)) return false;
  if (number < INT32_MIN || number > INT32_MAX) return tn_parser_fail(p, at, "the number is too large");
  *out = (int32_t)number;
  return true;
}

static bool read_small_numbers(tn_graph_parser *p, int limit, int32_t *out, int32_t *count) {
  tn_span at = p->token.at;
  int64_t numbers[TN_RANK_LIMIT];
  int found;
  if (!read_numbers(p, limit, numbers, &found)) return false;
  for (int i = 0; i < found; i++) {
    if (numbers[i] < INT32_MIN || numbers[i] > INT32_MAX)
      return tn_parser_fail(p, at, "a number is too large");
    out[i] = (int32_t)numbers[i];
  }
  *count = found;
  return true;
}

/* ---- literals ---- */

/* A number or, for what JSON has no number for, a string: "NaN". Every element is read as its
 * own dtype, so that it is rounded once. */
static bool read_element(tn_graph_parser *p, tn_dtype dtype, void *at) {
  tn_str text = p->token.text;
  float f32;
  bool ok = false;
  switch (dtype) {
    case TN_F32: ok = tn_number_parse_f32(text, at); break;
    case TN_F64: ok = tn_number_parse_f64(text, at); break;
    case TN_I64: ok = tn_number_parse_i64(text, at); break;
    case TN_I32: {
      int64_t number;
      ok = tn_number_parse_i64(text, &number) && number >= INT32_MIN && number <= INT32_MAX;
      if (ok) *(int32_t *)at = (int32_t)number;
      break;
    }
    case TN_BOOL:
      ok = tn_str_is(text, "true") || tn_str_is(text, "false");
      *(uint8_t *)at = tn_str_is(text, "true");
      break;
    case TN_BF16:
    case TN_F16:
      ok = tn_number_parse_f32(text, &f32);
      if (ok) *(uint16_t *)at = dtype == TN_BF16 ? tn_bf16_from_f32(f32) : tn_f16_from_f32(f32);
      break;
    case TN_DTYPE_COUNT: break;
  }
  bool word = p->token.kind == TN_TOKEN_WORD || p->token.kind == TN_TOKEN_STRING;
  if (!ok || !word) return tn_parser_fail(p, p->token.at, "an element of the literal is expected here");
  tn_parser_advance(p);
  return true;
}

static bool read_elements(tn_graph_parser *p, tn_view *view, int64_t count) {
  char *at = view->data;
  size_t size = tn_dtype_bytes(view->dtype);
  for (int64_t i = 0; i < count; i++) {
    if (i > 0 && !tn_parser_expect(p, ',', "the literal has too few elements")) return false;
    if (!read_element(p, view->dtype, at + (size_t)i * size)) return false;
  }
  return tn_parser_expect(p, ']', "the literal ends here: it has no more elements");
}

/* literal = type "[" [ element { "," element } ] "]" , row-major. Every element takes a byte of
 * text at least, so that no more memory is allocated than text is there. */
static bool read_literal(tn_graph_parser *p, tn_tensor *out) {
  tn_span at = p->token.at;
  tn_type type;
  if (out->buffer) return tn_parser_fail(p, at, "a second literal");
  if (!tn_parser_type(p, &type)) return false;
  int64_t count = tn_shape_count(&type.shape);
  if (count < 0) return tn_parser_fail(p, at, "the shape of a literal is known");
  if (!tn_parser_expect(p, '[', "the elements of the literal belong here")) return false;
  if ((uint64_t)count > p->text.len) return tn_parser_fail(p, at, "the literal has too few elements");
  if (!tn_tensor_new(p->heap, type.dtype, &type.shape, out)) return tn_parser_no_memory(p);
  if (!read_elements(p, &out->view, count)) return false;
  tn_view_canonicalise(&out->view);
  return true;
}

/* ---- attributes ---- */

static bool read_flag(tn_graph_parser *p, bool *out) {
  *out = tn_parser_is_word(p, "true");
  if (!*out && !tn_parser_is_word(p, "false"))
    return tn_parser_fail(p, p->token.at, "true or false is expected here");
  tn_parser_advance(p);
  return true;
}

static bool read_name(tn_graph_parser *p, tn_name *out) {
  tn_token token = p->token;
  if (token.kind != TN_TOKEN_STRING) return tn_parser_fail(p, token.at, "a text in quotes is expected here");
  *out = tn_parser_string(p, token);
  tn_parser_advance(p);
  return *out != 0;
}

static bool read_places(tn_graph_parser *p, int64_t *out) {
  int count;
  return read_numbers(p, TN_RANK_LIMIT, out, &count);
}

static bool read_window(tn_graph_parser *p, int32_t *out) {
  tn_span at = p->token.at;
  int32_t count = 0;
  if (!read_small_numbers(p, 2, out, &count)) return false;
  return count == 2 || tn_parser_fail(p, at, "a window has a height and a width");
}

static bool read_attr(tn_graph_parser *p, tn_attr_set which, bool argument, tn_attrs *out,
                      tn_tensor *literal) {
  switch (which) {
    case TN_ATTR_DTYPE: return tn_parser_dtype(p, &out->dtype);
    case TN_ATTR_SHAPE: return read_shape(p, &out->shape);
    case TN_ATTR_AXIS: return read_small(p, &out->axis);
    case TN_ATTR_AXES: return read_small_numbers(p, TN_RANK_LIMIT, out->axes, &out->axis_count);
    case TN_ATTR_KEEPDIMS: return read_flag(p, &out->keepdims);
    case TN_ATTR_LOW: return read_places(p, out->low);
    case TN_ATTR_HIGH: return read_places(p, out->high);
    case TN_ATTR_STEP: return read_places(p, out->step);
    case TN_ATTR_WINDOW: return read_window(p, out->window);
    case TN_ATTR_NUMBER: return tn_parser_number(p, &out->number);
    case TN_ATTR_INDEX: return read_index(p, &out->index);
    case TN_ATTR_NAME: return read_name(p, argument ? &out->argument : &out->name);
    case TN_ATTR_REVERSE: return read_flag(p, &out->reverse);
    case TN_ATTR_EXCLUSIVE: return read_flag(p, &out->exclusive);
    case TN_ATTR_SAME: return read_flag(p, &out->same);
    case TN_ATTR_CAUSAL: return read_flag(p, &out->causal);
    case TN_ATTR_LITERAL: return read_literal(p, literal);
    case TN_ATTR_REGIONS:
    case TN_ATTR_PROGRAM: break;
  }
  return false;
}

static const struct {
  const char *key;
  tn_attr_set which;
} keys[] = {
  { "dtype", TN_ATTR_DTYPE },   { "shape", TN_ATTR_SHAPE },       { "axis", TN_ATTR_AXIS },
  { "axes", TN_ATTR_AXES },     { "keepdims", TN_ATTR_KEEPDIMS }, { "low", TN_ATTR_LOW },
  { "high", TN_ATTR_HIGH },     { "step", TN_ATTR_STEP },         { "window", TN_ATTR_WINDOW },
  { "number", TN_ATTR_NUMBER }, { "index", TN_ATTR_INDEX },       { "name", TN_ATTR_NAME },
  { "argument", TN_ATTR_NAME }, { "reverse", TN_ATTR_REVERSE },   { "exclusive", TN_ATTR_EXCLUSIVE },
  { "same", TN_ATTR_SAME },     { "causal", TN_ATTR_CAUSAL },     { "value", TN_ATTR_LITERAL },
};

static bool read_key(tn_graph_parser *p, tn_op op, tn_attr_set *which, bool *argument) {
  tn_token key = p->token;
  for (size_t i = 0; key.kind == TN_TOKEN_WORD && i < sizeof keys / sizeof *keys; i++) {
    if (!tn_str_is(key.text, keys[i].key)) continue;
    *which = keys[i].which;
    *argument = tn_str_is(key.text, "argument");
    if (!(tn_op_sig_of(op)->attrs & *which)) {
      return tn_parser_fail(p, key.at, "the operation has no such attribute");
    }
    tn_parser_advance(p);
    return tn_parser_expect(p, '=', "an attribute has a value: axis=0");
  }
  return tn_parser_fail(p, key.at, "the name of an attribute is expected here");
}

/* The default of an attribute. */
static tn_attrs left_out(tn_op op) {
  tn_attrs attrs = { 0 };
  if (tn_op_sig_of(op)->attrs & TN_ATTR_AXES) attrs.axis_count = -1;
  for (int i = 0; op == TN_OP_SLICE && i < TN_RANK_LIMIT; i++) attrs.high[i] = INT64_MAX;
  return attrs;
}

/* attrs = [ "{" [ key "=" value { "," key "=" value } ] "}" ] */
bool tn_parser_attrs(tn_graph_parser *p, tn_op op, tn_attrs *out, tn_tensor *literal) {
  bool first = true, argument = false;
  tn_attr_set which = TN_ATTR_DTYPE;
  *out = left_out(op);
  if (!tn_parser_take(p, '{')) return true;
  while (!tn_parser_is(p, '}')) {
    if (!first && !tn_parser_expect(p, ',', "a comma or } is expected here")) return false;
    if (!read_key(p, op, &which, &argument) || !read_attr(p, which, argument, out, literal)) return false;
    first = false;
  }
  tn_parser_advance(p);
  if (literal->buffer) out->literal = literal;
  return true;
}
