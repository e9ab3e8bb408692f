/* data/csv_cell.c: assigns the cells of a CSV file to columns, and reads their values. */
#include <math.h>

#include "base/number.h"
#include "data/csv_internal.h"

/* ---- which cell is for what ---- */

static tn_str trimmed(tn_str text) {
  while (text.len > 0 && (text.at[0] == ' ' || text.at[0] == '\t')) text.at++, text.len--;
  while (text.len > 0 && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t')) text.len--;
  return text;
}

static void show_number(char *field, uint64_t number) {
  char digits[TN_NUMBER_BYTES];
  tn_data_show(field, (tn_str){ digits, tn_number_print_u64(number, digits) });
}

static void show_column(tn_csv *csv, size_t index) {
  if (csv->request->header)
    tn_data_show(csv->fault->column, csv->names.at[index]);
  else
    show_number(csv->fault->column, index);
}

static bool no_column(tn_csv *csv, const tn_csv_pick *pick) {
  tn_str near = { "", 0 };
  if (pick->name.len > 0) {
    tn_data_show(csv->fault->column, pick->name);
    near = tn_str_suggest(pick->name, csv->names.at, csv->names.count);
  } else {
    show_number(csv->fault->column, pick->last);
  }
  tn_data_show(csv->fault->value, near);
  csv->fault->line = csv->row_line;
  csv->fault->received = (int64_t)csv->names.count;
  return tn_csv_fail(csv, TN_DATA_NO_COLUMN);
}

/* The cells of a pick. */
static bool find_pick(tn_csv *csv, const tn_csv_pick *pick, size_t *first, size_t *last) {
  size_t found = SIZE_MAX;
  *first = pick->first, *last = pick->last;
  if (pick->name.len == 0) return pick->last < csv->names.count ? true : no_column(csv, pick);
  for (size_t i = 0; csv->request->header && i < csv->names.count; i++) {
    if (!tn_str_equal(csv->names.at[i], pick->name)) continue;
    if (found != SIZE_MAX) {
      show_column(csv, i);
      csv->fault->line = csv->row_line;
      return tn_csv_fail(csv, TN_DATA_SAME_NAME);
    }
    found = i;
  }
  *first = *last = found;
  return found != SIZE_MAX ? true : no_column(csv, pick);
}

static bool add_use(tn_csv *csv, size_t cell, size_t column) {
  tn_csv_use *use = &csv->uses[cell];
  tn_column_kind kind = csv->request->columns[column].kind;
  if (use->used) {
    tn_csv_use *other = tn_arena_new(&csv->arena, tn_csv_use);
    if (!other) return tn_csv_fail(csv, TN_DATA_MEMORY);
    *other = *use;
    use->next = other;
  }
  use->column = (uint32_t)column;
  use->item = (uint32_t)csv->out->at[column].width++;
  use->quick = !use->used && (kind == TN_COLUMN_F32 || kind == TN_COLUMN_I32);
  use->real = kind == TN_COLUMN_F32;
  use->used = true;
  return true;
}

/* Cells of a column that is not read; they may be missing. */
static void ignore_picks(tn_csv *csv, const tn_csv_column *column) {
  for (size_t i = 0; i < column->pick_count; i++) {
    const tn_csv_pick *pick = &column->picks[i];
    for (size_t cell = 0; cell < csv->names.count; cell++) {
      bool named = csv->request->header && tn_str_equal(csv->names.at[cell], pick->name);
      bool numbered = pick->name.len == 0 && cell >= pick->first && cell <= pick->last;
      if (named || numbered) csv->uses[cell].ignored = true;
    }
  }
}

static bool plan_picks(tn_csv *csv, size_t column) {
  const tn_csv_column *wanted = &csv->request->columns[column];
  csv->fault->asked = column;
  if (wanted->ignored) return ignore_picks(csv, wanted), true;
  for (size_t i = 0; i < wanted->pick_count; i++) {
    size_t first, last;
    if (!find_pick(csv, &wanted->picks[i], &first, &last)) return false;
    for (size_t cell = first; cell <= last; cell++) {
      if (!add_use(csv, cell, column)) return false;
    }
  }
  return true;
}

static bool plan_rest(tn_csv *csv, size_t column) {
  for (size_t cell = 0; cell < csv->width; cell++) {
    const tn_csv_use *use = &csv->uses[cell];
    bool other = use->ignored || (use->used && use->column != column);
    if (!other && !add_use(csv, cell, column)) return false;
  }
  return true;
}

/* A first row of numbers alone would be lost. */
static bool check_names(tn_csv *csv) {
  double number;
  if (!csv->request->header || !csv->request->header_is_default) return true;
  for (size_t i = 0; i < csv->names.count; i++) {
    if (!tn_number_parse_f64(trimmed(csv->names.at[i]), &number)) return true;
  }
  csv->fault->line = csv->row_line;
  csv->fault->col = 1;
  return tn_csv_fail(csv, TN_DATA_NO_NAMES);
}

/* Once every column knows its cells. */
static void finish_plan(tn_csv *csv) {
  csv->all_quick = true;
  for (size_t cell = 0; cell < csv->width; cell++) {
    tn_csv_use *use = &csv->uses[cell];
    if (use->used) use->items = (uint32_t)csv->out->at[use->column].width;
    csv->all_quick = csv->all_quick && use->quick;
  }
}

bool tn_csv_plan(tn_csv *csv) {
  const tn_csv_request *request = csv->request;
  if (!check_names(csv)) return false;
  csv->uses = tn_arena_array(&csv->arena, csv->names.count, sizeof *csv->uses);
  csv->to = tn_arena_array(&csv->arena, request->column_count + 1, sizeof *csv->to);
  if (!csv->uses || !csv->to) return tn_csv_fail(csv, TN_DATA_MEMORY);
  for (size_t i = 0; i < request->column_count; i++) csv->out->at[i].kind = request->columns[i].kind;
  for (size_t i = 0; i < request->column_count; i++) {
    if (request->columns[i].pick_count > 0 && !plan_picks(csv, i)) return false;
  }
  csv->width = csv->names.count;
  for (size_t i = 0; i < request->column_count; i++) {
    bool rest = request->columns[i].pick_count == 0 && !request->columns[i].ignored;
    if (rest && !plan_rest(csv, i)) return false;
  }
  finish_plan(csv);
  return true;
}

/* ---- values ---- */

static bool is_missing(tn_str text) {
  static const char *const words[] = { "", "NA", "N/A", "NaN", "nan", "null", "NULL", "None" };
  if (text.len > 0 && text.at[0] != 'N' && text.at[0] != 'n') return false; /* most cells */
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (tn_str_is(text, words[i])) return true;
  }
  return false;
}

static bool wrong_value(tn_csv *csv, tn_data_problem problem, tn_str cell) {
  tn_data_show(csv->fault->value, cell);
  return tn_csv_fail(csv, problem);
}

static bool take_f32(tn_csv *csv, const tn_csv_column *wanted, tn_str cell, float *out) {
  cell = trimmed(cell);
  if (is_missing(cell)) {
    *out = wanted->fill;
    return wanted->may_miss ? true : wrong_value(csv, TN_DATA_MISSING, cell);
  }
  if (!tn_number_parse_f32(cell, out)) return wrong_value(csv, TN_DATA_NUMBER, cell);
  return isfinite(*out) ? true : wrong_value(csv, TN_DATA_FINITE, cell);
}

static bool parse_i32(tn_str cell, int32_t *out) {
  int64_t whole;
  if (!tn_number_parse_i64(cell, &whole) || whole < INT32_MIN || whole > INT32_MAX) return false;
  *out = (int32_t)whole;
  return true;
}

static bool take_i32(tn_csv *csv, tn_str cell, int32_t *out) {
  cell = trimmed(cell);
  if (is_missing(cell)) return wrong_value(csv, TN_DATA_MISSING, cell);
  return parse_i32(cell, out) ? true : wrong_value(csv, TN_DATA_WHOLE, cell);
}

/* Unless the caller knows, the first label of the first row says whether classes are numbers or names. */
static bool has_names(const tn_csv *csv, const tn_csv_column *wanted, const tn_column *column, tn_str first) {
  int32_t number;
  if (csv->any || column->numbered || wanted->classes == TN_CLASSES_NUMBERED) return false;
  return wanted->classes == TN_CLASSES_NAMED || !parse_i32(first, &number);
}

static bool take_class(tn_csv *csv, const tn_csv_column *wanted, tn_column *column, tn_str cell,
                       int32_t *out) {
  tn_str name = trimmed(cell);
  if (name.len == 0) return wrong_value(csv, TN_DATA_MISSING, name);
  column->numbered = !column->classes && !has_names(csv, wanted, column, name);
  if (column->numbered) return take_i32(csv, cell, out);
  return tn_column_add_class(csv->heap, column, name, out) ? true : tn_csv_fail(csv, TN_DATA_MEMORY);
}

static bool take_text(tn_csv *csv, tn_column *column, tn_str cell) {
  tn_text_add(&column->text, cell);
  if (column->text.failed) return tn_csv_fail(csv, TN_DATA_MEMORY);
  column->ends.at[column->ends.count++] = column->text.len;
  return true;
}

bool tn_csv_take_cell(tn_csv *csv, size_t index, tn_str cell) {
  for (const tn_csv_use *use = &csv->uses[index]; use; use = use->next) {
    const tn_csv_column *wanted = &csv->request->columns[use->column];
    tn_column *column = &csv->out->at[use->column];
    size_t item = csv->out->rows * column->width + use->item;
    csv->fault->asked = use->column;
    bool ok = false;
    switch (column->kind) {
      case TN_COLUMN_F32: ok = take_f32(csv, wanted, cell, &column->reals.at[item]); break;
      case TN_COLUMN_I32: ok = take_i32(csv, cell, &column->ints.at[item]); break;
      case TN_COLUMN_CLASS: ok = take_class(csv, wanted, column, cell, &column->ints.at[item]); break;
      case TN_COLUMN_TEXT: ok = take_text(csv, column, cell); break;
    }
    if (!ok) return show_column(csv, index), false;
  }
  return true;
}

size_t tn_csv_rows_ahead(const tn_csv *csv) {
  size_t rows = csv->out->rows, most = csv->room;
  if (csv->request->take && TN_CSV_CHUNK - rows < most) most = TN_CSV_CHUNK - rows;
  return TN_COLUMN_ROW_LIMIT - rows < most ? TN_COLUMN_ROW_LIMIT - rows : most;
}

bool tn_csv_keep_rows(tn_csv *csv, size_t rows) {
  tn_columns *out = csv->out;
  if (out->rows == TN_COLUMN_ROW_LIMIT) {
    csv->fault->expected = (int64_t)TN_COLUMN_ROW_LIMIT;
    return tn_csv_fail(csv, TN_DATA_MANY_ROWS);
  }
  for (size_t i = 0; i < rows; i++) {
    uint64_t line = csv->row_line + i;
    out->lines.at[out->lines.count++] = line > UINT32_MAX ? UINT32_MAX : (uint32_t)line;
  }
  out->rows += rows;
  csv->any = true;
  csv->room -= rows;
  for (size_t i = 0; i < out->count; i++) {
    tn_column *column = &out->at[i];
    if (column->width == 0) continue; /* it has no memory, either */
    size_t items = rows * column->width;
    if (column->kind == TN_COLUMN_F32) csv->to[i].reals += items;
    if (column->kind == TN_COLUMN_I32) csv->to[i].ints += items;
    if (column->kind == TN_COLUMN_F32)
      column->reals.count += items;
    else if (column->kind != TN_COLUMN_TEXT)
      column->ints.count += items;
  }
  return out->rows < TN_CSV_CHUNK || !csv->request->take || tn_csv_hand_over(csv);
}

bool tn_csv_hand_over(tn_csv *csv) {
  if (!csv->request->take(csv->request->context, csv->out)) return tn_csv_fail(csv, TN_DATA_REFUSED);
  tn_columns_clear(csv->out);
  csv->room = 0;
  return true;
}
