/* lang/ail/parser.h: shared by the files of the parser.
 *
 * parser.c reads items and blocks, parser_expression.c expressions, parser_app.c
 * state machines, states and handlers; parser_tokens.c has what they share:
 * tokens, errors, lists. */
#ifndef TN_LANG_AIL_PARSER_H
#define TN_LANG_AIL_PARSER_H

#include "lang/ail/ast.h"

/* What is being read: an error in it shows a correct line (parser_tokens.c). */
typedef enum {
  TN_AIL_RULE_NONE,
  TN_AIL_RULE_MODEL, /* statements, in the order of tn_ail_place */
  TN_AIL_RULE_FORWARD,
  TN_AIL_RULE_LOSS,
  TN_AIL_RULE_FUNCTION,
  TN_AIL_RULE_LAYER,
  TN_AIL_RULE_HANDLER,
  TN_AIL_RULE_STATE,
  TN_AIL_RULE_ITEM,
  TN_AIL_RULE_FIELD,
  TN_AIL_RULE_SHAPE,
  TN_AIL_RULE_CONST,
  TN_AIL_RULE_SIGNATURE,
  TN_AIL_RULE_LIST,
  TN_AIL_RULE_CALL,
  TN_AIL_RULE_GROUP,
  TN_AIL_RULE_IF,
  TN_AIL_RULE_FOR,
  TN_AIL_RULE_REPEAT,
  TN_AIL_RULE_REDUCE,
  TN_AIL_RULE_TRANSITION,
  TN_AIL_RULE_VARIABLE,
  TN_AIL_RULE_STATE_MACHINE,
  TN_AIL_RULE_APP,
  TN_AIL_RULE_COUNT
} tn_ail_rule;

typedef struct {
  tn_host *host;
  tn_arena *arena;
  uint32_t file;
  tn_ail_rule rule;
  tn_ail_lexer lexer;
  tn_ail_token token, next; /* the one to be read, and the one after it */
  uint32_t read_from;       /* where the last token that was read begins, and ends */
  uint32_t read_to;
  uint32_t statement;       /* where the statement that is being read begins */
  uint32_t block;           /* where the block that is being read begins, from 1; 0: in none */
  int depth;                /* brackets, calls, ifs, loops and blocks that are open */
  int brackets;             /* where a line break means nothing: parentheses, lists, loop bodies */
  int lists;                /* open lists, in which @ and further lists may stand */
  int constants;            /* where constants may be computed, / divides: const, shapes, lists, arguments */
  bool by_lines;            /* a `-` at the start of a line begins something new: function bodies */
  int values;               /* expressions that are being read, inside each other */
  bool panic;               /* an error was reported and not yet recovered from */
  bool in_value;            /* it was found inside an expression, which declares nothing */
  bool swallowed;           /* a string that is not closed holds a } */
  bool failed;              /* memory ran out */
  tn_ail_tree *tree;
  /* Lists in the making; those inside others lie above them. */
  tn_vec(tn_ail_arg) args;
  tn_vec(tn_ail_link) links;
  tn_vec(tn_ail_arm) arms;
  tn_vec(tn_ail_expr *) exprs;
  tn_vec(tn_ail_dim) dims;
  tn_vec(tn_ail_statement) statements;
  tn_vec(tn_ail_parameter) params;
  tn_vec(tn_ail_field) fields;
  tn_vec(tn_ail_transition) transitions;
  tn_vec(tn_ail_state) states;
  tn_vec(tn_ail_variable) variables;
  tn_vec(tn_ail_item) items;
} tn_ail_parser;

/* Appends; out of memory is noted. `item` must be at hand: what makes it may grow the same list. */
#define tn_ail_add(p, list, item)                                                                            \
  do {                                                                                                       \
    if (!tn_vec_push((p)->host->heap, &(p)->list, (item))) (p)->failed = true;                               \
  } while (0)
/* The items of a list from `start` on, moved into the arena; the list is `start` long again. */
#define tn_ail_take(p, list, start, length)                                                                  \
  (*(length) = (uint32_t)((p)->list.count - (start)), (p)->list.count = (start),                             \
   tn_ail_keep((p), (p)->list.at ? (p)->list.at + (start) : NULL, *(length), sizeof *(p)->list.at))
void *tn_ail_keep(tn_ail_parser *p, const void *items, size_t count, size_t size);

/* ---- tokens ---- */

void tn_ail_advance(tn_ail_parser *p);
static inline bool tn_ail_at(const tn_ail_parser *p, tn_ail_token_kind kind) { return p->token.kind == kind; }
static inline bool tn_ail_at_word(const tn_ail_parser *p, tn_ail_word word) { return p->token.word == word; }
bool tn_ail_accept(tn_ail_parser *p, tn_ail_token_kind kind);
bool tn_ail_accept_word(tn_ail_parser *p, tn_ail_word word);
/* Reads it or reports that it is missing: "expected `)` after the arguments". */
bool tn_ail_expect(tn_ail_parser *p, tn_ail_token_kind kind, const char *what);
/* The } of a block. It is not missed where a string that is not closed has swallowed it. */
void tn_ail_expect_end(tn_ail_parser *p);
bool tn_ail_expect_word(tn_ail_parser *p, tn_ail_word word, const char *what);
/* Another rule is read from here on; returns the one around it, which the caller restores. */
static inline tn_ail_rule tn_ail_begin(tn_ail_parser *p, tn_ail_rule rule) {
  tn_ail_rule around = p->rule;
  p->rule = rule;
  return around;
}
/* A name; 0 after reporting. */
tn_name tn_ail_expect_name(tn_ail_parser *p, const char *what, tn_span *at);
tn_span tn_ail_token_span(const tn_ail_parser *p, const tn_ail_token *token);
tn_str tn_ail_token_text(const tn_ail_parser *p, const tn_ail_token *token);
/* From a token's start to the last token that was read. */
tn_span tn_ail_span_from(const tn_ail_parser *p, uint32_t start);
tn_name tn_ail_name_of(tn_ail_parser *p, const tn_ail_token *token);
void tn_ail_mark(tn_ail_parser *p, tn_name name, unsigned mark);

/* ---- errors ---- */

/* E_SYNTAX_ERROR, unless an error waits to be recovered from. Always false. */
bool tn_ail_syntax_error(tn_ail_parser *p, tn_span at, const char *message);
/* The same at the token, with what was found there, "expected a value, found `)`", and a right line of the
 * rule that is being read. */
bool tn_ail_expected(tn_ail_parser *p, const char *what);
/* The same where a value is missing. At the end of a line the place is after the last token, not in the
 * next statement. */
bool tn_ail_value_expected(tn_ail_parser *p);
/* Words of other languages where a statement, a field or an item should begin: `while`, `import`. True after
 * reporting, with everything that belongs to it skipped. */
bool tn_ail_refuse_foreign(tn_ail_parser *p);
/* Whether a statement begins here, even inside an open bracket: no expression continues with what starts
 * this line. */
bool tn_ail_at_statement(const tn_ail_parser *p);
/* Another code, by the same rule; true when it may be reported. */
bool tn_ail_may_report(tn_ail_parser *p);
/* One level deeper; false, after reporting and giving up, past the limit. */
bool tn_ail_enter(tn_ail_parser *p, const char *what);
void tn_ail_leave(tn_ail_parser *p);
/* Skips what is left of a statement, up to one that starts a line, or to the block's end. The token
 * that the statement begins with is always skipped, so parsing makes progress. */
void tn_ail_recover(tn_ail_parser *p);

/* ---- the grammar ---- */

/* Never NULL unless memory ran out. */
tn_ail_expr *tn_ail_parse_expr(tn_ail_parser *p);
/* The same, or a list. */
tn_ail_expr *tn_ail_parse_field_value(tn_ail_parser *p);
/* [sign] number, string, true or false */
tn_ail_expr *tn_ail_parse_literal(tn_ail_parser *p);
/* Constants and what is computed of them. */
tn_ail_expr *tn_ail_parse_constant(tn_ail_parser *p);
/* What follows `init`: a name or a call, whose arguments are constants. */
tn_ail_expr *tn_ail_parse_init(tn_ail_parser *p);

typedef enum {
  TN_AIL_IN_MODEL,
  TN_AIL_IN_FORWARD,
  TN_AIL_IN_LOSS,
  TN_AIL_IN_FUNCTION,
  TN_AIL_IN_LAYER,
  TN_AIL_IN_HANDLER,
  TN_AIL_IN_STATE
} tn_ail_place;
/* `{` statements `}` */
bool tn_ail_parse_block(tn_ail_parser *p, tn_ail_place place, uint32_t keyword_start, tn_ail_block *out);
/* One statement, appended to p->statements. */
void tn_ail_parse_statement(tn_ail_parser *p, tn_ail_place place);
/* Whether the token begins another item, so that a } must be missing. */
bool tn_ail_at_item(const tn_ail_parser *p);

/* Each begins at its keyword and appends an item. */
void tn_ail_parse_state_machine(tn_ail_parser *p);
void tn_ail_parse_state_block(tn_ail_parser *p);
void tn_ail_parse_handler(tn_ail_parser *p);
#endif
