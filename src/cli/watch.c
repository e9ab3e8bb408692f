/* cli/watch.c: waits for a file to change.
 *
 * Editors write a new file and rename it over the old one, so the folder is watched for the file's
 * name. */
#include "cli/cli.h"

#if defined(__linux__)
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

bool tn_watch_begin(tn_watch *watch, const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  if (length >= sizeof folder) return false;
  memcpy(folder, length ? path : ".", length ? length : 1);
  folder[length ? length : 1] = 0;
  *watch = (tn_watch){ inotify_init1(IN_CLOEXEC), slash ? slash + 1 : path };
  if (watch->events < 0) return false;
  if (inotify_add_watch(watch->events, folder, IN_CLOSE_WRITE | IN_MOVED_TO) >= 0) return true;
  close(watch->events);
  return false;
}

/* One read may hold several events. */
static bool read_events(tn_watch *watch, bool *changed) {
  _Alignas(struct inotify_event) char buffer[4096];
  ssize_t got = read(watch->events, buffer, sizeof buffer);
  for (ssize_t at = 0; at < got;) {
    const struct inotify_event *event = (const struct inotify_event *)(buffer + at);
    if (event->len > 0 && strcmp(event->name, watch->name) == 0) *changed = true;
    at += (ssize_t)(sizeof *event + event->len);
  }
  return got > 0;
}

bool tn_watch_wait(tn_watch *watch) {
  bool changed = false;
  struct pollfd waiting = { .fd = watch->events, .events = POLLIN };
  while (!changed) {
    if (!tn_cli_wait_to_read(watch->events) || !read_events(watch, &changed)) return false;
  }
  while (poll(&waiting, 1, 50) > 0 && read_events(watch, &changed))
    continue; /* a few writes are one change */
  return true;
}

void tn_watch_end(tn_watch *watch) { close(watch->events); }

#else /* files cannot be watched here */
bool tn_watch_begin(tn_watch *watch, const char *path) {
  (void)watch, (void)path;
  return false;
}
bool tn_watch_wait(tn_watch *watch) {
  (void)watch;
  return false;
}
void tn_watch_end(tn_watch *watch) { (void)watch; }
#endif
