/* board/board.c: the server: who may ask, and streams that go on.
 *
 * libmicrohttpd parses HTTP; the loop is ours, on the calling thread, so that
 * everything it touches belongs to one session. A stream of events that has
 * nothing to say is suspended, and looked at again a few times a second. */
#include "board/board.h"

#ifdef TN_HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "board/http.h"
#include "board/internal.h"

#define LOOK_EVERY     0.25 /* seconds between looks at the runs that are followed */
#define MOST_CLIENTS   64
#define IDLE_SECONDS   120
#define LISTEN_BACKLOG 64

typedef struct board_server board_server;

/* Somebody who follows a run. */
typedef struct stream {
  board_server *server;
  tn_http_connection *connection;
  tn_follow follow;
  tn_text pending;
  size_t sent; /* of pending */
  bool suspended;
  struct stream *next;
} stream;

struct board_server {
  const tn_board_options *options;
  tn_http http;
  struct MHD_Daemon *daemon;
  int port;
  stream *streams;
  double looked; /* of the monotonic clock */
};

/* ---- who may ask ---- */

/* "127.0.0.1:8600", "localhost:8600" or "[::1]:8600", behind `prefix`. */
static bool is_this_host(const board_server *s, const char *prefix, const char *given) {
  static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
  size_t length = strlen(prefix);
  if (!given || strncmp(given, prefix, length) != 0) return false;
  given += length;
  tn_text wanted;
  bool same = false;
  tn_text_init(&wanted, s->options->heap);
  for (size_t i = 0; i < 3 && !same; i++) {
    tn_text_clear(&wanted);
    tn_text_puts(&wanted, names[i]);
    tn_text_byte(&wanted, ':');
    tn_text_int(&wanted, s->port);
    same = !wanted.failed && strcmp(wanted.at, given) == 0;
  }
  tn_text_free(&wanted);
  return same;
}

/* A page of another site may send requests here, but not under our name, and it has to say whose it is. */
static bool may_ask(const board_server *s, tn_http_connection *connection) {
  const char *host = s->http.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
  const char *origin = s->http.lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
  return is_this_host(s, "", host) && (!origin || is_this_host(s, "http://", origin));
}

/* ---- answers ---- */

static void add_headers(const tn_http *http, tn_http_response *response, const char *type,
                        const char *policy) {
  http->add_response_header(response, "Content-Type", type);
  http->add_response_header(response, "X-Content-Type-Options", "nosniff");
  http->add_response_header(response, "Referrer-Policy", "no-referrer");
  http->add_response_header(response, "Cache-Control", "no-store");
  http->add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
  http->add_response_header(response, "Content-Security-Policy", policy ? policy : "default-src 'none'");
}

static enum MHD_Result send_plain(const tn_http *http, tn_http_connection *connection, unsigned status,
                                  const char *text) {
  tn_http_response *response =
      http->create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
  if (!response) return MHD_NO;
  add_headers(http, response, "text/plain; charset=utf-8", NULL);
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED) http->add_response_header(response, "Allow", "GET, HEAD");
  enum MHD_Result result = http->queue_response(connection, status, response);
  http->destroy_response(response);
  return result;
}

static enum MHD_Result send_answer(const tn_http *http, tn_http_connection *connection, tn_answer *answer) {
  if (answer->body.failed)
    return send_plain(http, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
  tn_str body = tn_text_str(&answer->body);
  tn_http_response *response =
      http->create_response_from_buffer(body.len, (void *)(uintptr_t)body.at, MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  add_headers(http, response, answer->type, answer->policy);
  enum MHD_Result result = http->queue_response(connection, (unsigned)answer->status, response);
  http->destroy_response(response);
  return result;
}

/* ---- streams ---- */

static void look(stream *s) {
  tn_answer answer;
  tn_answer_begin(&answer, s->server->options);
  tn_follow_news(&answer, &s->follow, &s->pending);
  tn_answer_end(&answer);
}

/* Called when the client can take more. */
static ssize_t feed(void *context, uint64_t position, char *room, size_t size) {
  stream *s = context;
  (void)position;
  if (s->sent == s->pending.len) {
    tn_text_clear(&s->pending);
    s->sent = 0;
    if (s->follow.ended || s->pending.failed) return MHD_CONTENT_READER_END_OF_STREAM;
    s->server->http.suspend_connection(s->connection);
    s->suspended = true;
    return 0;
  }
  size_t left = s->pending.len - s->sent, part = left < size ? left : size;
  memcpy(room, s->pending.at + s->sent, part);
  s->sent += part;
  return (ssize_t)part;
}

static void free_stream(void *context) {
  stream *s = context;
  stream **at = &s->server->streams;
  while (*at && *at != s) at = &(*at)->next;
  if (*at) *at = s->next;
  tn_text_free(&s->pending);
  tn_heap_free(s->server->options->heap, s, sizeof *s);
}

static enum MHD_Result send_events(board_server *server, tn_http_connection *connection, int64_t run) {
  stream *s = tn_heap_alloc(server->options->heap, sizeof *s);
  if (!s) return MHD_NO;
  *s = (stream){
    .server = server, .connection = connection, .follow = { .run = run }, .next = server->streams
  };
  tn_text_init(&s->pending, server->options->heap);
  tn_http_response *response =
      server->http.create_response_from_callback(MHD_SIZE_UNKNOWN, 1 << 16, feed, s, free_stream);
  if (!response) {
    tn_heap_free(server->options->heap, s, sizeof *s);
    return MHD_NO;
  }
  server->streams = s;
  look(s);
  add_headers(&server->http, response, "text/event-stream", NULL);
  enum MHD_Result result = server->http.queue_response(connection, MHD_HTTP_OK, response);
  server->http.destroy_response(response);
  return result;
}

static void wake(stream *s) {
  if (!s->suspended) return;
  s->suspended = false;
  s->server->http.resume_connection(s->connection);
}

static void look_at_all(board_server *server) {
  for (stream *s = server->streams; s; s = s->next) {
    if (!s->suspended) continue;
    look(s);
    if (s->pending.len > 0 || s->pending.failed || s->follow.ended) wake(s);
  }
}

/* ---- requests ---- */

static enum MHD_Result answer_request(void *context, tn_http_connection *connection, const char *url,
                                      const char *method, const char *version, const char *upload,
                                      size_t *upload_size, void **request) {
  board_server *s = context;
  (void)version, (void)upload, (void)upload_size, (void)request;
  if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
    return send_plain(&s->http, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
  if (!may_ask(s, connection))
    return send_plain(&s->http, connection, MHD_HTTP_FORBIDDEN,
                      "this server answers its own page on this machine only\n");
  int64_t run = tn_answer_events_of(url);
  if (run > 0) return send_events(s, connection, run);
  tn_answer answer;
  tn_answer_begin(&answer, s->options);
  tn_answer_path(&answer, url);
  enum MHD_Result result = send_answer(&s->http, connection, &answer);
  tn_answer_end(&answer);
  return result;
}

/* ---- the loop ---- */

static bool fail(const tn_board_options *options, const char *reason) {
  return tn_report(options->diags, TN_DIAG_E_BOARD, TN_NOWHERE, TN_INT("port", options->port),
                   TN_STR("reason", reason));
}

/* A socket that only this machine can reach; -1 with errno set. *port receives its number. */
static int listen_here(int wanted, int *port) {
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)wanted) };
  socklen_t size = sizeof address;
  int on = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (descriptor < 0) return -1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(descriptor, (struct sockaddr *)&address, size) != 0 || listen(descriptor, LISTEN_BACKLOG) != 0 ||
      getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) {
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
  }
  *port = ntohs(address.sin_port);
  return descriptor;
}

static void clear(fd_set *reading, fd_set *writing, fd_set *failing) {
  FD_ZERO(reading);
  FD_ZERO(writing);
  FD_ZERO(failing);
}

static void wait_for_work(board_server *s) {
  fd_set reading, writing, failing;
  clear(&reading, &writing, &failing);
  MHD_socket highest = 0;
  MHD_UNSIGNED_LONG_LONG wanted;
  struct timeval wait = { .tv_usec = (suseconds_t)(LOOK_EVERY * 1e6) };
  if (s->http.get_fdset(s->daemon, &reading, &writing, &failing, &highest) != MHD_YES) return;
  if (s->http.get_timeout(s->daemon, &wanted) == MHD_YES && (double)wanted < LOOK_EVERY * 1000)
    wait.tv_usec = (suseconds_t)(wanted * 1000);
  if (select(highest + 1, &reading, &writing, &failing, &wait) < 0) /* interrupted: see what is there */
    clear(&reading, &writing, &failing);
  s->http.run_from_select(s->daemon, &reading, &writing, &failing);
}

static void serve(board_server *s) {
  while (!tn_stop_asked(s->options->heap->stop)) {
    wait_for_work(s);
    double now = tn_clock_steady();
    if (now - s->looked < LOOK_EVERY) continue;
    s->looked = now;
    look_at_all(s);
  }
}

static bool serve_with_library(board_server *s) {
  const tn_board_options *options = s->options;
  int descriptor = listen_here(options->port, &s->port);
  if (descriptor < 0)
    return fail(options, errno == EADDRINUSE ? "another program listens there"
                         : errno == EACCES   ? "ports below 1024 are for the administrator"
                                             : strerror(errno));
  s->daemon = s->http.start_daemon(MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer_request, s,
                                   MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
                                   (unsigned)MOST_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
                                   (unsigned)IDLE_SECONDS, MHD_OPTION_END);
  if (!s->daemon) {
    close(descriptor);
    return fail(options, "the server does not start");
  }
  bool begins = options->ready(options->context, s->port);
  if (begins) serve(s);
  for (stream *each = s->streams; each; each = each->next) {
    each->follow.ended = true;
    wake(each);
  }
  s->http.stop_daemon(s->daemon); /* closes the socket and frees the streams */
  return begins;
}

bool tn_board_serve(const tn_board_options *options) {
  board_server s = { .options = options };
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
