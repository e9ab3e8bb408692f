/* runner/value.c: see value.h. */
#include "runner/value.h"

#include <stdlib.h>
#include <string.h>

static value *parse_value(tn_json_reader *reader, const tn_json_token *token);

/* Reads up to the closing bracket; false when the reader reported an error. */
static bool parse_children(tn_json_reader *reader, value *parent) {
  value **link = &parent->first;
  tn_json_token token;
  tn_str key = { 0 };
  while (tn_json_next(reader, &token) > TN_JSON_END) {
    if (token.kind == TN_JSON_OBJECT_END || token.kind == TN_JSON_ARRAY_END) return true;
    if (token.kind == TN_JSON_KEY) {
      key = token.text;
      continue;
    }
    value *child = parse_value(reader, &token);
    if (!child) return false;
    child->key = key;
    *link = child;
    link = &child->next;
  }
  return false;
}

static value *parse_value(tn_json_reader *reader, const tn_json_token *token) {
  value *made = tn_arena_new(reader->arena, value);
  if (!made) return NULL;
  *made = (value){ .kind = token->kind, .text = token->text };
  bool nested = token->kind == TN_JSON_OBJECT_BEGIN || token->kind == TN_JSON_ARRAY_BEGIN;
  return nested && !parse_children(reader, made) ? NULL : made;
}

const value *value_parse(tn_arena *arena, tn_str json, const char **reason) {
  tn_json_reader reader;
  tn_json_token token;
  tn_json_init(&reader, json, arena);
  value *root = tn_json_next(&reader, &token) > TN_JSON_END ? parse_value(&reader, &token) : NULL;
  if (root && tn_json_next(&reader, &token) == TN_JSON_END) return root;
  *reason = reader.reason ? reader.reason : "not one JSON value";
  return NULL;
}

const value *value_member(const value *object, tn_str key) {
  if (!object || object->kind != TN_JSON_OBJECT_BEGIN) return NULL;
  for (const value *at = object->first; at; at = at->next)
    if (tn_str_equal(at->key, key)) return at;
  return NULL;
}

static const value *value_item(const value *array, size_t index) {
  if (!array || array->kind != TN_JSON_ARRAY_BEGIN) return NULL;
  const value *at = array->first;
  while (at && index--) at = at->next;
  return at;
}

/* path = [ name ] { "." name | "[" digits "]" } */
const value *value_at(const value *root, tn_str path) {
  size_t i = 0;
  while (root && i < path.len) {
    if (path.at[i] == '[') {
      size_t index = 0;
      for (i++; i < path.len && path.at[i] != ']'; i++) index = index * 10 + (size_t)(path.at[i] - '0');
      i++;
      root = value_item(root, index);
    } else {
      if (path.at[i] == '.') i++;
      size_t from = i;
      while (i < path.len && path.at[i] != '.' && path.at[i] != '[') i++;
      root = value_member(root, (tn_str){ path.at + from, i - from });
    }
  }
  return root;
}

bool value_is(const value *at, const char *string) {
  return at && at->kind == TN_JSON_STRING && tn_str_is(at->text, string);
}

/* A number's text with a NUL after it; longer ones than any we write are cut. */
typedef struct {
  char digits[64];
} numeral;

static numeral numeral_of(const value *at) {
  numeral out = { { 0 } };
  size_t length = at->text.len < sizeof out.digits ? at->text.len : sizeof out.digits - 1;
  memcpy(out.digits, at->text.at, length);
  return out;
}

bool value_integer(const value *at, int64_t *out) {
  if (!at || at->kind != TN_JSON_NUMBER) return false;
  *out = strtoll(numeral_of(at).digits, NULL, 10);
  return true;
}

static bool numbers_equal(const value *a, const value *b) {
  return strtod(numeral_of(a).digits, NULL) == strtod(numeral_of(b).digits, NULL);
}

static bool members_equal(const value *a, const value *b) {
  size_t left = 0, right = 0;
  for (const value *at = b->first; at; at = at->next) right++;
  for (const value *at = a->first; at; at = at->next, left++)
    if (!value_equal(at, value_member(b, at->key))) return false;
  return left == right;
}

bool value_equal(const value *a, const value *b) {
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == TN_JSON_NUMBER) return numbers_equal(a, b);
  if (a->kind == TN_JSON_STRING) return tn_str_equal(a->text, b->text);
  if (a->kind == TN_JSON_OBJECT_BEGIN) return members_equal(a, b);
  const value *x = a->first, *y = b->first;
  for (; x && y; x = x->next, y = y->next)
    if (!value_equal(x, y)) return false;
  return !x && !y;
}
