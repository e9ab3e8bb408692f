/* lang/mind/format.h: a text cut into pieces, for the formatter.
 *
 *   format_pieces.c  tokens and comments, each with its role, its partner and the space before it
 *   format.c         where lines end
 *
 * A piece is a token, a comment, or a whole type that is spelt in the canonical
 * way. Semicolons and commas after the last item are dropped. The tree says only
 * where statements, blocks and types begin; the tokens say everything else. */
#ifndef TN_LANG_MIND_FORMAT_H
#define TN_LANG_MIND_FORMAT_H

#include "lang/mind/ast.h"
#include "lang/mind/lexer.h"

typedef enum {
  TN_MIND_PIECE_OPERAND, /* a name, a number, a string, true */
  TN_MIND_PIECE_WORD,    /* another keyword */
  TN_MIND_PIECE_PREFIX,  /* - and ! before an operand, ! before an effect */
  TN_MIND_PIECE_INFIX,
  TN_MIND_PIECE_OPEN,       /* ( [ */
  TN_MIND_PIECE_OPEN_TIGHT, /* of a call, an index, parameters */
  TN_MIND_PIECE_CLOSE,
  TN_MIND_PIECE_BLOCK_OPEN, /* { */
  TN_MIND_PIECE_BLOCK_CLOSE,
  TN_MIND_PIECE_NAMES_OPEN, /* { of import and export */
  TN_MIND_PIECE_NAMES_CLOSE,
  TN_MIND_PIECE_COMMA,
  TN_MIND_PIECE_COLON,
  TN_MIND_PIECE_DOT,
  TN_MIND_PIECE_ASSIGN,
  TN_MIND_PIECE_KEY_ASSIGN, /* axis=1 */
  TN_MIND_PIECE_BAR_OPEN,   /* | before a closure's parameters */
  TN_MIND_PIECE_BAR_CLOSE,  /* | after them, and || for none */
  TN_MIND_PIECE_ARROW,
  TN_MIND_PIECE_TYPE, /* a whole type, or a token of one that is left as it is written */
  TN_MIND_PIECE_COMMENT
} tn_mind_piece_role;

typedef struct {
  tn_str text;
  uint8_t role;    /* tn_mind_piece_role */
  int kind;        /* of its token */
  bool new_line;   /* a line break stands before it in the source */
  bool blank_line; /* and an empty line */
  bool after_semicolon;
  bool statement;         /* begins one */
  bool definition;        /* `let`, an assignment, a `fn`: no expression */
  bool inline_block;      /* { of a block that may stand in one line */
  bool many_lines;        /* a comment with line breaks in it */
  uint32_t match;         /* of a bracket: its partner */
  uint32_t space;         /* before it, in a line */
  uint32_t width_before;  /* of all pieces before it, in one line, with their spaces */
  uint32_t breaks_before; /* how many of them end the line */
} tn_mind_piece;

typedef struct {
  tn_heap *heap;
  tn_arena arena;             /* texts of types, the tree */
  tn_vec(tn_mind_piece) list; /* with one after the last */
} tn_mind_pieces;

/* Reads a text. False after reporting what is wrong with it. */
bool tn_mind_pieces_read(tn_heap *heap, tn_names *names, const tn_sources *sources, tn_diags *diags,
                         uint32_t file, tn_mind_pieces *out);
void tn_mind_pieces_free(tn_mind_pieces *pieces);
#endif
