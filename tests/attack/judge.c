/* attack/judge.c: see judge.h. */
#define _XOPEN_SOURCE 700
#include "attack/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"

/* Every attempt has 3 seconds of its own (cases.c). A loaded machine makes any process slow, so what counts
 * is the processor time; the clock only ends what waits for something that never comes. */
#define MOST_CPU_SECONDS 10
#define MOST_SECONDS     120

const char *judged_name(judged what) {
  static const char *const names[JUDGED_COUNT] = {
    "fine",           "ended by a signal", "over 10 s",           "status 3",
    "unknown status", "fails silently",    "not one JSON object", "leaves a file"
  };
  return names[what];
}

/* Folders ---------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *where) {
  (void)about, (void)type;
  return where->level > 0 ? remove(path) : 0;
}

void empty_folder(const char *folder) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* A temporary of base/file_write.c: ".tern-0123456789abcdef.tmp". */
static int is_leftover(const char *path, const struct stat *about, int type, struct FTW *where) {
  const char *name = path + where->base;
  (void)about, (void)type;
  return strncmp(name, ".tern-", 6) == 0 && strstr(name, ".tmp");
}

static bool has_leftover(const char *folder) { return nftw(folder, is_leftover, 16, FTW_PHYS) == 1; }

/* Starting --------------------------------------------------------------- */

/* Streams lie beside the folder, so that they are not among the files of the attempt. */
static char *beside(const char *folder, const char *ending) {
  text path = { 0 };
  text_addf(&path, "%s%s", folder, ending);
  return path.bytes;
}

static void redirect(const char *path, int flags, int to) {
  int file = open(path, flags, 0600);
  if (file < 0 || dup2(file, to) < 0) _exit(126);
  close(file);
}

static _Noreturn void become(const attempt *a, const char *folder) {
  setpgid(0, 0);
  setrlimit(RLIMIT_CPU, &(struct rlimit){ MOST_CPU_SECONDS, MOST_CPU_SECONDS + 2 });
  setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
  setenv("XDG_DATA_HOME", beside(folder, "/.data"), 1);
  setenv("TERN_CORES", "1", 1); /* threads that wait would count as work */
  redirect(a->input.bytes ? beside(folder, ".in") : "/dev/null", O_RDONLY, 0);
  redirect(beside(folder, ".out"), O_WRONLY | O_CREAT | O_TRUNC, 1);
  redirect(beside(folder, ".err"), O_WRONLY | O_CREAT | O_TRUNC, 2);
  if (chdir(folder) != 0) _exit(126);
  execv(a->words[0], a->words);
  _exit(127);
}

/* The state of the child, or -1 when the clock had to end it. */
static int wait_for(pid_t child) {
  sigset_t ended;
  int state;
  struct timespec left = { .tv_sec = MOST_SECONDS };
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  while (waitpid(child, &state, WNOHANG) == 0) {
    if (sigtimedwait(&ended, NULL, &left) < 0 && errno == EAGAIN) {
      kill(-child, SIGKILL);
      waitpid(child, &state, 0);
      return -1;
    }
  }
  return state;
}

static text stream(const char *folder, const char *ending) {
  char *path = beside(folder, ending);
  text whole = read_file(path, NULL);
  free(path);
  return whole;
}

static void put_input(const attempt *a, const char *folder) {
  char *path = beside(folder, ".in");
  if (a->input.bytes) write_file(path, a->input);
  free(path);
}

static pid_t start(const attempt *a, const char *folder) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD); /* waited for, see wait_for */
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  pid_t child = fork();
  if (child < 0) die("fork: %s", strerror(errno));
  if (child == 0) {
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    become(a, folder);
  }
  return child;
}

/* Judging ---------------------------------------------------------------- */

static bool is_one_object(text out) {
  tn_heap heap = { 0 };
  tn_arena arena;
  tn_json_reader reader;
  tn_json_token token = { 0 };
  tn_arena_init(&arena, &heap);
  tn_json_init(&reader, (tn_str){ out.bytes, out.length }, &arena);
  bool object = tn_json_next(&reader, &token) == TN_JSON_OBJECT_BEGIN;
  while (token.kind > TN_JSON_END) tn_json_next(&reader, &token);
  tn_arena_free(&arena);
  return object && token.kind == TN_JSON_END;
}

static judged of_status(const attempt *a, int status, text out, text err) {
  if (status == 3) return JUDGED_BUG;
  if (status < 0 || status > 3) return JUDGED_STATUS;
  if (a->json && !is_one_object(out)) return JUDGED_JSON;
  return status != 0 && out.length + err.length == 0 ? JUDGED_SILENT : JUDGED_FINE;
}

static judged of_state(const attempt *a, int state, text out, text err) {
  if (state == -1) return JUDGED_HANG;
  if (WIFSIGNALED(state))
    return WTERMSIG(state) == SIGXCPU || WTERMSIG(state) == SIGKILL ? JUDGED_HANG : JUDGED_SIGNAL;
  return of_status(a, WEXITSTATUS(state), out, err);
}

judged judge(const attempt *a, const char *folder, bool *accepted) {
  put_input(a, folder);
  int state = wait_for(start(a, folder));
  text out = stream(folder, ".out"), err = stream(folder, ".err");
  judged found = of_state(a, state, out, err);
  *accepted = state != -1 && WIFEXITED(state) && WEXITSTATUS(state) == 0;
  if (found == JUDGED_FINE && has_leftover(folder)) found = JUDGED_LEFTOVER;
  free(out.bytes);
  free(err.bytes);
  return found;
}
