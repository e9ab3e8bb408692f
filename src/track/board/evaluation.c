/* track/board/evaluation.c: reads evaluation.json of a run's folder, which `tern evaluate --record`
 * writes.
 *
 * The folder may have come from anywhere. So only a plain file in that very
 * folder is read, up to a limit, and every member that the page shows is checked
 * for its kind and its size on its way into the answer. Others are left out. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/seal.h"
#include "track/board/internal.h"

#define NAME "evaluation.json"
#define FILE_LIMIT   ((uint64_t)1 << 20)
#define MOST_METRICS 64
#define MOST_CLASSES 100
#define MOST_WORST   50
#define LONGEST_TEXT 1024

typedef struct {
  tn_json_reader json;
  tn_json_token token; /* the last one */
  tn_json_writer out;
  const char *problem; /* static; NULL: none yet */
  int64_t classes, confused; /* names, and rows of the matrix; -1: none */
} reading;

static bool fail(reading *r, const char *problem) {
  if (!r->problem) r->problem = problem;
  return false;
}

static tn_json_kind next(reading *r) { return tn_json_next(&r->json, &r->token); }

/* ---- values ---- */

typedef bool copy_value(reading *r);

static bool copy_text(reading *r) {
  if (r->token.kind != TN_JSON_STRING || r->token.text.len > LONGEST_TEXT)
    return fail(r, "a text is missing or too long");
  tn_json_string(&r->out, r->token.text);
  return true;
}

static bool copy_count(reading *r) {
  int64_t number;
  if (r->token.kind != TN_JSON_NUMBER || !tn_json_token_i64(&r->token, &number) || number < 0)
    return fail(r, "a count is not a whole number from 0");
  tn_json_int(&r->out, number);
  return true;
}

/* JSON has no NaN and no infinity: these words represent them. */
static bool is_no_number(const tn_json_token *token) {
  return token->kind == TN_JSON_STRING &&
         (tn_str_is(token->text, "NaN") || tn_str_is(token->text, "Infinity") ||
          tn_str_is(token->text, "-Infinity"));
}

static bool copy_number(reading *r) {
  double number;
  if (is_no_number(&r->token)) return tn_json_string(&r->out, r->token.text), true;
  if (r->token.kind != TN_JSON_NUMBER || !tn_json_token_f64(&r->token, &number))
    return fail(r, "a value is not a number");
  tn_json_f64(&r->out, number);
  return true;
}

/* An array of at most `most` items; their number, or -1 after noting the problem. */
static int64_t copy_array(reading *r, copy_value *item, int64_t most) {
  int64_t count = 0;
  if (r->token.kind != TN_JSON_ARRAY_BEGIN) return fail(r, "a list is missing"), -1;
  tn_json_array_begin(&r->out);
  for (; next(r) > TN_JSON_END && r->token.kind != TN_JSON_ARRAY_END; count++) {
    if (count == most) return fail(r, "a list is too long"), -1;
    if (!item(r)) return -1;
  }
  tn_json_array_end(&r->out);
  return r->token.kind == TN_JSON_ARRAY_END ? count : (fail(r, "it is not JSON"), -1);
}

/* ---- members ---- */

typedef struct {
  const char *name;
  copy_value *copy;
  bool required;
} member;

static int find_member(const member *members, int count, tn_str name) {
  for (int i = 0; i < count; i++) {
    if (tn_str_is(name, members[i].name)) return i;
  }
  return -1;
}

static bool copy_member(reading *r, const member *members, int count, unsigned *seen) {
  int i = find_member(members, count, r->token.text);
  next(r);
  if (i < 0) return tn_json_skip(&r->json, &r->token) || fail(r, "it is not JSON");
  if (*seen & 1u << i) return fail(r, "a member is repeated");
  *seen |= 1u << i;
  tn_json_key(&r->out, members[i].name);
  return members[i].copy(r);
}

static bool copy_object(reading *r, const member *members, int count) {
  unsigned seen = 0;
  if (r->token.kind != TN_JSON_OBJECT_BEGIN) return fail(r, "an object is missing");
  tn_json_object_begin(&r->out);
  while (next(r) == TN_JSON_KEY) {
    if (!copy_member(r, members, count, &seen)) return false;
  }
  tn_json_object_end(&r->out);
  if (r->token.kind != TN_JSON_OBJECT_END) return fail(r, "it is not JSON");
  for (int i = 0; i < count; i++) {
    if (members[i].required && !(seen & 1u << i)) return fail(r, "a member is missing");
  }
  return true;
}

static bool copy_metrics(reading *r) {
  int count = 0;
  if (r->token.kind != TN_JSON_OBJECT_BEGIN) return fail(r, "the metrics are missing");
  tn_json_object_begin(&r->out);
  while (next(r) == TN_JSON_KEY) {
    if (++count > MOST_METRICS || r->token.text.len > LONGEST_TEXT)
      return fail(r, "there are too many metrics");
    tn_json_key_str(&r->out, r->token.text);
    next(r);
    if (!copy_number(r)) return false;
  }
  tn_json_object_end(&r->out);
  return r->token.kind == TN_JSON_OBJECT_END || fail(r, "it is not JSON");
}

static bool copy_classes(reading *r) {
  r->classes = copy_array(r, copy_text, MOST_CLASSES);
  return r->classes >= 0;
}

static bool copy_counts(reading *r) {
  int64_t count = copy_array(r, copy_count, MOST_CLASSES);
  if (count >= 0 && count != r->classes) return fail(r, "the matrix does not have a column per class");
  return count >= 0;
}

/* After the classes, as it is written. */
static bool copy_confusion(reading *r) {
  r->confused = copy_array(r, copy_counts, MOST_CLASSES);
  if (r->confused >= 0 && r->confused != r->classes)
    return fail(r, "the matrix does not have a row per class");
  return r->confused >= 0;
}

static bool copy_mistake(reading *r) {
  static const member members[] = { { "row", copy_count, true },      { "line", copy_count, false },
                                    { "place", copy_count, false },   { "class", copy_text, false },
                                    { "predicted", copy_text, false }, { "probability", copy_number, false },
                                    { "loss", copy_number, false },   { "value", copy_number, false },
                                    { "answer", copy_number, false }, { "error", copy_number, false } };
  return copy_object(r, members, sizeof members / sizeof *members);
}

static bool copy_worst(reading *r) { return copy_array(r, copy_mistake, MOST_WORST) >= 0; }

static bool copy_all(reading *r) {
  static const member members[] = { { "data", copy_text, true },         { "data_sha256", copy_text, false },
                                    { "weights_sha256", copy_text, false }, { "rows", copy_count, true },
                                    { "metrics", copy_metrics, true },   { "class_count", copy_count, false },
                                    { "classes", copy_classes, false },
                                    { "confusion", copy_confusion, false },
                                    { "worst", copy_worst, false } };
  next(r);
  return copy_object(r, members, sizeof members / sizeof *members) &&
         (next(r) == TN_JSON_END || fail(r, "it is not JSON"));
}

/* ---- the file ---- */

void tn_evaluation_stamp(tn_str folder, tn_text *out) {
  int descriptor = -1;
  if (folder.len > 0) (void)tn_file_open_beneath(folder.at, NAME, NULL, &descriptor);
  tn_answer_stamp(descriptor, out);
}

static void refuse(tn_answer *answer, const char *problem) {
  tn_text reason;
  tn_text_init(&reason, answer->heap);
  tn_text_puts(&reason, NAME " is damaged: ");
  tn_text_puts(&reason, problem);
  tn_answer_refuse(answer, 404, reason.failed ? "out of memory" : reason.at);
  tn_text_free(&reason);
}

static void answer_text(tn_answer *answer, tn_str text) {
  reading r = { .out = tn_json_writer_on(&answer->body), .classes = -1, .confused = -1 };
  const char *digits = tn_seal_find(text);
  if (!digits || !tn_seal_holds(text.at, text.len, digits)) {
    refuse(answer, "its hash does not match");
    return;
  }
  tn_json_init(&r.json, text, &answer->arena);
  tn_json_object_begin(&r.out);
  tn_json_key(&r.out, "ok"), tn_json_bool(&r.out, true);
  tn_json_key(&r.out, "evaluation");
  if (copy_all(&r))
    tn_json_object_end(&r.out);
  else
    refuse(answer, r.json.out_of_memory ? "out of memory" : r.problem);
}

static void answer_none(tn_answer *answer) {
  tn_text_puts(&answer->body, "{\"ok\":true,\"evaluation\":null}");
}

void tn_evaluation_answer(tn_answer *answer, tn_str folder) {
  tn_file_bytes bytes = { 0 };
  tn_file_status status = TN_FILE_NOT_FOUND;
  if (folder.len > 0) status = tn_file_read_beneath(answer->heap, folder.at, NAME, FILE_LIMIT, NULL, &bytes);
  if (status == TN_FILE_OK)
    answer_text(answer, (tn_str){ bytes.at, bytes.len });
  else if (status == TN_FILE_NOT_FOUND)
    answer_none(answer);
  else
    tn_answer_refuse(answer, 404, status == TN_FILE_TOO_LARGE ? NAME " is too large"
                                                              : NAME " cannot be read");
  tn_file_release(answer->heap, &bytes);
}
