/* lang/ninth/literals.c: parses (1 2 3), [2 4] and [key->value].
 *
 * A literal is parsed to its final form at once: a tensor with its shape and checked rows, a shape
 * with its variables resolved to slots. */
#include "lang/ninth/compiler.h"
#include "tensor/shape_field.h"

/* ---- data tensors ---- */

typedef tn_vec(float) floats;

typedef struct {
  tn_ninth_compiler *c;
  floats numbers;
  bool wrong; /* has been reported */
} tensor_reader;

static void wrong_token(tensor_reader *r) {
  if (!r->wrong)
    tn_ninth_syntax(r->c->diags, tn_ninth_span(r->c, tn_ninth_peek(r->c, 0)), TN_NINTH_SYNTAX_TENSOR_ITEM);
  r->wrong = true;
}

/* Skips a bracket too deep for a tensor to its end, to see whether it is too deep for a text too. */
static void skip_deep(tensor_reader *r, int depth) {
  tn_ninth_compiler *c = r->c;
  const tn_ninth_token *first = tn_ninth_peek(c, 0);
  int deepest = depth, level = depth - 1;
  for (; tn_ninth_peek(c, 0)->kind != TN_NINTH_TOKEN_END; c->at++) {
    if (tn_ninth_peek(c, 0)->kind == TN_NINTH_TOKEN_OPEN) level++;
    if (tn_ninth_peek(c, 0)->kind == TN_NINTH_TOKEN_CLOSE) level--;
    if (level > deepest) deepest = level;
    if (level < depth) break;
  }
  if (tn_ninth_peek(c, 0)->kind == TN_NINTH_TOKEN_CLOSE)
    c->at++;
  else
    c->program->open = true;
  if ((size_t)deepest + c->open.count > TN_NINTH_DEPTH_LIMIT)
    tn_ninth_too_deep(c, first);
  else if (!r->wrong) {
    tn_report(c->diags, TN_DIAG_E_RANK_LIMIT, tn_ninth_span(c, first), TN_INT("rank", deepest),
              TN_INT("limit", TN_RANK_LIMIT));
  }
  r->wrong = true;
}

static void ragged(tensor_reader *r, tn_span at, const tn_shape *first, const tn_shape *row) {
  if (!r->wrong) {
    tn_report(r->c->diags, TN_DIAG_E_SHAPE_MISMATCH, at, tn_shape_field("left", first, NULL, TN_SHAPE_SPACE),
              tn_shape_field("right", row, NULL, TN_SHAPE_SPACE));
  }
  r->wrong = true;
}

static bool read_row(tensor_reader *r, int depth, tn_shape *shape);

/* An item: a number or a row. */
static bool read_item(tensor_reader *r, int depth, tn_shape *shape) {
  tn_ninth_compiler *c = r->c;
  const tn_ninth_token *token = tn_ninth_peek(c, 0);
  *shape = TN_SCALAR_SHAPE;
  switch ((tn_ninth_token_kind)token->kind) {
    case TN_NINTH_TOKEN_NUMBER:
      if (!tn_vec_push(c->heap, &r->numbers, tn_ninth_number(tn_ninth_text(c, token)))) tn_ninth_no_memory(c);
      break;
    case TN_NINTH_TOKEN_OPEN: return read_row(r, depth + 1, shape);
    case TN_NINTH_TOKEN_BAD: r->wrong = true; break;
    case TN_NINTH_TOKEN_END: c->program->open = true; return false;
    default: wrong_token(r); break;
  }
  c->at++;
  return !c->out_of_memory;
}

/* row := "(" (number | row)* ")", all items of one shape. False at the end of the text.
 * recursion: TN_RANK_LIMIT deep. */
static bool read_row(tensor_reader *r, int depth, tn_shape *shape) {
  tn_ninth_compiler *c = r->c;
  tn_shape first = TN_SCALAR_SHAPE, item;
  int64_t count = 0;
  if (depth > TN_RANK_LIMIT) {
    skip_deep(r, depth);
    return !c->stop;
  }
  for (c->at++; tn_ninth_peek(c, 0)->kind != TN_NINTH_TOKEN_CLOSE; count++) {
    const tn_ninth_token *start = tn_ninth_peek(c, 0);
    if (!read_item(r, depth, &item)) return false;
    if (count == 0)
      first = item;
    else if (!tn_shape_equal(&first, &item)) {
      tn_span at = tn_ninth_span(c, start);
      ragged(r, tn_span_join(at, tn_ninth_span(c, &c->tokens[c->at - 1])), &first, &item);
    }
  }
  c->at++;
  *shape = (tn_shape){ .rank = first.rank + 1, .dim = { count } };
  for (int i = 0; i < first.rank && i + 1 < TN_RANK_LIMIT; i++) shape->dim[i + 1] = first.dim[i];
  return true;
}

static void keep_tensor(tensor_reader *r, const tn_shape *shape, tn_span at) {
  tn_ninth_compiler *c = r->c;
  tn_tensor tensor;
  if (!tn_tensor_new(c->heap, TN_F32, shape, &tensor)) {
    tn_ninth_no_memory(c);
    return;
  }
  for (size_t i = 0; i < r->numbers.count; i++) ((float *)tensor.view.data)[i] = r->numbers.at[i];
  if (!tn_vec_push(c->heap, &c->program->tensors, tensor)) {
    tn_tensor_unref(&tensor);
    tn_ninth_no_memory(c);
    return;
  }
  tn_ninth_emit(c, TN_NINTH_CODE_TENSOR, (uint32_t)c->program->tensors.count - 1, at);
}

void tn_ninth_read_tensor(tn_ninth_compiler *c) {
  tensor_reader r = { .c = c };
  tn_span start = tn_ninth_span(c, tn_ninth_peek(c, 0));
  tn_shape shape;
  bool closed = read_row(&r, 1, &shape);
  if (!closed && !r.wrong && !c->out_of_memory) {
    tn_ninth_syntax(c->diags, start, TN_NINTH_SYNTAX_ROUND);
  }
  tn_span end = tn_ninth_span(c, &c->tokens[c->at - 1]);
  if (closed && !r.wrong) keep_tensor(&r, &shape, tn_span_join(start, end));
  tn_vec_free(c->heap, &r.numbers);
}

/* ---- shapes ---- */

typedef tn_vec(tn_ninth_dim) dims;

static bool number_dim(tn_ninth_compiler *c, const tn_ninth_token *token, tn_ninth_dim *dim) {
  bool fits = false;
  *dim = (tn_ninth_dim){ .kind = TN_NINTH_DIM_FIXED };
  if (!tn_ninth_integer(tn_ninth_text(c, token), &dim->number, &fits)) {
    return tn_ninth_syntax(c->diags, tn_ninth_span(c, token), TN_NINTH_SYNTAX_SHAPE_NUMBER);
  }
  return fits ||
         tn_report(c->diags, TN_DIAG_E_TOO_LARGE, tn_ninth_span(c, token), TN_STR("what", "a dimension"),
                   TN_INT("limit", TN_ELEMENT_LIMIT), TN_TEXT("requested", tn_ninth_text(c, token)));
}

static bool read_dim(tn_ninth_compiler *c, const tn_ninth_token *token, tn_ninth_dim *dim) {
  switch ((tn_ninth_token_kind)token->kind) {
    case TN_NINTH_TOKEN_NUMBER: return number_dim(c, token, dim);
    case TN_NINTH_TOKEN_NAME:
      *dim = (tn_ninth_dim){ .kind = TN_NINTH_DIM_SLOT, .arg = tn_ninth_slot(c, tn_ninth_name(c, token)) };
      return true;
    case TN_NINTH_TOKEN_STATE:
      *dim = (tn_ninth_dim){ .kind = TN_NINTH_DIM_STATE, .arg = tn_ninth_name(c, token) };
      return true;
    case TN_NINTH_TOKEN_BAD: return false;
    default:
      return tn_ninth_syntax(c->diags, tn_ninth_span(c, token), TN_NINTH_SYNTAX_SHAPE_ITEM);
  }
}

/* Skips from inside square brackets to their end, after a mistake was reported. */
static void skip_brackets(tn_ninth_compiler *c) {
  for (int depth = 1; depth > 0; c->at++) {
    int kind = tn_ninth_peek(c, 0)->kind;
    if (kind == TN_NINTH_TOKEN_END || kind == TN_NINTH_TOKEN_OPCODE || kind == TN_NINTH_TOKEN_BLOCK_CLOSE)
      return;
    if (kind == TN_NINTH_TOKEN_SHAPE_OPEN) depth++;
    if (kind == TN_NINTH_TOKEN_SHAPE_CLOSE) depth--;
  }
}

/* After an item: its comma, if there is one. A comma separates two items. */
static bool skip_comma(tn_ninth_compiler *c) {
  if (tn_ninth_peek(c, 0)->kind != TN_NINTH_TOKEN_COMMA) return true;
  c->at++;
  int kind = tn_ninth_peek(c, 0)->kind;
  if (kind != TN_NINTH_TOKEN_COMMA && kind != TN_NINTH_TOKEN_SHAPE_CLOSE) return true;
  return tn_ninth_syntax(c->diags, tn_ninth_span(c, &c->tokens[c->at - 1]), TN_NINTH_SYNTAX_ITEM_COMMA);
}

/* The items of "[" ... "]" one by one; false when one was wrong or the bracket is not closed. */
typedef bool (*item_reader)(tn_ninth_compiler *c, void *into);
static bool read_items(tn_ninth_compiler *c, item_reader read, void *into) {
  const tn_ninth_token *start = tn_ninth_peek(c, 0);
  for (c->at++; tn_ninth_peek(c, 0)->kind != TN_NINTH_TOKEN_SHAPE_CLOSE;) {
    if (tn_ninth_peek(c, 0)->kind == TN_NINTH_TOKEN_END) {
      c->program->open = true;
      return tn_ninth_syntax(c->diags, tn_ninth_span(c, start), TN_NINTH_SYNTAX_SQUARE);
    }
    if (!read(c, into) || !skip_comma(c)) {
      skip_brackets(c);
      return false;
    }
  }
  c->at++;
  return true;
}

static bool shape_item(tn_ninth_compiler *c, void *into) {
  tn_ninth_dim dim;
  if (tn_ninth_peek(c, 1)->kind == TN_NINTH_TOKEN_ARROW) {
    return tn_ninth_syntax(c->diags, tn_ninth_span(c, tn_ninth_peek(c, 0)), TN_NINTH_SYNTAX_KEY_PLACE);
  }
  if (!read_dim(c, tn_ninth_peek(c, 0), &dim)) return false;
  c->at++;
  if (tn_vec_push(c->heap, (dims *)into, dim)) return true;
  tn_ninth_no_memory(c);
  return false;
}

static void keep_shape(tn_ninth_compiler *c, const dims *read, tn_span at) {
  tn_ninth_shape shape = { .count = (uint32_t)read->count, .fixed = true };
  for (size_t i = 0; i < read->count; i++) shape.fixed &= read->at[i].kind == TN_NINTH_DIM_FIXED;
  shape.dims = tn_arena_copy(&c->program->arena, read->at, read->count * sizeof *read->at);
  if ((read->count > 0 && !shape.dims) || !tn_vec_push(c->heap, &c->program->shapes, shape))
    tn_ninth_no_memory(c);
  else
    tn_ninth_emit(c, TN_NINTH_CODE_SHAPE, (uint32_t)c->program->shapes.count - 1, at);
}

void tn_ninth_read_shape(tn_ninth_compiler *c) {
  dims read = { 0 };
  tn_span start = tn_ninth_span(c, tn_ninth_peek(c, 0));
  if (read_items(c, shape_item, &read)) {
    keep_shape(c, &read, tn_span_join(start, tn_ninth_span(c, &c->tokens[c->at - 1])));
  }
  tn_vec_free(c->heap, &read);
}

/* ---- keys ---- */

typedef struct {
  tn_vec(tn_name) names;
  floats values;
  tn_map given; /* by name */
} keys;

static bool key_item(tn_ninth_compiler *c, void *into) {
  keys *read = into;
  const tn_ninth_token *key = tn_ninth_peek(c, 0), *value = tn_ninth_peek(c, 2);
  if (key->kind != TN_NINTH_TOKEN_NAME || tn_ninth_peek(c, 1)->kind != TN_NINTH_TOKEN_ARROW ||
      value->kind != TN_NINTH_TOKEN_NUMBER) {
    const tn_ninth_token *wrong = key->kind != TN_NINTH_TOKEN_NAME ? key : value;
    return tn_ninth_syntax(c->diags, tn_ninth_span(c, wrong), TN_NINTH_SYNTAX_KEY);
  }
  tn_name name = tn_ninth_name(c, key);
  if (tn_map_get(&read->given, name))
    return tn_ninth_syntax(c->diags, tn_ninth_span(c, key), TN_NINTH_SYNTAX_KEY_TWICE);
  c->at += 3;
  if (tn_map_put(&read->given, name, 1) && tn_vec_push(c->heap, &read->names, name) &&
      tn_vec_push(c->heap, &read->values, tn_ninth_number(tn_ninth_text(c, value)))) {
    return true;
  }
  tn_ninth_no_memory(c);
  return false;
}

bool tn_ninth_read_keys(tn_ninth_compiler *c, tn_ninth_maker *maker) {
  keys read = { 0 };
  tn_arena *arena = &c->program->arena;
  tn_map_init(&read.given, c->heap);
  bool ok = read_items(c, key_item, &read);
  if (ok) {
    maker->count = (uint32_t)read.names.count;
    maker->keys = tn_arena_copy(arena, read.names.at, read.names.count * sizeof(tn_name));
    maker->values = tn_arena_copy(arena, read.values.at, read.values.count * sizeof(float));
    if (arena->failed) tn_ninth_no_memory(c);
  }
  tn_vec_free(c->heap, &read.names);
  tn_vec_free(c->heap, &read.values);
  tn_map_free(&read.given);
  return ok && !c->out_of_memory;
}
