/* cli/about.c: the verbs help, version, ops and explain. */
#include <string.h>

#include "cli/cli.h"
#include "cli/terminal.h"

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

static tern_status show_op(tn_run *run, const char *name) {
  bool json = run->command->json, shown = show_owned(json ? tern_op_json(name) : tern_op_text(name));
  if (shown && json) putchar('\n');
  if (shown) return TERN_OK;
  char hint[128];
  const char *close = tern_suggest_op(name);
  if (close) snprintf(hint, sizeof hint, "did you mean %s?", close);
  return tn_cli_usage_about(run, "there is no operation ", name, "",
                            close ? hint : "tern ops alone lists the operations");
}

tern_status tn_cli_ops(tn_run *run) {
  tern_status status;
  if (run->command->word_count > 0)
    return tn_cli_one_word(run, "an operation", &status) ? show_op(run, run->command->words[0]) : status;
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
      command->json ? explain_as_json(code) == TERN_OK : show_owned(tern_explain(code, command->color_out));
  if (known) return TERN_OK;
  char hint[128];
  const char *close = tern_suggest_code(code);
  if (close) snprintf(hint, sizeof hint, "did you mean %s?", close);
  return tn_cli_usage_about(run, "there is no code ", code, "",
                            close ? hint : "tern explain alone lists the codes");
}

/* --version may follow anything. */
tern_status tn_cli_version(tn_run *run) {
  tern_status status;
  if (!tn_given_option(run->command, TN_OPTION_VERSION) && !tn_cli_no_words(run, &status)) return status;
  if (run->command->json) {
    printf("{\"ok\":true,\"version\":\"%s\",\"kernels\":\"%s\"}\n", tern_version(),
           tern_backend(run->session));
    return TERN_OK;
  }
  printf("tern %s\n", tern_version());
  if (tn_given_option(run->command, TN_OPTION_VERBOSE)) tn_cli_say_machine(run);
  return TERN_OK;
}

/* ---- help ---- */

static const char *const plain = "", *const normal = "\033[0m";
static const char *const bold = "\033[1m", *const cyan = "\033[36m";

#define COLUMN 31 /* in which meanings begin */

/* Words in lines as wide as the terminal; elsewhere in one line. */
static void print_wrapped(const char *text) {
  int columns = tn_terminal_is(1) ? tn_terminal_columns(1) : 0, room = columns - COLUMN, used = 0;
  while (*text) {
    int length = (int)strcspn(text, " ");
    if (used > 0 && room > 20 && used + 1 + length > room) {
      printf("\n%*s", COLUMN, "");
      used = 0;
    }
    used += printf("%s%.*s", used > 0 ? " " : "", length, text);
    text += length + (text[length] == ' ');
  }
  putchar('\n');
}

/* What it is and what it means; one that is too long for its column has a line of its own. */
static void print_pair(const tn_run *run, const char *left, const char *right) {
  bool color = run->command->color_out;
  int width = (int)strlen(left);
  printf("  %s%s%s", color ? cyan : plain, left, color ? normal : plain);
  if (width > COLUMN - 3)
    printf("\n%*s", COLUMN, "");
  else
    printf("%*s", COLUMN - 2 - width, "");
  print_wrapped(right);
}

static void print_title(const tn_run *run, const char *before, const char *title, const char *after) {
  bool color = run->command->color_out;
  printf("%s%s%s%s%s", before, color ? bold : plain, title, color ? normal : plain, after);
}

static void print_option(const tn_run *run, const tn_option_info *option) {
  char left[64];
  snprintf(left, sizeof left, "%s%c%s --%s%s%s", option->letter ? "-" : " ",
           option->letter ? option->letter : ' ', option->letter ? "," : " ", option->name,
           option->argument ? " " : "", option->argument ? option->argument : "");
  print_pair(run, left, option->help);
}

static void help_verb(const tn_run *run, const tn_verb_info *verb) {
  char title[128];
  snprintf(title, sizeof title, "tern %s%s%s", verb->name, verb->arguments[0] ? " " : "", verb->arguments);
  print_title(run, "", title, "\n");
  printf("  %s\n", verb->help);
  print_title(run, "\n", "Examples:", "\n");
  printf("  %s\n", verb->examples);
  print_title(run, "\n", "Options:", "\n");
  for (int i = 0; i < TN_OPTION_COUNT; i++) {
    const tn_option_info *option = tn_option_info_of((tn_option)i);
    if (option->verbs >> verb->verb & 1) print_option(run, option);
  }
}

/* The table in its order: headings and verbs. */
static const struct {
  const char *title; /* NULL: a verb */
  int verb;
} contents[] = {
#define TN_GROUP(title) { title, -1 },
#define TN_VERB(id, ...) { NULL, TN_VERB_##id },
#include "cli/options.def"
};

static void help_all(const tn_run *run) {
  puts("tern: three small languages for tensors and neural networks, one set of kernels,\n"
       "and the same bits everywhere.\n");
  print_pair(run, "tern FILE", "run a program (.ail, .mind, .nth)");
  print_pair(run, "tern VERB ...", "one of these");
  for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
    if (contents[i].title) {
      print_title(run, "\n", contents[i].title, "\n");
      continue;
    }
    const tn_verb_info *verb = tn_verb_info_of((tn_verb)contents[i].verb);
    char left[64];
    snprintf(left, sizeof left, "%s%s%s", verb->name, verb->arguments[0] ? " " : "", verb->arguments);
    print_pair(run, left, verb->help);
  }
  print_title(run, "\n", "Examples", "\n");
  puts("  tern eval 'sum([1, 2, 3] * 2)'\n"
       "  tern train model.ail --allow fileread\n"
       "  tern explain E_SHAPE_MISMATCH\n\n"
       "`tern help VERB` shows the options of one verb.");
}

tern_status tn_cli_help(tn_run *run) {
  const tn_command *command = run->command;
  if (command->word_count == 0) {
    help_all(run);
    return TERN_OK;
  }
  tern_status status;
  if (!tn_cli_one_word(run, "a verb", &status)) return status;
  const char *names[TN_VERB_COUNT];
  for (int i = 0; i < TN_VERB_COUNT; i++) {
    names[i] = tn_verb_info_of((tn_verb)i)->name;
    if (strcmp(names[i], command->words[0]) != 0) continue;
    help_verb(run, tn_verb_info_of((tn_verb)i));
    return TERN_OK;
  }
  char hint[128];
  const char *close = tern_suggest(command->words[0], names, TN_VERB_COUNT);
  if (close) snprintf(hint, sizeof hint, "did you mean tern help %s?", close);
  return tn_cli_usage_about(run, "there is no verb ", command->words[0], "", close ? hint : NULL);
}
