/* What the tests of MIND share. */
#ifndef TESTS_MIND_SUPPORT_H
#define TESTS_MIND_SUPPORT_H

#include "lang/mind/ast.h"
#include "support/language.h"

typedef language_session mind_session;

static bool mind_open(mind_session *s) { return language_open(s, TN_CAP_FILEREAD | TN_CAP_CLOCK); }
static void mind_close(mind_session *s) { language_close(s); }

static uint32_t mind_add(mind_session *s, const char *text) {
  return tn_sources_add(&s->sources, TN_LIT("test.mind"), tn_str_of(text));
}

static inline bool mind_run(mind_session *s, const char *text) {
  uint32_t file = mind_add(s, text);
  return file && tn_lang_mind()->run(&(tn_unit){ .host = &s->host, .file = file }, &s->arena, &s->outcome);
}

static inline bool mind_check(mind_session *s, const char *text) {
  uint32_t file = mind_add(s, text);
  return file && tn_lang_mind()->check(&(tn_unit){ .host = &s->host, .file = file });
}
#endif
