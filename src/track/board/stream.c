/* track/board/stream.c: streams of events for clients that follow a run.
 *
 * A stream without news is suspended, and checked again a few times per second. Now and then it
 * sends something in any case, because a connection that nobody writes to never shows that its
 * other end is gone. */
#include "track/board/board.h"

#ifdef TN_HAVE_MICROHTTPD
#include <string.h>

#include "track/board/server.h"

#define BLOCK        ((size_t)1 << 16)
#define BEAT_SECONDS 15

struct tn_stream {
  tn_server *server;
  tn_http_connection *connection;
  tn_client *client;
  tn_follow follow;
  tn_text pending;
  size_t sent; /* of pending */
  double spoke;
  bool suspended;
  tn_stream *next;
};

static bool look(tn_stream *s) {
  tn_answer answer;
  const tn_board_options *options = s->server->options;
  tn_answer_begin(&answer, options, options->heap, options->diags->sources);
  bool ok = tn_follow_news(&answer, &s->follow, &s->pending);
  tn_answer_end(&answer);
  return ok;
}

static void enter(tn_stream *s, tn_client_state state) {
  if (s->client) tn_client_enter(&s->server->clients, s->client, state, tn_server_now(s->server));
}

static ssize_t fall_silent(tn_stream *s) {
  tn_text_clear(&s->pending);
  s->sent = 0;
  if (s->follow.ended || s->pending.failed) return MHD_CONTENT_READER_END_OF_STREAM;
  enter(s, TN_CLIENT_STREAM);
  s->server->http.suspend_connection(s->connection);
  s->suspended = true;
  return 0;
}

/* Called when the client can take more: the reader is ready again. */
static ssize_t feed(void *context, uint64_t position, char *room, size_t size) {
  tn_stream *s = context;
  (void)position;
  if (s->sent == s->pending.len) return fall_silent(s);
  size_t left = s->pending.len - s->sent, part = left < size ? left : size;
  memcpy(room, s->pending.at + s->sent, part);
  s->sent += part;
  enter(s, TN_CLIENT_ANSWER);
  return (ssize_t)part;
}

static void free_stream(void *context) {
  tn_stream *s = context;
  tn_stream **at = &s->server->streams;
  while (*at && *at != s) at = &(*at)->next;
  if (*at) *at = s->next;
  if (s->client) s->client->stream = NULL;
  tn_text_free(&s->pending);
  tn_heap_free(s->server->options->heap, s, sizeof *s);
}

static void wake(tn_stream *s) {
  if (!s->suspended) return;
  s->suspended = false;
  s->server->http.resume_connection(s->connection);
}

void tn_stream_end(tn_stream *s) {
  if (!s) return;
  s->follow.ended = true;
  wake(s);
}

void tn_stream_leave(tn_stream *s) {
  if (s) s->client = NULL;
}

/* ---- beginning ---- */

/* The newest is first. */
static void make_room(tn_server *server) {
  tn_stream *oldest = NULL;
  int count = 0;
  for (tn_stream *s = server->streams; s; s = s->next) {
    if (!s->client || s->client->state == TN_CLIENT_GONE) continue;
    oldest = s;
    count++;
  }
  if (count >= server->limits->streams) tn_server_dismiss(server, oldest->client);
}

static tn_stream *new_stream(tn_server *server, tn_http_connection *connection, tn_client *client,
                             int64_t run) {
  tn_stream *s = tn_heap_alloc(server->options->heap, sizeof *s);
  if (!s) return NULL;
  *s = (tn_stream){ .server = server,
                    .connection = connection,
                    .client = client,
                    .follow = { .run = run },
                    .spoke = tn_server_now(server),
                    .next = server->streams };
  tn_text_init(&s->pending, server->options->heap);
  server->streams = s;
  client->stream = s;
  return s;
}

enum MHD_Result tn_stream_begin(tn_server *server, tn_http_connection *connection, tn_client *client,
                                int64_t run) {
  make_room(server);
  tn_stream *s = new_stream(server, connection, client, run);
  if (!s) return MHD_NO;
  tn_http_response *response =
      server->http.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, feed, s, free_stream);
  if (!response) {
    free_stream(s);
    return MHD_NO;
  }
  (void)look(s); /* else later */
  tn_request_add_headers(&server->http, response, "text/event-stream", NULL);
  enum MHD_Result result = server->http.queue_response(connection, MHD_HTTP_OK, response);
  server->http.destroy_response(response);
  return result;
}

/* ---- looking ---- */

bool tn_streams_look(tn_server *server) {
  double now = tn_server_now(server);
  bool ok = true;
  for (tn_stream *s = server->streams; s && ok; s = s->next) {
    if (!s->suspended) continue;
    ok = look(s);
    if (s->pending.len == 0 && now - s->spoke >= BEAT_SECONDS) tn_text_puts(&s->pending, ":\n\n");
    if (s->pending.len == 0 && !s->pending.failed && !s->follow.ended) continue;
    s->spoke = now;
    enter(s, TN_CLIENT_ANSWER);
    wake(s);
  }
  return ok;
}
#endif
