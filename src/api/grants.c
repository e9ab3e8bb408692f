/* api/grants.c: the capabilities that a session's programs were granted.
 *
 * A capability is granted whole or, for files, beneath folders. A folder is looked up once, when it
 * is granted; a folder that takes its name later is not granted. The languages call tn_host_find to
 * check; the sandbox passes the grants to the kernel. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"

static const struct {
  const char *name;
  unsigned bit;
  bool takes_folder;
} capabilities[] = {
  { "fileread", TERN_ALLOW_FILEREAD, true },
  { "filewrite", TERN_ALLOW_FILEWRITE, true },
  { "clock", TERN_ALLOW_CLOCK, false },
  { "network", TERN_ALLOW_NETWORK, false },
};
#define CAPABILITY_COUNT (sizeof capabilities / sizeof *capabilities)

static void release(tern_session *session, const tn_granted *folder) {
  if (folder->name.at) tn_heap_free(&session->heap, (char *)(uintptr_t)folder->name.at, folder->name.len + 1);
  if (folder->real.at) tn_heap_free(&session->heap, (char *)(uintptr_t)folder->real.at, folder->real.len + 1);
}

void tn_api_grants_free(tern_session *session) {
  for (size_t i = 0; i < session->readable.count; i++) release(session, &session->readable.at[i]);
  for (size_t i = 0; i < session->writable.count; i++) release(session, &session->writable.at[i]);
  tn_vec_free(&session->heap, &session->readable);
  tn_vec_free(&session->heap, &session->writable);
}

static bool copy_str(tern_session *session, tn_str text, tn_str *out) {
  char *copy = tn_heap_alloc(&session->heap, text.len + 1);
  if (!copy) return tn_api_out_of_memory(session);
  memcpy(copy, text.at, text.len);
  copy[text.len] = 0;
  *out = (tn_str){ copy, text.len };
  return true;
}

/* A grant for everything is not limited by one for a folder, whichever was first. */
static void tell_host(tern_session *session) {
  tn_host *host = &session->host;
  host->readable = session->readable.at;
  host->readable_count = session->everywhere & TERN_ALLOW_FILEREAD ? 0 : session->readable.count;
  host->writable = session->writable.at;
  host->writable_count = session->everywhere & TERN_ALLOW_FILEWRITE ? 0 : session->writable.count;
}

static bool keep_folder(tern_session *session, unsigned bit, const char *name, tn_str real) {
  tn_granted folder = { 0 };
  bool ok = copy_str(session, tn_str_of(name), &folder.name) && copy_str(session, real, &folder.real);
  bool reads = bit == TERN_ALLOW_FILEREAD;
  bool kept = ok && (reads ? tn_vec_push(&session->heap, &session->readable, folder)
                           : tn_vec_push(&session->heap, &session->writable, folder));
  if (ok && !kept) ok = tn_api_out_of_memory(session);
  if (!ok) release(session, &folder);
  return ok;
}

/* "fileread=d: there is no such folder". */
static bool no_folder(tern_session *session, const char *capability, const char *name,
                      tn_file_status status) {
  tn_text wish;
  if (status == TN_FILE_NO_MEMORY)
    return tn_api_out_of_memory(session);
  tn_text_init(&wish, &session->heap);
  tn_text_puts(&wish, capability);
  tn_text_byte(&wish, '=');
  tn_text_puts(&wish, name);
  tn_api_usage(session, "", tn_text_str(&wish),
               status == TN_FILE_NOT_FOUND       ? ": there is no such folder"
               : status == TN_FILE_NOT_DIRECTORY ? ": it is not a folder"
                                                 : ": it cannot be examined");
  tn_text_free(&wish);
  return false;
}

static bool grant_folder(tern_session *session, unsigned bit, const char *capability, const char *name) {
  tn_text real;
  tn_text_init(&real, &session->heap);
  tn_file_status status = tn_file_find_folder(name, &real);
  bool ok = status == TN_FILE_OK ? keep_folder(session, bit, name, tn_text_str(&real))
                                 : no_folder(session, capability, name, status);
  tn_text_free(&real);
  return ok;
}

static bool no_such_capability(tern_session *session, const char *name) {
  return tn_api_usage(session, "there is no capability ", tn_str_of(name),
                      "; there are fileread, filewrite, clock, network, fileread=DIR and filewrite=DIR");
}

static bool allow(tern_session *session, const char *capability, const char *folder) {
  for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
    if (strcmp(capability, capabilities[i].name) != 0) continue;
    unsigned bit = capabilities[i].bit;
    if (folder && !capabilities[i].takes_folder)
      return tn_api_usage(session, "", tn_str_of(capability), " is granted as a whole, not for a folder");
    if (folder && !grant_folder(session, bit, capability, folder)) return false;
    if (!folder) session->everywhere |= bit;
    session->host.capabilities |= bit;
    tell_host(session);
    return true;
  }
  return no_such_capability(session, capability);
}

tern_status tern_allow(tern_session *session, const char *capability, const char *folder) {
  if (session->confined) {
    tn_api_usage(session, "", tn_str_of(capability), " cannot be granted any more: the sandbox was entered");
    return TERN_USAGE;
  }
  return allow(session, capability, folder) ? TERN_OK : tn_api_status(session);
}
