/* cluster/mpi/mpi.c: a transport over Open MPI.
 *
 * Messages use one communicator, notices of failure another, so that a notice overtakes messages.
 * MPI matches messages of a pair in the order they were sent, as a transport requires. Messages
 * longer than an `int` can count are split, in the same way on both sides.
 *
 * MPI itself does not report that a process is gone. A rank that fails tells the others here, and
 * the rank that shows the failure to the user then ends the job. If a rank is killed, the ranks on
 * its machine notice (neighbours.h) and tell the rest. mpirun and srun notice too and end all
 * ranks; a second later they kill them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "cluster/mpi/mpi.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/vec.h"
#include "cluster/neighbours.h"

#define PIECE    ((size_t)1 << 30) /* bytes of one MPI message */
#define FAREWELL 1.0               /* seconds to tell the others that this rank ends */
#define PATIENCE 2                 /* seconds to be ended by the rank that shows the failure */
#define TAIL     0.2               /* seconds for incoming messages to end, once nobody waits for them */
#define LAST_WORD 0.1              /* seconds for the notice of a rank that has ended to arrive */
#define SPIN     50e-6             /* seconds of polling without a pause */
#define PAUSE    50000             /* nanoseconds */
#define WARM_UP  ((size_t)1 << 18) /* bytes: more than what is sent without asking the receiver */

typedef struct {
  int peer;
  bool received; /* not sent */
  bool last;     /* piece of its message */
  int bytes;
} piece;

typedef struct {
  tn_transport base;
  tn_heap *heap;
  MPI_Comm messages, notices;
  tn_vec(MPI_Request) requests;
  tn_vec(piece) pieces; /* one for each request */
  tn_vec(int) indices;  /* room for those that are done */
  tn_vec(MPI_Status) statuses;
  tn_rank_failure notice;
  MPI_Request noticed;
  char (*hosts)[TN_HOST_BYTES];
  tn_neighbours neighbours;
  double looked; /* when, for ranks that are stopped */
  bool gave_up; /* nothing is queued any more */
  bool told;    /* the others know of the failure */
} cluster;

static cluster *of(tn_transport *t) { return (cluster *)t; }

static bool blame(cluster *c, int rank, const char *reason) {
  return tn_transport_note(&c->base, rank, false, tn_str_of(c->hosts[rank]), tn_str_of(reason));
}

/* ---- queues ---- */

static void rest(double since) {
  if (tn_clock_steady() - since < SPIN)
    (void)sched_yield();
  else
    (void)nanosleep(&(struct timespec){ .tv_nsec = PAUSE }, NULL);
}

static bool make_room(cluster *c) {
  return tn_vec_reserve(c->heap, &c->requests, 1) && tn_vec_reserve(c->heap, &c->pieces, 1) &&
         tn_vec_reserve(c->heap, &c->indices, c->requests.count + 1) &&
         tn_vec_reserve(c->heap, &c->statuses, c->requests.count + 1);
}

static bool queue_piece(cluster *c, const piece *part, void *bytes) {
  MPI_Request request;
  if (!make_room(c)) return blame(c, c->base.rank, "out of memory");
  int peer = part->peer;
  int problem = part->received ? MPI_Irecv(bytes, part->bytes, MPI_BYTE, peer, 0, c->messages, &request)
                               : MPI_Isend(bytes, part->bytes, MPI_BYTE, peer, 0, c->messages, &request);
  if (problem != MPI_SUCCESS) return blame(c, peer, "MPI cannot reach it");
  c->requests.at[c->requests.count++] = request;
  c->pieces.at[c->pieces.count++] = *part;
  return true;
}

/* Requests that are done have become null. */
static void forget_finished(cluster *c) {
  size_t kept = 0;
  for (size_t i = 0; i < c->requests.count; i++) {
    if (c->requests.at[i] == MPI_REQUEST_NULL) continue;
    c->requests.at[kept] = c->requests.at[i];
    c->pieces.at[kept++] = c->pieces.at[i];
  }
  c->requests.count = c->pieces.count = kept;
}

static bool is_receiving(const cluster *c) {
  for (size_t i = 0; i < c->pieces.count; i++)
    if (c->pieces.at[i].received) return true;
  return false;
}

/* The owners of queued messages may free them now. Outgoing ones are only read. Receives that have
 * not begun are cancelled; MPI would still write to the others, so they are waited for, but not
 * long: their sender may have stopped in the middle. False. */
static bool give_up(cluster *c) {
  double since = tn_clock_steady();
  for (size_t i = 0; i < c->requests.count; i++)
    if (c->pieces.at[i].received) MPI_Cancel(&c->requests.at[i]);
  while (is_receiving(c) && tn_clock_steady() - since < TAIL) {
    int done = 0;
    (void)MPI_Testsome((int)c->requests.count, c->requests.at, &done, c->indices.at, c->statuses.at);
    forget_finished(c);
    if (is_receiving(c)) rest(since);
  }
  for (size_t i = 0; i < c->requests.count; i++) MPI_Request_free(&c->requests.at[i]);
  c->requests.count = c->pieces.count = c->base.pending = 0;
  c->gave_up = true;
  return false;
}

static bool queue_message(cluster *c, int peer, bool received, void *bytes, size_t count) {
  if (c->base.failure.rank >= 0 || c->gave_up) return false;
  for (size_t at = 0;;) {
    size_t length = count - at < PIECE ? count - at : PIECE;
    piece part = { peer, received, at + length == count, (int)length };
    if (!queue_piece(c, &part, (char *)bytes + at)) return give_up(c);
    at += length;
    if (at == count) break;
  }
  c->base.pending++;
  return true;
}

static bool mpi_send(tn_transport *t, int peer, const void *bytes, size_t count) {
  return queue_message(of(t), peer, false, (void *)(uintptr_t)bytes, count);
}

static bool mpi_receive(tn_transport *t, int peer, void *bytes, size_t count) {
  return queue_message(of(t), peer, true, bytes, count);
}

/* ---- moving ---- */

static void finish_piece(cluster *c, int index, MPI_Status *status, bool failed) {
  const piece *part = &c->pieces.at[index];
  int received = part->bytes;
  if (part->received) MPI_Get_count(status, MPI_BYTE, &received);
  if ((failed && status->MPI_ERROR != MPI_SUCCESS) || received != part->bytes)
    (void)blame(c, part->peer, "it sent a message of another length than was expected");
  else if (part->last)
    c->base.pending--;
}

static bool move_some(cluster *c) {
  int done = 0;
  if (c->requests.count == 0) return false;
  int problem = MPI_Testsome((int)c->requests.count, c->requests.at, &done, c->indices.at, c->statuses.at);
  for (int i = 0; i < done && done != MPI_UNDEFINED; i++)
    finish_piece(c, c->indices.at[i], &c->statuses.at[i], problem != MPI_SUCCESS);
  if (problem != MPI_SUCCESS && c->base.failure.rank < 0) (void)blame(c, c->base.rank, "MPI failed");
  if (done > 0) forget_finished(c);
  return done > 0;
}

static bool take_notice(cluster *c) {
  int done = 0;
  MPI_Status status;
  if (c->noticed == MPI_REQUEST_NULL) return false;
  if (MPI_Test(&c->noticed, &done, &status) != MPI_SUCCESS || !done) return false;
  tn_rank_failure *told = &c->notice;
  bool sensible = told->rank >= 0 && told->rank < c->base.size;
  told->host[TN_HOST_BYTES - 1] = told->reason[TN_REASON_BYTES - 1] = 0;
  (void)tn_transport_note(&c->base, sensible ? told->rank : status.MPI_SOURCE, told->silent,
                          tn_str_of(told->host), tn_str_of(told->reason));
  return true;
}

/* It has ended: by itself, then it has said why and that is on its way, or it was killed. */
static bool notice_loss(cluster *c) {
  int rank = c->base.failure.rank < 0 ? tn_neighbours_find_lost(&c->neighbours) : -1;
  if (rank < 0) return false;
  double since = tn_clock_steady();
  while (!take_notice(c) && tn_clock_steady() - since < LAST_WORD)
    (void)nanosleep(&(struct timespec){ .tv_nsec = PAUSE }, NULL);
  (void)tn_transport_note(&c->base, rank, true, tn_str_of(c->hosts[rank]), TN_LIT("its process is gone"));
  return true;
}

/* Nothing moves: a rank may be stopped. */
static void look_for_stopped(cluster *c) {
  double now = tn_clock_steady();
  if (now - c->looked < 1e-3 * TN_STOPPED_LOOK) return;
  c->looked = now;
  int rank = tn_neighbours_find_stopped(&c->neighbours);
  if (rank >= 0) (void)blame(c, rank, TN_STOPPED_REASON); /* it is told, for when it continues */
}

static bool move_anything(cluster *c) {
  bool noticed = take_notice(c) || notice_loss(c);
  return (c->base.failure.rank < 0 && move_some(c)) || noticed;
}

static bool mpi_progress(tn_transport *t, int milliseconds) {
  cluster *c = of(t);
  double since = tn_clock_steady();
  for (bool moved = false; !moved;) {
    moved = move_anything(c);
    if (!moved) look_for_stopped(c);
    if (t->failure.rank >= 0 || c->gave_up || tn_stop_asked(c->heap->stop)) return give_up(c);
    if (moved || tn_clock_steady() - since >= 1e-3 * milliseconds) return true;
    rest(since);
  }
  return true;
}

/* ---- the end ---- */

static void mpi_fail(tn_transport *t, tn_str reason) {
  cluster *c = of(t);
  (void)tn_transport_note(t, t->rank, false, tn_str_of(c->hosts[t->rank]), reason);
  give_up(c);
  c->told = true;
  double since = tn_clock_steady();
  for (int i = 0; i < t->size; i++) {
    MPI_Request request = MPI_REQUEST_NULL;
    int done = i == t->rank || (t->failure.silent && i == t->failure.rank);
    if (!done) MPI_Isend(&t->failure, sizeof t->failure, MPI_BYTE, i, 0, c->notices, &request);
    while (!done && tn_clock_steady() - since < FAREWELL) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!done) rest(since);
    }
  }
}

static void free_all(cluster *c, size_t size) {
  tn_vec_free(c->heap, &c->requests);
  tn_vec_free(c->heap, &c->pieces);
  tn_vec_free(c->heap, &c->indices);
  tn_vec_free(c->heap, &c->statuses);
  tn_heap_free(c->heap, c->hosts, size * sizeof *c->hosts);
  tn_neighbours_free(&c->neighbours, c->heap);
  tn_heap_free(c->heap, c, sizeof *c);
}

/* The rank that shows the failure has done so, and ends: a process that ends without MPI_Finalize
 * ends the job. The others give it time for that. MPI_Abort would drop output that is still in
 * transit. */
static void end_job(cluster *c) {
  if (!tn_transport_tells(&c->base)) (void)nanosleep(&(struct timespec){ .tv_sec = PATIENCE }, NULL);
}

static void mpi_close(tn_transport *t) {
  cluster *c = of(t);
  if (t->failure.rank >= 0 || !tn_transport_wait(t)) {
    if (!c->told) mpi_fail(t, TN_LIT("it ended its training before the others"));
    end_job(c);
  } else {
    MPI_Cancel(&c->noticed);
    MPI_Wait(&c->noticed, MPI_STATUS_IGNORE);
    MPI_Finalize();
  }
  free_all(c, (size_t)t->size);
}

/* ---- the beginning ---- */

/* Every pair of ranks exchanges a message each way, so that all connections exist. */
static bool connect_all(cluster *c) {
  char *room = tn_heap_alloc(c->heap, 2 * WARM_UP);
  bool ok = room != NULL;
  for (int i = 1; i < c->base.size && ok; i++) {
    int to = (c->base.rank + i) % c->base.size, from = (c->base.rank - i + c->base.size) % c->base.size;
    for (size_t length = 1; length <= WARM_UP && ok; length *= WARM_UP)
      ok = MPI_Sendrecv(room, (int)length, MPI_BYTE, to, 0, room + WARM_UP, (int)length, MPI_BYTE, from, 0,
                        c->messages, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    ok = ok && MPI_Sendrecv(room, 1, MPI_BYTE, to, 0, room + WARM_UP, 1, MPI_BYTE, from, 0, c->notices,
                            MPI_STATUS_IGNORE) == MPI_SUCCESS;
  }
  tn_heap_free(c->heap, room, 2 * WARM_UP);
  return ok;
}

static bool exchange_hosts(cluster *c) {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  name[TN_HOST_BYTES - 1] = 0;
  return MPI_Allgather(name, TN_HOST_BYTES, MPI_BYTE, c->hosts, TN_HOST_BYTES, MPI_BYTE, c->messages) ==
         MPI_SUCCESS;
}

static bool find_neighbours(cluster *c) {
  tn_neighbour_address own, *all = tn_heap_alloc(c->heap, (size_t)c->base.size * sizeof *all);
  if (!all) return false;
  tn_neighbour_address_of_this(&own);
  int problem = MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, c->messages);
  bool ok = problem == MPI_SUCCESS &&
            tn_neighbours_watch(&c->neighbours, c->heap, all, c->base.size, c->base.rank);
  tn_heap_free(c->heap, all, (size_t)c->base.size * sizeof *all);
  return ok;
}

static bool set_up(cluster *c) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Comm_dup(MPI_COMM_WORLD, &c->messages) != MPI_SUCCESS) return false;
  if (MPI_Comm_dup(MPI_COMM_WORLD, &c->notices) != MPI_SUCCESS) return false;
  if (!exchange_hosts(c) || !find_neighbours(c) || !connect_all(c)) return false;
  return MPI_Irecv(&c->notice, sizeof c->notice, MPI_BYTE, MPI_ANY_SOURCE, 0, c->notices, &c->noticed) ==
         MPI_SUCCESS;
}

static tn_transport *no(char *reason, const char *why) {
  strcpy(reason, why);
  return NULL;
}

/* In the sandbox files in shared memory can be neither removed nor mapped later, so the ranks on a
 * machine use sockets. Settings of the user stay. */
static bool start_mpi(bool confined) {
  int given;
  if (confined) (void)setenv("OMPI_MCA_btl", "^vader", 0);
  return MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) == MPI_SUCCESS;
}

__attribute__((visibility("default"))) tn_transport *tn_mpi_open(tn_heap *heap, const char *version,
                                                                 bool confined, char *reason) {
  int rank, size;
  if (strcmp(version, TN_VERSION) != 0) return no(reason, TN_MPI_LIBRARY " is of another version of tern");
  if (!start_mpi(confined)) return no(reason, "MPI does not start");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cluster *c = tn_heap_alloc(heap, sizeof *c);
  if (!c) return no(reason, "out of memory");
  c->heap = heap;
  c->noticed = MPI_REQUEST_NULL;
  c->base = (tn_transport){ .rank = rank,
                            .size = size,
                            .send = mpi_send,
                            .receive = mpi_receive,
                            .progress = mpi_progress,
                            .fail = mpi_fail,
                            .close = mpi_close,
                            .failure = { .rank = -1 } };
  c->hosts = tn_heap_alloc(heap, (size_t)size * sizeof *c->hosts);
  if (c->hosts && set_up(c)) return &c->base;
  free_all(c, (size_t)size);
  return no(reason, "MPI cannot connect the ranks");
}
