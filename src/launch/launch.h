/* launch/launch.h: starting, finding and ending the processes of a distributed training.
 *
 * Linked only by the program. There are three ways to become a rank:
 *
 *   --ranks N        this process is rank 0; it starts the others, with the same arguments, and connects all
 *                    of them by sockets and shared memory
 *   TERN_RANK        this process was started that way; the variable names the descriptor it inherited
 *   mpirun, srun     has started the ranks; Open MPI connects them (mpi.c)
 *
 * Connections are made before the sandbox is entered. Only rank 0 reads standard input, writes files and
 * prints; the others print only if rank 0 has ended. */
#ifndef TN_LAUNCH_LAUNCH_H
#define TN_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "tern/tern.h"

/* Ranks of --ranks. Rank 0 holds two descriptors for each, and the sandbox leaves it 256. */
#define TN_LAUNCH_MOST 64

typedef enum {
  TN_LAUNCH_FREE,    /* started by a person or a script */
  TN_LAUNCH_STARTED, /* by rank 0 of a training */
  TN_LAUNCH_MPI      /* by mpirun or srun, with other ranks */
} tn_launch_origin;

/* How this process was started, as its environment says. */
tn_launch_origin tn_launch_origin_of(void);
/* Whether this is a rank that shows nothing while rank 0 is there. */
bool tn_launch_is_quiet(void);

/* How many threads a rank uses where the user does not say: its share of the cores that it may run on.
 * `ranks`: of --ranks, 0 without it; the result is 0 where the process is no rank. */
int tn_launch_threads(tn_launch_origin origin, int ranks);

typedef struct tn_launch tn_launch;

/* Joins the ranks of the training; with TN_LAUNCH_FREE starts them: `ranks` processes of this program, with
 * these words (the last one is NULL). From now on the session's next training is theirs together. NULL after
 * reporting E_RANKS_START. To be called before the sandbox is entered. */
tn_launch *tn_launch_begin(tern_session *session, tn_launch_origin origin, int ranks, char **words);

/* A process that was started has ended, as the code of SIGCHLD says. Whether it could not tell the others;
 * then they are interrupted (SIGUSR1), wherever they are. From signal handlers. */
bool tn_launch_is_loss(const tn_launch *launch, int code);
/* After a failure, before it is shown: turns an interrupt because of a lost rank into E_RANK_LOST.
 * Returns whether this rank shows it: rank 0, or another one if that ended without a notice. */
bool tn_launch_settle(tn_launch *launch);

/* This rank has ended, with this status and what the session has reported; tells the others. Rank 0 waits for
 * those it started. */
void tn_launch_end(tn_launch *launch, tern_status status);
#endif
