/* cli/line.c: reads input lines, with editing, completion and history.
 *
 * With libedit: editing, completion by the language, and a history that is kept
 * in the user's data folder. Without it: plain lines. Piped input is always
 * plain. */
#include "cli/line.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The next byte of standard input; EOF at its end, when a signal came and when reading fails. Not stdio:
 * what it holds back could not be seen while waiting. */
static int next_byte(void) {
  static struct {
    unsigned char bytes[4096];
    ssize_t count, used;
  } ahead;
  if (ahead.used == ahead.count) {
    ahead.used = ahead.count = 0;
    ssize_t got = tn_cli_wait_to_read(0) ? read(0, ahead.bytes, sizeof ahead.bytes) : 0;
    if (got <= 0) return EOF;
    ahead.count = got;
  }
  return ahead.bytes[ahead.used++];
}

static char *read_plain(size_t *count) {
  char *line = NULL;
  size_t length = 0, capacity = 0;
  int byte;
  while ((byte = next_byte()) != EOF && byte != '\n') {
    if (length + 1 >= capacity) {
      char *more = realloc(line, capacity = 2 * capacity + 128);
      if (!more) break;
      line = more;
    }
    line[length++] = (char)byte;
  }
  *count = length;
  if (!line) return byte == EOF ? NULL : calloc(1, 1);
  line[length] = 0;
  return line;
}

static char *read_prompted(const char *prompt, size_t *length) {
  if (isatty(0) && isatty(1)) {
    fputs(prompt, stdout);
    fflush(stdout);
  }
  return read_plain(length);
}

#ifdef TN_HAVE_EDITLINE
#include <dlfcn.h>
#include <editline/readline.h>
#include <locale.h>
#include <sys/stat.h>
#include <wchar.h>

/* The functions and variables of libedit that are used. It is loaded for an interactive session only: the
 * dynamic linker would look up hundreds of names for it, and for the libraries it brings, at every start. */
#define LIBRARY "libedit.so.2"
#define EDIT_NAMES(X)                                                                                        \
  X(add_history) X(history_base) X(history_get) X(history_length) X(readline)                               \
  X(rl_attempted_completion_function) X(rl_attempted_completion_over) X(rl_catch_signals)                   \
  X(rl_completion_append_character) X(rl_completion_matches) X(rl_filename_completion_function)             \
  X(rl_getc_function) X(rl_initialize) X(rl_line_buffer) X(rl_readline_name) X(stifle_history)
#define MEMBER(name) __typeof__(&name) name;
static struct {
  void *library;
  EDIT_NAMES(MEMBER)
} edit;

/* C knows no conversion from the address of data to that of a function; POSIX says they look alike. */
static bool find(const char *name, void *member, size_t size) {
  void *found = dlsym(edit.library, name);
  if (found && size == sizeof found) memcpy(member, &found, size);
  return found && size == sizeof found;
}

static bool load_editor(void) {
  edit.library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  bool ok = edit.library != NULL;
#define FIND(name) ok = ok && find(#name, &edit.name, sizeof edit.name);
  EDIT_NAMES(FIND)
  return ok;
}

#define HISTORY_LENGTH 1000
#define HISTORY_BYTES  ((size_t)64 << 20) /* a file that is larger is not read */

static struct {
  tern_session *session;
  tern_repl *repl;
  char folder[400];
  char history[512]; /* its file; empty: none */
} editor;

/* The next character that is typed. libedit's own reading would sleep through a signal that comes just before
 * it. Bytes that are not valid in the locale are taken one by one. */
static int next_character(FILE *unused) {
  (void)unused;
  mbstate_t state = { 0 };
  wchar_t character;
  int byte;
  while ((byte = next_byte()) != EOF) {
    char one = (char)byte;
    size_t length = mbrtowc(&character, &one, 1, &state);
    if (length == (size_t)-1) return byte;
    if (length != (size_t)-2) return (int)character;
  }
  return EOF;
}

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
  *edit.rl_attempted_completion_over = 1;
  if (loads_file(*edit.rl_line_buffer))
    return edit.rl_completion_matches(word, edit.rl_filename_completion_function);
  const char *list = tern_repl_complete(editor.repl, *edit.rl_line_buffer, (size_t)end);
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

/* ---- the history file ----
 *
 * In libedit's own form, so that either can read what the other wrote: a mark, then a line for each line,
 * in which every byte that is not a visible ASCII character is written as a backslash and three octal digits.
 * libedit also writes \^C for control characters and \M-x for bytes above 127. */

static const char mark[] = "_HiStOrY_V2_";

static bool is_octal(char c) { return c >= '0' && c <= '7'; }

/* One encoded byte; returns how many characters it takes. */
static size_t decode(const char *at, size_t left, char *out) {
  *out = at[0];
  if (at[0] != '\\' || left < 2) return 1;
  if (left >= 4 && is_octal(at[1]) && is_octal(at[2]) && is_octal(at[3])) {
    *out = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
    return 4;
  }
  if (at[1] == '^' && left >= 3) return *out = (char)(at[2] & 0x1f), 3;
  if (at[1] == 'M' && left >= 4 && (at[2] == '-' || at[2] == '^'))
    return *out = (char)((at[2] == '^' ? at[3] & 0x1f : at[3]) | 0x80), 4;
  return *out = at[1], 2;
}

static void remember(const char *from, size_t length) {
  char *line = malloc(length + 1);
  size_t count = 0;
  if (!line) return;
  for (size_t at = 0; at < length;) at += decode(from + at, length - at, &line[count++]);
  line[count] = 0;
  if (count > 0) edit.add_history(line);
  free(line);
}

static void load_history(void) {
  size_t length;
  const char *text = tern_read_file(editor.session, editor.history, HISTORY_BYTES, &length);
  tern_clear_diagnostics(editor.session); /* a history that cannot be read is none */
  if (!text || strncmp(text, mark, sizeof mark - 1) != 0) return;
  for (const char *at = text + sizeof mark - 1, *end = text + length; at < end; at++) {
    size_t line = strcspn(at, "\n");
    remember(at, line);
    at += line;
  }
}

static void encode(FILE *to, const char *line) {
  for (; *line; line++) {
    bool visible = *line > ' ' && *line < 0x7f && *line != '\\';
    fprintf(to, visible ? "%c" : "\\%03o", visible ? (unsigned)*line : (unsigned)(unsigned char)*line);
  }
  putc('\n', to);
}

static void save_history(void) {
  char *text = NULL;
  size_t length;
  FILE *memory = open_memstream(&text, &length);
  if (!memory) return;
  fprintf(memory, "%s\n", mark);
  for (int i = *edit.history_base; i < *edit.history_base + *edit.history_length; i++) {
    const HIST_ENTRY *entry = edit.history_get(i);
    if (entry && entry->line) encode(memory, entry->line);
  }
  if (fclose(memory) == 0) tern_write_file(editor.session, editor.history, text, length);
  tern_clear_diagnostics(editor.session);
  free(text);
}

void tn_line_begin(tern_session *session, tern_repl *repl, const char *language) {
  if (!isatty(0) || !isatty(1)) return;
  if (!load_editor()) return;
  umask(077); /* the history is for this user alone; in the sandbox it is too late to say so */
  setlocale(LC_CTYPE, ""); /* so that wide characters are edited as one */
  editor.session = session;
  editor.repl = repl;
  *edit.rl_readline_name = "tern";
  *edit.rl_catch_signals = 0; /* Ctrl-C comes to us; the sandbox forbids the library to send it on */
  *edit.rl_getc_function = next_character;
  edit.rl_initialize();
  *edit.rl_attempted_completion_function = complete;
  *edit.rl_completion_append_character = 0; /* a call or a point may follow */
  edit.stifle_history(HISTORY_LENGTH);
  find_history(language);
  if (editor.history[0]) load_history();
}

char *tn_line_read(const char *prompt, size_t *length) {
  if (!editor.repl) return read_prompted(prompt, length);
  char *line = edit.readline(prompt);
  *length = line ? strlen(line) : 0;
  return line;
}

bool tn_line_is_edited(void) { return editor.repl != NULL; }

void tn_line_remember(const char *text) {
  if (editor.repl && *text) edit.add_history(text);
}

void tn_line_end(void) {
  if (editor.repl && editor.history[0]) save_history();
}
#else
void tn_line_begin(tern_session *session, tern_repl *repl, const char *language) {
  (void)session;
  (void)repl;
  (void)language;
}

char *tn_line_read(const char *prompt, size_t *length) { return read_prompted(prompt, length); }

bool tn_line_is_edited(void) { return false; }
void tn_line_remember(const char *text) { (void)text; }
void tn_line_end(void) {}
const char *tn_line_folder(void) { return NULL; }
#endif
