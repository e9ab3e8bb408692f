/* lang/mind/lexer.c: characters become tokens.
 *
 * One token is read at a time and nothing is kept, so lexing costs no memory.
 * Text that is not a token is reported here and given as TN_MIND_TOKEN_BAD, which the
 * parser skips silently. */
#include "lang/mind/lexer.h"

#include <string.h>

#include "base/utf8.h"

void tn_mind_lexer_init(tn_mind_lexer *lexer, tn_str text, uint32_t file, tn_names *names, tn_diags *diags) {
  *lexer = (tn_mind_lexer){ .text = text, .file = file, .names = names, .diags = diags };
}

/* The character `ahead` of the current one; NUL after the text. */
static char look(const tn_mind_lexer *lexer, size_t ahead) {
  size_t at = lexer->at + ahead;
  return at < lexer->text.len ? lexer->text.at[at] : 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }

static void complain(const tn_mind_lexer *lexer, size_t start, size_t end, const char *message) {
  if (!lexer->diags) return;
  tn_span at = { lexer->file, (uint32_t)start, (uint32_t)end };
  tn_report(lexer->diags, TN_DIAG_E1001, at, TN_STR("message", message));
}

static void complain_with(const tn_mind_lexer *lexer, size_t start, const char *message, const char *hint) {
  if (!lexer->diags) return;
  tn_span at = { lexer->file, (uint32_t)start, (uint32_t)lexer->at };
  tn_report(lexer->diags, TN_DIAG_E1001, at, TN_STR("message", message), TN_HINT(tn_str_of(hint)));
}

/* ---- what stands between tokens ---- */

static void skip_line_comment(tn_mind_lexer *lexer) {
  const char *from = lexer->text.at + lexer->at;
  const char *end = memchr(from, '\n', lexer->text.len - lexer->at);
  lexer->at = end ? (size_t)(end - lexer->text.at) : lexer->text.len;
}

/* Comments of this kind nest. Counts the line breaks in it. */
static size_t skip_block_comment(tn_mind_lexer *lexer) {
  size_t start = lexer->at, depth = 0, lines = 0;
  while (lexer->at < lexer->text.len) {
    char c = look(lexer, 0), d = look(lexer, 1);
    if (c == '/' && d == '*') {
      depth++;
      lexer->at += 2;
    } else if (c == '*' && d == '/') {
      lexer->at += 2;
      if (--depth == 0) return lines;
    } else {
      lines += c == '\n';
      lexer->at++;
    }
  }
  lexer->open = true;
  complain(lexer, start, start + 2, "this comment is not closed");
  return lines;
}

/* How many line breaks there are up to the next token, or comment if those are wanted. */
static size_t skip_blanks(tn_mind_lexer *lexer) {
  size_t lines = 0;
  for (;;) {
    char c = look(lexer, 0);
    if (c == ' ' || c == '\t' || c == '\r') {
      lexer->at++;
    } else if (c == '\n') {
      lines++;
      lexer->at++;
    } else if (c == '/' && !lexer->comments && look(lexer, 1) == '/') {
      skip_line_comment(lexer);
    } else if (c == '/' && !lexer->comments && look(lexer, 1) == '*') {
      lines += skip_block_comment(lexer);
    } else {
      return lines;
    }
  }
}

/* ---- words ---- */

static int keyword_of(tn_str word) {
  static const struct {
    const char *text;
    int kind;
  } keywords[] = {
    { "let", TN_MIND_TOKEN_LET }, { "fn", TN_MIND_TOKEN_FN },     { "import", TN_MIND_TOKEN_IMPORT },
    { "if", TN_MIND_TOKEN_IF },   { "else", TN_MIND_TOKEN_ELSE }, { "export", TN_MIND_TOKEN_EXPORT },
    { "as", TN_MIND_TOKEN_AS },   { "true", TN_MIND_TOKEN_TRUE }, { "false", TN_MIND_TOKEN_FALSE },
  };
  if (word.len < 2 || word.len > 6) return TN_MIND_TOKEN_NAME;
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
    if (keywords[i].text[0] == word.at[0] && tn_str_is(word, keywords[i].text)) return keywords[i].kind;
  }
  return TN_MIND_TOKEN_NAME;
}

static void read_word(tn_mind_lexer *lexer, tn_mind_token *token) {
  while (is_word(look(lexer, 0))) lexer->at++;
  tn_str word = { lexer->text.at + token->start, lexer->at - token->start };
  token->kind = keyword_of(word);
  if (token->kind == TN_MIND_TOKEN_NAME && lexer->names) token->name = tn_names_intern(lexer->names, word);
}

/* ---- numbers ---- */

static int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

/* Digits of a base with single underscores between them. False when there is none. */
static bool read_digits(tn_mind_lexer *lexer, unsigned base, tn_mind_token *token) {
  bool any = false;
  for (;; lexer->at++) {
    char c = look(lexer, 0);
    if (c == '_' && any && (unsigned)digit_value(look(lexer, 1)) < base) continue;
    unsigned digit = (unsigned)digit_value(c);
    if (digit >= base) return any;
    any = true;
    bool small = token->integer >> 59 == 0; /* fits whatever the base is, without a division */
    if (!small && token->integer > (UINT64_MAX - digit) / base)
      token->too_big = true;
    else
      token->integer = token->integer * base + digit;
  }
}

static bool starts_exponent(const tn_mind_lexer *lexer) {
  char c = look(lexer, 0), sign = look(lexer, 1);
  if (c != 'e' && c != 'E') return false;
  return is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(look(lexer, 2)));
}

/* After the whole digits: .5 and e-3. */
static void read_fraction(tn_mind_lexer *lexer, tn_mind_token *token) {
  tn_mind_token ignored = { 0 };
  if (look(lexer, 0) == '.' && is_digit(look(lexer, 1))) {
    token->kind = TN_MIND_TOKEN_FLOAT;
    lexer->at++;
    read_digits(lexer, 10, &ignored);
  }
  if (!starts_exponent(lexer)) return;
  token->kind = TN_MIND_TOKEN_FLOAT;
  lexer->at += is_digit(look(lexer, 1)) ? 1 : 2;
  read_digits(lexer, 10, &ignored);
}

static unsigned base_of(char c) {
  switch (c) {
    case 'x': return 16;
    case 'o': return 8;
    case 'b': return 2;
    default: return 10;
  }
}

/* t.0.1 selects twice, so after a point a number is whole. */
static void read_number(tn_mind_lexer *lexer, tn_mind_token *token) {
  unsigned base = look(lexer, 0) == '0' ? base_of(look(lexer, 1)) : 10;
  bool sound = true;
  token->kind = TN_MIND_TOKEN_INT;
  if (base != 10) lexer->at += 2;
  sound = read_digits(lexer, base, token);
  if (base == 10 && lexer->before != '.') read_fraction(lexer, token);
  if (is_word(look(lexer, 0))) sound = false;
  while (is_word(look(lexer, 0))) lexer->at++;
  if (!sound) {
    complain(lexer, token->start, lexer->at, "this is neither a number nor a name");
    token->kind = TN_MIND_TOKEN_BAD;
  } else if (token->kind == TN_MIND_TOKEN_INT && (token->too_big || token->integer > (uint64_t)1 << 63)) {
    token->too_big = true;
    complain(lexer, token->start, lexer->at, "this integer does not fit i64");
  }
}

size_t tn_mind_digits(tn_str token, char *out, size_t room) {
  size_t count = 0;
  for (size_t i = 0; i < token.len && count < room; i++) {
    if (token.at[i] != '_') out[count++] = token.at[i];
  }
  return count;
}

/* ---- strings ---- */

/* The character after a backslash; -1 for one that means nothing. */
static int escaped(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case '\\': return '\\';
    case '"': return '"';
    case '0': return 0;
    default: return -1;
  }
}

static void read_string(tn_mind_lexer *lexer, tn_mind_token *token) {
  token->kind = TN_MIND_TOKEN_STRING;
  lexer->at++;
  while (lexer->at < lexer->text.len && look(lexer, 0) != '\n') {
    char c = look(lexer, 0);
    if (c == '"') {
      lexer->at++;
      return;
    }
    if (c == '\\' && lexer->at + 1 < lexer->text.len && look(lexer, 1) != '\n') {
      if (escaped(look(lexer, 1)) < 0) {
        complain(lexer, lexer->at, lexer->at + 2, "a backslash goes before n, t, \\, \" or 0");
      }
      lexer->at++;
    }
    lexer->at++;
  }
  complain(lexer, token->start, lexer->at, "this string is not closed");
  token->kind = TN_MIND_TOKEN_BAD;
}

tn_str tn_mind_unescape(tn_str token, tn_arena *arena) {
  char *out = tn_arena_alloc(arena, token.len); /* the quotes leave room for a NUL */
  size_t count = 0;
  if (!out) return TN_LIT("");
  for (size_t i = 1; i + 1 < token.len; i++) {
    char c = token.at[i];
    if (c == '\\' && i + 2 < token.len) {
      int known = escaped(token.at[++i]);
      c = known < 0 ? token.at[i] : (char)known;
    }
    out[count++] = c;
  }
  return (tn_str){ out, count };
}

/* ---- signs ---- */

static int pair_of(char first, char second) {
  if (second == '=') {
    if (first == '=') return TN_MIND_TOKEN_EQ;
    if (first == '!') return TN_MIND_TOKEN_NE;
    if (first == '<') return TN_MIND_TOKEN_LE;
    if (first == '>') return TN_MIND_TOKEN_GE;
  }
  if (first == '-' && second == '>') return TN_MIND_TOKEN_ARROW;
  if (first == '&' && second == '&') return TN_MIND_TOKEN_AND;
  return first == '|' && second == '|' ? TN_MIND_TOKEN_OR : 0;
}

static bool is_sign(char c) {
  static const bool signs[128] = {
    ['+'] = true, ['-'] = true, ['*'] = true, ['/'] = true, ['%'] = true, ['@'] = true, ['<'] = true,
    ['>'] = true, ['='] = true, ['!'] = true, ['('] = true, [')'] = true, ['['] = true, [']'] = true,
    ['{'] = true, ['}'] = true, [','] = true, [';'] = true, [':'] = true, ['.'] = true, ['|'] = true,
  };
  return (unsigned char)c < 128 && signs[(unsigned char)c];
}

/* 'text' and # comments are those of other languages: one error for all of it. False: something else. */
static bool read_foreign(tn_mind_lexer *lexer, tn_mind_token *token) {
  char c = look(lexer, 0);
  if (c != '\'' && c != '#') return false;
  const char *from = lexer->text.at + lexer->at, *line = memchr(from, '\n', lexer->text.len - lexer->at);
  size_t rest = line ? (size_t)(line - from) : lexer->text.len - lexer->at;
  const char *quote = rest > 1 ? memchr(from + 1, '\'', rest - 1) : NULL;
  token->kind = TN_MIND_TOKEN_BAD;
  if (c == '#') {
    lexer->at += rest;
    complain_with(lexer, token->start, "`#` does not begin a comment", "a comment begins with `//`");
  } else {
    lexer->at += quote ? (size_t)(quote - from) + 1 : 1;
    complain_with(lexer, token->start, "single quotes do not make a string",
                  "a string is in double quotes: \"text\"");
  }
  return true;
}

static void read_sign(tn_mind_lexer *lexer, tn_mind_token *token) {
  char c = look(lexer, 0);
  if (read_foreign(lexer, token)) return;
  int pair = pair_of(c, look(lexer, 1));
  if (pair) {
    token->kind = pair;
    lexer->at += 2;
    return;
  }
  if (is_sign(c)) {
    token->kind = c;
    lexer->at++;
    return;
  }
  uint32_t code;
  size_t bytes = tn_utf8_decode(lexer->text, lexer->at, &code);
  lexer->at += bytes ? bytes : 1;
  complain(lexer, token->start, lexer->at,
           bytes ? "this character has no meaning here" : "this is not UTF-8 text");
  token->kind = TN_MIND_TOKEN_BAD;
}

static void read_comment(tn_mind_lexer *lexer, tn_mind_token *token) {
  token->kind = TN_MIND_TOKEN_COMMENT;
  if (look(lexer, 1) == '/')
    skip_line_comment(lexer);
  else
    skip_block_comment(lexer);
}

/* Straight into the caller's token: read a member at a time, a copy of it would wait for every store. */
void tn_mind_read(tn_mind_lexer *lexer, tn_mind_token *token) {
  size_t lines = skip_blanks(lexer);
  *token = (tn_mind_token){ .start = (uint32_t)lexer->at, .new_line = lines > 0, .blank_line = lines > 1 };
  char c = look(lexer, 0);
  if (lexer->at >= lexer->text.len)
    token->kind = TN_MIND_TOKEN_END;
  else if (is_letter(c))
    read_word(lexer, token);
  else if (is_digit(c))
    read_number(lexer, token);
  else if (c == '"')
    read_string(lexer, token);
  else if (c == '/' && lexer->comments && (look(lexer, 1) == '/' || look(lexer, 1) == '*'))
    read_comment(lexer, token);
  else
    read_sign(lexer, token);
  token->end = (uint32_t)lexer->at;
  lexer->before = token->kind;
}

tn_mind_token tn_mind_next(tn_mind_lexer *lexer) {
  tn_mind_token token;
  tn_mind_read(lexer, &token);
  return token;
}
