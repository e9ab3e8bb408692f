/* What the tests of AILang share. */
#ifndef TESTS_AIL_SUPPORT_H
#define TESTS_AIL_SUPPORT_H

#include "lang/ail/ail.h"
#include "support/language.h"

typedef language_session ail_session;

static bool ail_open(ail_session *s) { return language_open(s, 0); }
static void ail_close(ail_session *s) { language_close(s); }

static inline uint32_t ail_add(ail_session *s, const char *text) {
  return tn_sources_add(&s->sources, TN_LIT("test.ail"), tn_str_of(text));
}

/* How often a code was reported. */
static inline int ail_reported(const ail_session *s, tn_diag_code code) {
  int count = 0;
  for (size_t i = 0; i < s->diags.list.count; i++) count += s->diags.list.at[i].code == code;
  return count;
}

static inline bool ail_run(ail_session *s, const char *text) {
  uint32_t file = ail_add(s, text);
  tn_unit unit = { .host = &s->host, .file = file };
  bool ok = file && tn_lang_ail()->run(&unit, &s->arena, &s->outcome);
  tn_givens_free(&s->heap, &unit.params);
  return ok;
}

static inline bool ail_app(ail_session *s, const char *text) {
  uint32_t file = ail_add(s, text);
  return file && tn_lang_ail()->app(&(tn_unit){ .host = &s->host, .file = file }, &s->arena, &s->outcome);
}

static inline bool ail_check(ail_session *s, const char *text) {
  uint32_t file = ail_add(s, text);
  return file && tn_lang_ail()->check(&(tn_unit){ .host = &s->host, .file = file });
}

static inline float ail_value(const ail_session *s, int64_t index) {
  return (float)tn_view_get_f64(&s->outcome.values[0].tensor.view, index);
}
#endif
