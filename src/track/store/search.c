/* track/store/search.c: finds the runs that match a search text.
 *
 * A word is text that a run must contain, or compares a column or hyperparameter with a value: lr=0.1,
 * loss<0.5, status!=killed. Words are untrusted and are only ever compared. */
#include <string.h>

#include "base/number.h"
#include "track/store/store.h"

/* ---- text ---- */

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool same_letters(const char *a, const char *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (lower(a[i]) != lower(b[i])) return false;
  }
  return true;
}

static bool contains(tn_str text, tn_str word) {
  for (size_t i = 0; text.len >= word.len && i <= text.len - word.len; i++) {
    if (same_letters(text.at + i, word.at, word.len)) return true;
  }
  return false;
}

static bool is_same_text(tn_str a, tn_str b) { return a.len == b.len && same_letters(a.at, b.at, a.len); }

/* What a person recognises a run by. */
static bool contains_anywhere(const tn_run_row *row, tn_str word) {
  static const tn_run_column columns[] = { TN_RUN_ID, TN_RUN_PROGRAM, TN_RUN_STATUS, TN_RUN_SEED,
                                           TN_RUN_FOLDER, TN_RUN_DATA, TN_RUN_TAGS, TN_RUN_NOTES };
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    if (contains(row->value[columns[i]], word)) return true;
  }
  for (size_t i = 0; i < row->hyper_count; i++) {
    if (contains(row->hypers[i].name, word) || contains(row->hypers[i].value, word)) return true;
  }
  return false;
}

/* ---- conditions ---- */

bool tn_run_condition_read(tn_str word, tn_run_condition *out) {
  static const struct {
    const char *sign;
    tn_run_relation relation;
  } signs[] = { { "!=", TN_RUN_UNEQUAL }, { "<=", TN_RUN_AT_MOST }, { ">=", TN_RUN_AT_LEAST },
                { "=", TN_RUN_EQUAL },    { "<", TN_RUN_BELOW },    { ">", TN_RUN_ABOVE } };
  for (size_t i = 1; i < word.len; i++) {
    tn_str rest = { word.at + i, word.len - i };
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
      size_t length = strlen(signs[k].sign);
      if (rest.len < length || memcmp(rest.at, signs[k].sign, length) != 0) continue;
      *out = (tn_run_condition){ { word.at, i }, { rest.at + length, rest.len - length }, signs[k].relation };
      return true;
    }
  }
  return false;
}

/* False: no run has anything of that name. `at` is NULL where this one has no value. */
static bool find_value(const tn_run_row *row, tn_str name, tn_str *out) {
  tn_run_column column;
  const tn_run_hyper *hyper = tn_run_hyper_find(row, name);
  if (hyper) return *out = hyper->value, true;
  if (!tn_run_column_find(name, &column)) return false;
  *out = row->value[column];
  return true;
}

/* Numbers by value, everything else as text; a path also by its last part. Seeds have more digits than a
 * double. */
static int order_values(tn_str have, tn_str want) {
  uint64_t m, n;
  double x, y;
  if (tn_number_parse_u64(have, &m) && tn_number_parse_u64(want, &n)) return (m > n) - (m < n);
  if (tn_number_parse_f64(have, &x) && tn_number_parse_f64(want, &y)) return (x > y) - (x < y);
  if (is_same_text(have, want)) return 0;
  size_t tail = want.len + 1;
  bool last = have.len > tail && have.at[have.len - tail] == '/' &&
              same_letters(have.at + have.len - want.len, want.at, want.len);
  return last ? 0 : tn_str_compare(have, want);
}

bool tn_run_has_tag(const tn_run_row *row, tn_str tag) {
  tn_str tags = row->value[TN_RUN_TAGS];
  for (size_t begin = 0; begin < tags.len;) {
    size_t end = begin;
    while (end < tags.len && tags.at[end] != ' ') end++;
    if (is_same_text((tn_str){ tags.at + begin, end - begin }, tag)) return true;
    begin = end + 1;
  }
  return false;
}

static bool holds(const tn_run_condition *c, tn_str have) {
  if (!have.at) return false; /* where there is nothing, nothing is compared */
  int order = order_values(have, c->value);
  switch (c->relation) {
    case TN_RUN_EQUAL: return order == 0;
    case TN_RUN_UNEQUAL: return order != 0;
    case TN_RUN_BELOW: return order < 0;
    case TN_RUN_ABOVE: return order > 0;
    case TN_RUN_AT_MOST: return order <= 0;
    case TN_RUN_AT_LEAST: break;
  }
  return order >= 0;
}

bool tn_run_condition_holds(const tn_run_row *row, const tn_run_condition *c) {
  tn_str have;
  bool equal = c->relation == TN_RUN_EQUAL;
  if (tn_str_is(c->name, "tags") && (equal || c->relation == TN_RUN_UNEQUAL))
    return tn_run_has_tag(row, c->value) == equal;
  return find_value(row, c->name, &have) && holds(c, have);
}

/* A condition that is still being typed holds for every run that has the name. */
static bool fits_word(const tn_run_row *row, tn_str word) {
  tn_run_condition c;
  tn_str have;
  bool compares = tn_run_condition_read(word, &c) && find_value(row, c.name, &have);
  if (!compares) return contains_anywhere(row, word);
  return c.value.len == 0 || tn_run_condition_holds(row, &c);
}

bool tn_run_fits(const tn_run_row *row, tn_str words) {
  for (size_t begin = 0; begin < words.len;) {
    size_t end = begin;
    while (end < words.len && words.at[end] != ' ') end++;
    if (end > begin && !fits_word(row, (tn_str){ words.at + begin, end - begin })) return false;
    begin = end + 1;
  }
  return true;
}
