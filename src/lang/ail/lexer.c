/* lang/ail/lexer.c: splits a text into tokens.
 *
 * Names and numbers are ASCII; strings and comments hold any UTF-8. An invalid token is returned as
 * such, with its problem, and reading continues after it: the parser reports it if it gets there. */
#include "lang/ail/lexer.h"

#include <string.h>

#include "base/utf8.h"

/* What a byte can be part of. */
enum { LETTER = 1, DIGIT = 2, BLANK = 4 };

static const uint8_t class_of[256] = {
  [' '] = BLANK,  ['\t'] = BLANK, ['\r'] = BLANK, ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,
  ['3'] = DIGIT,  ['4'] = DIGIT,  ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,  ['8'] = DIGIT,
  ['9'] = DIGIT,  ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER,
  ['f'] = LETTER, ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER,
  ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER,
  ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER,
  ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER, ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER,
  ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER, ['H'] = LETTER, ['I'] = LETTER,
  ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER,
  ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER,
  ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER, ['Z'] = LETTER, ['_'] = LETTER,
};

typedef struct {
  const char *text;
  size_t len;
} word_text;

static const word_text words[TN_AIL_WORD_COUNT] = {
#define WORD(id, text) [TN_AIL_WORD_##id] = { text, sizeof(text) - 1 },
  TN_AIL_WORDS(WORD)
#undef WORD
};

/* Words by their first letter, so that most names are rejected at once. */
#define W(id) TN_AIL_WORD_##id
static const uint8_t words_by_letter[26][6] = {
  ['a' - 'a'] = { W(AND), W(APP) },
  ['b' - 'a'] = { W(BATCH) },
  ['c' - 'a'] = { W(CONST) },
  ['d' - 'a'] = { W(DO), W(DATASET), W(DATA) },
  ['e' - 'a'] = { W(ELSE), W(END), W(EVAL), W(EMIT) },
  ['f' - 'a'] = { W(FOR), W(FALSE), W(FN), W(FORWARD), W(FILTER) },
  ['i' - 'a'] = { W(IF), W(IN), W(INPUT), W(INIT) },
  ['l' - 'a'] = { W(LET), W(LOSS), W(LAST), W(LAYER) },
  ['m' - 'a'] = { W(MODEL), W(MAP) },
  ['n' - 'a'] = { W(NOT) },
  ['o' - 'a'] = { W(OR), W(OVER), W(ON) },
  ['p' - 'a'] = { W(PARAM) },
  ['r' - 'a'] = { W(RANGE), W(REPEAT), W(REDUCE), W(RETURN) },
  ['s' - 'a'] = { W(STATE), W(STATE_MACHINE) },
  ['t' - 'a'] = { W(THEN), W(TIMES), W(TRUE), W(TRAIN) },
};
#undef W

tn_ail_word tn_ail_word_of(tn_str text) {
  if (text.len < 2 || text.at[0] < 'a' || text.at[0] > 'z') return TN_AIL_WORD_NONE;
  for (const uint8_t *word = words_by_letter[text.at[0] - 'a']; *word; word++) {
    if (words[*word].len == text.len && memcmp(words[*word].text, text.at, text.len) == 0) {
      return (tn_ail_word)*word;
    }
  }
  return TN_AIL_WORD_NONE;
}

void tn_ail_lexer_init(tn_ail_lexer *lexer, tn_str text) {
  *lexer = (tn_ail_lexer){ .text = text, .fresh = true };
}

/* 0 after the end; programs do not contain it otherwise, as it is no character of theirs. */
static unsigned char byte_at(const tn_ail_lexer *lexer, uint32_t at) {
  return at < lexer->text.len ? (unsigned char)lexer->text.at[at] : 0;
}

/* ---- blanks and comments ---- */

static void read_comment(tn_ail_lexer *lexer) {
  uint32_t start = lexer->at, end;
  const char *line_end = memchr(lexer->text.at + start, '\n', lexer->text.len - start);
  lexer->at = line_end ? (uint32_t)(line_end - lexer->text.at) : (uint32_t)lexer->text.len;
  if (!lexer->comments) return;
  for (end = lexer->at; end > start && class_of[byte_at(lexer, end - 1)] == BLANK;) end--;
  tn_ail_comment comment = { start, end, lexer->fresh };
  if (!tn_vec_push(lexer->heap, lexer->comments, comment)) lexer->failed = true;
}

static void skip_blanks(tn_ail_lexer *lexer) {
  for (;;) {
    unsigned char byte = byte_at(lexer, lexer->at);
    if (class_of[byte] == BLANK) {
      lexer->at++;
    } else if (byte == '\n') {
      lexer->at++;
      lexer->fresh = true;
    } else if (byte == '#' || (byte == '/' && byte_at(lexer, lexer->at + 1) == '/')) {
      read_comment(lexer);
    } else {
      return;
    }
  }
}

/* ---- tokens ---- */

static void bad(tn_ail_token *token, const char *problem) {
  token->kind = TN_AIL_TOKEN_BAD;
  token->problem = problem;
}

static void read_name(tn_ail_lexer *lexer, tn_ail_token *token) {
  while (class_of[byte_at(lexer, lexer->at)] & (LETTER | DIGIT)) lexer->at++;
  token->kind = TN_AIL_TOKEN_NAME;
  token->word = tn_ail_word_of((tn_str){ lexer->text.at + token->start, lexer->at - token->start });
}

static bool skip_digits(tn_ail_lexer *lexer) {
  uint32_t start = lexer->at;
  while (class_of[byte_at(lexer, lexer->at)] == DIGIT) lexer->at++;
  return lexer->at > start;
}

/* digits [. digits] [e [+-] digits] */
static void read_number(tn_ail_lexer *lexer, tn_ail_token *token) {
  token->kind = TN_AIL_TOKEN_NUMBER;
  skip_digits(lexer);
  if (byte_at(lexer, lexer->at) == '.') {
    lexer->at++;
    if (!skip_digits(lexer)) bad(token, "a digit must follow the point of a number");
  }
  if ((byte_at(lexer, lexer->at) | 0x20) == 'e') {
    lexer->at++;
    if (byte_at(lexer, lexer->at) == '+' || byte_at(lexer, lexer->at) == '-') lexer->at++;
    if (!skip_digits(lexer)) bad(token, "a digit must follow the e of a number");
  }
  if (class_of[byte_at(lexer, lexer->at)] & LETTER) {
    while (class_of[byte_at(lexer, lexer->at)] & (LETTER | DIGIT)) lexer->at++;
    bad(token, "a number and a name run into each other");
  }
}

/* Up to the quote; a string does not go beyond its line. */
static void read_string(tn_ail_lexer *lexer, tn_ail_token *token) {
  token->kind = TN_AIL_TOKEN_STRING;
  for (lexer->at++;; lexer->at++) {
    unsigned char byte = byte_at(lexer, lexer->at);
    if (byte == '"') {
      lexer->at++;
      return;
    }
    if (byte == '\n' || lexer->at >= lexer->text.len) {
      bad(token, "the string is not closed");
      return;
    }
    if (byte == '\\' && byte_at(lexer, lexer->at + 1) != '\n') lexer->at++;
  }
}

static void read_other(tn_ail_lexer *lexer, tn_ail_token *token) {
  unsigned char byte = byte_at(lexer, lexer->at);
  size_t length = tn_utf8_decode(lexer->text, lexer->at, &(uint32_t){ 0 });
  lexer->at += length ? (uint32_t)length : 1;
  if (length > 1)
    bad(token, "names are written in ASCII letters, digits and `_`");
  else if (length == 0 || byte < ' ')
    bad(token, "this byte is not allowed in a program");
  else
    bad(token, "this sign has no meaning in AILang");
}

/* The kind of a sign, and how many bytes it has. */
static tn_ail_token_kind sign_at(const tn_ail_lexer *lexer, uint32_t *bytes) {
  unsigned char second = byte_at(lexer, lexer->at + 1);
  *bytes = 1;
  switch (byte_at(lexer, lexer->at)) {
    case '(': return TN_AIL_TOKEN_OPEN;
    case ')': return TN_AIL_TOKEN_CLOSE;
    case '[': return TN_AIL_TOKEN_OPEN_LIST;
    case ']': return TN_AIL_TOKEN_CLOSE_LIST;
    case '{': return TN_AIL_TOKEN_OPEN_BLOCK;
    case '}': return TN_AIL_TOKEN_CLOSE_BLOCK;
    case ',': return TN_AIL_TOKEN_COMMA;
    case ':': return TN_AIL_TOKEN_COLON;
    case ';': return TN_AIL_TOKEN_SEMICOLON;
    case '@': return TN_AIL_TOKEN_AT;
    case '+': return TN_AIL_TOKEN_PLUS;
    case '*': return TN_AIL_TOKEN_STAR;
    case '/': return TN_AIL_TOKEN_SLASH;
    case '-': return second == '>' ? (*bytes = 2, TN_AIL_TOKEN_ARROW) : TN_AIL_TOKEN_MINUS;
    case '=': return second == '=' ? (*bytes = 2, TN_AIL_TOKEN_EQ) : TN_AIL_TOKEN_ASSIGN;
    case '<': return second == '=' ? (*bytes = 2, TN_AIL_TOKEN_LE) : TN_AIL_TOKEN_LT;
    case '>': return second == '=' ? (*bytes = 2, TN_AIL_TOKEN_GE) : TN_AIL_TOKEN_GT;
    case '!': return second == '=' ? (*bytes = 2, TN_AIL_TOKEN_NE) : TN_AIL_TOKEN_BAD;
    default: return TN_AIL_TOKEN_BAD;
  }
}

static bool read_sign(tn_ail_lexer *lexer, tn_ail_token *token) {
  uint32_t bytes;
  token->kind = sign_at(lexer, &bytes);
  if (token->kind == TN_AIL_TOKEN_BAD) return false;
  if (token->kind == TN_AIL_TOKEN_SLASH)
    token->problem = "`/` works on constants only; div(a, b) divides tensors";
  lexer->at += bytes;
  return true;
}

void tn_ail_lexer_read(tn_ail_lexer *lexer, tn_ail_token *token) {
  skip_blanks(lexer);
  *token = (tn_ail_token){ .start = lexer->at, .starts_line = lexer->fresh };
  unsigned char byte = byte_at(lexer, lexer->at);
  lexer->fresh = false;
  if (lexer->at >= lexer->text.len)
    token->starts_line = true;
  else if (class_of[byte] == LETTER)
    read_name(lexer, token);
  else if (class_of[byte] == DIGIT)
    read_number(lexer, token);
  else if (byte == '"')
    read_string(lexer, token);
  else if (!read_sign(lexer, token))
    read_other(lexer, token);
  token->end = lexer->at;
}

tn_ail_token tn_ail_lexer_next(tn_ail_lexer *lexer) {
  tn_ail_token token;
  tn_ail_lexer_read(lexer, &token);
  return token;
}
