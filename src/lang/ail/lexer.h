/* lang/ail/lexer.h: the tokens of a program, one at a time.
 *
 * Every keyword is contextual: the lexer says which word a name happens to be,
 * and the parser decides whether that matters here. Line breaks are not
 * tokens; a token knows whether it is the first of its line. */
#ifndef TN_LANG_AIL_LEXER_H
#define TN_LANG_AIL_LEXER_H

#include "base/vec.h"
#include "diag/source.h"

typedef enum {
  TN_AIL_TOKEN_END,
  TN_AIL_TOKEN_BAD, /* invalid; `problem` says why */
  TN_AIL_TOKEN_NAME,
  TN_AIL_TOKEN_NUMBER,
  TN_AIL_TOKEN_STRING,
  TN_AIL_TOKEN_OPEN,
  TN_AIL_TOKEN_CLOSE, /* ( ) */
  TN_AIL_TOKEN_OPEN_LIST,
  TN_AIL_TOKEN_CLOSE_LIST, /* [ ] */
  TN_AIL_TOKEN_OPEN_BLOCK,
  TN_AIL_TOKEN_CLOSE_BLOCK, /* { } */
  TN_AIL_TOKEN_COMMA,
  TN_AIL_TOKEN_COLON,
  TN_AIL_TOKEN_SEMICOLON,
  TN_AIL_TOKEN_ASSIGN,
  TN_AIL_TOKEN_ARROW,
  TN_AIL_TOKEN_AT,
  TN_AIL_TOKEN_PLUS,
  TN_AIL_TOKEN_MINUS,
  TN_AIL_TOKEN_STAR,
  TN_AIL_TOKEN_SLASH, /* an operator among constants; elsewhere `problem` says what is wrong */
  TN_AIL_TOKEN_EQ,
  TN_AIL_TOKEN_NE,
  TN_AIL_TOKEN_LT,
  TN_AIL_TOKEN_LE,
  TN_AIL_TOKEN_GT,
  TN_AIL_TOKEN_GE
} tn_ail_token_kind;

/* By how much what follows the token is nested deeper: 1 after an opening bracket, -1 after a closing one. */
static inline int tn_ail_token_nesting(tn_ail_token_kind kind) {
  switch (kind) {
    case TN_AIL_TOKEN_OPEN:
    case TN_AIL_TOKEN_OPEN_LIST:
    case TN_AIL_TOKEN_OPEN_BLOCK: return 1;
    case TN_AIL_TOKEN_CLOSE:
    case TN_AIL_TOKEN_CLOSE_LIST:
    case TN_AIL_TOKEN_CLOSE_BLOCK: return -1;
    default: return 0;
  }
}

/* The words with a meaning somewhere. The first group is reserved inside expressions. */
#define TN_AIL_WORDS(X)                                                                                      \
  X(IF, "if")                                                                                                \
  X(THEN, "then")                                                                                            \
  X(ELSE, "else") X(AND, "and") X(OR, "or") X(NOT, "not") X(FOR, "for") X(IN, "in") X(DO, "do")              \
      X(END, "end") X(REPEAT, "repeat") X(TIMES, "times") X(REDUCE, "reduce") X(OVER, "over")                \
          X(RANGE, "range") X(TRUE, "true") X(FALSE, "false") X(CONST, "const") X(FN, "fn")                  \
              X(INPUT, "input") X(PARAM, "param") X(MODEL, "model") X(FORWARD, "forward") X(LOSS, "loss")    \
                  X(TRAIN, "train") X(EVAL, "eval") X(DATASET, "dataset") X(DATA, "data")                    \
                      X(STATE_MACHINE, "state_machine") X(STATE, "state") X(ON, "on") X(APP, "app")          \
                          X(LET, "let") X(RETURN, "return") X(EMIT, "emit") X(INIT, "init") X(MAP, "map")    \
                              X(FILTER, "filter") X(BATCH, "batch") X(LAST, "last")        \
                                  X(LAYER, "layer")

typedef enum {
  TN_AIL_WORD_NONE,
#define TN_AIL_WORD_ENUM(id, text) TN_AIL_WORD_##id,
  TN_AIL_WORDS(TN_AIL_WORD_ENUM)
#undef TN_AIL_WORD_ENUM
      TN_AIL_WORD_COUNT
} tn_ail_word;

static inline bool tn_ail_word_is_reserved(tn_ail_word word) {
  return word != TN_AIL_WORD_NONE && word <= TN_AIL_WORD_FALSE;
}

typedef struct {
  tn_ail_token_kind kind;
  tn_ail_word word; /* of a name */
  bool starts_line;
  uint32_t start, end;
  const char *problem; /* static */
} tn_ail_token;

typedef struct {
  uint32_t start, end; /* without the line break and blanks before it */
  bool starts_line;    /* nothing but blanks before it in its line */
} tn_ail_comment;
typedef tn_vec(tn_ail_comment) tn_ail_comments;

typedef struct {
  tn_str text;
  uint32_t at;
  bool fresh; /* no token of this line was given yet */
  tn_heap *heap;
  tn_ail_comments *comments; /* NULL: dropped */
  bool failed;               /* a comment could not be kept */
} tn_ail_lexer;

void tn_ail_lexer_init(tn_ail_lexer *lexer, tn_str text);
/* The next token; after the text, TN_AIL_TOKEN_END every time. */
void tn_ail_lexer_read(tn_ail_lexer *lexer, tn_ail_token *token);
tn_ail_token tn_ail_lexer_next(tn_ail_lexer *lexer);
/* TN_AIL_WORD_NONE for an ordinary name. */
tn_ail_word tn_ail_word_of(tn_str text);
#endif
