/* unit/grants.c: what is read beneath a granted folder is what was found there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/internal.h"

static char where[64];

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int make_folder(void **state) {
  (void)state;
  strcpy(where, "/tmp/tern-grants-XXXXXX");
  if (!mkdtemp(where) || chdir(where) != 0) return -1;
  mkdir("room", 0777), mkdir("room/sub", 0777), mkdir("outside", 0777);
  put("room/sub/file", "granted"), put("outside/file", "secret");
  return 0;
}

static int remove_folder(void **state) {
  char command[96];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", where);
  return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

typedef struct {
  tern_session *session;
  tn_arena arena;
  tn_str found, text;
  const char *problem;
} reading;

static void begin(reading *r, const char *path) {
  *r = (reading){ .session = tern_session_new(NULL, NULL) };
  assert_non_null(r->session);
  assert_int_equal(tern_allow(r->session, "fileread", "room"), TERN_OK);
  tn_arena_init(&r->arena, &r->session->heap);
  assert_true(tn_host_find(&r->session->host, tn_str_of(path), &r->arena, &r->found));
}

static bool finish(reading *r) {
  bool ok = r->session->host.read_file(&r->session->host, r->found, &r->arena, &r->text, &r->problem);
  if (ok) assert_true(tn_str_is(r->text, "granted"));
  tn_arena_free(&r->arena);
  tern_session_free(r->session);
  return ok;
}

static void a_file_beneath_is_read(void **state) {
  (void)state;
  reading r;
  begin(&r, "room/sub/file");
  assert_true(finish(&r));
  symlink("sub/file", "room/link"); /* one that stays inside is followed when it is resolved */
  begin(&r, "room/link");
  assert_true(finish(&r));
}

static void a_link_that_takes_the_place_of_the_file_is_refused(void **state) {
  (void)state;
  reading r;
  begin(&r, "room/sub/file");
  assert_int_equal(rename("room/sub/file", "room/sub/away"), 0);
  assert_int_equal(symlink("../../outside/file", "room/sub/file"), 0);
  assert_false(finish(&r));
  assert_string_equal(r.problem, "symbolic_link");
  assert_int_equal(rename("room/sub/away", "room/sub/file"), 0);
}

static void a_link_that_takes_the_place_of_a_folder_is_refused(void **state) {
  (void)state;
  static const char *const folders[] = { "room/sub", "room" };
  static const char *const targets[] = { "../outside", "outside" };
  mkdir("outside/sub", 0777), put("outside/sub/file", "secret");
  for (int i = 0; i < 2; i++) {
    reading r;
    begin(&r, "room/sub/file");
    assert_int_equal(rename(folders[i], "away"), 0);
    assert_int_equal(symlink(targets[i], folders[i]), 0);
    assert_false(finish(&r));
    assert_string_equal(r.problem, "symbolic_link");
    assert_int_equal(unlink(folders[i]), 0);
    assert_int_equal(rename("away", folders[i]), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_file_beneath_is_read),
    cmocka_unit_test(a_link_that_takes_the_place_of_the_file_is_refused),
    cmocka_unit_test(a_link_that_takes_the_place_of_a_folder_is_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
