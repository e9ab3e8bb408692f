/* cli/fmt.c: the verb fmt: formats programs.
 *
 * In place, as a filter for "-", or with --check and --diff without changing
 * anything. A file that does not parse is reported and left as it is. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct {
  size_t changed; /* files whose canonical form is another */
  tn_json_list list;
} formatting;

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

/* How many lines ahead in b the line of a is, at most 50; -1: not there. */
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
    if (!command->json) show_diff(tn_cli_shown(run, path), before, formatted);
  } else if (check) {
    if (!command->json) printf("%s: not formatted\n", tn_cli_shown(run, path));
  } else {
    return tern_write_file(run->session, path, formatted, strlen(formatted));
  }
  return check ? TERN_FAILED : TERN_OK;
}

/* The canonical form of a file, which the caller frees, and what is done with it; NULL when it could not be
 * made or written, which has left diagnostics. */
static char *format_program(tn_run *run, tern_program *program, const char *path, bool *changed,
                            tern_status *status) {
  size_t length;
  const char *made = tern_format(program), *before = tern_source(program, &length);
  char *formatted = made ? strdup(made) : NULL; /* writing uses the session's text */
  if (!formatted) {
    *status = tern_failure_status(run->session);
    return NULL;
  }
  *changed = length != strlen(formatted) || memcmp(before, formatted, length) != 0;
  bool filters = strcmp(path, "-") == 0;
  if (filters && !run->command->json) fputs(formatted, stdout);
  if (!filters && *changed) *status = improve(run, path, before, formatted);
  if (*status == TERN_OK || tern_error_count(run->session) == 0) return formatted;
  free(formatted);
  return NULL;
}

/* One object for one file. */
static void show_json(tn_run *run, tern_program *program, const char *formatted) {
  bool check = tn_given_option(run->command, TN_OPTION_CHECK_ONLY);
  const char *json = tern_format_json(program, formatted, check);
  puts(json ? json : "{\"ok\":false,\"diagnostics\":[]}");
}

static tern_status format_file(tn_run *run, const char *path, formatting *f) {
  tern_status status;
  bool changed = false, alone = run->command->json && run->command->word_count == 1;
  tern_program *program = tern_load_file(run->session, run->command->language, path, &status);
  char *formatted = program ? format_program(run, program, path, &changed, &status) : NULL;
  f->changed += changed;
  if (formatted && alone)
    show_json(run, program, formatted);
  else if (!formatted && (alone || !run->command->json))
    tn_cli_failed(run, status);
  else if (run->command->json)
    tn_cli_add_json(&f->list, run);
  free(formatted);
  if (program) tern_program_free(program);
  return status;
}

/* All diagnostics in one list for several. */
static tern_status format_files(tn_run *run) {
  const tn_command *command = run->command;
  bool list = command->json && command->word_count > 1;
  tern_status worst = TERN_OK;
  formatting f = { 0 };
  if (list) fputs("{\"diagnostics\":[", stdout);
  for (size_t i = 0; i < command->word_count; i++) {
    tern_status status = format_file(run, command->words[i], &f);
    if (status > worst) worst = status;
  }
  if (list) {
    fputs("],", stdout);
    if (f.list.omitted > 0) printf("\"omitted\":%zu,", f.list.omitted);
    printf("\"changed\":%zu,\"ok\":%s}\n", f.changed, worst == TERN_OK ? "true" : "false");
  }
  return worst;
}

/* A file that is formatted in place is replaced in its folder; an error is reported when it is
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
  return format_files(run);
}
