/* lang/mind/parser_type.c: types as they are written. */
#include "lang/mind/parser.h"

/* dim = INT | NAME */
static bool parse_dim(tn_mind_parser *p, tn_mind_annotation *type) {
  int64_t dim;
  if (p->token.kind == TN_MIND_TOKEN_INT) {
    if (p->token.too_big) return tn_mind_begin_panic(p);
    dim = p->token.integer > (uint64_t)TN_ELEMENT_LIMIT ? TN_ELEMENT_LIMIT + 1 : (int64_t)p->token.integer;
  } else if (p->token.kind == TN_MIND_TOKEN_NAME) {
    dim = TN_DIM_SYMBOL(p->token.name);
  } else {
    return tn_mind_syntax(p, "expected a dimension: a number or a name");
  }
  if (type->rank < TN_RANK_LIMIT) {
    type->shape.dim[type->rank] = dim;
    type->shape.rank = (int32_t)type->rank + 1;
  }
  type->rank++;
  tn_mind_advance(p);
  return true;
}

/* dims = dim | "(" [ dim { "," dim } [ "," ] ] ")" | "[" ... "]" */
static bool parse_dims(tn_mind_parser *p, tn_mind_annotation *type) {
  int close = p->token.kind == '(' ? ')' : p->token.kind == '[' ? ']' : 0;
  if (!close) return parse_dim(p, type);
  tn_mind_advance(p);
  while (!p->panic && p->token.kind != close) {
    if (!parse_dim(p, type)) return false;
    if (!tn_mind_accept(p, ',')) break;
  }
  return tn_mind_expect(p, close, close == ')' ? "expected `,` or `)`" : "expected `,` or `]`");
}

/* `Tensor<f32,[2]>= 0`: the sign is two here. */
static void split_greater_equal(tn_mind_parser *p) {
  if (p->token.kind != TN_MIND_TOKEN_GE) return;
  p->token.kind = '=';
  p->token.start++;
  p->last_end = p->token.start;
}

/* tensor<f32[2,3]> has no comma. */
static bool parse_comma(tn_mind_parser *p) {
  if (p->token.kind == '[') return true;
  if (p->token.kind == ',' || p->panic) return tn_mind_accept(p, ',');
  return tn_mind_syntax(p, "expected `,` after the dtype: Tensor[f32,(2,3)]");
}

/* tensor = ( "Tensor" | "tensor" ) ( "[" | "<" ) dtype ( "," dims | "[" ... "]" ) ( "]" | ">" ) */
static bool parse_tensor_type(tn_mind_parser *p, tn_mind_annotation *type) {
  int close = tn_mind_accept(p, '[') ? ']' : '>';
  type->form = TN_MIND_WRITTEN_TENSOR;
  if (close == '>' && !tn_mind_expect(p, '<', "expected `[`: Tensor[f32,(2,3)]")) return false;
  if (!tn_mind_parse_word(p, &type->word, "expected a dtype")) return false;
  if (!parse_comma(p) || !parse_dims(p, type)) return false;
  if (close == '>' && !p->panic && p->token.kind == TN_MIND_TOKEN_GE) {
    split_greater_equal(p);
    return true;
  }
  return tn_mind_expect(p, close, close == ']' ? "expected `]`" : "expected `>`");
}

/* types = "(" [ type { "," type } ] ")" */
static bool parse_types(tn_mind_parser *p, tn_mind_annotation *type) {
  tn_mind_annotation **end = &type->items;
  if (!tn_mind_open(p, '(', "expected a type")) return false;
  while (!p->panic && p->token.kind != ')') {
    *end = tn_mind_parse_type(p);
    if (!*end) return false;
    end = &(*end)->next;
    type->rank++;
    if (!tn_mind_accept(p, ',')) break;
  }
  return tn_mind_close(p, ')', "expected `,` or `)`");
}

/* tuple = types */
static bool parse_tuple_type(tn_mind_parser *p, tn_mind_annotation *type) {
  type->form = TN_MIND_WRITTEN_TUPLE;
  return parse_types(p, type);
}

/* function = "fn" types "->" type */
static bool parse_fn_type(tn_mind_parser *p, tn_mind_annotation *type) {
  type->form = TN_MIND_WRITTEN_FN;
  if (!tn_mind_enter(p, tn_mind_token_span(p))) return false; /* its result may be a function, too */
  tn_mind_advance(p);
  if (!parse_types(p, type)) return false;
  if (!tn_mind_expect(p, TN_MIND_TOKEN_ARROW, "expected `->` and the type of the result")) return false;
  type->result = tn_mind_parse_type(p);
  tn_mind_leave(p);
  return type->result != NULL;
}

static bool is_tensor_word(const tn_mind_parser *p) {
  tn_str word = { p->text.at + p->token.start, p->token.end - p->token.start };
  return tn_str_is(word, "Tensor") || tn_str_is(word, "tensor");
}

static int bracket_step(int kind) {
  if (kind == '[' || kind == '(' || kind == '<') return 1;
  return kind == ']' || kind == ')' || kind == '>' ? -1 : 0;
}

/* Tensr[f32,(2)]: the checker says that there is no such type; what its brackets hold does not matter. */
static bool skip_brackets(tn_mind_parser *p, tn_mind_annotation *type) {
  int nest = 0;
  type->form = TN_MIND_WRITTEN_UNKNOWN;
  do {
    if (p->token.kind == TN_MIND_TOKEN_END || p->token.kind == '=')
      return tn_mind_syntax(p, "expected the end of the type");
    nest += bracket_step(p->token.kind);
    tn_mind_advance(p);
  } while (nest > 0);
  return true;
}

static bool parse_word_type(tn_mind_parser *p, tn_mind_annotation *type) {
  bool tensor = is_tensor_word(p);
  if (!tn_mind_parse_word(p, &type->word, "expected a type")) return false;
  if (!tensor) return bracket_step(p->token.kind) <= 0 || p->token.kind == '(' || skip_brackets(p, type);
  if (!parse_tensor_type(p, type)) return false;
  return !tn_mind_accept(p, '@') || tn_mind_parse_word(p, &type->device, "expected a device: cpu or gpu");
}

/* type = NAME | tensor [ "@" NAME ] | tuple | function */
tn_mind_annotation *tn_mind_parse_type(tn_mind_parser *p) {
  tn_mind_annotation *type = tn_arena_new(p->arena, tn_mind_annotation);
  if (!type) {
    tn_mind_begin_panic(p);
    return NULL;
  }
  type->start = p->token.start;
  bool ok = p->token.kind == '('                 ? parse_tuple_type(p, type)
            : p->token.kind == TN_MIND_TOKEN_FN ? parse_fn_type(p, type)
                                                : parse_word_type(p, type);
  type->end = p->last_end;
  return ok ? type : NULL;
}
