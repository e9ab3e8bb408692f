/* lang/mind/ast.h: a MIND program as a tree.
 *
 * Every node is one struct from the arena of its unit. Operators in a row,
 * calls of calls and fields of fields lean to the left: `left` goes down to the
 * first operand and `up` comes back, so that a chain of any length is walked in
 * a loop and only brackets recurse. A place is a range of bytes in the unit's
 * text; parentheses leave no node, but the places of an operation include those
 * of its operands.
 *
 * The parser fills in what the text says; the members below "check" are filled
 * in by the checker. */
#ifndef TN_LANG_MIND_AST_H
#define TN_LANG_MIND_AST_H

#include "base/arena.h"
#include "diag/diag.h"
#include "lang/mind/type.h"

typedef enum {
  TN_MIND_BAD,        /* could not be read; has been reported */
  TN_MIND_NUMBER,
  TN_MIND_STRING,
  TN_MIND_TRUTH,      /* true, false */
  TN_MIND_NAME,
  TN_MIND_TUPLE,      /* (a, b) */
  TN_MIND_LIST,       /* [a, b] */
  TN_MIND_UNARY,
  TN_MIND_BINARY,
  TN_MIND_LOGIC,      /* && and ||, which may leave out their right side */
  TN_MIND_CALL,
  TN_MIND_INDEX,      /* x[i] */
  TN_MIND_FIELD,      /* x.name and t.0 */
  TN_MIND_IF,
  TN_MIND_CLOSURE,    /* |x| expr */
  TN_MIND_BODY,       /* { ... } as the body of a closure */
  TN_MIND_LET,
  TN_MIND_ASSIGN,
  TN_MIND_FN,
  TN_MIND_IMPORT,
  TN_MIND_EXPORT
} tn_mind_kind;

typedef enum {
  TN_MIND_NEG, TN_MIND_NOT,
  TN_MIND_ADD, TN_MIND_SUB, TN_MIND_MUL, TN_MIND_DIV, TN_MIND_REM, TN_MIND_MATMUL,
  TN_MIND_EQ, TN_MIND_NE, TN_MIND_LT, TN_MIND_LE, TN_MIND_GT, TN_MIND_GE,
  TN_MIND_AND, TN_MIND_OR
} tn_mind_operator;

/* The operation that ops.def gives the operator to. */
tn_op tn_mind_operator_op(tn_mind_operator which);
/* How tightly the operator of a token binds its operands: 1 to 5; 0: it is not one. */
int tn_mind_precedence(int token);

typedef struct tn_mind_node tn_mind_node;
typedef struct tn_mind_annotation tn_mind_annotation;
typedef struct tn_mind_variable tn_mind_variable;
typedef struct tn_mind_function tn_mind_function;
typedef struct tn_mind_module tn_mind_module;
typedef struct tn_mind_unit tn_mind_unit;
struct tn_mind_entry;     /* library.h */

/* Statements in order; the last one's value is the block's. */
typedef struct {
  tn_mind_node *first;      /* through `next` */
  uint32_t start, end;      /* with the braces */
} tn_mind_block;

/* What a call calls, as far as the checker knows it. */
typedef enum {
  TN_MIND_CALL_VALUE,       /* what `left` gives: a closure, grad(f), a pullback */
  TN_MIND_CALL_FUNCTION,    /* a function of a module */
  TN_MIND_CALL_LIBRARY      /* with the receiver of a method first */
} tn_mind_target;

/* A word and where it stands. */
typedef struct {
  tn_name name;
  uint32_t start, end;
} tn_mind_word;

/* `|a, b: f32|`, fn parameters. */
typedef struct {
  tn_mind_word word;
  tn_mind_annotation *annotation;   /* NULL where a closure has none */
} tn_mind_param;

struct tn_mind_node {
  uint8_t kind;             /* tn_mind_kind */
  uint8_t op;               /* tn_mind_operator; of a truth: 0 or 1 */
  bool is_float;            /* of a number */
  bool in_parens;           /* written inside parentheses of its own */
  uint32_t start, end;      /* of the expression */
  uint32_t from, to;        /* with its parentheses */
  uint8_t dtype;            /* check: of a binary operator: the tn_dtype in which its operands meet */
  tn_mind_node *next;       /* in the list it belongs to */
  tn_mind_node *left, *up;  /* of a chain; see above */
  tn_mind_word keyword;     /* of an argument: name 0 when it is given by position */
  /* check */
  const tn_mind_type *type; /* NULL until checked */
  uint32_t place;           /* of an argument: which parameter it is for; of print: any number */
  union {
    struct {
      int64_t integer;      /* of an integer */
      double number;        /* of a float, as f64 */
    };
    tn_str text;                              /* string, unescaped */
    struct {
      tn_name name;
      tn_mind_variable *variable;             /* check; NULL: a function, or unknown */
      tn_mind_function *function;             /* check */
      const struct tn_mind_entry *library;    /* check: a library function as a value */
      bool dimension;                         /* check: of the signature around; its value is the size */
      const tn_mind_node *earlier;            /* the name or field that was read before it in the unit */
    } name;
    struct {
      tn_mind_node *items;
      uint32_t count;
      bool is_data;                           /* check: of a list: a tensor's elements */
    } list;
    tn_mind_node *right;                      /* unary: none; binary, logic */
    struct {
      tn_mind_node *args;                     /* call: arguments; index: indices */
      uint32_t count;
      uint32_t close;                         /* where the closing bracket stands */
      tn_mind_target target;                  /* check, and the rest */
      bool method;                            /* the receiver is the first argument */
      bool tail;                              /* its value is that of the fn around it */
      const struct tn_mind_entry *entry;
      tn_mind_function *function;             /* called, or the closure checked for these arguments */
      tn_mind_node **bound;                   /* by parameter; NULL: left out */
      tn_mind_variable **wrt;                 /* of grad: those of its record, in that order */
      const tn_mind_node *earlier;            /* the call that was read before this one in the unit */
    } call;
    struct {
      tn_mind_word word;                      /* x.word; name 0: x.index */
      int64_t index;
      tn_mind_variable *variable;             /* check: of another module */
      tn_mind_function *function;
      const struct tn_mind_entry *library;
      const tn_mind_node *earlier;            /* as of a name */
    } field;
    struct {
      struct tn_mind_branch *branches;        /* in order; the last may lack a condition: else */
      bool has_else;
    } branch;
    struct {
      tn_mind_param *params;
      uint32_t count;
      tn_mind_node *body;
      struct tn_mind_closure *state;          /* check */
    } closure;
    tn_mind_block block;                      /* body */
    struct {
      tn_mind_word word;                      /* let x, x = ...; name 0: a tuple is taken apart */
      tn_mind_word *words;                    /* of a tuple */
      uint32_t count;
      tn_mind_annotation *annotation;         /* or NULL */
      tn_mind_node *value;
      tn_mind_variable **variables;           /* check: one, or `count` */
    } let;
    struct tn_mind_definition *definition;    /* fn */
    struct tn_mind_import *import;            /* import, export */
  };
};

/* import a.b as c, import a.b { f, g }, export { f, g } */
typedef struct tn_mind_import {
  tn_mind_word *path;
  uint32_t count;                 /* of the path; 0 for an export */
  tn_mind_word alias;             /* name 0: none */
  bool has_names;
  tn_mind_word *names;
  uint32_t name_count;
} tn_mind_import;

typedef struct tn_mind_branch {
  tn_mind_node *condition;        /* NULL: else */
  tn_mind_block block;
  struct tn_mind_branch *next;
} tn_mind_branch;

/* io, fileread, clock, random, filewrite, as bits. */
typedef enum {
  TN_MIND_IO = 1 << 0,
  TN_MIND_FILEREAD = 1 << 1,
  TN_MIND_CLOCK = 1 << 2,
  TN_MIND_RANDOM = 1 << 3,
  TN_MIND_FILEWRITE = 1 << 4
} tn_mind_effect;
#define TN_MIND_EFFECT_COUNT 5
/* "io", ...; of one bit. */
const char *tn_mind_effect_name(uint32_t effect);
/* 0 when unknown. */
uint32_t tn_mind_effect_find(tn_str name);

/* A `fn`. */
typedef struct tn_mind_definition {
  tn_mind_word word;
  tn_mind_param *params;
  uint32_t count;
  tn_mind_annotation *result;
  tn_mind_word *effects;          /* as written, after their ! */
  uint32_t effect_count;
  tn_mind_block body;             /* of `= expr`: that one */
  uint32_t head_end;              /* where the signature ends */
  tn_mind_function *function;     /* check */
} tn_mind_definition;

/* A type as it is written. */
typedef enum {
  TN_MIND_WRITTEN_WORD,           /* i32, string */
  TN_MIND_WRITTEN_UNKNOWN,        /* Tensr[f32,(2)]: `word`, and brackets that were not looked into */
  TN_MIND_WRITTEN_TENSOR,
  TN_MIND_WRITTEN_TUPLE,
  TN_MIND_WRITTEN_FN              /* fn(f32, f32) -> f32: `items` and `result` */
} tn_mind_written;

struct tn_mind_annotation {
  tn_mind_written form;
  uint32_t start, end;
  tn_mind_word word;              /* the word, or the dtype */
  tn_shape shape;                 /* symbols are names */
  uint32_t rank;                  /* as written; of more than TN_RANK_LIMIT only the first are in `shape` */
  tn_mind_word device;            /* name 0: cpu */
  tn_mind_annotation *items;      /* of a tuple, or a function's parameters: `rank`, through `next` */
  tn_mind_annotation *result;     /* of a function */
  tn_mind_annotation *next;
};

/* A string as it stands in a text. */
typedef struct tn_mind_text {
  tn_str text;
  const struct tn_mind_text *next;
} tn_mind_text;

/* A text that was parsed: a module's file, or a line of an interactive session. */
struct tn_mind_unit {
  uint32_t file;
  tn_mind_module *module;
  tn_mind_block block;
  const tn_mind_text *texts;            /* every string in it, the last one first */
  const tn_mind_node *calls;            /* every call in it, the last one first, through call.earlier */
  const tn_mind_node *words;            /* every name and field in it, likewise */
  bool defines, exports;                /* a `fn`, an `export` stands in it */
  const tn_name *doubtful;              /* names that statements with syntax errors may have meant to bind, */
  uint32_t doubtful_count;              /* ascending: they are not reported as unknown */
  tn_mind_variable *variables;          /* check: of its statements, the last one first */
  tn_mind_variable **dead;              /* of a program that runs, by statement: those that no later one
                                           names (history.c) */
};

static inline tn_span tn_mind_at(const tn_mind_unit *unit, uint32_t start, uint32_t end) {
  return (tn_span){ unit->file, start, end };
}
static inline tn_span tn_mind_span(const tn_mind_unit *unit, const tn_mind_node *node) {
  return tn_mind_at(unit, node->start, node->end);
}
static inline tn_span tn_mind_word_span(const tn_mind_unit *unit, const tn_mind_word *word) {
  return tn_mind_at(unit, word->start, word->end);
}

/* The statement whose value is the block's; NULL: there is none. */
static inline tn_mind_node *tn_mind_last(const tn_mind_block *block) {
  tn_mind_node *last = block->first;
  while (last && last->next) last = last->next;
  return last;
}
/* [a, b] or (a, b). */
static inline bool tn_mind_is_list(const tn_mind_node *node) {
  return node->kind == TN_MIND_LIST || node->kind == TN_MIND_TUPLE;
}

/* How deep brackets, calls, ifs and blocks nest in a text. */
#define TN_MIND_NESTING_LIMIT 200

/* Reads the whole text of unit->file. Reports every syntax error it finds; false when there was one
 * (or memory ran out: then the arena says so). What could not be read is TN_MIND_BAD in the tree. */
bool tn_mind_parse(tn_arena *arena, tn_names *names, const tn_sources *sources, tn_diags *diags,
                   tn_mind_unit *unit);
/* Whether a statement with a syntax error may have meant to bind the name. */
bool tn_mind_is_doubtful(const tn_mind_unit *unit, tn_name name);
/* Whether the text lacks its end: an open bracket, block or comment. For interactive sessions. */
bool tn_mind_is_open(tn_str text);
/* Whether a text that is not open ends in an `if` that an `else` in the next line would continue, and whether
 * a line begins with `else`. */
bool tn_mind_may_go_on(tn_str text);
bool tn_mind_begins_with_else(tn_str line);
#endif
