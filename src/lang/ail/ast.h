/* lang/ail/ast.h: the syntax tree of a program.
 *
 * Everything lives in the arena of a compilation and nothing changes once it is
 * parsed. Lists are arrays, so that a long program is walked without recursion;
 * operators in a row are one chain and `else if` one list of arms, so that only
 * what the nesting limit bounds is nested here. An error node stands where the
 * parser has reported an error; later passes report nothing for it. */
#ifndef TN_LANG_AIL_AST_H
#define TN_LANG_AIL_AST_H

#include "base/arena.h"
#include "base/map.h"
#include "lang/ail/lexer.h"
#include "lang/lang.h"

typedef struct tn_ail_expr tn_ail_expr;

/* ---- expressions ---- */

typedef enum {
  TN_AIL_EXPR_NUMBER,
  TN_AIL_EXPR_STRING,
  TN_AIL_EXPR_BOOL,
  TN_AIL_EXPR_NAME,
  TN_AIL_EXPR_CALL,
  TN_AIL_EXPR_CHAIN, /* operators of one precedence in a row, from left to right */
  TN_AIL_EXPR_NEGATE,
  TN_AIL_EXPR_NOT,
  TN_AIL_EXPR_IF,
  TN_AIL_EXPR_FOR,
  TN_AIL_EXPR_REPEAT,
  TN_AIL_EXPR_REDUCE,
  TN_AIL_EXPR_LIST,     /* [a, b]: only as an argument or a field */
  TN_AIL_EXPR_REFERENCE /* @k, @last: only in the shape of a reshape */
} tn_ail_form;

typedef enum {
  TN_AIL_OR,
  TN_AIL_AND,
  TN_AIL_EQ,
  TN_AIL_NE,
  TN_AIL_LT,
  TN_AIL_LE,
  TN_AIL_GT,
  TN_AIL_GE,
  TN_AIL_ADD,
  TN_AIL_SUB,
  TN_AIL_MUL,
  TN_AIL_DIV /* among constants, and the lengths of a reshape */
} tn_ail_operator;

typedef struct {
  tn_ail_expr *value;
  tn_name key; /* axis=1; 0: by position */
  tn_span key_at;
} tn_ail_arg;

typedef struct {
  tn_name name;
  tn_span name_at;
  tn_ail_arg *args;
  uint32_t count;
} tn_ail_call;

typedef struct {
  tn_ail_operator op;
  tn_ail_expr *right;
} tn_ail_link;

typedef struct {
  tn_ail_expr *first;
  tn_ail_link *links;
  uint32_t count; /* at least 1 */
} tn_ail_chain;

typedef struct {
  tn_ail_expr *condition, *value;
} tn_ail_arm;

typedef struct {
  tn_ail_arm *arms;
  uint32_t count; /* at least 1 */
  tn_ail_expr *otherwise;
} tn_ail_if;

typedef struct {
  tn_name variable; /* for: as written; reduce: i; repeat: 0 */
  tn_span variable_at;
  tn_name op; /* reduce: add, max, min, or what else is written there */
  tn_span op_at;
  tn_ail_expr *from, *to; /* for, reduce: the range */
  tn_ail_expr *times;     /* repeat: how often */
  tn_ail_expr *init;      /* repeat: NULL where it is missing */
  tn_ail_expr *body;      /* NULL where there is none */
  bool is_short;          /* repeat 4 f(x): `body` is the call, `init` its first argument */
  tn_span keyword_at;
} tn_ail_loop;

/* Large programs are mostly these, so they are kept small. */
struct tn_ail_expr {
  uint8_t form;    /* tn_ail_form */
  bool grouped;    /* has its own parentheses */
  bool is_integer; /* a number without point or exponent that 64 bits hold */
  tn_span at;      /* with its parentheses */
  union {
    struct {
      union {
        double value;
        int64_t integer; /* where it is one */
      };
      uint32_t start, end; /* of its text */
    } number;
    tn_str text; /* without quotes and escapes */
    bool truth;
    tn_name name;
    tn_ail_call *call;
    tn_ail_chain *chain;
    struct {
      tn_ail_expr *of;
      uint32_t count; /* signs in a row */
    } unary;
    tn_ail_if *branch;
    tn_ail_loop *loop;
    struct {
      tn_ail_expr **items;
      uint32_t count;
    } list;
    int64_t reference; /* -1: @last */
  } as;
};

/* ---- declarations and statements ---- */

typedef struct {
  tn_name name; /* 0: a number */
  int64_t length;
  tn_ail_expr *value; /* of a dimension that is computed: 2 * D; else NULL */
  tn_span at;
} tn_ail_dim;

typedef enum {
  TN_AIL_INPUT, /* x [B, D], input x: [B, D] */
  TN_AIL_PARAM,
  TN_AIL_CONSTANT, /* const name = value: allowed in a model, too */
  TN_AIL_ASSIGN,   /* name = value */
  TN_AIL_LET,      /* let name = value */
  TN_AIL_RETURN,
  TN_AIL_VALUE, /* an expression alone: the end of a function */
  TN_AIL_EMIT,  /* emit value (in a state), emit name (in a handler) */
  TN_AIL_BROKEN /* the parser has reported it */
} tn_ail_statement_kind;

typedef struct {
  uint8_t kind; /* tn_ail_statement_kind */
  bool keyword; /* of an input: written with `input` */
  tn_name name;
  tn_span name_at, at;
  uint32_t rank;
  tn_ail_expr *value;
  tn_ail_dim *dims;  /* of a declaration */
  tn_ail_expr *init; /* of a param: how it starts, a name or a call; NULL: as usual */
} tn_ail_statement;

typedef struct {
  tn_span at; /* all of it */
  tn_span keyword_at;
  tn_span close_at; /* the } */
  tn_ail_statement *statements;
  uint32_t count;
} tn_ail_block;

typedef struct {
  tn_name name;
  tn_span at;
} tn_ail_parameter;

typedef struct {
  tn_name name;
  tn_span name_at;
  tn_ail_parameter *params;
  uint32_t param_count;
  bool is_layer; /* written `layer`: its body may declare params */
  tn_ail_block body;
} tn_ail_function;

/* train, eval and dataset: their contents, checked in blocks.c */
typedef enum {
  TN_AIL_FIELD,
  TN_AIL_FIELD_MAP,
  TN_AIL_FIELD_FILTER,
  TN_AIL_FIELD_BATCH,
  TN_AIL_FIELD_BROKEN
} tn_ail_field_kind;
typedef struct {
  tn_ail_field_kind kind;
  tn_name name; /* of a field */
  tn_span name_at, at;
  tn_ail_expr *value; /* of a stage: the call, or the batch's size */
} tn_ail_field;

typedef struct {
  tn_span at, keyword_at, close_at;
  tn_ail_field *fields;
  uint32_t count;
  bool short_word; /* written `data` */
} tn_ail_fields;

/* ---- state machines and apps ---- */

typedef enum { TN_AIL_ON, TN_AIL_WHEN, TN_AIL_ELSE } tn_ail_transition_kind;
typedef struct {
  tn_ail_transition_kind kind;
  tn_name event; /* on */
  tn_span event_at;
  tn_ail_expr *condition; /* if */
  tn_name target;
  tn_span target_at, at;
} tn_ail_transition;

typedef struct {
  tn_name name;
  tn_span name_at, at, close_at;
  tn_ail_statement *body; /* let and emit */
  uint32_t body_count;
  tn_ail_transition *transitions;
  uint32_t transition_count;
  bool ends;
  bool broken; /* part of it could not be read */
  tn_span end_at;
} tn_ail_state;

typedef struct {
  tn_name name;
  tn_span name_at, at, keyword_at, close_at;
  tn_ail_state *states;
  uint32_t count;
  bool broken; /* a state of it could not be read at all */
} tn_ail_state_machine;

typedef struct {
  tn_name name, type;
  tn_span name_at, type_at, at;
  tn_ail_expr *initial; /* NULL: none */
} tn_ail_variable;

typedef struct {
  tn_span at, keyword_at, close_at;
  tn_ail_variable *variables;
  uint32_t count;
} tn_ail_variables;

typedef struct {
  tn_name event;
  tn_span event_at;
  tn_ail_block body;
} tn_ail_handler;

/* ---- the whole ---- */

typedef enum {
  TN_AIL_ITEM_CONST,
  TN_AIL_ITEM_FUNCTION,
  TN_AIL_ITEM_DECLARATION,
  TN_AIL_ITEM_MODEL,
  TN_AIL_ITEM_FORWARD,
  TN_AIL_ITEM_LOSS,
  TN_AIL_ITEM_TRAIN,
  TN_AIL_ITEM_EVAL,
  TN_AIL_ITEM_DATASET,
  TN_AIL_ITEM_STATE_MACHINE,
  TN_AIL_ITEM_STATE,
  TN_AIL_ITEM_HANDLER,
  TN_AIL_ITEM_APP_BEGIN, /* what follows, up to APP_END, is in `app Name { }` */
  TN_AIL_ITEM_APP_END
} tn_ail_item_kind;

typedef struct {
  tn_ail_item_kind kind;
  tn_span at; /* of an app's ends: `app Name {`, `}` */
  union {
    tn_ail_statement *statement; /* const, declaration */
    tn_ail_function *function;
    tn_ail_block *block;   /* model, forward, loss */
    tn_ail_fields *fields; /* train, eval, dataset */
    tn_ail_state_machine *state_machine;
    tn_ail_variables *variables;
    tn_ail_handler *handler;
    tn_name app;
  } as;
} tn_ail_item;

/* What is known of a name from the text alone. */
enum {
  TN_AIL_NAME_LOOP_VARIABLE = 1, /* of some loop */
  TN_AIL_NAME_SKIPPED = 2        /* is in a part that could not be parsed */
};

typedef struct {
  tn_ail_item *items;
  size_t count;
  tn_map marks; /* name -> what is known; few names have an entry */
  bool broken;  /* something was reported while reading */
  bool lost;    /* parsing was aborted; the tree is incomplete */
} tn_ail_tree;

/* Reads a program. Reports what is wrong with the text and returns false only when memory ran out.
 * `comments` may be NULL. */
bool tn_ail_parse(tn_host *host, uint32_t file, tn_arena *arena, tn_ail_comments *comments, tn_ail_tree *out);
/* A source that is one field's value: a literal, a name, a list, or what is computed of constants. *out is
 * NULL after reporting. False: out of memory. */
bool tn_ail_parse_value(tn_host *host, uint32_t file, tn_arena *arena, tn_ail_tree *tree, tn_ail_expr **out);
static inline bool tn_ail_name_is(const tn_ail_tree *tree, tn_name name, unsigned mark) {
  const uint64_t *marks = tn_map_get(&tree->marks, name);
  return marks && (*marks & mark);
}
#endif
