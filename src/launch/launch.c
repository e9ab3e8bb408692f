/* launch/launch.c: joins and leaves the ranks of a training. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "launch/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !defined(__wasi__)
#include <sys/utsname.h>
#endif

#include "api/door.h"
#include "base/machine.h"
#include "cluster/report.h"

#define PATIENCE_IN_SUCCESS 30.0 /* seconds for the others to end, before they are killed */
#define PATIENCE_IN_FAILURE 1.0

void *tn_launch_report(tern_session *session, const char *reason, int problem) {
  tn_text text;
  tn_text_init(&text, tn_api_heap(session));
  tn_text_puts(&text, reason);
  if (problem != 0) tn_text_puts(&text, ": ");
  if (problem != 0) tn_text_puts(&text, strerror(problem));
  tn_report(tn_api_diags(session), TN_DIAG_E_RANKS_START, TN_NOWHERE, TN_TEXT("reason", tn_text_str(&text)));
  tn_text_free(&text);
  return NULL;
}

tn_str tn_launch_host(char *host) {
  memset(host, 0, TN_HOST_BYTES);
#if !defined(__wasi__)
  struct utsname names;
  bool known = uname(&names) == 0;
  for (size_t i = 0; known && i < TN_HOST_BYTES - 1 && names.nodename[i]; i++) host[i] = names.nodename[i];
#endif
  if (!host[0]) strcpy(host, "localhost");
  return tn_str_of(host);
}

tn_launch_origin tn_launch_origin_of(void) {
#if defined(__linux__)
  if (getenv(TN_LAUNCH_VARIABLE)) return TN_LAUNCH_STARTED;
  if (tn_launch_is_mpi()) return TN_LAUNCH_MPI;
#endif
  return TN_LAUNCH_FREE;
}

bool tn_launch_is_quiet(void) {
  switch (tn_launch_origin_of()) {
#if defined(__linux__)
    case TN_LAUNCH_STARTED: return tn_launch_is_started();
    case TN_LAUNCH_MPI: return !tn_launch_is_first_mpi();
#endif
    default: return false;
  }
}

#if defined(__linux__)
/* A launcher that binds ranks to cores has already given each its share. */
static int share_of(tn_launch_origin origin, int ranks) {
  int cores = tn_machine_cores();
  if (origin == TN_LAUNCH_MPI) {
    if (tn_machine_processors() < sysconf(_SC_NPROCESSORS_ONLN)) return cores;
    ranks = tn_launch_mpi_local();
  }
  return ranks > 1 ? cores / ranks : cores;
}

int tn_launch_threads(tn_launch_origin origin, int ranks) {
  if (origin == TN_LAUNCH_FREE && ranks < 2) return 0;
  int share = share_of(origin, ranks);
  return share > 1 ? share : 1;
}

bool tn_launch_share(tn_launch *launch, int window) {
  if (window < 0) return true;
  bool mapped = tn_sockets_share(launch->transport, window);
  int problem = errno;
  (void)close(window);
  if (mapped) return true;
  launch->transport->close(launch->transport);
  launch->transport = NULL;
  return tn_launch_report(launch->session, "no memory to share", problem);
}

static bool become(tn_launch *launch, tn_launch_origin origin, char **words) {
  switch (origin) {
    case TN_LAUNCH_STARTED: return tn_launch_join(launch);
    case TN_LAUNCH_MPI: return tn_launch_join_mpi(launch);
    default: return tn_launch_start(launch, words);
  }
}

static void free_launch(tn_launch *launch) {
  tn_heap *heap = tn_api_heap(launch->session);
  if (launch->children) {
    tn_launch_reap(launch, PATIENCE_IN_FAILURE);
    tn_heap_free(heap, launch->children, (size_t)launch->count * sizeof *launch->children);
  }
  tn_heap_free(heap, launch, sizeof *launch);
}

tn_launch *tn_launch_begin(tern_session *session, tn_launch_origin origin, int ranks, char **words) {
  tn_launch *launch = tn_heap_alloc(tn_api_heap(session), sizeof *launch);
  if (!launch) return tn_launch_report(session, "out of memory", 0);
  *launch = (tn_launch){ .session = session, .count = ranks };
  if (!become(launch, origin, words)) {
    free_launch(launch);
    return NULL;
  }
  if (launch->children) tn_api_has_children(session);
  tn_api_join(session, launch->transport);
  return launch;
}

/* The first error that the session has reported; the code is NULL where there is none. */
static tern_diagnostic first_error(tern_session *session) {
  for (size_t i = 0; i < tern_diagnostic_count(session); i++) {
    tern_diagnostic one = tern_diagnostic_at(session, i);
    if (strcmp(one.severity, "error") == 0) return one;
  }
  return (tern_diagnostic){ 0 };
}

bool tn_launch_settle(tn_launch *launch) {
  tn_transport *t = launch->transport;
  const char *code = first_error(launch->session).code;
  (void)t->progress(t, 0);
  if (t->failure.rank >= 0 && code && strcmp(code, "E_INTERRUPTED") == 0) {
    tern_clear_diagnostics(launch->session);
    (void)tn_cluster_report_failure(tn_api_diags(launch->session), t);
  }
  return tn_transport_tells(t);
}

/* "E_FILE_READ: cannot read data.jsonl" */
static void tell_failure(tn_launch *launch) {
  tn_text text;
  tn_transport *t = launch->transport;
  tern_diagnostic error = first_error(launch->session);
  tn_text_init(&text, tn_api_heap(launch->session));
  if (error.code) {
    tn_text_puts(&text, error.code);
    tn_text_puts(&text, ": ");
    tn_text_puts(&text, error.title);
  }
  t->fail(t, text.len > 0 ? tn_text_str(&text) : TN_LIT("it failed"));
  tn_text_free(&text);
}

void tn_launch_end(tn_launch *launch, tern_status status) {
  tn_transport *t = launch->transport;
  if (status != TERN_OK) tell_failure(launch);
  tn_api_join(launch->session, NULL);
  t->close(t);
  launch->transport = NULL;
  if (launch->children && status == TERN_OK) tn_launch_reap(launch, PATIENCE_IN_SUCCESS);
  tn_launch_leave_mpi(launch);
  free_launch(launch);
}
#else
int tn_launch_threads(tn_launch_origin origin, int ranks) {
  (void)origin, (void)ranks;
  return 0;
}
tn_launch *tn_launch_begin(tern_session *session, tn_launch_origin origin, int ranks, char **words) {
  (void)origin, (void)ranks, (void)words;
  return tn_launch_report(session, "this system is not Linux", 0);
}
bool tn_launch_is_loss(const tn_launch *launch, int code) { return launch && code != 0; }
bool tn_launch_settle(tn_launch *launch) { return launch != NULL; }
void tn_launch_end(tn_launch *launch, tern_status status) { (void)launch, (void)status; }
#endif
