/* cluster/sockets.c: a transport over sockets between ranks on one machine.
 *
 * Each message is a frame: its kind, its length, then its bytes. Frames are read directly into the
 * memory of the receiver, so a message that nobody waits for yet stays in the kernel, and its
 * sender waits in turn. Sending and receiving never block each other, so two ranks may send each
 * other any amount at once.
 *
 * Beside messages there are two notices. FAILED says which rank failed, and why;
 * GOODBYE that a rank needs nothing more. A connection that ends without either
 * means that the process at its other end is gone. */
#include "cluster/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"
#include "cluster/window.h"

#define MAGIC      0x6e726574u /* "tern" */
#define SLICE      TN_STOPPED_LOOK /* milliseconds between two checks for a stop and for stopped ranks */
#define FAREWELL   0.5         /* seconds to tell the others that this rank ends */
#define SPARE      4096        /* bytes that are moved at a time where there is no memory for them */
#define PASSES     256         /* over what comes in, to find a failure after it */
#define ENDED_EARLY "it ended its training before the others"
#define AT_ONCE    ((size_t)4 << 20) /* bytes of one peer before the next one has its turn */

typedef enum { FRAME_MESSAGE = 1, FRAME_FAILED, FRAME_GOODBYE } frame_kind;

typedef struct {
  uint32_t magic, kind;
  uint64_t length;
} frame;

typedef struct {
  void *bytes; /* of a message to be sent, only read */
  size_t count;
} message;

typedef struct {
  tn_vec(message) items;
  size_t first; /* of those that are still to be moved */
} queue;

/* One direction of a connection: how much of the frame and of its bytes has been moved. */
typedef struct {
  queue queue;
  frame frame;
  size_t frame_done, done;
} stream;

typedef struct {
  int descriptor; /* -1: closed, or this rank itself */
  stream out, in;
  tn_rank_failure notice; /* the bytes of FAILED, as they come in */
  bool goodbye;           /* it needs nothing more */
} peer;

typedef struct {
  tn_transport base;
  tn_heap *heap;
  peer *peers;
  struct pollfd *polled;
  char host[TN_HOST_BYTES];
  tn_sockets_witness witness;
  tn_window window;
  bool gave_up; /* nothing is queued any more; incoming data is discarded */
  bool told;    /* the others know of the failure */
} sockets;

static sockets *of(tn_transport *t) { return (sockets *)t; }

static tn_str bounded(const char *text, size_t room) {
  const char *end = memchr(text, 0, room);
  return (tn_str){ text, end ? (size_t)(end - text) : room };
}

static bool blame(sockets *s, int rank, const char *reason) {
  return tn_transport_note(&s->base, rank, false, tn_str_of(s->host), tn_str_of(reason));
}

/* The process at the other end is gone. */
static bool lost(sockets *s, int rank) {
  char reason[TN_REASON_BYTES] = "its process is gone";
  if (s->base.failure.rank < 0 && s->witness.explain)
    (void)s->witness.explain(s->witness.context, rank, reason);
  return tn_transport_note(&s->base, rank, true, tn_str_of(s->host), bounded(reason, sizeof reason));
}

/* Nothing has come for a while. */
static void look_for_stopped(sockets *s) {
  int rank = s->witness.find_stopped ? s->witness.find_stopped(s->witness.context) : -1;
  if (rank >= 0) (void)blame(s, rank, TN_STOPPED_REASON);
}

/* ---- queues ---- */

static bool is_empty(const queue *q) { return q->first == q->items.count; }
static message *front(queue *q) { return &q->items.at[q->first]; }

static void pop(queue *q) {
  if (++q->first == q->items.count) q->first = q->items.count = 0;
}

/* The owners of queued messages may free them now. The rest of a partly sent message is sent as
 * zeros: its receiver is about to learn of the failure. False. */
static bool give_up(sockets *s) {
  for (int i = 0; i < s->base.size && !s->gave_up; i++) {
    queue *out = &s->peers[i].out.queue, *in = &s->peers[i].in.queue;
    bool under_way = s->peers[i].out.frame_done > 0;
    if (under_way) front(out)->bytes = NULL;
    out->items.count = under_way ? out->first + 1 : 0;
    out->first = under_way ? out->first : 0;
    in->items.count = in->first = 0;
  }
  s->gave_up = true;
  s->base.pending = 0;
  return false;
}

static bool push(sockets *s, int rank, bool sends, message item) {
  tn_transport *t = &s->base;
  if (t->failure.rank >= 0 || s->gave_up) return false;
  peer *p = &s->peers[rank];
  if (p->descriptor < 0 || p->goodbye) return blame(s, rank, ENDED_EARLY) || give_up(s);
  queue *q = sends ? &p->out.queue : &p->in.queue;
  if (!tn_vec_push(s->heap, &q->items, item)) return blame(s, t->rank, "out of memory") || give_up(s);
  t->pending++;
  return true;
}

static bool sockets_send(tn_transport *t, int rank, const void *bytes, size_t count) {
  return push(of(t), rank, true, (message){ (void *)(uintptr_t)bytes, count });
}

static bool sockets_receive(tn_transport *t, int rank, void *bytes, size_t count) {
  return push(of(t), rank, false, (message){ bytes, count });
}

/* ---- bytes ---- */

typedef enum { MOVED, BLOCKED, BROKEN } moved;

static moved outcome(ssize_t count) {
  if (count > 0) return MOVED;
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? BLOCKED : BROKEN;
}

/* Without memory: zeros. */
static moved move_out(int descriptor, const void *bytes, size_t count, size_t *done) {
  static const char zeros[SPARE];
  while (*done < count) {
    size_t left = count - *done, part = bytes || left < SPARE ? left : SPARE;
    ssize_t some = write(descriptor, bytes ? (const char *)bytes + *done : zeros, part);
    moved result = outcome(some);
    if (result != MOVED) return result;
    *done += (size_t)some;
  }
  return MOVED;
}

/* Without memory: thrown away. */
static moved move_in(int descriptor, void *bytes, size_t count, size_t *done) {
  char spare[SPARE];
  while (*done < count) {
    size_t left = count - *done, part = bytes || left < SPARE ? left : SPARE;
    ssize_t some = read(descriptor, bytes ? (char *)bytes + *done : spare, part);
    moved result = outcome(some);
    if (result != MOVED) return result;
    *done += (size_t)some;
  }
  return MOVED;
}

/* ---- sending ---- */

/* The first message of the queue; MOVED: all of it is out. */
static moved send_front(peer *p) {
  stream *out = &p->out;
  message *item = front(&out->queue);
  if (out->frame_done == 0) out->frame = (frame){ MAGIC, FRAME_MESSAGE, item->count };
  moved result = move_out(p->descriptor, &out->frame, sizeof out->frame, &out->frame_done);
  if (result == MOVED) result = move_out(p->descriptor, item->bytes, item->count, &out->done);
  if (result != MOVED) return result;
  out->frame_done = out->done = 0;
  pop(&out->queue);
  return MOVED;
}

/* ---- receiving ---- */

static bool accept_notice(sockets *s, int rank) {
  tn_rank_failure *told = &s->peers[rank].notice;
  bool sensible = told->rank >= 0 && told->rank < s->base.size;
  int whom = sensible ? told->rank : rank;
  if (sensible && told->silent) return lost(s, whom); /* this rank may know more */
  return tn_transport_note(&s->base, whom, told->silent, bounded(told->host, sizeof told->host),
                           bounded(told->reason, sizeof told->reason));
}

/* Whether the frame that came is one that can come now. */
static bool check_frame(sockets *s, int rank) {
  peer *p = &s->peers[rank];
  const frame *f = &p->in.frame;
  bool known = f->magic == MAGIC && f->kind >= FRAME_MESSAGE && f->kind <= FRAME_GOODBYE;
  bool right = f->kind == FRAME_MESSAGE || f->length == (f->kind == FRAME_FAILED ? sizeof p->notice : 0);
  if (!known || !right || p->goodbye) return blame(s, rank, "it sent bytes that are not a message");
  if (s->gave_up) return true;
  if (f->kind == FRAME_MESSAGE && !is_empty(&p->in.queue) && f->length != front(&p->in.queue)->count)
    return blame(s, rank, "it sent a message of another length than was expected");
  return true;
}

/* Whether a message has begun that nobody waits for yet. */
static bool is_early(const sockets *s, const peer *p) {
  bool begun = p->in.frame_done == sizeof(frame) && p->in.frame.kind == FRAME_MESSAGE;
  return begun && is_empty(&p->in.queue) && !s->gave_up;
}

static moved read_body(const sockets *s, peer *p) {
  bool wanted = p->in.frame.kind == FRAME_MESSAGE;
  void *room = !wanted ? &p->notice : s->gave_up ? NULL : front(&p->in.queue)->bytes;
  return move_in(p->descriptor, room, p->in.frame.length, &p->in.done);
}

static void finish_frame(sockets *s, int rank) {
  peer *p = &s->peers[rank];
  p->in.frame_done = p->in.done = 0;
  switch (p->in.frame.kind) {
    case FRAME_FAILED: (void)accept_notice(s, rank); break;
    case FRAME_GOODBYE:
      p->goodbye = true;
      if (!is_empty(&p->in.queue)) (void)blame(s, rank, ENDED_EARLY);
      break;
    default:
      if (s->gave_up) break;
      pop(&p->in.queue);
      s->base.pending--;
      break;
  }
}

static void hang_up(sockets *s, int rank) {
  peer *p = &s->peers[rank];
  (void)close(p->descriptor);
  p->descriptor = -1;
  if (!p->goodbye || !is_empty(&p->out.queue)) (void)lost(s, rank);
}

/* One frame, as far as it has come. */
static moved receive_front(sockets *s, int rank) {
  peer *p = &s->peers[rank];
  moved result = move_in(p->descriptor, &p->in.frame, sizeof p->in.frame, &p->in.frame_done);
  if (result == MOVED && !check_frame(s, rank)) return BLOCKED;
  if (result == MOVED && is_early(s, p)) return BLOCKED;
  if (result == MOVED) result = read_body(s, p);
  if (result == MOVED) finish_frame(s, rank);
  if (result == BROKEN) hang_up(s, rank);
  return result;
}

static void receive_some(sockets *s, int rank) {
  size_t received = 0;
  while (s->peers[rank].descriptor >= 0 && s->base.failure.rank < 0 && received < AT_ONCE) {
    if (receive_front(s, rank) != MOVED) return;
    received += sizeof(frame) + s->peers[rank].in.frame.length;
  }
}

/* A peer that cannot be written to may have sent the reason before it ended; that is still to be
 * read. */
static void broke_off(sockets *s, int rank) {
  receive_some(s, rank);
  (void)lost(s, rank);
}

static void send_some(sockets *s, int rank) {
  peer *p = &s->peers[rank];
  size_t sent = 0;
  while (!is_empty(&p->out.queue) && sent < AT_ONCE) {
    sent += sizeof(frame) + front(&p->out.queue)->count;
    moved result = send_front(p);
    if (result == BROKEN) broke_off(s, rank);
    if (result != MOVED) return;
    s->base.pending--;
  }
}

/* ---- waiting ---- */

static short events_of(const sockets *s, const peer *p) {
  bool sends = !s->gave_up && !is_empty(&p->out.queue);
  return (short)((is_early(s, p) ? 0 : POLLIN) | (sends ? POLLOUT : 0));
}

/* Connections without requested events are left out: poll would report their end repeatedly. */
static int poll_peers(sockets *s, int milliseconds) {
  for (int i = 0; i < s->base.size; i++) {
    short events = events_of(s, &s->peers[i]);
    s->polled[i] = (struct pollfd){ .fd = events ? s->peers[i].descriptor : -1, .events = events };
  }
  return poll(s->polled, (nfds_t)s->base.size, milliseconds);
}

/* Receiving comes first: the last message of a rank is read before the broken connection is
 * noticed. */
static void serve(sockets *s) {
  for (int i = 0; i < s->base.size; i++) {
    if (s->polled[i].revents & ~POLLOUT) receive_some(s, i);
  }
  for (int i = 0; i < s->base.size && s->base.failure.rank < 0; i++) {
    bool ready = s->polled[i].revents & POLLOUT;
    if (ready && s->peers[i].descriptor >= 0) send_some(s, i);
  }
}

/* Nothing is waited for any more. A notice of failure may follow messages. */
static bool look_for_failure(sockets *s) {
  give_up(s);
  for (int i = 0; i < PASSES && s->base.failure.rank < 0 && poll_peers(s, 0) > 0; i++) serve(s);
  return false;
}

static bool sockets_progress(tn_transport *t, int milliseconds) {
  sockets *s = of(t);
  for (int left = milliseconds;; left -= SLICE) {
    if (t->failure.rank >= 0) return give_up(s);
    if (s->gave_up || tn_stop_asked(s->heap->stop)) return look_for_failure(s);
    int ready = poll_peers(s, left < SLICE ? (left > 0 ? left : 0) : SLICE);
    if (ready > 0) serve(s);
    if (ready == 0 && left >= SLICE) look_for_stopped(s);
    if (t->failure.rank >= 0) return give_up(s);
    if (ready > 0 || left <= SLICE) return true;
  }
}

/* ---- the end ---- */

/* A notice takes the place of what is queued after the message that is under way. */
static moved send_notice(peer *p, frame_kind kind, const void *bytes, size_t count) {
  if (p->out.frame_done > 0 && !is_empty(&p->out.queue)) {
    moved result = send_front(p);
    if (result != MOVED) return result;
  }
  frame head = { MAGIC, kind, count };
  unsigned char whole[sizeof head + sizeof(tn_rank_failure)];
  memcpy(whole, &head, sizeof head);
  if (count > 0) memcpy(whole + sizeof head, bytes, count);
  size_t done = p->out.done; /* of a notice that is under way */
  moved result = move_out(p->descriptor, whole, sizeof head + count, &done);
  p->out.done = result == MOVED ? 0 : done;
  return result;
}

static bool is_reachable(const peer *p) { return p->descriptor >= 0 && !p->goodbye; }

static bool wait_to_write(sockets *s, const bool *told) {
  for (int i = 0; i < s->base.size; i++) {
    bool open = is_reachable(&s->peers[i]) && !told[i];
    s->polled[i] = (struct pollfd){ .fd = open ? s->peers[i].descriptor : -1, .events = POLLOUT };
  }
  return poll(s->polled, (nfds_t)s->base.size, SLICE) >= 0 || errno == EINTR;
}

/* Tells every peer that still listens. */
static void tell(sockets *s, frame_kind kind, const void *bytes, size_t count) {
  bool told[TN_SOCKETS_MOST] = { false };
  double end = tn_clock_steady() + FAREWELL;
  for (bool all = false; !all && tn_clock_steady() < end;) {
    all = true;
    for (int i = 0; i < s->base.size; i++) {
      if (told[i] || !is_reachable(&s->peers[i])) continue;
      told[i] = send_notice(&s->peers[i], kind, bytes, count) != BLOCKED;
      all = all && told[i];
    }
    if (!all && !wait_to_write(s, told)) return;
  }
}

static void sockets_fail(tn_transport *t, tn_str reason) {
  sockets *s = of(t);
  (void)tn_transport_note(t, t->rank, false, tn_str_of(s->host), reason);
  give_up(s);
  s->told = true;
  tell(s, FRAME_FAILED, &t->failure, sizeof t->failure);
}

static void free_peer(sockets *s, peer *p) {
  if (p->descriptor >= 0) (void)close(p->descriptor);
  tn_vec_free(s->heap, &p->out.queue.items);
  tn_vec_free(s->heap, &p->in.queue.items);
}

static void free_all(sockets *s, size_t size) {
  tn_window_unmap(&s->window);
  for (size_t i = 0; s->peers && i < size; i++) free_peer(s, &s->peers[i]);
  tn_heap_free(s->heap, s->peers, size * sizeof *s->peers);
  tn_heap_free(s->heap, s->polled, size * sizeof *s->polled);
  tn_heap_free(s->heap, s, sizeof *s);
}

static void sockets_close(tn_transport *t) {
  sockets *s = of(t);
  if (t->failure.rank < 0 && tn_transport_wait(t))
    tell(s, FRAME_GOODBYE, NULL, 0);
  else if (!s->told)
    sockets_fail(t, TN_LIT(ENDED_EARLY));
  free_all(s, (size_t)t->size);
}

/* ---- shared memory ---- */

static void *sockets_take(tn_transport *t, size_t bytes) { return tn_window_take(&of(t)->window, bytes); }

bool tn_sockets_share(tn_transport *t, int descriptor) {
  t->share = sockets_take;
  return tn_window_map(&of(t)->window, descriptor);
}

/* ---- the beginning ---- */

static bool is_ready(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

static bool are_ready(int rank, int size, const int *descriptors) {
  for (int i = 0; i < size; i++) {
    if (i != rank && !is_ready(descriptors[i])) return false;
  }
  return true;
}

static void set_up(sockets *s, const int *descriptors, tn_str host) {
  size_t length = host.len < sizeof s->host ? host.len : sizeof s->host - 1;
  if (length > 0) memcpy(s->host, host.at, length);
  for (int i = 0; i < s->base.size; i++) {
    s->peers[i].descriptor = i == s->base.rank ? -1 : descriptors[i];
    s->peers[i].goodbye = i == s->base.rank;
  }
}

tn_transport *tn_sockets_new(tn_heap *heap, int rank, int size, const int *descriptors, tn_str host,
                             const tn_sockets_witness *witness) {
  if (size < 1 || size > TN_SOCKETS_MOST || rank < 0 || rank >= size) return NULL;
  if (!are_ready(rank, size, descriptors)) return NULL;
  sockets *s = tn_heap_alloc(heap, sizeof *s);
  if (!s) return NULL;
  s->heap = heap;
  s->base = (tn_transport){ .rank = rank,
                            .size = size,
                            .send = sockets_send,
                            .receive = sockets_receive,
                            .progress = sockets_progress,
                            .fail = sockets_fail,
                            .close = sockets_close,
                            .failure = { .rank = -1 } };
  if (witness) s->witness = *witness;
  s->peers = tn_heap_alloc(heap, (size_t)size * sizeof *s->peers);
  s->polled = tn_heap_alloc(heap, (size_t)size * sizeof *s->polled);
  if (!s->peers || !s->polled) {
    for (int i = 0; s->peers && i < size; i++) s->peers[i].descriptor = -1; /* they stay the caller's */
    free_all(s, (size_t)size);
    return NULL;
  }
  set_up(s, descriptors, host);
  return &s->base;
}
