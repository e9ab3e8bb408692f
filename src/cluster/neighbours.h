/* cluster/neighbours.h: watches the ranks on this machine.
 *
 * MPI does not report that a process has ended or stopped. The kernel does, for processes on this
 * machine, through a descriptor for each (pidfd, /proc/PID/stat). They are opened before the
 * sandbox is entered. Ranks on other machines are not watched here: their own neighbours notice and
 * pass it on. */
#ifndef TN_CLUSTER_NEIGHBOURS_H
#define TN_CLUSTER_NEIGHBOURS_H

#include <stdint.h>

#include "base/heap.h"

/* Where a process is to be found; all bytes count. */
typedef struct {
  int64_t process;
  uint64_t space;      /* the PID namespace */
  char machine[40];    /* since its last start; empty: not known */
} tn_neighbour_address;

typedef struct {
  struct pollfd *polled; /* by rank; a descriptor of -1: it is not watched. Elsewhere than on Linux none is */
  struct tn_neighbour_state *states; /* by rank */
  int count;
} tn_neighbours;

void tn_neighbour_address_of_this(tn_neighbour_address *address);
/* Watches those of the ranks that are on this rank's machine. False: no memory. */
bool tn_neighbours_watch(tn_neighbours *neighbours, tn_heap *heap, const tn_neighbour_address *ranks,
                         int count, int own);
void tn_neighbours_free(tn_neighbours *neighbours, tn_heap *heap);
/* A rank whose process has ended; -1: all live, as far as can be seen. */
int tn_neighbours_find_lost(tn_neighbours *neighbours);
/* A rank that is stopped, and was so in the last TN_STOPPED_LOOKS calls (transport.h); -1: none. Rank 0 may
 * be stopped for any time: it is the process that the user controls. */
int tn_neighbours_find_stopped(tn_neighbours *neighbours);
#endif
