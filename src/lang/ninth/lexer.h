/* lang/ninth/lexer.h: the tokens of Ninth.
 *
 * Tokens are separated by blanks and by brackets, quotes and arrows themselves.
 * `[NAME]` in capitals is an opcode and one token; any other `[` opens a shape.
 * Where the text has program blocks, everything outside them is prose. */
#ifndef TN_LANG_NINTH_LEXER_H
#define TN_LANG_NINTH_LEXER_H

#include "base/vec.h"
#include "diag/diag.h"

typedef enum {
#define TN_NINTH_OPCODE(id, ...) TN_NINTH_##id,
#include "lang/ninth/opcodes.def"
  TN_NINTH_OPCODE_COUNT
} tn_ninth_opcode;

typedef enum {
  TN_NINTH_TOKEN_END, /* of the text */
  TN_NINTH_TOKEN_NUMBER,
  TN_NINTH_TOKEN_NAME,
  TN_NINTH_TOKEN_STATE,  /* @name */
  TN_NINTH_TOKEN_STRING, /* with its quotes */
  TN_NINTH_TOKEN_OPCODE,
  TN_NINTH_TOKEN_ARROW,       /* -> */
  TN_NINTH_TOKEN_KEEP,        /* ->> */
  TN_NINTH_TOKEN_OPEN,        /* ( */
  TN_NINTH_TOKEN_CLOSE,       /* ) */
  TN_NINTH_TOKEN_SHAPE_OPEN,  /* [ */
  TN_NINTH_TOKEN_SHAPE_CLOSE, /* ] */
  TN_NINTH_TOKEN_BLOCK_OPEN,  /* { */
  TN_NINTH_TOKEN_BLOCK_CLOSE, /* } */
  TN_NINTH_TOKEN_COMMA,
  TN_NINTH_TOKEN_COMMENT, /* only when asked for */
  TN_NINTH_TOKEN_PROSE,   /* only when asked for: text outside the program's blocks */
  TN_NINTH_TOKEN_BAD      /* no token; has been reported */
} tn_ninth_token_kind;

typedef struct {
  uint8_t kind;        /* tn_ninth_token_kind */
  uint8_t opcode;      /* tn_ninth_opcode; TN_NINTH_OPCODE_COUNT: unknown, and reported */
  uint32_t start, end; /* bytes of the text */
} tn_ninth_token;

typedef struct {
  tn_vec(tn_ninth_token) list; /* the last one is TN_NINTH_TOKEN_END */
  bool open;                   /* the text ends inside a string or a program block */
  size_t flaws;                /* reports of single tokens: unknown opcodes, and what is not a token */
} tn_ninth_tokens;

/* Reads the whole text of a registered file. What is not a token is reported and given as BAD. With
 * `everything`, comments and prose are tokens too. False when memory runs out; the tokens are to
 * be freed in any case. */
bool tn_ninth_lex(tn_heap *heap, tn_diags *diags, uint32_t file, bool everything, tn_ninth_tokens *out);
void tn_ninth_tokens_free(tn_heap *heap, tn_ninth_tokens *tokens);

/* The value of a number token. */
float tn_ninth_number(tn_str text);
/* The whole number that a number token writes; false when it has a fraction or an exponent.
 * *fits says whether it has 64 bits. */
bool tn_ninth_integer(tn_str text, int64_t *out, bool *fits);

typedef enum {
#define TN_NINTH_SYNTAX(id, ...) TN_NINTH_SYNTAX_##id,
#include "lang/ninth/syntax.def"
} tn_ninth_mistake;
/* E_SYNTAX_ERROR with the place as fields, and a right line as its hint. Returns false. */
bool tn_ninth_syntax(tn_diags *diags, tn_span at, tn_ninth_mistake mistake);

/* What the table says of an opcode. */
typedef struct {
  const char *name, *group, *effect, *doc;
  size_t length; /* of the name */
  uint8_t takes, gives;
} tn_ninth_opcode_info;
const tn_ninth_opcode_info *tn_ninth_opcode_info_of(tn_ninth_opcode opcode);
/* By its bare name; TN_NINTH_OPCODE_COUNT when there is none. */
tn_ninth_opcode tn_ninth_opcode_find(tn_str name);
/* The opcode a user most likely meant; empty when none is close. */
tn_str tn_ninth_opcode_suggest(tn_str wrong);
#endif
