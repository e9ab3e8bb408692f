/* api/door.h: internals of a session for src/track and src/launch, which are not part of the
 * library.
 *
 * They use the library's memory, diagnostics and sandbox, so that an error in a
 * history of runs reads like any other. They include this header and the public
 * one, and nothing else of api/. */
#ifndef TN_API_DOOR_H
#define TN_API_DOOR_H

#include "base/text.h"
#include "cluster/transport.h"
#include "diag/diag.h"
#include "tern/tern.h"

tn_heap *tn_api_heap(tern_session *session);
tn_diags *tn_api_diags(tern_session *session);
/* The session's text, empty, for an answer; tn_api_text gives it to the caller. */
tn_text *tn_api_answer(tern_session *session);
/* The session's text, NUL-terminated, or NULL when memory ran out. */
const char *tn_api_text(tern_session *session);

/* A call begins: starts the clock of max_seconds, clears earlier diagnostics, printed lines and
 * interrupts that were noticed. */
void tn_api_begin(tern_session *session);
/* The same for what begins with a text: until the end of compiling a stop refuses memory. */
void tn_api_begin_compiling(tern_session *session);
void tn_api_end_compiling(tern_session *session);
/* After a failure: if memory ran out, or was refused because of an interrupt, later reports may
 * only be consequences, so that becomes the only report. Ends compiling. */
void tn_api_settle(tern_session *session);
/* Reports E_TIME_LIMIT. Returns false. */
bool tn_api_report_timeout(tern_session *session);
/* The status that follows from the session's diagnostics. */
tern_status tn_api_status(const tern_session *session);
/* Reports E_USAGE: `before`, the name, `after`. Returns false. */
bool tn_api_usage(tern_session *session, const char *before, tn_str name, const char *after);
/* tn_api_usage with a hint of its own. Returns false. */
bool tn_api_usage_hint(tern_session *session, const char *before, tn_str name, const char *after,
                       tn_str hint);

/* The sandbox. */
/* Enters the sandbox, if it is on and has not been entered. Every function that parses untrusted
 * text calls this first, after it has named what it needs. False after reporting. */
bool tn_api_confine(tern_session *session);
/* Names a path. Once the sandbox has been entered, or when it is not wanted, this does nothing. False after
 * reporting that memory ran out; so does the next. */
bool tn_api_keep_path(tern_session *session, tn_str path, tern_sandbox_access access);
/* The folder of a file that will be written: a temporary file is made there. */
bool tn_api_keep_folder_of(tern_session *session, const char *file);
/* Before the sandbox is entered: the process listens on a socket, and will answer there. */
void tn_api_serves(tern_session *session);
/* Before the sandbox is entered: the process has started others, and will wait for them or end them. */
void tn_api_has_children(tern_session *session);
/* Before the sandbox is entered: the sockets that are open send and receive, by whatever means MPI has. */
void tn_api_speaks(tern_session *session);
/* Whether naming a path still changes anything. */
bool tn_api_is_open(const tern_session *session);

/* The graph of a program as tern_emit draws it, with calls as boxes: those in `open` ("all", or their numbers
 * with commas between them) are shown with their operations. NULL after reporting. */
const char *tn_api_draw(tern_program *program, const char *open);

/* The next training runs in several processes, of which this is one. Borrowed; NULL: alone. */
void tn_api_join(tern_session *session, tn_transport *transport);
#endif
