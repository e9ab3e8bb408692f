/* cli/run.c: the verbs run, eval and app. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#if !defined(__wasi__)
#include <sys/wait.h>
#endif

/* Outputs of an untrained model look like predictions. */
static void say_random(const tn_run *run, tern_program *program) {
  const tn_command *command = run->command;
  bool given = tn_given_option(command, TN_OPTION_WEIGHTS) || tn_given_option(command, TN_OPTION_PARAM);
  bool quiet = command->json || tn_given_option(command, TN_OPTION_QUIET);
  tern_language language = command->language;
  if (language == TERN_LANG_AUTO) language = tern_language_of(command->words[0]);
  if (given || quiet || !isatty(2) || language != TERN_LANG_AIL || tern_param_count(program) == 0) return;
  fputs("note: the parameters are random; `tern train` trains them, and --weights loads them\n", stderr);
}

static tern_status run_program(tn_run *run, tern_program *program,
                               tern_status (*how)(tern_program *program)) {
  tern_status status;
  if (!run->command->json) tern_on_print(run->session, tn_cli_print, NULL);
  if (tn_cli_confine(run, &status)) {
    status = tn_cli_give(run, program);
    status = status == TERN_OK ? tn_cli_show(run, program, how(program)) : tn_cli_failed(run, status);
    if (status == TERN_OK && how == tern_run) say_random(run, program);
  }
  tern_program_free(program);
  return status;
}

static tern_status run_file(tn_run *run, tern_status (*how)(tern_program *program)) {
  tern_status status;
  if (!tn_cli_one_word(run, "a file", &status) || !tn_cli_device(run, &status)) return status;
  tern_program *program =
      tern_load_file(run->session, run->command->language, run->command->words[0], &status);
  return program ? run_program(run, program, how) : tn_cli_failed(run, status);
}

/* In a separate process, so that each run enters its own sandbox. */
#if defined(__wasi__)
static tern_status run_apart(tn_run *run) { return run_file(run, tern_run); } /* never: nothing is watched */
#else
static tern_status run_apart(tn_run *run) {
  int ended = 0;
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) return tn_cli_usage(run, "cannot start a process to run the file in", "");
  if (child == 0) {
    tern_start_clock(run->session); /* each run has its time */
    tern_status status = run_file(run, tern_run);
    _exit(tn_cli_flush() ? (int)status : TERN_FAILED);
  }
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(ended) ? (tern_status)WEXITSTATUS(ended) : TERN_FAILED;
}
#endif

/* Again and again, until a signal ends it. */
static tern_status run_watched(tn_run *run) {
  tn_watch watch;
  tern_status status;
  if (!tn_cli_one_word(run, "a file", &status)) return status;
  if (strcmp(run->command->words[0], "-") == 0)
    return tn_cli_usage(run, "standard input cannot be watched", "name a file");
  if (!tn_watch_begin(&watch, run->command->words[0]))
    return tn_cli_usage_about(run, "cannot watch ", run->command->words[0], "", "");
  do {
    status = run_apart(run);
  } while (tn_cli_take_signal() == TN_SIGNAL_NONE && tn_watch_wait(&watch));
  tn_watch_end(&watch);
  return status;
}

tern_status tn_cli_run(tn_run *run) {
  return tn_given_option(run->command, TN_OPTION_WATCH) ? run_watched(run) : run_file(run, tern_run);
}
tern_status tn_cli_app(tn_run *run) { return run_file(run, tern_run_app); }

tern_status tn_cli_eval(tn_run *run) {
  tern_status status;
  if (!tn_cli_one_word(run, "a text", &status) || !tn_cli_device(run, &status)) return status;
  const char *text = run->command->words[0];
  tern_language language = run->command->language != TERN_LANG_AUTO ? run->command->language : TERN_LANG_MIND;
  tern_program *program = tern_load(run->session, language, "<eval>", text, strlen(text));
  return program ? run_program(run, program, tern_run) : tn_cli_failed(run, TERN_FAILED);
}
