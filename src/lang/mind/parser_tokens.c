/* lang/mind/parser_tokens.c: tokens, brackets and nodes, for the parser. */
#include "lang/mind/parser.h"

#include <string.h>

/* ---- tokens ---- */

void tn_mind_advance(tn_mind_parser *p) {
  p->last_start = p->token.start;
  p->last_end = p->token.end;
  if (p->has_ahead) {
    p->token = p->ahead;
    p->has_ahead = false;
  } else {
    tn_mind_read(&p->lexer, &p->token);
  }
}

int tn_mind_peek(tn_mind_parser *p) {
  if (!p->has_ahead) {
    tn_mind_read(&p->lexer, &p->ahead);
    p->has_ahead = true;
  }
  return p->ahead.kind;
}

tn_span tn_mind_token_span(const tn_mind_parser *p) {
  return tn_mind_at(p->unit, p->token.start, p->token.end);
}

bool tn_mind_begin_panic(tn_mind_parser *p) {
  p->panic = p->failed = true;
  return false;
}

/* A token that cannot be read has been reported by the lexer. */
static bool syntax_at(tn_mind_parser *p, tn_span at, const char *message, const char *hint) {
  if (!p->panic && p->token.kind != TN_MIND_TOKEN_BAD) {
    tn_report(p->diags, TN_DIAG_E1001, at, TN_STR("message", message), TN_HINT(tn_str_of(hint)));
  }
  return tn_mind_begin_panic(p);
}

bool tn_mind_syntax(tn_mind_parser *p, const char *message) {
  return syntax_at(p, tn_mind_token_span(p), message, "");
}

bool tn_mind_syntax_hint(tn_mind_parser *p, const char *message, const char *hint) {
  return syntax_at(p, tn_mind_token_span(p), message, hint);
}

bool tn_mind_is_cut_off(tn_mind_parser *p) {
  if (p->panic || p->inside || !tn_mind_begins_statement(p)) return false;
  syntax_at(p, tn_mind_at(p->unit, p->last_start, p->last_end), "expected an expression after this", "");
  return true;
}

bool tn_mind_accept(tn_mind_parser *p, int kind) {
  if (p->panic || p->token.kind != kind) return false;
  tn_mind_advance(p);
  return true;
}

bool tn_mind_expect(tn_mind_parser *p, int kind, const char *message) {
  if (tn_mind_accept(p, kind)) return true;
  return tn_mind_syntax(p, message);
}

/* ---- nesting ---- */

static bool too_deep(tn_mind_parser *p, tn_span at) {
  if (!p->panic) tn_report(p->diags, TN_DIAG_E_NESTING_LIMIT, at, TN_INT("limit", TN_MIND_NESTING_LIMIT));
  return tn_mind_begin_panic(p);
}

bool tn_mind_enter(tn_mind_parser *p, tn_span at) {
  if (!tn_stack_room(&p->diags->arena.heap->stack)) {
    if (!p->panic) tn_report_stack(p->diags, at, NULL);
    return tn_mind_begin_panic(p);
  }
  if (p->depth == TN_MIND_NESTING_LIMIT) return too_deep(p, at);
  p->depth++;
  return true;
}

void tn_mind_leave(tn_mind_parser *p) { p->depth--; }

bool tn_mind_open(tn_mind_parser *p, char sign, const char *message) {
  if (p->panic || p->token.kind != sign) return tn_mind_syntax(p, message);
  if (!tn_mind_enter(p, tn_mind_token_span(p))) return false;
  p->open[p->open_count++] = (tn_mind_opened){ sign, p->token.start };
  tn_mind_advance(p);
  return true;
}

bool tn_mind_close(tn_mind_parser *p, char sign, const char *message) {
  if (p->panic) return false;
  if (p->token.kind != sign) {
    tn_mind_opened *from = &p->open[p->open_count - 1];
    if (p->token.kind != TN_MIND_TOKEN_BAD) {
      tn_report(p->diags, TN_DIAG_E1001, tn_mind_token_span(p), TN_STR("message", message),
                TN_NOTE(tn_mind_at(p->unit, from->at, from->at + 1), "opened here"));
    }
    return tn_mind_begin_panic(p);
  }
  p->open_count--;
  tn_mind_leave(p);
  tn_mind_advance(p);
  return true;
}

/* ---- nodes ---- */

tn_mind_node *tn_mind_make(tn_mind_parser *p, tn_mind_kind kind, uint32_t start) {
  tn_mind_node *node = tn_arena_new(p->arena, tn_mind_node);
  if (!node) {
    tn_mind_begin_panic(p);
    p->spare = (tn_mind_node){ 0 };
    node = &p->spare;
  }
  node->kind = (uint8_t)kind;
  node->start = node->from = start;
  return node;
}

tn_mind_node *tn_mind_ended(const tn_mind_parser *p, tn_mind_node *node) {
  node->end = node->to = p->last_end;
  return node;
}

tn_mind_node *tn_mind_bad(tn_mind_parser *p) { return tn_mind_make(p, TN_MIND_BAD, p->token.start); }

void tn_mind_append(tn_mind_node_list *list, tn_mind_node *node) {
  if (!list->end) list->end = &list->first;
  *list->end = node;
  list->end = &node->next;
  list->count++;
}

/* Words, parameters: a few at a time, copied into the arena at the end. */
#define LIST_LIMIT 1000000

void *tn_mind_grown(tn_mind_parser *p, void *items, uint32_t count, uint32_t *room, size_t bytes) {
  if (count < *room) return items;
  uint32_t more = *room ? *room * 2 : 4;
  void *moved = more <= LIST_LIMIT ? tn_arena_array(p->arena, more, bytes) : NULL;
  if (!moved) {
    tn_mind_begin_panic(p);
    return NULL;
  }
  if (count) memcpy(moved, items, count * bytes);
  *room = more;
  return moved;
}

tn_mind_word tn_mind_word_here(const tn_mind_parser *p) {
  return (tn_mind_word){ p->token.name, p->token.start, p->token.end };
}

bool tn_mind_parse_word(tn_mind_parser *p, tn_mind_word *out, const char *message) {
  if (p->panic || p->token.kind != TN_MIND_TOKEN_NAME) return tn_mind_syntax(p, message);
  *out = tn_mind_word_here(p);
  tn_mind_advance(p);
  return true;
}

tn_mind_word *tn_mind_parse_words(tn_mind_parser *p, int close, uint32_t *count) {
  tn_mind_word *words = NULL;
  uint32_t room = 0;
  for (*count = 0; !p->panic && p->token.kind != close;) {
    words = tn_mind_grown(p, words, *count, &room, sizeof *words);
    if (!words || !tn_mind_parse_word(p, &words[*count], "expected a name")) return NULL;
    (*count)++;
    if (!tn_mind_accept(p, ',')) break;
  }
  return words;
}

/* ---- operators and effects by name ---- */

tn_op tn_mind_operator_op(tn_mind_operator which) {
  static const tn_op ops[] = {
#define TN_OP(id, ...)          __VA_ARGS__
#define TN_MIND(...)            __VA_ARGS__
#define MIND_OPERATOR(id, text) [TN_MIND_##id] = TN_OP_##id,
#define MIND_PREFIX(id, text)   [TN_MIND_##id] = TN_OP_##id,
#include "op/ops.def"
  };
  return ops[which];
}

static const char *const effect_names[TN_MIND_EFFECT_COUNT] = { "io", "fileread", "clock", "random",
                                                                "filewrite" };

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
