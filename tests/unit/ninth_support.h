/* tests/unit/ninth_support.h: a host for Ninth programs, and what they did to it. */
#ifndef TN_TEST_NINTH_SUPPORT_H
#define TN_TEST_NINTH_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "lang/ninth/doors.h"

typedef struct {
  tn_heap heap;
  tn_names *names;
  tn_sources sources;
  tn_diags diags;
  tn_host host;
  tn_text printed;   /* one line for each */
  tn_stop stop;
} world;

static void world_print(tn_host *host, tn_str line) {
  world *w = host->context;
  tn_text_add(&w->printed, line);
  tn_text_byte(&w->printed, '\n');
}

/* False when memory ran out; the world is to be closed in any case. */
static inline bool world_try_open(world *w, uint64_t fail_at) {
  memset(w, 0, sizeof *w);
  w->heap.fail_at = fail_at;
  w->heap.stop = &w->stop;
  tn_text_init(&w->printed, &w->heap);
  tn_sources_init(&w->sources, &w->heap);
  tn_diags_init(&w->diags, &w->heap, &w->sources);
  w->names = tn_names_new(&w->heap);
  w->host = (tn_host){ .heap = &w->heap,
                       .names = w->names,
                       .sources = &w->sources,
                       .diags = &w->diags,
                       .seed = 42,
                       .context = w,
                       .print = world_print };
  if (w->names) w->host.eager = tn_eager_new(&w->heap, w->names, tn_backend_ref(), 1);
  return w->host.eager != NULL;
}

static inline void world_open(world *w) { assert_true(world_try_open(w, 0)); }

/* All memory must have been freed. */
static inline void world_close(world *w) {
  if (w->host.eager) {
    assert_int_equal(tn_eager_live(w->host.eager), 0);
    tn_eager_free(w->host.eager);
  }
  tn_text_free(&w->printed);
  tn_diags_free(&w->diags);
  tn_sources_free(&w->sources);
  tn_names_free(w->names);
  assert_int_equal(w->heap.used, 0);
}

static inline uint32_t file_of(world *w, const char *text) {
  return tn_sources_add(&w->sources, TN_LIT("test.nth"), tn_str_of(text));
}

/* Runs a program; what is left on the stack is forgotten. */
static inline bool run(world *w, const char *text) {
  tn_arena arena;
  tn_outcome outcome;
  tn_arena_init(&arena, &w->heap);
  uint32_t file = file_of(w, text);
  tn_unit unit = { .host = &w->host, .file = file };
  bool ok = file != 0 && tn_lang_ninth()->run(&unit, &arena, &outcome);
  tn_givens_free(&w->heap, &unit.params);
  if (file != 0) {
    for (size_t i = 0; i < outcome.count; i++) tn_datum_release(&outcome.values[i]);
  }
  tn_arena_free(&arena);
  return ok;
}

static inline const char *printed(const world *w) { return w->printed.at ? w->printed.at : ""; }

static inline void assert_prints(const char *text, const char *wanted) {
  world w;
  world_open(&w);
  assert_true(run(&w, text));
  assert_string_equal(printed(&w), wanted);
  world_close(&w);
}
#endif
