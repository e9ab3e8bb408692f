/* fuzz/replay.c: runs a target over files, without libFuzzer.
 *
 *   fuzz_NAME PATH...
 *
 * Every file, and every file below every folder, is given to the target once, in the order of their names.
 * What the target does not survive ends the process; the last path printed is the one. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define MOST_BYTES ((size_t)1 << 20)

static int replayed;

static void replay_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  if (!file || size > MOST_BYTES) {
    if (file) fclose(file);
    return;
  }
  uint8_t *data = malloc(size + 1); /* of its own size, so that reading past it is seen */
  size_t got = data ? fread(data, 1, size, file) : 0;
  fclose(file);
  uint8_t *exact = malloc(got > 0 ? got : 1);
  if (!data || !exact) exit(1);
  memcpy(exact, data, got);
  free(data);
  printf("%s\n", path);
  fflush(stdout);
  LLVMFuzzerTestOneInput(exact, got);
  free(exact);
  replayed++;
}

static void replay(const char *path);

static int no_dots(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static void replay_folder(const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, no_dots, alphasort);
  for (int i = 0; i < count; i++) {
    char inside[4096];
    int length = snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
    free(entries[i]);
    if (length > 0 && (size_t)length < sizeof inside) replay(inside);
  }
  if (count >= 0) free(entries);
}

static void replay(const char *path) {
  struct stat about;
  if (stat(path, &about) != 0) {
    fprintf(stderr, "fuzz: cannot read %s\n", path);
    exit(2);
  }
  if (S_ISDIR(about.st_mode))
    replay_folder(path);
  else
    replay_file(path, (size_t)about.st_size);
}

int main(int count, char **paths) {
  for (int i = 1; i < count; i++) replay(paths[i]);
  printf("%d inputs\n", replayed);
  return replayed > 0 ? 0 : 1;
}
