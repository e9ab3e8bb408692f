/* lang/ninth/lexer.c: splits a text into tokens.
 *
 * A word is everything up to a blank, a bracket, a quote, a comma, an arrow or a comment; only then
 * is it classified as a number or a name. So `5->x` is three tokens and `5x` is one invalid token.
 *
 * Prose is searched for the beginning of a program block as plain text, because its quotes need not
 * balance; only text after // in a line is skipped, so that a comment may mention program blocks. */
#include "lang/ninth/lexer.h"

#include <string.h>

#include "base/number.h"
#include "lang/ninth/meant.h"

typedef struct {
  tn_heap *heap;
  tn_diags *diags;
  tn_str text;
  uint32_t file;
  size_t at;
  bool everything;
  tn_ninth_tokens *out;
} lexer;

/* What a character means to the reader of words. */
enum { BLANK = 1, BREAK = 2, LETTER = 4, DIGIT = 8, CAPITAL = 16 };
#define SMALL LETTER
#define LARGE LETTER | CAPITAL
#define SPACE BLANK | BREAK
static const uint8_t classes[256] = {
  ['A'] = LARGE,  ['B'] = LARGE,  ['C'] = LARGE,  ['D'] = LARGE, ['E'] = LARGE,  ['F'] = LARGE,
  ['G'] = LARGE,  ['H'] = LARGE,  ['I'] = LARGE,  ['J'] = LARGE, ['K'] = LARGE,  ['L'] = LARGE,
  ['M'] = LARGE,  ['N'] = LARGE,  ['O'] = LARGE,  ['P'] = LARGE, ['Q'] = LARGE,  ['R'] = LARGE,
  ['S'] = LARGE,  ['T'] = LARGE,  ['U'] = LARGE,  ['V'] = LARGE, ['W'] = LARGE,  ['X'] = LARGE,
  ['Y'] = LARGE,  ['Z'] = LARGE,  ['a'] = SMALL,  ['b'] = SMALL, ['c'] = SMALL,  ['d'] = SMALL,
  ['e'] = SMALL,  ['f'] = SMALL,  ['g'] = SMALL,  ['h'] = SMALL, ['i'] = SMALL,  ['j'] = SMALL,
  ['k'] = SMALL,  ['l'] = SMALL,  ['m'] = SMALL,  ['n'] = SMALL, ['o'] = SMALL,  ['p'] = SMALL,
  ['q'] = SMALL,  ['r'] = SMALL,  ['s'] = SMALL,  ['t'] = SMALL, ['u'] = SMALL,  ['v'] = SMALL,
  ['w'] = SMALL,  ['x'] = SMALL,  ['y'] = SMALL,  ['z'] = SMALL, ['_'] = SMALL,  ['0'] = DIGIT,
  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT, ['5'] = DIGIT,  ['6'] = DIGIT,
  ['7'] = DIGIT,  ['8'] = DIGIT,  ['9'] = DIGIT,  [' '] = SPACE, ['\t'] = SPACE, ['\n'] = SPACE,
  ['\r'] = SPACE, ['\f'] = SPACE, ['\v'] = SPACE, ['('] = BREAK, [')'] = BREAK,  ['['] = BREAK,
  [']'] = BREAK,  ['{'] = BREAK,  ['}'] = BREAK,  ['"'] = BREAK, [','] = BREAK,
};
static inline uint8_t class_of(char c) { return classes[(unsigned char)c]; }

static char look(const lexer *lx, size_t ahead) {
  return lx->at + ahead < lx->text.len ? lx->text.at[lx->at + ahead] : 0;
}

static tn_span span_of(const lexer *lx, size_t start, size_t end) {
  return (tn_span){ lx->file, (uint32_t)start, (uint32_t)end };
}

static tn_str slice(const lexer *lx, size_t start, size_t end) {
  return (tn_str){ lx->text.at + start, end - start };
}

static bool push(lexer *lx, tn_ninth_token_kind kind, size_t start, uint8_t opcode) {
  tn_ninth_token token = { (uint8_t)kind, opcode, (uint32_t)start, (uint32_t)lx->at };
  return tn_vec_push(lx->heap, &lx->out->list, token);
}

bool tn_ninth_syntax(tn_diags *diags, tn_span at, tn_ninth_mistake mistake) {
  static const struct {
    const char *message, *hint;
  } mistakes[] = {
#define TN_NINTH_SYNTAX(id, message, hint) { message, hint },
#include "lang/ninth/syntax.def"
  };
  return tn_report(diags, TN_DIAG_E_SYNTAX_ERROR, at, TN_LINE("line", at), TN_COLUMN("col", at),
                   TN_STR("message", mistakes[mistake].message),
                   TN_HINT(tn_str_of(mistakes[mistake].hint)));
}

static bool push_bad_word(lexer *lx, size_t start) {
  tn_span at = span_of(lx, start, lx->at);
  tn_report(lx->diags, TN_DIAG_E_SYNTAX_ERROR, at, TN_LINE("line", at), TN_COLUMN("col", at),
            TN_STR("message", "this is neither a number nor a name"),
            TN_HINT(tn_ninth_word_hint(slice(lx, start, lx->at))));
  lx->out->flaws++;
  return push(lx, TN_NINTH_TOKEN_BAD, start, 0);
}

static void report_block(lexer *lx, size_t start, size_t end, tn_ninth_opcode opcode) {
  tn_report(lx->diags, TN_DIAG_E_UNCLOSED_BLOCK, span_of(lx, start, end),
            TN_STR("block", tn_ninth_opcode_info_of(opcode)->name));
}

/* ---- words ---- */

static bool is_name(tn_str word) {
  if (word.len == 0 || !(class_of(word.at[0]) & LETTER)) return false;
  for (size_t i = 1; i < word.len; i++) {
    if (!(class_of(word.at[i]) & (LETTER | DIGIT))) return false;
  }
  return true;
}

static tn_str without_sign(tn_str word) {
  bool sign = word.len > 0 && (word.at[0] == '-' || word.at[0] == '+');
  return (tn_str){ word.at + sign, word.len - sign };
}

/* number := sign? (digits ("." digits?)? | "." digits) (("e" | "E") sign? digits)? */
static bool is_number(tn_str word) {
  tn_str bare = without_sign(word);
  size_t at = 0, digits = 0;
  if (bare.len == 3 && (tn_str_is(bare, "inf") || tn_str_is(bare, "nan"))) return true;
  for (; at < bare.len && (class_of(bare.at[at]) & DIGIT); at++) digits++;
  if (at < bare.len && bare.at[at] == '.') {
    for (at++; at < bare.len && (class_of(bare.at[at]) & DIGIT); at++) digits++;
  }
  if (digits == 0 || at == bare.len) return digits > 0;
  if (bare.at[at] != 'e' && bare.at[at] != 'E') return false;
  tn_str exponent = without_sign((tn_str){ bare.at + at + 1, bare.len - at - 1 });
  for (at = 0; at < exponent.len && (class_of(exponent.at[at]) & DIGIT);) at++;
  return exponent.len > 0 && at == exponent.len;
}

float tn_ninth_number(tn_str text) {
  float number = 0;
  tn_str bare = without_sign(text);
  if (bare.at[0] == 'n') return __builtin_nanf("");
  if (bare.at[0] == 'i') return text.at[0] == '-' ? -__builtin_inff() : __builtin_inff();
  tn_number_parse_f32(text, &number);
  return number;
}

bool tn_ninth_integer(tn_str text, int64_t *out, bool *fits) {
  tn_str bare = without_sign(text);
  for (size_t i = 0; i < bare.len; i++) {
    if (!(class_of(bare.at[i]) & DIGIT)) return false;
  }
  *fits = tn_number_parse_i64(text, out);
  return true;
}

static bool ends_word(const lexer *lx) {
  char c = look(lx, 0);
  if (class_of(c) & BREAK) return true;
  return (c == '-' && look(lx, 1) == '>') || (c == '/' && look(lx, 1) == '/');
}

static bool read_word(lexer *lx) {
  size_t start = lx->at;
  while (lx->at < lx->text.len && !ends_word(lx)) lx->at++;
  tn_str word = slice(lx, start, lx->at);
  if (is_number(word)) return push(lx, TN_NINTH_TOKEN_NUMBER, start, 0);
  if (is_name(word)) return push(lx, TN_NINTH_TOKEN_NAME, start, 0);
  if (word.at[0] == '@' && is_name(slice(lx, start + 1, lx->at)))
    return push(lx, TN_NINTH_TOKEN_STATE, start, 0);
  return push_bad_word(lx, start);
}

/* ---- brackets, strings, opcodes ---- */

/* The end of `[NAME]` at the current place, or 0 when that is something else. */
static size_t opcode_end(const lexer *lx) {
  size_t i = 1;
  if (!(class_of(look(lx, i)) & CAPITAL)) return 0;
  for (;; i++) {
    char c = look(lx, i);
    if (c == ']') return lx->at + i + 1;
    if (!(class_of(c) & (CAPITAL | DIGIT)) && c != '_') return 0;
  }
}

static bool read_bracket(lexer *lx) {
  size_t start = lx->at, end = opcode_end(lx);
  if (end == 0) {
    lx->at++;
    return push(lx, TN_NINTH_TOKEN_SHAPE_OPEN, start, 0);
  }
  lx->at = end;
  tn_str name = slice(lx, start + 1, end - 1);
  tn_ninth_opcode opcode = tn_ninth_opcode_find(name);
  if (opcode == TN_NINTH_OPCODE_COUNT) {
    bool shown = tn_diags_has_room(lx->diags, TN_DIAG_E_UNKNOWN_OPCODE);
    tn_report(lx->diags, TN_DIAG_E_UNKNOWN_OPCODE, span_of(lx, start, end), TN_TEXT("opcode", name),
              TN_TEXT("suggestion", shown ? tn_ninth_opcode_suggest(name) : TN_LIT("")));
    lx->out->flaws++;
  }
  return push(lx, TN_NINTH_TOKEN_OPCODE, start, (uint8_t)opcode);
}

static bool read_string(lexer *lx) {
  size_t start = lx->at++;
  const char *end = memchr(lx->text.at + lx->at, '"', lx->text.len - lx->at);
  if (end) {
    lx->at = (size_t)(end - lx->text.at) + 1;
    return push(lx, TN_NINTH_TOKEN_STRING, start, 0);
  }
  lx->out->open = true;
  tn_ninth_syntax(lx->diags, span_of(lx, start, start + 1), TN_NINTH_SYNTAX_STRING);
  lx->out->flaws++;
  lx->at = lx->text.len;
  return push(lx, TN_NINTH_TOKEN_BAD, start, 0);
}

static bool read_comment(lexer *lx) {
  size_t start = lx->at;
  const char *end = memchr(lx->text.at + start, '\n', lx->text.len - start);
  lx->at = end ? (size_t)(end - lx->text.at) : lx->text.len;
  return !lx->everything || push(lx, TN_NINTH_TOKEN_COMMENT, start, 0);
}

static bool read_arrow(lexer *lx) {
  size_t start = lx->at;
  bool keeps = look(lx, 2) == '>';
  lx->at += keeps ? 3 : 2;
  return push(lx, keeps ? TN_NINTH_TOKEN_KEEP : TN_NINTH_TOKEN_ARROW, start, 0);
}

static bool read_sign(lexer *lx, tn_ninth_token_kind kind) {
  size_t start = lx->at++;
  return push(lx, kind, start, 0);
}

static bool read_token(lexer *lx) {
  char c = look(lx, 0);
  switch (c) {
    case '(': return read_sign(lx, TN_NINTH_TOKEN_OPEN);
    case ')': return read_sign(lx, TN_NINTH_TOKEN_CLOSE);
    case ']': return read_sign(lx, TN_NINTH_TOKEN_SHAPE_CLOSE);
    case '{': return read_sign(lx, TN_NINTH_TOKEN_BLOCK_OPEN);
    case '}': return read_sign(lx, TN_NINTH_TOKEN_BLOCK_CLOSE);
    case ',': return read_sign(lx, TN_NINTH_TOKEN_COMMA);
    case '[': return read_bracket(lx);
    case '"': return read_string(lx);
    default: break;
  }
  if (c == '/' && look(lx, 1) == '/') return read_comment(lx);
  if (c == '-' && look(lx, 1) == '>') return read_arrow(lx);
  return read_word(lx);
}

static void skip_blanks(lexer *lx) {
  while (lx->at < lx->text.len && (class_of(lx->text.at[lx->at]) & BLANK)) lx->at++;
}

/* ---- program blocks ---- */

static bool is_opcode(const lexer *lx, size_t index, tn_ninth_opcode opcode) {
  const tn_ninth_token *token = &lx->out->list.at[index];
  return token->kind == TN_NINTH_TOKEN_OPCODE && token->opcode == opcode;
}

/* Whether // precedes `at` in its line, from `from` on. */
static bool is_commented(const lexer *lx, size_t from, size_t at) {
  while (at > from && lx->text.at[at - 1] != '\n') {
    at--;
    if (lx->text.at[at] == '/' && lx->text.at[at + 1] == '/') return true;
  }
  return false;
}

/* Where the words stand in [from, to), not after // in their line; `to` when they do not. Their _ is looked
 * for: texts have few of those. */
static size_t find_words(const lexer *lx, size_t from, size_t to, const char *words) {
  size_t length = strlen(words), before = strcspn(words, "_");
  const char *text = lx->text.at, *found = NULL;
  for (size_t i = from; i < to; i = (size_t)(found - text) + 1) {
    found = memchr(text + i, '_', to - i);
    if (!found) return to;
    size_t at = (size_t)(found - text);
    if (at < from + before || to - at < length - before || memcmp(found - before, words, length) != 0)
      continue;
    if (!is_commented(lx, from, at - before)) return at - before;
    found = memchr(found, '\n', to - at); /* the rest of the line is a comment, too */
    if (!found) return to;
  }
  return to;
}

#define START_WORDS "[PROGRAM_START]"
#define END_WORDS   "[PROGRAM_END]"

static bool read_prose(lexer *lx, size_t end) {
  size_t start = lx->at, stray = find_words(lx, start, end, END_WORDS);
  if (stray < end) report_block(lx, stray, stray + strlen(END_WORDS), TN_NINTH_PROGRAM_END);
  lx->at = end;
  return end == start || !lx->everything || push(lx, TN_NINTH_TOKEN_PROSE, start, 0);
}

/* From [PROGRAM_START] to [PROGRAM_END], both included. */
static bool read_block(lexer *lx) {
  size_t start = lx->at, first = lx->out->list.count;
  while (skip_blanks(lx), lx->at < lx->text.len) {
    size_t before = lx->out->list.count;
    if (!read_token(lx)) return false;
    if (lx->out->list.count == before) continue;
    if (is_opcode(lx, before, TN_NINTH_PROGRAM_END)) return true;
    if (before > first && is_opcode(lx, before, TN_NINTH_PROGRAM_START)) {
      report_block(lx, lx->out->list.at[before].start, lx->at, TN_NINTH_PROGRAM_START);
    }
  }
  lx->out->open = true;
  report_block(lx, start, start + strlen(START_WORDS), TN_NINTH_PROGRAM_START);
  return true;
}

static bool read_blocks(lexer *lx) {
  while (lx->at < lx->text.len) {
    if (!read_prose(lx, find_words(lx, lx->at, lx->text.len, START_WORDS))) return false;
    if (lx->at < lx->text.len && !read_block(lx)) return false;
  }
  return true;
}

/* A text without program blocks is all program. */
static bool read_plain(lexer *lx) {
  while (skip_blanks(lx), lx->at < lx->text.len) {
    size_t before = lx->out->list.count;
    if (!read_token(lx)) return false;
    if (lx->out->list.count > before && is_opcode(lx, before, TN_NINTH_PROGRAM_END)) {
      report_block(lx, lx->out->list.at[before].start, lx->at, TN_NINTH_PROGRAM_END);
    }
  }
  return true;
}

#define BYTES_A_TOKEN 4 /* of an ordinary text, at least */

bool tn_ninth_lex(tn_heap *heap, tn_diags *diags, uint32_t file, bool everything, tn_ninth_tokens *out) {
  const tn_source *source = tn_sources_get(diags->sources, file);
  lexer lx = { heap, diags, source->text, file, 0, everything, out };
  tn_span nul;
  *out = (tn_ninth_tokens){ 0 };
  if (tn_sources_find_nul(diags->sources, file, &nul)) {
    tn_ninth_syntax(diags, nul, TN_NINTH_SYNTAX_NUL);
    return push(&lx, TN_NINTH_TOKEN_END, lx.at, 0);
  }
  bool blocks = find_words(&lx, 0, lx.text.len, START_WORDS) < lx.text.len;
  bool ok = tn_vec_reserve(heap, &out->list, lx.text.len / BYTES_A_TOKEN + 1) &&
            (blocks ? read_blocks(&lx) : read_plain(&lx));
  return ok && push(&lx, TN_NINTH_TOKEN_END, lx.at, 0);
}

void tn_ninth_tokens_free(tn_heap *heap, tn_ninth_tokens *tokens) { tn_vec_free(heap, &tokens->list); }
