/* runner/value.h: a JSON text as a tree, for tests that look into what tern says.
 *
 * Built on the reader the library itself uses (base/json.h); nodes and strings
 * live in the caller's arena. */
#ifndef TN_TEST_VALUE_H
#define TN_TEST_VALUE_H

#include "base/json.h"

typedef struct value value;
struct value {
  tn_json_kind kind;     /* TN_JSON_OBJECT_BEGIN and TN_JSON_ARRAY_BEGIN stand for the whole */
  tn_str text;           /* of a string or number */
  tn_str key;            /* of a member */
  value *first, *next;   /* children in order */
};

/* NULL with *reason (static text) when the text is not one JSON value. */
const value *value_parse(tn_arena *arena, tn_str json, const char **reason);

/* All of these accept NULL and give NULL for what is not there. */
const value *value_member(const value *object, tn_str key);
/* A path as in `outputs[0].shape`; the empty path is the value itself. */
const value *value_at(const value *root, tn_str path);

bool value_is(const value *at, const char *string);          /* a string with this text */
bool value_integer(const value *at, int64_t *out);
/* The same kind and content; numbers by value, members in any order. */
bool value_equal(const value *a, const value *b);
#endif
