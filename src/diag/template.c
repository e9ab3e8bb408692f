/* diag/template.c: titles, labels, hints and notes with their fields filled in.
 *
 *   text      {field} is the field's value; any other brace is itself
 *             {field:row|rows} is the value and the word that goes with it: 1 row, 2 rows
 *   [[a||b]]  the first alternative whose fields are all present, else nothing
 *
 * One code serves three languages, whose reports differ in the fields they can
 * give; optional parts let a single template read well for all of them. A
 * template is read twice, once for its length and once to write it, so that
 * the result goes straight into the arena it will live in. */
#include "diag/internal.h"

#include <string.h>

typedef struct {
  const tn_diag_field *fields;
  size_t count;
  const char *outline;   /* not NULL: no values, these names are present */
  char *out;             /* NULL: count only */
  size_t len;
} expansion;

static void put(expansion *x, const char *at, size_t len) {
  if (x->out && len) memcpy(x->out + x->len, at, len);
  x->len += len;
}

static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* "{name}" or "{name:one|many}". */
typedef struct {
  tn_str name, one, many;   /* no name: another brace */
  size_t length;
} placeholder;

static placeholder placeholder_at(const char *at, const char *end) {
  const char *name = at + 1, *stop = name;
  while (stop < end && is_name_byte(*stop)) stop++;
  placeholder found = { .name = { name, (size_t)(stop - name) } };
  const char *close = stop < end ? memchr(stop, '}', (size_t)(end - stop)) : NULL;
  const char *bar = close ? memchr(stop, '|', (size_t)(close - stop)) : NULL;
  if (close && *stop == ':' && bar) {
    found.one = (tn_str){ stop + 1, (size_t)(bar - stop - 1) };
    found.many = (tn_str){ bar + 1, (size_t)(close - bar - 1) };
  } else if (!close || close != stop) {
    return (placeholder){ .length = 0 };
  }
  found.length = (size_t)(close + 1 - at);
  return found;
}

/* The same for a text in which there may be none here. */
static placeholder placeholder_in(const char *at, const char *end) {
  return *at == '{' ? placeholder_at(at, end) : (placeholder){ .length = 0 };
}

static const tn_diag_field *find(const expansion *x, tn_str name) {
  for (size_t i = 0; i < x->count; i++)
    if (tn_str_is(name, x->fields[i].name)) return &x->fields[i];
  return NULL;
}

static bool has_field(const expansion *x, tn_str name) {
  if (!x->outline) return find(x, name) != NULL;
  const char *list = x->outline;
  tn_str each;
  while (tn_diag_next_name(&list, &each))
    if (tn_str_equal(each, name)) return true;
  return false;
}

tn_str tn_diag_cut(tn_str text, size_t bytes) {
  if (text.len <= bytes) return text;
  while (bytes > 0 && ((unsigned char)text.at[bytes] & 0xC0) == 0x80) bytes--;
  return (tn_str){ text.at, bytes };
}

/* Values come from programs: a megabyte of string literal must not become a title. */
static void put_value(expansion *x, tn_str value) {
  tn_str shown = tn_diag_cut(value, TN_DIAG_VALUE_LIMIT);
  put(x, shown.at, shown.len);
  if (shown.len < value.len) put(x, "...", 3);
}

/* The word after a number. */
static void put_word(expansion *x, const placeholder *p, tn_str value) {
  tn_str word = tn_str_is(value, "1") ? p->one : p->many;
  if (p->many.len == 0) return;
  put(x, " ", 1);
  put(x, word.at, word.len);
}

static void put_field(expansion *x, const placeholder *p) {
  tn_str name = p->name;
  const tn_diag_field *field = find(x, name);
  if (x->outline) {
    put(x, "<", 1);
    put(x, name.at, name.len);
    put(x, ">", 1);
  } else {
    put_value(x, field ? field->value : TN_LIT("?"));
  }
  put_word(x, p, field ? field->value : TN_LIT("?"));
}

/* Text without [[ ]]. */
static void put_plain(expansion *x, const char *at, const char *end) {
  while (at < end) {
    placeholder p = placeholder_in(at, end);
    if (p.name.len == 0) {
      put(x, at++, 1);
      continue;
    }
    put_field(x, &p);
    at += p.length;
  }
}

static bool has_fields(const expansion *x, const char *at, const char *end) {
  for (; at < end; at++) {
    placeholder p = placeholder_in(at, end);
    if (p.name.len > 0 && !has_field(x, p.name)) return false;
  }
  return true;
}

/* The first of `two`, a pair of equal bytes, in [at, end), or `end`. */
static const char *find_pair(const char *at, const char *end, char two) {
  for (; at + 1 < end; at++)
    if (at[0] == two && at[1] == two) return at;
  return end;
}

static void put_alternative(expansion *x, const char *at, const char *end) {
  while (at <= end) {
    const char *stop = find_pair(at, end, '|');
    if (has_fields(x, at, stop)) {
      put_plain(x, at, stop);
      return;
    }
    at = stop + 2;
  }
}

static size_t expand(expansion *x, const char *template) {
  const char *at = template, *end = template + strlen(template);
  while (at < end) {
    const char *open = find_pair(at, end, '[');
    const char *close = open < end ? find_pair(open + 2, end, ']') : end;
    if (close == end) open = end;   /* an opener without a partner is text */
    put_plain(x, at, open);
    if (open == end) break;
    put_alternative(x, open + 2, close);
    at = close + 2;
  }
  return x->len;
}

size_t tn_diag_expand(const char *template, const tn_diag_field *fields, size_t count, char *out) {
  return expand(&(expansion){ .fields = fields, .count = count, .out = out }, template);
}

size_t tn_diag_outline(const char *template, const char *required, char *out) {
  return expand(&(expansion){ .outline = required ? required : "", .out = out }, template);
}

bool tn_diag_next_field(const char **template, tn_str *name, bool *inside) {
  const char *end = *template + strlen(*template);
  for (const char *at = *template; at < end; at++) {
    if (at[0] == '[' && at[1] == '[') *inside = true;
    if (at[0] == ']' && at[1] == ']') *inside = false;
    placeholder p = placeholder_in(at, end);
    if (p.name.len == 0) continue;
    *name = p.name;
    *template = at + p.length;
    return true;
  }
  return false;
}
