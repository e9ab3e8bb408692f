/* track/board/board.c: the server: sockets, deadlines and the loop.
 *
 * libmicrohttpd parses HTTP. Accepting and the loop are ours, on the calling
 * thread, so that everything it touches belongs to one session, and so that who
 * may stay is decided in one place (clients.h): the library's own timeout counts from the last
 * byte, which a slow client can send at any time. */
#include "track/board/board.h"

const tn_board_limits tn_board_usual_limits = {
  .clients = { .seconds = { [TN_CLIENT_HEAD] = 5, [TN_CLIENT_IDLE] = 30, [TN_CLIENT_ANSWER] = 30 },
               .most = 64,
               .per_address = 48 },
  .look_seconds = 0.25,
  .streams = 16,
  .headers = 100,
  .head_bytes = 32768,
  .body_bytes = 65536,
  .jobs = 8,
  .job_seconds = 20,
  .job_bytes = (size_t)64 << 20,
  .kept = 16,
  .kept_bytes = (size_t)32 << 20,
};

#ifdef TN_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "track/board/server.h"

#define LISTEN_BACKLOG 512 /* a flood waits here, and in it the client that means well */
#define ACCEPT_AT_ONCE 16
#define HELD_REST      1.0 /* seconds between attempts while the history is locked */
#define PAUSE          0.1 /* seconds without accepting where descriptors have run out */

/* ---- clients ---- */

double tn_server_now(const tn_server *s) {
  return s->options->now ? s->options->now(s->options->context) : tn_clock_steady();
}

tn_client *tn_server_client(const tn_server *s, tn_http_connection *connection) {
  const union MHD_ConnectionInfo *info =
      s->http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? tn_clients_find(&s->clients, info->connect_fd) : NULL;
}

/* The library notices the end of the connection in its next round, and closes it. */
void tn_server_dismiss(tn_server *s, tn_client *client) {
  bool waits = client->state == TN_CLIENT_WAIT;
  tn_client_enter(&s->clients, client, TN_CLIENT_GONE, tn_server_now(s));
  shutdown(client->descriptor, SHUT_RDWR);
  if (waits) s->http.resume_connection(client->connection);
  tn_stream_end(client->stream);
}

static void dismiss_late(tn_server *s) {
  tn_client *late;
  double now = tn_server_now(s);
  while ((late = tn_clients_late(&s->clients, now))) tn_server_dismiss(s, late);
}

/* A whole request and its answer are done: the next one may come on the same connection. */
static void on_answered(void *context, tn_http_connection *connection, void **request,
                        enum MHD_RequestTerminationCode how) {
  tn_server *s = context;
  (void)how;
  tn_request_forget(s, request);
  tn_client *client = tn_server_client(s, connection);
  if (!client) return;
  tn_request_leave(s, client);
  tn_client_enter(&s->clients, client, TN_CLIENT_IDLE, tn_server_now(s));
}

static void on_connection(void *context, tn_http_connection *connection, void **socket,
                          enum MHD_ConnectionNotificationCode what) {
  tn_server *s = context;
  (void)socket;
  if (what != MHD_CONNECTION_NOTIFY_CLOSED) return;
  tn_client *client = tn_server_client(s, connection);
  if (!client) return;
  tn_request_leave(s, client);
  tn_stream_leave(client->stream);
  tn_clients_remove(&s->clients, client);
}

/* ---- accepting ---- */

static void take_in(tn_server *s, int descriptor, const struct sockaddr_in *peer) {
  uint32_t address = ntohl(peer->sin_addr.s_addr);
  tn_client *leaving;
  while ((leaving = tn_clients_in_the_way(&s->clients, address))) tn_server_dismiss(s, leaving);
  if (!tn_clients_add(&s->clients, descriptor, address, tn_server_now(s))) {
    close(descriptor);
    return;
  }
  const struct sockaddr *from = (const struct sockaddr *)peer;
  if (s->http.add_connection(s->daemon, descriptor, from, sizeof *peer) == MHD_YES) return;
  tn_client *refused = tn_clients_find(&s->clients, descriptor); /* the library has closed it */
  if (refused) tn_clients_remove(&s->clients, refused);
}

static void run_short(tn_server *s) {
  tn_client *leaving = tn_clients_least(&s->clients);
  if (leaving) tn_server_dismiss(s, leaving);
  s->paused = tn_clock_steady() + PAUSE;
}

/* A few at a time, so that earlier clients are served in between. */
static void accept_some(tn_server *s) {
  for (int i = 0; i < ACCEPT_AT_ONCE; i++) {
    struct sockaddr_in peer = { 0 };
    socklen_t size = sizeof peer;
    int descriptor = accept(s->listening, (struct sockaddr *)&peer, &size);
    if (descriptor >= 0) {
      take_in(s, descriptor, &peer);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
      return;
    } else if (errno != ECONNABORTED) {
      run_short(s);
      return;
    }
  }
}

/* ---- the loop ---- */

static bool fail(const tn_board_options *options, const char *reason) {
  return tn_report(options->diags, TN_DIAG_E_BOARD, TN_NOWHERE, TN_INT("port", options->port),
                   TN_STR("reason", reason));
}

static bool bind_here(int descriptor, int wanted, int *port) {
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)wanted) };
  socklen_t size = sizeof address;
  int on = 1;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(descriptor, (struct sockaddr *)&address, size) != 0 || listen(descriptor, LISTEN_BACKLOG) != 0 ||
      fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0 || fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 ||
      getsockname(descriptor, (struct sockaddr *)&address, &size) != 0)
    return false;
  *port = ntohs(address.sin_port);
  return true;
}

/* A socket that only this machine can reach; -1 with errno set. *port receives its number. */
static int listen_here(int wanted, int *port) {
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  if (descriptor < 0 || bind_here(descriptor, wanted, port)) return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

static void clear(fd_set *reading, fd_set *writing, fd_set *failing) {
  FD_ZERO(reading);
  FD_ZERO(writing);
  FD_ZERO(failing);
}

/* Whether it is among those that can be read; if so it is taken out of them. */
static bool take(int descriptor, fd_set *reading) {
  bool found = FD_ISSET(descriptor, reading);
  FD_CLR(descriptor, reading);
  return found;
}

static void wait_for_work(tn_server *s) {
  fd_set reading, writing, failing;
  clear(&reading, &writing, &failing);
  int bell = tn_worker_bell(&s->worker);
  MHD_socket highest = s->listening > bell ? s->listening : bell;
  MHD_UNSIGNED_LONG_LONG wanted;
  double most = s->limits->look_seconds;
  struct timeval wait = { .tv_usec = (suseconds_t)(most * 1e6) };
  if (s->http.get_fdset(s->daemon, &reading, &writing, &failing, &highest) != MHD_YES) return;
  if (s->http.get_timeout(s->daemon, &wanted) == MHD_YES && (double)wanted < most * 1000)
    wait.tv_usec = (suseconds_t)(wanted * 1000);
  if (tn_clock_steady() >= s->paused) FD_SET(s->listening, &reading);
  FD_SET(bell, &reading);
  if (select(highest + 1, &reading, &writing, &failing, &wait) < 0) /* interrupted: see what is there */
    clear(&reading, &writing, &failing);
  bool knocked = take(s->listening, &reading);
  if (take(bell, &reading)) tn_request_resume(s);
  s->http.run_from_select(s->daemon, &reading, &writing, &failing);
  if (knocked) accept_some(s);
}

static void look(tn_server *s) {
  double now = tn_clock_steady();
  if (now < s->next_look) return;
  s->next_look = now + (tn_streams_look(s) ? s->limits->look_seconds : HELD_REST);
}

/* A round may last a while, so the clock is read in each. */
static bool is_over(tn_stop *stop) { return tn_stop_asked(stop) || tn_stop_time_left(stop) == 0; }

static void serve(tn_server *s) {
  while (!is_over(s->options->heap->stop)) {
    wait_for_work(s);
    dismiss_late(s);
    look(s);
    if (s->options->looked) s->options->looked(s->options->context);
  }
}

/* ---- beginning and ending ---- */

/* Connections that were told to go are the library's until it has looked at them. */
static bool start_daemon(tn_server *s) {
  unsigned most = 2 * (unsigned)s->limits->clients.most;
  s->daemon = s->http.start_daemon(
      MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, tn_request_handle, s,
      MHD_OPTION_CONNECTION_LIMIT, most,
      MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)s->limits->head_bytes,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_NOTIFY_COMPLETED, on_answered, s,
      MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
  return s->daemon != NULL;
}

static bool serve_on_socket(tn_server *s) {
  const tn_board_options *options = s->options;
  if (!start_daemon(s)) return fail(options, "the server does not start");
  bool begins = options->ready(options->context, s->port) && tn_worker_start(&s->worker);
  if (begins) serve(s);
  for (tn_client *client = s->clients.first; client; client = client->next) tn_server_dismiss(s, client);
  s->http.stop_daemon(s->daemon); /* closes the connections and frees the streams */
  return begins;
}

static bool serve_with_library(tn_server *s) {
  const tn_board_options *options = s->options;
  s->listening = listen_here(options->port, &s->port);
  if (s->listening < 0)
    return fail(options, errno == EADDRINUSE ? "another program listens there"
                         : errno == EACCES   ? "ports below 1024 are for the administrator"
                                             : strerror(errno));
  bool ok = tn_worker_init(&s->worker, options, s->limits) ? serve_on_socket(s)
                                                            : fail(options, strerror(errno));
  tn_worker_end(&s->worker);
  tn_clients_free(&s->clients);
  close(s->listening);
  return ok;
}

/* Unguessable, and different each time. */
static bool make_token(tn_server *s) {
  static const char digits[] = "0123456789abcdef";
  unsigned char random[TN_TOKEN_LETTERS / 2];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  for (size_t i = 0; i < TN_TOKEN_LETTERS; i++) s->token[i] = digits[random[i / 2] >> (4 * (i % 2)) & 15];
  return true;
}

bool tn_board_serve(const tn_board_options *options) {
  tn_server s = { .options = options, .limits = options->limits ? options->limits : &tn_board_usual_limits };
  if (!make_token(&s)) return fail(options, "the system gives no random numbers");
  tn_clients_init(&s.clients, options->heap, &s.limits->clients);
  if (!tn_http_load(&s.http)) return fail(options, "libmicrohttpd is not installed");
  bool ok = serve_with_library(&s);
  tn_http_unload(&s.http);
  return ok;
}

#else
bool tn_board_serve(const tn_board_options *options) {
  return tn_report(options->diags, TN_DIAG_E_BOARD, TN_NOWHERE, TN_INT("port", options->port),
                   TN_STR("reason", "this build has no libmicrohttpd"));
}
#endif
