/* runner/pages_errors.c: writes errors.md: every code of diag.def, with its examples and what they print. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "diag/internal.h"
#include "runner/example.h"
#include "runner/pages.h"

#define COLUMNS 100

static const struct {
  const char *title;
  tn_diag_code first;
} groups[] = {
#define TN_DIAG_GROUP(title, first) { title, TN_DIAG_##first },
#define TN_DIAG(code, ...)
#include "diag/diag.def"
#undef TN_DIAG
};

static const char intro[] =
    "# Diagnostics\n"
    "\n"
    "Every diagnostic of tern, by code. `make test-update` generates this page from `src/diag/diag.def`,\n"
    "and `make test` fails when it is out of date; every example is run, and what follows \"says\" is what\n"
    "the program printed. `tern explain CODE` shows the same in a terminal, `tern explain` the list.\n"
    "\n"
    "A diagnostic names its code, its place and what it found: the fields, which `--json` gives by name\n"
    "and which never change their meaning. One command shows its first 100 errors and its first 100\n"
    "warnings; text and `--json` (`omitted`) say how many more there were. After an error tern exits with\n"
    "status 1 where nothing else is said.\n"
    "\n";

/* Text between two pieces of code: what Markdown would take for its own is marked. */
static void put_prose(text *page, const char *bytes, size_t length) {
  bool code = false;
  for (size_t i = 0; i < length; i++) {
    code ^= bytes[i] == '`';
    if (!code && strchr("<*[", bytes[i])) text_add(page, "\\", 1);
    text_add(page, bytes + i, 1);
  }
}

static void put_wrapped(text *page, const char *paragraphs) {
  text marked = text_of("");
  size_t column = 0;
  put_prose(&marked, paragraphs, strlen(paragraphs));
  for (const char *at = marked.bytes; *at;) {
    size_t length = strcspn(at, " \n");
    if (column > 0 && column + 1 + length > COLUMNS) {
      text_addf(page, "\n");
      column = 0;
    }
    if (column > 0 && length > 0) text_addf(page, " ");
    column += (column > 0) + length;
    text_add(page, at, length);
    at += length;
    while (*at == ' ') at++;
    for (; *at == '\n'; at++, column = 0) text_addf(page, "\n");
  }
  text_addf(page, "\n\n");
  free(marked.bytes);
}

static void put_outline(text *page, const char *template, const char *required) {
  size_t length = tn_diag_outline(template, required, NULL);
  char *line = more(NULL, length);
  tn_diag_outline(template, required, line);
  put_prose(page, line, length);
  free(line);
}

static void put_names(text *page, const char *heading, const char *list) {
  tn_str name;
  const char *separator = heading;
  while (list && tn_diag_next_name(&list, &name)) {
    text_addf(page, "%s`%.*s`", separator, (int)name.len, name.at);
    separator = ", ";
  }
  if (separator != heading) text_addf(page, ".\n");
}

static void put_block(text *page, const char *info, const char *body) {
  size_t length = strlen(body);
  text_addf(page, "\n```%s\n%s%s```\n\n", info, body, length && body[length - 1] == '\n' ? "" : "\n");
}

static void put_program(text *page, const tn_diag_info *info, const char *program) {
  const char *language = strcmp(info->lang, "nth") == 0 ? "ninth" : info->lang;
  text word = { 0 };
  text_addf(&word, "%s fragment", strcmp(language, "graph") == 0 ? "text" : language);
  put_block(page, word.bytes, program);
  free(word.bytes);
}

/* The page is UTF-8, and a file that is not shows what it has instead. */
static char *readable(const char *data) {
  tn_str rest = tn_str_of(data);
  text shown = text_of("");
  while (rest.len > 0) {
    size_t good = tn_utf8_first_invalid(rest);
    text_add(&shown, rest.at, good);
    if (good < rest.len) text_addf(&shown, "\\x%02X", (unsigned char)rest.at[good++]);
    rest.at += good, rest.len -= good;
  }
  return shown.bytes;
}

static void put_data(text *page, const tn_diag_info *info, const char *data) {
  if (data && *data) {
    const char *note = tn_utf8_valid(tn_str_of(data)) ? "" : " (`\\x` and two digits stand for one byte)";
    char *shown = readable(data);
    text_addf(page, "with `%s`%s:\n", info->data, note);
    put_block(page, "text", shown);
    free(shown);
  } else {
    text_addf(page, data ? "with an empty `%s`\n\n" : "and no file `%s`\n\n", info->data);
  }
}

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static void put_example(text *page, const tn_diag_info *info) {
  const char *command = info->command ? info->command : "run";
  const char *right_command = info->right_command ? info->right_command : command;
  char *folder = scratch_new();
  outcome done = run_example(info, folder, false, "");
  scratch_free(folder);

  text_addf(page, "`tern %s example.%s`, wrong:\n", command, info->lang);
  put_program(page, info, info->wrong);
  if (info->data && info->wrong_data) put_data(page, info, info->wrong_data);
  else if (info->data && info->right_data && !info->right) put_data(page, info, NULL);
  text_addf(page, "says\n");
  while (done.err.length > 1 && done.err.bytes[done.err.length - 2] == '\n')
    done.err.bytes[--done.err.length] = 0;
  put_block(page, "text", done.err.bytes);
  outcome_free(&done);

  if (info->right) {
    text_addf(page, "`tern %s example.%s`, right:\n", right_command, info->lang);
    put_program(page, info, info->right);
  } else {
    text_addf(page, "`tern %s example.%s`, right: the same program\n\n", right_command, info->lang);
  }
  if (info->right_data && !same(info->wrong_data, info->right_data)) put_data(page, info, info->right_data);
}

static const char *summary_of(const tn_diag_info *info) {
  return info->summary ? info->summary : info->title;
}

static void put_code(text *page, const tn_diag_info *info) {
  text_addf(page, "### %s\n\n%s: ", info->code,
            info->severity == TN_SEVERITY_WARNING ? "Warning" : "Error");
  put_outline(page, summary_of(info), info->fields);
  text_addf(page, ".%s\n\n", info->status == 2 ? " Status 2." : info->status == 3 ? " Status 3." : "");
  put_wrapped(page, info->explanation);
  size_t before = page->length;
  put_names(page, "- Fields: ", info->fields);
  put_names(page, "- Sometimes also: ", info->optional);
  if (info->hint && tn_diag_outline(info->hint, info->fields, NULL) > 0) {
    text_addf(page, "- Hint: ");
    put_outline(page, info->hint, info->fields);
    text_addf(page, ".\n");
  }
  if (page->length > before) text_addf(page, "\n");
  if (info->wrong) put_example(page, info);
  else text_addf(page, "There is no example: %s.\n\n", info->no_example);
}

static size_t group_of(int code) {
  size_t found = 0;
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    if ((int)groups[g].first <= code) found = g;
  return found;
}

/* An anchor is the heading in lower case. */
static void put_link(text *page, const tn_diag_info *info) {
  text_addf(page, "- [%s](#", info->code);
  for (const char *at = info->code; *at; at++)
    text_addf(page, "%c", *at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
  text_addf(page, "): ");
  put_outline(page, summary_of(info), info->fields);
  text_addf(page, "\n");
}

static void put_group(text *page, size_t group) {
  text_addf(page, "## %s\n\n", groups[group].title);
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++)
    if (group_of(i) == group) put_link(page, tn_diag_info_of((tn_diag_code)i));
  text_addf(page, "\n");
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++)
    if (group_of(i) == group) put_code(page, tn_diag_info_of((tn_diag_code)i));
}

text errors_page(void) {
  text page = text_of(intro);
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) put_group(&page, g);
  while (page.length > 1 && page.bytes[page.length - 2] == '\n') page.bytes[--page.length] = 0;
  return page;
}
