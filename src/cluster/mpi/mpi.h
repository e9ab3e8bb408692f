/* cluster/mpi/mpi.h: the module libtern_mpi.so: a transport over Open MPI.
 *
 * It is a separate library, loaded by the program when mpirun or srun has started it, because MPI
 * depends on dozens of libraries. Both must be of one version of tern: they share types. */
#ifndef TN_CLUSTER_MPI_H
#define TN_CLUSTER_MPI_H

#include "cluster/transport.h"

#define TN_MPI_LIBRARY "libtern_mpi.so"
#define TN_MPI_OPEN    "tn_mpi_open"

/* Starts MPI and connects this process with every other rank, so that no connection is made later.
 * `confined`: the sandbox will be entered, so MPI uses nothing that it forbids. NULL: the reason is in
 * `reason` (TN_REASON_BYTES), and MPI may be running. Closing the transport ends MPI, if nobody has
 * failed; else the launcher ends the whole job when the process ends. */
typedef tn_transport *tn_mpi_open_function(tn_heap *heap, const char *version, bool confined, char *reason);

tn_mpi_open_function tn_mpi_open;
#endif
