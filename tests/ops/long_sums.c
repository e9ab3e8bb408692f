/* Sums of so many elements that a GPU joins the results of chunks in several rounds, or in groups: the bits
 * of ref, on a GPU that the host emulates. */
#include <stdio.h>

#include "backend/cuda/internal.h"
#include "gpu/emulator.h"
#include "unit/graph_support.h"

#define MOST (CARD_CHUNK * CARD_GROUP)   /* elements whose chunks one block joins */

static void compare(const char *graph_text, uint64_t seed) {
  world w;
  tn_graph graph;
  uint8_t expected[32], got[32];
  world_open(&w);
  graph_from(&w, graph_text, &graph);
  values v = random_values(&w, &graph, seed);
  run_digest(&w, &graph, tn_backend_ref(), 1, &v, expected);
  run_digest(&w, &graph, emulated_backend(), 1, &v, got);
  if (memcmp(expected, got, sizeof got) != 0) fail_msg("%s", graph_text);
  free_values(&w, &v);
  tn_graph_free(&graph);
  world_close(&w);
}

/* f64 and f32 that are not side by side take their chunks one by one; a whole group, and one of a single
 * chunk after it. */
static void groups_of_chunks_are_joined_by_the_tree(void **state) {
  static const int64_t lengths[] = { MOST, MOST + 1, MOST + CARD_CHUNK + 5 };
  char text[256];
  (void)state;
  for (int n = 0; n < 3; n++) {
    snprintf(text, sizeof text, "graph(%%x: f64[%lld]) {\n  %%1 = sum %%x {axes=[0]}\n  return %%1\n}\n",
             (long long)lengths[n]);
    compare(text, (uint64_t)n + 1);
  }
  snprintf(text, sizeof text, "graph(%%x: f32[%d, 2]) {\n  %%1 = mean %%x {axes=[0]}\n  return %%1\n}\n",
           MOST + 700);
  compare(text, 4);
}

/* Lines of f32: a block joins the chunks of a group, and another block those results. */
static void groups_of_a_line_are_joined_by_the_tree(void **state) {
  static const int64_t group = CARD_CHUNK * CARD_LINE_GROUP;
  const int64_t lengths[] = { group - 1, group, group + 1, 3 * group - 7 };
  char text[256];
  (void)state;
  for (int n = 0; n < 4; n++) {
    snprintf(text, sizeof text,
             "graph(%%x: f32[2, %lld]) {\n  %%1 = sum %%x {axes=[1]}\n  %%2 = max %%x {axes=[1]}\n"
             "  return %%1, %%2\n}\n", (long long)lengths[n]);
    compare(text, (uint64_t)n + 11);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(groups_of_chunks_are_joined_by_the_tree),
    cmocka_unit_test(groups_of_a_line_are_joined_by_the_tree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
