/* lang/ninth/meant.c: suggestions for undefined names and invalid words.
 *
 * Ninth writes an opcode in capitals and brackets and a call as [CALL] "f". Users of other
 * languages write `ADD`, `[add]`, `+` or `f`, which are names of variables here, or invalid. */
#include "lang/ninth/lexer.h"
#include "lang/ninth/meant.h"

#define OPCODE_BYTES 32

/* The opcode of that name in any case of letters; TN_NINTH_OPCODE_COUNT when there is none. */
static tn_ninth_opcode opcode_in_capitals(tn_str name) {
  char capitals[OPCODE_BYTES];
  if (name.len > sizeof capitals) return TN_NINTH_OPCODE_COUNT;
  for (size_t i = 0; i < name.len; i++) {
    char c = name.at[i];
    capitals[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
  }
  return tn_ninth_opcode_find((tn_str){ capitals, name.len });
}

void tn_ninth_put_meant(tn_text *out, tn_str name, const tn_ninth_known *known) {
  tn_ninth_opcode opcode = opcode_in_capitals(name);
  tn_str near = tn_str_suggest(name, known->variables, known->variable_count);
  if (tn_str_equal(near, name)) { /* `@x` where `x` has a value */
    tn_text_add(out, near);
  } else if (known->function) {
    tn_text_puts(out, "[CALL] \"");
    tn_text_add(out, name);
    tn_text_byte(out, '"');
  } else if (known->module) {
    tn_text_byte(out, '{');
    tn_text_add(out, name);
    tn_text_byte(out, '}');
  } else if (opcode != TN_NINTH_OPCODE_COUNT) {
    tn_text_byte(out, '[');
    tn_text_puts(out, tn_ninth_opcode_info_of(opcode)->name);
    tn_text_byte(out, ']');
  } else {
    tn_text_add(out, near);
  }
}

tn_str tn_ninth_word_hint(tn_str word) {
  static const struct {
    const char *word, *hint;
  } hints[] = {
    { "+", "did you mean `[ADD]`? Opcodes are words in brackets" },
    { "-", "did you mean `[SUB]`? Opcodes are words in brackets" },
    { "*", "did you mean `[MUL]`? Opcodes are words in brackets" },
    { "/", "did you mean `[DIV]`? Opcodes are words in brackets" },
    { "**", "did you mean `[POW]`? Opcodes are words in brackets" },
    { "^", "did you mean `[POW]`? Opcodes are words in brackets" },
    { "<", "did you mean `[LT]`? Opcodes are words in brackets" },
    { ">", "did you mean `[GT]`? Opcodes are words in brackets" },
    { "<=", "did you mean `[LE]`? Opcodes are words in brackets" },
    { ">=", "did you mean `[GE]`? Opcodes are words in brackets" },
    { "==", "did you mean `[EQ]`? Opcodes are words in brackets" },
    { "!=", "did you mean `[NE]`? Opcodes are words in brackets" },
    { "=", "a name is bound by an arrow: `5 -> x`" },
    { ".", "did you mean `[PRINT]`? Opcodes are words in brackets" },
    { ":", "a function is written `[DEF] \"f\" ... [RET]`" },
    { ";", "a function is written `[DEF] \"f\" ... [RET]`" },
  };
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
    if (tn_str_is(word, hints[i].word)) return tn_str_of(hints[i].hint);
  }
  if (word.len > 0 && word.at[0] == '#') return TN_LIT("a comment begins with `//`");
  if (word.len > 0 && word.at[0] == '\'') return TN_LIT("a string is in double quotes: \"text\"");
  return TN_LIT("such as `5`, `2.5e-3` or `x5`: a name begins with a letter");
}
