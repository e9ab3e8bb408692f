/* lang/ail/parser.c: parses items, blocks and statements.
 *
 * The parser accepts items in any combination and order: structure.c checks that when all of them
 * are parsed. */
#include "lang/ail/parser.h"

#include <string.h>

/* ---- declarations ---- */

/* A name, a whole number with or without a sign, or what is computed of them. */
static bool take_dim(tn_ail_parser *p, tn_ail_expr *value, tn_ail_dim *out) {
  const tn_ail_expr *number = value;
  bool minus = value->form == TN_AIL_EXPR_NEGATE && value->as.unary.count == 1 && !value->grouped;
  if (minus) number = value->as.unary.of;
  out->at = value->at;
  switch (number->grouped ? TN_AIL_EXPR_CHAIN : (tn_ail_form)number->form) {
    case TN_AIL_EXPR_NUMBER:
      out->length = minus ? -number->as.number.integer : number->as.number.integer;
      if (number->is_integer) return true;
      return tn_ail_syntax_error(p, number->at, "a dimension is a name or a whole number");
    case TN_AIL_EXPR_NAME:
      if (minus)
        out->value = value;
      else
        out->name = number->as.name;
      return true;
    case TN_AIL_EXPR_CHAIN:
    case TN_AIL_EXPR_NEGATE: out->value = value; return true;
    default: return tn_ail_syntax_error(p, value->at, "a dimension is a name, a whole number or `2 * D`");
  }
}

/* dim = constant, where a name that is no constant stands alone */
static bool parse_dim(tn_ail_parser *p) {
  tn_ail_dim dim = { .at = tn_ail_token_span(p, &p->token) };
  if (tn_ail_at(p, TN_AIL_TOKEN_NAME) && tn_ail_word_is_reserved(p->token.word)) { /* `in` is a name here */
    dim.name = tn_ail_name_of(p, &p->token);
    tn_ail_advance(p);
    tn_ail_add(p, dims, dim);
    return true;
  }
  bool begins = tn_ail_at(p, TN_AIL_TOKEN_NAME) || tn_ail_at(p, TN_AIL_TOKEN_NUMBER) ||
                tn_ail_at(p, TN_AIL_TOKEN_MINUS) || tn_ail_at(p, TN_AIL_TOKEN_OPEN);
  if (!begins) return tn_ail_expected(p, "a dimension: a name or a whole number");
  tn_ail_expr *value = tn_ail_parse_constant(p);
  if (!value || p->panic || !take_dim(p, value, &dim)) return false;
  tn_ail_add(p, dims, dim);
  return true;
}

/* shape = "[" [ dim { "," dim } ] "]" */
static bool parse_shape(tn_ail_parser *p, tn_ail_statement *out) {
  size_t first = p->dims.count;
  if (!tn_ail_expect(p, TN_AIL_TOKEN_OPEN_LIST, "a shape")) return false;
  tn_ail_rule around = tn_ail_begin(p, TN_AIL_RULE_SHAPE);
  p->brackets++;
  bool ok = tn_ail_at(p, TN_AIL_TOKEN_CLOSE_LIST) || parse_dim(p);
  while (ok && tn_ail_accept(p, TN_AIL_TOKEN_COMMA)) ok = parse_dim(p);
  if (ok) {
    p->brackets--;
    ok = tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_LIST, "`,` or `]` in the shape");
  }
  p->rule = around;
  out->dims = tn_ail_take(p, dims, first, &out->rank);
  return ok;
}

/* declaration = [ "input" ] name [ ":" ] shape | "param" name [ ":" ] shape [ "init" name [ arguments ] ] */
static bool at_declaration(const tn_ail_parser *p) {
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME)) return false;
  bool word = tn_ail_at_word(p, TN_AIL_WORD_INPUT) || tn_ail_at_word(p, TN_AIL_WORD_PARAM);
  if (word && p->next.kind == TN_AIL_TOKEN_NAME) return true;
  return p->next.kind == TN_AIL_TOKEN_OPEN_LIST || p->next.kind == TN_AIL_TOKEN_COLON;
}

static bool parse_start(tn_ail_parser *p, tn_ail_statement *out) {
  if (out->kind == TN_AIL_INPUT)
    return tn_ail_syntax_error(p, tn_ail_token_span(p, &p->token), "only a param has an `init`");
  tn_ail_advance(p);
  out->init = tn_ail_parse_init(p);
  return !p->panic;
}

static bool parse_declaration(tn_ail_parser *p, tn_ail_statement *out) {
  uint32_t start = p->token.start;
  bool param = tn_ail_at_word(p, TN_AIL_WORD_PARAM), input = tn_ail_at_word(p, TN_AIL_WORD_INPUT);
  *out = (tn_ail_statement){ .kind = TN_AIL_INPUT };
  if ((param || input) && p->next.kind == TN_AIL_TOKEN_NAME) {
    out->kind = param ? TN_AIL_PARAM : TN_AIL_INPUT;
    out->keyword = true;
    tn_ail_advance(p);
  }
  out->name = tn_ail_expect_name(p, "the name of an input", &out->name_at);
  tn_ail_accept(p, TN_AIL_TOKEN_COLON);
  bool ok = parse_shape(p, out);
  if (ok && tn_ail_at_word(p, TN_AIL_WORD_INIT) && p->next.kind == TN_AIL_TOKEN_NAME)
    ok = parse_start(p, out);
  out->at = tn_ail_span_from(p, start);
  return ok;
}

/* const = "const" name "=" constant */
static bool at_const(const tn_ail_parser *p) {
  return tn_ail_at_word(p, TN_AIL_WORD_CONST) && p->next.kind == TN_AIL_TOKEN_NAME;
}

static bool parse_const(tn_ail_parser *p, tn_ail_statement *out) {
  uint32_t start = p->token.start;
  *out = (tn_ail_statement){ .kind = TN_AIL_CONSTANT };
  p->rule = TN_AIL_RULE_CONST;
  tn_ail_advance(p);
  out->name = tn_ail_expect_name(p, "the name of a constant", &out->name_at);
  if (tn_ail_expect(p, TN_AIL_TOKEN_ASSIGN, "`=` after the name of the constant"))
    out->value = tn_ail_parse_constant(p);
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

/* ---- statements ---- */

/* [ "let" ] name "=" expr */
static bool at_assignment(const tn_ail_parser *p) {
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME)) return false;
  if (tn_ail_at_word(p, TN_AIL_WORD_LET) && p->next.kind == TN_AIL_TOKEN_NAME) return true;
  return p->next.kind == TN_AIL_TOKEN_ASSIGN;
}

static bool parse_assignment(tn_ail_parser *p, tn_ail_place place, tn_ail_statement *out) {
  uint32_t start = p->token.start;
  bool let = tn_ail_at_word(p, TN_AIL_WORD_LET) && p->next.kind == TN_AIL_TOKEN_NAME;
  *out = (tn_ail_statement){ .kind = let ? TN_AIL_LET : TN_AIL_ASSIGN };
  if (let) tn_ail_advance(p);
  out->name = tn_ail_expect_name(p, "a name after `let`", &out->name_at);
  if (!let && (place == TN_AIL_IN_FORWARD || place == TN_AIL_IN_STATE)) {
    tn_ail_syntax_error(p, out->name_at,
                        place == TN_AIL_IN_STATE ? "a binding in a state needs `let`"
                                                 : "a binding in a forward block needs `let`");
    p->panic = p->tree->lost; /* its meaning is clear enough to continue */
  }
  if (tn_ail_expect(p, TN_AIL_TOKEN_ASSIGN, "`=`")) out->value = tn_ail_parse_expr(p);
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

static bool parse_return(tn_ail_parser *p, tn_ail_statement *out) {
  uint32_t start = p->token.start;
  *out = (tn_ail_statement){ .kind = TN_AIL_RETURN, .name_at = tn_ail_token_span(p, &p->token) };
  tn_ail_advance(p);
  out->value = tn_ail_parse_expr(p);
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

/* emit = "emit" expr in a state, "emit" name in a handler */
static bool parse_emit(tn_ail_parser *p, tn_ail_place place, tn_ail_statement *out) {
  uint32_t start = p->token.start;
  *out = (tn_ail_statement){ .kind = TN_AIL_EMIT };
  tn_ail_advance(p);
  if (place == TN_AIL_IN_HANDLER)
    out->name = tn_ail_expect_name(p, "the name of an event after `emit`", &out->name_at);
  else
    out->value = tn_ail_parse_expr(p);
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

static bool parse_value(tn_ail_parser *p, tn_ail_statement *out) {
  uint32_t start = p->token.start;
  *out = (tn_ail_statement){ .kind = TN_AIL_VALUE, .name_at = tn_ail_token_span(p, &p->token) };
  out->value = tn_ail_parse_expr(p);
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

static const char *what_belongs(tn_ail_place place) {
  switch (place) {
    case TN_AIL_IN_MODEL: return "an input, a param or an assignment";
    case TN_AIL_IN_FORWARD: return "an input, a param, `let` or `return`";
    case TN_AIL_IN_LOSS: return "`let` or `return`";
    case TN_AIL_IN_HANDLER: return "an assignment, `let` or `emit`";
    default: return "`let`, `emit`, a transition or `end`"; /* in a state; a function takes any value */
  }
}

/* What belongs to the program and not into a function: train { ... }, param W [2]. */
static bool is_foreign(const tn_ail_parser *p) {
  bool declares = tn_ail_at_word(p, TN_AIL_WORD_PARAM) || tn_ail_at_word(p, TN_AIL_WORD_INPUT) ||
                  tn_ail_at_word(p, TN_AIL_WORD_CONST);
  return p->next.kind == TN_AIL_TOKEN_OPEN_BLOCK || (declares && p->next.kind == TN_AIL_TOKEN_NAME);
}

/* A layer declares params; what goes into it are its arguments. */
static bool parse_layer_param(tn_ail_parser *p, tn_ail_statement *out) {
  tn_span at = tn_ail_token_span(p, &p->token);
  if (!parse_declaration(p, out)) return false;
  if (out->kind == TN_AIL_PARAM) return true;
  return tn_ail_syntax_error(p, at, "a layer declares params; what goes into it is an argument");
}

static bool parse_one(tn_ail_parser *p, tn_ail_place place, tn_ail_statement *out) {
  bool main_block = place == TN_AIL_IN_MODEL || place == TN_AIL_IN_FORWARD;
  bool function = place == TN_AIL_IN_FUNCTION || place == TN_AIL_IN_LAYER;
  if (tn_ail_refuse_foreign(p)) return false;
  if (main_block && at_const(p)) return parse_const(p, out);
  if (main_block && at_declaration(p)) return parse_declaration(p, out);
  if (place == TN_AIL_IN_LAYER && at_declaration(p)) return parse_layer_param(p, out);
  if (at_assignment(p)) return parse_assignment(p, place, out);
  bool returns = place == TN_AIL_IN_FORWARD || place == TN_AIL_IN_LOSS || function;
  if (returns && tn_ail_at_word(p, TN_AIL_WORD_RETURN)) return parse_return(p, out);
  bool emits = place == TN_AIL_IN_HANDLER || place == TN_AIL_IN_STATE;
  if (emits && tn_ail_at_word(p, TN_AIL_WORD_EMIT)) return parse_emit(p, place, out);
  if (function && is_foreign(p)) {
    return tn_ail_syntax_error(p, tn_ail_token_span(p, &p->token),
                               "blocks and declarations are not allowed in functions");
  }
  if (function) return parse_value(p, out);
  return tn_ail_expected(p, what_belongs(place));
}

void tn_ail_parse_statement(tn_ail_parser *p, tn_ail_place place) {
  tn_ail_statement statement = { .kind = TN_AIL_BROKEN };
  p->statement = p->token.start;
  p->rule = (tn_ail_rule)(TN_AIL_RULE_MODEL + (int)place);
  if (!parse_one(p, place, &statement)) {
    tn_ail_recover(p);
    /* An assignment whose value is broken still says that the name exists. */
    bool names =
        statement.kind == TN_AIL_ASSIGN || statement.kind == TN_AIL_LET || statement.kind == TN_AIL_CONSTANT;
    if (!names || statement.name == 0) statement.kind = TN_AIL_BROKEN;
    if (!names) tn_ail_mark(p, statement.name, TN_AIL_NAME_SKIPPED);
    statement.value = NULL;
  }
  tn_ail_add(p, statements, statement);
  while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON)) {
  }
}

bool tn_ail_parse_block(tn_ail_parser *p, tn_ail_place place, uint32_t keyword_start, tn_ail_block *out) {
  size_t first = p->statements.count;
  out->keyword_at = (tn_span){ p->file, keyword_start, p->read_to };
  if (!tn_ail_expect(p, TN_AIL_TOKEN_OPEN_BLOCK, "`{`") || !tn_ail_enter(p, "the block")) return false;
  uint32_t around = p->block;
  p->block = keyword_start + 1;
  p->by_lines = place == TN_AIL_IN_FUNCTION || place == TN_AIL_IN_LAYER;
  while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON)) {
  }
  while (!tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) && !tn_ail_at(p, TN_AIL_TOKEN_END) && !tn_ail_at_item(p)) {
    tn_ail_parse_statement(p, place);
  }
  p->by_lines = false;
  p->block = around;
  out->statements = tn_ail_take(p, statements, first, &out->count);
  out->close_at = tn_ail_token_span(p, &p->token);
  tn_ail_expect_end(p);
  out->at = tn_ail_span_from(p, keyword_start);
  tn_ail_leave(p);
  p->panic = p->tree->lost; /* the next item begins here, whether or not the } was there */
  return true;
}

/* ---- fields of train, eval and dataset ---- */

static bool at_stage(const tn_ail_parser *p) {
  bool word = tn_ail_at_word(p, TN_AIL_WORD_MAP) || tn_ail_at_word(p, TN_AIL_WORD_FILTER) ||
              tn_ail_at_word(p, TN_AIL_WORD_BATCH);
  return word && p->next.kind != TN_AIL_TOKEN_ASSIGN;
}

/* stage = ("map" | "filter") call | "batch" expr */
static bool parse_stage(tn_ail_parser *p, tn_ail_field *out) {
  uint32_t start = p->token.start;
  tn_ail_word word = p->token.word;
  out->name_at = tn_ail_token_span(p, &p->token);
  out->kind = word == TN_AIL_WORD_MAP      ? TN_AIL_FIELD_MAP
              : word == TN_AIL_WORD_FILTER ? TN_AIL_FIELD_FILTER
                                           : TN_AIL_FIELD_BATCH;
  tn_ail_advance(p);
  out->value = tn_ail_parse_expr(p);
  bool call = out->value && out->value->form == TN_AIL_EXPR_CALL && !out->value->grouped;
  if (word != TN_AIL_WORD_BATCH && !call && !p->panic) {
    tn_span at = out->value ? out->value->at : out->name_at;
    tn_ail_syntax_error(p, at, "a stage names a function and a column, as in `map scale(tokens)`");
  }
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

/* A condition or a loop where a field should begin has codes of its own. */
static bool refuse_control(tn_ail_parser *p, const char *block) {
  tn_span at = tn_ail_token_span(p, &p->token);
  bool loop = !tn_ail_at_word(p, TN_AIL_WORD_IF);
  tn_ail_may_report(p); /* nothing is wrong so far, so it may */
  tn_report(p->host->diags, loop ? TN_DIAG_E_LOOP_NOT_ALLOWED_IN_BLOCK : TN_DIAG_E_IF_NOT_ALLOWED_IN_BLOCK,
            at, TN_STR("block", block));
  for (int open = 0; loop && !tn_ail_at(p, TN_AIL_TOKEN_END) && !tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK);) {
    if (tn_ail_at_word(p, TN_AIL_WORD_DO)) open++;
    bool last = tn_ail_at_word(p, TN_AIL_WORD_END) && --open <= 0;
    tn_ail_advance(p);
    if (last) break;
  }
  if (loop) p->panic = p->tree->lost; /* all of it has been skipped */
  return false;
}

static bool at_control(const tn_ail_parser *p) {
  switch (p->token.word) {
    case TN_AIL_WORD_IF:
    case TN_AIL_WORD_FOR:
    case TN_AIL_WORD_REPEAT:
    case TN_AIL_WORD_REDUCE: return p->next.kind != TN_AIL_TOKEN_ASSIGN;
    default: return false;
  }
}

/* field = name "=" ( expr | list ) */
static bool parse_field(tn_ail_parser *p, const char *block, tn_ail_field *out) {
  uint32_t start = p->token.start;
  if (strcmp(block, "dataset") == 0 && at_stage(p)) return parse_stage(p, out);
  if (at_control(p)) return refuse_control(p, block);
  if (tn_ail_refuse_foreign(p)) return false;
  out->kind = TN_AIL_FIELD;
  out->name = tn_ail_expect_name(p, "a field", &out->name_at);
  if (tn_ail_expect(p, TN_AIL_TOKEN_ASSIGN, "`=` after the name of the field")) {
    out->value = tn_ail_parse_field_value(p);
  }
  out->at = tn_ail_span_from(p, start);
  return !p->panic;
}

static void parse_fields(tn_ail_parser *p, const char *block, tn_ail_item_kind kind) {
  tn_ail_fields *fields = tn_arena_new(p->arena, tn_ail_fields);
  size_t first = p->fields.count;
  uint32_t start = p->token.start;
  if (!fields) {
    p->failed = true;
    return;
  }
  fields->short_word = tn_ail_at_word(p, TN_AIL_WORD_DATA);
  fields->keyword_at = tn_ail_token_span(p, &p->token);
  tn_ail_advance(p);
  tn_ail_advance(p); /* the { */
  if (!tn_ail_enter(p, "the block")) return;
  uint32_t around = p->block;
  p->block = start + 1;
  while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON) || tn_ail_accept(p, TN_AIL_TOKEN_COMMA)) {
  }
  while (!tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK) && !tn_ail_at(p, TN_AIL_TOKEN_END) && !tn_ail_at_item(p)) {
    tn_ail_field field = { 0 };
    p->statement = p->token.start;
    p->rule = TN_AIL_RULE_FIELD;
    if (!parse_field(p, block, &field)) {
      if (p->panic) tn_ail_recover(p);
      field.kind = TN_AIL_FIELD_BROKEN;
      field.value = NULL;
    }
    tn_ail_add(p, fields, field);
    while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON) || tn_ail_accept(p, TN_AIL_TOKEN_COMMA)) {
    }
  }
  p->block = around;
  fields->fields = tn_ail_take(p, fields, first, &fields->count);
  fields->close_at = tn_ail_token_span(p, &p->token);
  tn_ail_expect_end(p);
  fields->at = tn_ail_span_from(p, start);
  tn_ail_leave(p);
  p->panic = p->tree->lost;
  tn_ail_item item = { .kind = kind, .at = fields->at, .as.fields = fields };
  tn_ail_add(p, items, item);
}

/* ---- items ---- */

static bool is_block_word(tn_ail_word word) {
  switch (word) {
    case TN_AIL_WORD_MODEL:
    case TN_AIL_WORD_FORWARD:
    case TN_AIL_WORD_LOSS:
    case TN_AIL_WORD_TRAIN:
    case TN_AIL_WORD_EVAL:
    case TN_AIL_WORD_DATASET:
    case TN_AIL_WORD_DATA:
    case TN_AIL_WORD_STATE: return true;
    default: return false;
  }
}

static bool at_item_word(const tn_ail_parser *p) {
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME) || !p->token.starts_line) return false;
  if (is_block_word(p->token.word)) return p->next.kind == TN_AIL_TOKEN_OPEN_BLOCK;
  bool named = tn_ail_at_word(p, TN_AIL_WORD_FN) || tn_ail_at_word(p, TN_AIL_WORD_STATE_MACHINE) ||
               tn_ail_at_word(p, TN_AIL_WORD_APP);
  if (tn_ail_at_word(p, TN_AIL_WORD_LAYER) && !p->next.starts_line) named = true;
  return named && p->next.kind == TN_AIL_TOKEN_NAME;
}

static uint32_t indentation(const tn_ail_parser *p, uint32_t at) {
  uint32_t start = at;
  while (start > 0 && p->lexer.text.at[start - 1] != '\n') start--;
  uint32_t end = start;
  while (end < at && (p->lexer.text.at[end] == ' ' || p->lexer.text.at[end] == '\t')) end++;
  return end - start;
}

/* A line further in than the block around it was meant to be part of that block. */
bool tn_ail_at_item(const tn_ail_parser *p) {
  if (!at_item_word(p)) return false;
  return p->block == 0 || indentation(p, p->token.start) <= indentation(p, p->block - 1);
}

static void parse_main(tn_ail_parser *p, tn_ail_place place, tn_ail_item_kind kind) {
  tn_ail_block *block = tn_arena_new(p->arena, tn_ail_block);
  uint32_t start = p->token.start;
  if (!block) {
    p->failed = true;
    return;
  }
  tn_ail_advance(p);
  if (!tn_ail_parse_block(p, place, start, block)) return;
  tn_ail_item item = { .kind = kind, .at = block->at, .as.block = block };
  tn_ail_add(p, items, item);
}

/* function = ( "fn" | "layer" ) name "(" [ name { "," name } ] ")" block */
static bool parse_signature(tn_ail_parser *p, tn_ail_function *out) {
  size_t first = p->params.count;
  p->rule = TN_AIL_RULE_SIGNATURE;
  tn_ail_advance(p);
  out->name = tn_ail_expect_name(p, "the name of the function", &out->name_at);
  bool ok = tn_ail_expect(p, TN_AIL_TOKEN_OPEN, "`(` after the name of the function");
  while (ok && !tn_ail_at(p, TN_AIL_TOKEN_CLOSE)) {
    tn_ail_parameter param = { 0 };
    param.name = tn_ail_expect_name(p, "the name of a parameter", &param.at);
    tn_ail_add(p, params, param);
    ok = param.name != 0 && (tn_ail_accept(p, TN_AIL_TOKEN_COMMA) || tn_ail_at(p, TN_AIL_TOKEN_CLOSE) ||
                             tn_ail_expected(p, "`,` or `)` after the parameter"));
  }
  if (ok) tn_ail_advance(p); /* the ) */
  out->params = tn_ail_take(p, params, first, &out->param_count);
  return ok;
}

static bool parse_function(tn_ail_parser *p) {
  tn_ail_function *function = tn_arena_new(p->arena, tn_ail_function);
  uint32_t start = p->token.start;
  if (!function) {
    p->failed = true;
    return false;
  }
  function->is_layer = tn_ail_at_word(p, TN_AIL_WORD_LAYER);
  tn_ail_place place = function->is_layer ? TN_AIL_IN_LAYER : TN_AIL_IN_FUNCTION;
  if (!parse_signature(p, function) || !tn_ail_parse_block(p, place, start, &function->body)) {
    tn_ail_mark(p, function->name, TN_AIL_NAME_SKIPPED);
    return false;
  }
  tn_ail_item item = { .kind = TN_AIL_ITEM_FUNCTION, .at = function->body.at, .as.function = function };
  tn_ail_add(p, items, item);
  return true;
}

static bool keep_statement(tn_ail_parser *p, tn_ail_item_kind kind, const tn_ail_statement *statement) {
  tn_ail_item item = { .kind = kind, .at = statement->at };
  item.as.statement = tn_ail_keep(p, statement, 1, sizeof *statement);
  tn_ail_add(p, items, item);
  return true;
}

static bool parse_top_const(tn_ail_parser *p) {
  tn_ail_statement statement;
  bool ok = parse_const(p, &statement);
  if (statement.name == 0) return false;
  if (!ok) statement.value = NULL;
  keep_statement(p, TN_AIL_ITEM_CONST, &statement);
  return ok;
}

static bool parse_top_declaration(tn_ail_parser *p) {
  tn_ail_statement statement;
  if (parse_declaration(p, &statement)) return keep_statement(p, TN_AIL_ITEM_DECLARATION, &statement);
  tn_ail_mark(p, statement.name, TN_AIL_NAME_SKIPPED);
  return false;
}

static bool parse_item(tn_ail_parser *p);

/* Skips to where an item can begin again, after `start`: a name at the start of a line, outside of
 * blocks. A block that is not understood goes as a whole. */
static void recover_item(tn_ail_parser *p, uint32_t start, bool in_app) {
  int blocks = 0;
  for (; !tn_ail_at(p, TN_AIL_TOKEN_END); tn_ail_advance(p)) {
    if (blocks <= 0 && p->token.start != start && p->token.starts_line && tn_ail_at(p, TN_AIL_TOKEN_NAME))
      break;
    if (blocks == 0 && in_app && tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK)) break;
    if (tn_ail_at(p, TN_AIL_TOKEN_OPEN_BLOCK)) blocks++;
    if (tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK)) blocks--;
    if (tn_ail_at(p, TN_AIL_TOKEN_NAME)) tn_ail_mark(p, tn_ail_name_of(p, &p->token), TN_AIL_NAME_SKIPPED);
  }
  p->brackets = p->lists = p->constants = 0;
  p->panic = p->tree->lost;
}

static void parse_items(tn_ail_parser *p, bool in_app) {
  while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON)) {
  }
  /* An item that got no memory may not have read anything. */
  while (!p->failed && !tn_ail_at(p, TN_AIL_TOKEN_END) &&
         !(in_app && tn_ail_at(p, TN_AIL_TOKEN_CLOSE_BLOCK))) {
    uint32_t start = p->token.start;
    p->rule = TN_AIL_RULE_ITEM;
    if (!parse_item(p)) recover_item(p, start, in_app);
    while (tn_ail_accept(p, TN_AIL_TOKEN_SEMICOLON)) {
    }
  }
}

/* app = "app" name "{" { item } "}" */
static bool parse_app(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  tn_ail_item begin = { .kind = TN_AIL_ITEM_APP_BEGIN }, end = { .kind = TN_AIL_ITEM_APP_END };
  tn_span name_at;
  p->rule = TN_AIL_RULE_APP;
  tn_ail_advance(p);
  begin.as.app = tn_ail_expect_name(p, "the name of the app", &name_at);
  if (!tn_ail_expect(p, TN_AIL_TOKEN_OPEN_BLOCK, "`{` after the name of the app")) return false;
  if (!tn_ail_enter(p, "the app")) return false;
  p->panic = p->tree->lost; /* a missing name does not keep what is in it from being read */
  begin.at = tn_ail_span_from(p, start);
  tn_ail_add(p, items, begin);
  parse_items(p, true);
  end.at = tn_ail_token_span(p, &p->token);
  tn_ail_add(p, items, end);
  tn_ail_leave(p);
  return tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_BLOCK, "`}` at the end of the app");
}

static bool unknown_item(tn_ail_parser *p) {
  const tn_str known[] = { TN_LIT("const"), TN_LIT("fn"),      TN_LIT("input"), TN_LIT("param"),
                           TN_LIT("model"), TN_LIT("forward"), TN_LIT("loss"),  TN_LIT("train"),
                           TN_LIT("eval"),  TN_LIT("dataset"), TN_LIT("data"),  TN_LIT("state_machine"),
                           TN_LIT("state"), TN_LIT("on"),      TN_LIT("app"),   TN_LIT("layer") };
  if (!tn_ail_at(p, TN_AIL_TOKEN_NAME)) return tn_ail_expected(p, "a block, a function or a declaration");
  tn_str meant = tn_str_suggest(tn_ail_token_text(p, &p->token), known, sizeof known / sizeof known[0]);
  if (meant.len == 0 || tn_str_equal(meant, tn_ail_token_text(p, &p->token))) {
    return tn_ail_expected(p, "a block, a function or a declaration");
  }
  tn_text message;
  tn_text_init(&message, p->host->heap);
  tn_text_puts(&message, "`");
  tn_text_add(&message, meant);
  tn_text_puts(&message, "` or another block");
  tn_ail_expected(p, message.failed ? "a block" : message.at);
  tn_text_free(&message);
  return false;
}

static bool parse_block_item(tn_ail_parser *p) {
  switch (p->token.word) {
    case TN_AIL_WORD_MODEL: parse_main(p, TN_AIL_IN_MODEL, TN_AIL_ITEM_MODEL); break;
    case TN_AIL_WORD_FORWARD: parse_main(p, TN_AIL_IN_FORWARD, TN_AIL_ITEM_FORWARD); break;
    case TN_AIL_WORD_LOSS: parse_main(p, TN_AIL_IN_LOSS, TN_AIL_ITEM_LOSS); break;
    case TN_AIL_WORD_TRAIN: parse_fields(p, "train", TN_AIL_ITEM_TRAIN); break;
    case TN_AIL_WORD_EVAL: parse_fields(p, "eval", TN_AIL_ITEM_EVAL); break;
    case TN_AIL_WORD_STATE: tn_ail_parse_state_block(p); break;
    default: parse_fields(p, "dataset", TN_AIL_ITEM_DATASET); break;
  }
  return true;
}

static bool parse_item(tn_ail_parser *p) {
  if (is_block_word(p->token.word) && p->next.kind == TN_AIL_TOKEN_OPEN_BLOCK) return parse_block_item(p);
  if (tn_ail_refuse_foreign(p)) return false;
  if (at_const(p)) return parse_top_const(p);
  if (at_declaration(p)) return parse_top_declaration(p);
  switch (p->token.word) {
    case TN_AIL_WORD_CONST: return parse_top_const(p);
    case TN_AIL_WORD_FN:
    case TN_AIL_WORD_LAYER: return parse_function(p);
    case TN_AIL_WORD_STATE_MACHINE: tn_ail_parse_state_machine(p); return !p->panic;
    case TN_AIL_WORD_ON: tn_ail_parse_handler(p); return !p->panic;
    case TN_AIL_WORD_APP: return parse_app(p);
    default: break;
  }
  if (!is_block_word(p->token.word)) return unknown_item(p);
  tn_ail_advance(p);
  return tn_ail_expected(p, "`{`");
}

/* ---- the whole ---- */

static void free_lists(tn_ail_parser *p) {
  tn_heap *heap = p->host->heap;
  tn_vec_free(heap, &p->args);
  tn_vec_free(heap, &p->links);
  tn_vec_free(heap, &p->arms);
  tn_vec_free(heap, &p->exprs);
  tn_vec_free(heap, &p->dims);
  tn_vec_free(heap, &p->statements);
  tn_vec_free(heap, &p->params);
  tn_vec_free(heap, &p->fields);
  tn_vec_free(heap, &p->transitions);
  tn_vec_free(heap, &p->states);
  tn_vec_free(heap, &p->variables);
  tn_vec_free(heap, &p->items);
}

bool tn_ail_parse(tn_host *host, uint32_t file, tn_arena *arena, tn_ail_comments *comments,
                  tn_ail_tree *out) {
  tn_ail_parser p = { .host = host, .arena = arena, .file = file, .tree = out };
  const tn_source *source = tn_sources_get(host->sources, file);
  *out = (tn_ail_tree){ 0 };
  tn_map_init(&out->marks, host->heap);
  if (!source) return false;
  tn_span nul;
  tn_diags_enter(host->diags, TN_PHASE_PARSE);
  if (tn_sources_find_nul(host->sources, file, &nul)) {
    tn_ail_syntax_error(&p, nul, TN_SOURCE_NUL_MESSAGE);
    out->broken = out->lost = true;
    return true;
  }
  tn_ail_lexer_init(&p.lexer, source->text);
  p.lexer.heap = host->heap;
  p.lexer.comments = comments;
  p.token = tn_ail_lexer_next(&p.lexer);
  p.next = tn_ail_lexer_next(&p.lexer);
  parse_items(&p, false);
  uint32_t count;
  out->items = tn_ail_take(&p, items, 0, &count);
  out->count = count;
  free_lists(&p);
  return !p.failed && !p.lexer.failed && !arena->failed;
}

/* A value that nothing follows. */
static tn_ail_expr *parse_whole_value(tn_ail_parser *p) {
  tn_ail_expr *value = tn_ail_parse_field_value(p);
  if (!p->panic && !tn_ail_at(p, TN_AIL_TOKEN_END)) tn_ail_expected(p, "the end of the value");
  return p->panic ? NULL : value;
}

bool tn_ail_parse_value(tn_host *host, uint32_t file, tn_arena *arena, tn_ail_tree *tree, tn_ail_expr **out) {
  tn_ail_parser p = { .host = host, .arena = arena, .file = file, .tree = tree };
  const tn_source *source = tn_sources_get(host->sources, file);
  if (!source) return false;
  tn_ail_lexer_init(&p.lexer, source->text);
  p.lexer.heap = host->heap;
  p.token = tn_ail_lexer_next(&p.lexer);
  p.next = tn_ail_lexer_next(&p.lexer);
  *out = parse_whole_value(&p);
  free_lists(&p);
  return !p.failed && !p.lexer.failed && !arena->failed;
}
