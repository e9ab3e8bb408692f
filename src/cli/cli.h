/* cli/cli.h: the program, on the public interface only.
 *
 * main.c reads the command line by the table in options.def and calls one
 * function per verb, each in a file of its own. Standard output carries
 * results, standard error messages; with --json one object goes to
 * standard output and standard error stays empty. */
#ifndef TN_CLI_CLI_H
#define TN_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "launch/launch.h"
#include "tern/tern.h"

typedef enum {
#define TN_VERB(id, ...) TN_VERB_##id,
#include "cli/options.def"
  TN_VERB_COUNT
} tn_verb;

typedef enum {
#define TN_OPTION(id, ...) TN_OPTION_##id,
#include "cli/options.def"
  TN_OPTION_COUNT
} tn_option;

typedef struct {
  tn_verb verb;
  const char *name, *arguments, *help, *examples;
} tn_verb_info;

typedef struct {
  tn_option option;
  const char *name;
  char letter;
  const char *argument;
  unsigned verbs;
  const char *help;
} tn_option_info;

const tn_verb_info *tn_verb_info_of(tn_verb verb);
const tn_option_info *tn_option_info_of(tn_option option);

/* A repeatable option with NAME=VALUE. */
typedef struct {
  tn_option option;
  const char *name, *value;
} tn_setting;

typedef struct {
  tn_verb verb;
  const char
      *value[TN_OPTION_COUNT]; /* the last one given; "" for options without argument; NULL: not given */
  tn_setting *settings;        /* --input, --param, --set, --event, --text, in order */
  size_t setting_count;
  const char **words; /* what is not an option */
  size_t word_count;
  tern_options session;
  tern_language language;
  tern_sandbox_mode sandbox;
  char **arguments; /* all words, as the program got them */
  bool json;
  bool color, color_out; /* on standard error, and on standard output */
  bool silent;      /* a rank of a training that has nothing to show: rank 0 does */
} tn_command;

static inline bool tn_given_option(const tn_command *command, tn_option option) {
  return command->value[option] != NULL;
}

/* A command and the session it runs in. */
typedef struct {
  tn_command *command;
  tern_session *session;
  tn_launch *launch; /* the other ranks of a training; NULL: there are none */
  const char *instead; /* shown in place of the diagnostics; NULL: they are shown */
} tn_run;

/* One function per verb; the result is the exit status. */
tern_status tn_cli_run(tn_run *run);
tern_status tn_cli_eval(tn_run *run);
tern_status tn_cli_train(tn_run *run);
tern_status tn_cli_sweep(tn_run *run); /* train with --sweep */
tern_status tn_cli_app(tn_run *run);
tern_status tn_cli_check(tn_run *run);
tern_status tn_cli_repl(tn_run *run);
tern_status tn_cli_fmt(tn_run *run);
tern_status tn_cli_emit(tn_run *run);
tern_status tn_cli_predict(tn_run *run);
tern_status tn_cli_evaluate(tn_run *run);
tern_status tn_cli_generate(tn_run *run);
tern_status tn_cli_runs(tn_run *run);
tern_status tn_cli_plot(tn_run *run);
tern_status tn_cli_verify(tn_run *run);
tern_status tn_cli_board(tn_run *run);
tern_status tn_cli_explain(tn_run *run);
tern_status tn_cli_ops(tn_run *run);
tern_status tn_cli_doctor(tn_run *run);
tern_status tn_cli_devices(tn_run *run);
tern_status tn_cli_new(tn_run *run);
tern_status tn_cli_completion(tn_run *run);
tern_status tn_cli_man(tn_run *run);
tern_status tn_cli_version(tn_run *run);
tern_status tn_cli_help(tn_run *run);

/* A file that is watched (watch.c). */
typedef struct {
  int events;
  const char *name;
} tn_watch;
bool tn_watch_begin(tn_watch *watch, const char *path);
/* False when a signal came instead of a change. */
bool tn_watch_wait(tn_watch *watch);
void tn_watch_end(tn_watch *watch);

/* Hints from the table of verbs and options, written into `room` (hints.c): a verb with an example, an option
 * with its meaning, and which verbs take an option that this one does not. */
void tn_cli_hint_verb(tn_verb verb, char *room, size_t size);
void tn_cli_hint_option(tn_option option, char *room, size_t size);
void tn_cli_hint_elsewhere(tn_option option, tn_verb verb, char *room, size_t size);

/* What every verb shares (common.c). */
/* Reports, shows, and returns TERN_USAGE. `hint` NULL: an example of the verb; "": none. */
tern_status tn_cli_usage(tn_run *run, const char *message, const char *hint);
tern_status tn_cli_usage_about(tn_run *run, const char *before, const char *word, const char *after,
                               const char *hint);
/* "cannot write x.svg: Permission denied", by errno. */
tern_status tn_cli_cannot(tn_run *run, const char *do_what, const char *path);
/* For verbs that take no words. */
bool tn_cli_no_words(tn_run *run, tern_status *status);
/* Diagnostics of several files in one JSON array. */
typedef struct {
  size_t shown;   /* files that had some */
  size_t omitted; /* diagnostics past the limit */
} tn_json_list;
void tn_cli_add_json(tn_json_list *list, tn_run *run);

/* Shows what the session has to report: JSON or text, by the command. */
tern_status tn_cli_failed(tn_run *run, tern_status status);
void tn_cli_warnings(tn_run *run);
/* A name made safe for a terminal: names of files are untrusted. Valid until it is called
 * again. */
const char *tn_cli_shown(tn_run *run, const char *name);
bool tn_cli_one_word(tn_run *run, const char *what, tern_status *status);
/* Grants what --allow grants; shows what is wrong with it. */
tern_status tn_cli_allow(tn_run *run);
/* The files that options name are named to the sandbox, and it is entered: what follows is parsed inside.
 * False after showing why not. */
bool tn_cli_confine(tn_run *run, tern_status *status);
/* Opens the device that the command line or TERN_DEVICE names; before tn_cli_confine, and in the process that
 * computes. False after showing why not. */
bool tn_cli_device(tn_run *run, tern_status *status);
/* Whether they name a GPU. */
bool tn_cli_wants_card(const tn_command *command);
/* Passes the values of the command line to the program. */
tern_status tn_cli_give(tn_run *run, tern_program *program);
/* Shows the result of a program that ran. */
tern_status tn_cli_show(tn_run *run, tern_program *program, tern_status status);
/* What of the sandbox was enforced, on standard error (doctor.c). */
void tn_cli_say_sandbox(tn_run *run);
/* What this machine runs, on standard output (doctor.c). */
void tn_cli_say_machine(tn_run *run);
/* What a program prints goes to standard output at once. */
void tn_cli_print(void *context, const char *line, size_t length);
/* A word as a shell reads it back (ending.c). */
void tn_cli_put_quoted(FILE *to, const char *word);
/* False when standard output could not take everything. */
bool tn_cli_flush(void);
/* The session that Ctrl-C stops; NULL: none. */
void tn_cli_interrupts(tern_session *session);
/* The session is one of a training in several processes: all are interrupted when one is lost, and signals
 * are for rank 0 alone. `launch` is borrowed; NULL: it is over. */
void tn_cli_interrupts_of_ranks(const tn_launch *launch, bool first);
/* What a signal has asked for since the last call: to give up what is done now, or to end. */
typedef enum { TN_SIGNAL_NONE, TN_SIGNAL_CANCEL, TN_SIGNAL_END } tn_signal;
tn_signal tn_cli_take_signal(void);
/* Waits until `descriptor` can be read. False when a signal came first, including one before the
 * call that was not handled yet. */
bool tn_cli_wait_to_read(int descriptor);
/* Where the history of runs is: --store, or the user's data folder; NULL when there is none. */
const char *tn_cli_store(const tn_command *command, char *room, size_t size);
/* Whether what -o names is standard output: nothing at all, "-" or "/dev/stdout". No path is opened then. */
bool tn_cli_to_standard_output(const char *path);
#endif
