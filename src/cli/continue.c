/* cli/continue.c: the verb generate: continues a text with a trained run.
 *
 * The prompt and its continuation are printed as they are generated. With --json the text is held
 * back until the end. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define USUAL_TOKENS 200

typedef struct {
  tn_run *run;
  FILE *to;           /* standard output, or what is held for --json */
  const char *before; /* the prompt, as long as it has not been shown */
} continuation;

/* Text is shown once the run is known to continue it. */
static void show_prompt(continuation *c) {
  if (c->before) fputs(c->before, c->to);
  c->before = NULL;
}

/* A pipe whose reader has gone ends it; tn_cli_flush says why. */
static int take(void *context, const char *text, size_t length) {
  continuation *c = context;
  show_prompt(c);
  return fwrite(text, 1, length, c->to) == length && fflush(c->to) == 0;
}

static size_t number_of(const tn_command *command, tn_option option, size_t usual) {
  return command->value[option] ? (size_t)strtoull(command->value[option], NULL, 10) : usual;
}

static bool check_words(tn_run *run, tern_status *status) {
  const tn_command *command = run->command;
  const char *cache = command->value[TN_OPTION_CACHE];
  if (command->word_count == 0)
    *status =
        tn_cli_usage(run, "tern generate needs the folder of a run: tern generate RUN --prompt TEXT", NULL);
  else if (command->word_count > 1)
    *status = tn_cli_usage_about(run, "tern generate takes one run; what is ", command->words[1], "?", NULL);
  else if (!tn_given_option(command, TN_OPTION_PROMPT))
    *status = tn_cli_usage(run, "there is no text to continue: give it by --prompt", NULL);
  else if (cache && strcmp(cache, "on") != 0 && strcmp(cache, "off") != 0)
    *status = tn_cli_usage_about(run, "--cache takes on or off, not ", cache, "", NULL);
  else
    return true;
  return false;
}

static tern_status show_json(tn_run *run, tern_program *program, size_t tokens, const char *text,
                             size_t length) {
  const char *json =
      tern_generate_json(program, run->command->value[TN_OPTION_PROMPT], tokens, text, length);
  if (!json) return tn_cli_failed(run, tern_failure_status(run->session));
  puts(json);
  return TERN_OK;
}

static tern_status generate(continuation *c, tern_program *program, size_t *tokens) {
  const tn_command *command = c->run->command;
  const char *prompt = command->value[TN_OPTION_PROMPT], *temperature = command->value[TN_OPTION_TEMPERATURE];
  const char *cache = command->value[TN_OPTION_CACHE];
  tern_generation wanted = { .prompt = prompt,
                             .tokens = number_of(command, TN_OPTION_TOKENS, USUAL_TOKENS),
                             .temperature = temperature ? strtod(temperature, NULL) : 1,
                             .top_k = number_of(command, TN_OPTION_TOP_K, 0),
                             .shown = !command->json,
                             .no_cache = cache && strcmp(cache, "off") == 0,
                             .context = c,
                             .take = take };
  return tern_generate(program, &wanted, tokens);
}

static tern_status finish(tn_run *run, tern_status status) {
  bool reported = tern_error_count(run->session) > 0;
  if (status != TERN_OK) return reported ? tn_cli_failed(run, status) : status;
  tn_cli_warnings(run);
  return status;
}

/* For people. */
static tern_status generate_text(tn_run *run, tern_program *program) {
  bool quiet = tn_given_option(run->command, TN_OPTION_QUIET);
  const char *prompt = run->command->value[TN_OPTION_PROMPT];
  continuation c = { .run = run, .to = stdout, .before = quiet ? NULL : prompt };
  size_t tokens;
  tern_status status = generate(&c, program, &tokens);
  if (status == TERN_OK) show_prompt(&c);
  if (status == TERN_OK || tokens > 0) putchar('\n');
  return finish(run, status);
}

static tern_status generate_json(tn_run *run, tern_program *program) {
  char *text = NULL;
  size_t length = 0, tokens;
  continuation c = { .run = run, .to = open_memstream(&text, &length) };
  if (!c.to) return tn_cli_usage(run, "out of memory", "");
  tern_status status = generate(&c, program, &tokens);
  bool closed = fclose(c.to) == 0;
  if (status != TERN_OK || !closed)
    status = tn_cli_failed(run, closed ? status : TERN_FAILED);
  else
    status = show_json(run, program, tokens, text, length);
  free(text);
  return status;
}

static tern_status load_and_generate(tn_run *run) {
  const tn_command *command = run->command;
  tern_status status;
  if (!tn_cli_confine(run, &status)) return status;
  tern_program *program = tern_load_run(run->session, command->words[0], &status);
  if (!program) return tn_cli_failed(run, status);
  status = tn_cli_give(run, program);
  if (status != TERN_OK)
    status = tn_cli_failed(run, status);
  else
    status = command->json ? generate_json(run, program) : generate_text(run, program);
  tern_program_free(program);
  return status;
}

tern_status tn_cli_generate(tn_run *run) {
  tern_status status;
  if (!check_words(run, &status) || !tn_cli_device(run, &status)) return status;
  status = tern_sandbox_path(run->session, run->command->words[0], TERN_SANDBOX_LOAD);
  return status == TERN_OK ? load_and_generate(run) : tn_cli_failed(run, status);
}
