/* base/machine.c: how much memory is there.
 *
 * A system that promises more memory than it has does not refuse: it ends a
 * process, and rarely says why. So a heap stops by itself before that, and for
 * that it has to know how far it can go. Linux says so in small files; elsewhere
 * nothing is assumed. */
#include "base/machine.h"

#if defined(__linux__)
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define MOST_TEXT 4096

/* The beginning of a small file, as text; empty when it cannot be read. */
static void read_text(const char *path, char text[MOST_TEXT]) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file >= 0 ? read(file, text, MOST_TEXT - 1) : 0;
  if (file >= 0) (void)close(file);
  text[length > 0 ? length : 0] = 0;
}

/* The number that a text begins with, times `unit`; SIZE_MAX when there is none, or it is that large. */
static size_t number_at(const char *text, size_t unit) {
  size_t number = 0, digits = 0;
  while (*text == ' ' || *text == '\t') text++;
  for (; *text >= '0' && *text <= '9'; text++, digits++) {
    if (number > (SIZE_MAX / unit - 9) / 10) return SIZE_MAX;
    number = number * 10 + (size_t)(*text - '0');
  }
  return digits > 0 ? number * unit : SIZE_MAX;
}

static size_t available(void) {
  static const char label[] = "MemAvailable:";
  char text[MOST_TEXT];
  read_text("/proc/meminfo", text);
  const char *line = strstr(text, label);
  return line ? number_at(line + strlen(label), 1024) : SIZE_MAX;
}

/* What is left of a limit on a group of processes. */
static size_t left_of(const char *limit_path, const char *used_path) {
  char text[MOST_TEXT];
  read_text(limit_path, text);
  size_t limit = number_at(text, 1);
  if (limit == SIZE_MAX) return limit;
  read_text(used_path, text);
  size_t used = number_at(text, 1);
  return used < limit ? limit - used : limit;
}

size_t tn_machine_memory(void) {
  const size_t given[] = {
    available(),
    left_of("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    left_of("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
  };
  size_t least = SIZE_MAX;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    if (given[i] < least) least = given[i];
  }
  return least == SIZE_MAX ? 0 : least;
}

#else
size_t tn_machine_memory(void) { return 0; }
#endif
