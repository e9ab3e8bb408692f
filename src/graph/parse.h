/* graph/parse.h: shared by the files of the parser.
 *
 * A word is a run of letters, digits and _ . + - ; the caller decides what it means
 * (an operation, a dtype, a number). The first syntax error ends the parse; type
 * errors are all reported. */
#ifndef TN_GRAPH_PARSE_H
#define TN_GRAPH_PARSE_H

#include "diag/diag.h"
#include "graph/internal.h"

typedef enum {
  TN_TOKEN_END,
  TN_TOKEN_WORD,
  TN_TOKEN_VALUE,    /* %label; text is the label */
  TN_TOKEN_STRING,   /* "..."; text is what is between the quotes */
  TN_TOKEN_MARK,     /* one of ( ) { } [ ] , : = ? */
  TN_TOKEN_WRONG
} tn_token_kind;

typedef struct {
  tn_token_kind kind;
  tn_str text;
  tn_span at;
} tn_token;

typedef struct {
  tn_graph_builder builder;
  tn_heap *heap;
  tn_names *names;      /* of the session */
  tn_diags *diags;
  uint32_t file;
  tn_str text;
  size_t at;            /* after `token` */
  tn_token token;       /* the next one */
  tn_token last;        /* the one before it */
  bool failed;          /* a syntax error */
  size_t errors;        /* type errors */
} tn_graph_parser;

void tn_parser_advance(tn_graph_parser *parser);
/* Reports once and makes the rest of the parse do nothing. Returns false. */
bool tn_parser_fail(tn_graph_parser *parser, tn_span at, const char *message);
bool tn_parser_no_memory(tn_graph_parser *parser);
bool tn_parser_is(const tn_graph_parser *parser, char mark);
bool tn_parser_is_word(const tn_graph_parser *parser, const char *word);
/* Takes the token if it is this one. */
bool tn_parser_take(tn_graph_parser *parser, char mark);
bool tn_parser_take_word(tn_graph_parser *parser, const char *word);
/* Takes it or fails with the message. */
bool tn_parser_expect(tn_graph_parser *parser, char mark, const char *message);
/* The text of a string token without its escapes, interned. 0 with a failure. */
tn_name tn_parser_string(tn_graph_parser *parser, tn_token token);

/* parse_attrs.c */
bool tn_parser_type(tn_graph_parser *parser, tn_type *out);
bool tn_parser_dtype(tn_graph_parser *parser, tn_dtype *out);
bool tn_parser_number(tn_graph_parser *parser, double *out);
/* { key=value, ... } or nothing. A literal becomes *literal, which the caller releases. */
bool tn_parser_attrs(tn_graph_parser *parser, tn_op op, tn_attrs *out, tn_tensor *literal);
#endif
