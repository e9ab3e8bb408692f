/* train/record.c: writes run.json, and reads exactly that form. */
#include "train/record.h"

#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "base/seal.h"

const char tn_record_no_memory[] = "it does not fit into memory";
const char tn_record_unsealed[] = "its seal is missing";

static const char *const statuses[] = { [TN_RUN_STATUS_RUNNING] = "running",
                                        [TN_RUN_STATUS_COMPLETED] = "completed",
                                        [TN_RUN_STATUS_STOPPED] = "stopped" };
#define STATUS_COUNT (sizeof statuses / sizeof *statuses)

const char *tn_run_status_name(tn_run_status status) { return statuses[status]; }

/* ---- writing ---- */

static void add_hash(tn_json_writer *json, const char *key, const uint8_t digest[TN_SHA256_BYTES]) {
  tn_json_key(json, key);
  tn_text_byte(json->out, '"');
  tn_text_hex(json->out, digest, TN_SHA256_BYTES);
  tn_text_byte(json->out, '"');
  json->comma = true;
}

void tn_settings_write(const tn_setting *settings, size_t count, tn_text *out) {
  for (size_t i = 0; i < count; i++) {
    if (i > 0) tn_text_byte(out, '\n');
    tn_text_add(out, settings[i].name);
    tn_text_byte(out, '=');
    tn_text_add(out, settings[i].text);
  }
}

/* A run without any has no such member. */
static void add_settings(const tn_run_record *record, tn_json_writer *json) {
  if (record->setting_count == 0) return;
  tn_json_key(json, "set"), tn_json_object_begin(json);
  for (size_t i = 0; i < record->setting_count; i++)
    tn_json_key(json, record->settings[i].name.at), tn_json_string(json, record->settings[i].text);
  tn_json_object_end(json);
}

static void add_members(const tn_run_record *record, tn_json_writer *json) {
  char digits[TN_NUMBER_BYTES];
  tn_json_key(json, "program"), tn_json_string(json, record->program);
  tn_json_key(json, "version"), tn_json_string(json, record->version);
  add_hash(json, "source_sha256", record->source_sha256);
  add_hash(json, "data_sha256", record->data_sha256);
  /* A string: 64 bits do not fit the numbers of every reader of JSON. */
  tn_json_key(json, "seed"),
      tn_json_string(json, (tn_str){ digits, tn_number_print_u64(record->seed, digits) });
  tn_json_key(json, "data");
  if (record->data.at)
    tn_json_string(json, record->data);
  else
    tn_json_null(json);
  tn_json_key(json, "base"), tn_json_string(json, record->base);
  tn_json_key(json, "steps"), tn_json_int(json, record->steps);
  tn_json_key(json, "step"), tn_json_int(json, record->step);
  tn_json_key(json, "status"), tn_json_string(json, tn_str_of(statuses[record->status]));
  add_hash(json, "weights_sha256", record->weights_sha256);
  tn_json_key(json, "given"), tn_json_bool(json, record->given);
  add_settings(record, json);
  tn_json_key(json, "source"), tn_json_string(json, record->source);
}

void tn_record_write(const tn_run_record *record, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  size_t begin = out->len;
  tn_json_object_begin(&json);
  add_members(record, &json);
  size_t seal = tn_seal_reserve(out, false);
  tn_text_byte(out, '\n');
  if (!out->failed) tn_seal_close(out->at + begin, out->len - begin, out->at + seal);
}

/* ---- reading ---- */

typedef struct {
  tn_arena *arena;
  tn_json_token value;
  tn_run_record *record;
} member;

static bool take_text(const member *m, tn_str *into) {
  if (m->value.kind != TN_JSON_STRING) return false;
  *into = tn_arena_str(m->arena, m->value.text);
  return true;
}

static bool take_count(const member *m, int64_t *into) {
  return m->value.kind == TN_JSON_NUMBER && tn_json_token_i64(&m->value, into) && *into >= 0;
}

static int digit_of(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hash(const member *m, uint8_t into[TN_SHA256_BYTES]) {
  if (m->value.kind != TN_JSON_STRING || m->value.text.len != (size_t)2 * TN_SHA256_BYTES) return false;
  for (size_t i = 0; i < TN_SHA256_BYTES; i++) {
    int high = digit_of(m->value.text.at[2 * i]), low = digit_of(m->value.text.at[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    into[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

static bool take_status(const member *m) {
  for (size_t i = 0; i < STATUS_COUNT; i++) {
    if (m->value.kind != TN_JSON_STRING || !tn_str_is(m->value.text, statuses[i])) continue;
    m->record->status = (tn_run_status)i;
    return true;
  }
  return false;
}

static bool take_member(const member *m, tn_str key) {
  tn_run_record *r = m->record;
  if (tn_str_is(key, "program")) return take_text(m, &r->program);
  if (tn_str_is(key, "version")) return take_text(m, &r->version);
  if (tn_str_is(key, "source_sha256")) return take_hash(m, r->source_sha256);
  if (tn_str_is(key, "data_sha256")) return take_hash(m, r->data_sha256);
  if (tn_str_is(key, "weights_sha256")) return take_hash(m, r->weights_sha256);
  if (tn_str_is(key, "seed"))
    return m->value.kind == TN_JSON_STRING && tn_number_parse_u64(m->value.text, &r->seed);
  if (tn_str_is(key, "data")) return m->value.kind == TN_JSON_NULL || take_text(m, &r->data);
  if (tn_str_is(key, "base")) return take_text(m, &r->base);
  if (tn_str_is(key, "steps")) return take_count(m, &r->steps);
  if (tn_str_is(key, "step")) return take_count(m, &r->step);
  if (tn_str_is(key, "status")) return take_status(m);
  if (tn_str_is(key, "source")) return take_text(m, &r->source);
  if (tn_str_is(key, "given")) r->given = m->value.kind == TN_JSON_TRUE;
  return tn_str_is(key, "given") || tn_str_is(key, "tern.sha256");
}

#define SETTING_LIMIT 1000

static bool read_settings(tn_json_reader *json, tn_arena *arena, tn_run_record *out) {
  tn_json_token token;
  tn_setting *list = tn_arena_array(arena, SETTING_LIMIT, sizeof *list);
  if (!list) return false;
  out->settings = list;
  out->setting_count = 0;
  while (tn_json_next(json, &token) == TN_JSON_KEY) {
    if (out->setting_count == SETTING_LIMIT) return false;
    tn_setting *setting = &list[out->setting_count++];
    setting->name = tn_arena_str(arena, token.text);
    if (tn_json_next(json, &token) != TN_JSON_STRING) return false;
    setting->text = tn_arena_str(arena, token.text);
  }
  return token.kind == TN_JSON_OBJECT_END;
}

static bool parse(tn_str text, tn_arena *arena, tn_run_record *out) {
  tn_json_reader json;
  tn_json_token token;
  member m = { .arena = arena, .record = out };
  tn_json_init(&json, text, arena);
  if (tn_json_next(&json, &token) != TN_JSON_OBJECT_BEGIN) return false;
  while (tn_json_next(&json, &token) == TN_JSON_KEY) {
    tn_str key = token.text;
    if (tn_json_next(&json, &m.value) <= TN_JSON_END) return false;
    bool set = tn_str_is(key, "set") && m.value.kind == TN_JSON_OBJECT_BEGIN;
    if (!(set ? read_settings(&json, arena, out) : take_member(&m, key))) return false;
  }
  return token.kind == TN_JSON_OBJECT_END && tn_json_next(&json, &token) == TN_JSON_END;
}

/* Members that are missing, repeated, in another order or not ours show in what would be written. */
static const char *compare(tn_heap *heap, tn_str text, const tn_run_record *record) {
  tn_text again;
  tn_text_init(&again, heap);
  tn_record_write(record, &again);
  bool failed = again.failed, same = tn_str_equal(tn_text_str(&again), text);
  tn_text_free(&again);
  return failed ? tn_record_no_memory : same ? NULL : "it is not written as tern writes it";
}

const char *tn_record_read(tn_heap *heap, tn_str text, tn_arena *arena, tn_run_record *out) {
  *out = (tn_run_record){ 0 };
  bool parsed = parse(text, arena, out);
  if (arena->failed) return tn_record_no_memory;
  tn_str object = { text.at, text.len > 0 && text.at[text.len - 1] == '\n' ? text.len - 1 : text.len };
  const char *seal = tn_seal_find(object);
  if (seal && !tn_seal_holds(text.at, text.len, seal))
    return "it was changed: its hash does not match";
  if (!parsed) return "it is not the record of a run";
  return seal ? compare(heap, text, out) : tn_record_unsealed;
}
