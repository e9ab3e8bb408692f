/* api/file.c: reads and writes files for callers of the library, as tern does.
 *
 * The program itself never writes files directly: it uses these functions, and so base/file.h. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"

struct tern_target {
  tern_session *session;
  tn_file_target found;
  char *path;
  size_t path_bytes;
  tn_file_writer writer; /* once something was added */
  bool writes;
};

static const char *reason(tn_file_status status) {
  return status == TN_FILE_NOT_FOUND ? "its folder does not exist" : tn_file_status_text(status);
}

static const char *advice(tn_file_status status) {
  switch (status) {
    case TN_FILE_LINK_OUT: return "name the file that the link leads to, or remove the link";
    case TN_FILE_NOT_PLAIN: return "tern writes plain files only; without -o it writes to standard output";
    case TN_FILE_NOT_FOUND: return "tern does not make folders for files; `mkdir -p` does";
    default: return "check the folder, its permissions and the free space";
  }
}

/* "cannot write x.svg: permission denied" */
static tern_status cannot(tern_session *session, const char *do_what, const char *path, tn_file_status status,
                          const char *why, const char *hint) {
  tn_text message;
  if (status == TN_FILE_NO_MEMORY) {
    tn_api_out_of_memory(session);
    return TERN_FAILED;
  }
  tn_text_init(&message, &session->heap);
  tn_text_puts(&message, do_what);
  tn_text_puts(&message, path);
  tn_text_puts(&message, ": ");
  tn_text_puts(&message, why);
  tern_report_usage(session, message.failed ? why : message.at, hint);
  tn_text_free(&message);
  return TERN_USAGE;
}

static tern_status cannot_write(tern_session *session, const char *path, tn_file_status status) {
  return cannot(session, "cannot write ", path, status, reason(status), advice(status));
}

const char *tern_read_file(tern_session *session, const char *path, size_t limit, size_t *length) {
  tn_file_bytes bytes;
  tn_file_status status = tn_file_read(&session->heap, path, limit, NULL, &bytes);
  if (status != TN_FILE_OK) {
    cannot(session, "cannot read ", path, status, tn_file_status_text(status), NULL);
    return NULL;
  }
  if (length) *length = bytes.len;
  tn_text_clear(&session->text);
  tn_text_add(&session->text, (tn_str){ bytes.at, bytes.len });
  tn_file_release(&session->heap, &bytes);
  return tn_api_text(session);
}

static tern_target *new_target(tern_session *session, const char *path) {
  tern_target *target = tn_heap_alloc(&session->heap, sizeof *target);
  if (!target) return NULL;
  *target = (tern_target){ .session = session, .found = { .folder = -1 }, .path_bytes = strlen(path) + 1 };
  target->path = tn_heap_alloc(&session->heap, target->path_bytes);
  if (target->path) {
    memcpy(target->path, path, target->path_bytes);
    return target;
  }
  tern_target_free(target);
  return NULL;
}

tern_target *tern_target_open(tern_session *session, const char *path) {
  tern_target *target = new_target(session, path);
  if (!target) {
    cannot_write(session, path, TN_FILE_NO_MEMORY);
    return NULL;
  }
  tn_file_status status = tn_file_find(&target->found, path, NULL);
  if (status != TN_FILE_OK) cannot_write(session, path, status);
  if (status == TN_FILE_OK && tn_api_keep_folder_of(session, path)) return target;
  tern_target_free(target);
  return NULL;
}

tern_status tern_target_write(tern_target *target, const void *bytes, size_t length) {
  tn_file_writer writer;
  tern_session *session = target->session;
  tn_file_status status = tn_file_begin_at(&writer, &session->heap, &target->found, NULL);
  if (status == TN_FILE_OK) {
    tn_file_write(&writer, bytes, length);
    status = tn_file_commit(&writer);
  }
  return status == TN_FILE_OK ? TERN_OK : cannot_write(session, target->path, status);
}

static tern_status begin(tern_target *target) {
  tern_session *session = target->session;
  if (target->writes) return TERN_OK;
  tn_file_status status = tn_file_begin_at(&target->writer, &session->heap, &target->found, NULL);
  target->writes = status == TN_FILE_OK;
  return target->writes ? TERN_OK : cannot_write(session, target->path, status);
}

static tern_status outcome(const tern_target *target, tn_file_status status) {
  return status == TN_FILE_OK ? TERN_OK : cannot_write(target->session, target->path, status);
}

tern_status tern_target_add(tern_target *target, const void *bytes, size_t length) {
  tern_status status = begin(target);
  return status == TERN_OK ? outcome(target, tn_file_write(&target->writer, bytes, length)) : status;
}

tern_status tern_target_rewrite(tern_target *target, const void *bytes, size_t length) {
  tern_status status = begin(target);
  return status == TERN_OK ? outcome(target, tn_file_rewrite(&target->writer, bytes, length)) : status;
}

tern_status tern_target_commit(tern_target *target) {
  tern_status status = begin(target);
  if (status != TERN_OK) return status;
  target->writes = false;
  return outcome(target, tn_file_commit(&target->writer));
}

void tern_target_free(tern_target *target) {
  if (!target) return;
  if (target->writes) tn_file_abandon(&target->writer);
  tn_heap *heap = &target->session->heap;
  tn_file_forget(&target->found);
  tn_heap_free(heap, target->path, target->path_bytes);
  tn_heap_free(heap, target, sizeof *target);
}

tern_status tern_write_file(tern_session *session, const char *path, const void *bytes, size_t length) {
  tern_target *target = tern_target_open(session, path);
  if (!target) return tern_failure_status(session);
  tern_status status = tern_target_write(target, bytes, length);
  tern_target_free(target);
  return status;
}
