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

#define COLUMNS 100

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
  printf("%s:%zu: is not what the tables say; `make test-update` rewrites it\n", path, i + 1);
  show_line("-", old, i);
  show_line("+", fresh, i);
  free(old.at);
  free(fresh.at);
}

/* Where to break a line of prose: the last blank within COLUMNS that is not inside code, else the first one
 * after it; `end` when there is none. */
static const char *break_of(const char *at, const char *end, size_t indent) {
  const char *best = NULL;
  size_t column = 0;
  bool code = false;
  for (const char *c = at; c < end; c++) {
    column += ((unsigned char)*c & 0xc0) != 0x80;   /* a character, not a byte */
    code ^= *c == '`';
    if (*c != ' ' || code || c < at + indent) continue;
    if (column > COLUMNS + 1 && best) break;
    best = c;
    if (column > COLUMNS) break;
  }
  return best ? best : end;
}

static size_t columns_of(const char *at, const char *end) {
  size_t columns = 0;
  for (; at < end; at++) columns += ((unsigned char)*at & 0xc0) != 0x80;
  return columns;
}

static void put_line(text *page, const char *at, const char *end) {
  size_t indent = end - at > 2 && memcmp(at, "- ", 2) == 0 ? 2 : 0;
  const char *rest = at;
  while (columns_of(rest, end) + (rest > at ? indent : 0) > COLUMNS) {
    const char *stop = break_of(rest, end, rest > at ? 1 : indent);
    if (stop == end) break;
    text_addf(page, "%s%.*s\n", rest > at && indent ? "  " : "", (int)(stop - rest), rest);
    rest = stop + 1;
  }
  text_addf(page, "%s%.*s\n", rest > at && indent ? "  " : "", (int)(end - rest), rest);
}

/* The page with its prose in lines of at most COLUMNS; code, tables and headings stay as they are. */
static text wrapped(text page) {
  text made = text_of("");
  bool fenced = false;
  const char *last = page.bytes + page.length;
  for (const char *at = page.bytes; at < last;) {
    const char *end = memchr(at, '\n', (size_t)(last - at));
    if (!end) end = last;
    bool fence = end - at >= 3 && memcmp(at, "```", 3) == 0;
    fenced ^= fence;
    if (fence || fenced || *at == '|' || *at == '#') text_addf(&made, "%.*s\n", (int)(end - at), at);
    else put_line(&made, at, end);
    at = end + 1;
  }
  free(page.bytes);
  return made;
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
  bool good = settle(docs, "operations.md", wrapped(operations_page()), update);
  return !(settle(docs, "errors.md", wrapped(errors_page()), update) && good);
}
