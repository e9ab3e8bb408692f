/* api/sandbox.c: enters the sandbox before anything untrusted is parsed, with the rights that are
 * still needed.
 *
 * The sandbox has two layers, and each can only take away.
 *
 *   confine   before the first byte of a program, of weights, of a database or of a record is parsed: what
 *             the command line (or the embedder) names, the folder that a program may import from, and what
 *             a capability grants as a whole
 *   narrow    when the program is compiled and about to compute: what was needed for loading is dropped, of
 *             `fileread` for the whole disk only the files stay that the program opens, and of `filewrite`
 *             the folders of those that it saves
 *
 * Every function of the interface that parses calls tn_api_confine first; a language calls host->seal, which
 * narrows. Where nothing is dropped there is no second layer. */
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/folder.h"

#define SAME(name) ((int)TN_GUARD_##name == (int)TERN_ALLOW_##name)
_Static_assert(SAME(FILEREAD) && SAME(FILEWRITE) && SAME(CLOCK) && SAME(NETWORK),
               "a capability has one number");

/* A sanitizer inspects its own process when it ends, and coverage writes its counters then, with
 * calls that the guard refuses. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TN_COVERAGE)
#define INSTRUMENTED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define INSTRUMENTED true
#endif
#endif
#ifndef INSTRUMENTED
#define INSTRUMENTED false
#endif

void tern_sandbox(tern_session *session, tern_sandbox_mode mode) {
  if (!session->confined) session->sandbox = mode;
}

/* ---- what is named ---- */

bool tn_api_is_open(const tern_session *session) {
  return session->sandbox != TERN_SANDBOX_OFF && !session->confined;
}

static bool keep(tern_session *session, tn_str path, tn_guard_access access, bool loading) {
  if (!tn_api_is_open(session) || path.len == 0) return true;
  size_t known = session->kept_paths.count; /* many files of one folder are named one after the other */
  for (size_t i = known > 4 ? known - 4 : 0; i < known; i++) {
    const tn_kept_path *kept = &session->kept_paths.at[i];
    if (kept->access == access && kept->loading == loading && tn_str_is(path, kept->path)) return true;
  }
  size_t bytes = path.len + 1;
  char *copy = tn_heap_alloc(&session->heap, bytes);
  if (copy) memcpy(copy, path.at, path.len);
  tn_kept_path kept = { copy, access, loading };
  if (copy && tn_vec_push(&session->heap, &session->kept_paths, kept)) return true;
  tn_heap_free(&session->heap, copy, bytes);
  return tn_api_out_of_memory(session);
}

bool tn_api_keep_path(tern_session *session, tn_str path, tern_sandbox_access access) {
  tn_guard_access right = access == TERN_SANDBOX_WRITE ? TN_GUARD_WRITE : TN_GUARD_READ;
  return keep(session, path, right, access == TERN_SANDBOX_LOAD);
}

tern_status tern_sandbox_path(tern_session *session, const char *path, tern_sandbox_access access) {
  if (session->confined && session->sandbox != TERN_SANDBOX_OFF) return TERN_USAGE;
  if ((unsigned)access > TERN_SANDBOX_LOAD) return TERN_USAGE;
  return tn_api_keep_path(session, tn_str_of(path), access) ? TERN_OK : TERN_FAILED;
}

/* "a/b" of "a/b/c"; "." of "c", and "/" of "/c". */
static tn_str folder_of(tn_str file) {
  size_t length = file.len;
  while (length > 0 && file.at[length - 1] != '/') length--;
  if (length == 0) return TN_LIT(".");
  return (tn_str){ file.at, length > 1 ? length - 1 : 1 };
}

bool tn_api_keep_folder_of(tern_session *session, const char *file) {
  return tn_api_keep_path(session, folder_of(tn_str_of(file)), TERN_SANDBOX_WRITE);
}

/* Only MIND has imports, and they lie in or below the folder of the program. */
bool tn_api_keep_imports(tern_session *session, tern_language language, tn_str name) {
  if (language != TERN_LANG_MIND) return true;
  return tn_api_keep_path(session, folder_of(name), TERN_SANDBOX_LOAD);
}

tern_status tern_sandbox_program(tern_session *session, tern_language language, const char *path) {
  tn_str name = tn_str_of(path);
  if (language == TERN_LANG_AUTO) language = tern_language_of(path);
  if (tn_str_is(name, "-")) name = TN_LIT("<stdin>");
  bool ok = tn_api_keep_path(session, name, TERN_SANDBOX_LOAD);
  return ok && tn_api_keep_imports(session, language, name) ? TERN_OK : TERN_FAILED;
}

static bool make_folder(tern_session *session, tn_str folder, tn_file_status *status) {
  tn_text path;
  tn_text_init(&path, &session->heap);
  tn_text_add(&path, folder);
  *status = path.failed ? TN_FILE_NO_MEMORY : tn_file_make_folders(&session->heap, path.at);
  tn_text_free(&path);
  return *status == TN_FILE_OK;
}

/* The session removes folders that it created if they stay empty: a training that is refused leaves
 * nothing, even if its data or checkpoint are found to be wrong inside the sandbox. So it keeps the
 * right to remove them. */
static bool remember_made(tern_session *session, tn_str folder, size_t there) {
  if (session->made_folder || there == folder.len) return true;
  char *copy = tn_heap_alloc(&session->heap, folder.len + 1);
  if (!copy) return tn_api_out_of_memory(session);
  memcpy(copy, folder.at, folder.len + 1);
  session->made_folder = copy;
  session->made_there = there;
  return keep(session, there > 0 ? (tn_str){ folder.at, there } : TN_LIT("."), TN_GUARD_UNMAKE, false);
}

static bool keep_run_folder(tern_session *session, const char *folder) {
  tn_file_status status;
  size_t there = tn_file_existing(&session->heap, folder);
  if (!make_folder(session, tn_str_of(folder), &status))
    return tn_report(&session->diags, TN_DIAG_E_FILE_WRITE, TN_NOWHERE, TN_STR("path", folder),
                     TN_STR("reason", tn_file_status_text(status)));
  return remember_made(session, tn_str_of(folder), there) &&
         tn_api_keep_path(session, tn_str_of(folder), TERN_SANDBOX_WRITE);
}

/* A folder that a run is resumed in is there, or the run fails; it is not made. */
bool tn_api_keep_run(tern_session *session, const tern_train_run *run) {
  if (session->confined) return true;
  bool resumed = run->resume && run->out &&
                 (strcmp(run->out, run->resume) == 0 || tn_folder_same(run->out, run->resume));
  if (run->out) tn_file_clear_leftovers(run->out); /* a folder cannot be listed inside */
  if (resumed && !tn_api_keep_path(session, tn_str_of(run->out), TERN_SANDBOX_WRITE)) return false;
  if (run->recorded && !tn_api_keep_path(session, tn_str_of(run->recorded), TERN_SANDBOX_READ)) return false;
  if (run->resume && !tn_api_keep_path(session, tn_str_of(run->resume), TERN_SANDBOX_READ)) return false;
  return !run->out || resumed || keep_run_folder(session, run->out);
}

void tn_api_serves(tern_session *session) { session->serves = true; }
void tn_api_speaks(tern_session *session) { session->speaks = true; }
void tn_api_has_children(tern_session *session) { session->has_children = true; }

tern_status tern_sandbox_run(tern_session *session, const tern_train_run *run) {
  return tn_api_keep_run(session, run) ? TERN_OK : TERN_FAILED;
}

void tn_api_drop_made(tern_session *session) {
  if (!session->made_folder) return;
  tn_file_remove_folders(session->made_folder, session->made_there);
  tn_heap_free(&session->heap, session->made_folder, strlen(session->made_folder) + 1);
  session->made_folder = NULL;
}

void tn_api_sandbox_free(tern_session *session) {
  tn_api_drop_made(session);
  for (size_t i = 0; i < session->kept_paths.count; i++) {
    const char *path = session->kept_paths.at[i].path;
    tn_heap_free(&session->heap, (char *)(uintptr_t)path, strlen(path) + 1);
  }
  tn_vec_free(&session->heap, &session->kept_paths);
}

tern_sandbox_facts tern_sandbox_state(const tern_session *session) {
  tn_guard_support support = session->confined ? session->support : tn_guard_supported();
  return (tern_sandbox_facts){ .landlock = support.landlock,
                               .seccomp = support.seccomp,
                               .possible = !INSTRUMENTED && (support.landlock > 0 || support.seccomp),
                               .files = session->guard.files,
                               .calls = session->guard.calls,
                               .alone = session->guard.alone };
}

/* ---- policies ---- */

/* FILEREAD for the whole disk: no folder limits it. */
static bool reads_everywhere(const tern_session *session) {
  return (session->host.capabilities & TN_CAP_FILEREAD) && session->host.readable_count == 0;
}

static bool writes_everywhere(const tern_session *session) {
  return (session->host.capabilities & TN_CAP_FILEWRITE) && session->host.writable_count == 0;
}

/* Room for the paths of a policy, and those of the session in it. `loading` keeps what is dropped later. */
static tn_guard_path *list_kept(tern_session *session, bool loading, size_t more, tn_arena *arena,
                                size_t *count) {
  const tn_host *host = &session->host;
  size_t most = session->kept_paths.count + host->readable_count + host->writable_count + more + 1;
  tn_guard_path *paths = tn_arena_array(arena, most, sizeof *paths);
  *count = 0;
  for (size_t i = 0; paths && i < session->kept_paths.count; i++) {
    const tn_kept_path *kept = &session->kept_paths.at[i];
    if (loading || !kept->loading) paths[(*count)++] = (tn_guard_path){ kept->path, kept->access };
  }
  for (size_t i = 0; paths && i < host->readable_count; i++)
    paths[(*count)++] = (tn_guard_path){ host->readable[i].real.at, TN_GUARD_READ };
  for (size_t i = 0; paths && i < host->writable_count; i++)
    paths[(*count)++] = (tn_guard_path){ host->writable[i].real.at, TN_GUARD_WRITE };
  return paths;
}

static tn_guard_policy policy_of(const tern_session *session, const tn_guard_path *paths, size_t count) {
  return (tn_guard_policy){ .grants = session->host.capabilities,
                            .paths = paths,
                            .count = count,
                            .serves = session->serves,
                            .speaks = session->speaks,
                            .has_children = session->has_children,
                            .has_card = session->card != NULL };
}

/* ---- entering ---- */

static const char *missing(const tern_session *session) {
  if (INSTRUMENTED) return "this build has sanitizers or coverage, which need calls that it forbids";
  if (session->support.landlock == 0) return "this kernel has no Landlock";
  if (!session->support.seccomp) return "this kernel has no seccomp filters";
  if (!session->guard.files) return "the kernel refused the Landlock rules";
  if (!session->guard.calls) return "the kernel refused the seccomp filter";
  return session->guard.alone ? NULL : "other threads already run, and it would not apply to them";
}

/* Whether everything that was requested is in force. */
static bool is_enough(tern_session *session) {
  const char *wanting = session->sandbox == TERN_SANDBOX_REQUIRE ? missing(session) : NULL;
  if (!wanting) return true;
  return tn_report(&session->diags, TN_DIAG_E_SANDBOX_UNAVAILABLE, TN_NOWHERE, TN_STR("missing", wanting));
}

static bool has_loading_paths(const tern_session *session) {
  for (size_t i = 0; i < session->kept_paths.count; i++) {
    if (session->kept_paths.at[i].loading) return true;
  }
  return false;
}

bool tn_api_confine(tern_session *session) {
  if (!tn_api_is_open(session)) return session->sandbox == TERN_SANDBOX_OFF || is_enough(session);
  tn_arena arena;
  size_t count;
  tn_arena_init(&arena, &session->heap);
  tn_guard_path *paths = list_kept(session, true, 2, &arena, &count);
  if (paths && reads_everywhere(session)) paths[count++] = (tn_guard_path){ "/", TN_GUARD_READ };
  if (paths && writes_everywhere(session)) paths[count++] = (tn_guard_path){ "/", TN_GUARD_WRITE };
  session->support = tn_guard_supported();
  bool everywhere = reads_everywhere(session) || writes_everywhere(session);
  session->narrows = !session->serves && (has_loading_paths(session) || everywhere);
  tn_guard_policy policy = policy_of(session, paths, count);
  policy.narrows = session->narrows;
  if (paths && !INSTRUMENTED) session->guard = tn_guard_enter(&policy);
  session->confined = paths != NULL;
  tn_arena_free(&arena);
  return session->confined ? is_enough(session) : tn_api_out_of_memory(session);
}

tern_status tern_sandbox_enter(tern_session *session) {
  return tn_api_confine(session) ? TERN_OK : TERN_FAILED;
}

/* The files that the program opens, after what is kept. A path with a NUL in it is no path. Folders that
 * `fileread` was granted for stay as they are. */
static bool list_opened(tern_session *session, const tn_str *opened, size_t opened_count, tn_arena *arena,
                        tn_guard_path **paths, size_t *count) {
  const tn_host *host = &session->host;
  *paths = list_kept(session, false, opened_count + host->saved_count, arena, count);
  if (!*paths) return false;
  for (size_t i = 0; writes_everywhere(session) && i < host->saved_count; i++) {
    tn_str folder = folder_of(tn_host_path(host, host->saved[i], arena));
    if (arena->failed || memchr(folder.at, 0, folder.len)) continue;
    (*paths)[(*count)++] = (tn_guard_path){ tn_arena_str(arena, folder).at, TN_GUARD_WRITE };
  }
  for (size_t i = 0; reads_everywhere(session) && i < opened_count; i++) {
    if (opened[i].len == 0 || memchr(opened[i].at, 0, opened[i].len)) continue;
    tn_str path = tn_host_path(&session->host, opened[i], arena);
    (*paths)[(*count)++] = (tn_guard_path){ path.at, TN_GUARD_NAMED };
  }
  return !arena->failed;
}

static void narrow(tern_session *session, const tn_guard_policy *policy) {
  tn_guard_state inner = tn_guard_narrow(policy);
  session->guard.files = session->guard.files && inner.files;
  session->guard.calls = session->guard.calls && inner.calls;
  session->guard.alone = session->guard.alone && inner.alone;
}

bool tn_api_seal(tern_session *session, const tn_str *opened, size_t opened_count) {
  tn_api_end_compiling(session); /* computing checks for interrupts where it can stop well */
  if (!tn_api_confine(session)) return false;
  if (!session->narrows || session->sandbox == TERN_SANDBOX_OFF) return true;
  tn_arena arena;
  tn_guard_path *paths;
  size_t count;
  tn_arena_init(&arena, &session->heap);
  bool ok = list_opened(session, opened, opened_count, &arena, &paths, &count);
  tn_guard_policy policy = policy_of(session, paths, count);
  if (ok && !INSTRUMENTED) narrow(session, &policy);
  if (ok) session->narrows = false;
  tn_arena_free(&arena);
  return ok ? is_enough(session) : tn_api_out_of_memory(session);
}
