/* A folder of its own for every test of files. */
#ifndef TN_TEST_FOLDER_SUPPORT_H
#define TN_TEST_FOLDER_SUPPORT_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1   /* mkdtemp, flock */
#endif
#include "base_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static char folder[64];

static inline int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/tern-file-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state) {
  (void)state;
  char command[200];
  snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", folder, folder);
  return system(command);
}

/* A path in it; eight are valid at a time. */
static inline const char *in_folder(const char *name) {
  static char paths[8][400];
  static int turn;
  char *path = paths[turn++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static inline void put_file(const char *path, const char *contents) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(contents, file);
  fclose(file);
}

static inline void assert_contents(const char *path, const char *expected) {
  tn_heap heap = { 0 };
  tn_file_bytes bytes;
  assert_int_equal(tn_file_read(&heap, path, SIZE_MAX, NULL, &bytes), TN_FILE_OK);
  assert_str((tn_str){ bytes.at, bytes.len }, expected);
  tn_file_release(&heap, &bytes);
}

/* How many entries the folder has: nothing may be left over. */
static inline int entries(const char *path) {
  DIR *dir = opendir(path);
  int count = 0;
  assert_non_null(dir);
  while (readdir(dir)) count++;
  closedir(dir);
  return count - 2;   /* . and .. */
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
#endif
