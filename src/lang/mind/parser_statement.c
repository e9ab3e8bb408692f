/* lang/mind/parser_statement.c: statements and blocks, and where reading resumes after a mistake. */
#include <stdlib.h>
#include <string.h>

#include "lang/mind/parser.h"

/* target = NAME | "(" NAME { "," NAME } ")" */
static bool parse_target(tn_mind_parser *p, tn_mind_node *node) {
  if (p->token.kind != '(') return tn_mind_parse_word(p, &node->let.word, "expected a name after `let`");
  tn_mind_advance(p);
  node->let.words = tn_mind_parse_words(p, ')', &node->let.count);
  if (!p->panic && !node->let.count) return tn_mind_syntax(p, "expected a name");
  return tn_mind_expect(p, ')', "expected `,` or `)`");
}

/* let = "let" target [ ":" type ] "=" expr */
static tn_mind_node *parse_let(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_LET, p->token.start);
  tn_mind_advance(p);
  if (!parse_target(p, node)) return node;
  if (tn_mind_accept(p, ':')) node->let.annotation = tn_mind_parse_type(p);
  if (!tn_mind_expect(p, '=', "expected `=`") || tn_mind_is_cut_off(p)) return node;
  node->let.value = tn_mind_parse_expression(p);
  return tn_mind_ended(p, node);
}

/* assignment = NAME "=" expr */
static tn_mind_node *parse_assignment(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_ASSIGN, p->token.start);
  node->let.word = tn_mind_word_here(p);
  tn_mind_advance(p);
  tn_mind_advance(p);
  if (tn_mind_is_cut_off(p)) return node;
  node->let.value = tn_mind_parse_expression(p);
  return tn_mind_ended(p, node);
}

/* effects = { "!" NAME } */
static void parse_effects(tn_mind_parser *p, tn_mind_definition *fn) {
  uint32_t room = 0;
  while (tn_mind_accept(p, '!')) {
    fn->effects = tn_mind_grown(p, fn->effects, fn->effect_count, &room, sizeof *fn->effects);
    if (!fn->effects ||
        !tn_mind_parse_word(p, &fn->effects[fn->effect_count], "expected an effect after `!`"))
      return;
    fn->effect_count++;
  }
}

/* fn = "fn" NAME "(" params ")" "->" type effects ( block | "=" expr ) */
static tn_mind_node *parse_fn(tn_mind_parser *p) {
  tn_mind_node *node = tn_mind_make(p, TN_MIND_FN, p->token.start);
  tn_mind_definition *fn = tn_arena_new(p->arena, tn_mind_definition);
  if (!fn) tn_mind_begin_panic(p);
  tn_mind_advance(p);
  p->unit->defines = true;
  node->definition = fn;
  if (!fn || !tn_mind_parse_word(p, &fn->word, "expected the function's name")) return node;
  if (!tn_mind_open(p, '(', "expected `(` and the parameters")) return node;
  fn->params = tn_mind_parse_params(p, ')', true, &fn->count);
  if (!tn_mind_close(p, ')', "expected `,` or `)`")) return node;
  if (!tn_mind_expect(p, TN_MIND_TOKEN_ARROW, "expected `->` and the type of the result")) return node;
  fn->result = tn_mind_parse_type(p);
  parse_effects(p, fn);
  fn->head_end = p->last_end;
  if (tn_mind_accept(p, '=')) {
    fn->body = (tn_mind_block){ .start = p->token.start };
    fn->body.first = tn_mind_parse_expression(p);
    fn->body.end = p->last_end;
  } else {
    tn_mind_parse_block(p, &fn->body);
  }
  return tn_mind_ended(p, node);
}

/* path = NAME { "." NAME } */
static void parse_path(tn_mind_parser *p, tn_mind_import *import) {
  uint32_t room = 0;
  do {
    import->path = tn_mind_grown(p, import->path, import->count, &room, sizeof *import->path);
    if (!import->path ||
        !tn_mind_parse_word(p, &import->path[import->count], "expected the name of a module"))
      return;
    import->count++;
  } while (tn_mind_accept(p, '.'));
}

/* names = "{" [ NAME { "," NAME } ] "}" */
static void parse_braced_names(tn_mind_parser *p, tn_mind_import *import) {
  import->has_names = true;
  if (!tn_mind_open(p, '{', "expected `{`")) return;
  import->names = tn_mind_parse_words(p, '}', &import->name_count);
  tn_mind_close(p, '}', "expected `,` or `}`");
}

/* import = "import" path [ "as" NAME | names ];  export = "export" names */
static tn_mind_node *parse_import(tn_mind_parser *p, tn_mind_kind kind) {
  tn_mind_node *node = tn_mind_make(p, kind, p->token.start);
  tn_mind_import *import = tn_arena_new(p->arena, tn_mind_import);
  if (!import) tn_mind_begin_panic(p);
  tn_mind_advance(p);
  node->import = import;
  if (!import) return node;
  if (kind == TN_MIND_EXPORT) {
    p->unit->exports = true;
    parse_braced_names(p, import);
    return tn_mind_ended(p, node);
  }
  parse_path(p, import);
  if (tn_mind_accept(p, TN_MIND_TOKEN_AS))
    tn_mind_parse_word(p, &import->alias, "expected a name after `as`");
  else if (!p->panic && p->token.kind == '{' && tn_mind_goes_on(p))
    parse_braced_names(p, import);
  return tn_mind_ended(p, node);
}

static bool is_definition(int kind) {
  return kind == TN_MIND_TOKEN_FN || kind == TN_MIND_TOKEN_IMPORT || kind == TN_MIND_TOKEN_EXPORT;
}

static tn_mind_node *parse_definition(tn_mind_parser *p) {
  if (p->depth) {
    tn_mind_syntax(p, "functions, imports and exports are allowed only at the top level of a module");
    return tn_mind_bad(p);
  }
  if (p->token.kind == TN_MIND_TOKEN_FN) return parse_fn(p);
  return parse_import(p, p->token.kind == TN_MIND_TOKEN_IMPORT ? TN_MIND_IMPORT : TN_MIND_EXPORT);
}

static tn_mind_node *parse_statement(tn_mind_parser *p) {
  int kind = p->token.kind;
  if (kind == TN_MIND_TOKEN_LET) return parse_let(p);
  if (is_definition(kind)) return parse_definition(p);
  if (kind == TN_MIND_TOKEN_NAME && tn_mind_peek(p) == '=' && !p->ahead.new_line) return parse_assignment(p);
  if (kind != '-' && tn_mind_precedence(kind)) {
    tn_mind_syntax(p, "a line does not begin with an operator; put it at the end of the line before");
    return tn_mind_bad(p);
  }
  return tn_mind_parse_expression(p);
}

/* ---- continuing after an error ---- */

static bool starts_statement(int kind) { return kind == TN_MIND_TOKEN_LET || is_definition(kind); }

bool tn_mind_begins_statement(tn_mind_parser *p) {
  if (!p->token.new_line) return false;
  if (p->token.kind != TN_MIND_TOKEN_NAME) return starts_statement(p->token.kind);
  return tn_mind_peek(p) == '=' && !p->ahead.new_line;
}

static int bracket_step(int kind) {
  if (kind == '(' || kind == '[' || kind == '{') return 1;
  return kind == ')' || kind == ']' || kind == '}' ? -1 : 0;
}

/* Where the parser can resume. */
typedef struct {
  bool set;
  tn_mind_lexer lexer;
  tn_mind_token token, ahead;
  bool has_ahead;
} bookmark;

static bookmark mark(const tn_mind_parser *p) {
  return (bookmark){ true, p->lexer, p->token, p->ahead, p->has_ahead };
}

static void go_back(tn_mind_parser *p, const bookmark *to) {
  p->lexer = to->lexer;
  p->token = to->token;
  p->ahead = to->ahead;
  p->has_ahead = to->has_ahead;
}

/* Each bracket that is never closed costs a look at the rest of the text. Past so many tokens a statement
 * ends with its line. */
#define REREAD_LIMIT 1000000

/* Drops tokens up to the next statement. Brackets that were open are closed first if the text closes
 * them; if it never does, the statement ended with its line. A line that begins with a keyword is a
 * statement in any case. */
static void skip_statement(tn_mind_parser *p, uint32_t nest, bool in_block) {
  bookmark line = { .set = false };
  for (bool moved = false;; moved = true) {
    int kind = p->token.kind, step = bracket_step(kind);
    if (line.set && p->reread < REREAD_LIMIT) p->reread++;
    if (nest && line.set && (kind == TN_MIND_TOKEN_END || p->reread == REREAD_LIMIT)) {
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
    tn_mind_advance(p);
  }
  p->forgiven += nest;
}

/* The state in front of a statement, to come back to after one that is given up. */
typedef struct {
  uint32_t depth, inside, open_count;
} footing;

static void recover(tn_mind_parser *p, const footing *before, bool in_block) {
  uint32_t nest = p->open_count - before->open_count;
  bool at_line = tn_mind_begins_statement(p);
  p->depth = before->depth;
  p->inside = before->inside;
  p->open_count = before->open_count;
  p->panic = false;
  if (at_line)
    p->forgiven += nest;
  else
    skip_statement(p, nest, in_block);
}

/* Words that begin a statement, or stand inside one, in other languages. */
typedef struct {
  const char *word, *hint;
} foreign_word;

static const foreign_word foreign_words[] = {
  { "while", "a loop is written `fold(|state, i| ..., start, steps)`, or as a function that calls itself" },
  { "for", "a loop is written `fold(|state, x| ..., start, xs)`: over the rows of xs, or a number of times" },
  { "loop", "a loop is written `fold(|state, i| ..., start, steps)`, or as a function that calls itself" },
  { "return", "the last expression of a function is its value" },
  { "def", "a function is written `fn name(x: f32) -> f32 = x`" },
  { "func", "a function is written `fn name(x: f32) -> f32 = x`" },
  { "function", "a function is written `fn name(x: f32) -> f32 = x`" },
  { "var", "a name is bound with `let`" },
  { "const", "a name is bound with `let`" },
  { "mut", "every name can be assigned again" },
  { "elif", "write `else if`" },
  { "then", "a branch is a block: `if c { a } else { b }`" },
  { "and", "write `&&`" },
  { "or", "write `||`" },
  { "not", "write `!`" },
};

static const char *foreign_hint(const tn_mind_parser *p, uint32_t start, uint32_t end) {
  tn_str word = { p->text.at + start, end - start };
  for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++) {
    if (tn_str_is(word, foreign_words[i].word)) return foreign_words[i].hint;
  }
  return NULL;
}

/* `while x {`: the statement is the first word alone, or with brackets a call. `a and b`: the second word is
 * the foreign one. */
static bool report_foreign(const tn_mind_parser *p, const tn_mind_node *node) {
  bool call = node->kind == TN_MIND_CALL && p->token.kind == '{';
  if (call) node = node->left;
  tn_span at = tn_mind_span(p->unit, node);
  const char *hint = node->kind == TN_MIND_NAME ? foreign_hint(p, node->start, node->end) : NULL;
  if (!hint && p->token.kind == TN_MIND_TOKEN_NAME) {
    at = tn_mind_token_span(p);
    hint = foreign_hint(p, p->token.start, p->token.end);
  }
  if (!hint) return false;
  tn_report(p->diags, TN_DIAG_E1001, at, TN_STR("message", "this word has no meaning in MIND"),
            TN_HINT(tn_str_of(hint)));
  return true;
}

/* What stands right after a statement, in its line. */
static void report_unseparated(const tn_mind_parser *p, int kind) {
  bool closes = kind == ')' || kind == ']' || kind == '}';
  const char *message = "expected a line break or `;` between two statements";
  const char *hint = "statements are separated by line breaks or `;`";
  if (kind == '=') hint = "only a name can be assigned to";
  if (closes) {
    message = "this bracket closes nothing";
    hint = "every bracket before it is already closed: remove this one, or open one before it";
  }
  tn_report(p->diags, TN_DIAG_E1001, tn_mind_token_span(p), TN_STR("message", message),
            TN_HINT(tn_str_of(hint)));
}

/* One separator is required between two statements. */
static void parse_separator(tn_mind_parser *p, const tn_mind_node *node, bool in_block) {
  int kind = p->token.kind;
  if (p->panic || kind == ';' || p->token.new_line || kind == TN_MIND_TOKEN_END) return;
  if (in_block && kind == '}') return;
  if (p->token.kind != TN_MIND_TOKEN_BAD && !report_foreign(p, node))
    report_unseparated(p, kind);
  tn_mind_begin_panic(p);
}

static bool at_end(tn_mind_parser *p, bool in_block) {
  while (p->token.kind == '}' && !in_block && p->forgiven) {
    p->forgiven--;
    tn_mind_advance(p);
  }
  return p->token.kind == TN_MIND_TOKEN_END || (in_block && p->token.kind == '}');
}

/* ---- names that a statement given up may have meant to bind ---- */

static void doubt(tn_mind_parser *p, tn_name name) {
  p->doubtful = tn_mind_grown(p, p->doubtful, p->doubtful_count, &p->doubtful_room, sizeof *p->doubtful);
  if (p->doubtful)
    p->doubtful[p->doubtful_count++] = name;
  else
    p->doubtful_count = 0; /* memory ran out, and took the list with it */
  p->panic = false;
}

/* Between `let`, `fn` or `import` and the `=` or `{` of its line; after a bar or another name; before `=` or
 * `:`. */
static bool may_bind(int before, int head, bool bars, int after) {
  return head != TN_MIND_TOKEN_END || bars || before == TN_MIND_TOKEN_NAME || after == '=' || after == ':';
}

static void doubt_names(tn_mind_parser *p, uint32_t start, uint32_t end) {
  tn_mind_lexer lexer;
  int before = TN_MIND_TOKEN_END, head = TN_MIND_TOKEN_END;
  bool bars = false;
  tn_mind_lexer_init(&lexer, p->text, p->unit->file, p->names, NULL);
  lexer.at = start;
  for (tn_mind_token token = tn_mind_next(&lexer), next; token.start < end; token = next) {
    if (token.kind == TN_MIND_TOKEN_END) break;
    next = tn_mind_next(&lexer);
    bool braces = token.kind == '{' && head != TN_MIND_TOKEN_IMPORT;
    if (token.kind == '=' || braces || token.new_line) head = TN_MIND_TOKEN_END;
    if (starts_statement(token.kind)) head = token.kind;
    bars |= token.kind == '|';
    if (token.kind == TN_MIND_TOKEN_NAME && may_bind(before, head, bars, next.kind)) doubt(p, token.name);
    before = token.kind;
  }
}

static int by_number(const void *a, const void *b) {
  tn_name left = *(const tn_name *)a, right = *(const tn_name *)b;
  return left < right ? -1 : left > right;
}

bool tn_mind_is_doubtful(const tn_mind_unit *unit, tn_name name) {
  return unit->doubtful_count &&
         bsearch(&name, unit->doubtful, unit->doubtful_count, sizeof name, by_number) != NULL;
}

/* ---- statements in a row ---- */

/* What stands in the tree for a statement that was given up: the names it would have bound, as far as they
 * were read, so that none is missed. */
static tn_mind_node *given_up(tn_mind_parser *p, const tn_mind_node *node) {
  tn_mind_node *value = tn_mind_bad(p);
  bool let = node->kind == TN_MIND_LET || node->kind == TN_MIND_ASSIGN;
  bool fn = node->kind == TN_MIND_FN && node->definition && node->definition->word.name;
  if (!fn && !(let && (node->let.word.name || (node->let.words && node->let.count)))) return value;
  tn_mind_node *made = tn_mind_make(p, TN_MIND_LET, node->start);
  if (fn)
    made->let.word = node->definition->word;
  else
    made->let = node->let;
  made->let.annotation = NULL;
  made->let.value = value;
  return made;
}

/* statements = { [ statement ] ( ";" | line break ) } */
static tn_mind_node *parse_statements(tn_mind_parser *p, bool in_block) {
  tn_mind_node_list list = { 0 };
  for (;;) {
    footing before = { p->depth, p->inside, p->open_count };
    while (tn_mind_accept(p, ';')) continue;
    if (at_end(p, in_block) || p->arena->failed) break;
    uint32_t start = p->token.start;
    tn_mind_node *node = parse_statement(p);
    parse_separator(p, node, in_block);
    if (!p->panic) {
      tn_mind_append(&list, node);
      continue;
    }
    if (p->token.start == start && p->token.kind != TN_MIND_TOKEN_END) tn_mind_advance(p);
    recover(p, &before, in_block);
    doubt_names(p, start, p->token.start);
    if (!p->arena->failed) tn_mind_append(&list, given_up(p, node));
  }
  return list.first;
}

/* block = "{" statements "}" */
bool tn_mind_parse_block(tn_mind_parser *p, tn_mind_block *block) {
  uint32_t outer = p->inside;
  block->start = p->token.start;
  if (!tn_mind_open(p, '{', "expected `{`")) return false;
  p->inside = 0;
  block->first = parse_statements(p, true);
  p->inside = outer;
  bool ok = tn_mind_close(p, '}', "expected `}`");
  block->end = p->last_end;
  return ok;
}

bool tn_mind_parse(tn_arena *arena, tn_names *names, const tn_sources *sources, tn_diags *diags,
                   tn_mind_unit *unit) {
  const tn_source *source = tn_sources_get(sources, unit->file);
  tn_mind_parser p;
  memset(&p, 0, offsetof(tn_mind_parser, open));
  p.open_count = p.forgiven = p.reread = p.doubtful_count = p.doubtful_room = 0;
  p.doubtful = NULL;
  p.arena = arena;
  p.names = names;
  p.diags = diags;
  p.unit = unit;
  p.text = source->text;
  tn_mind_lexer_init(&p.lexer, p.text, unit->file, names, diags);
  size_t errors = diags->errors;
  tn_span nul;
  tn_phase before = tn_diags_enter(diags, TN_PHASE_PARSE);
  if (tn_sources_find_nul(sources, unit->file, &nul)) {
    tn_report(diags, TN_DIAG_E1001, nul, TN_STR("message", TN_SOURCE_NUL_MESSAGE));
    unit->block = (tn_mind_block){ 0 };
    tn_diags_enter(diags, before);
    return false;
  }
  tn_mind_advance(&p);
  unit->block.first = parse_statements(&p, false);
  unit->block.end = (uint32_t)p.text.len;
  if (p.doubtful_count) qsort(p.doubtful, p.doubtful_count, sizeof *p.doubtful, by_number);
  unit->doubtful = p.doubtful;
  unit->doubtful_count = p.doubtful_count;
  tn_diags_enter(diags, before);
  return diags->errors == errors && !p.failed && !p.lexer.open && !arena->failed;
}

/* ---- whether a text wants more ---- */

static bool wants_more(int kind) {
  if (kind == ',' || kind == '=' || kind == TN_MIND_TOKEN_ELSE || kind == TN_MIND_TOKEN_ARROW) return true;
  return tn_mind_precedence(kind) > 0;
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

/* ---- whether an else may follow ---- */

/* What the blocks that are open belong to, and the ifs of each level that have no block yet. */
typedef struct {
  bool of_if[TN_MIND_NESTING_LIMIT + 2];
  uint16_t ifs[TN_MIND_NESTING_LIMIT + 2];
  uint32_t depth;
  bool closed_if; /* the last bracket that was closed was the block of an if */
} if_scan;

/* A block belongs to the `if` before it, but not after `else` and not as the body of a closure. */
static void scan_open(if_scan *s, int kind, int before) {
  bool other = before == TN_MIND_TOKEN_ELSE || before == '|' || before == TN_MIND_TOKEN_OR;
  bool of_if = kind == '{' && !other && s->ifs[s->depth] > 0;
  if (of_if) s->ifs[s->depth]--;
  s->depth++;
  s->of_if[s->depth] = of_if;
  s->ifs[s->depth] = 0;
}

static bool scan_token(if_scan *s, int kind, int before) {
  int step = bracket_step(kind);
  if (kind == TN_MIND_TOKEN_IF) s->ifs[s->depth]++;
  if (step > 0 && s->depth > TN_MIND_NESTING_LIMIT) return false;
  if (step > 0) scan_open(s, kind, before);
  if (step < 0 && s->depth == 0) return false;
  if (step < 0) s->closed_if = s->of_if[s->depth--];
  return true;
}

bool tn_mind_may_go_on(tn_str text) {
  if_scan s = { .depth = 0 };
  tn_mind_lexer lexer;
  int last = TN_MIND_TOKEN_END;
  tn_mind_lexer_init(&lexer, text, 0, NULL, NULL);
  for (;;) {
    tn_mind_token token = tn_mind_next(&lexer);
    if (token.kind == TN_MIND_TOKEN_END) break;
    if (token.kind == TN_MIND_TOKEN_BAD || !scan_token(&s, token.kind, last)) return false;
    last = token.kind;
  }
  return last == '}' && s.closed_if && s.depth == 0;
}

bool tn_mind_begins_with_else(tn_str line) {
  tn_mind_lexer lexer;
  tn_mind_lexer_init(&lexer, line, 0, NULL, NULL);
  return tn_mind_next(&lexer).kind == TN_MIND_TOKEN_ELSE;
}
