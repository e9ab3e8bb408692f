/* runner/langtest.c: runs programs that say beside their lines what must come of them.
 *
 *   langtest --tern PROGRAM [--tests FOLDER] [--seconds N] [--update] FILE|FOLDER...
 *
 * A program is a test by the comments it carries, the same in all three languages
 * (tests/README.md has the whole list):
 *
 *   print(x + y)              // expect: 7
 *   let z = x + [1, 2, 3]     // error: E2101 :9 left="[2]" right="[3]"
 *   // args: --seed 1
 *
 * Everything must be accounted for: each line printed has an `expect`, each
 * diagnostic an `error` or `warning`, in order, and nothing else happens. A program
 * with diagnostics is run with --json, whose fields are compared; any other is run
 * as a person would run it. */
#include "runner/run.h"
#include "runner/value.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A text is ours, a tn_str the library's; both are borrowed runs of bytes here. */
static tn_str str_of(text from) { return (tn_str){ from.bytes, from.length }; }
static text text_from(tn_str from) { return (text){ (char *)(uintptr_t)from.at, from.len }; }

typedef struct {
  text name, value;
} field;

/* One `error:` or `warning:` comment. Zero stands for "not said". */
typedef struct {
  size_t line;             /* of the comment, from 1 */
  bool warning, nowhere;
  text code, file;
  int64_t at[4];           /* line, column, end line, end column */
  field *fields;
  size_t field_count;
} wanted_diag;

typedef struct {
  size_t line;             /* from 1 */
  text path, json;
} wanted_json;

typedef struct {
  const char *path;
  text whole;
  lines all;
  lines printed;           /* what `expect` comments say */
  size_t *printed_at;      /* line indices, from 0 */
  wanted_diag *diags;
  size_t diag_count;
  wanted_json *jsons;
  size_t json_count;
  lines arguments;         /* words of `args`, owned */
  text verb;
  int status;
  bool status_said;
  size_t directives, mistakes;
} program;

typedef struct {
  const char *tern, *tests;
  int seconds;
  bool update;
  size_t count, failed;
} session;

static char no_bytes[1];
static const text nothing = { no_bytes, 0 };

static void complain(program *of, size_t line, const char *what, text detail) {
  printf("%s:%zu: %s%.*s\n", of->path, line, what, (int)detail.length, detail.bytes);
  of->mistakes++;
}

/* Reading the comments ---------------------------------------------------- */

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static text trim(text from) {
  while (from.length && is_space(from.bytes[0])) from = text_after(from, 1);
  while (from.length && is_space(from.bytes[from.length - 1])) from.length--;
  return from;
}

/* Takes the next word off the front. `"a b"` and 'a b' are one word, also after a
 * `name=`; a backslash keeps the next character inside double quotes. Owned. */
static bool next_word(text *rest, text *word) {
  *rest = trim(*rest);
  if (!rest->length) return false;
  *word = text_of("");
  char quote = 0;
  size_t i = 0;
  for (; i < rest->length && (quote || !is_space(rest->bytes[i])); i++) {
    char c = rest->bytes[i];
    if (quote == '"' && c == '\\' && i + 1 < rest->length) text_add(word, &rest->bytes[++i], 1);
    else if (c == quote) quote = 0;
    else if (!quote && (c == '"' || c == '\'')) quote = c;
    else text_add(word, &c, 1);
  }
  *rest = text_after(*rest, i);
  return true;
}

static size_t read_number(text from, size_t i, int64_t *out) {
  size_t start = i;
  for (*out = 0; i < from.length && from.bytes[i] >= '0' && from.bytes[i] <= '9'; i++)
    *out = *out * 10 + (from.bytes[i] - '0');
  return i - start;
}

/* place = [ [ file ":" ] line ] ":" col [ "-" [ line ":" ] col ] */
static bool read_place(text word, size_t own_line, wanted_diag *out) {
  int64_t at[4] = { (int64_t)own_line, 0, 0, 0 };
  size_t i = 0, digits;
  char *colon = memchr(word.bytes, ':', word.length);
  bool starts_with_digit = word.bytes[0] >= '0' && word.bytes[0] <= '9';
  if (!colon) return false;
  if (!starts_with_digit && word.bytes[0] != ':') {
    out->file = text_span(word.bytes, (size_t)(colon - word.bytes));
    i = out->file.length + 1;
  }
  digits = read_number(word, i, &at[0]);
  if (!digits) at[0] = (int64_t)own_line;
  i += digits;
  if (i >= word.length || word.bytes[i] != ':') return false;
  i++;
  if (!(digits = read_number(word, i, &at[1]))) return false;
  i += digits;
  if (i < word.length && word.bytes[i] == '-') {
    i += 1 + (digits = read_number(word, i + 1, &at[3]));
    at[2] = at[0];
    if (i < word.length && word.bytes[i] == ':') {
      at[2] = at[3];
      i += 1 + (digits = read_number(word, i + 1, &at[3]));
    }
    if (!digits) return false;
  }
  memcpy(out->at, at, sizeof at);
  return i == word.length;
}

/* error = CODE { place | "nowhere" | name "=" value } */
static void read_diag(program *of, size_t line, bool beside_code, bool warning, text rest) {
  wanted_diag made = { .line = line, .warning = warning };
  text word;
  if (beside_code) made.at[0] = (int64_t)line;
  if (!next_word(&rest, &made.code)) complain(of, line, "which code?", rest);
  while (next_word(&rest, &word)) {
    char *equal = memchr(word.bytes, '=', word.length);
    if (equal) {
      size_t length = (size_t)(equal - word.bytes);
      made.fields = more(made.fields, (made.field_count + 1) * sizeof *made.fields);
      made.fields[made.field_count++] = (field){ { word.bytes, length }, text_after(word, length + 1) };
      continue;   /* the field owns the word */
    }
    if (text_is(word, "nowhere")) made.nowhere = true;
    else if (!read_place(word, line, &made))
      complain(of, line, "neither a place (line:col) nor a field (name=value): ", word);
    free(word.bytes);
  }
  of->diags = more(of->diags, (of->diag_count + 1) * sizeof *of->diags);
  of->diags[of->diag_count++] = made;
}

/* json = path "=" value */
static void read_json(program *of, size_t line, text rest) {
  char *equal = memchr(rest.bytes, '=', rest.length);
  if (!equal) {
    complain(of, line, "expected `path = value`: ", rest);
    return;
  }
  text path = trim((text){ rest.bytes, (size_t)(equal - rest.bytes) });
  text json = trim(text_after(rest, (size_t)(equal - rest.bytes) + 1));
  of->jsons = more(of->jsons, (of->json_count + 1) * sizeof *of->jsons);
  of->jsons[of->json_count++] = (wanted_json){ line, path, json };
}

static void read_expect(program *of, size_t line, text rest) {
  if (rest.length && rest.bytes[0] == ' ') rest = text_after(rest, 1);
  of->printed_at = more(of->printed_at, (of->printed.count + 1) * sizeof *of->printed_at);
  of->printed_at[of->printed.count] = line - 1;
  lines_add(&of->printed, rest);
}

static const char *const words[] = { "expect", "error", "warning", "args", "verb", "status", "json" };
enum { WORD_EXPECT, WORD_ERROR, WORD_WARNING, WORD_ARGS, WORD_VERB, WORD_STATUS, WORD_JSON, WORD_COUNT };

static void read_directive(program *of, size_t line, int word, bool beside_code, text rest) {
  text argument;
  of->directives++;
  switch (word) {
    case WORD_EXPECT: read_expect(of, line, rest); break;
    case WORD_ERROR:
    case WORD_WARNING: read_diag(of, line, beside_code, word == WORD_WARNING, rest); break;
    case WORD_ARGS:
      while (next_word(&rest, &argument)) lines_add(&of->arguments, argument);
      break;
    case WORD_VERB: of->verb = trim(rest); break;
    case WORD_STATUS:
      of->status = atoi(trim(rest).bytes);
      of->status_said = true;
      break;
    default: read_json(of, line, rest); break;
  }
}

/* The length of "word:" at the start of a comment's text, or 0. */
static size_t label_length(text comment) {
  size_t i = 0;
  while (i < comment.length && comment.bytes[i] >= 'a' && comment.bytes[i] <= 'z') i++;
  return i && i < comment.length && comment.bytes[i] == ':' ? i : 0;
}

/* A misspelt directive would be a test that never fails, so what is close to one is an error. */
static int word_of(program *of, size_t line, text label) {
  for (int i = 0; i < WORD_COUNT; i++)
    if (text_is(label, words[i])) return i;
  for (int i = 0; i < WORD_COUNT; i++)
    if (tn_str_distance(str_of(label), tn_str_of(words[i]), 2) <= 2)
      complain(of, line, "misspelt? ", label);
  return -1;
}

/* The earliest comment in the line that begins with a directive's word. */
static void read_line(program *of, size_t index, bool hash_comments) {
  text line = of->all.at[index];
  for (size_t i = 0; i < line.length; i++) {
    bool slashes = text_begins(text_after(line, i), "//"), hash = hash_comments && line.bytes[i] == '#';
    if (!slashes && !hash) continue;
    text comment = text_after(line, i + (slashes ? 2 : 1));
    while (comment.length && is_space(comment.bytes[0])) comment = text_after(comment, 1);
    size_t length = label_length(comment);
    int word = length ? word_of(of, index + 1, (text){ comment.bytes, length }) : -1;
    if (word < 0) continue;
    bool beside_code = trim((text){ line.bytes, i }).length > 0;
    read_directive(of, index + 1, word, beside_code, text_after(comment, length + 1));
    return;
  }
}

static bool ends_with(const char *path, const char *suffix) {
  size_t a = strlen(path), b = strlen(suffix);
  return a >= b && strcmp(path + a - b, suffix) == 0;
}

static bool expects_error(const program *of) {
  for (size_t i = 0; i < of->diag_count; i++)
    if (!of->diags[i].warning) return true;
  return false;
}

static void program_read(program *of, const char *path) {
  *of = (program){ .path = path, .whole = read_file(path, NULL) };
  of->all = lines_of(of->whole);
  for (size_t i = 0; i < of->all.count; i++) read_line(of, i, ends_with(path, ".ail"));
  if (!of->status_said) of->status = expects_error(of) ? 1 : 0;
  if (!of->directives) complain(of, 1, "says nothing about what must come of it", nothing);
}

static void program_free(program *of) {
  for (size_t i = 0; i < of->diag_count; i++) {
    for (size_t k = 0; k < of->diags[i].field_count; k++) free(of->diags[i].fields[k].name.bytes);
    free(of->diags[i].fields);
    free(of->diags[i].code.bytes);
    free(of->diags[i].file.bytes);
  }
  for (size_t i = 0; i < of->arguments.count; i++) free(of->arguments.at[i].bytes);
  free(of->arguments.at);
  free(of->diags);
  free(of->jsons);
  free(of->printed.at);
  free(of->printed_at);
  free(of->all.at);
  free(of->whole.bytes);
}

/* Comparing --------------------------------------------------------------- */

static void fail(program *of, size_t line, const char *what, text wanted, tn_str got) {
  printf("%s:%zu: %s: wanted %.*s, got %.*s\n", of->path, line, what, (int)wanted.length, wanted.bytes,
         (int)got.len, got.at);
  of->mistakes++;
}

/* A field of the diagnostic, or else a part of the diagnostic itself (title, hint, phase). */
static tn_str diag_field(const value *diag, text name) {
  const value *found = value_member(value_member(diag, TN_LIT("fields")), str_of(name));
  if (!found) found = value_member(diag, str_of(name));
  return found && found->kind == TN_JSON_STRING ? found->text : TN_LIT("(nothing)");
}

static void compare_place(program *of, const wanted_diag *wanted, const value *span) {
  static const char *const parts[] = { "line", "col", "end_line", "end_col" };
  bool somewhere = span && span->kind == TN_JSON_OBJECT_BEGIN;
  if (wanted->nowhere && somewhere)
    complain(of, wanted->line, "has a place, but should be nowhere", nothing);
  for (int i = 0; i < 4; i++) {
    int64_t got = 0;
    if (!wanted->at[i] || wanted->nowhere) continue;
    value_integer(value_member(span, tn_str_of(parts[i])), &got);
    if (got == wanted->at[i]) continue;
    printf("%s:%zu: %s: wanted %lld, got %lld\n", of->path, wanted->line, parts[i], (long long)wanted->at[i],
           (long long)got);
    of->mistakes++;
  }
  const value *file = value_member(span, TN_LIT("file"));
  if (wanted->file.length && !(file && tn_str_equal(file->text, str_of(wanted->file))))
    fail(of, wanted->line, "file", wanted->file, file ? file->text : TN_LIT("(nothing)"));
}

static void compare_diag(program *of, const wanted_diag *wanted, const value *diag) {
  const value *code = value_member(diag, TN_LIT("code"));
  if (!code || !tn_str_equal(code->text, str_of(wanted->code))) {
    fail(of, wanted->line, "code", wanted->code, code ? code->text : TN_LIT("(nothing)"));
    return;
  }
  if (!value_is(value_member(diag, TN_LIT("severity")), wanted->warning ? "warning" : "error"))
    fail(of, wanted->line, "severity of", wanted->code, TN_LIT("the other"));
  compare_place(of, wanted, value_member(diag, TN_LIT("span")));
  for (size_t i = 0; i < wanted->field_count; i++) {
    const field *part = &wanted->fields[i];
    tn_str got = diag_field(diag, part->name);
    if (tn_str_equal(got, str_of(part->value))) continue;
    printf("%s:%zu: field %.*s: wanted %.*s, got %.*s\n", of->path, wanted->line, (int)part->name.length,
           part->name.bytes, (int)part->value.length, part->value.bytes, (int)got.len, got.at);
    of->mistakes++;
  }
}

/* One to one and in order: an unexpected diagnostic is noise, and noise fails. */
static void compare_diags(program *of, const value *diags) {
  const value *at = diags && diags->kind == TN_JSON_ARRAY_BEGIN ? diags->first : NULL;
  for (size_t i = 0; i < of->diag_count; i++) {
    if (!at) complain(of, of->diags[i].line, "did not come: ", of->diags[i].code);
    else compare_diag(of, &of->diags[i], at);
    if (at) at = at->next;
  }
  for (; at; at = at->next) {
    int64_t line = 1;
    const value *code = value_member(at, TN_LIT("code"));
    value_integer(value_at(at, TN_LIT("span.line")), &line);
    complain(of, (size_t)line, "unexpected: ", code ? text_from(code->text) : nothing);
  }
}

static void compare_jsons(program *of, const value *root, tn_arena *arena) {
  for (size_t i = 0; i < of->json_count; i++) {
    const wanted_json *wanted = &of->jsons[i];
    const char *reason = NULL;
    const value *json = value_parse(arena, str_of(wanted->json), &reason);
    if (!json) complain(of, wanted->line, "is not JSON: ", wanted->json);
    else if (!value_equal(json, value_at(root, str_of(wanted->path))))
      complain(of, wanted->line, "differs: ", wanted->path);
  }
}

static void compare_printed(program *of, lines got) {
  if (lines_match(of->printed, got)) return;
  printf("%s:1: printed: wanted (-), got (+)\n", of->path);
  lines_show("-", of->printed);
  lines_show("+", got);
  of->mistakes++;
}

/* What was printed, as --json has it: one string for each time, possibly of several lines. */
static text printed_text(const value *root) {
  const value *printed = value_member(root, TN_LIT("printed"));
  text whole = text_of("");
  for (const value *at = printed ? printed->first : NULL; at; at = at->next) {
    text_add(&whole, at->text.at, at->text.len);
    text_add(&whole, "\n", 1);
  }
  return whole;
}

static void compare_json_run(program *of, const outcome *done) {
  tn_heap heap = { 0 };
  tn_arena arena;
  const char *reason = NULL;
  if (done->err.length) complain(of, 1, "on standard error: ", done->err);
  tn_arena_init(&arena, &heap);
  const value *root = value_parse(&arena, str_of(done->out), &reason);
  if (!root) {
    complain(of, 1, "standard output is not JSON: ", done->out);
  } else {
    const value *ok = value_member(root, TN_LIT("ok"));
    bool good = ok && ok->kind == TN_JSON_TRUE;
    if (good != (done->status == 0)) complain(of, 1, "`ok` contradicts the exit status", nothing);
    compare_diags(of, value_member(root, good ? TN_LIT("warnings") : TN_LIT("diagnostics")));
    compare_jsons(of, root, &arena);
    text printed = printed_text(root);
    lines got = lines_of(printed);
    if (of->printed.count || !good) compare_printed(of, got);
    free(got.at);
    free(printed.bytes);
  }
  tn_arena_free(&arena);
}

/* Where the program prints as many lines as it expects, they can be put beside the
 * same code again; anything else is for a person to sort out. */
static bool rewrite(const program *of, lines got) {
  if (got.count != of->printed.count || got.open) return false;
  text updated = text_of("");
  for (size_t i = 0, next = 0; i < of->all.count; i++) {
    text line = of->all.at[i];
    if (next < got.count && of->printed_at[next] == i) {
      size_t kept = (size_t)(of->printed.at[next].bytes - line.bytes);
      text_add(&updated, line.bytes, kept);
      text_add(&updated, got.at[next].bytes, got.at[next].length);
      next++;
    } else {
      text_add(&updated, line.bytes, line.length);
    }
    text_add(&updated, "\n", 1);
  }
  write_file(of->path, updated);
  free(updated.bytes);
  return true;
}

static void compare_plain_run(program *of, const outcome *done, bool update) {
  lines got = lines_of(done->out);
  if (update && !of->mistakes && !lines_match(of->printed, got) && rewrite(of, got)) {
    printf("%s: rewritten\n", of->path);
  } else {
    compare_printed(of, got);
    if (done->err.length) complain(of, 1, "on standard error: ", done->err);
  }
  free(got.at);
}

/* Running ------------------------------------------------------------------ */

static outcome run_program(const program *of, const session *with, bool json) {
  const char *slash = strrchr(of->path, '/'), *name = slash ? slash + 1 : of->path;
  text folder = slash ? text_span(of->path, (size_t)(slash - of->path)) : text_of(".");
  text verb = of->verb.length ? text_span(of->verb.bytes, of->verb.length) : text_of("run");
  const char **argv = more(NULL, (of->arguments.count + 5) * sizeof *argv);
  size_t count = 0;

  argv[count++] = getenv("TERN");
  argv[count++] = verb.bytes;
  argv[count++] = name;
  if (json) argv[count++] = "--json";
  for (size_t i = 0; i < of->arguments.count; i++) argv[count++] = of->arguments.at[i].bytes;
  argv[count] = NULL;
  outcome done = run(argv, folder.bytes, NULL, with->seconds, 0);
  free(argv);
  free(verb.bytes);
  free(folder.bytes);
  return done;
}

static void run_file(session *with, const char *path) {
  program of;
  program_read(&of, path);
  with->count++;
  if (!of.mistakes) {
    bool json = of.diag_count || of.json_count || of.status == 1;
    outcome done = run_program(&of, with, json);
    if (json) compare_json_run(&of, &done);
    else compare_plain_run(&of, &done, with->update);
    if (done.timed_out) complain(&of, 1, "did not end in time", nothing);
    else if (done.status != of.status) {
      printf("%s:1: status: wanted %d, got %d\n", path, of.status, done.status);
      of.mistakes++;
    }
    outcome_free(&done);
  }
  with->failed += of.mistakes > 0;
  program_free(&of);
}

static bool is_program(const char *name) {
  static const char *const endings[] = { ".mind", ".nth", ".ninth", ".ail" };
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (ends_with(name, endings[i])) return true;
  return false;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void run_path(session *with, const char *path);

/* Folders and files that begin with `_` are what programs use, not tests. */
static void run_folder(session *with, const char *path, DIR *folder) {
  char **found = NULL;
  size_t count = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.' || entry->d_name[0] == '_') continue;
    text full = { 0 };
    text_addf(&full, "%s/%s", path, entry->d_name);
    found = more(found, (count + 1) * sizeof *found);
    found[count++] = full.bytes;
  }
  closedir(folder);
  if (count) qsort(found, count, sizeof *found, by_name);
  for (size_t i = 0; i < count; i++) {
    struct stat info;
    bool is_folder = stat(found[i], &info) == 0 && S_ISDIR(info.st_mode);
    if (is_folder || is_program(found[i])) run_path(with, found[i]);
    free(found[i]);
  }
  free(found);
}

static void run_path(session *with, const char *path) {
  DIR *folder = opendir(path);
  if (folder) run_folder(with, path, folder);
  else run_file(with, path);
}

static const char *usage =
  "usage: langtest --tern PROGRAM [--tests FOLDER] [--seconds N] [--update] FILE|FOLDER...";

int main(int count, char **arguments) {
  session with = { .tests = ".", .seconds = 30 };
  int i = 1;
  for (; i < count && arguments[i][0] == '-'; i++) {
    bool more_words = i + 1 < count;
    if (strcmp(arguments[i], "--update") == 0) with.update = true;
    else if (strcmp(arguments[i], "--tern") == 0 && more_words) with.tern = arguments[++i];
    else if (strcmp(arguments[i], "--tests") == 0 && more_words) with.tests = arguments[++i];
    else if (strcmp(arguments[i], "--seconds") == 0 && more_words) with.seconds = atoi(arguments[++i]);
    else die("%s", usage);
  }
  if (!with.tern || i == count) die("%s", usage);
  surroundings(with.tern, with.tests);
  for (; i < count; i++) run_path(&with, arguments[i]);
  printf("%zu programs, %zu failed\n", with.count, with.failed);
  return with.count && !with.failed ? 0 : 1;
}
