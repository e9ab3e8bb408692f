/* lang/mind/lexer.h: the tokens of MIND.
 *
 * Line breaks are not tokens: a token records whether one precedes it, and the
 * parser decides whether that matters. Comments are skipped; the formatter, which
 * must keep them, reads them separately. */
#ifndef TN_LANG_MIND_LEXER_H
#define TN_LANG_MIND_LEXER_H

#include "base/arena.h"
#include "diag/diag.h"

/* Signs of one character are their character. */
typedef enum {
  TN_MIND_TOKEN_END = 0,
  TN_MIND_TOKEN_NAME = 256,
  TN_MIND_TOKEN_INT,
  TN_MIND_TOKEN_FLOAT,
  TN_MIND_TOKEN_STRING,
  TN_MIND_TOKEN_ARROW,        /* -> */
  TN_MIND_TOKEN_EQ, TN_MIND_TOKEN_NE, TN_MIND_TOKEN_LE, TN_MIND_TOKEN_GE,
  TN_MIND_TOKEN_AND, TN_MIND_TOKEN_OR,
  TN_MIND_TOKEN_LET, TN_MIND_TOKEN_FN, TN_MIND_TOKEN_IMPORT, TN_MIND_TOKEN_EXPORT, TN_MIND_TOKEN_AS,
  TN_MIND_TOKEN_IF, TN_MIND_TOKEN_ELSE, TN_MIND_TOKEN_TRUE, TN_MIND_TOKEN_FALSE,
  TN_MIND_TOKEN_COMMENT,      /* only when asked for */
  TN_MIND_TOKEN_BAD           /* no token; has been reported */
} tn_mind_token_kind;

typedef struct {
  int kind;                   /* tn_mind_token_kind, or a character */
  uint32_t start, end;
  bool new_line;              /* a line break stands between this token and the one before */
  bool blank_line;            /* and an empty line as well */
  bool too_big;               /* of an integer: over 2^63; has been reported */
  uint64_t integer;           /* its size: at most 2^63 */
  tn_name name;
} tn_mind_token;

typedef struct {
  tn_str text;
  uint32_t file;
  size_t at;
  int before;                 /* the kind of the token before */
  bool comments;              /* gives comments as tokens */
  bool open;                  /* the text ended inside a comment */
  tn_names *names;
  tn_diags *diags;            /* NULL: nothing is reported */
} tn_mind_lexer;

/* The text is the source's, which has a NUL after it. */
void tn_mind_lexer_init(tn_mind_lexer *lexer, tn_str text, uint32_t file, tn_names *names, tn_diags *diags);
/* The next token; after the text, TN_MIND_TOKEN_END every time. */
void tn_mind_read(tn_mind_lexer *lexer, tn_mind_token *token);
tn_mind_token tn_mind_next(tn_mind_lexer *lexer);
/* The characters of a string token, in the arena. What is wrong with it was reported when it was read. */
tn_str tn_mind_unescape(tn_str token, tn_arena *arena);
/* The digits of a number without underscores; at most `room` characters. */
size_t tn_mind_digits(tn_str token, char *out, size_t room);
#endif
