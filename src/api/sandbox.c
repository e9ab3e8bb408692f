/* api/sandbox.c: what a program will still reach for, told to the guard.
 *
 * The languages say what their programs name, the command line what it names;
 * here the two become one policy, once in the life of a session. */
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"

#define SAME(name) ((int)TN_GUARD_##name == (int)TERN_ALLOW_##name)
_Static_assert(SAME(FILEREAD) && SAME(FILEWRITE) && SAME(CLOCK) && SAME(NETWORK),
               "a capability has one number");

/* A sanitizer looks at its own process when it ends, and coverage writes its counts then, by means that
 * the guard refuses. */
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
  if (!session->sealed) session->sandbox = mode;
}

static bool keep_path(tern_session *session, tn_str path, bool write) {
  size_t bytes = path.len + 1;
  char *copy = tn_heap_alloc(&session->heap, bytes);
  tn_guard_path kept = { copy, write ? TN_GUARD_WRITE : TN_GUARD_READ };
  if (copy) memcpy(copy, path.at, path.len);
  if (copy && tn_vec_push(&session->heap, &session->kept_paths, kept)) return true;
  tn_heap_free(&session->heap, copy, bytes);
  return tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
}

tern_status tern_sandbox_path(tern_session *session, const char *path, int write) {
  if (session->sealed && session->sandbox != TERN_SANDBOX_OFF) return TERN_USAGE;
  return keep_path(session, tn_str_of(path), write != 0) ? TERN_OK : TERN_FAILED;
}

bool tn_api_keep_folder_of(tern_session *session, const char *file) {
  const char *slash = strrchr(file, '/');
  if (session->sealed || session->sandbox == TERN_SANDBOX_OFF) return true;
  tn_str folder = { file, slash ? (size_t)(slash - file) : 0 };
  if (!slash) folder = TN_LIT(".");
  if (slash == file) folder = TN_LIT("/");
  return keep_path(session, folder, true);
}

void tn_api_sandbox_free(tern_session *session) {
  for (size_t i = 0; i < session->kept_paths.count; i++) {
    const char *path = session->kept_paths.at[i].path;
    tn_heap_free(&session->heap, (char *)(uintptr_t)path, strlen(path) + 1);
  }
  tn_vec_free(&session->heap, &session->kept_paths);
}

tern_sandbox_facts tern_sandbox_state(const tern_session *session) {
  tn_guard_support support = session->sealed ? session->support : tn_guard_supported();
  return (tern_sandbox_facts){ .landlock = support.landlock,
                               .seccomp = support.seccomp,
                               .possible = !INSTRUMENTED && (support.landlock > 0 || support.seccomp),
                               .files = session->guard.files,
                               .calls = session->guard.calls,
                               .alone = session->guard.alone };
}

/* ---- entering ---- */

/* The reaches behind the embedder's own paths. A path with a NUL in it is no path. */
static bool list_paths(tern_session *session, const tn_reach *reaches, size_t count, tn_arena *arena,
                       tn_guard_policy *policy) {
  static const tn_guard_access access[] = { TN_GUARD_NAMED, TN_GUARD_READ, TN_GUARD_WRITE };
  tn_guard_path *paths = tn_arena_array(arena, session->kept_paths.count + count + 1, sizeof *paths);
  if (!paths) return false;
  for (size_t i = 0; i < session->kept_paths.count; i++) paths[policy->count++] = session->kept_paths.at[i];
  for (size_t i = 0; i < count; i++) {
    if (reaches[i].path.len == 0 || memchr(reaches[i].path.at, 0, reaches[i].path.len)) continue;
    bool named = reaches[i].kind == TN_REACH_FILE;
    tn_str path =
        named ? tn_host_path(&session->host, reaches[i].path, arena) : tn_arena_str(arena, reaches[i].path);
    paths[policy->count++] = (tn_guard_path){ path.at, access[reaches[i].kind] };
  }
  policy->paths = paths;
  return !arena->failed;
}

/* Who has the thread library bind threads to cores has it ask the kernel for that. */
static bool binds_threads(void) {
  static const char *const names[] = { "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (getenv(names[i])) return true;
  }
  return false;
}

static const char *missing(const tern_session *session) {
  if (INSTRUMENTED) return "this build watches itself (sanitizers, coverage) by means that it forbids";
  if (session->support.landlock == 0) return "this kernel has no Landlock";
  if (!session->support.seccomp) return "this kernel has no seccomp filters";
  if (!session->guard.files) return "the kernel refused the Landlock rules";
  if (!session->guard.calls) return "the kernel refused the seccomp filter";
  return session->guard.alone ? NULL : "other threads run already, and it would not hold for them";
}

bool tn_api_seal(tern_session *session, const tn_reach *reaches, size_t count) {
  tn_api_end_compiling(session); /* whoever computes asks for interrupts where it can stop well */
  if (session->sealed || session->sandbox == TERN_SANDBOX_OFF) return true;
  tn_guard_policy policy = { .grants = session->host.capabilities,
                             .binds_threads = binds_threads(),
                             .serves = session->serves };
  tn_arena arena;
  tn_arena_init(&arena, &session->heap);
  bool ok = list_paths(session, reaches, count, &arena, &policy);
  if (!ok) tn_api_report_fault(session, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  session->support = tn_guard_supported();
  if (ok && !INSTRUMENTED) {
    tn_backend_prepare_threads();
    session->guard = tn_guard_enter(&policy);
  }
  session->sealed = ok;
  tn_arena_free(&arena);
  const char *wanting = ok && session->sandbox == TERN_SANDBOX_REQUIRE ? missing(session) : NULL;
  if (!wanting) return ok;
  return tn_report(&session->diags, TN_DIAG_E_SANDBOX_UNAVAILABLE, TN_NOWHERE, TN_STR("missing", wanting));
}
