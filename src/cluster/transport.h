/* cluster/transport.h: messages between the processes of one training.
 *
 * A training runs in `size` processes, its ranks. A transport connects each with
 * every other one; its callers decide what is sent, and in which order. There are
 * two: sockets.c between processes of one machine, mpi/ across machines. The ranks
 * of one machine may also share memory, so that messages only announce data.
 *
 * A transport also reports failures. Once a rank has failed, every call returns
 * false, and `failure` says which rank was first and why. */
#ifndef TN_CLUSTER_TRANSPORT_H
#define TN_CLUSTER_TRANSPORT_H

#include "base/str.h"

#define TN_HOST_BYTES   65
#define TN_REASON_BYTES 256

/* A rank that is stopped (SIGSTOP) while others wait for it counts as failed, unless it continues soon: after
 * Ctrl-Z and `fg` ranks continue one after another. So looks are counted, not seconds. */
#define TN_STOPPED_LOOK   50 /* milliseconds from one look to the next */
#define TN_STOPPED_LOOKS  20
#define TN_STOPPED_REASON "it is stopped (SIGSTOP)"

/* The rank that failed first, as far as this one knows. Texts end with a NUL. */
typedef struct {
  int rank;                     /* -1: none */
  bool silent;                  /* it ended without a notice, so it has not shown why */
  char host[TN_HOST_BYTES];
  char reason[TN_REASON_BYTES];
} tn_rank_failure;

typedef struct tn_transport tn_transport;
struct tn_transport {
  int rank, size;
  /* Queues a message; the memory is borrowed until `pending` is 0, or a call gave false. Between two ranks
   * messages arrive in the order they were sent. A receive names exactly as many bytes as the peer sends; any
   * other number is a failure of that peer. */
  bool (*send)(tn_transport *t, int peer, const void *bytes, size_t count);
  bool (*receive)(tn_transport *t, int peer, void *bytes, size_t count);
  /* Moves what can be moved now, and waits for up to so many milliseconds when nothing can; 0: does not wait.
   * False: a rank has failed (`failure`), or this process was asked to stop (no rank has failed);
   * then the queue is dropped, and further calls only check whether a rank has failed. Call it now
   * and then during a long computation: only here a rank learns that another one is gone. */
  bool (*progress)(tn_transport *t, int milliseconds);
  /* This rank ends before the training does: tells every other rank, for at most a second. If another rank
   * has failed already, passes that on instead of the reason. */
  void (*fail)(tn_transport *t, tn_str reason);
  /* This rank needs nothing more: sends what is queued, and says so. If that cannot be done, or somebody has
   * failed, it is `fail`, unless that was called. Frees. */
  void (*close)(tn_transport *t);
  /* Memory that all ranks read and write, initially zero, page-aligned, valid until `close`. Every
   * rank requests the same sizes in the same order. Writes before a message was sent are visible to
   * its receiver. NULL: not enough memory, for every rank alike. If ranks share no memory the
   * function itself is NULL (tn_transport_share checks). */
  void *(*share)(tn_transport *t, size_t bytes);
  size_t pending;            /* messages queued and not yet moved */
  tn_rank_failure failure;
};

/* Memory of all ranks; NULL: there is none, or not so much. */
void *tn_transport_share(tn_transport *t, size_t bytes);

/* Moves all that is queued. False as with `progress`. */
bool tn_transport_wait(tn_transport *t);

/* Whether this rank reports a failure to the user: rank 0, unless it ended without a notice; then
 * the lowest of the others. */
bool tn_transport_tells(const tn_transport *t);

/* Notes a failure, unless one is known; for transports. The texts are cut where they are too long. False. */
bool tn_transport_note(tn_transport *t, int rank, bool silent, tn_str host, tn_str reason);
#endif
