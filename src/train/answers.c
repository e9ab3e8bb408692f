/* train/answers.c: writes predictions as text, CSV, JSON lines and npy. */
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "train/predict_internal.h"

#define SHOWN_CLASSES 5 /* of a line for people */
#define SEND_BYTES ((size_t)64 << 10)

int tn_answer_form_find(tn_str name) {
  static const char *const names[] = { "text", "csv", "jsonl", "npy" };
  for (int i = 0; i < 4; i++) {
    if (tn_str_is(name, names[i])) return i;
  }
  return -1;
}

void tn_answers_begin(tn_answer_writer *writer, tn_heap *heap, const tn_predict_options *options,
                      const tn_answer_kind *kind) {
  *writer = (tn_answer_writer){ .options = options, .kind = kind };
  tn_text_init(&writer->text, heap);
}

void tn_answers_free(tn_answer_writer *writer) { tn_text_free(&writer->text); }

static bool send(tn_answer_writer *writer) {
  if (writer->text.failed) return false;
  const tn_predict_options *options = writer->options;
  bool ok = writer->text.len == 0 || options->take(options->context, tn_text_str(&writer->text));
  tn_text_clear(&writer->text);
  return ok;
}

/* ---- one answer ---- */

/* The numbers of one group of one row. */
typedef struct {
  const tn_view *view;
  int64_t first;
} group;

static float number_of(const tn_answer_kind *kind, const group *g, size_t item) {
  double number = tn_view_get_f64(g->view, g->first + (int64_t)item);
  if (kind->mean) number = number * kind->deviation[item] + kind->mean[item];
  return (float)number;
}

/* The largest, the first one on a tie. */
static size_t best_of(const tn_answer_kind *kind, const group *g) {
  size_t best = 0;
  for (size_t i = 1; i < kind->width; i++) {
    if (number_of(kind, g, i) > number_of(kind, g, best)) best = i;
  }
  return best;
}

static tn_str class_name(const tn_answer_kind *kind, size_t class, char digits[TN_NUMBER_BYTES]) {
  if (kind->classes && class < kind->class_count) return kind->classes[class];
  return (tn_str){ digits, tn_number_print_u64(class, digits) };
}

/* ---- text ---- */

static void add_class_text(tn_answer_writer *writer, size_t class) {
  char digits[TN_NUMBER_BYTES];
  tn_diag_put_safe(&writer->text, class_name(writer->kind, class, digits));
}

/* The most probable class after `last`, in the order in which they are shown; `width` at the end. */
static size_t next_class(const tn_answer_kind *kind, const group *g, size_t last) {
  size_t next = kind->width;
  for (size_t i = 0; i < kind->width; i++) {
    float here = number_of(kind, g, i);
    if (last < kind->width) {
      float before = number_of(kind, g, last);
      if (!(here < before || (here == before && i > last))) continue;
    }
    if (next == kind->width || here > number_of(kind, g, next)) next = i;
  }
  return next;
}

/* "cooking 0.9876, sport 0.0124" */
static void add_classes(tn_answer_writer *writer, const group *g) {
  const tn_answer_kind *kind = writer->kind;
  size_t class = kind->width;
  for (size_t shown = 0; shown < SHOWN_CLASSES && shown < kind->width; shown++) {
    class = next_class(kind, g, class);
    if (class == kind->width) return;
    if (shown > 0) tn_text_puts(&writer->text, ", ");
    add_class_text(writer, class);
    tn_text_byte(&writer->text, ' ');
    tn_text_fixed(&writer->text, (double)number_of(kind, g, class), 4);
  }
}

static void add_text(tn_answer_writer *writer, const group *groups) {
  const tn_answer_kind *kind = writer->kind;
  for (size_t i = 0; i < kind->groups; i++) {
    if (i > 0) tn_text_byte(&writer->text, ' ');
    if (kind->classifies && kind->groups == 1)
      add_classes(writer, &groups[i]);
    else if (kind->classifies)
      add_class_text(writer, best_of(kind, &groups[i]));
    for (size_t k = 0; !kind->classifies && k < kind->width; k++) {
      if (k > 0) tn_text_byte(&writer->text, ' ');
      tn_text_f32(&writer->text, number_of(kind, &groups[i], k));
    }
  }
  tn_text_byte(&writer->text, '\n');
}

/* ---- CSV ---- */

static bool needs_quotes(tn_str cell) {
  for (size_t i = 0; i < cell.len; i++) {
    if (strchr(",\"\r\n", cell.at[i]) != NULL && cell.at[i]) return true;
  }
  return cell.len == 0 || cell.at[0] == ' ' || cell.at[cell.len - 1] == ' ';
}

static void add_cell(tn_text *out, tn_str cell) {
  if (!needs_quotes(cell)) {
    tn_text_add(out, cell);
    return;
  }
  tn_text_byte(out, '"');
  for (size_t i = 0; i < cell.len; i++) {
    if (cell.at[i] == '"') tn_text_byte(out, '"');
    tn_text_byte(out, cell.at[i]);
  }
  tn_text_byte(out, '"');
}

/* "y", or "y_0", "y_1", ... */
static void add_numbered(tn_text *out, tn_str name, size_t index, size_t count) {
  if (index > 0) tn_text_byte(out, ',');
  add_cell(out, name);
  if (count == 1) return;
  tn_text_byte(out, '_');
  tn_text_uint(out, index);
}

static void add_csv_header(tn_answer_writer *writer) {
  const tn_answer_kind *kind = writer->kind;
  size_t count = kind->groups * (kind->classifies ? 1 : kind->width);
  tn_str name = kind->classifies ? TN_LIT("prediction") : kind->name;
  for (size_t i = 0; i < count; i++) add_numbered(&writer->text, name, i, count);
  for (size_t i = 0; kind->classifies && kind->groups == 1 && i < kind->width; i++) {
    char digits[TN_NUMBER_BYTES];
    tn_text_byte(&writer->text, ',');
    add_cell(&writer->text, class_name(kind, i, digits));
  }
  tn_text_byte(&writer->text, '\n');
}

static void add_csv(tn_answer_writer *writer, const group *groups) {
  const tn_answer_kind *kind = writer->kind;
  bool comma = false;
  for (size_t i = 0; i < kind->groups; i++) {
    char digits[TN_NUMBER_BYTES];
    if (kind->classifies) {
      if (comma) tn_text_byte(&writer->text, ',');
      add_cell(&writer->text, class_name(kind, best_of(kind, &groups[i]), digits));
      comma = true;
    }
    for (size_t k = 0; (!kind->classifies || kind->groups == 1) && k < kind->width; k++, comma = true) {
      if (comma) tn_text_byte(&writer->text, ',');
      tn_text_f32(&writer->text, number_of(kind, &groups[i], k));
    }
  }
  tn_text_byte(&writer->text, '\n');
}

/* ---- JSON lines ---- */

static void add_json_class(tn_json_writer *json, const tn_answer_kind *kind, const group *g) {
  char digits[TN_NUMBER_BYTES];
  size_t best = best_of(kind, g);
  if (kind->classes)
    tn_json_string(json, class_name(kind, best, digits));
  else
    tn_json_uint(json, best);
}

/* By name where the classes have names, else in their order. */
static void add_json_probabilities(tn_json_writer *json, const tn_answer_kind *kind, const group *g) {
  char digits[TN_NUMBER_BYTES];
  (kind->classes ? tn_json_object_begin : tn_json_array_begin)(json);
  for (size_t i = 0; i < kind->width; i++) {
    if (kind->classes) tn_json_key_str(json, class_name(kind, i, digits));
    tn_json_f32(json, number_of(kind, g, i));
  }
  (kind->classes ? tn_json_object_end : tn_json_array_end)(json);
}

static void add_json_numbers(tn_json_writer *json, const tn_answer_kind *kind, const group *g) {
  if (kind->width == 1 && kind->groups == 1) {
    tn_json_f32(json, number_of(kind, g, 0));
    return;
  }
  tn_json_array_begin(json);
  for (size_t i = 0; i < kind->width; i++) tn_json_f32(json, number_of(kind, g, i));
  tn_json_array_end(json);
}

typedef void (*json_part)(tn_json_writer *json, const tn_answer_kind *kind, const group *g);

/* A value, or a list of one per group. */
static void add_json_part(tn_json_writer *json, const tn_answer_kind *kind, const group *groups,
                          json_part part) {
  if (kind->groups == 1) {
    part(json, kind, groups);
    return;
  }
  tn_json_array_begin(json);
  for (size_t i = 0; i < kind->groups; i++) part(json, kind, &groups[i]);
  tn_json_array_end(json);
}

static void add_jsonl(tn_answer_writer *writer, const group *groups) {
  const tn_answer_kind *kind = writer->kind;
  tn_json_writer json = tn_json_writer_on(&writer->text);
  tn_json_object_begin(&json);
  if (kind->classifies) {
    tn_json_key(&json, "prediction"), add_json_part(&json, kind, groups, add_json_class);
    tn_json_key(&json, "probabilities"), add_json_part(&json, kind, groups, add_json_probabilities);
  } else {
    tn_json_key_str(&json, kind->name), add_json_part(&json, kind, groups, add_json_numbers);
  }
  tn_json_object_end(&json);
  tn_text_byte(&writer->text, '\n');
}

/* ---- npy ---- */

#define NPY_HEADER 192 /* room for every shape that tern has */

static void add_npy_header(tn_answer_writer *writer) {
  const tn_shape *shape = &writer->kind->shape;
  tn_text *out = &writer->text;
  size_t start = out->len;
  tn_text_add(out, (tn_str){ "\x93NUMPY\x01\x00\xb6\x00", 10 }); /* version 1, 182 bytes follow */
  tn_text_puts(out, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
  tn_text_uint(out, writer->rows);
  tn_text_byte(out, ',');
  for (int i = 0; i < shape->rank; i++) {
    tn_text_byte(out, ' ');
    tn_text_int(out, shape->dim[i]);
    if (i + 1 < shape->rank) tn_text_byte(out, ',');
  }
  tn_text_puts(out, "), }");
  if (out->failed) return;
  tn_text_repeat(out, ' ', NPY_HEADER - 1 - (out->len - start));
  tn_text_byte(out, '\n');
}

static void add_npy(tn_answer_writer *writer, const group *groups) {
  const tn_answer_kind *kind = writer->kind;
  for (size_t i = 0; i < kind->groups * kind->width; i++) {
    float number = number_of(kind, &groups[i / kind->width], i % kind->width);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    char bytes[4] = { (char)bits, (char)(bits >> 8), (char)(bits >> 16), (char)(bits >> 24) };
    tn_text_add(&writer->text, (tn_str){ bytes, 4 });
  }
}

/* ---- all of them ---- */

static void add_header(tn_answer_writer *writer) {
  if (writer->options->form == TN_ANSWER_CSV) add_csv_header(writer);
  if (writer->options->form == TN_ANSWER_NPY) add_npy_header(writer);
}

bool tn_answers_add(tn_answer_writer *writer, const tn_view *answers, size_t rows) {
  static void (*const add[])(tn_answer_writer *writer, const group *groups) = {
    [TN_ANSWER_TEXT] = add_text, [TN_ANSWER_CSV] = add_csv, [TN_ANSWER_JSONL] = add_jsonl,
    [TN_ANSWER_NPY] = add_npy
  };
  const tn_answer_kind *kind = writer->kind;
  tn_heap *heap = writer->text.heap;
  group *groups = tn_heap_alloc(heap, kind->groups * sizeof *groups);
  if (!groups) return writer->text.failed = true, false;
  if (writer->rows == 0) add_header(writer);
  bool ok = true;
  for (size_t row = 0; ok && row < rows; row++) {
    for (size_t i = 0; i < kind->groups; i++)
      groups[i] = (group){ answers, (int64_t)((row * kind->groups + i) * kind->width) };
    add[writer->options->form](writer, groups);
    writer->rows++;
    ok = writer->text.len < SEND_BYTES || send(writer);
  }
  tn_heap_free(heap, groups, kind->groups * sizeof *groups);
  return ok && send(writer);
}

bool tn_answers_end(tn_answer_writer *writer) {
  if (writer->options->form != TN_ANSWER_NPY) return true;
  add_npy_header(writer);
  bool ok = !writer->text.failed &&
            writer->options->rewrite(writer->options->context, tn_text_str(&writer->text));
  tn_text_clear(&writer->text);
  return ok;
}
