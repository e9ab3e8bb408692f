/* diag/template.c: titles, labels, hints and notes with their fields filled in.
 *
 *   text      {field} is the field's value; any other brace is itself
 *   [[a||b]]  the first alternative whose fields are all present, else nothing
 *
 * One code serves three languages, whose reports differ in the fields they can
 * give; optional parts let a single template read well for all of them. A
 * template is walked twice, once for its length and once to write it, so that
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

/* The name in "{name}" at `at`; an empty string for any other brace. */
static tn_str field_name(const char *at, const char *end) {
  const char *name = at + 1, *stop = name;
  while (stop < end && is_name_byte(*stop)) stop++;
  if (stop == end || *stop != '}') return (tn_str){ name, 0 };
  return (tn_str){ name, (size_t)(stop - name) };
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

static void put_field(expansion *x, tn_str name) {
  const tn_diag_field *field = find(x, name);
  if (x->outline) {
    put(x, "<", 1);
    put(x, name.at, name.len);
    put(x, ">", 1);
  } else {
    put_value(x, field ? field->value : TN_LIT("?"));
  }
}

/* Text without [[ ]]. */
static void put_plain(expansion *x, const char *at, const char *end) {
  while (at < end) {
    tn_str name = *at == '{' ? field_name(at, end) : (tn_str){ 0 };
    if (name.len == 0) {
      put(x, at++, 1);
      continue;
    }
    put_field(x, name);
    at += name.len + 2;
  }
}

static bool has_fields(const expansion *x, const char *at, const char *end) {
  for (; at < end; at++) {
    tn_str name = *at == '{' ? field_name(at, end) : (tn_str){ 0 };
    if (name.len > 0 && !has_field(x, name)) return false;
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
    if (*at != '{') continue;
    *name = field_name(at, end);
    if (name->len == 0) continue;
    *template = at + name->len + 2;
    return true;
  }
  return false;
}
