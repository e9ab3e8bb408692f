/* launch/join.c: connects a rank that rank 0 has started.
 *
 * The variable could be set by accident, so its descriptor must be a socket whose other end was
 * created by the parent process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1 /* struct ucred */
#endif
#include "launch/internal.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/door.h"

bool tn_launch_is_started(void) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  bool is_socket = getsockopt(TN_LAUNCH_DESCRIPTOR, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_socket && peer.pid == getppid();
}

static bool is_rank(int number, int size) { return number >= 0 && number < size; }

/* One socket for every rank but this one and rank 0, in any order. */
static bool receive_all(int rank, int size, int *sockets) {
  for (int i = 0; i < size - 2; i++) {
    int peer, descriptor;
    if (!tn_launch_receive(sockets[0], &peer, &descriptor) || descriptor < 0) return false;
    bool new = is_rank(peer, size) && peer != rank && sockets[peer] < 0;
    if (new) sockets[peer] = descriptor;
    if (!new) (void)close(descriptor);
    if (!new) return false;
  }
  return true;
}

static bool introduce(int *sockets, int *rank, int *size, int *window) {
  int none;
  if (!tn_launch_receive(sockets[0], rank, &none)) return false;
  if (!tn_launch_receive(sockets[0], size, window)) return false;
  if (*size < 2 || *size > TN_LAUNCH_MOST || *rank < 1 || !is_rank(*rank, *size)) return false;
  return receive_all(*rank, *size, sockets);
}

bool tn_launch_join(tn_launch *launch) {
  int sockets[TN_LAUNCH_MOST], rank = 0, size = 0, window = -1;
  char host[TN_HOST_BYTES];
  for (int i = 0; i < TN_LAUNCH_MOST; i++) sockets[i] = -1;
  sockets[0] = TN_LAUNCH_DESCRIPTOR;
  (void)unsetenv(TN_LAUNCH_VARIABLE);
  if (!tn_launch_is_started())
    return tn_launch_report(launch->session, TN_LAUNCH_VARIABLE " is set, which only tern itself may do", 0);
  (void)fcntl(sockets[0], F_SETFD, FD_CLOEXEC);
  (void)prctl(PR_SET_PDEATHSIG, SIGUSR1);
  bool ok = introduce(sockets, &rank, &size, &window);
  launch->count = size;
  if (ok)
    launch->transport =
        tn_sockets_new(tn_api_heap(launch->session), rank, size, sockets, tn_launch_host(host), NULL);
  if (launch->transport) return tn_launch_share(launch, window);
  if (window >= 0) (void)close(window);
  for (int i = 0; i < TN_LAUNCH_MOST; i++) {
    if (sockets[i] >= 0) (void)close(sockets[i]);
  }
  return tn_launch_report(launch->session, "rank 0 did not connect", 0);
}
#endif
