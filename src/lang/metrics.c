/* lang/metrics.c: looks up metrics by name. */
#include "lang/metrics.h"

#include "base/number.h"

static const struct {
  const char *name;
  tn_metric_needs needs;
  bool rises;
} kinds[TN_METRIC_KINDS] = {
#define TN_METRIC(id, text, what, up) { .name = text, .needs = TN_NEEDS_##what, .rises = up },
#include "lang/metrics.def"
};

tn_metric_needs tn_metric_needs_of(tn_metric_kind kind) { return kinds[kind].needs; }

bool tn_metric_name_rises(tn_str name) {
  for (int i = 0; i < TN_METRIC_KINDS; i++) {
    if (i != TN_METRIC_TOP && tn_str_is(name, kinds[i].name)) return kinds[i].rises;
  }
  return tn_str_starts(name, kinds[TN_METRIC_TOP].name);
}

bool tn_metric_same(const tn_metric *a, const tn_metric *b) { return a->kind == b->kind && a->k == b->k; }

/* top5, top_5, top-5 */
static bool find_top(tn_str word, tn_arena *arena, tn_metric *out) {
  size_t digits = 3 + (word.len > 3 && (word.at[3] == '-' || word.at[3] == '_'));
  char name[8 + TN_NUMBER_BYTES] = "top";
  uint64_t k;
  if (!tn_str_starts(word, "top") || word.len <= digits || word.at[digits] == '0') return false;
  tn_str number = { word.at + digits, word.len - digits };
  if (!tn_number_parse_u64(number, &k) || k > INT32_MAX) return false;
  size_t length = 3 + tn_number_print_u64(k, name + 3);
  *out = (tn_metric){ TN_METRIC_TOP, (int64_t)k, tn_arena_str(arena, (tn_str){ name, length }), word,
                      TN_NOWHERE };
  return true;
}

bool tn_metric_find(tn_str word, tn_arena *arena, tn_metric *out) {
  for (int i = 0; i < TN_METRIC_KINDS; i++) {
    bool acc = i == TN_METRIC_ACCURACY && tn_str_is(word, "acc");
    if (i == TN_METRIC_TOP || !(acc || tn_str_is(word, kinds[i].name))) continue;
    *out = (tn_metric){ (tn_metric_kind)i, 0, tn_str_of(kinds[i].name), word, TN_NOWHERE };
    return true;
  }
  return find_top(word, arena, out);
}

static const char *shown_name(int kind) { return kind == TN_METRIC_TOP ? "top5" : kinds[kind].name; }

tn_str tn_metric_suggest(tn_str word) {
  tn_str known[TN_METRIC_KINDS + 1];
  for (int i = 0; i < TN_METRIC_KINDS; i++) known[i] = tn_str_of(shown_name(i));
  known[TN_METRIC_KINDS] = TN_LIT("acc");
  return tn_str_suggest(word, known, TN_METRIC_KINDS + 1);
}

void tn_metric_list(tn_metric_needs needs, tn_text *out) {
  bool first = true;
  for (int i = 0; i < TN_METRIC_KINDS; i++) {
    if (kinds[i].needs != TN_NEEDS_LOSS && kinds[i].needs != needs) continue;
    if (!first) tn_text_puts(out, ", ");
    tn_text_puts(out, shown_name(i));
    first = false;
  }
}
