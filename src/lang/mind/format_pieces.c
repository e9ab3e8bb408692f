/* lang/mind/format_pieces.c: a text becomes pieces that know their role. */
#include <string.h>

#include "base/utf8.h"
#include "lang/mind/format.h"

/* What the tree says about a byte of the text. */
enum { STATEMENT = 1, DEFINITION = 2, BLOCK = 4, FN_BLOCK = 8 };

typedef struct {
  tn_mind_pieces *out;
  tn_names *names;
  tn_str text;
  uint8_t *marks;                           /* by byte */
  tn_vec(const tn_mind_annotation *) types; /* as they stand in the text */
  tn_vec(uint32_t) open;                    /* brackets */
  bool failed;
} reader;

/* ---- what the tree says ---- */

static void walk_block(reader *r, const tn_mind_block *block);

static void walk_type(reader *r, const tn_mind_annotation *type) {
  if (type && !tn_vec_push(r->out->heap, &r->types, type)) r->failed = true;
}

static void walk_params(reader *r, const tn_mind_param *params, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) walk_type(r, params[i].annotation);
}

static void walk(reader *r, const tn_mind_node *top);

static void walk_list(reader *r, const tn_mind_node *item) {
  for (; item; item = item->next) walk(r, item);
}

static void walk_if(reader *r, const tn_mind_node *node) {
  for (const tn_mind_branch *branch = node->branch.branches; branch; branch = branch->next) {
    if (branch->condition) walk(r, branch->condition);
    r->marks[branch->block.start] |= BLOCK;
    walk_block(r, &branch->block);
  }
}

static void walk_fn(reader *r, const tn_mind_definition *fn) {
  walk_params(r, fn->params, fn->count);
  walk_type(r, fn->result);
  if (r->text.at[fn->body.start] != '{') {
    walk_list(r, fn->body.first);
    return;
  }
  r->marks[fn->body.start] |= BLOCK | FN_BLOCK;
  walk_block(r, &fn->body);
}

/* One node without what leans to its left. */
static void walk_one(reader *r, const tn_mind_node *node) {
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_TUPLE:
    case TN_MIND_LIST: walk_list(r, node->list.items); break;
    case TN_MIND_BINARY:
    case TN_MIND_LOGIC: walk(r, node->right); break;
    case TN_MIND_CALL:
    case TN_MIND_INDEX: walk_list(r, node->call.args); break;
    case TN_MIND_IF: walk_if(r, node); break;
    case TN_MIND_CLOSURE:
      walk_params(r, node->closure.params, node->closure.count);
      walk(r, node->closure.body);
      break;
    case TN_MIND_BODY:
      r->marks[node->block.start] |= BLOCK;
      walk_block(r, &node->block);
      break;
    case TN_MIND_LET:
    case TN_MIND_ASSIGN:
      walk_type(r, node->let.annotation);
      walk(r, node->let.value);
      break;
    case TN_MIND_FN: walk_fn(r, node->definition); break;
    default: break;
  }
}

/* In the order of the text. */
static void walk(reader *r, const tn_mind_node *top) {
  const tn_mind_node *node = top;
  if (!tn_stack_room(&r->out->heap->stack)) {
    r->failed = true;
    return;
  }
  while (node->left) node = node->left;
  for (;; node = node->up) {
    walk_one(r, node);
    if (node == top) break;
  }
}

static void walk_block(reader *r, const tn_mind_block *block) {
  for (const tn_mind_node *node = block->first; node; node = node->next) {
    r->marks[node->from] |= STATEMENT | (node->kind >= TN_MIND_LET ? DEFINITION : 0);
    walk(r, node);
  }
}

/* ---- types in their canonical spelling ---- */

/* recursion: tuple types in each other, TN_MIND_NESTING_LIMIT deep. */
static bool can_be_spelt(const reader *r, const tn_mind_annotation *type) {
  for (uint32_t i = type->start; i + 1 < type->end; i++) {
    if (r->text.at[i] == '/') return false; /* a comment: nothing else has one */
  }
  if (type->form == TN_MIND_WRITTEN_UNKNOWN) return false;
  if (type->form == TN_MIND_WRITTEN_TENSOR && type->rank > TN_RANK_LIMIT) return false;
  for (int i = 0; type->form == TN_MIND_WRITTEN_TENSOR && i < type->shape.rank; i++) {
    if (type->shape.dim[i] > TN_ELEMENT_LIMIT) return false;
  }
  for (const tn_mind_annotation *item = type->items; item; item = item->next) {
    if (!can_be_spelt(r, item)) return false;
  }
  return !type->result || can_be_spelt(r, type->result);
}

/* recursion: tuple types in each other, TN_MIND_NESTING_LIMIT deep. */
static void spell(const reader *r, const tn_mind_annotation *type, tn_text *out) {
  if (type->form == TN_MIND_WRITTEN_FN) tn_text_puts(out, "fn");
  if (type->form == TN_MIND_WRITTEN_TUPLE || type->form == TN_MIND_WRITTEN_FN) {
    tn_text_byte(out, '(');
    for (const tn_mind_annotation *item = type->items; item; item = item->next) {
      spell(r, item, out);
      if (item->next) tn_text_puts(out, ", ");
    }
    tn_text_byte(out, ')');
    if (!type->result) return;
    tn_text_puts(out, " -> ");
    spell(r, type->result, out);
    return;
  }
  bool tensor = type->form == TN_MIND_WRITTEN_TENSOR;
  if (tensor) tn_text_puts(out, "Tensor[");
  tn_text_add(out, tn_names_text(r->names, type->word.name));
  if (tensor) {
    tn_text_byte(out, ',');
    tn_mind_shape_print(&type->shape, r->names, out);
    tn_text_byte(out, ']');
  }
  if (!type->device.name) return;
  tn_text_byte(out, '@');
  tn_text_add(out, tn_names_text(r->names, type->device.name));
}

static tn_str spelt(reader *r, const tn_mind_annotation *type) {
  tn_text text;
  tn_text_init(&text, r->out->heap);
  spell(r, type, &text);
  tn_str kept = tn_arena_str(&r->out->arena, tn_text_str(&text));
  r->failed |= text.failed;
  tn_text_free(&text);
  return kept;
}

/* ---- cutting ---- */

/* The text of a comment: no blanks after it, lines that end in a line feed alone. */
static tn_str comment_text(reader *r, tn_str text) {
  if (text.at[1] == '/') {
    while (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t' || text.at[text.len - 1] == '\r')
      text.len--;
    return text;
  }
  char *kept = memchr(text.at, '\r', text.len) ? tn_arena_alloc(&r->out->arena, text.len) : NULL;
  size_t count = 0;
  if (!kept) return text;
  for (size_t i = 0; i < text.len; i++) {
    if (text.at[i] != '\r' || text.at[i + 1] != '\n') kept[count++] = text.at[i];
  }
  return (tn_str){ kept, count };
}

static void push(reader *r, tn_mind_piece piece) {
  if (!tn_vec_push(r->out->heap, &r->out->list, piece)) r->failed = true;
}

static tn_mind_piece piece_of(reader *r, const tn_mind_token *token) {
  tn_mind_piece piece = { .text = { r->text.at + token->start, token->end - token->start },
                          .kind = token->kind,
                          .new_line = token->new_line,
                          .blank_line = token->blank_line };
  uint8_t marks = r->marks[token->start];
  if (token->kind == TN_MIND_TOKEN_COMMENT) {
    piece.text = comment_text(r, piece.text);
    piece.role = TN_MIND_PIECE_COMMENT;
    piece.many_lines = memchr(piece.text.at, '\n', piece.text.len) != NULL;
    return piece;
  }
  piece.statement = marks & STATEMENT;
  piece.definition = marks & DEFINITION;
  if (marks & BLOCK) {
    piece.role = TN_MIND_PIECE_BLOCK_OPEN;
    piece.inline_block = !(marks & FN_BLOCK);
  }
  return piece;
}

/* The tokens of a type: as one piece, or left as they are. The `>=` after Tensor<f32,[2]>= 0 is cut. */
static void cut_type(reader *r, tn_mind_lexer *lexer, tn_mind_token token, const tn_mind_annotation *type) {
  bool whole = can_be_spelt(r, type);
  if (whole) {
    tn_mind_piece piece = { .text = spelt(r, type),
                            .role = TN_MIND_PIECE_TYPE,
                            .kind = TN_MIND_TOKEN_NAME,
                            .new_line = token.new_line };
    push(r, piece);
  }
  for (;; token = tn_mind_next(lexer)) {
    bool crosses = token.end > type->end;
    if (crosses) token.end = type->end;
    tn_mind_piece piece = piece_of(r, &token);
    if (piece.role != TN_MIND_PIECE_COMMENT) piece.role = TN_MIND_PIECE_TYPE;
    if (!whole) push(r, piece);
    if (crosses) {
      token = (tn_mind_token){ .kind = '=', .start = type->end, .end = type->end + 1 };
      push(r, piece_of(r, &token));
    }
    if (token.end >= type->end || token.kind == TN_MIND_TOKEN_END) return;
  }
}

static void cut(reader *r, uint32_t file) {
  tn_mind_lexer lexer;
  size_t next_type = 0;
  bool semicolon = false;
  tn_mind_lexer_init(&lexer, r->text, file, NULL, NULL);
  lexer.comments = true;
  while (!r->failed) {
    tn_mind_token token = tn_mind_next(&lexer);
    if (token.kind == TN_MIND_TOKEN_END) break;
    if (token.kind == ';') {
      semicolon = true;
      continue;
    }
    bool typed = next_type < r->types.count && token.start == r->types.at[next_type]->start &&
                 token.kind != TN_MIND_TOKEN_COMMENT;
    if (typed) {
      cut_type(r, &lexer, token, r->types.at[next_type++]);
    } else {
      push(r, piece_of(r, &token));
      if (r->out->list.count) tn_vec_last(&r->out->list).after_semicolon = semicolon;
    }
    semicolon = false;
  }
  push(r, (tn_mind_piece){ .role = TN_MIND_PIECE_COMMENT, .statement = true });
}

/* ---- roles ---- */

static bool ends_operand(const tn_mind_piece *piece) {
  return piece && (piece->role == TN_MIND_PIECE_OPERAND || piece->role == TN_MIND_PIECE_CLOSE ||
                   piece->role == TN_MIND_PIECE_BLOCK_CLOSE || piece->role == TN_MIND_PIECE_TYPE);
}

static bool in_call(const reader *r) {
  if (!r->open.count) return false;
  return r->out->list.at[tn_vec_last(&r->open)].role == TN_MIND_PIECE_OPEN_TIGHT;
}

static uint8_t sign_role(const reader *r, const tn_mind_piece *piece, const tn_mind_piece *before,
                         bool *bar) {
  bool operand = ends_operand(before);
  switch (piece->kind) {
    case '(':
    case '[': return operand ? TN_MIND_PIECE_OPEN_TIGHT : TN_MIND_PIECE_OPEN;
    case '{': return TN_MIND_PIECE_NAMES_OPEN;
    case ')':
    case ']': return TN_MIND_PIECE_CLOSE;
    case '}': return TN_MIND_PIECE_BLOCK_CLOSE;
    case ',': return TN_MIND_PIECE_COMMA;
    case ':': return TN_MIND_PIECE_COLON;
    case '.': return TN_MIND_PIECE_DOT;
    case '=': return in_call(r) ? TN_MIND_PIECE_KEY_ASSIGN : TN_MIND_PIECE_ASSIGN;
    case '!': return TN_MIND_PIECE_PREFIX;
    case '-': return operand ? TN_MIND_PIECE_INFIX : TN_MIND_PIECE_PREFIX;
    case '|': *bar = !*bar; return *bar ? TN_MIND_PIECE_BAR_OPEN : TN_MIND_PIECE_BAR_CLOSE;
    case TN_MIND_TOKEN_OR: return operand ? TN_MIND_PIECE_INFIX : TN_MIND_PIECE_BAR_CLOSE;
    case TN_MIND_TOKEN_ARROW: return TN_MIND_PIECE_ARROW;
    default: return TN_MIND_PIECE_INFIX;
  }
}

static uint8_t role_of(const reader *r, const tn_mind_piece *piece, const tn_mind_piece *before, bool *bar) {
  switch (piece->kind) {
    case TN_MIND_TOKEN_NAME:
    case TN_MIND_TOKEN_INT:
    case TN_MIND_TOKEN_FLOAT:
    case TN_MIND_TOKEN_STRING:
    case TN_MIND_TOKEN_TRUE:
    case TN_MIND_TOKEN_FALSE: return TN_MIND_PIECE_OPERAND;
    case TN_MIND_TOKEN_LET:
    case TN_MIND_TOKEN_FN:
    case TN_MIND_TOKEN_IMPORT:
    case TN_MIND_TOKEN_EXPORT:
    case TN_MIND_TOKEN_AS:
    case TN_MIND_TOKEN_IF:
    case TN_MIND_TOKEN_ELSE: return TN_MIND_PIECE_WORD;
    default: return sign_role(r, piece, before, bar);
  }
}

static bool opens(const tn_mind_piece *piece) {
  return piece->role == TN_MIND_PIECE_OPEN || piece->role == TN_MIND_PIECE_OPEN_TIGHT ||
         piece->role == TN_MIND_PIECE_NAMES_OPEN || piece->role == TN_MIND_PIECE_BLOCK_OPEN ||
         piece->role == TN_MIND_PIECE_BAR_OPEN;
}

static bool closes(const tn_mind_piece *piece) {
  return piece->role == TN_MIND_PIECE_CLOSE || piece->role == TN_MIND_PIECE_BLOCK_CLOSE ||
         piece->role == TN_MIND_PIECE_NAMES_CLOSE ||
         (piece->role == TN_MIND_PIECE_BAR_CLOSE && piece->kind == '|');
}

static void close_piece(reader *r, uint32_t at) {
  tn_mind_piece *list = r->out->list.at;
  uint32_t partner = tn_vec_pop(&r->open);
  list[at].match = partner;
  list[partner].match = at;
  if (list[partner].role == TN_MIND_PIECE_NAMES_OPEN) list[at].role = TN_MIND_PIECE_NAMES_CLOSE;
}

/* Roles and partners of all pieces that are neither comments nor types. */
static void give_roles(reader *r) {
  const tn_mind_piece *before = NULL;
  bool bar = false;
  for (uint32_t i = 0; i < r->out->list.count && !r->failed; i++) {
    tn_mind_piece *piece = &r->out->list.at[i];
    if (piece->role == TN_MIND_PIECE_COMMENT) continue;
    if (piece->statement) before = NULL;
    if (piece->role == TN_MIND_PIECE_OPERAND) piece->role = role_of(r, piece, before, &bar);
    if (opens(piece) && !tn_vec_push(r->out->heap, &r->open, i)) r->failed = true;
    if (closes(piece) && r->open.count) close_piece(r, i);
    before = piece;
  }
}

/* ---- commas after the last item ---- */

static uint32_t next_token(const reader *r, uint32_t at) {
  while (at < r->out->list.count && r->out->list.at[at].role == TN_MIND_PIECE_COMMENT) at++;
  return at;
}

/* (x,) is a tuple, (x) is not. */
static bool makes_a_tuple(const reader *r, uint32_t comma, uint32_t close) {
  const tn_mind_piece *list = r->out->list.at;
  if (list[close].role != TN_MIND_PIECE_CLOSE || list[list[close].match].role != TN_MIND_PIECE_OPEN ||
      list[close].kind != ')') {
    return false;
  }
  for (uint32_t i = list[close].match + 1; i < comma; i++) {
    if (opens(&list[i])) i = list[i].match;
    if (list[i].role == TN_MIND_PIECE_COMMA) return false;
  }
  return true;
}

static bool is_idle_comma(const reader *r, uint32_t at) {
  const tn_mind_piece *list = r->out->list.at;
  if (list[at].role != TN_MIND_PIECE_COMMA) return false;
  uint32_t next = next_token(r, at + 1);
  if (next >= r->out->list.count) return false;
  return closes(&list[next]) && !makes_a_tuple(r, at, next);
}

static void drop_idle_commas(reader *r) {
  tn_mind_piece *list = r->out->list.at;
  bool any = false;
  for (uint32_t i = 0; i < r->out->list.count; i++) {
    if (is_idle_comma(r, i)) list[i].kind = TN_MIND_TOKEN_END, any = true;
  }
  if (!any) return;
  size_t kept = 0;
  for (size_t i = 0; i < r->out->list.count; i++) {
    if (list[i].role == TN_MIND_PIECE_COMMA && list[i].kind == TN_MIND_TOKEN_END) continue;
    list[kept++] = list[i];
  }
  r->out->list.count = kept;
  r->open.count = 0; /* partners have moved */
  for (uint32_t i = 0; i < kept; i++) {
    if (opens(&list[i])) r->open.at[r->open.count++] = i;
    if (closes(&list[i])) close_piece(r, i);
  }
}

/* ---- spaces, widths ---- */

static bool binds_right(const tn_mind_piece *piece) {
  switch ((tn_mind_piece_role)piece->role) {
    case TN_MIND_PIECE_OPEN:
    case TN_MIND_PIECE_OPEN_TIGHT:
    case TN_MIND_PIECE_BAR_OPEN:
    case TN_MIND_PIECE_PREFIX:
    case TN_MIND_PIECE_DOT:
    case TN_MIND_PIECE_KEY_ASSIGN: return true;
    default: return false;
  }
}

static bool binds_left(const tn_mind_piece *piece) {
  switch ((tn_mind_piece_role)piece->role) {
    case TN_MIND_PIECE_CLOSE:
    case TN_MIND_PIECE_COMMA:
    case TN_MIND_PIECE_COLON:
    case TN_MIND_PIECE_DOT:
    case TN_MIND_PIECE_OPEN_TIGHT:
    case TN_MIND_PIECE_KEY_ASSIGN: return true;
    case TN_MIND_PIECE_BAR_CLOSE: return piece->kind == '|';
    default: return false;
  }
}

/* `1 .0` must not become a number; t.0.1 is not one. */
static uint32_t space_before(const tn_mind_piece *list, uint32_t at) {
  const tn_mind_piece *piece = &list[at], *before = piece - 1;
  if (piece->role == TN_MIND_PIECE_COMMENT) return piece->text.len > 1 && piece->text.at[1] == '/' ? 2 : 1;
  if (before->role == TN_MIND_PIECE_COMMENT) return piece->role != TN_MIND_PIECE_COMMA;
  if (before->role == TN_MIND_PIECE_TYPE && piece->role == TN_MIND_PIECE_TYPE) return 0;
  if (piece->role == TN_MIND_PIECE_DOT && before->kind == TN_MIND_TOKEN_INT)
    return piece[1].kind == TN_MIND_TOKEN_INT && (at < 2 || list[at - 2].role != TN_MIND_PIECE_DOT);
  bool empty = (before->role == TN_MIND_PIECE_BLOCK_OPEN && piece->role == TN_MIND_PIECE_BLOCK_CLOSE) ||
               (before->role == TN_MIND_PIECE_NAMES_OPEN && piece->role == TN_MIND_PIECE_NAMES_CLOSE);
  return !empty && !binds_right(before) && !binds_left(piece);
}

/* A block may stand in one line when it is one expression without comments. */
static bool is_short(const reader *r, uint32_t open) {
  const tn_mind_piece *list = r->out->list.at;
  uint32_t statements = 0;
  for (uint32_t i = open + 1; i < list[open].match; i++) {
    if (list[i].role == TN_MIND_PIECE_COMMENT) return false;
    if (list[i].statement && list[i].definition) return false;
    if (opens(&list[i])) {
      statements += list[i].statement;
      i = list[i].match;
      continue;
    }
    statements += list[i].statement;
  }
  return statements <= 1;
}

static bool ends_line(const tn_mind_piece *piece) {
  if (piece->role == TN_MIND_PIECE_BLOCK_OPEN) return !piece->inline_block;
  if (piece->role != TN_MIND_PIECE_COMMENT || piece->text.len < 2) return false;
  return piece->text.at[1] == '/' || piece->many_lines || piece->new_line;
}

static void measure(reader *r) {
  tn_mind_piece *list = r->out->list.at;
  size_t width = 0;
  uint32_t breaks = 0;
  for (uint32_t i = 0; i < r->out->list.count; i++) {
    tn_mind_piece *piece = &list[i];
    if (piece->role == TN_MIND_PIECE_BLOCK_OPEN) piece->inline_block &= is_short(r, i);
    piece->space = i && !piece->statement ? space_before(list, i) : 0;
    if (i && piece->statement && list[i - 1].role == TN_MIND_PIECE_BLOCK_OPEN) piece->space = 1;
    piece->width_before = (uint32_t)width;
    piece->breaks_before = breaks;
    width += piece->space + tn_utf8_count(piece->text);
    breaks += ends_line(piece);
  }
}

/* ---- reading ---- */

static bool read_pieces(reader *r, tn_mind_unit *unit) {
  r->marks = tn_heap_alloc(r->out->heap, r->text.len + 1);
  if (!r->marks) return false;
  walk_block(r, &unit->block);
  if (!r->failed) cut(r, unit->file);
  if (!r->failed) give_roles(r);
  if (!r->failed) drop_idle_commas(r);
  if (!r->failed) measure(r);
  tn_heap_free(r->out->heap, r->marks, r->text.len + 1);
  tn_vec_free(r->out->heap, &r->types);
  tn_vec_free(r->out->heap, &r->open);
  return !r->failed && !r->out->arena.failed;
}

bool tn_mind_pieces_read(tn_heap *heap, tn_names *names, const tn_sources *sources, tn_diags *diags,
                         uint32_t file, tn_mind_pieces *out) {
  tn_mind_unit unit = { .file = file };
  *out = (tn_mind_pieces){ .heap = heap };
  tn_arena_init(&out->arena, heap);
  reader r = { .out = out, .names = names, .text = tn_sources_get(sources, file)->text };
  bool parsed = tn_mind_parse(&out->arena, names, sources, diags, &unit);
  if (parsed && read_pieces(&r, &unit)) return true;
  if (parsed || out->arena.failed) tn_report_plain(diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
  tn_mind_pieces_free(out);
  return false;
}

void tn_mind_pieces_free(tn_mind_pieces *pieces) {
  tn_vec_free(pieces->heap, &pieces->list);
  tn_arena_free(&pieces->arena);
}
