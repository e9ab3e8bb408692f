/* track/board/write.c: answers POST requests: changes tags and notes of a run, or deletes one.
 *
 * The client has shown the token of this board (request.c). The body is parsed as strictly as any
 * other untrusted input, and its texts are bounded before they reach the history. */
#include <string.h>

#include "base/json.h"
#include "track/board/internal.h"

#define MOST_NOTES   16384 /* bytes */
#define MOST_TAGS    32
#define LONGEST_TAG  64 /* bytes */

static bool refuse(tn_answer *answer, int status, const char *reason) {
  tn_answer_refuse(answer, status, reason);
  return false;
}

/* ---- the body ---- */

typedef struct {
  tn_str tags, notes; /* in the answer's arena; `at` NULL: not given */
} remarks;

static bool is_control(char c) { return (unsigned char)c < ' ' || c == 127; }
static bool is_between(char c) { return c == ' ' || c == ',' || c == '\t' || c == '\n' || c == '\r'; }

/* Whether the words so far contain this one. */
static bool has_word(const tn_text *words, tn_str word) {
  tn_run_row row = { .value[TN_RUN_TAGS] = tn_text_str(words) };
  return tn_run_has_tag(&row, word);
}

static bool add_tag(tn_answer *answer, tn_text *out, int *count, tn_str tag) {
  if (tag.len > LONGEST_TAG) return refuse(answer, 400, "a tag is too long");
  for (size_t i = 0; i < tag.len; i++) {
    if (is_control(tag.at[i])) return refuse(answer, 400, "a tag contains a control character");
  }
  if (has_word(out, tag)) return true;
  if (++*count > MOST_TAGS) return refuse(answer, 400, "there are too many tags");
  if (out->len > 0) tn_text_byte(out, ' ');
  tn_text_add(out, tag);
  return true;
}

/* Each word once, with a blank between them. */
static bool read_tags(tn_answer *answer, tn_str text, tn_str *out) {
  tn_text words;
  int count = 0;
  bool ok = true;
  tn_text_init(&words, answer->heap);
  for (size_t begin = 0; ok && begin < text.len;) {
    size_t end = begin;
    while (end < text.len && !is_between(text.at[end])) end++;
    if (end > begin) ok = add_tag(answer, &words, &count, (tn_str){ text.at + begin, end - begin });
    begin = end + 1;
  }
  if (words.failed) answer->arena.failed = true;
  *out = words.len > 0 ? tn_arena_str(&answer->arena, tn_text_str(&words)) : TN_LIT("");
  tn_text_free(&words);
  return ok;
}

static bool read_notes(tn_answer *answer, tn_str text, tn_str *out) {
  if (text.len > MOST_NOTES) return refuse(answer, 400, "the notes are too long");
  if (memchr(text.at ? text.at : "", 0, text.len)) return refuse(answer, 400, "the notes contain a NUL");
  *out = text.len > 0 ? tn_arena_str(&answer->arena, text) : TN_LIT("");
  return true;
}

static bool read_member(tn_answer *answer, tn_str key, const tn_json_token *value, remarks *out) {
  bool tags = tn_str_is(key, "tags"), notes = tn_str_is(key, "notes");
  if ((!tags && !notes) || value->kind != TN_JSON_STRING || (tags ? out->tags : out->notes).at)
    return refuse(answer, 400, "the body must be an object with texts as tags and notes");
  return tags ? read_tags(answer, value->text, &out->tags) : read_notes(answer, value->text, &out->notes);
}

static bool read_remarks(tn_answer *answer, tn_str body, remarks *out) {
  tn_json_reader json;
  tn_json_token key, value = { 0 };
  tn_json_init(&json, body, &answer->arena);
  bool whole = tn_json_next(&json, &key) == TN_JSON_OBJECT_BEGIN;
  while (whole && tn_json_next(&json, &key) == TN_JSON_KEY) {
    tn_str name = tn_arena_str(&answer->arena, key.text);
    if (tn_json_next(&json, &value) <= TN_JSON_END) break;
    if (!read_member(answer, name, &value, out)) return false;
  }
  whole = whole && key.kind == TN_JSON_OBJECT_END && tn_json_next(&json, &key) == TN_JSON_END;
  if (answer->arena.failed) return refuse(answer, 500, "out of memory");
  return whole || refuse(answer, 400, "the body is not JSON");
}

/* ---- changing the history ---- */

/* NULL after refusing. */
static tn_store *open_as(tn_answer *answer, tn_store_mode mode) {
  bool absent;
  tn_store *store = tn_store_open_for(answer->heap, answer->options->store, mode, TN_BOARD_PATIENCE,
                                      &answer->diags, &absent);
  if (!store && absent) refuse(answer, 404, "there is no such run");
  if (!store && !absent) refuse(answer, 503, "the history of runs cannot be changed now");
  return store;
}

/* Opening to write makes a history where there is none, so it is looked for first. An older one is moved to
 * the tables of this version. */
static tn_store *open_to_write(tn_answer *answer) {
  tn_store *there = open_as(answer, TN_STORE_REMOVE);
  tn_store_close(there);
  return there ? open_as(answer, TN_STORE_WRITE) : NULL;
}

static void write_remarks(tn_answer *answer, const tn_run_row *row) {
  tn_json_writer json = tn_json_writer_on(&answer->body);
  tn_json_object_begin(&json);
  tn_json_key(&json, "ok"), tn_json_bool(&json, true);
  tn_json_key(&json, "tags"), tn_json_string(&json, row->value[TN_RUN_TAGS]);
  tn_json_key(&json, "notes"), tn_json_string(&json, row->value[TN_RUN_NOTES]);
  tn_json_object_end(&json);
}

static void annotate(tn_answer *answer, int64_t id, tn_str body) {
  remarks said = { 0 };
  tn_run_row row;
  if (!read_remarks(answer, body, &said)) return;
  tn_store *store = open_to_write(answer);
  if (!store) return;
  bool found = tn_answer_find(answer, store, id, &row);
  bool ok = found && tn_store_annotate(store, id, said.tags, said.notes) &&
            tn_answer_find(answer, store, id, &row);
  tn_store_close(store);
  if (ok)
    write_remarks(answer, &row);
  else if (found)
    refuse(answer, 503, "the history of runs cannot be changed now");
}

/* A run in progress would no longer be recorded, without an explanation. */
static void forget(tn_answer *answer, int64_t id, tn_str body) {
  tn_run_row row;
  bool removed = false;
  if (!tn_str_is(body, "{}")) {
    tn_answer_refuse(answer, 400, "the body must be {}");
    return;
  }
  tn_store *store = open_as(answer, TN_STORE_REMOVE);
  if (!store) return;
  bool found = tn_answer_find(answer, store, id, &row);
  bool ended = found && !tn_str_is(row.value[TN_RUN_STATUS], "running");
  bool ok = ended && tn_store_remove(store, &row, id, &removed);
  tn_store_close(store);
  if (removed)
    tn_text_puts(&answer->body, "{\"ok\":true}");
  else if (found && (!ended || ok))
    refuse(answer, 409, "the run is in progress");
  else if (found)
    refuse(answer, 503, "the history of runs cannot be changed now");
}

/* ---- addresses ---- */

static const struct {
  const char *rest;
  void (*change)(tn_answer *answer, int64_t id, tn_str body);
} changes[] = { { "/notes", annotate }, { "/remove", forget } };
#define CHANGES (sizeof changes / sizeof *changes)

/* CHANGES: none. */
static size_t change_of(const char *path, int64_t *id) {
  const char *rest;
  size_t i = 0;
  if (!tn_answer_split(path, id, &rest)) return CHANGES;
  while (i < CHANGES && strcmp(rest, changes[i].rest) != 0) i++;
  return i;
}

bool tn_answer_takes(const char *path) {
  int64_t id;
  return change_of(path, &id) < CHANGES;
}

void tn_answer_post(tn_answer *answer, const char *path, tn_str body) {
  int64_t id;
  size_t change = change_of(path, &id);
  if (change < CHANGES) changes[change].change(answer, id, body);
}
