/* The formatter of MIND, on programs whose blanks, line breaks and comments are put in at random: what it
 * writes has the same tokens and the same comments, and is written the same a second time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tern/tern.h"

/* Statements, each as tokens between blanks, as the formatter itself spells them. */
static const char *const statements[] = {
  "let x : Tensor[f32,(2,3)] = 1.0",
  "let y = - x + ( 2 * 3 )",
  "fn f ( a : Tensor[f32,(N,3)] , b : f32 ) -> Tensor[f32,(N,3)] ! io ! random { let q = a * b ; q + 1 }",
  "fn g ( x : f32 ) -> f32 = x * x",
  "import nn . layers as l",
  "export { f , g }",
  "let ( a , b ) = ( 1 , 2 )",
  "let t = ( 1 , )",
  "t . 0 . 1",
  "let h = | x , y : f32 | x + y",
  "let k = || 1 || true",
  "if x . sum ( ) > 0 && ! true { 1 } else if y { 2 } else { 3 }",
  "if a { let w = 1 ; w } else { 2 }",
  "let long = concat ( [ aaaaaaaaaaaaaaaaaaaaaaaaaaaaa , bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb , cccccccccccccccccc "
  ", d ] "
  ", axis = 1 )",
  "let data = [ [ 1 , 2 , 3 ] , [ 4 , 5 , 6 ] , [ 100000000000 , 200000000000 , 300000000000 , 40000000000 , "
  "5 ] "
  ", [ 1 ] ]",
  "let s = alpha_alpha_alpha_alpha * beta_beta_beta_beta + gamma_gamma_gamma * delta_delta + epsilon_epsilon",
  "grad ( mse_loss ( x @ w + b , y ) , wrt = [ x , w , b ] )",
  "- x [ 0 ] [ 1 , - 2 ] . sum ( axis = - 1 )",
  "let c = if if a { b } else { c } { f ( | x | if x > 0 { x } else { - x } ) } else { g ( || 1 ) } + 3",
  "print ( \"a // b\" , \"/* \\\" */\" , value_value_value_value , value_value_value_value , "
  "value_value_value )",
  "let v = value_and_grad ( | w | mse_loss ( xxxxxxxxxxxxxxxxxxxxxxxxx @ w , yyyyyyyyyyyyyyyyyyyy ) + 0.5 ) "
  "( w )",
};
#define STATEMENT_COUNT (sizeof statements / sizeof *statements)

static const char *const blanks[] = {
  "\n",
  "\n\n\n",
  " // line\n",
  " /* in */ ",
  "\n// own line\n",
  " /* two\n  lines */ ",
  "\n/* own */\n",
  "\n /* own, with code */ ",
  "\t",
  "  ",
  " /* a /* nested */ b */ ",
  "\r\n",
};
#define BLANK_COUNT (sizeof blanks / sizeof *blanks)

typedef struct {
  char at[16384];
  size_t length;
} buffer;

static void add(buffer *to, const char *text, size_t length) {
  assert_true(to->length + length < sizeof to->at);
  memcpy(to->at + to->length, text, length);
  to->length += length;
  to->at[to->length] = 0;
}

static uint64_t state = 88172645463325252u;
static uint64_t draw(uint64_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state % below;
}

/* A program of a few statements, with something odd between one token in `rarity`. */
static void make_program(buffer *out, uint64_t rarity) {
  out->length = 0;
  for (uint64_t i = 0, count = 1 + draw(4); i < count; i++) {
    const char *from = statements[draw(STATEMENT_COUNT)];
    while (*from) {
      const char *end = from;
      bool string = false; /* a string may hold blanks */
      for (; *end && (*end != ' ' || string); end++)
        string ^= *end == '"' && (end == from || end[-1] != '\\');
      add(out, from, (size_t)(end - from));
      const char *blank = draw(rarity) == 0 ? blanks[draw(BLANK_COUNT)] : " ";
      add(out, blank, strlen(blank));
      from = end + (*end == ' ');
    }
    add(out, "\n", 1);
  }
}

/* The text without blanks and semicolons, and apart from it the comments. */
static void take_apart(const char *text, buffer *code, buffer *comments) {
  code->length = comments->length = 0;
  while (*text) {
    const char *start = text;
    if (text[0] == '/' && text[1] == '/') {
      text += strcspn(text, "\r\n");
      add(comments, start, (size_t)(text - start));
    } else if (text[0] == '/' && text[1] == '*') {
      int depth = 0;
      do {
        if (text[0] == '/' && text[1] == '*') depth++, text++;
        if (text[0] == '*' && text[1] == '/') depth--, text++;
        text++;
      } while (depth > 0);
      add(comments, start, (size_t)(text - start));
    } else if (*text == '"') {
      for (text++; *text != '"'; text++) text += *text == '\\';
      text++;
      add(code, start, (size_t)(text - start));
    } else {
      if (!strchr(" \t\r\n;", *text)) add(code, text, 1);
      text++;
    }
  }
}

static bool format(const char *text, buffer *out) {
  tern_session *session = tern_session_new(NULL, NULL);
  tern_program *program = tern_load(session, TERN_LANG_MIND, "p.mind", text, strlen(text));
  const char *formatted = program ? tern_format(program) : NULL;
  out->length = 0;
  if (formatted) add(out, formatted, strlen(formatted));
  tern_program_free(program);
  tern_session_free(session);
  return formatted != NULL;
}

static void no_blank_ends_a_line(const char *text) {
  for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
    if (at > text && (at[-1] == ' ' || at[-1] == '\t' || at[-1] == '\r'))
      fail_msg("a blank ends a line of\n%s", text);
  }
}

static void formatting_keeps_tokens_and_comments_and_is_stable(void **unused) {
  (void)unused;
  static buffer source, once, twice, code, comments, code_after, comments_after;
  const char *effort = getenv("TERN_TEST_EFFORT");
  int rounds = effort && strcmp(effort, "small") == 0 ? 300 : 5000, accepted = 0;
  for (int i = 0; i < rounds; i++) {
    make_program(&source, (uint64_t[]){ 1000, 30, 10, 4 }[draw(4)]);
    if (!format(source.at, &once)) continue; /* a line break where the language has none */
    accepted++;
    if (!format(once.at, &twice)) fail_msg("cannot be read any more:\n%s\nfrom\n%s", once.at, source.at);
    if (strcmp(once.at, twice.at) != 0)
      fail_msg("formatted\n%s\nand again\n%s\nfrom\n%s", once.at, twice.at, source.at);
    take_apart(source.at, &code, &comments);
    take_apart(once.at, &code_after, &comments_after);
    if (strcmp(code.at, code_after.at) != 0) fail_msg("other tokens:\n%s\nfrom\n%s", once.at, source.at);
    if (strcmp(comments.at, comments_after.at) != 0)
      fail_msg("other comments:\n%s\nfrom\n%s", once.at, source.at);
    no_blank_ends_a_line(once.at);
  }
  assert_true(accepted > rounds / 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(formatting_keeps_tokens_and_comments_and_is_stable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
