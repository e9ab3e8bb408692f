/* lang/ail/parser_expression.c: parses expressions, by recursive descent.
 *
 *   expr       = and { "or" and }
 *   and        = not { "and" not }
 *   not        = { "not" } comparison
 *   comparison = sum { ("==" | "!=" | "<" | "<=" | ">" | ">=") sum }
 *   sum        = product { ("+" | "-") product }
 *   product    = unary { ("*" | "/") unary } ; "/" among constants
 *   unary      = { "-" } primary
 *
 * Operators in a row become one chain and signs in a row one node, so the depth
 * of the tree is bounded by the nesting limit alone. */
#include <string.h>

#include "base/number.h"
#include "lang/ail/parser.h"

static tn_ail_expr *new_expr(tn_ail_parser *p, tn_ail_form form, uint32_t start) {
  tn_ail_expr *expr = tn_arena_new(p->arena, tn_ail_expr);
  if (!expr) {
    p->failed = true;
    return NULL;
  }
  expr->form = (uint8_t)form;
  expr->at = tn_ail_span_from(p, start);
  return expr;
}

/* Replaces an expression that could not be parsed. It is never used: the enclosing statement is not
 * kept. */
static tn_ail_expr *error_expr(tn_ail_parser *p) { return new_expr(p, TN_AIL_EXPR_NUMBER, p->token.start); }

/* ---- literals ---- */

static tn_ail_expr *parse_number(tn_ail_parser *p) {
  tn_str text = tn_ail_token_text(p, &p->token);
  uint32_t start = p->token.start;
  tn_ail_advance(p);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_NUMBER, start);
  if (!expr) return NULL;
  expr->is_integer = tn_number_parse_i64(text, &expr->as.number.integer);
  if (!expr->is_integer) tn_number_parse_f64(text, &expr->as.number.value);
  expr->as.number.start = start;
  expr->as.number.end = p->read_to;
  return expr;
}

static char unescaped(char letter) {
  switch (letter) {
    case 'n': return '\n';
    case 't': return '\t';
    default: return letter; /* \" and \\ ; any other is itself */
  }
}

static tn_str string_text(tn_ail_parser *p, tn_str quoted) {
  tn_str inner = { quoted.at + 1, quoted.len - 2 };
  if (!memchr(inner.at, '\\', inner.len)) return inner;
  char *out = tn_arena_alloc(p->arena, inner.len);
  size_t len = 0;
  if (!out) return inner;
  for (size_t i = 0; i < inner.len; i++) {
    bool escape = inner.at[i] == '\\' && i + 1 < inner.len;
    out[len++] = escape ? unescaped(inner.at[++i]) : inner.at[i];
  }
  return (tn_str){ out, len };
}

static tn_ail_expr *parse_string(tn_ail_parser *p) {
  tn_str quoted = tn_ail_token_text(p, &p->token);
  uint32_t start = p->token.start;
  tn_ail_advance(p);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_STRING, start);
  if (!expr) return NULL;
  expr->as.text = string_text(p, quoted);
  return expr;
}

static tn_ail_expr *parse_bool(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  bool truth = tn_ail_at_word(p, TN_AIL_WORD_TRUE);
  tn_ail_advance(p);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_BOOL, start);
  if (expr) expr->as.truth = truth;
  return expr;
}

/* literal = [ "-" | "+" ] number | string | "true" | "false" */
tn_ail_expr *tn_ail_parse_literal(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  if (tn_ail_at(p, TN_AIL_TOKEN_STRING)) return parse_string(p);
  if (tn_ail_at_word(p, TN_AIL_WORD_TRUE) || tn_ail_at_word(p, TN_AIL_WORD_FALSE)) return parse_bool(p);
  bool minus = tn_ail_accept(p, TN_AIL_TOKEN_MINUS);
  if (!minus) tn_ail_accept(p, TN_AIL_TOKEN_PLUS);
  if (!tn_ail_at(p, TN_AIL_TOKEN_NUMBER)) {
    tn_ail_expected(p, "a number, a string, true or false");
    return error_expr(p);
  }
  tn_ail_expr *number = parse_number(p);
  if (!minus || !number) return number;
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_NEGATE, start);
  if (expr) expr->as.unary.of = number, expr->as.unary.count = 1;
  return expr;
}

/* ---- lists and references ---- */

/* list = "[" [ expr { "," expr } ] "]" */
static tn_ail_expr *parse_list(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  size_t first = p->exprs.count;
  if (!tn_ail_enter(p, "the list")) return error_expr(p);
  tn_ail_rule around = tn_ail_begin(p, TN_AIL_RULE_LIST);
  tn_ail_advance(p);
  p->lists++, p->brackets++, p->constants++;
  if (!tn_ail_at(p, TN_AIL_TOKEN_CLOSE_LIST)) {
    do {
      tn_ail_expr *item = tn_ail_parse_field_value(p);
      tn_ail_add(p, exprs, item); /* which a list inside has grown meanwhile */
    } while (!p->panic && tn_ail_accept(p, TN_AIL_TOKEN_COMMA));
  }
  p->lists--, p->brackets--, p->constants--;
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE_LIST, "`,` or `]` in the list");
  p->rule = around;
  tn_ail_leave(p);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_LIST, start);
  if (expr) expr->as.list.items = tn_ail_take(p, exprs, first, &expr->as.list.count);
  return expr;
}

/* reference = "@" ( integer | "last" ) */
static tn_ail_expr *parse_reference(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  int64_t index = -1;
  tn_ail_advance(p);
  if (!tn_ail_accept_word(p, TN_AIL_WORD_LAST)) {
    tn_str text = tn_ail_token_text(p, &p->token);
    if (!tn_ail_at(p, TN_AIL_TOKEN_NUMBER) || !tn_number_parse_i64(text, &index)) {
      tn_ail_expected(p, "the number of a dimension or `last` after `@`");
      return error_expr(p);
    }
    tn_ail_advance(p);
  }
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_REFERENCE, start);
  if (expr) expr->as.reference = index;
  return expr;
}

tn_ail_expr *tn_ail_parse_field_value(tn_ail_parser *p) {
  return tn_ail_at(p, TN_AIL_TOKEN_OPEN_LIST) ? parse_list(p) : tn_ail_parse_expr(p);
}

/* ---- names and calls ---- */

/* arg = [ name "=" ] ( expr | list ) */
static void parse_arg(tn_ail_parser *p) {
  tn_ail_arg arg = { 0 };
  if (tn_ail_at(p, TN_AIL_TOKEN_NAME) && p->next.kind == TN_AIL_TOKEN_ASSIGN) {
    arg.key_at = tn_ail_token_span(p, &p->token);
    arg.key = tn_ail_name_of(p, &p->token);
    tn_ail_advance(p);
    tn_ail_advance(p);
  }
  arg.value = tn_ail_parse_field_value(p);
  tn_ail_add(p, args, arg);
}

/* call = name "(" [ arg { "," arg } ] ")" ; the name has been read */
static tn_ail_expr *parse_call(tn_ail_parser *p, tn_name name, tn_span name_at) {
  size_t first = p->args.count;
  if (!tn_ail_enter(p, "the call")) return error_expr(p);
  tn_ail_rule around = tn_ail_begin(p, TN_AIL_RULE_CALL);
  tn_ail_advance(p);
  p->brackets++, p->constants++;
  if (!tn_ail_at(p, TN_AIL_TOKEN_CLOSE)) {
    do {
      parse_arg(p);
    } while (!p->panic && tn_ail_accept(p, TN_AIL_TOKEN_COMMA));
  }
  p->brackets--, p->constants--;
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE, "`,` or `)` in the call");
  p->rule = around;
  tn_ail_leave(p);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_CALL, name_at.start);
  tn_ail_call *call = tn_arena_new(p->arena, tn_ail_call);
  if (!expr || !call) {
    p->failed = true;
    return NULL;
  }
  *call = (tn_ail_call){ .name = name, .name_at = name_at };
  call->args = tn_ail_take(p, args, first, &call->count);
  expr->as.call = call;
  return expr;
}

/* A call's bracket is on the line of its name: a line may begin with another bracket. */
static tn_ail_expr *parse_name(tn_ail_parser *p) {
  tn_span at = tn_ail_token_span(p, &p->token);
  tn_name name = tn_ail_name_of(p, &p->token);
  tn_ail_advance(p);
  if (tn_ail_at(p, TN_AIL_TOKEN_OPEN) && (!p->token.starts_line || p->brackets > 0))
    return parse_call(p, name, at);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_NAME, at.start);
  if (expr) expr->as.name = name;
  return expr;
}

/* group = "(" expr ")" */
static tn_ail_expr *parse_group(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  if (!tn_ail_enter(p, "the expression")) return error_expr(p);
  tn_ail_rule around = tn_ail_begin(p, TN_AIL_RULE_GROUP);
  tn_ail_advance(p);
  p->brackets++;
  tn_ail_expr *expr = tn_ail_parse_expr(p);
  p->brackets--;
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE, "`)`");
  p->rule = around;
  tn_ail_leave(p);
  if (!expr) return NULL;
  expr->grouped = true;
  expr->at = tn_ail_span_from(p, start);
  return expr;
}

/* ---- if ---- */

/* arm = expr "then" expr */
static void parse_arm(tn_ail_parser *p) {
  tn_ail_arm arm = { 0 };
  p->brackets++; /* `then` and `else` tell where things end, not lines */
  arm.condition = tn_ail_parse_expr(p);
  tn_ail_expect_word(p, TN_AIL_WORD_THEN, "`then` after the condition");
  arm.value = tn_ail_parse_expr(p);
  p->brackets--;
  tn_ail_add(p, arms, arm);
}

/* if = "if" arm { "else" "if" arm } "else" expr */
static tn_ail_expr *parse_if(tn_ail_parser *p) {
  uint32_t start = p->token.start;
  size_t first = p->arms.count;
  if (!tn_ail_enter(p, "the `if`")) return error_expr(p);
  tn_ail_rule around = tn_ail_begin(p, TN_AIL_RULE_IF);
  tn_ail_expr *otherwise = NULL;
  while (!p->panic) {
    tn_ail_advance(p);
    parse_arm(p);
    if (!tn_ail_expect_word(p, TN_AIL_WORD_ELSE, "`else`: an `if` has a value either way")) break;
    if (tn_ail_at_word(p, TN_AIL_WORD_IF)) continue;
    otherwise = tn_ail_parse_expr(p);
    break;
  }
  tn_ail_leave(p);
  p->rule = around;
  if (!otherwise) otherwise = error_expr(p);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_IF, start);
  tn_ail_if *branch = tn_arena_new(p->arena, tn_ail_if);
  if (!expr || !branch || !otherwise) {
    p->failed = true;
    return NULL;
  }
  branch->arms = tn_ail_take(p, arms, first, &branch->count);
  branch->otherwise = otherwise;
  expr->as.branch = branch;
  return expr;
}

/* ---- loops ---- */

/* range = "range" "(" expr "," expr ")" */
static void parse_range(tn_ail_parser *p, tn_ail_loop *loop) {
  tn_ail_expect_word(p, TN_AIL_WORD_RANGE, "`range(start, end)`");
  tn_ail_expect(p, TN_AIL_TOKEN_OPEN, "`(` after `range`");
  p->brackets++;
  loop->from = tn_ail_parse_expr(p);
  tn_ail_expect(p, TN_AIL_TOKEN_COMMA, "`,` between the bounds of `range`");
  loop->to = tn_ail_parse_expr(p);
  p->brackets--;
  tn_ail_expect(p, TN_AIL_TOKEN_CLOSE, "`)` after the bounds of `range`");
}

/* body = "do" [ expr ] "end" */
static void parse_body(tn_ail_parser *p, tn_ail_loop *loop) {
  tn_ail_expect_word(p, TN_AIL_WORD_DO, "`do`");
  p->brackets++;
  if (!p->panic && !tn_ail_at_word(p, TN_AIL_WORD_END)) loop->body = tn_ail_parse_expr(p);
  p->brackets--;
  tn_ail_expect_word(p, TN_AIL_WORD_END, "`end` after the body of the loop");
}

/* for = "for" name "in" range body */
static void parse_for(tn_ail_parser *p, tn_ail_loop *loop) {
  loop->variable = tn_ail_expect_name(p, "the name of the loop variable", &loop->variable_at);
  tn_ail_mark(p, loop->variable, TN_AIL_NAME_LOOP_VARIABLE);
  tn_ail_expect_word(p, TN_AIL_WORD_IN, "`in`");
  parse_range(p, loop);
  parse_body(p, loop);
}

/* The first argument is that of the first round; every further round gets the result of the one
 * before. */
static void parse_repeated_call(tn_ail_parser *p, tn_ail_loop *loop) {
  loop->is_short = true;
  loop->body = parse_name(p);
  if (!loop->body || p->panic || p->failed) return;
  const tn_ail_call *call = loop->body->as.call;
  if (call->count > 0 && !call->args[0].key)
    loop->init = call->args[0].value;
  else
    tn_ail_syntax_error(p, loop->body->at, "the first argument is what each round passes on");
}

/* repeat = "repeat" expr ( "times" [ "init" expr ] body | call ) */
static void parse_repeat(tn_ail_parser *p, tn_ail_loop *loop) {
  p->brackets++;
  loop->times = tn_ail_parse_expr(p);
  bool call = tn_ail_at(p, TN_AIL_TOKEN_NAME) && !tn_ail_word_is_reserved(p->token.word) &&
              p->next.kind == TN_AIL_TOKEN_OPEN && !p->token.starts_line;
  if (call && !p->panic) {
    p->brackets--;
    parse_repeated_call(p, loop);
    return;
  }
  tn_ail_expect_word(p, TN_AIL_WORD_TIMES, "`times`, or a call such as `block(x)`");
  if (tn_ail_accept_word(p, TN_AIL_WORD_INIT)) loop->init = tn_ail_parse_expr(p);
  p->brackets--;
  parse_body(p, loop);
}

/* reduce = "reduce" name "over" range body */
static void parse_reduce(tn_ail_parser *p, tn_ail_loop *loop) {
  loop->op = tn_ail_expect_name(p, "`add`, `max` or `min`", &loop->op_at);
  loop->variable = tn_names_intern(p->host->names, TN_LIT("i"));
  loop->variable_at = loop->keyword_at;
  tn_ail_mark(p, loop->variable, TN_AIL_NAME_LOOP_VARIABLE);
  tn_ail_expect_word(p, TN_AIL_WORD_OVER, "`over`");
  parse_range(p, loop);
  parse_body(p, loop);
}

static tn_ail_expr *parse_loop(tn_ail_parser *p, tn_ail_form form) {
  uint32_t start = p->token.start;
  tn_ail_loop *loop = tn_arena_new(p->arena, tn_ail_loop);
  if (!loop) {
    p->failed = true;
    return NULL;
  }
  if (!tn_ail_enter(p, "the loop")) return error_expr(p);
  tn_ail_rule around = tn_ail_begin(p, form == TN_AIL_EXPR_FOR      ? TN_AIL_RULE_FOR
                                       : form == TN_AIL_EXPR_REPEAT ? TN_AIL_RULE_REPEAT
                                                                    : TN_AIL_RULE_REDUCE);
  loop->keyword_at = tn_ail_token_span(p, &p->token);
  tn_ail_advance(p);
  if (form == TN_AIL_EXPR_FOR)
    parse_for(p, loop);
  else if (form == TN_AIL_EXPR_REPEAT)
    parse_repeat(p, loop);
  else
    parse_reduce(p, loop);
  tn_ail_leave(p);
  p->rule = around;
  if (p->panic) return error_expr(p);
  tn_ail_expr *expr = new_expr(p, form, start);
  if (expr) expr->as.loop = loop;
  return expr;
}

/* ---- operators ---- */

/* primary = literal | name | call | group | if | loop ; in a list also a reference or a list */
static tn_ail_expr *parse_primary(tn_ail_parser *p) {
  if (tn_ail_at_statement(p)) {
    tn_ail_value_expected(p);
    return error_expr(p);
  }
  switch (p->token.kind) {
    case TN_AIL_TOKEN_NUMBER: return parse_number(p);
    case TN_AIL_TOKEN_STRING: return parse_string(p);
    case TN_AIL_TOKEN_OPEN: return parse_group(p);
    case TN_AIL_TOKEN_AT:
      if (p->lists > 0) return parse_reference(p);
      break;
    case TN_AIL_TOKEN_NAME:
      switch (p->token.word) {
        case TN_AIL_WORD_TRUE:
        case TN_AIL_WORD_FALSE: return parse_bool(p);
        case TN_AIL_WORD_IF: return parse_if(p);
        case TN_AIL_WORD_FOR: return parse_loop(p, TN_AIL_EXPR_FOR);
        case TN_AIL_WORD_REPEAT: return parse_loop(p, TN_AIL_EXPR_REPEAT);
        case TN_AIL_WORD_REDUCE: return parse_loop(p, TN_AIL_EXPR_REDUCE);
        default: break;
      }
      if (!tn_ail_word_is_reserved(p->token.word)) return parse_name(p);
      break;
    default: break;
  }
  tn_ail_value_expected(p);
  return error_expr(p);
}

static tn_ail_expr *parse_unary(tn_ail_parser *p) {
  uint32_t start = p->token.start, count = 0;
  while (tn_ail_accept(p, TN_AIL_TOKEN_MINUS)) count++;
  tn_ail_expr *of = parse_primary(p);
  if (count == 0 || !of) return of;
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_NEGATE, start);
  if (expr) expr->as.unary.of = of, expr->as.unary.count = count;
  return expr;
}

/* How tightly an operator binds; 0: the token is none. */
enum { NO_OPERATOR, LEVEL_OR, LEVEL_AND, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT };

static int operator_at(const tn_ail_parser *p, tn_ail_operator *op) {
  switch (p->token.kind) {
    case TN_AIL_TOKEN_STAR: *op = TN_AIL_MUL; return LEVEL_PRODUCT;
    case TN_AIL_TOKEN_SLASH:
      *op = TN_AIL_DIV;
      return p->constants > 0 ? LEVEL_PRODUCT : NO_OPERATOR;
    case TN_AIL_TOKEN_PLUS: *op = TN_AIL_ADD; return LEVEL_SUM;
    case TN_AIL_TOKEN_MINUS:
      *op = TN_AIL_SUB;
      return p->by_lines && p->token.starts_line && p->brackets == 0 ? NO_OPERATOR : LEVEL_SUM;
    case TN_AIL_TOKEN_EQ:
    case TN_AIL_TOKEN_NE:
    case TN_AIL_TOKEN_LT:
    case TN_AIL_TOKEN_LE:
    case TN_AIL_TOKEN_GT:
    case TN_AIL_TOKEN_GE:
      *op = (tn_ail_operator)(TN_AIL_EQ + (p->token.kind - TN_AIL_TOKEN_EQ));
      return LEVEL_COMPARISON;
    case TN_AIL_TOKEN_NAME:
      *op = tn_ail_at_word(p, TN_AIL_WORD_OR) ? TN_AIL_OR : TN_AIL_AND;
      if (tn_ail_at_word(p, TN_AIL_WORD_OR)) return LEVEL_OR;
      return tn_ail_at_word(p, TN_AIL_WORD_AND) ? LEVEL_AND : NO_OPERATOR;
    default: return NO_OPERATOR;
  }
}

static tn_ail_expr *parse_operand(tn_ail_parser *p, int level);

static tn_ail_expr *new_chain(tn_ail_parser *p, uint32_t start, tn_ail_expr *first, size_t first_link) {
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_CHAIN, start);
  tn_ail_chain *chain = tn_arena_new(p->arena, tn_ail_chain);
  if (!expr || !chain) {
    p->failed = true;
    return NULL;
  }
  chain->first = first;
  chain->links = tn_ail_take(p, links, first_link, &chain->count);
  expr->as.chain = chain;
  return expr;
}

/* Operators that bind at least as tightly as `least`, after an operand that was read: those of one
 * level in a row become one chain, which is the first operand of the next looser one. */
static tn_ail_expr *parse_operators(tn_ail_parser *p, tn_ail_expr *first, uint32_t start, int least) {
  tn_ail_operator op;
  int level = operator_at(p, &op);
  while (!p->panic && level != NO_OPERATOR && level >= least) {
    int here = level;
    size_t first_link = p->links.count;
    do {
      tn_ail_advance(p);
      tn_ail_link link = { op, NULL };
      link.right = parse_operand(p, here + 1);
      tn_ail_add(p, links, link);
      level = operator_at(p, &op);
    } while (!p->panic && level == here);
    first = new_chain(p, start, first, first_link);
  }
  return first;
}

static tn_ail_expr *parse_not(tn_ail_parser *p) {
  uint32_t start = p->token.start, count = 0;
  while (tn_ail_accept_word(p, TN_AIL_WORD_NOT)) count++;
  tn_ail_expr *of = parse_operand(p, LEVEL_COMPARISON);
  tn_ail_expr *expr = new_expr(p, TN_AIL_EXPR_NOT, start);
  if (expr) expr->as.unary.of = of, expr->as.unary.count = count;
  return expr;
}

/* An operand: everything that binds at least as tightly as `level`.
 * recursion: a call for each level; what nests enters. */
static tn_ail_expr *parse_operand(tn_ail_parser *p, int level) {
  uint32_t start = p->token.start;
  bool negated = level <= LEVEL_COMPARISON && tn_ail_at_word(p, TN_AIL_WORD_NOT);
  tn_ail_expr *first = negated ? parse_not(p) : parse_unary(p);
  return parse_operators(p, first, start, level);
}

tn_ail_expr *tn_ail_parse_expr(tn_ail_parser *p) {
  p->values++;
  tn_ail_expr *expr = parse_operand(p, LEVEL_OR);
  p->values--;
  return expr;
}

/* constant = string | "true" | "false" | [ "+" ] sum */
tn_ail_expr *tn_ail_parse_constant(tn_ail_parser *p) {
  bool text = tn_ail_at(p, TN_AIL_TOKEN_STRING) || tn_ail_at_word(p, TN_AIL_WORD_TRUE) ||
              tn_ail_at_word(p, TN_AIL_WORD_FALSE);
  bool name = tn_ail_at(p, TN_AIL_TOKEN_NAME) && !tn_ail_word_is_reserved(p->token.word);
  bool begins = name || tn_ail_at(p, TN_AIL_TOKEN_OPEN) || tn_ail_at(p, TN_AIL_TOKEN_MINUS);
  if (text || (!begins && !tn_ail_at(p, TN_AIL_TOKEN_NUMBER) && !tn_ail_at(p, TN_AIL_TOKEN_PLUS)))
    return tn_ail_parse_literal(p);
  uint32_t start = p->token.start;
  p->constants++, p->values++;
  tn_ail_expr *first = begins ? parse_unary(p) : tn_ail_parse_literal(p);
  tn_ail_expr *expr = parse_operators(p, first, start, LEVEL_SUM);
  p->constants--, p->values--;
  return expr;
}

tn_ail_expr *tn_ail_parse_init(tn_ail_parser *p) {
  p->constants++, p->values++;
  tn_ail_expr *expr = parse_name(p);
  p->constants--, p->values--;
  return expr;
}
