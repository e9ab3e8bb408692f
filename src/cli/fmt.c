/* cli/fmt.c: programs in their canonical form.
 *
 * In place, as a filter for "-", or with --check and --diff without changing
 * anything. A file that does not parse is reported and left as it is. */
#include <stdlib.h>
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

static void show_diff(const char *path, const char *before, const char *after) {
  printf("--- %s\n+++ %s (formatted)\n", path, path);
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

/* The text as it is, from the heap. */
static char *read_text(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t length = 0, capacity = 0;
  for (size_t got = 1; file && got > 0; length += got) {
    if (length + 4096 + 1 > capacity) {
      char *more = realloc(text, capacity = 2 * capacity + 8192);
      if (!more) break;
      text = more;
    }
    got = fread(text + length, 1, 4096, file);
  }
  if (text) text[length] = 0;
  if (file) fclose(file);
  return text;
}

static tern_status format_file(tn_run *run, const char *path) {
  const tn_command *command = run->command;
  tern_status status;
  bool filter = strcmp(path, "-") == 0;
  tern_program *program = tern_load_file(run->session, command->language, path, &status);
  if (!program) return tn_cli_failed(run, status);
  const char *formatted = tern_format(program);
  if (!formatted) {
    status = tern_failure_status(run->session);
    tern_program_free(program);
    return tn_cli_failed(run, status);
  }
  char *before = filter ? NULL : read_text(path);
  bool differs = before && strcmp(before, formatted) != 0;
  status = TERN_OK;
  if (filter) {
    fputs(formatted, stdout);
  } else if (tn_given_option(command, TN_OPTION_DIFF)) {
    if (differs) show_diff(path, before, formatted);
  } else if (tn_given_option(command, TN_OPTION_CHECK_ONLY)) {
    if (differs) printf("%s: not formatted\n", path);
  } else if (differs && !tn_cli_write_file(path, formatted, strlen(formatted))) {
    status = tn_cli_cannot(run, "write", path);
  }
  if (differs && tn_given_option(command, TN_OPTION_CHECK_ONLY)) status = TERN_FAILED;
  free(before);
  tern_program_free(program);
  return status;
}

tern_status tn_cli_fmt(tn_run *run) {
  if (run->command->word_count == 0)
    return tn_cli_usage(run, "tern fmt needs a file: tern fmt FILE...", NULL);
  tern_status worst = TERN_OK;
  for (size_t i = 0; i < run->command->word_count; i++) {
    tern_status status = format_file(run, run->command->words[i]);
    if (status > worst) worst = status;
  }
  return worst;
}
