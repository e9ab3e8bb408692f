/* train/mistakes.c: computes the confusion matrix and the worst rows. */
#include "train/mistakes.h"

#include <math.h>

#include "base/elementary.h"
#include "base/number.h"
#include "base/utf8.h"

#define NAME_BYTES 100 /* of a class: data.json may come from anybody */

/* One label or number of one row. */
typedef struct {
  int64_t item;   /* of the target */
  double badness; /* cross-entropy, or the absolute error */
} mistake;

typedef struct {
  const tn_mistakes_request *request;
  int64_t items, classes; /* of the target, and of each prediction; 1 for numbers */
  mistake worst[TN_MISTAKES_ROWS];
  size_t worst_count;
  uint64_t *confusion; /* [actual, predicted]; NULL: too many classes */
} judge;

/* ---- what is worst ---- */

/* NaN is worse than any number. */
static bool is_worse(double a, double b) { return isnan(a) ? !isnan(b) : a > b; }

/* Items come in their order, so that the first of equal ones stays first. */
static void note(judge *j, int64_t item, double badness) {
  size_t at = j->worst_count;
  if (at == TN_MISTAKES_ROWS && !is_worse(badness, j->worst[at - 1].badness)) return;
  if (at == TN_MISTAKES_ROWS) at--;
  else j->worst_count++;
  for (; at > 0 && is_worse(badness, j->worst[at - 1].badness); at--) j->worst[at] = j->worst[at - 1];
  j->worst[at] = (mistake){ item, badness };
}

/* ---- classes ---- */

static double logit(const judge *j, int64_t item, int64_t class) {
  return tn_view_get_f64(j->request->prediction, item * j->classes + class);
}

static int64_t label_of(const judge *j, int64_t item) {
  return (int64_t)tn_view_get_f64(j->request->target, item);
}

/* The largest logit, the first one on a tie. */
static int64_t predicted(const judge *j, int64_t item) {
  int64_t best = 0;
  for (int64_t c = 1; c < j->classes; c++) {
    if (logit(j, item, c) > logit(j, item, best)) best = c;
  }
  return best;
}

/* -log softmax(logits)[label] */
static double cross_entropy(const judge *j, int64_t item, int64_t label, int64_t best) {
  double most = logit(j, item, best), sum = 0;
  for (int64_t c = 0; c < j->classes; c++) sum += tn_exp_f64(logit(j, item, c) - most);
  return tn_log_f64(sum) + most - logit(j, item, label);
}

static void judge_class(judge *j, int64_t item) {
  int64_t label = label_of(j, item), best = predicted(j, item);
  if (label < 0 || label >= j->classes) return; /* readers refuse such labels */
  if (j->confusion) j->confusion[label * j->classes + best]++;
  note(j, item, cross_entropy(j, item, label, best));
}

/* ---- numbers ---- */

/* In the data's own units, where the run knows them. */
static double in_units(const judge *j, const tn_view *view, int64_t item) {
  const tn_input_facts *facts = j->request->facts;
  double number = tn_view_get_f64(view, item);
  if (!facts->mean || facts->width == 0) return number;
  size_t column = (size_t)item % facts->width;
  return number * facts->deviation[column] + facts->mean[column];
}

static void judge_number(judge *j, int64_t item) {
  const tn_mistakes_request *r = j->request;
  note(j, item, fabs(in_units(j, r->prediction, item) - in_units(j, r->target, item)));
}

/* ---- JSON ---- */

static void write_class(const judge *j, tn_json_writer *json, int64_t class) {
  const tn_input_facts *facts = j->request->facts;
  char digits[TN_NUMBER_BYTES];
  tn_str name = { digits, tn_number_print_i64(class, digits) };
  if (j->request->vocab && tn_vocab_text(j->request->vocab, (size_t)class).len > 0)
    name = tn_vocab_text(j->request->vocab, (size_t)class);
  if (facts->classes && (size_t)class < facts->class_count) name = facts->classes[class];
  tn_json_string(json, tn_utf8_clip(name, NAME_BYTES));
}

static void write_confusion(const judge *j, tn_json_writer *json) {
  tn_json_key(json, "class_count"), tn_json_int(json, j->classes);
  if (!j->confusion) return;
  tn_json_key(json, "classes"), tn_json_array_begin(json);
  for (int64_t c = 0; c < j->classes; c++) write_class(j, json, c);
  tn_json_array_end(json);
  tn_json_key(json, "confusion"), tn_json_array_begin(json);
  for (int64_t c = 0; c < j->classes; c++) {
    tn_json_array_begin(json);
    for (int64_t p = 0; p < j->classes; p++) tn_json_uint(json, j->confusion[c * j->classes + p]);
    tn_json_array_end(json);
  }
  tn_json_array_end(json);
}

/* From 1; 0: the file has none, or they are not known. Of a text, `lines` has the first token of each. */
static uint32_t line_of(const tn_mistakes_request *r, uint32_t row) {
  const tn_columns *columns = &r->rows->columns;
  uint32_t line = 0;
  if (!r->vocab) return row < columns->lines.count ? columns->lines.at[row] : 0;
  while (line < columns->lines.count && columns->lines.at[line] <= row) line++;
  return line;
}

/* "row":7,"line":8,"place":2: all from 1. The line where the file has lines, the place where a row has
 * several. */
static void write_place(const judge *j, tn_json_writer *json, int64_t item) {
  const tn_mistakes_request *r = j->request;
  size_t each = (size_t)j->items / r->count;
  uint32_t row = r->rows->order[r->first + (size_t)item / each];
  tn_json_key(json, "row"), tn_json_uint(json, (uint64_t)row + 1);
  if (line_of(r, row) > 0) tn_json_key(json, "line"), tn_json_uint(json, line_of(r, row));
  if (each > 1) tn_json_key(json, "place"), tn_json_uint(json, (uint64_t)item % each + 1);
}

static void write_mistake(const judge *j, tn_json_writer *json, const mistake *m) {
  const tn_mistakes_request *r = j->request;
  tn_json_object_begin(json);
  write_place(j, json, m->item);
  if (r->classifies) {
    tn_json_key(json, "class"), write_class(j, json, label_of(j, m->item));
    tn_json_key(json, "predicted"), write_class(j, json, predicted(j, m->item));
    tn_json_key(json, "probability"), tn_json_f32(json, (float)tn_exp_f64(-m->badness));
    tn_json_key(json, "loss"), tn_json_f32(json, (float)m->badness);
  } else {
    tn_json_key(json, "value"), tn_json_f32(json, (float)in_units(j, r->target, m->item));
    tn_json_key(json, "answer"), tn_json_f32(json, (float)in_units(j, r->prediction, m->item));
    tn_json_key(json, "error"), tn_json_f32(json, (float)m->badness);
  }
  tn_json_object_end(json);
}

/* ---- all of it ---- */

bool tn_mistakes_write(tn_heap *heap, const tn_mistakes_request *request, tn_json_writer *json) {
  const tn_view *prediction = request->prediction;
  judge j = { .request = request, .items = tn_view_count(request->target), .classes = 1 };
  if (request->classifies) j.classes = prediction->dim[prediction->rank - 1];
  bool counts = request->classifies && j.classes <= TN_MISTAKES_CLASSES;
  size_t bytes = counts ? (size_t)(j.classes * j.classes) * sizeof *j.confusion : 0;
  if (counts && !(j.confusion = tn_heap_alloc(heap, bytes))) return false;
  for (int64_t i = 0; i < j.items; i++) (request->classifies ? judge_class : judge_number)(&j, i);
  if (request->classifies) write_confusion(&j, json);
  tn_json_key(json, "worst"), tn_json_array_begin(json);
  for (size_t i = 0; i < j.worst_count; i++) write_mistake(&j, json, &j.worst[i]);
  tn_json_array_end(json);
  tn_heap_free(heap, j.confusion, bytes);
  return true;
}
