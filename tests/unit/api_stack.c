/* tests/unit/api_stack.c: sessions on an embedder's threads, whose stacks are small.
 *
 * Whatever nests is accepted or refused with E_NESTING_LIMIT; nothing else may happen to the thread. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "tern/tern.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LARGE_FRAMES 1
#endif
#endif
#ifdef LARGE_FRAMES /* sanitizers make frames many times as large */
#define SMALL ((size_t)1 << 20)
#else
#define SMALL ((size_t)128 << 10)
#endif

typedef struct {
  tern_language language;
  const char *file, *before, *open, *core, *close, *after;
} form;

static const form forms[] = {
  { TERN_LANG_MIND, "p.mind", "", "(", "1.0", ")", "\n" },
  { TERN_LANG_MIND, "p.mind", "", "abs(", "1.0", ")", "\n" },
  { TERN_LANG_MIND, "p.mind", "", "if true { ", "1.0", " } else { 0.5 }", "\n" },
  { TERN_LANG_MIND, "p.mind", "", "(", "1.0", ",)", "\n" },
  { TERN_LANG_MIND, "p.mind", "let f = |x| ", "(|y| y + ", "x", ")(1.0)", "\nf(1.0)\n" },
  { TERN_LANG_MIND, "p.mind", "fn f(n: f64) -> f64 = if n < 1.0 { 0.0 } else { ", "abs(", "f(n - 1.0)", ")",
    " }\nf(190.0)\n" },
  { TERN_LANG_MIND, "p.mind", "let t = (1,)\n", "let t = (t, 1)\n", "", "", "print(t)\nt\n" },
  { TERN_LANG_AIL, "p.ail", "model {\n x [B, 4]\n y = ", "relu(", "x", ")", "\n}\n" },
  { TERN_LANG_AIL, "p.ail", "model {\n x [B, 4]\n y = ", "if 1 > 0 then ", "x", " else x", "\n}\n" },
  { TERN_LANG_AIL, "p.ail", "model {\n x [B, 4]\n y = ", "repeat 1 times init x do ", "x", " end", "\n}\n" },
  { TERN_LANG_NINTH, "p.nth", "", "1 [IF] ", "1 [PRINT]", " [ENDIF]", "\n" },
  { TERN_LANG_NINTH, "p.nth", "", "{ ", "1", " }", "\n" },
  { TERN_LANG_NINTH, "p.nth", "[DEF] \"f\" 1 [SUB] [DUP] [IF] ", "1 [REPEAT] ", "[CALL] \"f\"", " [END]",
    " [ENDIF] [RET]\n900 [CALL] \"f\" [PRINT]\n" },
  { TERN_LANG_GRAPH, "p.graph", "graph(%c: bool[], %x: f32[2]) {\n", "%i = if %c {\n", "",
    "yield %x } else { yield %x }\n", "return %x\n}\n" },
};

static char *source_of(const form *f, int depth) {
  size_t room = strlen(f->before) + strlen(f->core) + strlen(f->after) + 1 +
                (strlen(f->open) + strlen(f->close)) * (size_t)depth;
  char *text = calloc(1, room), *at = text;
  at = stpcpy(at, f->before);
  for (int i = 0; i < depth; i++) at = stpcpy(at, f->open);
  at = stpcpy(at, f->core);
  for (int i = 0; i < depth; i++) at = stpcpy(at, f->close);
  stpcpy(at, f->after);
  return text;
}

typedef struct {
  size_t tried, accepted, refused, wrong;
  char first[512]; /* what was wrong first */
} count;

/* Status 0, or a diagnostic of the nesting; the graphs above may also say that their text is wrong. */
static void note(count *c, tern_session *session, const form *f, bool ok) {
  c->tried++;
  c->accepted += ok;
  if (ok) return;
  bool nesting = false;
  for (size_t i = 0; i < tern_diagnostic_count(session); i++)
    nesting |= strcmp(tern_diagnostic_at(session, i).code, "E_NESTING_LIMIT") == 0;
  c->refused += nesting;
  if (nesting || f->language == TERN_LANG_GRAPH) return;
  if (c->wrong++ == 0)
    snprintf(c->first, sizeof c->first, "%s%s: %s", f->before, f->open, tern_diagnostics_text(session, 0));
}

static void ignore(void *context, const char *line, size_t length) {
  (void)context, (void)line, (void)length;
}

static void try_one(count *c, tern_session *session, const form *f, int depth) {
  char *text = source_of(f, depth);
  tern_program *program = tern_load(session, f->language, f->file, text, strlen(text));
  if (program) {
    note(c, session, f, tern_check(program) == TERN_OK);
    note(c, session, f, tern_run(program) == TERN_OK);
    (void)tern_result_json(program);
    note(c, session, f, tern_format(program) != NULL);
    bool emitted = tern_emit(program, "graph") != NULL;
    if (!emitted && f->language != TERN_LANG_NINTH) note(c, session, f, emitted);
    (void)tern_type_at(program, 1, 5);
    tern_program_free(program);
  }
  free(text);
}

static void *try_all(void *context) {
  static const int depths[] = { 1, 10, 40, 90, 180, 199, 260, 1500 };
  tern_session *session = tern_session_new(&(tern_options){ .threads = 1 }, NULL);
  tern_on_print(session, ignore, NULL);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
      try_one(context, session, &forms[i], depths[k]);
  tern_session_free(session);
  return NULL;
}

static void on_thread(size_t bytes, void *(*body)(void *), void *context) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  assert_int_equal(pthread_attr_setstacksize(&attributes, bytes), 0);
  assert_int_equal(pthread_create(&thread, &attributes, body, context), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
}

static void small_threads_run_what_nests_or_say_so(void **state) {
  (void)state;
  for (size_t bytes = SMALL; bytes <= 2 * SMALL; bytes *= 2) {
    count c = { 0 };
    on_thread(bytes, try_all, &c);
    if (c.wrong) fail_msg("%zu bytes: %s", bytes, c.first);
    assert_true(c.accepted > c.tried / 4);
    assert_true(c.refused > 0);
  }
}

/* What a small thread refused, a large one accepts in the same session, and the other way round. */
typedef struct {
  tern_session *session;
  tern_program *program;
  tern_status status;
  long limit;
  bool is_bytes;
} shared;

static void *run_shared(void *context) {
  shared *s = context;
  s->status = tern_run(s->program);
  s->limit = 0;
  s->is_bytes = false;
  if (s->status == TERN_OK) return NULL;
  tern_diagnostic d = tern_diagnostic_at(s->session, 0);
  for (size_t i = 0; i < d.field_count; i++) {
    if (strcmp(d.field_names[i], "limit") == 0) s->limit = strtol(d.field_values[i], NULL, 10);
    if (strcmp(d.field_names[i], "unit") == 0) s->is_bytes = strcmp(d.field_values[i], "bytes") == 0;
  }
  return NULL;
}

static void the_limit_is_the_stack_of_the_thread_that_calls(void **state) {
  (void)state;
  shared s = { .session = tern_session_new(&(tern_options){ .threads = 1 }, NULL) };
  char *text = source_of(&forms[5], 20);
  s.program = tern_load(s.session, TERN_LANG_MIND, "p.mind", text, strlen(text));
  for (int round = 0; round < 2; round++) {
    on_thread((size_t)64 << 20, run_shared, &s);
    assert_int_equal(s.status, TERN_OK);
    on_thread(SMALL, run_shared, &s);
    assert_int_equal(s.status, TERN_FAILED);
    assert_true(s.is_bytes);
    assert_in_range(s.limit, (long)SMALL / 2, (long)SMALL + (64 << 10));
  }
  free(text);
  tern_program_free(s.program);
  tern_session_free(s.session);
}

/* A deep value that a large thread made is written and freed on a small one. */
static void *free_deep(void *context) {
  shared *s = context;
  const char *json = tern_result_json(s->program);
  bool fine = json && (strstr(json, "\"ok\":true") || strstr(json, "E_NESTING_LIMIT"));
  s->status = fine ? TERN_OK : TERN_FAILED;
  tern_program_free(s->program);
  return NULL;
}

static void a_deep_value_is_freed_on_a_small_stack(void **state) {
  (void)state;
  shared s = { .session = tern_session_new(&(tern_options){ .threads = 1 }, NULL) };
  tern_on_print(s.session, ignore, NULL);
  char *text = source_of(&forms[6], 990);
  s.program = tern_load(s.session, TERN_LANG_MIND, "p.mind", text, strlen(text));
  on_thread((size_t)64 << 20, run_shared, &s);
  assert_int_equal(s.status, TERN_OK);
  on_thread(SMALL, free_deep, &s);
  assert_int_equal(s.status, TERN_OK);
  free(text);
  tern_session_free(s.session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(small_threads_run_what_nests_or_say_so),
    cmocka_unit_test(the_limit_is_the_stack_of_the_thread_that_calls),
    cmocka_unit_test(a_deep_value_is_freed_on_a_small_stack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
