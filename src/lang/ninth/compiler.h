/* lang/ninth/compiler.h: shared by compile.c and literals.c. */
#ifndef TN_LANG_NINTH_COMPILER_H
#define TN_LANG_NINTH_COMPILER_H

#include "lang/ninth/code.h"

#define TN_NINTH_BRACE TN_NINTH_OPCODE_COUNT /* an open { among open opcodes */

/* Something that is open: an opcode that waits for its partner, or a brace. */
typedef struct {
  tn_ninth_opcode kind;
  size_t token;
  uint32_t patch;  /* IF, REPEAT, WHILE: the instruction that waits for its target */
  uint32_t start;  /* WHILE: its first instruction */
  uint32_t module; /* MODULE: its number */
  bool has_else;   /* IF: the [ELSE] was met; WHILE: the [DO] */
  bool spoiled;    /* MODULE: a token that has no place in it was reported */
  bool nested;     /* MODULE: it contains another one, which was reported; its own end may be missing */
} tn_ninth_open;

/* A unit that is being written. */
typedef struct tn_ninth_writer {
  tn_ninth_unit *unit;
  tn_vec(tn_ninth_code) code;
  tn_vec(tn_span) at;
  tn_ninth_scope own, *scope;
  struct tn_ninth_writer *around;
} tn_ninth_writer;

typedef struct {
  tn_heap *heap;
  tn_names *names;
  tn_diags *diags;
  tn_ninth_program *program;
  tn_str text;
  const tn_ninth_token *tokens;
  size_t token_count;
  size_t at; /* the token that is read next */
  tn_vec(tn_ninth_open) open;
  tn_ninth_writer *writer;
  uint32_t lost[TN_NINTH_OPCODE_COUNT + 1]; /* openers given up on, whose closers may still come */
  size_t flaws; /* reports that leave the rest of the code as it is */
  bool out_of_memory;
  bool stop; /* reading further makes no sense; has been reported */
} tn_ninth_compiler;

static inline const tn_ninth_token *tn_ninth_peek(const tn_ninth_compiler *c, size_t ahead) {
  const tn_ninth_token *token = &c->tokens[c->at];
  for (; ahead > 0 && token->kind != TN_NINTH_TOKEN_END; ahead--) token++;
  return token;
}
tn_span tn_ninth_span(const tn_ninth_compiler *c, const tn_ninth_token *token);
tn_str tn_ninth_text(const tn_ninth_compiler *c, const tn_ninth_token *token);
/* The name a token writes: of a name, of @name, or the text of a string. */
tn_name tn_ninth_name(tn_ninth_compiler *c, const tn_ninth_token *token);
/* The slot of a name in the unit that is being written. */
uint32_t tn_ninth_slot(tn_ninth_compiler *c, tn_name name);
/* Appends an instruction and gives its number. */
uint32_t tn_ninth_emit(tn_ninth_compiler *c, uint32_t op, uint32_t arg, tn_span at);
void tn_ninth_no_memory(tn_ninth_compiler *c);

/* Literals (literals.c). The bracket that opens them is the next token. */
void tn_ninth_read_tensor(tn_ninth_compiler *c);
void tn_ninth_read_shape(tn_ninth_compiler *c);
/* The [key->value ...] of a maker; false when it was wrong, and reported. */
bool tn_ninth_read_keys(tn_ninth_compiler *c, tn_ninth_maker *maker);
/* Reports E_NESTING_LIMIT at the token, and stops. */
void tn_ninth_too_deep(tn_ninth_compiler *c, const tn_ninth_token *token);
#endif
