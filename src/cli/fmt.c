/* cli/fmt.c: programs in their canonical form.
 *
 * In place, as a filter for "-", or with --check and --diff without changing
 * anything. A file that does not parse is reported and left as it is. */
#include <string.h>

#include "cli/cli.h"

/* Lines that differ, with - and +; enough to see what fmt would do. */
static void show_line(char sign, const char *line, size_t length) {
  printf("%c%.*s\n", sign, (int)length, line);
}

static size_t line_length(const char *text) { return strcspn(text, "\n"); }

static const char *next_line(const char *text) {
  size_t length = line_length(text);
  return text + length + (text[length] == '\n');
}

static bool same_line(const char *a, const char *b) {
  size_t length = line_length(a);
  return length == line_length(b) && strncmp(a, b, length) == 0;
}

/* How many lines ahead in b the line of a stands, at most 50; -1: not there. */
static int ahead(const char *a, const char *b) {
  for (int i = 0; i < 50 && *b; i++, b = next_line(b)) {
    if (same_line(a, b)) return i;
  }
  return -1;
}

static void show_diff(const char *name, const char *before, const char *after) {
  printf("--- %s\n+++ %s (formatted)\n", name, name);
  while (*before || *after) {
    if (*before && *after && same_line(before, after)) {
      before = next_line(before), after = next_line(after);
      continue;
    }
    int skip = *before ? ahead(before, after) : 50;
    if (*before && skip < 0) {
      show_line('-', before, line_length(before));
      before = next_line(before);
      continue;
    }
    for (; skip > 0 && *after; skip--, after = next_line(after)) show_line('+', after, line_length(after));
  }
}

/* What is done with a file whose canonical form is another. */
static tern_status improve(tn_run *run, const char *path, const char *before, const char *formatted) {
  const tn_command *command = run->command;
  bool check = tn_given_option(command, TN_OPTION_CHECK_ONLY);
  if (tn_given_option(command, TN_OPTION_DIFF)) {
    show_diff(tn_cli_shown(run, path), before, formatted);
  } else if (check) {
    printf("%s: not formatted\n", tn_cli_shown(run, path));
  } else {
    tern_status status = tern_write_file(run->session, path, formatted, strlen(formatted));
    return status == TERN_OK ? status : tn_cli_failed(run, status);
  }
  return check ? TERN_FAILED : TERN_OK;
}

static tern_status format_file(tn_run *run, const char *path) {
  tern_status status;
  size_t length;
  tern_program *program = tern_load_file(run->session, run->command->language, path, &status);
  if (!program) return tn_cli_failed(run, status);
  const char *formatted = tern_format(program), *before = tern_source(program, &length);
  if (!formatted)
    status = tn_cli_failed(run, tern_failure_status(run->session));
  else if (strcmp(path, "-") == 0)
    fputs(formatted, stdout);
  else if (length != strlen(formatted) || memcmp(before, formatted, length) != 0)
    status = improve(run, path, before, formatted);
  tern_program_free(program);
  return status;
}

/* A file that is formatted in place is replaced in its folder; one that cannot be is said when it is
 * written, if it is. */
static tern_status name_file(tn_run *run, const char *path) {
  const tn_command *command = run->command;
  bool writes = strcmp(path, "-") != 0 && !tn_given_option(command, TN_OPTION_DIFF) &&
                !tn_given_option(command, TN_OPTION_CHECK_ONLY);
  if (writes) tern_target_free(tern_target_open(run->session, path));
  tern_clear_diagnostics(run->session);
  return tern_sandbox_path(run->session, path, TERN_SANDBOX_LOAD);
}

tern_status tn_cli_fmt(tn_run *run) {
  if (run->command->word_count == 0)
    return tn_cli_usage(run, "tern fmt needs a file: tern fmt FILE...", NULL);
  tern_status worst = TERN_OK;
  for (size_t i = 0; i < run->command->word_count && worst == TERN_OK; i++)
    worst = name_file(run, run->command->words[i]);
  if (worst != TERN_OK) return tn_cli_failed(run, worst);
  if (!tn_cli_confine(run, &worst)) return worst;
  for (size_t i = 0; i < run->command->word_count; i++) {
    tern_status status = format_file(run, run->command->words[i]);
    if (status > worst) worst = status;
  }
  return worst;
}
