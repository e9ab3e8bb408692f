/* support/room.h: a folder to work in, in memory where there is room, and whole files in it. */
#ifndef TN_TEST_SUPPORT_ROOM_H
#define TN_TEST_SUPPORT_ROOM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char room[64];

/* Makes the folder and enters it. Tests write thousands of files there; in memory a sync costs nothing. */
static inline int enter_room(void **state) {
  (void)state;
  const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(room, sizeof room, "%s/tern-test-XXXXXX", memory);
  return mkdtemp(room) && chdir(room) == 0 ? 0 : -1;
}

static inline int leave_room(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf '%s'", room);
  return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

typedef struct {
  char bytes[8192];
  size_t length;
} whole_file;

static inline whole_file read_whole(const char *path) {
  whole_file whole;
  FILE *from = fopen(path, "rb");
  if (!from) fail_msg("cannot read %s", path);
  whole.length = fread(whole.bytes, 1, sizeof whole.bytes, from);
  assert_true(whole.length < sizeof whole.bytes);
  fclose(from);
  return whole;
}

static inline void write_whole(const char *path, const char *bytes, size_t length) {
  FILE *to = fopen(path, "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(bytes, 1, length, to), length);
  assert_int_equal(fclose(to), 0);
}
#endif
