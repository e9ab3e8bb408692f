/* cli/common.c: shared by all verbs: results, errors, interrupts, files. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath */
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* ppoll */
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

#if !defined(__wasi__)
#include <poll.h>
#include <signal.h>
#include <time.h>

/* The state outside a session: the session that a signal stops, which signal came, and when. */
static tern_session *volatile interruptible;
static volatile sig_atomic_t caught;
static struct timespec caught_at; /* only the handler looks at it */

#define PATIENCE 0.2 /* seconds: a second signal after that ends the process; `timeout` sends two at once */

static double seconds_since(struct timespec then) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - then.tv_sec) + 1e-9 * (double)(now.tv_nsec - then.tv_nsec);
}

/* A second signal has its default action, because the first did not end the process. It is
 * delivered when this returns. */
static void on_interrupt(int signal_number) {
  int problem = errno;
  if (!caught) {
    (void)clock_gettime(CLOCK_MONOTONIC, &caught_at);
  } else if (seconds_since(caught_at) > PATIENCE) {
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigaction(signal_number, &usual, NULL);
    (void)raise(signal_number);
  }
  caught = signal_number;
  if (interruptible) tern_interrupt(interruptible);
  errno = problem;
}

tn_signal tn_cli_take_signal(void) {
  int signal_number = caught;
  caught = 0;
  return signal_number == 0 ? TN_SIGNAL_NONE : signal_number == SIGINT ? TN_SIGNAL_CANCEL : TN_SIGNAL_END;
}

/* Signals are blocked except inside ppoll, so that one that comes just before it still ends the waiting. */
bool tn_cli_wait_to_read(int descriptor) {
  struct pollfd waiting = { .fd = descriptor, .events = POLLIN };
  sigset_t ours, before;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  sigaddset(&ours, SIGHUP);
  sigprocmask(SIG_BLOCK, &ours, &before);
  while (!caught && ppoll(&waiting, 1, NULL, &before) < 0 && errno == EINTR) continue;
  sigprocmask(SIG_SETMASK, &before, NULL);
  return !caught;
}

void tn_cli_interrupts(tern_session *session) {
  struct sigaction action = { .sa_handler = session ? on_interrupt : SIG_DFL }; /* reads are not restarted */
  struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
  interruptible = session;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  bool kept = sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler == SIG_IGN; /* by nohup */
  if (!kept) sigaction(SIGHUP, &action, NULL);
  sigaction(SIGPIPE, &ignore, NULL); /* a closed pipe is a failed write, not a death */
#if defined(SIGXFSZ)
  sigaction(SIGXFSZ, &ignore, NULL); /* so is a file that may not grow: EFBIG */
#endif
}
static const tn_launch *volatile ranks;

/* SIGUSR1: the process that started this one is gone, or says that another one is. */
static void on_loss(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  bool child = signal_number == SIGCHLD;
  bool lost = !child || (ranks && tn_launch_is_loss(ranks, info->si_code));
  if (lost && interruptible) tern_interrupt(interruptible);
}

void tn_cli_interrupts_of_ranks(const tn_launch *launch, bool first) {
  static const int left_to_first[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction action = { .sa_flags = SA_SIGINFO | SA_NOCLDSTOP | SA_RESTART }; /* for writes */
  struct sigaction ignore = { .sa_handler = SIG_IGN };
  action.sa_sigaction = on_loss;
  ranks = launch;
  sigaction(first ? SIGCHLD : SIGUSR1, &action, NULL);
  for (int i = 0; i < 3 && !first; i++) sigaction(left_to_first[i], &ignore, NULL);
}
#else
/* WASI has no signals. */
void tn_cli_interrupts_of_ranks(const tn_launch *launch, bool first) { (void)launch, (void)first; }
void tn_cli_interrupts(tern_session *session) { (void)session; }
tn_signal tn_cli_take_signal(void) { return TN_SIGNAL_NONE; }
bool tn_cli_wait_to_read(int descriptor) { return descriptor >= 0; }
#endif

bool tn_cli_flush(void) {
  bool ok = fflush(stdout) == 0 && !ferror(stdout);
  if (!ok && errno != EPIPE) fprintf(stderr, "tern: cannot write to standard output: %s\n", strerror(errno));
  return ok;
}

void tn_cli_print(void *context, const char *line, size_t length) {
  (void)context;
  fwrite(line, 1, length, stdout);
  putchar('\n');
}

static void show(tn_run *run) {
  if (run->command->json) {
    const char *json = tern_failure_json(run->session);
    puts(json ? json : "{\"ok\":false,\"diagnostics\":[]}");
    return;
  }
  const char *text = run->instead;
  if (!text) text = tern_diagnostics_text(run->session, run->command->color);
  fflush(stdout);
  fputs(text ? text : "tern: out of memory\n", stderr);
}

/* Whether a rank leaves it to another one to show how it ended. */
static bool is_silent(tn_run *run, tern_status status) {
  bool shows = run->launch && status != TERN_OK && tn_launch_settle(run->launch);
  return run->command->silent && !shows;
}

tern_status tn_cli_failed(tn_run *run, tern_status status) {
  if (!is_silent(run, status)) show(run);
  return status;
}

/* The members of a JSON array, without its brackets, after those of earlier files. */
void tn_cli_add_json(tn_json_list *list, tn_run *run) {
  const char *array = tern_diagnostics_json(run->session);
  size_t length = array ? strlen(array) : 0;
  list->omitted += tern_diagnostics_omitted(run->session);
  if (length <= 2) return;
  if (list->shown++ > 0) putchar(',');
  fwrite(array + 1, 1, length - 2, stdout);
}

/* Something was not done as requested, in contrast to advice about a program. */
static bool has_placeless_warning(tn_run *run) {
  for (size_t i = 0; i < tern_diagnostic_count(run->session); i++) {
    if (!tern_diagnostic_at(run->session, i).file) return true;
  }
  return false;
}

void tn_cli_warnings(tn_run *run) {
  bool quiet = tn_given_option(run->command, TN_OPTION_QUIET) && !has_placeless_warning(run);
  if (run->command->json || run->command->silent || quiet) return;
  if (tern_diagnostic_count(run->session) > 0) show(run);
}

const char *tn_cli_shown(tn_run *run, const char *name) {
  const char *shown = tern_shown(run->session, name);
  return shown ? shown : "?";
}

tern_status tn_cli_usage(tn_run *run, const char *message, const char *hint) {
  char room[256];
  tern_clear_diagnostics(run->session);
  if (!hint) tn_cli_hint_verb(run->command->verb, room, sizeof room);
  if (!hint) hint = room;
  return tn_cli_failed(run, tern_report_usage(run->session, message, hint));
}

tern_status tn_cli_usage_about(tn_run *run, const char *before, const char *word, const char *after,
                               const char *hint) {
  char message[512];
  snprintf(message, sizeof message, "%s%.300s%s", before, word, after);
  return tn_cli_usage(run, message, hint);
}

tern_status tn_cli_cannot(tn_run *run, const char *do_what, const char *path) {
  char before[32], after[128];
  snprintf(before, sizeof before, "cannot %s ", do_what);
  snprintf(after, sizeof after, ": %s", strerror(errno));
  return tn_cli_usage_about(run, before, path, after, "");
}

bool tn_cli_no_words(tn_run *run, tern_status *status) {
  if (run->command->word_count == 0) return true;
  char before[64];
  snprintf(before, sizeof before, "tern %s takes no arguments; what is ",
           tn_verb_info_of(run->command->verb)->name);
  *status = tn_cli_usage_about(run, before, run->command->words[0], "?", NULL);
  return false;
}

bool tn_cli_one_word(tn_run *run, const char *what, tern_status *status) {
  const tn_verb_info *verb = tn_verb_info_of(run->command->verb);
  if (run->command->word_count == 1) return true;
  char message[256];
  const char *hint = NULL;
  if (run->command->verb == TN_VERB_EVAL && run->command->word_count > 1 && run->command->words[0][0] == '-')
    hint = "the word after eval is the source, even if it begins with a minus; options come after it, as in "
           "`tern eval '1 2 [ADD] [PRINT]' --lang ninth`";
  if (run->command->word_count == 0)
    snprintf(message, sizeof message, "tern %s needs %s: tern %s %s", verb->name, what, verb->name,
             verb->arguments);
  else
    snprintf(message, sizeof message, "tern %s takes one %s; what is %.100s?", verb->name,
             strchr(what, ' ') + 1, run->command->words[1]);
  *status = tn_cli_usage(run, message, hint);
  return false;
}

static bool is_named_earlier(const tn_command *command, size_t index) {
  const tn_setting *s = &command->settings[index];
  for (size_t i = 0; i < index; i++) {
    const tn_setting *earlier = &command->settings[i];
    if (earlier->option == s->option && strcmp(earlier->name, s->name) == 0) return true;
  }
  return false;
}

static tern_status refuse_repeated(tn_run *run, const tn_setting *s) {
  const char *option = tn_option_info_of(s->option)->name;
  char message[160];
  snprintf(message, sizeof message, "--%s %.100s is given twice", option, s->name);
  return tern_report_usage(run->session, message, "a name has one value");
}

/* Ninth takes inputs in their order, whatever they are called; a later one without a name replaces none. */
static tern_status give_input(tn_run *run, tern_program *program, const tn_setting *s, bool repeated) {
  const tn_command *command = run->command;
  tern_language language = command->language;
  if (language == TERN_LANG_AUTO && command->word_count > 0) language = tern_language_of(command->words[0]);
  if (repeated && language != TERN_LANG_NINTH) return refuse_repeated(run, s);
  return tern_set_input_text(program, repeated ? "" : s->name, s->value);
}

tern_status tn_cli_give(tn_run *run, tern_program *program) {
  tern_status status = TERN_OK;
  const char *weights = run->command->value[TN_OPTION_WEIGHTS];
  if (weights) status = tern_set_weights(program, weights);
  for (size_t i = 0; i < run->command->setting_count && status == TERN_OK; i++) {
    const tn_setting *s = &run->command->settings[i];
    bool repeated = is_named_earlier(run->command, i);
    switch (s->option) {
      case TN_OPTION_INPUT: status = give_input(run, program, s, repeated); break;
      case TN_OPTION_PARAM:
        status = repeated ? refuse_repeated(run, s) : tern_set_param_text(program, s->name, s->value);
        break;
      case TN_OPTION_SET:
        status = repeated                                ? refuse_repeated(run, s)
                 : run->command->verb == TN_VERB_TRAIN ? tern_set_field(program, s->name, s->value)
                                                       : tern_set_host_text(program, s->name, s->value);
        break;
      case TN_OPTION_EVENT: status = tern_add_event(program, s->name); break;
      default: break;
    }
  }
  return status;
}

tern_status tn_cli_show(tn_run *run, tern_program *program, tern_status status) {
  if (is_silent(run, status)) return status;
  if (run->command->json) {
    const char *json = tern_result_json(program);
    puts(json ? json : "{\"ok\":false,\"diagnostics\":[]}");
    bool failed_late = status == TERN_OK && (!json || tern_error_count(run->session) > 0);
    return failed_late ? tern_failure_status(run->session) : status;
  }
  const char *text = tern_result_text(program);
  if (text) fputs(text, stdout);
  if (status != TERN_OK) return tn_cli_failed(run, status);
  tn_cli_warnings(run);
  return status;
}

bool tn_cli_to_standard_output(const char *path) {
  return !path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}
