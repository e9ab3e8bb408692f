/* track/store/show.c: shows runs as text and as JSON.
 *
 * A database may come from anybody, so control characters are shown as escapes on a terminal. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "diag/diag.h"
#include "track/store/difference.h"
#include "track/store/store.h"

#define LONGEST_DURATION 1e12 /* seconds; a database can say anything */

/* ---- pieces ---- */

static bool is_number(tn_run_column column) {
  const char *type = tn_run_column_of(column)->type;
  return strncmp(type, "INTEGER", 7) == 0 || strcmp(type, "REAL") == 0;
}

/* The last part of a path, which is what people recognise. */
static tn_str last_part(tn_str path) {
  for (size_t i = path.len; i > 0; i--) {
    if (path.at[i - 1] == '/') return (tn_str){ path.at + i, path.len - i };
  }
  return path;
}

static tn_str first_bytes(tn_str text, size_t count) {
  return (tn_str){ text.at, text.len < count ? text.len : count };
}

/* "0.0312" of a number's text; "-" of nothing. */
static void add_fixed(tn_text *out, tn_str number, int digits) {
  double value;
  if (number.at && tn_number_parse_f64(number, &value))
    tn_text_fixed(out, value, digits);
  else
    tn_text_byte(out, '-');
}

static void add_duration(tn_text *out, tn_str seconds) {
  double value;
  if (!seconds.at || !tn_number_parse_f64(seconds, &value) || !(fabs(value) < LONGEST_DURATION)) {
    tn_text_byte(out, '-');
  } else if (value < 60) {
    tn_text_fixed(out, value, 1);
    tn_text_puts(out, " s");
  } else {
    int64_t whole = (int64_t)value, hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0) tn_text_int(out, hours), tn_text_puts(out, " h ");
    tn_text_int(out, minutes), tn_text_puts(out, " min");
    if (hours == 0) tn_text_byte(out, ' '), tn_text_int(out, whole % 60), tn_text_puts(out, " s");
  }
}

/* ---- the list, for people ---- */

typedef struct {
  const char *title;
  bool right;
  void (*write)(const tn_run_row *row, tn_text *out);
} cell;

static void write_id(const tn_run_row *row, tn_text *out) { tn_diag_put_safe(out, row->value[TN_RUN_ID]); }
static void write_started(const tn_run_row *row, tn_text *out) {
  tn_str at = row->value[TN_RUN_STARTED];
  tn_diag_put_safe(out, first_bytes(at, 10));
  if (at.len < 16) return;
  tn_text_byte(out, ' ');
  tn_diag_put_safe(out, (tn_str){ at.at + 11, 5 });
}
static void write_program(const tn_run_row *row, tn_text *out) {
  tn_diag_put_safe(out, last_part(row->value[TN_RUN_PROGRAM]));
}
static void write_status(const tn_run_row *row, tn_text *out) {
  tn_diag_put_safe(out, row->value[TN_RUN_STATUS]);
}
static void write_step(const tn_run_row *row, tn_text *out) {
  tn_diag_put_safe(out, row->value[TN_RUN_STEP].at ? row->value[TN_RUN_STEP] : TN_LIT("0"));
  tn_text_byte(out, '/');
  tn_diag_put_safe(out, row->value[TN_RUN_STEPS]);
}
static void write_loss(const tn_run_row *row, tn_text *out) { add_fixed(out, row->value[TN_RUN_LOSS], 4); }
static void write_accuracy(const tn_run_row *row, tn_text *out) {
  add_fixed(out, row->value[TN_RUN_ACCURACY], 4);
}
static void write_seconds(const tn_run_row *row, tn_text *out) {
  add_duration(out, row->value[TN_RUN_SECONDS]);
}
static void write_seed(const tn_run_row *row, tn_text *out) {
  tn_diag_put_safe(out, row->value[TN_RUN_SEED]);
}
/* A run that an older tern recorded was one of the CPU. */
static bool is_on_cpu(const tn_run_row *row) {
  tn_str device = row->value[TN_RUN_DEVICE];
  return !device.at || tn_str_is(device, "cpu");
}
static void write_device(const tn_run_row *row, tn_text *out) {
  tn_diag_put_safe(out, is_on_cpu(row) ? TN_LIT("cpu") : row->value[TN_RUN_DEVICE]);
}
static void write_weights(const tn_run_row *row, tn_text *out) {
  tn_str hash = row->value[TN_RUN_WEIGHTS_SHA256];
  tn_diag_put_safe(out, hash.at ? first_bytes(hash, 8) : TN_LIT("-"));
}

static const cell cells[] = {
  { "run", true, write_id },
  { "started", false, write_started },
  { "program", false, write_program },
  { "status", false, write_status },
  { "steps", true, write_step },
  { "loss", true, write_loss },
  { "accuracy", true, write_accuracy },
  { "time", true, write_seconds },
  { "device", false, write_device },
  { "seed", true, write_seed },
  { "weights", false, write_weights },
};
#define CELLS (sizeof cells / sizeof *cells)
#define MOST_HYPERS 8 /* columns that still fit a terminal */

/* The columns above, and before the last of them the hyperparameters in which runs of the list differ. The
 * device is left out while all runs are those of the CPU. */
typedef struct {
  const tn_run_rows *rows;
  const cell *cells[CELLS];
  size_t cell_count;
  tn_str hypers[MOST_HYPERS];
  size_t hyper_count;
} table;

/* Two runs that have it have different values. */
static bool varies(const tn_run_rows *rows, const tn_run_hyper *hyper) {
  for (size_t i = 0; i < rows->count; i++) {
    const tn_run_hyper *other = tn_run_hyper_find(&rows->at[i], hyper->name);
    if (other && tn_run_hyper_order(hyper, other) != 0) return true;
  }
  return false;
}

static bool is_among(const tn_str *names, size_t count, tn_str name) {
  for (size_t i = 0; i < count; i++) {
    if (tn_str_equal(names[i], name)) return true;
  }
  return false;
}

#define MOST_LOOKED_AT 4096 /* hyperparameters; a database may come from anybody */

size_t tn_runs_varying(const tn_run_rows *rows, tn_str *names, size_t most) {
  size_t looked = 0, count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const tn_run_row *row = &rows->at[i];
    for (size_t k = 0; k < row->hyper_count; k++) {
      if (count == most || looked++ == MOST_LOOKED_AT) return count;
      if (!is_among(names, count, row->hypers[k].name) && varies(rows, &row->hypers[k]))
        names[count++] = row->hypers[k].name;
    }
  }
  return count;
}

static void choose_cells(table *t) {
  bool only_cpu = true;
  for (size_t i = 0; i < t->rows->count; i++) only_cpu = only_cpu && is_on_cpu(&t->rows->at[i]);
  for (size_t i = 0; i < CELLS; i++)
    if (!only_cpu || cells[i].write != write_device) t->cells[t->cell_count++] = &cells[i];
}

static size_t column_count(const table *t) { return t->cell_count + t->hyper_count; }

/* NULL: a hyperparameter, whose name is *hyper. */
static const cell *cell_of(const table *t, size_t column, tn_str *hyper) {
  size_t before = t->cell_count - 1;
  if (column < before) return t->cells[column];
  if (column == before + t->hyper_count) return t->cells[before];
  *hyper = t->hypers[column - before];
  return NULL;
}

static bool is_right(const table *t, size_t column) {
  tn_str hyper;
  const cell *at = cell_of(t, column, &hyper);
  return !at || at->right;
}

static void write_hyper(const tn_run_row *row, tn_str name, tn_text *out) {
  const tn_run_hyper *hyper = tn_run_hyper_find(row, name);
  tn_diag_put_safe(out, hyper ? hyper->value : TN_LIT("-"));
}

static void write_cell(const table *t, size_t line, size_t column, tn_text *out) {
  tn_str hyper;
  const cell *at = cell_of(t, column, &hyper);
  if (line == 0)
    tn_diag_put_safe(out, at ? tn_str_of(at->title) : hyper);
  else if (at)
    at->write(&t->rows->at[line - 1], out);
  else
    write_hyper(&t->rows->at[line - 1], hyper, out);
}

/* What a terminal shows: bytes that do not continue a character. */
static size_t width_of(const tn_text *text) {
  size_t width = 0;
  for (size_t i = 0; i < text->len; i++) width += ((unsigned char)text->at[i] & 0xc0) != 0x80;
  return width;
}

static size_t column_width(const table *t, size_t column, tn_text *scratch) {
  size_t widest = 0;
  for (size_t line = 0; line <= t->rows->count; line++) {
    tn_text_clear(scratch);
    write_cell(t, line, column, scratch);
    size_t width = width_of(scratch);
    if (width > widest) widest = width;
  }
  return widest;
}

void tn_runs_text(const tn_run_rows *rows, tn_text *out) {
  if (rows->count == 0) {
    tn_text_puts(out, "no runs\n");
    return;
  }
  tn_text scratch;
  table t = { .rows = rows };
  size_t widths[CELLS + MOST_HYPERS], columns;
  tn_text_init(&scratch, out->heap);
  choose_cells(&t);
  t.hyper_count = tn_runs_varying(rows, t.hypers, MOST_HYPERS);
  columns = column_count(&t);
  for (size_t c = 0; c < columns; c++) widths[c] = column_width(&t, c, &scratch);
  for (size_t line = 0; line <= rows->count; line++) {
    for (size_t c = 0; c < columns; c++) {
      tn_text_clear(&scratch);
      write_cell(&t, line, c, &scratch);
      size_t blank = widths[c] - width_of(&scratch);
      if (c > 0) tn_text_puts(out, "  ");
      if (is_right(&t, c)) tn_text_repeat(out, ' ', blank);
      tn_text_add(out, tn_text_str(&scratch));
      if (!is_right(&t, c) && c + 1 < columns) tn_text_repeat(out, ' ', blank);
    }
    tn_text_byte(out, '\n');
  }
  tn_text_free(&scratch);
}

/* ---- JSON ---- */

static void add_value(tn_json_writer *json, tn_run_column column, tn_str value) {
  if (!value.at)
    tn_json_null(json);
  else if (is_number(column) && value.at[0] != 'I' && value.at[0] != 'N' && !tn_str_starts(value, "-I"))
    tn_json_raw(json, value);
  else
    tn_json_string(json, value);
}

/* What is for the store itself, or long, is left out of lists. */
static bool is_listed(tn_run_column column, bool whole) {
  return column != TN_RUN_PROCESS && (whole || column != TN_RUN_SOURCE);
}

static void add_hypers(tn_json_writer *json, const tn_run_row *row) {
  if (!row->value[TN_RUN_HYPER].at) {
    tn_json_null(json);
    return;
  }
  tn_json_object_begin(json);
  for (size_t i = 0; i < row->hyper_count; i++)
    tn_json_key_str(json, row->hypers[i].name), tn_run_hyper_json(&row->hypers[i], json);
  tn_json_object_end(json);
}

static void add_row(tn_json_writer *json, const tn_run_row *row, bool whole) {
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    tn_run_column column = (tn_run_column)i;
    if (!is_listed(column, whole)) continue;
    tn_json_key(json, tn_run_column_of(column)->name);
    if (column == TN_RUN_HYPER)
      add_hypers(json, row);
    else
      add_value(json, column, row->value[i]);
  }
}

void tn_runs_json(const tn_run_rows *rows, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_array_begin(&json);
  for (size_t i = 0; i < rows->count; i++) {
    tn_json_object_begin(&json);
    add_row(&json, &rows->at[i], false);
    tn_json_object_end(&json);
  }
  tn_json_array_end(&json);
}

/* An accuracy that is not among the metrics of a run is NaN. */
static bool is_measured(const tn_run_eval *eval) { return eval->accuracy == eval->accuracy; }

void tn_run_eval_json(const tn_run_eval *eval, tn_json_writer *json) {
  tn_json_object_begin(json);
  tn_json_key(json, "step"), tn_json_int(json, eval->step);
  tn_json_key(json, "loss"), tn_json_f32(json, (float)eval->loss);
  if (is_measured(eval)) tn_json_key(json, "accuracy"), tn_json_f64(json, eval->accuracy);
  tn_json_object_end(json);
}

void tn_run_columns_json(const tn_run_row *row, tn_json_writer *json) { add_row(json, row, true); }

void tn_run_json(const tn_run_whole *run, tn_text *out) {
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  add_row(&json, &run->row, true);
  tn_json_key(&json, "losses"), tn_json_array_begin(&json);
  for (size_t i = 0; i < run->loss_count; i++) tn_json_f32(&json, run->losses[i]);
  tn_json_array_end(&json);
  tn_json_key(&json, "evals"), tn_json_array_begin(&json);
  for (size_t i = 0; i < run->eval_count; i++) tn_run_eval_json(&run->evals[i], &json);
  tn_json_array_end(&json);
  tn_json_object_end(&json);
}

/* ---- one run, for people ---- */

#define NAME_WIDTH 15

static void add_name(tn_text *out, tn_str name) {
  size_t begin = out->len;
  tn_diag_put_safe(out, name);
  size_t length = out->len - begin;
  tn_text_repeat(out, ' ', length < NAME_WIDTH ? NAME_WIDTH - length : 1);
}

static void add_pair(tn_text *out, tn_str name, tn_str value) {
  add_name(out, name);
  tn_diag_put_safe(out, value.at ? value : TN_LIT("-"));
  tn_text_byte(out, '\n');
}

static void add_step_line(tn_text *out, const tn_run_whole *run, int64_t step, const tn_run_eval *eval) {
  tn_text_puts(out, "  step ");
  tn_text_int(out, step);
  if (step >= 0 && (size_t)step < run->loss_count)
    tn_text_puts(out, ": loss "), tn_text_f32(out, run->losses[step]);
  if (eval) {
    tn_text_puts(out, ", eval loss "), tn_text_f32(out, (float)eval->loss);
    if (is_measured(eval)) tn_text_puts(out, ", accuracy "), tn_text_fixed(out, eval->accuracy, 4);
  }
  tn_text_byte(out, '\n');
}

void tn_run_text(const tn_run_whole *run, tn_text *out) {
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (!is_listed((tn_run_column)i, false)) continue;
    if ((i == TN_RUN_TAGS || i == TN_RUN_NOTES) && !run->row.value[i].at) continue;
    if (i != TN_RUN_HYPER)
      add_pair(out, tn_str_of(tn_run_column_of((tn_run_column)i)->name), run->row.value[i]);
    for (size_t k = 0; i == TN_RUN_HYPER && k < run->row.hyper_count; k++)
      add_pair(out, run->row.hypers[k].name, run->row.hypers[k].value);
  }
  if (run->loss_count > 0) {
    tn_text_puts(out, "\n");
    bool first_is_evaluated = run->eval_count > 0 && run->evals[0].step == 0;
    if (!first_is_evaluated) add_step_line(out, run, 0, NULL);
    for (size_t i = 0; i < run->eval_count; i++) add_step_line(out, run, run->evals[i].step, &run->evals[i]);
    int64_t last = (int64_t)run->loss_count - 1;
    if (last > 0 && (run->eval_count == 0 || run->evals[run->eval_count - 1].step != last))
      add_step_line(out, run, last, NULL);
  }
}

/* ---- two runs ---- */

typedef struct {
  bool same_origin;  /* nothing that decides bits differs */
  bool same_weights; /* both are known and equal */
  bool weights_known;
  int64_t first; /* the first step whose losses differ; -1: none */
} comparison;

static bool same_value(const tn_run_whole *a, const tn_run_whole *b, int column) {
  tn_str x = a->row.value[column], y = b->row.value[column];
  return !x.at == !y.at && tn_str_equal(x, y);
}

/* Of a run that an older tern recorded nothing is known. */
static bool know_hypers(const tn_run_whole *a, const tn_run_whole *b) {
  return a->row.value[TN_RUN_HYPER].at && b->row.value[TN_RUN_HYPER].at;
}

static bool same_origin(const tn_run_whole *a, const tn_run_whole *b, int column) {
  if (tn_run_column_of((tn_run_column)column)->differs != TN_RUN_DIFFERS_B) return true;
  return same_value(a, b, column) || (column == TN_RUN_HYPER && !know_hypers(a, b));
}

/* Bits, so that a NaN equals itself. */
static bool same_loss(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

static comparison compare(const tn_run_whole *a, const tn_run_whole *b) {
  comparison c = { .same_origin = true, .first = -1 };
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (!same_origin(a, b, i)) c.same_origin = false;
  }
  size_t shared = a->loss_count < b->loss_count ? a->loss_count : b->loss_count;
  for (size_t i = 0; i < shared && c.first < 0; i++) {
    if (!same_loss(a->losses[i], b->losses[i])) c.first = (int64_t)i;
  }
  c.weights_known = a->row.value[TN_RUN_WEIGHTS_SHA256].at && b->row.value[TN_RUN_WEIGHTS_SHA256].at;
  c.same_weights = c.weights_known && same_value(a, b, TN_RUN_WEIGHTS_SHA256);
  return c;
}

static const char *verdict(const comparison *c) {
  if (c->same_weights) return "the weights agree in every bit";
  if (!c->weights_known) return "a run has not ended: its weights are not known yet";
  return c->same_origin ? "the weights differ, though nothing that decides bits does: one of the two is wrong"
                        : "the weights differ";
}

static void add_difference(tn_text *out, tn_str name, tn_str a, tn_str b) {
  add_name(out, name);
  tn_diag_put_safe(out, a.at ? a : TN_LIT("-"));
  tn_text_puts(out, " | ");
  tn_diag_put_safe(out, b.at ? b : TN_LIT("-"));
  tn_text_byte(out, '\n');
}

static bool is_compared(int column, const tn_run_whole *a, const tn_run_whole *b) {
  bool shown = tn_run_column_of((tn_run_column)column)->differs != TN_RUN_DIFFERS_N && column != TN_RUN_HYPER;
  return shown && !same_value(a, b, column);
}

/* Every hyperparameter that the two do not have alike: in the order of the first, then what only the second
 * has. Values are NULL where a run has none. */
typedef void (*take_difference)(void *context, tn_str name, const tn_run_hyper *a, const tn_run_hyper *b);

static void each_difference(const tn_run_row *a, const tn_run_row *b, take_difference take, void *context) {
  for (size_t i = 0; i < a->hyper_count; i++) {
    const tn_run_hyper *other = tn_run_hyper_find(b, a->hypers[i].name);
    if (tn_run_hyper_order(&a->hypers[i], other) != 0)
      take(context, a->hypers[i].name, &a->hypers[i], other);
  }
  for (size_t i = 0; i < b->hyper_count; i++) {
    if (!tn_run_hyper_find(a, b->hypers[i].name)) take(context, b->hypers[i].name, NULL, &b->hypers[i]);
  }
}

static void add_hyper_text(void *context, tn_str name, const tn_run_hyper *a, const tn_run_hyper *b) {
  add_difference(context, name, a ? a->value : (tn_str){ 0 }, b ? b->value : (tn_str){ 0 });
}

static void add_hyper_json(void *context, tn_str name, const tn_run_hyper *a, const tn_run_hyper *b) {
  tn_json_writer *json = context;
  tn_json_key_str(json, name), tn_json_array_begin(json);
  tn_run_hyper_json(a, json), tn_run_hyper_json(b, json);
  tn_json_array_end(json);
}

static void add_line(void *context, const tn_text_line *line) {
  tn_text *out = context;
  if (line->first_of_change) {
    tn_text_puts(out, "@@ line "), tn_text_uint(out, line->a_number);
    tn_text_puts(out, " | line "), tn_text_uint(out, line->b_number);
    tn_text_byte(out, '\n');
  }
  tn_text_puts(out, line->is_new ? "+ " : "- ");
  tn_diag_put_safe(out, line->text);
  tn_text_byte(out, '\n');
}

static void add_line_json(void *context, const tn_text_line *line) {
  tn_json_writer *json = context;
  tn_json_object_begin(json);
  tn_json_key(json, "run"), tn_json_int(json, line->is_new ? 1 : 0);
  tn_json_key(json, "line"), tn_json_int(json, (int64_t)(line->is_new ? line->b_number : line->a_number));
  tn_json_key(json, "text"), tn_json_string(json, line->text);
  tn_json_object_end(json);
}

static void add_source_difference(const tn_run_whole *a, const tn_run_whole *b, tn_text *out) {
  tn_str x = a->row.value[TN_RUN_SOURCE], y = b->row.value[TN_RUN_SOURCE];
  if (x.at && y.at && !tn_text_difference(out->heap, x, y, add_line, out)) out->failed = true;
}

/* The lines that only one of the programs has; `run` says which: 0 or 1. */
static void add_source_json(const tn_run_whole *a, const tn_run_whole *b, tn_json_writer *json) {
  tn_str x = a->row.value[TN_RUN_SOURCE], y = b->row.value[TN_RUN_SOURCE];
  tn_json_key(json, "source"), tn_json_array_begin(json);
  if (x.at && y.at && !tn_text_difference(json->out->heap, x, y, add_line_json, json))
    json->out->failed = true;
  tn_json_array_end(json);
}

void tn_run_compare_text(const tn_run_whole *a, const tn_run_whole *b, tn_text *out) {
  comparison c = compare(a, b);
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (!is_compared(i, a, b)) continue;
    tn_str x = a->row.value[i], y = b->row.value[i];
    const char *name = tn_run_column_of((tn_run_column)i)->name;
    bool hash = strstr(name, "sha256") != NULL;
    add_difference(out, tn_str_of(name), hash && x.at ? first_bytes(x, 16) : x,
                   hash && y.at ? first_bytes(y, 16) : y);
  }
  if (know_hypers(a, b)) each_difference(&a->row, &b->row, add_hyper_text, out);
  add_source_difference(a, b, out);
  if (c.first >= 0) {
    tn_text_puts(out, "the losses differ from step ");
    tn_text_int(out, c.first);
    tn_text_puts(out, " on: ");
    tn_text_f32(out, a->losses[c.first]);
    tn_text_puts(out, " | ");
    tn_text_f32(out, b->losses[c.first]);
    tn_text_byte(out, '\n');
  } else {
    tn_text_puts(out, "the losses agree in every bit over ");
    tn_text_uint(out, a->loss_count < b->loss_count ? a->loss_count : b->loss_count);
    tn_text_puts(out, " steps\n");
  }
  tn_text_puts(out, verdict(&c));
  tn_text_byte(out, '\n');
}

static void add_differences_json(const tn_run_whole *a, const tn_run_whole *b, tn_json_writer *json) {
  tn_json_key(json, "differences"), tn_json_object_begin(json);
  for (int i = 0; i < TN_RUN_COLUMN_COUNT; i++) {
    if (!is_compared(i, a, b)) continue;
    tn_json_key(json, tn_run_column_of((tn_run_column)i)->name), tn_json_array_begin(json);
    add_value(json, (tn_run_column)i, a->row.value[i]);
    add_value(json, (tn_run_column)i, b->row.value[i]);
    tn_json_array_end(json);
  }
  tn_json_object_end(json);
  tn_json_key(json, "hyperparameters"), tn_json_object_begin(json);
  if (know_hypers(a, b)) each_difference(&a->row, &b->row, add_hyper_json, json);
  tn_json_object_end(json);
  add_source_json(a, b, json);
}

static void add_comparison_json(const comparison *c, tn_json_writer *json) {
  tn_json_key(json, "first_different_step");
  if (c->first >= 0)
    tn_json_int(json, c->first);
  else
    tn_json_null(json);
  tn_json_key(json, "same_origin"), tn_json_bool(json, c->same_origin);
  tn_json_key(json, "same_weights");
  if (c->weights_known)
    tn_json_bool(json, c->same_weights);
  else
    tn_json_null(json);
}

void tn_run_compare_rows_json(const tn_run_row *a, const tn_run_row *b, int64_t first, tn_json_writer *json) {
  tn_run_whole x = { .row = *a }, y = { .row = *b };
  comparison c = compare(&x, &y);
  c.first = first;
  add_differences_json(&x, &y, json);
  add_comparison_json(&c, json);
}

void tn_run_compare_json(const tn_run_whole *a, const tn_run_whole *b, tn_text *out) {
  comparison c = compare(a, b);
  tn_json_writer json = tn_json_writer_on(out);
  tn_json_object_begin(&json);
  add_differences_json(a, b, &json);
  add_comparison_json(&c, &json);
  tn_json_object_end(&json);
}
