/* lang/mind/parser.c: tokens become a tree.
 *
 * A descent with one token of look-ahead. Operators of one precedence are read
 * in a loop and lean to the left, so a row of them costs no depth; what nests
 * (brackets, blocks, ifs, closures) is counted against TN_MIND_NESTING_LIMIT.
 *
 * After a mistake the parser is in `panic`: every function returns at once, the
 * statement is given up, and reading goes on at the next statement, so that one
 * run shows all mistakes and none of their consequences. */
#include <string.h>

#include "base/number.h"
#include "lang/mind/ast.h"
#include "lang/mind/lexer.h"

typedef struct {
  char sign; /* the bracket that is open */
  uint32_t at;
} opened;

typedef struct {
  tn_arena *arena;
  tn_names *names;
  tn_name read; /* the library's function of that name opens files */
  tn_diags *diags;
  tn_mind_unit *unit;
  tn_str text;
  tn_mind_lexer lexer;
  tn_mind_token token, ahead;
  bool has_ahead;
  uint32_t last_end; /* of the token before `token` */
  bool panic, failed;
  uint32_t depth;  /* what nests */
  uint32_t inside; /* open ( and [ since the last {: line breaks do not count there */
  opened open[TN_MIND_NESTING_LIMIT + 1];
  uint32_t open_count;
  uint32_t forgiven;  /* braces that a statement given up has left open */
  tn_mind_node spare; /* what is given out when there is no memory */
} parser;

static tn_mind_node *parse_expression(parser *p);
static bool parse_block(parser *p, tn_mind_block *block);
static tn_mind_annotation *parse_type(parser *p);

/* ---- tokens ---- */

static void advance(parser *p) {
  p->last_end = p->token.end;
  if (p->has_ahead) {
    p->token = p->ahead;
    p->has_ahead = false;
  } else {
    tn_mind_read(&p->lexer, &p->token);
  }
}

static int peek(parser *p) {
  if (!p->has_ahead) {
    tn_mind_read(&p->lexer, &p->ahead);
    p->has_ahead = true;
  }
  return p->ahead.kind;
}

static tn_span here(const parser *p) { return tn_mind_at(p->unit, p->token.start, p->token.end); }

static bool begin_panic(parser *p) {
  p->panic = p->failed = true;
  return false;
}

/* A token that is none has been reported by the lexer. */
static bool fail_at(parser *p, tn_span at, const char *message) {
  if (!p->panic && p->token.kind != TN_MIND_TOKEN_BAD) {
    tn_report(p->diags, TN_DIAG_E1001, at, TN_STR("message", message));
  }
  return begin_panic(p);
}

static bool fail(parser *p, const char *message) { return fail_at(p, here(p), message); }

static bool accept(parser *p, int kind) {
  if (p->panic || p->token.kind != kind) return false;
  advance(p);
  return true;
}

static bool expect(parser *p, int kind, const char *message) {
  if (accept(p, kind)) return true;
  return fail(p, message);
}

/* ---- nesting ---- */

static bool too_deep(parser *p, tn_span at) {
  if (!p->panic) tn_report(p->diags, TN_DIAG_E_NESTING_LIMIT, at, TN_INT("limit", TN_MIND_NESTING_LIMIT));
  return begin_panic(p);
}

static bool enter(parser *p, tn_span at) {
  if (!tn_stack_room(&p->diags->arena.heap->stack)) {
    if (!p->panic) tn_report_stack(p->diags, at, NULL);
    return begin_panic(p);
  }
  if (p->depth == TN_MIND_NESTING_LIMIT) return too_deep(p, at);
  p->depth++;
  return true;
}

static void leave(parser *p) { p->depth--; }

/* Takes an opening bracket. */
static bool open_bracket(parser *p, char sign, const char *message) {
  if (p->panic || p->token.kind != sign) return fail(p, message);
  if (!enter(p, here(p))) return false;
  p->open[p->open_count++] = (opened){ sign, p->token.start };
  advance(p);
  return true;
}

/* Takes the closing one; without it, the diagnostic shows where the other stands. */
static bool close_bracket(parser *p, char sign, const char *message) {
  if (p->panic) return false;
  if (p->token.kind != sign) {
    opened *from = &p->open[p->open_count - 1];
    if (p->token.kind != TN_MIND_TOKEN_BAD) {
      tn_report(p->diags, TN_DIAG_E1001, here(p), TN_STR("message", message),
                TN_NOTE(tn_mind_at(p->unit, from->at, from->at + 1), "opened here"));
    }
    return begin_panic(p);
  }
  p->open_count--;
  leave(p);
  advance(p);
  return true;
}

/* ---- nodes ---- */

/* Never NULL: for want of memory a node that nobody will look at, for the parse has failed. */
static tn_mind_node *make(parser *p, tn_mind_kind kind, uint32_t start) {
  tn_mind_node *node = tn_arena_new(p->arena, tn_mind_node);
  if (!node) {
    begin_panic(p);
    p->spare = (tn_mind_node){ 0 };
    node = &p->spare;
  }
  node->kind = (uint8_t)kind;
  node->start = node->from = start;
  return node;
}

/* The node ends with the token before the current one. */
static tn_mind_node *ended(const parser *p, tn_mind_node *node) {
  node->end = node->to = p->last_end;
  return node;
}

static tn_mind_node *bad(parser *p) { return make(p, TN_MIND_BAD, p->token.start); }

/* `left` becomes the leftmost part of `node`. */
static tn_mind_node *lean(tn_mind_node *node, tn_mind_node *left) {
  node->left = left;
  left->up = node;
  return node;
}

/* A list that grows at its end. */
typedef struct {
  tn_mind_node *first, **end;
  uint32_t count;
} node_list;

static void append(node_list *list, tn_mind_node *node) {
  if (!list->end) list->end = &list->first;
  *list->end = node;
  list->end = &node->next;
  list->count++;
}

/* Words, parameters: a few at a time, copied into the arena at the end. */
#define LIST_LIMIT 1000000

static void *grown(parser *p, void *items, uint32_t count, uint32_t *room, size_t bytes) {
  if (count < *room) return items;
  uint32_t more = *room ? *room * 2 : 4;
  void *moved = more <= LIST_LIMIT ? tn_arena_array(p->arena, more, bytes) : NULL;
  if (!moved) {
    begin_panic(p);
    return NULL;
  }
  if (count) memcpy(moved, items, count * bytes);
  *room = more;
  return moved;
}

static tn_mind_word word_here(const parser *p) {
  return (tn_mind_word){ p->token.name, p->token.start, p->token.end };
}

static bool parse_word(parser *p, tn_mind_word *out, const char *message) {
  if (p->panic || p->token.kind != TN_MIND_TOKEN_NAME) return fail(p, message);
  *out = word_here(p);
  advance(p);
  return true;
}

/* names = NAME { "," NAME } [ "," ], up to `close` */
static tn_mind_word *parse_words(parser *p, int close, uint32_t *count) {
  tn_mind_word *words = NULL;
  uint32_t room = 0;
  for (*count = 0; !p->panic && p->token.kind != close;) {
    words = grown(p, words, *count, &room, sizeof *words);
    if (!words || !parse_word(p, &words[*count], "expected a name")) return NULL;
    (*count)++;
    if (!accept(p, ',')) break;
  }
  return words;
}

/* ---- types ---- */

/* dim = INT | NAME */
static bool parse_dim(parser *p, tn_mind_annotation *type) {
  int64_t dim;
  if (p->token.kind == TN_MIND_TOKEN_INT) {
    if (p->token.too_big) return begin_panic(p);
    dim = p->token.integer > (uint64_t)TN_ELEMENT_LIMIT ? TN_ELEMENT_LIMIT + 1 : (int64_t)p->token.integer;
  } else if (p->token.kind == TN_MIND_TOKEN_NAME) {
    dim = TN_DIM_SYMBOL(p->token.name);
  } else {
    return fail(p, "expected a dimension: a number or a name");
  }
  if (type->rank < TN_RANK_LIMIT) {
    type->shape.dim[type->rank] = dim;
    type->shape.rank = (int32_t)type->rank + 1;
  }
  type->rank++;
  advance(p);
  return true;
}

/* dims = dim | "(" [ dim { "," dim } [ "," ] ] ")" | "[" ... "]" */
static bool parse_dims(parser *p, tn_mind_annotation *type) {
  int close = p->token.kind == '(' ? ')' : p->token.kind == '[' ? ']' : 0;
  if (!close) return parse_dim(p, type);
  advance(p);
  while (!p->panic && p->token.kind != close) {
    if (!parse_dim(p, type)) return false;
    if (!accept(p, ',')) break;
  }
  return expect(p, close, close == ')' ? "expected `,` or `)`" : "expected `,` or `]`");
}

/* `Tensor<f32,[2]>= 0`: the sign is two here. */
static void split_greater_equal(parser *p) {
  if (p->token.kind != TN_MIND_TOKEN_GE) return;
  p->token.kind = '=';
  p->token.start++;
  p->last_end = p->token.start;
}

/* tensor = ( "Tensor" | "tensor" ) ( "[" | "<" ) dtype [ "," ] dims ( "]" | ">" ) */
static bool parse_tensor_type(parser *p, tn_mind_annotation *type) {
  int close = accept(p, '[') ? ']' : '>';
  type->form = TN_MIND_WRITTEN_TENSOR;
  if (close == '>' && !expect(p, '<', "expected `[`: Tensor[f32,(2,3)]")) return false;
  if (!parse_word(p, &type->word, "expected a dtype")) return false;
  accept(p, ',');
  if (!parse_dims(p, type)) return false;
  if (close == '>' && !p->panic && p->token.kind == TN_MIND_TOKEN_GE) {
    split_greater_equal(p);
    return true;
  }
  return expect(p, close, close == ']' ? "expected `]`" : "expected `>`");
}

/* tuple = "(" [ type { "," type } ] ")" */
static bool parse_tuple_type(parser *p, tn_mind_annotation *type) {
  tn_mind_annotation **end = &type->items;
  type->form = TN_MIND_WRITTEN_TUPLE;
  if (!open_bracket(p, '(', "expected a type")) return false;
  while (!p->panic && p->token.kind != ')') {
    *end = parse_type(p);
    if (!*end) return false;
    end = &(*end)->next;
    type->rank++;
    if (!accept(p, ',')) break;
  }
  return close_bracket(p, ')', "expected `,` or `)`");
}

static bool is_tensor_word(const parser *p) {
  tn_str word = { p->text.at + p->token.start, p->token.end - p->token.start };
  return tn_str_is(word, "Tensor") || tn_str_is(word, "tensor");
}

/* type = NAME | tensor [ "@" NAME ] | tuple */
static tn_mind_annotation *parse_type(parser *p) {
  tn_mind_annotation *type = tn_arena_new(p->arena, tn_mind_annotation);
  bool tensor = is_tensor_word(p), ok;
  if (!type) {
    begin_panic(p);
    return NULL;
  }
  type->start = p->token.start;
  if (p->token.kind == '(')
    ok = parse_tuple_type(p, type);
  else
    ok = parse_word(p, &type->word, "expected a type");
  if (ok && tensor) ok = parse_tensor_type(p, type);
  if (ok && tensor && accept(p, '@')) ok = parse_word(p, &type->device, "expected a device: cpu or gpu");
  type->end = p->last_end;
  return ok ? type : NULL;
}

/* ---- primary expressions ---- */

static tn_str token_text(const parser *p) {
  return (tn_str){ p->text.at + p->token.start, p->token.end - p->token.start };
}

/* What was too large has been reported; it stays an expression, so that reading goes on. */
static tn_mind_node *bad_number(parser *p, tn_mind_node *node) {
  p->failed = true;
  node->kind = TN_MIND_BAD;
  advance(p);
  return ended(p, node);
}

/* The minus before an integer belongs to it when it decides whether it fits. */
static tn_mind_node *parse_integer(parser *p, uint32_t start, bool negative) {
  tn_mind_node *node = make(p, TN_MIND_NUMBER, start);
  uint64_t size = p->token.integer;
  if (p->token.too_big) return bad_number(p, node);
  if (!negative && size > INT64_MAX) {
    tn_report(p->diags, TN_DIAG_E1001, here(p), TN_STR("message", "this integer does not fit i64"));
    return bad_number(p, node);
  }
  node->integer = negative ? (int64_t)(0 - size) : (int64_t)size;
  advance(p);
  return ended(p, node);
}

static tn_mind_node *parse_float(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_NUMBER, p->token.start);
  tn_str text = token_text(p);
  char *digits = tn_arena_alloc(p->arena, text.len);
  node->is_float = true;
  if (digits) {
    size_t count = tn_mind_digits(text, digits, text.len);
    tn_number_parse_f64((tn_str){ digits, count }, &node->number);
  }
  advance(p);
  return ended(p, node);
}

static void keep_text(parser *p, tn_str text) {
  tn_mind_text *kept = tn_arena_new(p->arena, tn_mind_text);
  if (!kept) return; /* the arena says so */
  *kept = (tn_mind_text){ text, p->unit->texts };
  p->unit->texts = kept;
}

static tn_mind_node *parse_string(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_STRING, p->token.start);
  node->text = tn_mind_unescape(token_text(p), p->arena);
  keep_text(p, node->text);
  advance(p);
  return ended(p, node);
}

/* Items up to a closing bracket, with a comma at the end if one likes. */
static node_list parse_items(parser *p, int close, bool *comma) {
  node_list items = { 0 };
  *comma = false;
  while (!p->panic && p->token.kind != close) {
    append(&items, parse_expression(p));
    *comma = accept(p, ',');
    if (!*comma) break;
  }
  return items;
}

/* parens = "(" expr ")" | "(" [ expr "," { expr "," } [ expr ] ] ")" */
static tn_mind_node *parse_parens(parser *p) {
  uint32_t start = p->token.start;
  bool comma;
  if (!open_bracket(p, '(', "expected `(`")) return bad(p);
  p->inside++;
  node_list items = parse_items(p, ')', &comma);
  p->inside--;
  if (!close_bracket(p, ')', items.count ? "expected `,` or `)`" : "expected an expression or `)`"))
    return bad(p);
  if (items.count == 1 && !comma) {
    items.first->from = start;
    items.first->to = p->last_end;
    items.first->in_parens = true;
    return items.first;
  }
  tn_mind_node *node = make(p, TN_MIND_TUPLE, start);
  node->list.items = items.first;
  node->list.count = items.count;
  return ended(p, node);
}

/* list = "[" [ expr { "," expr } [ "," ] ] "]" */
static tn_mind_node *parse_list(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_LIST, p->token.start);
  bool comma;
  if (!open_bracket(p, '[', "expected `[`")) return bad(p);
  p->inside++;
  node_list items = parse_items(p, ']', &comma);
  p->inside--;
  close_bracket(p, ']', "expected `,` or `]`");
  node->list.items = items.first;
  node->list.count = items.count;
  return ended(p, node);
}

static tn_mind_node *parse_name(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_NAME, p->token.start);
  node->name.name = p->token.name;
  p->unit->reads += node->name.name == p->read;
  advance(p);
  return ended(p, node);
}

/* ---- if ---- */

/* branch = [ "if" ] expr block */
static tn_mind_branch *parse_branch(parser *p, bool has_condition) {
  tn_mind_branch *branch = tn_arena_new(p->arena, tn_mind_branch);
  if (!branch) {
    begin_panic(p);
    return NULL;
  }
  if (has_condition) {
    if (!enter(p, here(p))) return NULL; /* an if in a condition nests without a bracket */
    branch->condition = parse_expression(p);
    leave(p);
  }
  return parse_block(p, &branch->block) ? branch : NULL;
}

/* if = "if" expr block { "else" "if" expr block } [ "else" block ] */
static tn_mind_node *parse_if(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_IF, p->token.start);
  tn_mind_branch **end = &node->branch.branches;
  bool has_condition = true;
  advance(p);
  while (!p->panic) {
    *end = parse_branch(p, has_condition);
    if (!*end) return ended(p, node);
    end = &(*end)->next;
    if (!has_condition || !accept(p, TN_MIND_TOKEN_ELSE)) break;
    has_condition = accept(p, TN_MIND_TOKEN_IF);
    node->branch.has_else = !has_condition;
  }
  return ended(p, node);
}

/* ---- closures ---- */

static tn_mind_param *parse_params(parser *p, int close, bool typed, uint32_t *count) {
  tn_mind_param *params = NULL;
  uint32_t room = 0;
  for (*count = 0; !p->panic && p->token.kind != close;) {
    params = grown(p, params, *count, &room, sizeof *params);
    if (!params || !parse_word(p, &params[*count].word, "expected the name of a parameter")) return NULL;
    params[*count].annotation = NULL;
    if (typed && p->token.kind != ':') fail(p, "expected `:` and the parameter's type");
    if (accept(p, ':')) params[*count].annotation = parse_type(p);
    (*count)++;
    if (!accept(p, ',')) break;
  }
  return params;
}

/* closure = "|" [ NAME [ ":" type ] { "," ... } ] "|" expr, where no parameters may be written || */
static tn_mind_node *parse_closure(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_CLOSURE, p->token.start);
  if (!enter(p, here(p))) return bad(p);
  if (!accept(p, TN_MIND_TOKEN_OR)) {
    advance(p);
    node->closure.params = parse_params(p, '|', false, &node->closure.count);
    expect(p, '|', "expected `,` or `|`");
  }
  node->closure.body = parse_expression(p);
  leave(p);
  return ended(p, node);
}

static tn_mind_node *parse_truth(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_TRUTH, p->token.start);
  node->op = p->token.kind == TN_MIND_TOKEN_TRUE;
  advance(p);
  return ended(p, node);
}

static tn_mind_node *parse_primary(parser *p) {
  if (p->panic) return bad(p);
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
  fail(p, "expected an expression");
  return bad(p);
}

/* ---- what stands behind an expression ---- */

/* arg = [ NAME "=" ] expr */
static tn_mind_node *parse_argument(parser *p, bool *named) {
  tn_mind_word keyword = { 0 };
  if (!p->panic && p->token.kind == TN_MIND_TOKEN_NAME && peek(p) == '=') {
    keyword = word_here(p);
    *named = true;
    advance(p);
    advance(p);
  } else if (*named) {
    fail(p, "arguments without a name stand before those with one");
  }
  tn_mind_node *node = parse_expression(p);
  node->keyword = keyword;
  return node;
}

/* call = "(" [ arg { "," arg } [ "," ] ] ")" */
static tn_mind_node *parse_call(parser *p, tn_mind_node *left) {
  tn_mind_node *node = lean(make(p, TN_MIND_CALL, left->from), left);
  node_list args = { 0 };
  bool named = false;
  if (!open_bracket(p, '(', "expected `(`")) return node;
  p->inside++;
  while (!p->panic && p->token.kind != ')') {
    append(&args, parse_argument(p, &named));
    if (!accept(p, ',')) break;
  }
  p->inside--;
  node->call.close = p->token.start;
  close_bracket(p, ')', "expected `,` or `)`");
  node->call.args = args.first;
  node->call.count = args.count;
  node->call.earlier = p->unit->calls;
  if (node != &p->spare) p->unit->calls = node;
  return ended(p, node);
}

/* index = "[" expr { "," expr } "]" */
static tn_mind_node *parse_index(parser *p, tn_mind_node *left) {
  tn_mind_node *node = lean(make(p, TN_MIND_INDEX, left->from), left);
  bool comma;
  if (!open_bracket(p, '[', "expected `[`")) return node;
  p->inside++;
  node_list items = parse_items(p, ']', &comma);
  p->inside--;
  if (!items.count) fail(p, "expected an index");
  node->call.close = p->token.start;
  close_bracket(p, ']', "expected `,` or `]`");
  node->call.args = items.first;
  node->call.count = items.count;
  return ended(p, node);
}

/* field = "." ( NAME | INT ) */
static tn_mind_node *parse_field(parser *p, tn_mind_node *left) {
  tn_mind_node *node = lean(make(p, TN_MIND_FIELD, left->from), left);
  advance(p);
  if (p->token.kind == TN_MIND_TOKEN_INT && !p->token.too_big && p->token.integer <= INT32_MAX) {
    node->field.word = (tn_mind_word){ 0, p->token.start, p->token.end };
    node->field.index = (int64_t)p->token.integer;
    advance(p);
  } else {
    parse_word(p, &node->field.word, "expected a name or a number behind the point");
    p->unit->reads += node->field.word.name == p->read;
  }
  return ended(p, node);
}

/* A line break ends an expression unless a bracket is open. */
static bool goes_on(const parser *p) { return !p->panic && (!p->token.new_line || p->inside); }

/* postfix = primary { call | index | field } */
static tn_mind_node *parse_postfix_of(parser *p, tn_mind_node *node) {
  while (goes_on(p)) {
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
static bool minus_belongs_to_integer(parser *p) {
  if (p->token.kind != '-' || peek(p) != TN_MIND_TOKEN_INT) return false;
  tn_mind_lexer rest = p->lexer;
  rest.diags = NULL;
  rest.names = NULL;
  tn_mind_token behind = tn_mind_next(&rest);
  return !starts_postfix(behind.kind) || (behind.new_line && !p->inside);
}

/* unary = { "-" | "!" } postfix */
static tn_mind_node *parse_unary(parser *p) {
  tn_mind_node *outer = NULL, *inner = NULL, *operand;
  while (!p->panic && (p->token.kind == '-' || p->token.kind == '!') && !minus_belongs_to_integer(p)) {
    tn_mind_node *node = make(p, TN_MIND_UNARY, p->token.start);
    node->op = p->token.kind == '-' ? TN_MIND_NEG : TN_MIND_NOT;
    if (inner)
      lean(inner, node);
    else
      outer = node;
    inner = node;
    advance(p);
  }
  if (!p->panic && p->token.kind == '-') {
    uint32_t start = p->token.start;
    advance(p);
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
static tn_mind_node *parse_binary(parser *p, int least) {
  tn_mind_node *left = parse_unary(p);
  while (goes_on(p)) {
    operator_entry found = operator_of(p->token.kind);
    if (!found.precedence || found.precedence < least) break;
    bool logic = found.op == TN_MIND_AND || found.op == TN_MIND_OR;
    tn_mind_node *node = make(p, logic ? TN_MIND_LOGIC : TN_MIND_BINARY, left->from);
    node->op = (uint8_t)found.op;
    advance(p);
    node->right = parse_binary(p, found.precedence + 1);
    node->end = node->to = node->right->to;
    left = lean(node, left);
  }
  return left;
}

static tn_mind_node *parse_expression(parser *p) { return parse_binary(p, 1); }

/* ---- statements ---- */

/* target = NAME | "(" NAME { "," NAME } ")" */
static bool parse_target(parser *p, tn_mind_node *node) {
  if (p->token.kind != '(') return parse_word(p, &node->let.word, "expected a name behind `let`");
  advance(p);
  node->let.words = parse_words(p, ')', &node->let.count);
  if (!p->panic && !node->let.count) return fail(p, "expected a name");
  return expect(p, ')', "expected `,` or `)`");
}

/* let = "let" target [ ":" type ] "=" expr */
static tn_mind_node *parse_let(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_LET, p->token.start);
  advance(p);
  if (!parse_target(p, node)) return node;
  if (accept(p, ':')) node->let.annotation = parse_type(p);
  if (!expect(p, '=', "expected `=`")) return node;
  node->let.value = parse_expression(p);
  return ended(p, node);
}

/* assignment = NAME "=" expr */
static tn_mind_node *parse_assignment(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_ASSIGN, p->token.start);
  node->let.word = word_here(p);
  advance(p);
  advance(p);
  node->let.value = parse_expression(p);
  return ended(p, node);
}

/* effects = { "!" NAME } */
static void parse_effects(parser *p, tn_mind_definition *fn) {
  uint32_t room = 0;
  while (accept(p, '!')) {
    fn->effects = grown(p, fn->effects, fn->effect_count, &room, sizeof *fn->effects);
    if (!fn->effects || !parse_word(p, &fn->effects[fn->effect_count], "expected an effect behind `!`"))
      return;
    fn->effect_count++;
  }
}

/* fn = "fn" NAME "(" params ")" "->" type effects ( block | "=" expr ) */
static tn_mind_node *parse_fn(parser *p) {
  tn_mind_node *node = make(p, TN_MIND_FN, p->token.start);
  tn_mind_definition *fn = tn_arena_new(p->arena, tn_mind_definition);
  if (!fn) begin_panic(p);
  advance(p);
  p->unit->defines = true;
  node->definition = fn;
  if (!fn || !parse_word(p, &fn->word, "expected the function's name")) return node;
  if (!open_bracket(p, '(', "expected `(` and the parameters")) return node;
  fn->params = parse_params(p, ')', true, &fn->count);
  if (!close_bracket(p, ')', "expected `,` or `)`")) return node;
  if (!expect(p, TN_MIND_TOKEN_ARROW, "expected `->` and the type of the result")) return node;
  fn->result = parse_type(p);
  parse_effects(p, fn);
  fn->head_end = p->last_end;
  if (accept(p, '=')) {
    fn->body = (tn_mind_block){ .start = p->token.start };
    fn->body.first = parse_expression(p);
    fn->body.end = p->last_end;
  } else {
    parse_block(p, &fn->body);
  }
  return ended(p, node);
}

/* path = NAME { "." NAME } */
static void parse_path(parser *p, tn_mind_import *import) {
  uint32_t room = 0;
  do {
    import->path = grown(p, import->path, import->count, &room, sizeof *import->path);
    if (!import->path || !parse_word(p, &import->path[import->count], "expected the name of a module"))
      return;
    import->count++;
  } while (accept(p, '.'));
}

/* names = "{" [ NAME { "," NAME } ] "}" */
static void parse_braced_names(parser *p, tn_mind_import *import) {
  import->has_names = true;
  if (!open_bracket(p, '{', "expected `{`")) return;
  import->names = parse_words(p, '}', &import->name_count);
  close_bracket(p, '}', "expected `,` or `}`");
}

/* import = "import" path [ "as" NAME | names ];  export = "export" names */
static tn_mind_node *parse_import(parser *p, tn_mind_kind kind) {
  tn_mind_node *node = make(p, kind, p->token.start);
  tn_mind_import *import = tn_arena_new(p->arena, tn_mind_import);
  if (!import) begin_panic(p);
  advance(p);
  node->import = import;
  if (!import) return node;
  if (kind == TN_MIND_EXPORT) {
    p->unit->exports = true;
    parse_braced_names(p, import);
    return ended(p, node);
  }
  parse_path(p, import);
  if (accept(p, TN_MIND_TOKEN_AS))
    parse_word(p, &import->alias, "expected a name behind `as`");
  else if (!p->panic && p->token.kind == '{' && goes_on(p))
    parse_braced_names(p, import);
  return ended(p, node);
}

static bool is_definition(int kind) {
  return kind == TN_MIND_TOKEN_FN || kind == TN_MIND_TOKEN_IMPORT || kind == TN_MIND_TOKEN_EXPORT;
}

static tn_mind_node *parse_definition(parser *p) {
  if (p->depth) {
    fail(p, "functions, imports and exports stand at the top level of a module");
    return bad(p);
  }
  if (p->token.kind == TN_MIND_TOKEN_FN) return parse_fn(p);
  return parse_import(p, p->token.kind == TN_MIND_TOKEN_IMPORT ? TN_MIND_IMPORT : TN_MIND_EXPORT);
}

static tn_mind_node *parse_statement(parser *p) {
  int kind = p->token.kind;
  if (kind == TN_MIND_TOKEN_LET) return parse_let(p);
  if (is_definition(kind)) return parse_definition(p);
  if (kind == TN_MIND_TOKEN_NAME && peek(p) == '=' && !p->ahead.new_line) return parse_assignment(p);
  if (kind != '-' && operator_of(kind).precedence) {
    fail(p, "a line does not begin with an operator; put it at the end of the line before");
    return bad(p);
  }
  return parse_expression(p);
}

/* ---- going on after a mistake ---- */

static bool starts_statement(int kind) { return kind == TN_MIND_TOKEN_LET || is_definition(kind); }

static int bracket_step(int kind) {
  if (kind == '(' || kind == '[' || kind == '{') return 1;
  return kind == ')' || kind == ']' || kind == '}' ? -1 : 0;
}

/* Where reading can be taken up again. */
typedef struct {
  bool set;
  tn_mind_lexer lexer;
  tn_mind_token token, ahead;
  bool has_ahead;
} bookmark;

static bookmark mark(const parser *p) {
  return (bookmark){ true, p->lexer, p->token, p->ahead, p->has_ahead };
}

static void go_back(parser *p, const bookmark *to) {
  p->lexer = to->lexer;
  p->token = to->token;
  p->ahead = to->ahead;
  p->has_ahead = to->has_ahead;
}

/* Drops tokens up to the next statement. Brackets that were open are closed first if the text closes
 * them; if it never does, the statement ended with its line. A line that begins with a keyword is a
 * statement in any case. */
static void skip_statement(parser *p, uint32_t nest, bool in_block) {
  bookmark line = { .set = false };
  for (bool moved = false;; moved = true) {
    int kind = p->token.kind, step = bracket_step(kind);
    if (kind == TN_MIND_TOKEN_END && nest && line.set) {
      go_back(p, &line);
      return;
    }
    if (kind == TN_MIND_TOKEN_END || (p->token.new_line && starts_statement(kind) && moved)) break;
    if (nest == 0 && ((p->token.new_line && moved) || kind == ';' || (kind == '}' && in_block))) break;
    if (nest && p->token.new_line && !line.set) line = mark(p);
    if (step > 0)
      nest++;
    else if (step < 0 && nest)
      nest--;
    advance(p);
  }
  p->forgiven += nest;
}

/* The state in front of a statement, to come back to after one that is given up. */
typedef struct {
  uint32_t depth, inside, open_count;
} footing;

static void recover(parser *p, const footing *before, bool in_block) {
  uint32_t nest = p->open_count - before->open_count;
  bool at_line = p->token.new_line && starts_statement(p->token.kind);
  p->depth = before->depth;
  p->inside = before->inside;
  p->open_count = before->open_count;
  p->panic = false;
  if (at_line)
    p->forgiven += nest;
  else
    skip_statement(p, nest, in_block);
}

/* One separator is required between two statements. */
static void parse_separator(parser *p, bool in_block) {
  int kind = p->token.kind;
  if (p->panic || kind == ';' || p->token.new_line || kind == TN_MIND_TOKEN_END) return;
  if (in_block && kind == '}') return;
  if (p->token.kind != TN_MIND_TOKEN_BAD)
    tn_report(p->diags, TN_DIAG_E1001, here(p),
              TN_STR("message", "expected a line break or `;` between two statements"),
              TN_HINT(kind == '=' ? TN_LIT("only a name can be assigned to")
                                  : TN_LIT("statements are separated by line breaks or `;`")));
  begin_panic(p);
}

static bool at_end(parser *p, bool in_block) {
  while (p->token.kind == '}' && !in_block && p->forgiven) {
    p->forgiven--;
    advance(p);
  }
  return p->token.kind == TN_MIND_TOKEN_END || (in_block && p->token.kind == '}');
}

/* What stands in the tree for a statement that was given up: the names it would have bound, as far as they
 * were read, so that nobody misses them. */
static tn_mind_node *given_up(parser *p, const tn_mind_node *node) {
  tn_mind_node *value = bad(p);
  bool let = node->kind == TN_MIND_LET || node->kind == TN_MIND_ASSIGN;
  bool fn = node->kind == TN_MIND_FN && node->definition && node->definition->word.name;
  if (!fn && !(let && (node->let.word.name || (node->let.words && node->let.count)))) return value;
  tn_mind_node *made = make(p, TN_MIND_LET, node->start);
  if (fn)
    made->let.word = node->definition->word;
  else
    made->let = node->let;
  made->let.annotation = NULL;
  made->let.value = value;
  return made;
}

/* statements = { [ statement ] ( ";" | line break ) } */
static tn_mind_node *parse_statements(parser *p, bool in_block) {
  node_list list = { 0 };
  for (;;) {
    footing before = { p->depth, p->inside, p->open_count };
    while (accept(p, ';')) continue;
    if (at_end(p, in_block) || p->arena->failed) break;
    uint32_t start = p->token.start;
    tn_mind_node *node = parse_statement(p);
    parse_separator(p, in_block);
    if (!p->panic) {
      append(&list, node);
      continue;
    }
    if (p->token.start == start && p->token.kind != TN_MIND_TOKEN_END) advance(p);
    recover(p, &before, in_block);
    if (!p->arena->failed) append(&list, given_up(p, node));
  }
  return list.first;
}

/* block = "{" statements "}" */
static bool parse_block(parser *p, tn_mind_block *block) {
  uint32_t outer = p->inside;
  block->start = p->token.start;
  if (!open_bracket(p, '{', "expected `{`")) return false;
  p->inside = 0;
  block->first = parse_statements(p, true);
  p->inside = outer;
  bool ok = close_bracket(p, '}', "expected `}`");
  block->end = p->last_end;
  return ok;
}

bool tn_mind_parse(tn_arena *arena, tn_names *names, const tn_sources *sources, tn_diags *diags,
                   tn_mind_unit *unit) {
  const tn_source *source = tn_sources_get(sources, unit->file);
  parser p;
  memset(&p, 0, offsetof(parser, open));
  p.open_count = p.forgiven = 0;
  p.arena = arena;
  p.names = names;
  p.read = tn_names_intern(names, TN_LIT("read"));
  p.diags = diags;
  p.unit = unit;
  p.text = source->text;
  tn_mind_lexer_init(&p.lexer, p.text, unit->file, names, diags);
  size_t errors = diags->errors;
  diags->phase = TN_PHASE_PARSE;
  advance(&p);
  unit->block.first = parse_statements(&p, false);
  unit->block.end = (uint32_t)p.text.len;
  return diags->errors == errors && !p.failed && !p.lexer.open && !arena->failed;
}

/* ---- whether a text wants more ---- */

static bool wants_more(int kind) {
  if (kind == ',' || kind == '=' || kind == TN_MIND_TOKEN_ELSE || kind == TN_MIND_TOKEN_ARROW) return true;
  return operator_of(kind).precedence > 0;
}

bool tn_mind_is_open(tn_str text) {
  tn_mind_lexer lexer;
  int nest = 0, last = TN_MIND_TOKEN_END;
  tn_mind_lexer_init(&lexer, text, 0, NULL, NULL);
  for (;;) {
    tn_mind_token token = tn_mind_next(&lexer);
    if (token.kind == TN_MIND_TOKEN_END) break;
    if (token.kind == TN_MIND_TOKEN_BAD) return false;
    nest += bracket_step(token.kind);
    if (nest < 0) return false;
    last = token.kind;
  }
  return lexer.open || nest > 0 || wants_more(last);
}

/* ---- operators and effects by name ---- */

tn_op tn_mind_operator_op(tn_mind_operator which) {
  static const tn_op ops[] = {
    [TN_MIND_NEG] = TN_OP_NEG, [TN_MIND_NOT] = TN_OP_NOT,       [TN_MIND_ADD] = TN_OP_ADD,
    [TN_MIND_SUB] = TN_OP_SUB, [TN_MIND_MUL] = TN_OP_MUL,       [TN_MIND_DIV] = TN_OP_DIV,
    [TN_MIND_REM] = TN_OP_REM, [TN_MIND_MATMUL] = TN_OP_MATMUL, [TN_MIND_EQ] = TN_OP_EQ,
    [TN_MIND_NE] = TN_OP_NE,   [TN_MIND_LT] = TN_OP_LT,         [TN_MIND_LE] = TN_OP_LE,
    [TN_MIND_GT] = TN_OP_GT,   [TN_MIND_GE] = TN_OP_GE,         [TN_MIND_AND] = TN_OP_AND,
    [TN_MIND_OR] = TN_OP_OR,
  };
  return ops[which];
}

static const char *const effect_names[TN_MIND_EFFECT_COUNT] = { "io", "fileread", "clock", "random" };

const char *tn_mind_effect_name(uint32_t effect) {
  for (int i = 0; i < TN_MIND_EFFECT_COUNT; i++) {
    if (effect & (1u << i)) return effect_names[i];
  }
  return "";
}

uint32_t tn_mind_effect_find(tn_str name) {
  for (int i = 0; i < TN_MIND_EFFECT_COUNT; i++) {
    if (tn_str_is(name, effect_names[i])) return 1u << i;
  }
  return 0;
}
