/* lang/ail/lines.c: the dependencies between the lines of a session.
 *
 * What a line binds and uses is read off its tokens, conservatively: every name in it is used,
 * except the one that an assignment replaces; every name outside of brackets before `=`, `[` or
 * `:`, or after a declaring word, is bound. A line that is included without need costs time and
 * changes nothing. */
#include "lang/ail/lines.h"

#include <stdlib.h>
#include <string.h>

#include "lang/ail/lexer.h"

void tn_ail_lines_init(tn_ail_lines *lines, tn_heap *heap, tn_names *names) {
  *lines = (tn_ail_lines){ .heap = heap, .names = names };
  tn_map_init(&lines->meaning, heap);
}

static void free_line(tn_ail_lines *lines, tn_ail_line *line) {
  tn_heap_free(lines->heap, (char *)line->text.at, line->text.len + 1);
  tn_heap_free(lines->heap, line->needs, line->need_count * sizeof *line->needs);
  tn_heap_free(lines->heap, line, sizeof *line);
}

void tn_ail_lines_free(tn_ail_lines *lines) {
  for (tn_ail_line *line = lines->first, *next; line; line = next) {
    next = line->newer;
    free_line(lines, line);
  }
  tn_map_free(&lines->meaning);
  tn_vec_free(lines->heap, &lines->always);
  tn_vec_free(lines->heap, &lines->found);
  tn_ail_lines_init(lines, lines->heap, lines->names);
}

/* ---- what a line uses and binds ---- */

static bool declares(tn_ail_word word) {
  return word == TN_AIL_WORD_CONST || word == TN_AIL_WORD_FN || word == TN_AIL_WORD_INPUT ||
         word == TN_AIL_WORD_PARAM || word == TN_AIL_WORD_LAYER;
}

/* The names of a text, one after the other. */
typedef struct {
  tn_str text;
  tn_ail_lexer lexer;
  tn_ail_token next;
  tn_ail_word before; /* the word of the token before */
  int depth;
} names_in;

typedef struct {
  tn_str name;
  bool bound;    /* it may be */
  bool drawn;    /* as an input or a parameter */
  bool replaced; /* what it meant before is not used, unless that is a declaration */
} mention;

static names_in begin_names(tn_str text) {
  names_in n = { .text = text };
  tn_ail_lexer_init(&n.lexer, text);
  n.next = tn_ail_lexer_next(&n.lexer);
  return n;
}

static bool next_name(names_in *n, mention *out) {
  while (n->next.kind != TN_AIL_TOKEN_END) {
    tn_ail_token token = n->next;
    tn_ail_word before = n->before;
    n->next = tn_ail_lexer_next(&n->lexer);
    n->before = token.word;
    n->depth += tn_ail_token_nesting(token.kind);
    if (token.kind != TN_AIL_TOKEN_NAME) continue;
    bool shaped = n->next.kind == TN_AIL_TOKEN_OPEN_LIST || n->next.kind == TN_AIL_TOKEN_COLON;
    bool outside = n->depth <= 0;
    *out = (mention){ .name = { n->text.at + token.start, token.end - token.start } };
    bool assigned = n->next.kind == TN_AIL_TOKEN_ASSIGN;
    out->bound = outside && (declares(before) || shaped || assigned);
    out->replaced = outside && assigned && !declares(before);
    out->drawn = outside && (shaped || before == TN_AIL_WORD_INPUT || before == TN_AIL_WORD_PARAM);
    return true;
  }
  return false;
}

bool tn_ail_lines_binds_only(tn_str text, tn_str name) {
  names_in names = begin_names(text);
  mention each;
  bool only = true;
  while (next_name(&names, &each)) only &= !each.bound || tn_str_equal(each.name, name);
  return only;
}

static tn_ail_line *meaning_of(const tn_ail_lines *lines, tn_str name) {
  const uint64_t *line = tn_map_get(&lines->meaning, tn_names_find(lines->names, name));
  return line ? (tn_ail_line *)(uintptr_t)*line : NULL;
}

/* ---- searching ---- */

static bool meet(tn_ail_lines *lines, tn_ail_line *line) {
  if (!line || line->stamp == lines->stamp) return true;
  line->stamp = lines->stamp;
  return tn_vec_push(lines->heap, &lines->found, line);
}

/* The lines that the names of a text mean now. */
static bool meet_names(tn_ail_lines *lines, tn_str text) {
  names_in names = begin_names(text);
  mention each;
  lines->found.count = 0;
  if (++lines->stamp == 0) ++lines->stamp;
  while (next_name(&names, &each)) {
    tn_ail_line *line = meaning_of(lines, each.name);
    bool used = line && !(each.replaced && line->in_model);
    if (used && !meet(lines, line)) return false;
  }
  return true;
}

static int by_number(const void *a, const void *b) {
  uint64_t x = (*(tn_ail_line *const *)a)->number, y = (*(tn_ail_line *const *)b)->number;
  return x < y ? -1 : x > y;
}

bool tn_ail_lines_search(tn_ail_lines *lines, tn_str text) {
  if (!meet_names(lines, text)) return false;
  for (size_t i = 0; i < lines->always.count; i++) {
    if (!meet(lines, lines->always.at[i])) return false;
  }
  for (size_t i = 0; i < lines->found.count; i++) {
    const tn_ail_line *line = lines->found.at[i];
    for (size_t k = 0; k < line->need_count; k++) {
      if (!meet(lines, line->needs[k])) return false;
    }
  }
  if (lines->found.count > 1) qsort(lines->found.at, lines->found.count, sizeof *lines->found.at, by_number);
  return true;
}

static void write_line(const tn_ail_line *line, bool in_model, tn_text *out) {
  if (line->in_model != in_model) return;
  tn_text_add(out, line->text);
  tn_text_byte(out, '\n');
}

void tn_ail_lines_write(const tn_ail_lines *lines, bool in_model, tn_text *out) {
  for (size_t i = 0; i < lines->found.count; i++) write_line(lines->found.at[i], in_model, out);
}

void tn_ail_lines_write_all(const tn_ail_lines *lines, bool in_model, tn_text *out) {
  for (const tn_ail_line *line = lines->first; line; line = line->newer) write_line(line, in_model, out);
}

/* ---- keeping and letting go ---- */

static void unlink_line(tn_ail_lines *lines, tn_ail_line *line) {
  if (line->older)
    line->older->newer = line->newer;
  else
    lines->first = line->newer;
  if (line->newer)
    line->newer->older = line->older;
  else
    lines->last = line->older;
  lines->count--;
}

static void drop(tn_ail_line *line, tn_ail_line **dead) {
  if (--line->references > 0) return;
  line->next_dead = *dead;
  *dead = line;
}

/* A chain may be long: a list of what is to be freed, not recursion. */
static void release(tn_ail_lines *lines, tn_ail_line *line) {
  tn_ail_line *dead = NULL;
  if (line) drop(line, &dead);
  while (dead) {
    tn_ail_line *gone = dead;
    dead = gone->next_dead;
    for (size_t i = 0; i < gone->need_count; i++) drop(gone->needs[i], &dead);
    unlink_line(lines, gone);
    free_line(lines, gone);
  }
}

/* With one reference, for the caller; NULL when memory runs out. */
static tn_ail_line *new_line(tn_ail_lines *lines, tn_str text, bool in_model) {
  if (!meet_names(lines, text)) return NULL;
  tn_ail_line *line = tn_heap_alloc(lines->heap, sizeof *line);
  if (!line) return NULL;
  size_t bytes = lines->found.count * sizeof *line->needs;
  *line = (tn_ail_line){ .in_model = in_model, .number = ++lines->number, .references = 1 };
  line->need_count = lines->found.count;
  line->needs = tn_heap_alloc(lines->heap, bytes);
  line->text = (tn_str){ tn_heap_alloc(lines->heap, text.len + 1), text.len };
  if (!line->text.at || (bytes > 0 && !line->needs)) {
    free_line(lines, line);
    return NULL;
  }
  memcpy((char *)line->text.at, text.at, text.len);
  for (size_t i = 0; i < line->need_count; i++) {
    line->needs[i] = lines->found.at[i];
    line->needs[i]->references++;
  }
  line->older = lines->last;
  if (lines->last)
    lines->last->newer = line;
  else
    lines->first = line;
  lines->last = line;
  lines->count++;
  return line;
}

/* Every name that may be bound has a place in the map before any meaning changes. */
static bool make_places(tn_ail_lines *lines, tn_str text, bool *drawn) {
  names_in names = begin_names(text);
  mention each;
  while (next_name(&names, &each)) {
    *drawn |= each.drawn;
    if (!each.bound) continue;
    tn_name name = tn_names_intern(lines->names, each.name);
    if (name == 0) return false;
    if (!tn_map_get(&lines->meaning, name) && !tn_map_put(&lines->meaning, name, 0)) return false;
  }
  return !*drawn || tn_vec_reserve(lines->heap, &lines->always, 1);
}

bool tn_ail_lines_keep(tn_ail_lines *lines, tn_str text, bool in_model) {
  bool drawn = false;
  if (!make_places(lines, text, &drawn)) return false;
  tn_ail_line *line = new_line(lines, text, in_model);
  if (!line) return false;
  names_in names = begin_names(line->text);
  mention each;
  while (next_name(&names, &each)) {
    if (!each.bound) continue;
    uint64_t *meaning = tn_map_get(&lines->meaning, tn_names_find(lines->names, each.name));
    tn_ail_line *before = (tn_ail_line *)(uintptr_t)*meaning;
    if (before == line) continue;
    *meaning = (uint64_t)(uintptr_t)line;
    line->references++;
    release(lines, before);
  }
  if (drawn)
    lines->always.at[lines->always.count++] = line; /* the caller's reference becomes that */
  else
    release(lines, line);
  return true;
}
