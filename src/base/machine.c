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

#define MOST_TEXT  4096
#define PATH_LIMIT 4096

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

/* A path in pieces, or an empty one where it would be too long. */
typedef struct {
  char at[PATH_LIMIT];
  size_t length;
} path;

static void put(path *p, const char *text, size_t length) {
  if (length >= PATH_LIMIT - p->length) length = 0, p->length = 0;
  memcpy(p->at + p->length, text, length);
  p->length += length;
  p->at[p->length] = 0;
}

static size_t number_in(path folder, const char *file) {
  char text[MOST_TEXT];
  put(&folder, file, strlen(file));
  read_text(folder.at, text);
  return number_at(text, 1);
}

/* The number after a label of a file, or `otherwise`. */
static size_t labelled(path file, const char *name, const char *label, size_t unit, size_t otherwise) {
  char text[MOST_TEXT];
  put(&file, name, strlen(name));
  read_text(file.at, text);
  const char *line = strstr(text, label);
  size_t number = line ? number_at(line + strlen(label), unit) : SIZE_MAX;
  return number == SIZE_MAX ? otherwise : number;
}

/* What the files of a group are called. */
typedef struct {
  const char *base, *controller; /* where groups lie, and what names theirs in /proc/self/cgroup */
  const char *limits[2], *used, *stat, *cached;
} hierarchy;

static const hierarchy hierarchies[] = {
  { "/sys/fs/cgroup", "0::", { "/memory.max", "/memory.high" }, "/memory.current", "/memory.stat",
    "\ninactive_file " },
  { "/sys/fs/cgroup/memory", "memory:", { "/memory.limit_in_bytes", "/memory.soft_limit_in_bytes" },
    "/memory.usage_in_bytes", "/memory.stat", "\ntotal_inactive_file " },
};

/* What is left of the limits on one group. Pages of files that nobody uses count as used, and are given up
 * when somebody needs memory. A group that is full has a little left: else nothing could even say so. */
static size_t left_in_group(const hierarchy *h, path group) {
  size_t limit = number_in(group, h->limits[0]), high = number_in(group, h->limits[1]);
  if (high < limit) limit = high;
  if (limit == SIZE_MAX) return SIZE_MAX;
  size_t used = number_in(group, h->used), cached = labelled(group, h->stat, h->cached, 1, 0);
  if (used == SIZE_MAX) return limit;
  used = cached < used ? used - cached : 0;
  size_t left = used < limit ? limit - used : 0;
  return left > limit / 16 ? left : limit / 16;
}

/* The line of /proc/self/cgroup that names our group: its path, of *length characters; empty: the topmost.
 * A path with .. lies outside of what we can see. */
static const char *own_group(const hierarchy *h, const char *text, size_t *length) {
  const char *line = strstr(text, h->controller);
  *length = 0;
  if (!line) return "";
  line += strlen(h->controller);
  *length = strcspn(line, "\n");
  for (size_t i = 0; i + 1 < *length; i++)
    if (line[i] == '.' && line[i + 1] == '.') *length = 0;
  return line;
}

/* The least that is left in our group and all around it. Inside a container only the topmost may be seen. */
static size_t left_in_groups(const hierarchy *h, path root, const char *text) {
  size_t length, least = SIZE_MAX;
  const char *own = own_group(h, text, &length);
  put(&root, h->base, strlen(h->base));
  for (;;) {
    while (length > 0 && own[length - 1] == '/') length--;
    path group = root;
    put(&group, own, length);
    size_t left = left_in_group(h, group);
    if (left < least) least = left;
    if (length == 0) return least;
    while (length > 0 && own[length - 1] != '/') length--;
  }
}

size_t tn_machine_memory_in(const char *root) {
  char text[MOST_TEXT];
  path top = { .length = 0 }, groups;
  put(&top, root, strlen(root));
  groups = top;
  put(&groups, "/proc/self/cgroup", strlen("/proc/self/cgroup"));
  read_text(groups.at, text);
  size_t least = labelled(top, "/proc/meminfo", "MemAvailable:", 1024, SIZE_MAX);
  for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
    size_t left = left_in_groups(&hierarchies[i], top, text);
    if (left < least) least = left;
  }
  return least == SIZE_MAX ? 0 : least;
}

size_t tn_machine_memory(void) { return tn_machine_memory_in(""); }

#else
size_t tn_machine_memory(void) { return 0; }
size_t tn_machine_memory_in(const char *root) {
  (void)root;
  return 0;
}
#endif
