/* cli/predict.c: the verb predict: predictions of a trained run.
 *
 * Predictions are printed as lines for people while rows are read, or written to the file of -o in
 * the format of its extension. With --json they are held back until the end, because one object
 * says how it ended. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct {
  tn_run *run;
  tern_target *target; /* -o; NULL: none */
  char *held;          /* with --json and without -o */
  size_t length, room;
  tern_status status;  /* of writing */
  const char **texts;  /* what --text gives */
  size_t text_count;
} answers;

/* ---- where they go ---- */

static int hold(answers *a, const char *bytes, size_t length) {
  if (a->length + length > a->room) {
    size_t room = 2 * (a->length + length) + 4096;
    char *more = realloc(a->held, room);
    if (!more) return a->status = tern_report_usage(a->run->session, "out of memory", NULL), 0;
    a->held = more;
    a->room = room;
  }
  memcpy(a->held + a->length, bytes, length);
  a->length += length;
  return 1;
}

static int take(void *context, const char *bytes, size_t length) {
  answers *a = context;
  if (a->target) return (a->status = tern_target_add(a->target, bytes, length)) == TERN_OK;
  if (a->run->command->json) return hold(a, bytes, length);
  bool ok = fwrite(bytes, 1, length, stdout) == length;
  if (!ok) a->status = TERN_FAILED; /* tn_cli_flush says why */
  return ok;
}

static int rewrite(void *context, const char *bytes, size_t length) {
  answers *a = context;
  return (a->status = tern_target_rewrite(a->target, bytes, length)) == TERN_OK;
}

/* ---- the command line ---- */

static const char *extension(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot + 1 : "";
}

/* The form of a file follows from its name. */
static bool find_form(tn_run *run, const char *path, const char **form, tern_status *status) {
  static const char *const forms[] = { "csv", "jsonl", "npy" };
  *form = run->command->json ? "jsonl" : "text";
  if (tn_cli_to_standard_output(path)) return true;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(extension(path), forms[i]) == 0) return *form = forms[i], true;
  }
  *status =
      tn_cli_usage_about(run, "predictions are written as .csv, .jsonl or .npy, not as ", path, "", NULL);
  return false;
}

static bool check_words(tn_run *run, tern_status *status) {
  const tn_command *command = run->command;
  bool text = tn_given_option(command, TN_OPTION_TEXT), input = tn_given_option(command, TN_OPTION_INPUT);
  if (command->word_count == 0)
    *status = tn_cli_usage(run, "tern predict needs the folder of a run: tern predict RUN [DATA]", NULL);
  else if (command->word_count > 2)
    *status = tn_cli_usage_about(run, "tern predict takes a run and one file; what is ", command->words[2],
                                 "?", NULL);
  else if (command->word_count == 2 && text)
    *status = tn_cli_usage(run, "rows come from a file or are --text, not both", NULL);
  else if (command->word_count == 1 && !text && !input)
    *status = tn_cli_usage(run, "there are no rows to predict: name a file, or give --text or --input", NULL);
  else
    return true;
  return false;
}

/* ---- what is shown ---- */

static tern_status show_json(answers *a, tern_program *program, size_t rows, const char *file) {
  const char *json = tern_predict_json(program, rows, a->target ? file : NULL, a->held, a->length);
  if (!json) return tn_cli_failed(a->run, tern_failure_status(a->run->session));
  puts(json);
  return TERN_OK;
}

static tern_status finish(answers *a, tern_program *program, tern_status status, size_t rows,
                          const char *file) {
  if (a->status != TERN_OK) status = a->status;
  if (status == TERN_OK && a->target) status = tern_target_commit(a->target);
  bool reported = tern_error_count(a->run->session) > 0;
  if (status != TERN_OK) return reported ? tn_cli_failed(a->run, status) : status;
  if (a->run->command->json) return show_json(a, program, rows, file);
  tn_cli_warnings(a->run);
  return status;
}

/* Every --text, in order: a row for each. */
static bool list_texts(answers *a) {
  const tn_command *command = a->run->command;
  if (!tn_given_option(command, TN_OPTION_TEXT)) return true;
  a->texts = malloc(command->setting_count * sizeof *a->texts);
  for (size_t i = 0; a->texts && i < command->setting_count; i++) {
    const tn_setting *s = &command->settings[i];
    if (s->option == TN_OPTION_TEXT) a->texts[a->text_count++] = s->name;
  }
  return a->texts != NULL;
}

static tern_status predict(answers *a, const char *form, const char *file) {
  tn_run *run = a->run;
  const tn_command *command = run->command;
  tern_status status;
  size_t rows = 0;
  tern_prediction wanted = { .data = command->word_count > 1 ? command->words[1] : NULL,
                             .texts = a->texts,
                             .text_count = a->text_count,
                             .form = form,
                             .context = a,
                             .take = take,
                             .rewrite = rewrite };
  if (!tn_cli_confine(run, &status)) return status;
  tern_program *program = tern_load_run(run->session, command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = tn_cli_give(run, program);
  if (status == TERN_OK) status = tern_predict(program, &wanted, &rows);
  status = finish(a, program, status, rows, file);
  tern_program_free(program);
  return status;
}

tern_status tn_cli_predict(tn_run *run) {
  const tn_command *command = run->command;
  const char *file = command->value[TN_OPTION_OUTPUT], *form;
  tern_status status;
  answers a = { .run = run };
  if (!check_words(run, &status) || !find_form(run, file, &form, &status)) return status;
  if (!tn_cli_device(run, &status)) return status;
  status = tern_sandbox_path(run->session, command->words[0], TERN_SANDBOX_LOAD);
  if (status == TERN_OK && command->word_count > 1)
    status = tern_sandbox_path(run->session, command->words[1], TERN_SANDBOX_READ);
  if (status != TERN_OK) return tn_cli_failed(run, status);
  if (!tn_cli_to_standard_output(file)) {
    a.target = tern_target_open(run->session, file);
    if (!a.target) return tn_cli_failed(run, tern_failure_status(run->session));
  }
  status = list_texts(&a) ? predict(&a, form, file) : tn_cli_usage(run, "out of memory", "");
  tern_target_free(a.target);
  free(a.held);
  free(a.texts);
  return status;
}
