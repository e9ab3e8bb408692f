/* Runs are drawn while memory runs out at one request after another: it ends with a diagnostic, and the same
 * picture can be drawn afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/internal.h"
#include "track/track.h"

static char folder[] = "plot-XXXXXX", path[64];

static int make_run(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/history.jsonl", folder);
  FILE *file = fopen(path, "w");
  if (!file) return -1;
  for (int i = 0; i < 300; i++)
    fprintf(file, "{\"step\":%d,\"loss\":%d.5,\"eval\":{\"loss\":%d,\"accuracy\":0.5}}\n", i, i % 17, i % 9);
  return fclose(file);
}

static int remove_run(void **state) {
  (void)state;
  return remove(path) == 0 ? rmdir(folder) : -1;
}

static void every_request_fails_once(void **state) {
  (void)state;
  const char *runs[] = { folder, folder };
  tn_track_plot plot = { .runs = runs, .run_count = 2, .smooth = 10 };
  tern_session *session = tern_session_new(NULL, NULL);
  assert_non_null(session);
  char *whole = strdup(tn_track_plot_svg(session, &plot));
  bool done = false;
  assert_non_null(whole);
  for (uint64_t n = 1; !done; n++) {
    session->heap.fail_at = session->heap.requests + n;
    const char *made = tn_track_plot_svg(session, &plot);
    done = session->heap.requests < session->heap.fail_at;
    session->heap.fail_at = 0;
    if (!made) assert_true(tern_diagnostic_count(session) > 0);
    if (made) assert_string_equal(made, whole);
    if (done) assert_non_null(made);
  }
  free(whole);
  tern_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = { cmocka_unit_test(every_request_fails_once) };
  return cmocka_run_group_tests(tests, make_run, remove_run);
}
