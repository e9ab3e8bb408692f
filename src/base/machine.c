/* base/machine.c: how much memory and how many cores the process may use.
 *
 * A system that overcommits memory does not refuse an allocation: it kills a process later. So the
 * heap stops before that, and must know the limit. A container with a quota of two cores sees all
 * cores of its host; with a thread on each it is throttled for most of every tenth of a second.
 * Linux reports both in small files; on other systems nothing is assumed. Nothing is cached,
 * because a process may be moved to another group. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/machine.h"

#if defined(__linux__)
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
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

/* The number at the start of a text, times `unit`; SIZE_MAX if there is none, or if it overflows. */
static size_t number_at(const char *text, size_t unit) {
  size_t number = 0, digits = 0;
  while (*text == ' ' || *text == '\t') text++;
  for (; *text >= '0' && *text <= '9'; text++, digits++) {
    if (number > (SIZE_MAX / unit - 9) / 10) return SIZE_MAX;
    number = number * 10 + (size_t)(*text - '0');
  }
  return digits > 0 ? number * unit : SIZE_MAX;
}

/* Joins the pieces of a path; empty if it would be too long. */
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

/* ---- groups ---- */

/* The folder of a controller's groups ("": of all controllers, in cgroup v2), and what is left in
 * one: SIZE_MAX without a limit. */
typedef struct {
  const char *base, *controller;
  size_t (*left)(path group);
} hierarchy;

/* Whether the list "cpu,cpuacct" of `length` characters has a name in it; "" is in the empty list alone. */
static bool lists(const char *list, size_t length, const char *name) {
  size_t wanted = strlen(name), word;
  for (;; list += word + 1, length -= word + 1) {
    for (word = 0; word < length && list[word] != ',';) word++;
    if (word == wanted && memcmp(list, name, word) == 0) return true;
    if (word == length) return false;
  }
}

/* The path of our group, of *length characters, from the lines NUMBER:CONTROLLERS:PATH of /proc/self/cgroup;
 * empty: the topmost. A path with .. is outside of what we can see. */
static const char *own_group(const char *controller, const char *text, size_t *length) {
  for (; *text; text += text[*length] ? *length + 1 : *length) {
    const char *list = text + strcspn(text, ":\n");
    const char *own = *list == ':' ? list + 1 + strcspn(list + 1, ":\n") : list;
    *length = strcspn(text, "\n");
    if (*own != ':' || !lists(list + 1, (size_t)(own - list - 1), controller)) continue;
    *length -= (size_t)(++own - text);
    for (size_t i = 0; i + 1 < *length; i++)
      if (own[i] == '.' && own[i + 1] == '.') *length = 0;
    return own;
  }
  *length = 0;
  return text;
}

/* The minimum of what is left in our group and all enclosing ones. Inside a container only the
 * topmost may be visible. */
static size_t left_in_groups(const hierarchy *h, path root, const char *text) {
  size_t length, least = SIZE_MAX;
  const char *own = own_group(h->controller, text, &length);
  put(&root, h->base, strlen(h->base));
  for (;;) {
    while (length > 0 && own[length - 1] == '/') length--;
    path group = root;
    put(&group, own, length);
    size_t left = h->left(group);
    if (left < least) least = left;
    if (length == 0) return least;
    while (length > 0 && own[length - 1] != '/') length--;
  }
}

/* The minimum over both versions of cgroups; a system may have both. */
static size_t least_of(const hierarchy versions[2], const char *root) {
  char text[MOST_TEXT];
  path top = { .length = 0 }, groups;
  put(&top, root, strlen(root));
  groups = top;
  put(&groups, "/proc/self/cgroup", strlen("/proc/self/cgroup"));
  read_text(groups.at, text);
  size_t first = left_in_groups(&versions[0], top, text), second = left_in_groups(&versions[1], top, text);
  return first < second ? first : second;
}

/* ---- memory ---- */

/* What the files of a group are called. */
typedef struct {
  const char *limits[2], *used, *stat, *cached;
} memory_files;

/* What is left of the limits of one group. Inactive pages of files count as used but are reclaimed
 * when memory is needed. A full group still has a little left: otherwise nothing could even report
 * the error. */
static size_t memory_left(const memory_files *files, path group) {
  size_t limit = number_in(group, files->limits[0]), high = number_in(group, files->limits[1]);
  if (high < limit) limit = high;
  if (limit == SIZE_MAX) return SIZE_MAX;
  size_t used = number_in(group, files->used), cached = labelled(group, files->stat, files->cached, 1, 0);
  if (used == SIZE_MAX) return limit;
  used = cached < used ? used - cached : 0;
  size_t left = used < limit ? limit - used : 0;
  return left > limit / 16 ? left : limit / 16;
}

static size_t memory_left_2(path group) {
  return memory_left(&(memory_files){ { "/memory.max", "/memory.high" },
                                      "/memory.current",
                                      "/memory.stat",
                                      "\ninactive_file " },
                     group);
}
static size_t memory_left_1(path group) {
  return memory_left(&(memory_files){ { "/memory.limit_in_bytes", "/memory.soft_limit_in_bytes" },
                                      "/memory.usage_in_bytes",
                                      "/memory.stat",
                                      "\ntotal_inactive_file " },
                     group);
}

size_t tn_machine_memory_in(const char *root) {
  static const hierarchy versions[] = { { "/sys/fs/cgroup", "", memory_left_2 },
                                        { "/sys/fs/cgroup/memory", "memory", memory_left_1 } };
  path top = { .length = 0 };
  put(&top, root, strlen(root));
  size_t all = labelled(top, "/proc/meminfo", "MemAvailable:", 1024, SIZE_MAX);
  size_t ours = least_of(versions, root), least = ours < all ? ours : all;
  return least == SIZE_MAX ? 0 : least;
}

/* ---- cores ---- */

/* Hundredths of a core: the quota of a group divided by its period. */
static size_t hundredths(size_t quota, size_t period) {
  if (quota > SIZE_MAX / 100 || period == 0 || period == SIZE_MAX) return SIZE_MAX;
  return quota * 100 / period;
}

static size_t cores_left_2(path group) { /* "200000 100000", or "max 100000" */
  char text[MOST_TEXT];
  put(&group, "/cpu.max", strlen("/cpu.max"));
  read_text(group.at, text);
  return hundredths(number_at(text, 1), number_at(text + strcspn(text, " "), 1));
}
static size_t cores_left_1(path group) {
  return hundredths(number_in(group, "/cpu.cfs_quota_us"), number_in(group, "/cpu.cfs_period_us"));
}

/* Repeats with more room until the machine's whole mask fits. */
int tn_machine_processors(void) {
  cpu_set_t sets[16]; /* 16384 processors */
  for (int room = 1; room <= 16; room *= 2) {
    size_t bytes = (size_t)room * sizeof sets[0];
    if (sched_getaffinity(0, bytes, sets) == 0) return CPU_COUNT_S(bytes, sets);
  }
  return 1;
}

int tn_machine_cores_in(const char *root) {
  static const hierarchy versions[] = { { "/sys/fs/cgroup", "", cores_left_2 },
                                        { "/sys/fs/cgroup/cpu", "cpu", cores_left_1 } };
  int allowed = tn_machine_processors();
  size_t quota = least_of(versions, root);
  if (quota >= (size_t)allowed * 100) return allowed;
  return quota < 150 ? 1 : (int)((quota + 50) / 100);
}

#else
size_t tn_machine_memory_in(const char *root) {
  (void)root;
  return 0;
}
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>

int tn_machine_processors(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 1 ? (int)cores : 1;
}
#else
int tn_machine_processors(void) { return 1; }
#endif
int tn_machine_cores_in(const char *root) {
  (void)root;
  return tn_machine_processors();
}
#endif

size_t tn_machine_memory(void) { return tn_machine_memory_in(""); }
int tn_machine_cores(void) { return tn_machine_cores_in(""); }
