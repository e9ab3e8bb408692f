/* cli/line.c: reading lines.
 *
 * With libedit: editing, completion by the language, and a history that is kept
 * in the user's data folder. Without it: plain lines. Piped input is always
 * plain. */
#include "cli/line.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_plain(FILE *from) {
  char *line = NULL;
  size_t length = 0, capacity = 0;
  for (int byte; (byte = getc(from)) != EOF && byte != '\n';) {
    if (length + 1 >= capacity) {
      char *more = realloc(line, capacity = 2 * capacity + 128);
      if (!more) break;
      line = more;
    }
    line[length++] = (char)byte;
  }
  if (!line && feof(from)) return NULL;
  if (!line) return calloc(1, 1);
  line[length] = 0;
  return line;
}

#ifdef TN_HAVE_EDITLINE
#include <editline/readline.h>
#include <locale.h>
#include <sys/stat.h>

#define HISTORY_LENGTH 1000

static struct {
  tern_repl *repl;
  char folder[400];
  char history[512]; /* its file; empty: none */
} editor;

/* How much of the candidate's beginning ends the word: `x.su` and `sum` have 2 in common. */
static size_t overlap(const char *word, const char *candidate, size_t length) {
  size_t most = strlen(word), end = most;
  for (size_t common = most < length ? most : length; common > 0; common--) {
    if (strncmp(word + end - common, candidate, common) == 0) return common;
  }
  return 0;
}

/* The word with its end replaced by the candidate. */
static char *completed(const char *word, const char *candidate, size_t length) {
  size_t kept = strlen(word) - overlap(word, candidate, length);
  char *whole = malloc(kept + length + 1);
  if (!whole) return NULL;
  memcpy(whole, word, kept);
  memcpy(whole + kept, candidate, length);
  whole[kept + length] = 0;
  return whole;
}

static bool loads_file(const char *line) {
  line += strspn(line, " \t");
  return strncmp(line, ":load ", 6) == 0;
}

/* Candidates for the word at the cursor, one a line, in the form that libedit wants: the longest
 * common beginning first, then each of them. */
static char **complete(const char *word, int start, int end) {
  (void)start;
  rl_attempted_completion_over = 1;
  if (loads_file(rl_line_buffer)) return rl_completion_matches(word, rl_filename_completion_function);
  const char *list = tern_repl_complete(editor.repl, rl_line_buffer, (size_t)end);
  size_t count = 0, common;
  for (const char *c = list; c && *c; c++) count += *c == '\n';
  if (count == 0) return NULL;
  char **matches = calloc(count + 2, sizeof *matches);
  for (size_t i = 1; matches && i <= count; i++) {
    size_t length = strcspn(list, "\n");
    matches[i] = completed(word, list, length);
    list += length + 1;
  }
  if (!matches || !matches[1]) return matches;
  common = strlen(matches[1]);
  for (size_t i = 2; i <= count && matches[i]; i++) {
    size_t same = 0;
    while (same < common && matches[i][same] == matches[1][same]) same++;
    common = same;
  }
  matches[0] = strndup(matches[1], common);
  return matches;
}

/* $XDG_DATA_HOME/tern/history.LANGUAGE, or below ~/.local/share. */
static void find_history(const char *language) {
  const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  char *folder = editor.folder;
  editor.history[0] = folder[0] = 0;
  if (data && *data)
    snprintf(folder, sizeof editor.folder, "%s/tern", data);
  else if (home && *home)
    snprintf(folder, sizeof editor.folder, "%s/.local/share/tern", home);
  else
    return;
  for (char *slash = folder + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    mkdir(folder, 0700);
    *slash = '/';
  }
  mkdir(folder, 0700);
  snprintf(editor.history, sizeof editor.history, "%s/history.%s", folder, language);
}

const char *tn_line_folder(void) { return editor.folder[0] ? editor.folder : NULL; }

void tn_line_begin(tern_repl *repl, const char *language) {
  if (!isatty(0) || !isatty(1)) return;
  setlocale(LC_CTYPE, ""); /* so that wide characters are edited as one */
  editor.repl = repl;
  rl_readline_name = "tern";
  rl_catch_signals = 0; /* Ctrl-C comes to us; the library would send it on, which the sandbox forbids */
  rl_initialize();
  rl_attempted_completion_function = complete;
  rl_completion_append_character = 0; /* a call or a point may follow */
  stifle_history(HISTORY_LENGTH);
  find_history(language);
  if (editor.history[0]) read_history(editor.history);
}

char *tn_line_read(const char *prompt) {
  if (!isatty(0) || !isatty(1)) return read_plain(stdin);
  char *line = readline(prompt);
  if (line && *line) add_history(line);
  return line;
}

void tn_line_end(void) {
  if (editor.repl && editor.history[0]) write_history(editor.history);
}
#else
void tn_line_begin(tern_repl *repl, const char *language) {
  (void)repl;
  (void)language;
}

char *tn_line_read(const char *prompt) {
  if (isatty(0) && isatty(1)) {
    fputs(prompt, stdout);
    fflush(stdout);
  }
  return read_plain(stdin);
}

void tn_line_end(void) {}
const char *tn_line_folder(void) { return NULL; }
#endif
