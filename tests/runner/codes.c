/* runner/codes.c: every code of diag.def is true to what it says of itself.
 *
 *   codes --tern TERN --tests TESTS [CODE...]
 *
 * The examples of each code are run as `tern explain` shows them: the wrong one must give the code, the
 * right one must end well without it. And each code is raised by a test: a program in tests/diag that bears
 * its name, or what tests/diag/_elsewhere.txt names: the test that raises it, which must mention the code,
 * or the reason why none does. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/example.h"

static const char *tern = "tern", *tests = "tests";
static int failures, run_examples, without_example;

static void wrong(const tn_diag_info *info, const char *what, const outcome *done) {
  printf("FAILED: %s: %s\n", info->code, what);
  if (done) printf("status %d\n%s%s", done->status, done->out.bytes, done->err.bytes);
  failures++;
}

/* ---- examples ---- */

static bool gives(const outcome *done, const tn_diag_info *info) {
  text wanted = { 0 };
  text_addf(&wanted, "\"code\":\"%s\"", info->code);
  bool found = strstr(done->out.bytes, wanted.bytes) != NULL;
  free(wanted.bytes);
  return found;
}

/* Whether the list says that tern does not raise the code yet. */
static bool is_pending(const tn_diag_info *info, lines elsewhere) {
  for (size_t i = 0; i < elsewhere.count; i++)
    if (strncmp(elsewhere.at[i].bytes, info->code, strlen(info->code)) == 0 &&
        strstr(elsewhere.at[i].bytes, " - not yet"))
      return true;
  return false;
}

static void check_examples(const tn_diag_info *info) {
  char *folder = scratch_new();
  bool warning = info->severity == TN_SEVERITY_WARNING;
  run_examples += 2;
  outcome bad = run_example(info, folder, false, " --json");
  if (!gives(&bad, info)) wrong(info, "its wrong example does not give it", &bad);
  else if (bad.status != (warning ? 0 : info->status ? info->status : 1))
    wrong(info, "its wrong example ends with another status", &bad);
  outcome good = run_example(info, folder, true, " --json");
  if (gives(&good, info)) wrong(info, "its right example gives it too", &good);
  else if (good.status != 0) wrong(info, "its right example fails", &good);
  outcome_free(&bad);
  outcome_free(&good);
  scratch_free(folder);
}

/* ---- tests ---- */

static bool has_program(const char *code) {
  text path = { 0 };
  bool found = false;
  text_addf(&path, "%s/diag", tests);
  DIR *folder = opendir(path.bytes);
  if (!folder) die("cannot open %s", path.bytes);
  size_t length = strlen(code);
  for (struct dirent *entry; !found && (entry = readdir(folder));)
    found = strncmp(entry->d_name, code, length) == 0 && entry->d_name[length] == '.';
  closedir(folder);
  free(path.bytes);
  return found;
}

/* A line of the list: a code, blanks, the test that raises it, or a dash and a reason. */
static bool is_raised_by(const tn_diag_info *info, text line) {
  char code[64], file[256];
  if (sscanf(line.bytes, "%63s %255s", code, file) != 2 || strcmp(code, info->code) != 0) return false;
  if (strcmp(file, "-") == 0) return true;
  text path = { 0 };
  bool missing = false;
  text_addf(&path, "%s/%s", tests, file);
  text content = read_file(path.bytes, &missing);
  bool mentioned = !missing && strstr(content.bytes, info->code);
  if (!mentioned) wrong(info, "the test that _elsewhere.txt names does not mention it", NULL);
  free(content.bytes);
  free(path.bytes);
  return true;
}

static void check_test(const tn_diag_info *info, lines elsewhere) {
  bool listed = false, program = has_program(info->code);
  for (size_t i = 0; i < elsewhere.count && !listed; i++) listed = is_raised_by(info, elsewhere.at[i]);
  if (!program && !listed) wrong(info, "no program in tests/diag, and no line in _elsewhere.txt", NULL);
  if (program && listed) wrong(info, "_elsewhere.txt lists it though it has a program", NULL);
}

/* Each line as a text of its own, so that it ends where the line does. */
static lines read_elsewhere(void) {
  text path = { 0 };
  lines result = { 0 };
  text_addf(&path, "%s/diag/_elsewhere.txt", tests);
  text whole = read_file(path.bytes, NULL);
  lines all = lines_of(whole);
  for (size_t i = 0; i < all.count; i++) {
    text line = { 0 };
    if (all.at[i].length == 0 || all.at[i].bytes[0] == '#') continue;
    text_add(&line, all.at[i].bytes, all.at[i].length);
    lines_add(&result, line);
    char code[64] = "";
    if (sscanf(line.bytes, "%63s", code) != 1 || tn_diag_find(tn_str_of(code)) == TN_DIAG_NONE) {
      printf("FAILED: _elsewhere.txt: there is no code %s\n", code);
      failures++;
    }
  }
  free(all.at);
  free(whole.bytes);
  free(path.bytes);
  return result;
}

static void free_lines(lines *all) {
  for (size_t i = 0; i < all->count; i++) free(all->at[i].bytes);
  free(all->at);
}

static bool is_wanted(const tn_diag_info *info, char **codes, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(codes[i], info->code) == 0) return true;
  return count == 0;
}

int main(int count, char **words) {
  int first = 1;
  for (; first + 1 < count && words[first][0] == '-'; first += 2) {
    if (strcmp(words[first], "--tern") == 0) tern = words[first + 1];
    else if (strcmp(words[first], "--tests") == 0) tests = words[first + 1];
    else die("usage: codes --tern TERN --tests TESTS [CODE...]");
  }
  surroundings(tern, tests);
  lines elsewhere = read_elsewhere();
  int checked = 0;
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++) {
    const tn_diag_info *info = tn_diag_info_of((tn_diag_code)i);
    if (!is_wanted(info, words + first, count - first)) continue;
    checked++;
    check_test(info, elsewhere);
    if (is_pending(info, elsewhere)) printf("not yet raised: %s\n", info->code);
    else if (info->wrong) check_examples(info);
    else if (info->no_example) without_example++;
    else wrong(info, "it has no example and does not say why", NULL);
  }
  printf("%d codes, %d examples run, %d codes say why they have none, %d failures\n", checked, run_examples,
         without_example, failures);
  free_lines(&elsewhere);
  return failures > 0 || checked == 0;
}
