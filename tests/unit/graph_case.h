/* Graphs written as text, so that a test of a transform reads as the transform:
 *
 *   tn_graph graph = parsed("graph(%x: f32[2]) { %1 = neg %x return %1 }");
 *   assert_prints(&graph, ...);
 */
#ifndef TN_TESTS_GRAPH_CASE_H
#define TN_TESTS_GRAPH_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "diag/diag.h"
#include "graph/builder.h"
#include "support/graph_equal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static tn_heap heap;
static tn_names *names;
static tn_sources sources;
static tn_diags diags;

static inline int set_up(void **state) {
  (void)state;
  heap = (tn_heap){ 0 };
  names = tn_names_new(&heap);
  tn_sources_init(&sources, &heap);
  tn_diags_init(&diags, &heap, &sources);
  return names ? 0 : -1;
}

/* A test leaves nothing behind. */
static inline int tear_down(void **state) {
  (void)state;
  tn_diags_free(&diags);
  tn_sources_free(&sources);
  tn_names_free(names);
  if (heap.used != 0) fprintf(stderr, "%zu bytes are still in use\n", heap.used);
  return heap.used == 0 ? 0 : -1;
}

static inline tn_name name_of(const char *text) { return tn_names_intern(names, tn_str_of(text)); }

static inline tn_type type_of(tn_dtype dtype, tn_shape shape) { return (tn_type){ dtype, shape }; }

static inline void show_diags(void) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_diags_render_text(&diags, (tn_diag_style){ 0 }, &text);
  fprintf(stderr, "%.*s", (int)text.len, text.at ? text.at : "");
  tn_text_free(&text);
}

static inline bool parse(const char *text, tn_graph *out) {
  uint32_t file = tn_sources_add(&sources, TN_LIT("test.graph"), tn_str_of(text));
  return tn_graph_parse(out, &heap, names, file, &diags);
}

static inline void assert_sound(const tn_graph *graph) {
  tn_value where;
  const char *wrong = tn_graph_verify(graph, &where);
  if (wrong) fail_msg("node %u: %s", (unsigned)where, wrong);
}

static inline tn_graph parsed(const char *text) {
  tn_graph graph;
  if (!parse(text, &graph)) {
    show_diags();
    fail_msg("the text does not parse:\n%s", text);
  }
  assert_sound(&graph);
  return graph;
}

static inline void assert_text(const tn_text *text, const char *expected) {
  assert_false(text->failed);
  assert_string_equal(text->at ? text->at : "", expected);
}

static inline void assert_prints(const tn_graph *graph, const char *expected) {
  tn_text text;
  tn_text_init(&text, &heap);
  tn_graph_print(graph, &text);
  bool same = !text.failed && strcmp(text.at, expected) == 0;
  if (!same) fprintf(stderr, "printed:\n%sexpected:\n%s", text.at ? text.at : "nothing\n", expected);
  tn_text_free(&text);
  assert_true(same);
}

/* The text reads back to an equal graph, which prints the same. */
static inline void assert_reads_back(const tn_graph *graph) {
  tn_text text;
  tn_graph again;
  tn_text_init(&text, &heap);
  tn_graph_print(graph, &text);
  assert_false(text.failed);
  if (!parse(text.at, &again)) {
    show_diags();
    fail_msg("does not read back:\n%s", text.at);
  }
  assert_sound(&again);
  if (!graph_equal(graph, &again)) fail_msg("reads back as another graph:\n%s", text.at);
  assert_prints(&again, text.at);
  tn_graph_free(&again);
  tn_text_free(&text);
}

/* The single diagnostic of a text that does not parse, with its place. */
static inline void assert_rejects(const char *text, tn_diag_code code, uint32_t line, uint32_t column) {
  tn_graph graph;
  tn_diags_clear(&diags);
  if (parse(text, &graph)) fail_msg("accepted:\n%s", text);
  assert_null(graph.nodes.at);
  if (diags.list.count == 0 || diags.list.at[0].code != code) {
    show_diags();
    fail_msg("expected %s for:\n%s", tn_diag_info_of(code)->code, text);
  }
  tn_place place = tn_place_of(&sources, diags.list.at[0].at.file, diags.list.at[0].at.start);
  if (place.line != line || place.column != column) {
    fail_msg("expected the place %u:%u, got %u:%u for:\n%s", line, column, place.line, place.column, text);
  }
  tn_diags_clear(&diags);
}
#endif
