/* launch/internal.h: shared by the files of launch/. */
#ifndef TN_LAUNCH_INTERNAL_H
#define TN_LAUNCH_INTERNAL_H

#include "cluster/sockets.h"
#include "launch/launch.h"

_Static_assert(TN_LAUNCH_MOST <= TN_SOCKETS_MOST, "a socket for every rank");

/* The descriptor that a started rank inherits, and the variable that says so. */
#define TN_LAUNCH_DESCRIPTOR 3
#define TN_LAUNCH_VARIABLE   "TERN_RANK"

/* A process that rank 0 started. */
typedef struct {
  int id;      /* 0: none, or its end has been seen */
  int handle;  /* a descriptor for it (pidfd); -1: none */
  int status;  /* as waitpid tells it, once `id` is 0 */
  bool stopped; /* by a signal, and not continued since */
  int looks;   /* of rank 0 while it waited and this one was stopped */
} tn_child;

struct tn_launch {
  tern_session *session;
  tn_transport *transport;
  tn_child *children; /* by rank; NULL: this process has started none */
  int count;          /* of ranks */
  void *module;       /* libtern_mpi.so; NULL: not in use */
};

/* Reports E_RANKS_START: `reason`, and what errno says if `problem` is not 0. NULL. */
void *tn_launch_report(tern_session *session, const char *reason, int problem);

/* Rank 0 of --ranks (processes.c). */
bool tn_launch_start(tn_launch *launch, char **words);
/* Waits for the processes; those that have not ended after so many seconds are killed. */
void tn_launch_reap(tn_launch *launch, double seconds);

/* Gives the transport this memory to share and closes the descriptor; -1: there is none. False after
 * reporting; the transport is closed then. */
bool tn_launch_share(tn_launch *launch, int window);

/* A rank that was started (join.c). */
bool tn_launch_is_started(void); /* what the variable says is true */
bool tn_launch_join(tn_launch *launch);

/* Under mpirun or srun (mpi.c). */
bool tn_launch_is_mpi(void);
bool tn_launch_is_first_mpi(void); /* rank 0, as the launcher says */
int tn_launch_mpi_local(void); /* ranks on this machine, as the launcher says; at least 1 */
bool tn_launch_join_mpi(tn_launch *launch);
void tn_launch_leave_mpi(tn_launch *launch);

/* Descriptors over a socket (descriptors.c). A message carries a number and, if it is not -1, a descriptor,
 * which the receiver gets as one of its own. False: errno says why; 0: the other end is gone. */
bool tn_launch_send(int socket, int number, int descriptor);
bool tn_launch_receive(int socket, int *number, int *descriptor);

/* The name of this machine; `host` has TN_HOST_BYTES. */
tn_str tn_launch_host(char *host);
#endif
