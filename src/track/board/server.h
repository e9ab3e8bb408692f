/* track/board/server.h: shared by the files of the server.
 *
 * One thread runs all of it: board.c the loop and the sockets, request.c
 * access and answers, stream.c the streams of events. Long work goes to the worker
 * (worker.h), and its connection is suspended meanwhile. */
#ifndef TN_BOARD_SERVER_H
#define TN_BOARD_SERVER_H

#include "track/board/http.h"
#include "track/board/worker.h"

typedef struct tn_stream tn_stream;
#define TN_TOKEN_LETTERS 64

typedef struct {
  const tn_board_options *options;
  const tn_board_limits *limits;
  tn_http http;
  struct MHD_Daemon *daemon;
  int listening; /* descriptor */
  int port;
  char token[TN_TOKEN_LETTERS + 1]; /* what a request that changes something must show */
  tn_clients clients;
  tn_worker worker;
  tn_stream *streams;
  double next_look; /* at the runs that are followed */
  double paused; /* no client is accepted until then: descriptors have run out */
} tn_server;

/* Seconds of the clock that deadlines are measured with. */
double tn_server_now(const tn_server *server);
/* The client of a connection; NULL: memory ran out when it came. */
tn_client *tn_server_client(const tn_server *server, tn_http_connection *connection);
/* Ends a connection. What it held is freed when the library closes it. */
void tn_server_dismiss(tn_server *server, tn_client *client);

/* ---- requests (request.c) ---- */

/* The library's handler of requests; `context` is the server. */
enum MHD_Result tn_request_handle(void *context, tn_http_connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request);
void tn_request_add_headers(const tn_http *http, tn_http_response *response, const char *type,
                            const char *policy);

/* Frees what was kept of a request while it came; *request is what the library keeps for the handler. */
void tn_request_forget(tn_server *server, void **request);
/* Sends the answers whose jobs are done. */
void tn_request_resume(tn_server *server);
/* Its job may continue, but not for this client. */
void tn_request_leave(tn_server *server, tn_client *client);

/* ---- streams (stream.c) ---- */

enum MHD_Result tn_stream_begin(tn_server *server, tn_http_connection *connection, tn_client *client,
                                int64_t run);
/* Looks what is new in the runs that are followed, and sends it. False: the history cannot be read now. */
bool tn_streams_look(tn_server *server);
/* Lets a stream end; NULL is fine. */
void tn_stream_end(tn_stream *stream);
/* Its client is about to be freed; NULL is fine. */
void tn_stream_leave(tn_stream *stream);
#endif
