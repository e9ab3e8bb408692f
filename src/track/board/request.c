/* track/board/request.c: who may ask, and what is sent. */
#include "track/board/board.h"

#ifdef TN_HAVE_MICROHTTPD
#include <string.h>
#include <strings.h>

#include "track/board/server.h"

/* ---- who may ask ---- */

/* "127.0.0.1:8600", "localhost:8600" or "[::1]:8600", after `prefix`. */
static bool is_this_host(const tn_server *s, const char *prefix, const char *given) {
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

/* A browser says here whose page asks. "same-site" is another server of this machine: a site is a host
 * whatever its port. Programs other than browsers do not send it. */
static bool is_own_site(const char *site) {
  return !site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

/* The headers that decide, and how often each stands there: two of a kind could be read in two ways. */
static const char *const deciding[] = { "Host", "Origin", "Sec-Fetch-Site" };
enum { HOST, ORIGIN, SITE, DECIDING };

typedef struct {
  const char *value[DECIDING];
  int all;
  bool repeated, has_body;
} heads;

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
  heads *h = context;
  (void)kind;
  h->all++;
  if (strcasecmp(name, "Transfer-Encoding") == 0 ||
      (strcasecmp(name, "Content-Length") == 0 && value && strcmp(value, "0") != 0))
    h->has_body = true;
  for (int i = 0; i < DECIDING; i++) {
    if (strcasecmp(name, deciding[i]) != 0) continue;
    if (h->value[i]) h->repeated = true;
    h->value[i] = value ? value : "";
  }
  return MHD_YES;
}

/* A page of another site may send requests here, but not under our name, and it has to say whose it is. */
static bool may_ask(const tn_server *s, const heads *h) {
  return !h->repeated && is_this_host(s, "", h->value[HOST]) && is_own_site(h->value[SITE]) &&
         (!h->value[ORIGIN] || is_this_host(s, "http://", h->value[ORIGIN]));
}

/* ---- answers ---- */

void tn_request_add_headers(const tn_http *http, tn_http_response *response, const char *type,
                            const char *policy) {
  http->add_response_header(response, "Content-Type", type);
  http->add_response_header(response, "X-Content-Type-Options", "nosniff");
  http->add_response_header(response, "X-Frame-Options", "DENY");
  http->add_response_header(response, "Referrer-Policy", "no-referrer");
  http->add_response_header(response, "Cache-Control", "no-store");
  http->add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
  http->add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
  http->add_response_header(response, "Content-Security-Policy",
                            policy ? policy : "default-src 'none'; frame-ancestors 'none'");
}

static enum MHD_Result send_plain(const tn_http *http, tn_http_connection *connection, unsigned status,
                                  const char *text) {
  tn_http_response *response =
      http->create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
  if (!response) return MHD_NO;
  tn_request_add_headers(http, response, "text/plain; charset=utf-8", NULL);
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED) http->add_response_header(response, "Allow", "GET, HEAD");
  enum MHD_Result result = http->queue_response(connection, status, response);
  http->destroy_response(response);
  return result;
}

static enum MHD_Result send_answer(const tn_http *http, tn_http_connection *connection,
                                   const tn_answer *answer) {
  if (answer->body.failed)
    return send_plain(http, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
  tn_str body = tn_text_str(&answer->body);
  tn_http_response *response =
      http->create_response_from_buffer(body.len, (void *)(uintptr_t)body.at, MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  tn_request_add_headers(http, response, answer->type, answer->policy);
  enum MHD_Result result = http->queue_response(connection, (unsigned)answer->status, response);
  http->destroy_response(response);
  return result;
}

/* ---- requests ---- */

/* The connection is asked again when the job is done. */
static enum MHD_Result wait_for(tn_server *s, tn_http_connection *connection, tn_client *client,
                                tn_job *job) {
  client->job = job;
  client->connection = connection;
  if (tn_worker_is_done(&s->worker, job)) return send_answer(&s->http, connection, &job->answer);
  tn_client_enter(&s->clients, client, TN_CLIENT_WAIT, tn_server_now(s));
  s->http.suspend_connection(connection);
  return MHD_YES;
}

static tn_wishes read_wishes(const tn_http *http, tn_http_connection *connection) {
  const enum MHD_ValueKind kind = MHD_GET_ARGUMENT_KIND;
  return (tn_wishes){ .order = http->lookup_connection_value(connection, kind, "order"),
                      .way = http->lookup_connection_value(connection, kind, "way"),
                      .words = http->lookup_connection_value(connection, kind, "words"),
                      .from = http->lookup_connection_value(connection, kind, "from"),
                      .to = http->lookup_connection_value(connection, kind, "to") };
}

static enum MHD_Result answer_path(tn_server *s, tn_http_connection *connection, tn_client *client,
                                   const char *path) {
  const tn_board_options *options = s->options;
  tn_answer answer;
  tn_order order = { 0 };
  tn_job *job = client->job;
  if (job) return send_answer(&s->http, connection, &job->answer);
  tn_answer_begin(&answer, options, options->heap, options->diags->sources);
  answer.wishes = read_wishes(&s->http, connection);
  tn_answer_path(&answer, path, &order);
  if (order.kind != TN_ORDER_NONE) {
    job = answer.arena.failed ? NULL : tn_worker_ask(&s->worker, &order);
    if (!job) tn_answer_refuse(&answer, 503, "too much is under way already");
  }
  enum MHD_Result result =
      job ? wait_for(s, connection, client, job) : send_answer(&s->http, connection, &answer);
  tn_answer_end(&answer);
  return result;
}

void tn_request_resume(tn_server *s) {
  tn_worker_hear(&s->worker);
  for (tn_client *client = s->clients.first; client; client = client->next) {
    if (client->state != TN_CLIENT_WAIT || !tn_worker_is_done(&s->worker, client->job)) continue;
    tn_client_enter(&s->clients, client, TN_CLIENT_ANSWER, tn_server_now(s));
    s->http.resume_connection(client->connection);
  }
}

void tn_request_leave(tn_server *s, tn_client *client) {
  tn_worker_leave(&s->worker, client->job);
  client->job = NULL;
}

/* Why a request is refused whoever asks; NULL: it is not. */
static const char *why_refused(const tn_server *s, const heads *h, const char *method, unsigned *status) {
  if (h->all > s->limits->headers)
    return *status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "too many headers\n";
  if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
    return *status = MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n";
  if (h->has_body) return *status = MHD_HTTP_CONTENT_TOO_LARGE, "no body is read\n";
  if (may_ask(s, h)) return NULL;
  *status = MHD_HTTP_FORBIDDEN;
  return "this server answers its own page on this machine only; to open it, type its address or paste it\n";
}

/* The library calls twice: when the headers are there, and when the body is. What is refused is refused
 * the first time, before a body is read, and that ends the connection; what is answered the second time may
 * go on. */
enum MHD_Result tn_request_handle(void *context, tn_http_connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request) {
  tn_server *s = context;
  heads h = { 0 };
  unsigned status;
  (void)version, (void)upload, (void)upload_size;
  tn_client *client = tn_server_client(s, connection);
  if (!client || client->state == TN_CLIENT_GONE) return MHD_NO;
  if (!*request) {
    tn_client_enter(&s->clients, client, TN_CLIENT_ANSWER, tn_server_now(s));
    s->http.get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &h);
    const char *refused = why_refused(s, &h, method, &status);
    *request = s; /* anything: it has been here */
    return refused ? send_plain(&s->http, connection, status, refused) : MHD_YES;
  }
  int64_t run = tn_answer_events_of(url);
  return run > 0 ? tn_stream_begin(s, connection, client, run) : answer_path(s, connection, client, url);
}
#endif
