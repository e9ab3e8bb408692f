/* Text graph in, transform, text graph out.
 *
 * A case is a .txt file in tests/graph: a line that names the transform, a graph,
 * a line ---, and the graph that comes out.
 *
 *   // read            as it reads back: composed operations expanded, types inferred
 *   // grad            with the gradients of its first output with respect to every parameter added
 *   // jvp             with the tangents of all outputs for ones as tangents of the parameters
 *   // bind B=2 N=3    with lengths for symbols
 *
 * TN_REWRITE=1 in the environment writes what comes out into the files, for the
 * difference to be reviewed. */
#include <dirent.h>
#include <stdlib.h>

#include "../unit/graph_case.h"
#include "ad/ad.h"

#define FOLDER     "tests/graph"
#define TEXT_LIMIT 65536

static bool gradients(tn_graph *graph) {
  tn_graph_builder builder;
  tn_value grads[16], output = graph->outputs.at[0].value;
  tn_graph_builder_init(&builder, graph);
  tn_grad_request request = { .builder = &builder,
                              .outputs = &output,
                              .output_count = 1,
                              .wrt = graph->params.at,
                              .wrt_count = (int)graph->params.count,
                              .policy = TN_AD_STRICT };
  assert_in_range(graph->params.count, 1, 16);
  if (!tn_ad_grad(&request, grads)) return false;
  for (size_t i = 0; i < graph->params.count; i++) {
    tn_name name = tn_graph_node(graph, graph->params.at[i])->attrs->name;
    if (!tn_graph_output(graph, name, grads[i])) return false;
  }
  return true;
}

static bool tangents(tn_graph *graph) {
  tn_graph_builder builder;
  tn_value seeds[16], outputs[16], result[16];
  size_t count = graph->outputs.count;
  tn_graph_builder_init(&builder, graph);
  assert_true(graph->params.count <= 16 && count <= 16);
  for (size_t i = 0; i < graph->params.count; i++)
    seeds[i] = tn_build_like(&builder.base, graph->params.at[i], 1);
  for (size_t i = 0; i < count; i++) outputs[i] = graph->outputs.at[i].value;
  tn_jvp_request request = { .builder = &builder,
                             .wrt = graph->params.at,
                             .tangents = seeds,
                             .wrt_count = (int)graph->params.count,
                             .outputs = outputs,
                             .output_count = (int)count,
                             .policy = TN_AD_STRICT };
  if (!tn_ad_jvp(&request, result)) return false;
  for (size_t i = 0; i < count; i++) {
    if (!tn_graph_output(graph, 0, result[i])) return false;
  }
  return true;
}

/* words: B=2 N=3 */
static bool bind(tn_graph *graph, const char *words) {
  tn_binding bindings[8];
  size_t count = 0;
  tn_graph bound;
  tn_fault fault;
  while (*words == ' ') {
    const char *name = ++words, *equals = strchr(name, '=');
    char *end;
    assert_non_null(equals);
    bindings[count].symbol = tn_names_intern(names, (tn_str){ name, (size_t)(equals - name) });
    bindings[count++].length = strtoll(equals + 1, &end, 10);
    words = end;
  }
  if (!tn_graph_bind(graph, bindings, count, &bound, &fault)) return false;
  tn_graph_free(graph);
  *graph = bound;
  return true;
}

static bool transform(tn_graph *graph, const char *line) {
  if (strncmp(line, "// read\n", 8) == 0) return true;
  if (strncmp(line, "// grad\n", 8) == 0) return gradients(graph);
  if (strncmp(line, "// jvp\n", 7) == 0) return tangents(graph);
  return strncmp(line, "// bind ", 8) == 0 && bind(graph, line + 7);
}

static void rewrite(const char *path, const char *input, const char *output) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%s---\n%s", input, output);
  assert_int_equal(fclose(file), 0);
}

static void check_file(const char *path) {
  static char text[TEXT_LIMIT];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t len = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[len] = 0;
  char *expected = strstr(text, "\n---\n");
  if (!expected) fail_msg("%s has no line ---", path);
  expected[1] = 0;
  expected += 5;
  tn_graph graph = parsed(text);
  if (!transform(&graph, text)) fail_msg("%s: the transform failed", path);
  assert_sound(&graph);
  assert_reads_back(&graph);
  tn_text out;
  tn_text_init(&out, &heap);
  tn_graph_print(&graph, &out);
  assert_false(out.failed);
  bool same = strcmp(out.at, expected) == 0;
  if (!same && getenv("TN_REWRITE")) {
    rewrite(path, text, out.at);
  } else if (!same) {
    fprintf(stderr, "%s gave\n%s", path, out.at);
    fail_msg("%s: another graph came out; TN_REWRITE=1 takes it over", path);
  }
  tn_text_free(&out);
  tn_graph_free(&graph);
}

static void every_case_gives_the_graph_it_shows(void **state) {
  (void)state;
  DIR *folder = opendir(FOLDER);
  int count = 0;
  if (!folder) fail_msg("run in the project's root: there is no %s", FOLDER);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char path[512];
    const char *end = strrchr(entry->d_name, '.');
    if (!end || strcmp(end, ".txt") != 0) continue;
    snprintf(path, sizeof path, "%s/%s", FOLDER, entry->d_name);
    check_file(path);
    count++;
  }
  closedir(folder);
  assert_true(count > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(every_case_gives_the_graph_it_shows, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
