/* track/board/request.c: checks requests and sends answers. */
#include "track/board/board.h"

#ifdef TN_HAVE_MICROHTTPD
#include <string.h>
#include <strings.h>

#include "base/number.h"
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

/* A browser sends this header to say which page makes the request. "same-site" is another server on
 * this machine: a site is a host, whatever its port. "none" is a person who opens the page.
 * Programs other than browsers do not send it. */
static bool is_own_site(const char *site, bool changes) {
  return !site || strcmp(site, "same-origin") == 0 || (!changes && strcmp(site, "none") == 0);
}

/* In constant time, wherever they differ. */
static bool is_token(const tn_server *s, const char *given) {
  unsigned char difference = 0;
  if (!given || strlen(given) != TN_TOKEN_LETTERS) return false;
  for (size_t i = 0; i < TN_TOKEN_LETTERS; i++) difference |= (unsigned char)(given[i] ^ s->token[i]);
  return difference == 0;
}

/* The headers that decide, and how often each occurs: a repeated one would be ambiguous. */
static const char *const deciding[] = { "Host",         "Origin",         "Sec-Fetch-Site", "X-Tern-Token",
                                        "Content-Type", "Content-Length", "Transfer-Encoding" };
enum { HOST, ORIGIN, SITE, TOKEN, TYPE, LENGTH, ENCODING, DECIDING };

typedef struct {
  const char *value[DECIDING];
  int all;
  bool repeated;
} heads;

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
  heads *h = context;
  (void)kind;
  h->all++;
  for (int i = 0; i < DECIDING; i++) {
    if (strcasecmp(name, deciding[i]) != 0) continue;
    if (h->value[i]) h->repeated = true;
    h->value[i] = value ? value : "";
  }
  return MHD_YES;
}

/* A page of another site may send requests here, but the browser adds its origin, which is not
 * ours. */
static bool may_ask(const tn_server *s, const heads *h, bool changes) {
  bool has_origin = h->value[ORIGIN] || changes; /* every browser says it with a POST */
  return !h->repeated && is_this_host(s, "", h->value[HOST]) && is_own_site(h->value[SITE], changes) &&
         (!has_origin || is_this_host(s, "http://", h->value[ORIGIN]));
}

static bool has_body(const heads *h) {
  return h->value[ENCODING] || (h->value[LENGTH] && strcmp(h->value[LENGTH], "0") != 0);
}

/* A body must say how long it is before any of it is read. */
static bool has_fit_body(const tn_server *s, const heads *h) {
  uint64_t length;
  return !h->value[ENCODING] && h->value[LENGTH] &&
         tn_number_parse_u64(tn_str_of(h->value[LENGTH]), &length) && length <= s->limits->body_bytes;
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

/* The connection is resumed when the job is done. */
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
                      .to = http->lookup_connection_value(connection, kind, "to"),
                      .open = http->lookup_connection_value(connection, kind, "open") };
}

static enum MHD_Result answer_path(tn_server *s, tn_http_connection *connection, tn_client *client,
                                   const char *path) {
  const tn_board_options *options = s->options;
  tn_answer answer;
  tn_order order = { 0 };
  tn_job *job = client->job;
  if (job) return send_answer(&s->http, connection, &job->answer);
  tn_answer_begin(&answer, options, options->heap, options->diags->sources);
  answer.token = s->token;
  answer.wishes = read_wishes(&s->http, connection);
  tn_answer_path(&answer, path, &order);
  if (order.kind != TN_ORDER_NONE) {
    job = answer.arena.failed ? NULL : tn_worker_ask(&s->worker, &order);
    if (!job) tn_answer_refuse(&answer, 503, "too many requests are in progress");
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

/* ---- bodies ---- */

/* What has come so far of a body; the library keeps it from call to call. */
typedef struct {
  tn_text text;
} tn_body;

void tn_request_forget(tn_server *s, void **request) {
  tn_body *body = *request == s ? NULL : *request;
  *request = NULL;
  if (!body) return;
  tn_text_free(&body->text);
  tn_heap_free(s->options->heap, body, sizeof *body);
}

static tn_body *new_body(const tn_server *s) {
  tn_body *body = tn_heap_alloc(s->options->heap, sizeof *body);
  if (body) tn_text_init(&body->text, s->options->heap);
  return body;
}

static enum MHD_Result answer_post(tn_server *s, tn_http_connection *connection, const char *path,
                                   const tn_body *body) {
  const tn_board_options *options = s->options;
  tn_answer answer;
  tn_answer_begin(&answer, options, options->heap, options->diags->sources);
  if (body->text.failed)
    tn_answer_refuse(&answer, 500, "out of memory");
  else
    tn_answer_post(&answer, path, tn_text_str(&body->text));
  enum MHD_Result result = send_answer(&s->http, connection, &answer);
  tn_answer_end(&answer);
  return result;
}

/* The deadline of a request's head holds until its body is whole. More than was announced does not come: the
 * library counts. */
static enum MHD_Result take_body(tn_server *s, tn_http_connection *connection, tn_client *client,
                                 const char *path, const char *upload, size_t *upload_size, tn_body *body) {
  if (*upload_size > 0) {
    if (body->text.len + *upload_size > s->limits->body_bytes) return MHD_NO;
    tn_text_add(&body->text, (tn_str){ upload, *upload_size });
    *upload_size = 0;
    return MHD_YES;
  }
  tn_client_enter(&s->clients, client, TN_CLIENT_ANSWER, tn_server_now(s));
  return answer_post(s, connection, path, body);
}

/* ---- handling ---- */

/* Why a request that changes something is refused; NULL: it is not. */
static const char *why_unchanged(const tn_server *s, const heads *h, unsigned *status) {
  if (!has_fit_body(s, h)) return *status = MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long\n";
  if (!h->value[TYPE] || strcmp(h->value[TYPE], "application/json") != 0)
    return *status = MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the body must be JSON\n";
  if (is_token(s, h->value[TOKEN])) return NULL;
  *status = MHD_HTTP_FORBIDDEN;
  return "this page is of a board that has ended: load it again\n";
}

/* Why a request is refused for every client; NULL: it is not. */
static const char *why_refused(const tn_server *s, const heads *h, const char *method, const char *path,
                               unsigned *status) {
  bool changes = strcmp(method, "POST") == 0 && tn_answer_takes(path);
  if (h->all > s->limits->headers)
    return *status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE, "too many headers\n";
  if (!changes && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
    return *status = MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n";
  if (!changes && has_body(h)) return *status = MHD_HTTP_CONTENT_TOO_LARGE, "no body is read\n";
  if (may_ask(s, h, changes)) return changes ? why_unchanged(s, h, status) : NULL;
  *status = MHD_HTTP_FORBIDDEN;
  return "this server answers its own page on this machine only; to open it, type its address or paste it\n";
}

/* A new request: refused, or *request receives what is kept of it while it comes. */
static enum MHD_Result begin(tn_server *s, tn_http_connection *connection, tn_client *client,
                             const char *path, const char *method, void **request) {
  heads h = { 0 };
  unsigned status;
  bool changes = strcmp(method, "POST") == 0;
  tn_client_enter(&s->clients, client, changes ? TN_CLIENT_HEAD : TN_CLIENT_ANSWER, tn_server_now(s));
  s->http.get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &h);
  const char *refused = why_refused(s, &h, method, path, &status);
  *request = changes && !refused ? (void *)new_body(s) : s; /* else anything: it has been here */
  if (refused) return send_plain(&s->http, connection, status, refused);
  return *request ? MHD_YES : MHD_NO;
}

/* The library calls when the headers are there, for each piece of the body, and when it is whole. What is
 * refused is refused the first time, before a body is read, and that ends the connection; what is answered
 * later may continue. */
enum MHD_Result tn_request_handle(void *context, tn_http_connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request) {
  tn_server *s = context;
  (void)version;
  tn_client *client = tn_server_client(s, connection);
  if (!client || client->state == TN_CLIENT_GONE) return MHD_NO;
  if (!*request) return begin(s, connection, client, url, method, request);
  if (*request != s) return take_body(s, connection, client, url, upload, upload_size, *request);
  int64_t run = tn_answer_events_of(url);
  return run > 0 ? tn_stream_begin(s, connection, client, run) : answer_path(s, connection, client, url);
}
#endif
