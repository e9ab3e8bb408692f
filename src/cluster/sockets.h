/* cluster/sockets.h: a transport over connected stream sockets. */
#ifndef TN_CLUSTER_SOCKETS_H
#define TN_CLUSTER_SOCKETS_H

#include "cluster/transport.h"

#define TN_SOCKETS_MOST 128 /* ranks: each holds a descriptor for every other one */

/* What is known of the ranks from outside, for the reason of a failure. */
typedef struct {
  void *context;
  /* A rank has ended without a notice: writes the reason to `reason` (TN_REASON_BYTES), if it is
   * known. */
  bool (*explain)(void *context, int rank, char *reason);
  /* Asked every TN_STOPPED_LOOK milliseconds of waiting: a rank that is stopped (SIGSTOP) and was so the last
   * TN_STOPPED_LOOKS times; -1: none. NULL: unknown. */
  int (*find_stopped)(void *context);
} tn_sockets_witness;

/* `descriptors`: one for each rank; this rank's own is not used. They become the transport's, and
 * nonblocking; after a failure here they are the caller's. `host` is the machine that all ranks run on, and
 * is copied; `witness` may be NULL. The heap's stop ends waiting. The process ignores SIGPIPE. The transport
 * then needs no system calls but read, write, poll and close. NULL: no memory, or a descriptor is none. */
tn_transport *tn_sockets_new(tn_heap *heap, int rank, int size, const int *descriptors, tn_str host,
                             const tn_sockets_witness *witness);

/* Gives it memory to share: a window (cluster/window.h) that every rank has a descriptor of, which stays the
 * caller's. At most once, before it is used. False: it cannot be mapped. */
bool tn_sockets_share(tn_transport *transport, int descriptor);
#endif
