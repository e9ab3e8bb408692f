/* lang/mind/parser_expression.c: expressions. */
#include "base/number.h"
#include "lang/mind/parser.h"

/* `left` becomes the leftmost part of `node`. */
static tn_mind_node *lean(tn_mind_node *node, tn_mind_node *left) {
  node->left = left;
  left->up = node;
  return node;
}

/* ---- primary expressions ---- */

static tn_str token_text(const tn_mind_parser *p) {
  return (tn_str){ p->text.at + p->token.start, p->token.end - p->token.start };
}

/* What was too large has been reported; it stays an expression, so that reading continues. */
static tn_mind_node *bad_number(tn_mind_parser *p, tn_mind_node *node) {
  p->failed = true;
  node->kind = TN_MIND_BAD;
  tn_mind_advance(p);
  return tn_mind_ended(p, node);
}

/* The minus before an integer belongs to it when it decides whether it fits. */
static tn_mind_node *parse_integer(tn_mind_parser *p, uint32_t start, bool negative) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_NUMBER, start);
  uint64_t size = p->token.integer;
  if (p->token.too_big) return bad_number(p, node);
  if (!negative && size > INT64_MAX) {
    tn_report(p->diags, TN_DIAG_E1001, tn_mind_token_span(p),
              TN_STR("message", "this integer does not fit i64"));
    return bad_number(p, node);
  }
  node->integer = negative ? (int64_t)(0 - size) : (int64_t)size;
  tn_mind_advance(p);
  return tn_mind_ended(p, node);
}

static tn_mind_node *parse_float(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_NUMBER, p->token.start);
  tn_str text = token_text(p);
  char *digits = tn_arena_alloc(p->arena, text.len);
  node->is_float = true;
  if (digits) {
    size_t count = tn_mind_digits(text, digits, text.len);
    tn_number_parse_f64((tn_str){ digits, count }, &node->number);
  }
  tn_mind_advance(p);
  return tn_mind_ended(p, node);
}

static void keep_text(tn_mind_parser *p, tn_str text) {
  tn_mind_text *kept = tn_arena_new(p->arena, tn_mind_text);
  if (!kept) return; /* the arena says so */
  *kept = (tn_mind_text){ text, p->unit->texts };
  p->unit->texts = kept;
}

static tn_mind_node *parse_string(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_STRING, p->token.start);
  node->text = tn_mind_unescape(token_text(p), p->arena);
  keep_text(p, node->text);
  tn_mind_advance(p);
  return tn_mind_ended(p, node);
}

/* Items up to a closing bracket, with a comma at the end if one likes. */
static tn_mind_node_list parse_items(tn_mind_parser *p, int close, bool *comma) {
  tn_mind_node_list items = { 0 };
  *comma = false;
  while (!p->panic && p->token.kind != close) {
    tn_mind_append(&items, tn_mind_parse_expression(p));
    *comma = tn_mind_accept(p, ',');
    if (!*comma) break;
  }
  return items;
}

/* parens = "(" expr ")" | "(" [ expr "," { expr "," } [ expr ] ] ")" */
static tn_mind_node *parse_parens(tn_mind_parser *p) {
  uint32_t start = p->token.start;
  bool comma;
  if (!tn_mind_open(p, '(', "expected `(`")) return tn_mind_bad(p);
  p->inside++;
  tn_mind_node_list items = parse_items(p, ')', &comma);
  p->inside--;
  if (!tn_mind_close(p, ')', items.count ? "expected `,` or `)`" : "expected an expression or `)`"))
    return tn_mind_bad(p);
  if (items.count == 1 && !comma) {
    items.first->from = start;
    items.first->to = p->last_end;
    items.first->in_parens = true;
    return items.first;
  }
  tn_mind_node *node = tn_mind_make(p, TN_MIND_TUPLE, start);
  node->list.items = items.first;
  node->list.count = items.count;
  return tn_mind_ended(p, node);
}

/* list = "[" [ expr { "," expr } [ "," ] ] "]" */
static tn_mind_node *parse_list(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_LIST, p->token.start);
  bool comma;
  if (!tn_mind_open(p, '[', "expected `[`")) return tn_mind_bad(p);
  p->inside++;
  tn_mind_node_list items = parse_items(p, ']', &comma);
  p->inside--;
  tn_mind_close(p, ']', "expected `,` or `]`");
  node->list.items = items.first;
  node->list.count = items.count;
  return tn_mind_ended(p, node);
}

static tn_mind_node *parse_name(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_NAME, p->token.start);
  node->name.name = p->token.name;
  node->name.earlier = p->unit->words;
  if (node != &p->spare) p->unit->words = node;
  tn_mind_advance(p);
  return tn_mind_ended(p, node);
}

/* ---- if ---- */

/* branch = [ "if" ] expr block */
static tn_mind_branch *parse_branch(tn_mind_parser *p, bool has_condition) {
  tn_mind_branch *branch = tn_arena_new(p->arena, tn_mind_branch);
  if (!branch) {
    tn_mind_begin_panic(p);
    return NULL;
  }
  if (has_condition) {
    if (!tn_mind_enter(p, tn_mind_token_span(p)))
      return NULL; /* an if in a condition nests without a bracket */
    branch->condition = tn_mind_parse_expression(p);
    tn_mind_leave(p);
  }
  return tn_mind_parse_block(p, &branch->block) ? branch : NULL;
}

/* if = "if" expr block { "else" "if" expr block } [ "else" block ] */
static tn_mind_node *parse_if(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_IF, p->token.start);
  tn_mind_branch **end = &node->branch.branches;
  bool has_condition = true;
  tn_mind_advance(p);
  while (!p->panic) {
    *end = parse_branch(p, has_condition);
    if (!*end) return tn_mind_ended(p, node);
    end = &(*end)->next;
    if (!has_condition || !tn_mind_accept(p, TN_MIND_TOKEN_ELSE)) break;
    has_condition = tn_mind_accept(p, TN_MIND_TOKEN_IF);
    node->branch.has_else = !has_condition;
  }
  return tn_mind_ended(p, node);
}

/* ---- closures ---- */

tn_mind_param *tn_mind_parse_params(tn_mind_parser *p, int close, bool typed, uint32_t *count) {
  tn_mind_param *params = NULL;
  uint32_t room = 0;
  for (*count = 0; !p->panic && p->token.kind != close;) {
    params = tn_mind_grown(p, params, *count, &room, sizeof *params);
    if (!params || !tn_mind_parse_word(p, &params[*count].word, "expected the name of a parameter"))
      return NULL;
    params[*count].annotation = NULL;
    if (typed && p->token.kind != ':') tn_mind_syntax(p, "expected `:` and the parameter's type");
    if (tn_mind_accept(p, ':')) params[*count].annotation = tn_mind_parse_type(p);
    (*count)++;
    if (!tn_mind_accept(p, ',')) break;
  }
  return params;
}

/* body = block | expr */
static tn_mind_node *parse_body(tn_mind_parser *p) {
  if (p->panic || p->token.kind != '{') return tn_mind_parse_expression(p);
  tn_mind_node *node = tn_mind_make(p, TN_MIND_BODY, p->token.start);
  tn_mind_parse_block(p, &node->block);
  return tn_mind_ended(p, node);
}

/* closure = "|" [ NAME [ ":" type ] { "," ... } ] "|" body, where no parameters may be written || */
static tn_mind_node *parse_closure(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_CLOSURE, p->token.start);
  if (!tn_mind_enter(p, tn_mind_token_span(p))) return tn_mind_bad(p);
  if (!tn_mind_accept(p, TN_MIND_TOKEN_OR)) {
    tn_mind_advance(p);
    node->closure.params = tn_mind_parse_params(p, '|', false, &node->closure.count);
    tn_mind_expect(p, '|', "expected `,` or `|`");
  }
  node->closure.body = parse_body(p);
  tn_mind_leave(p);
  return tn_mind_ended(p, node);
}

static tn_mind_node *parse_truth(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_TRUTH, p->token.start);
  node->op = p->token.kind == TN_MIND_TOKEN_TRUE;
  tn_mind_advance(p);
  return tn_mind_ended(p, node);
}

/* The second sign of `**`. */
static bool is_power(const tn_mind_parser *p) {
  return p->token.kind == '*' && p->last_end == p->token.start && p->last_end > p->last_start &&
         p->text.at[p->last_start] == '*';
}

static tn_mind_node *parse_primary(tn_mind_parser *p) {
  if (p->panic) return tn_mind_bad(p);
  switch (p->token.kind) {
    case TN_MIND_TOKEN_NAME: return parse_name(p);
    case TN_MIND_TOKEN_INT: return parse_integer(p, p->token.start, false);
    case TN_MIND_TOKEN_FLOAT: return parse_float(p);
    case TN_MIND_TOKEN_STRING: return parse_string(p);
    case TN_MIND_TOKEN_TRUE:
    case TN_MIND_TOKEN_FALSE: return parse_truth(p);
    case TN_MIND_TOKEN_IF: return parse_if(p);
    case '(': return parse_parens(p);
    case '[': return parse_list(p);
    case '|':
    case TN_MIND_TOKEN_OR: return parse_closure(p);
    default: break;
  }
  if (is_power(p))
    tn_mind_syntax_hint(p, "there is no operator `**`", "a power is written `pow(x, y)`");
  else
    tn_mind_syntax(p, "expected an expression");
  return tn_mind_bad(p);
}

/* ---- what follows an expression ---- */

/* arg = [ NAME "=" ] expr */
static tn_mind_node *parse_argument(tn_mind_parser *p, bool *named) {
  tn_mind_word keyword = { 0 };
  if (!p->panic && p->token.kind == TN_MIND_TOKEN_NAME && tn_mind_peek(p) == '=') {
    keyword = tn_mind_word_here(p);
    *named = true;
    tn_mind_advance(p);
    tn_mind_advance(p);
  } else if (*named) {
    tn_mind_syntax(p, "positional arguments precede named ones");
  }
  tn_mind_node *node = tn_mind_parse_expression(p);
  node->keyword = keyword;
  return node;
}

/* call = "(" [ arg { "," arg } [ "," ] ] ")" */
static tn_mind_node *parse_call(tn_mind_parser *p, tn_mind_node *left) {
  tn_mind_node *node = lean(tn_mind_make(p, TN_MIND_CALL, left->from), left);
  tn_mind_node_list args = { 0 };
  bool named = false;
  if (!tn_mind_open(p, '(', "expected `(`")) return node;
  p->inside++;
  while (!p->panic && p->token.kind != ')') {
    tn_mind_append(&args, parse_argument(p, &named));
    if (!tn_mind_accept(p, ',')) break;
  }
  p->inside--;
  node->call.close = p->token.start;
  tn_mind_close(p, ')', "expected `,` or `)`");
  node->call.args = args.first;
  node->call.count = args.count;
  node->call.earlier = p->unit->calls;
  if (node != &p->spare) p->unit->calls = node;
  return tn_mind_ended(p, node);
}

/* index = "[" expr { "," expr } "]" */
static tn_mind_node *parse_index(tn_mind_parser *p, tn_mind_node *left) {
  tn_mind_node *node = lean(tn_mind_make(p, TN_MIND_INDEX, left->from), left);
  bool comma;
  if (!tn_mind_open(p, '[', "expected `[`")) return node;
  p->inside++;
  tn_mind_node_list items = parse_items(p, ']', &comma);
  p->inside--;
  if (!items.count) tn_mind_syntax(p, "expected an index");
  node->call.close = p->token.start;
  tn_mind_close(p, ']', "expected `,` or `]`");
  node->call.args = items.first;
  node->call.count = items.count;
  return tn_mind_ended(p, node);
}

/* field = "." ( NAME | INT ) */
static tn_mind_node *parse_field(tn_mind_parser *p, tn_mind_node *left) {
  tn_mind_node *node = lean(tn_mind_make(p, TN_MIND_FIELD, left->from), left);
  tn_mind_advance(p);
  if (p->token.kind == TN_MIND_TOKEN_INT && !p->token.too_big && p->token.integer <= INT32_MAX) {
    node->field.word = (tn_mind_word){ 0, p->token.start, p->token.end };
    node->field.index = (int64_t)p->token.integer;
    tn_mind_advance(p);
  } else {
    tn_mind_parse_word(p, &node->field.word, "expected a name or a number after the point");
    node->field.earlier = p->unit->words;
    if (node != &p->spare) p->unit->words = node;
  }
  return tn_mind_ended(p, node);
}

/* postfix = primary { call | index | field } */
static tn_mind_node *parse_postfix_of(tn_mind_parser *p, tn_mind_node *node) {
  while (tn_mind_goes_on(p)) {
    if (p->token.kind == '(')
      node = parse_call(p, node);
    else if (p->token.kind == '[')
      node = parse_index(p, node);
    else if (p->token.kind == '.')
      node = parse_field(p, node);
    else
      break;
  }
  return node;
}

static bool starts_postfix(int kind) { return kind == '(' || kind == '[' || kind == '.'; }

/* The number of the least integer cannot be written without its minus. */
static bool minus_belongs_to_integer(tn_mind_parser *p) {
  if (p->token.kind != '-' || tn_mind_peek(p) != TN_MIND_TOKEN_INT) return false;
  tn_mind_lexer rest = p->lexer;
  rest.diags = NULL;
  rest.names = NULL;
  tn_mind_token after = tn_mind_next(&rest);
  return !starts_postfix(after.kind) || (after.new_line && !p->inside);
}

/* unary = { "-" | "!" } postfix */
static tn_mind_node *parse_unary(tn_mind_parser *p) {
  tn_mind_node *outer = NULL, *inner = NULL, *operand;
  while (!p->panic && (p->token.kind == '-' || p->token.kind == '!') && !minus_belongs_to_integer(p)) {
    tn_mind_node *node = tn_mind_make(p, TN_MIND_UNARY, p->token.start);
    node->op = p->token.kind == '-' ? TN_MIND_NEG : TN_MIND_NOT;
    if (inner)
      lean(inner, node);
    else
      outer = node;
    inner = node;
    tn_mind_advance(p);
  }
  if (!p->panic && p->token.kind == '-') {
    uint32_t start = p->token.start;
    tn_mind_advance(p);
    operand = parse_integer(p, start, true);
  } else {
    operand = parse_postfix_of(p, parse_primary(p));
  }
  if (!outer) return operand;
  lean(inner, operand);
  for (tn_mind_node *node = outer; node != operand; node = node->left) node->end = node->to = operand->to;
  return outer;
}

/* ---- operators ---- */

typedef struct {
  int precedence; /* 0: no operator */
  tn_mind_operator op;
} operator_entry;

static operator_entry operator_of(int kind) {
  switch (kind) {
    case TN_MIND_TOKEN_OR: return (operator_entry){ 1, TN_MIND_OR };
    case TN_MIND_TOKEN_AND: return (operator_entry){ 2, TN_MIND_AND };
    case TN_MIND_TOKEN_EQ: return (operator_entry){ 3, TN_MIND_EQ };
    case TN_MIND_TOKEN_NE: return (operator_entry){ 3, TN_MIND_NE };
    case '<': return (operator_entry){ 3, TN_MIND_LT };
    case TN_MIND_TOKEN_LE: return (operator_entry){ 3, TN_MIND_LE };
    case '>': return (operator_entry){ 3, TN_MIND_GT };
    case TN_MIND_TOKEN_GE: return (operator_entry){ 3, TN_MIND_GE };
    case '+': return (operator_entry){ 4, TN_MIND_ADD };
    case '-': return (operator_entry){ 4, TN_MIND_SUB };
    case '*': return (operator_entry){ 5, TN_MIND_MUL };
    case '/': return (operator_entry){ 5, TN_MIND_DIV };
    case '%': return (operator_entry){ 5, TN_MIND_REM };
    case '@': return (operator_entry){ 5, TN_MIND_MATMUL };
    default: return (operator_entry){ 0, TN_MIND_ADD };
  }
}

int tn_mind_precedence(int token) { return operator_of(token).precedence; }

/* binary = unary { operator unary }, operators of at least this precedence
 * recursion: a level for each precedence; what nests enters. */
static tn_mind_node *parse_binary(tn_mind_parser *p, int least) {
  tn_mind_node *left = parse_unary(p);
  while (tn_mind_goes_on(p)) {
    operator_entry found = operator_of(p->token.kind);
    if (!found.precedence || found.precedence < least) break;
    bool logic = found.op == TN_MIND_AND || found.op == TN_MIND_OR;
    tn_mind_node *node = tn_mind_make(p, logic ? TN_MIND_LOGIC : TN_MIND_BINARY, left->from);
    node->op = (uint8_t)found.op;
    tn_mind_advance(p);
    tn_mind_is_cut_off(p);
    node->right = parse_binary(p, found.precedence + 1);
    node->end = node->to = node->right->to;
    left = lean(node, left);
  }
  return left;
}

tn_mind_node *tn_mind_parse_expression(tn_mind_parser *p) { return parse_binary(p, 1); }
