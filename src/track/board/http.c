/* track/board/http.c: loading libmicrohttpd. */
#include "track/board/board.h"

#ifdef TN_HAVE_MICROHTTPD
#include <dlfcn.h>
#include <string.h>

#include "track/board/http.h"

/* The name that its functions have had since version 0.9.71, the oldest with enum MHD_Result. */
#define LIBRARY "libmicrohttpd.so.12"

/* C knows no conversion from the address of data to that of a function; POSIX says they look alike. */
static bool find(tn_http *http, const char *name, void *function, size_t size) {
  void *found = dlsym(http->library, name);
  if (found && size == sizeof found) memcpy(function, &found, size);
  return found && size == sizeof found;
}

#define FIND(name) find(http, "MHD_" #name, &http->name, sizeof http->name)

bool tn_http_load(tn_http *http) {
  *http = (tn_http){ .library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL) };
  if (!http->library) return false;
  bool ok = FIND(start_daemon) && FIND(stop_daemon) && FIND(get_fdset) && FIND(get_timeout) &&
            FIND(run_from_select) && FIND(add_connection) && FIND(get_connection_info) &&
            FIND(get_connection_values) && FIND(lookup_connection_value) &&
            FIND(suspend_connection) && FIND(resume_connection) && FIND(create_response_from_buffer) &&
            FIND(create_response_from_callback) && FIND(add_response_header) && FIND(queue_response) &&
            FIND(destroy_response);
  if (!ok) tn_http_unload(http);
  return ok;
}

void tn_http_unload(tn_http *http) {
  if (http->library) dlclose(http->library);
  *http = (tn_http){ 0 };
}
#endif
