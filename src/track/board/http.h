/* track/board/http.h: libmicrohttpd, loaded when the board is served and not before.
 *
 * It loads a dozen other libraries, which would make every start of tern a
 * millisecond slower, for a verb that is rarely used. */
#ifndef TN_BOARD_HTTP_H
#define TN_BOARD_HTTP_H

#include <microhttpd.h>
#include <stdbool.h>

typedef struct MHD_Connection tn_http_connection;
typedef struct MHD_Response tn_http_response;

/* The functions of the library that are used, under their names without the prefix. */
typedef struct {
  void *library;
  struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback policy,
                                     void *policy_context, MHD_AccessHandlerCallback handler,
                                     void *handler_context, ...);
  void (*stop_daemon)(struct MHD_Daemon *daemon);
  enum MHD_Result (*get_fdset)(struct MHD_Daemon *daemon, fd_set *reading, fd_set *writing, fd_set *failing,
                               MHD_socket *highest);
  enum MHD_Result (*get_timeout)(struct MHD_Daemon *daemon, MHD_UNSIGNED_LONG_LONG *milliseconds);
  enum MHD_Result (*run_from_select)(struct MHD_Daemon *daemon, const fd_set *reading, const fd_set *writing,
                                     const fd_set *failing);
  enum MHD_Result (*add_connection)(struct MHD_Daemon *daemon, MHD_socket descriptor,
                                    const struct sockaddr *address, socklen_t size);
  const union MHD_ConnectionInfo *(*get_connection_info)(tn_http_connection *connection,
                                                         enum MHD_ConnectionInfoType type, ...);
  int (*get_connection_values)(tn_http_connection *connection, enum MHD_ValueKind kind,
                               MHD_KeyValueIterator iterator, void *context);
  const char *(*lookup_connection_value)(tn_http_connection *connection, enum MHD_ValueKind kind,
                                         const char *key);
  void (*suspend_connection)(tn_http_connection *connection);
  void (*resume_connection)(tn_http_connection *connection);
  tn_http_response *(*create_response_from_buffer)(size_t size, void *buffer,
                                                   enum MHD_ResponseMemoryMode mode);
  tn_http_response *(*create_response_from_callback)(uint64_t size, size_t block,
                                                     MHD_ContentReaderCallback reader, void *context,
                                                     MHD_ContentReaderFreeCallback release);
  enum MHD_Result (*add_response_header)(tn_http_response *response, const char *name, const char *value);
  enum MHD_Result (*queue_response)(tn_http_connection *connection, unsigned status,
                                    tn_http_response *response);
  void (*destroy_response)(tn_http_response *response);
} tn_http;

/* False when the library is not there, or is not the one this was built for. */
bool tn_http_load(tn_http *http);
void tn_http_unload(tn_http *http);
#endif
