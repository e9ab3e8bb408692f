/* What the tests of diag/ share: a heap, sources and a list of diagnostics on one program. */
#ifndef TN_TEST_DIAG_SUPPORT_H
#define TN_TEST_DIAG_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "diag/diag.h"
#include "diag/internal.h"

typedef struct {
  tn_heap heap;
  tn_sources sources;
  tn_diags diags;
  tn_text out;
  uint32_t file;
} fixture;

static inline void open_fixture(fixture *f, const char *program) {
  *f = (fixture){ .heap = { 0 } };
  tn_sources_init(&f->sources, &f->heap);
  tn_diags_init(&f->diags, &f->heap, &f->sources);
  tn_text_init(&f->out, &f->heap);
  f->file = tn_sources_add(&f->sources, TN_LIT("m.ail"), tn_str_of(program));
}

/* All memory has been freed. */
static inline void close_fixture(fixture *f) {
  tn_text_free(&f->out);
  tn_diags_free(&f->diags);
  tn_sources_free(&f->sources);
  assert_int_equal(f->heap.used, 0);
}

/* The span of the first occurrence of `piece` in the program. */
static inline tn_span find_span(const fixture *f, const char *piece) {
  const char *text = tn_sources_get(&f->sources, f->file)->text.at, *found = strstr(text, piece);
  assert_non_null(found);
  uint32_t start = (uint32_t)(found - text);
  return (tn_span){ f->file, start, start + (uint32_t)strlen(piece) };
}

static inline const char *rendered(fixture *f) {
  tn_text_clear(&f->out);
  tn_diags_render_text(&f->diags, (tn_diag_style){ 0 }, &f->out);
  assert_false(f->out.failed);
  return f->out.at ? f->out.at : "";
}

static inline const char *rendered_json(fixture *f) {
  tn_text_clear(&f->out);
  tn_json_writer json = tn_json_writer_on(&f->out);
  tn_diags_render_json(&f->diags, &json);
  assert_false(f->out.failed);
  return f->out.at;
}

/* Reads a JSON text to its end. */
static inline void assert_json(tn_heap *heap, tn_str text) {
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token;
  tn_arena_init(&arena, heap);
  tn_json_init(&reader, text, &arena);
  while (tn_json_next(&reader, &token) > TN_JSON_END) continue;
  assert_int_equal(token.kind, TN_JSON_END);
  tn_arena_free(&arena);
}

#define RUN_TESTS(...)                                                    \
  int main(void) {                                                        \
    const struct CMUnitTest tests[] = { __VA_ARGS__ };                    \
    return cmocka_run_group_tests(tests, NULL, NULL);                     \
  }
#endif
