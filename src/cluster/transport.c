/* cluster/transport.c: shared by all transports. */
#include "cluster/transport.h"

#include <string.h>

#define PATIENCE 1000 /* milliseconds of one wait; a wait that moves something ends at once */

void *tn_transport_share(tn_transport *t, size_t bytes) { return t->share ? t->share(t, bytes) : NULL; }

bool tn_transport_wait(tn_transport *t) {
  while (t->pending > 0) {
    if (!t->progress(t, PATIENCE)) return false;
  }
  return t->failure.rank < 0;
}

/* Ranks rarely fail at the same time; if two report, the only consequence is a second diagnostic. */
bool tn_transport_tells(const tn_transport *t) {
  bool alone = t->failure.rank == 0 && t->failure.silent;
  return t->rank == (alone ? 1 : 0);
}

static void copy_text(char *to, size_t room, tn_str from) {
  size_t length = from.len < room ? from.len : room - 1;
  memset(to, 0, room);
  if (length > 0) memcpy(to, from.at, length);
}

bool tn_transport_note(tn_transport *t, int rank, bool silent, tn_str host, tn_str reason) {
  if (t->failure.rank >= 0) return false;
  t->failure.rank = rank;
  t->failure.silent = silent;
  copy_text(t->failure.host, sizeof t->failure.host, host);
  copy_text(t->failure.reason, sizeof t->failure.reason, reason);
  return false;
}
