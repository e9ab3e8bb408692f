/* lang/mind/parser.h: shared by the files of the parser.
 *
 *   parser_tokens.c      tokens, brackets, nodes
 *   parser_type.c        types as they are written
 *   parser_expression.c  operands, operators, closures, ifs
 *   parser_statement.c   statements, blocks, and where reading resumes after a mistake
 *
 * A descent with one token of look-ahead. Operators of one precedence are read
 * in a loop and lean to the left, so a row of them costs no depth; what nests
 * (brackets, blocks, ifs, closures) is counted against TN_MIND_NESTING_LIMIT.
 *
 * After a mistake the parser is in `panic`: every function returns at once, the
 * statement is given up, and reading resumes at the next statement, so that one
 * run shows all mistakes and none of their consequences. */
#ifndef TN_LANG_MIND_PARSER_H
#define TN_LANG_MIND_PARSER_H

#include "lang/mind/ast.h"
#include "lang/mind/lexer.h"

typedef struct {
  char sign; /* the bracket that is open */
  uint32_t at;
} tn_mind_opened;

typedef struct {
  tn_arena *arena;
  tn_names *names;
  tn_diags *diags;
  tn_mind_unit *unit;
  tn_str text;
  tn_mind_lexer lexer;
  tn_mind_token token, ahead;
  bool has_ahead;
  uint32_t last_start, last_end; /* of the token before `token` */
  bool panic, failed;
  uint32_t depth;  /* what nests */
  uint32_t inside; /* open ( and [ since the last {: line breaks do not count there */
  tn_mind_opened open[TN_MIND_NESTING_LIMIT + 1];
  uint32_t open_count;
  uint32_t forgiven; /* braces that a statement given up has left open */
  uint32_t reread;   /* tokens that were looked at for brackets that nothing closes */
  tn_name *doubtful; /* see tn_mind_unit */
  uint32_t doubtful_count, doubtful_room;
  tn_mind_node spare; /* what is given out when there is no memory */
} tn_mind_parser;

/* A list that grows at its end. */
typedef struct {
  tn_mind_node *first, **end;
  uint32_t count;
} tn_mind_node_list;

/* ---- parser.c: tokens ---- */

void tn_mind_advance(tn_mind_parser *p);
/* The kind of the token after the current one. */
int tn_mind_peek(tn_mind_parser *p);
tn_span tn_mind_token_span(const tn_mind_parser *p);
/* Gives the statement up; false. */
bool tn_mind_begin_panic(tn_mind_parser *p);
/* Reports E1001 at the current token, unless that has been reported, and gives the statement up; false. */
bool tn_mind_syntax(tn_mind_parser *p, const char *message);
bool tn_mind_syntax_hint(tn_mind_parser *p, const char *message, const char *hint);
/* After an operator or `=`: whether the next line is a statement of its own. Reports that then; true. */
bool tn_mind_is_cut_off(tn_mind_parser *p);
/* Takes the token if it is of that kind. */
bool tn_mind_accept(tn_mind_parser *p, int kind);
bool tn_mind_expect(tn_mind_parser *p, int kind, const char *message);
/* A line break ends an expression unless a bracket is open. */
static inline bool tn_mind_goes_on(const tn_mind_parser *p) {
  return !p->panic && (!p->token.new_line || p->inside);
}

/* ---- brackets ---- */

/* Around what nests; false after reporting. */
bool tn_mind_enter(tn_mind_parser *p, tn_span at);
void tn_mind_leave(tn_mind_parser *p);
/* Takes an opening bracket. */
bool tn_mind_open(tn_mind_parser *p, char sign, const char *message);
/* Takes the closing one; without it, the diagnostic shows where the other stands. */
bool tn_mind_close(tn_mind_parser *p, char sign, const char *message);

/* ---- nodes ---- */

/* Never NULL: for want of memory a node that is not looked at, because the parse has failed. */
tn_mind_node *tn_mind_make(tn_mind_parser *p, tn_mind_kind kind, uint32_t start);
/* The node ends with the token before the current one. */
tn_mind_node *tn_mind_ended(const tn_mind_parser *p, tn_mind_node *node);
tn_mind_node *tn_mind_bad(tn_mind_parser *p);
void tn_mind_append(tn_mind_node_list *list, tn_mind_node *node);
/* Room for one more item in an array of the arena; NULL after giving up. */
void *tn_mind_grown(tn_mind_parser *p, void *items, uint32_t count, uint32_t *room, size_t bytes);
tn_mind_word tn_mind_word_here(const tn_mind_parser *p);
bool tn_mind_parse_word(tn_mind_parser *p, tn_mind_word *out, const char *message);
/* names = NAME { "," NAME } [ "," ], up to `close` */
tn_mind_word *tn_mind_parse_words(tn_mind_parser *p, int close, uint32_t *count);

/* ---- the other files ---- */

/* NULL after reporting. */
tn_mind_annotation *tn_mind_parse_type(tn_mind_parser *p);
tn_mind_node *tn_mind_parse_expression(tn_mind_parser *p);
/* params = [ NAME [ ":" type ] { "," ... } ], up to `close`; `typed`: the types are required. */
tn_mind_param *tn_mind_parse_params(tn_mind_parser *p, int close, bool typed, uint32_t *count);
bool tn_mind_parse_block(tn_mind_parser *p, tn_mind_block *block);
/* Whether a line begins here with `let`, `fn`, `import`, `export` or `name =`. */
bool tn_mind_begins_statement(tn_mind_parser *p);
#endif
