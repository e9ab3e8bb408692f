/* runner/pages.c: the pages of docs/reference/, generated from the tables of the program.
 *
 *   pages --tern TERN --docs FOLDER [--update]
 *
 * operations.md lists op/ops.def with the tables of the three languages; errors.md lists diag/diag.def, with
 * what tern prints for each wrong example. A page that differs fails and is shown at its first different
 * line; with --update it is rewritten. */
#include "runner/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show_line(const char *mark, lines all, size_t at) {
  if (at < all.count) printf("  %s %.*s\n", mark, (int)all.at[at].length, all.at[at].bytes);
  else printf("  %s (nothing more)\n", mark);
}

static void show_difference(const char *path, text committed, text made) {
  lines old = lines_of(committed), fresh = lines_of(made);
  size_t i = 0;
  while (i < old.count && i < fresh.count && old.at[i].length == fresh.at[i].length &&
         memcmp(old.at[i].bytes, fresh.at[i].bytes, old.at[i].length) == 0)
    i++;
  printf("%s:%zu: is not what the tables say; `make test-update` writes it anew\n", path, i + 1);
  show_line("-", old, i);
  show_line("+", fresh, i);
  free(old.at);
  free(fresh.at);
}

static bool settle(const char *docs, const char *name, text made, bool update) {
  text path = { 0 };
  bool missing = false;
  text_addf(&path, "%s/%s", docs, name);
  text committed = read_file(path.bytes, &missing);
  bool same = !missing && committed.length == made.length &&
              memcmp(committed.bytes, made.bytes, made.length) == 0;
  if (!same && update) write_file(path.bytes, made);
  else if (!same) show_difference(path.bytes, committed, made);
  printf("%s: %s\n", path.bytes, same ? "true to the tables" : update ? "rewritten" : "differs");
  free(committed.bytes);
  free(path.bytes);
  free(made.bytes);
  return same || update;
}

int main(int count, char **words) {
  const char *tern = NULL, *docs = NULL;
  bool update = false;
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--tern") == 0 && i + 1 < count) tern = words[++i];
    else if (strcmp(words[i], "--docs") == 0 && i + 1 < count) docs = words[++i];
    else if (strcmp(words[i], "--update") == 0) update = true;
    else die("usage: pages --tern TERN --docs DOCS [--update]");
  }
  if (!tern || !docs) die("usage: pages --tern TERN --docs DOCS [--update]");
  surroundings(tern, docs);
  bool good = settle(docs, "operations.md", operations_page(), update);
  return !(settle(docs, "errors.md", errors_page(), update) && good);
}
