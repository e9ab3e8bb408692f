/* cli/about.c: help, version, ops, explain: what tern says of itself. */
#include <string.h>

#include "cli/cli.h"

static bool show_owned(char *text) {
  if (!text) return false;
  fputs(text, stdout);
  tern_free_text(text);
  return true;
}

static tern_status out_of_memory(void) {
  fputs("tern: out of memory\n", stderr);
  return TERN_FAILED;
}

tern_status tn_cli_ops(tn_run *run) {
  tern_status status;
  if (!tn_cli_no_words(run, &status)) return status;
  char *text = run->command->json ? tern_ops_json() : tern_ops_text();
  if (!show_owned(text)) return out_of_memory();
  if (run->command->json) putchar('\n');
  return TERN_OK;
}

static tern_status explain_as_json(const char *code) {
  char *json = tern_explain_json(code);
  if (!json) return TERN_USAGE;
  printf("{\"ok\":true,\"explanation\":%s}\n", json);
  tern_free_text(json);
  return TERN_OK;
}

tern_status tn_cli_explain(tn_run *run) {
  const tn_command *command = run->command;
  if (command->word_count == 0) return show_owned(tern_codes()) ? TERN_OK : out_of_memory();
  tern_status status;
  if (!tn_cli_one_word(run, "a code", &status)) return status;
  const char *code = command->words[0];
  bool known =
      command->json ? explain_as_json(code) == TERN_OK : show_owned(tern_explain(code, command->color));
  if (known) return TERN_OK;
  char hint[128];
  const char *close = tern_suggest_code(code);
  if (close) snprintf(hint, sizeof hint, "did you mean %s?", close);
  return tn_cli_usage_about(run, "there is no code ", code, "",
                            close ? hint : "tern explain alone lists the codes");
}

/* --version may stand after anything. */
tern_status tn_cli_version(tn_run *run) {
  tern_status status;
  if (!tn_given_option(run->command, TN_OPTION_VERSION) && !tn_cli_no_words(run, &status)) return status;
  if (run->command->json) {
    printf("{\"ok\":true,\"version\":\"%s\",\"kernels\":\"%s\"}\n", tern_version(),
           tern_backend(run->session));
    return TERN_OK;
  }
  printf("tern %s\n", tern_version());
  if (tn_given_option(run->command, TN_OPTION_VERBOSE)) printf("kernels: %s\n", tern_backend(run->session));
  return TERN_OK;
}

/* ---- help ---- */

/* What it is and what it means; one that is too long for its column has a line of its own. */
static void print_pair(const char *left, const char *right) {
  if (strlen(left) > 28)
    printf("  %s\n  %-28s %s\n", left, "", right);
  else
    printf("  %-28s %s\n", left, right);
}

static void print_option(const tn_option_info *option) {
  char left[64];
  snprintf(left, sizeof left, "%s%c%s --%s%s%s", option->letter ? "-" : " ",
           option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
           option->argument ? " " : "", option->argument ? option->argument : "");
  print_pair(left, option->help);
}

static void help_verb(const tn_verb_info *verb) {
  printf("tern %s%s%s\n  %s\n\nExamples:\n  %s\n\nOptions:\n", verb->name, verb->arguments[0] ? " " : "",
         verb->arguments, verb->help, verb->examples);
  for (int i = 0; i < TN_OPTION_COUNT; i++) {
    const tn_option_info *option = tn_option_info_of((tn_option)i);
    if (option->verbs >> verb->verb & 1) print_option(option);
  }
}

static void help_all(void) {
  puts("tern: three small languages for tensors and neural networks, one set of kernels,\n"
       "and the same bits everywhere.\n\n"
       "  tern FILE                    run a program (.ail, .mind, .nth)\n"
       "  tern VERB ...\n");
  for (int i = 0; i < TN_VERB_COUNT; i++) {
    const tn_verb_info *verb = tn_verb_info_of((tn_verb)i);
    char left[64];
    snprintf(left, sizeof left, "%s %s", verb->name, verb->arguments);
    print_pair(left, verb->help);
  }
  puts("\nExamples:\n"
       "  tern eval 'sum([1, 2, 3] * 2)'\n"
       "  tern train model.ail --allow fileread\n"
       "  tern explain E_SHAPE_MISMATCH\n\n"
       "`tern help VERB` shows the options of one verb.");
}

tern_status tn_cli_help(tn_run *run) {
  const tn_command *command = run->command;
  if (command->word_count == 0) {
    help_all();
    return TERN_OK;
  }
  tern_status status;
  if (!tn_cli_one_word(run, "a verb", &status)) return status;
  const char *names[TN_VERB_COUNT];
  for (int i = 0; i < TN_VERB_COUNT; i++) {
    names[i] = tn_verb_info_of((tn_verb)i)->name;
    if (strcmp(names[i], command->words[0]) != 0) continue;
    help_verb(tn_verb_info_of((tn_verb)i));
    return TERN_OK;
  }
  char hint[128];
  const char *close = tern_suggest(command->words[0], names, TN_VERB_COUNT);
  if (close) snprintf(hint, sizeof hint, "did you mean tern help %s?", close);
  return tn_cli_usage_about(run, "there is no verb ", command->words[0], "", close ? hint : NULL);
}
