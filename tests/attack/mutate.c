/* attack/mutate.c: see mutate.h. */
#define _XOPEN_SOURCE 700
#include "attack/mutate.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_SEED    65536  /* bytes of a file that is used */
#define MOST_INPUT   262144 /* bytes of what is made of it */
#define MOST_SESSION 4096   /* bytes of a session */

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* Seeds ------------------------------------------------------------------ */

static bool ends_in(const char *name, const char *ending) {
  size_t length = strlen(name), wanted = strlen(ending);
  return length >= wanted && strcmp(name + length - wanted, ending) == 0;
}

static int no_dots(const struct dirent *entry) { return entry->d_name[0] != '.'; }

void seeds_add(seeds *to, const char *folder, const char *ending) {
  struct dirent **entries;
  int count = scandir(folder, &entries, no_dots, alphasort);
  if (count < 0) die("cannot list %s", folder);
  for (int i = 0; i < count; i++) {
    text path = { 0 };
    struct stat about;
    text_addf(&path, "%s/%s", folder, entries[i]->d_name);
    if (stat(path.bytes, &about) != 0) die("cannot read %s", path.bytes);
    if (S_ISDIR(about.st_mode)) {
      seeds_add(to, path.bytes, ending);
    } else if (ends_in(entries[i]->d_name, ending) && about.st_size <= MOST_SEED) {
      to->at = more(to->at, (to->count + 1) * sizeof *to->at);
      to->at[to->count++] = read_file(path.bytes, NULL);
    }
    free(path.bytes);
    free(entries[i]);
  }
  free(entries);
}

text seed_pick(const seeds *from, tn_rng *rng) { return from->at[tn_rng_below(rng, (uint32_t)from->count)]; }

/* Places ----------------------------------------------------------------- */

typedef struct {
  size_t from, to;
} range;

static size_t place(text in, tn_rng *rng) { return tn_rng_below(rng, (uint32_t)in.length + 1); }

/* Mostly short, sometimes long. */
static range some_range(text in, tn_rng *rng) {
  size_t from = place(in, rng);
  uint32_t most = tn_rng_below(rng, 4) == 0 ? 4096 : 24;
  size_t length = tn_rng_below(rng, most) + 1;
  return (range){ from, from + length < in.length ? from + length : in.length };
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* The token at a place: a word, or one other character. Empty at the end. */
static range token_at(text in, size_t at) {
  range found = { at, at };
  if (at >= in.length) return found;
  if (!is_word(in.bytes[at])) return (range){ at, at + 1 };
  while (found.from > 0 && is_word(in.bytes[found.from - 1])) found.from--;
  while (found.to < in.length && is_word(in.bytes[found.to])) found.to++;
  return found;
}

static range line_at(text in, size_t at) {
  range found = { at, at };
  while (found.from > 0 && in.bytes[found.from - 1] != '\n') found.from--;
  while (found.to < in.length && in.bytes[found.to] != '\n') found.to++;
  if (found.to < in.length) found.to++;
  return found;
}

/* Puts `piece`, `times` over, in place of a range. */
static void put(text *in, range where, text piece, size_t times) {
  text made = text_span(in->bytes, where.from);
  for (size_t i = 0; i < times && made.length + piece.length < MOST_INPUT; i++)
    text_add(&made, piece.bytes, piece.length);
  text_add(&made, in->bytes + where.to, in->length - where.to);
  free(in->bytes);
  *in = made;
}

static void put_string(text *in, range where, const char *string, size_t times) {
  text piece = text_of(string);
  put(in, where, piece, times);
  free(piece.bytes);
}

static text piece_of(text in, range where) { return (text){ in.bytes + where.from, where.to - where.from }; }

/* Changes ---------------------------------------------------------------- */

typedef struct {
  text *in;
  const seeds *pool; /* NULL: bytes */
  tn_rng *rng;
} change;

static void flip_bit(const change *c) {
  if (c->in->length > 0)
    c->in->bytes[tn_rng_below(c->rng, (uint32_t)c->in->length)] ^= (char)(1 << tn_rng_below(c->rng, 8));
}

static void set_byte(const change *c) {
  if (c->in->length > 0)
    c->in->bytes[tn_rng_below(c->rng, (uint32_t)c->in->length)] = (char)tn_rng_below(c->rng, 256);
}

static void remove_range(const change *c) { put(c->in, some_range(*c->in, c->rng), (text){ 0 }, 0); }

/* A few times, or often enough to nest deeply. */
static void repeat_range(const change *c) {
  range where = some_range(*c->in, c->rng);
  text piece = text_span(c->in->bytes + where.from, where.to - where.from);
  put(c->in, where, piece,
      tn_rng_below(c->rng, 6) == 0 ? tn_rng_below(c->rng, 3000) : 2 + tn_rng_below(c->rng, 4));
  free(piece.bytes);
}

static void cut(const change *c) {
  if (c->in->length == 0) return;
  c->in->length = tn_rng_below(c->rng, (uint32_t)c->in->length);
  c->in->bytes[c->in->length] = 0;
}

static void insert_token(const change *c) {
  text other = seed_pick(c->pool, c->rng);
  size_t at = place(*c->in, c->rng);
  put(c->in, (range){ at, at }, piece_of(other, token_at(other, place(other, c->rng))), 1);
}

static void replace_token(const change *c) {
  text other = seed_pick(c->pool, c->rng);
  put(c->in, token_at(*c->in, place(*c->in, c->rng)), piece_of(other, token_at(other, place(other, c->rng))),
      1);
}

static void insert_lines(const change *c) {
  text other = seed_pick(c->pool, c->rng);
  size_t at = line_at(*c->in, place(*c->in, c->rng)).from;
  put(c->in, (range){ at, at }, piece_of(other, line_at(other, place(other, c->rng))),
      1 + tn_rng_below(c->rng, 3));
}

static void remove_line(const change *c) {
  put(c->in, line_at(*c->in, place(*c->in, c->rng)), (text){ 0 }, 0);
}

static void splice(const change *c) {
  text other = seed_pick(c->pool, c->rng);
  range tail = { line_at(other, place(other, c->rng)).from, other.length };
  put(c->in, (range){ line_at(*c->in, place(*c->in, c->rng)).from, c->in->length }, piece_of(other, tail), 1);
}

static void extreme_number(const change *c) {
  static const char *const numbers[] = {
    "0",
    "-1",
    "1",
    "255",
    "256",
    "65535",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "1099511627776",
    "1e38",
    "3.5e38",
    "1e-45",
    "1e309",
    "nan",
    "inf",
    "-inf",
    "0.0",
    "-0.0",
    "0x7fffffff",
    "1e999999999",
    "16777217",
  };
  range where = token_at(*c->in, place(*c->in, c->rng));
  const char *number = numbers[tn_rng_below(c->rng, COUNT(numbers))];
  put_string(c->in, where, number, 1);
}

static void brackets(const change *c) {
  static const char *const openers[] = { "(",  "[", "{", ")",   "]",    "}", "((",
                                         "[[", "-", "!", "if ", "|x| ", "/*" };
  const char *opener = openers[tn_rng_below(c->rng, COUNT(openers))];
  size_t at = place(*c->in, c->rng);
  put_string(c->in, (range){ at, at }, opener, 1 + tn_rng_below(c->rng, 400));
}

static void odd_bytes(const change *c) {
  static const char *const odd[] = { "\xef\xbb\xbf",
                                     "\r",
                                     "\r\n",
                                     "\t",
                                     "\xff",
                                     "\xc0\x80",
                                     "\xed\xa0\x80",
                                     "\xe2\x80\xa8",
                                     "\xe2\x80\xae",
                                     "\x1b[2J",
                                     "\x7f",
                                     "\xf0\x9f\x92\xa3",
                                     "\\",
                                     "\"",
                                     "'",
                                     "`",
                                     "#",
                                     "//" };
  size_t at = place(*c->in, c->rng);
  uint32_t which = tn_rng_below(c->rng, COUNT(odd) + 1);
  text piece = which < COUNT(odd) ? text_of(odd[which]) : text_span("", 1); /* the last is a NUL */
  put(c->in, (range){ at, at }, piece, 1);
  free(piece.bytes);
}

/* A little-endian number that a reader may take for a size. */
static void extreme_field(const change *c) {
  static const uint64_t values[] = { 0,          1,          0x7f,       0xff,       0xffff,     0x7fffffff,
                                     0x80000000, 0xffffffff, 1ULL << 32, 1ULL << 40, 1ULL << 62, UINT64_MAX };
  size_t bytes = tn_rng_below(c->rng, 2) ? 4 : 8;
  uint64_t value = values[tn_rng_below(c->rng, COUNT(values))];
  if (c->in->length < bytes) return;
  size_t at = tn_rng_below(c->rng, (uint32_t)(c->in->length - bytes + 1));
  for (size_t i = 0; i < bytes; i++) c->in->bytes[at + i] = (char)(value >> 8 * i);
}

typedef void (*changer)(const change *c);

static text changed(text seed, const seeds *pool, const changer *changers, uint32_t count, tn_rng *rng) {
  text made = text_span(seed.bytes, seed.length);
  change c = { &made, pool, rng };
  uint32_t times = 1 + tn_rng_below(rng, tn_rng_below(rng, 3) == 0 ? 8 : 2);
  for (uint32_t i = 0; i < times; i++) changers[tn_rng_below(rng, count)](&c);
  return made;
}

text mutate_text(text seed, const seeds *pool, tn_rng *rng) {
  static const changer changers[] = { flip_bit,      set_byte,      remove_range,   repeat_range,
                                      cut,           insert_token,  insert_token,   replace_token,
                                      replace_token, replace_token, insert_lines,   insert_lines,
                                      remove_line,   splice,        extreme_number, extreme_number,
                                      brackets,      odd_bytes };
  return changed(seed, pool, changers, COUNT(changers), rng);
}

text mutate_bytes(text seed, tn_rng *rng) {
  static const changer changers[] = { flip_bit, flip_bit,  set_byte,      remove_range,  repeat_range,
                                      cut,      odd_bytes, extreme_field, extreme_field, extreme_number };
  return changed(seed, NULL, changers, COUNT(changers), rng);
}

/* Cuts a session after its last line that still fits. A line that alone is too long is cut itself. */
static void bound_session(text *session) {
  size_t line_count = 0, kept = 0;
  for (size_t i = 0; i < session->length && i < MOST_SESSION && line_count < SESSION_LINES; i++)
    if (session->bytes[i] == '\n') line_count++, kept = i + 1;
  if (line_count == 0) kept = session->length < MOST_SESSION ? session->length : MOST_SESSION;
  session->length = kept;
  session->bytes[kept] = 0;
}

text mutate_session(const seeds *pool, tn_rng *rng) {
  static const char *const commands[] = { ":env",      ":vars",    ":stack",  ":clear",
                                          ":reset",    ":help",    ":type x", ":shape x",
                                          ":grad x",   ":graph x", ":mlir x", ":time 1",
                                          ":trace on", ":load x",  ":quit",   ":nothing" };
  text made = text_of("");
  uint32_t count = 1 + tn_rng_below(rng, 40);
  for (uint32_t i = 0; i < count && made.length < MOST_SESSION; i++) {
    text seed = seed_pick(pool, rng);
    uint32_t kind = tn_rng_below(rng, 16);
    bool whole = kind == 0 && seed.length <= MOST_SESSION;
    range where = whole ? (range){ 0, seed.length } : line_at(seed, place(seed, rng));
    if (kind == 1) {
      text_addf(&made, "%s\n", commands[tn_rng_below(rng, COUNT(commands))]);
    } else if (kind < 6) {
      text line = mutate_text(piece_of(seed, where), pool, rng);
      text_add(&made, line.bytes, line.length);
      text_add(&made, "\n", 1);
      free(line.bytes);
    } else {
      text_add(&made, seed.bytes + where.from, where.to - where.from);
    }
  }
  bound_session(&made);
  return made;
}
