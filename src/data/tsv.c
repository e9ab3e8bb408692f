/* data/tsv.c: tab-separated columns, each a number or a list of numbers with commas. */
#include <string.h>

#include "base/number.h"
#include "data/internal.h"

#define TN_TSV_COLUMN_LIMIT 65536

/* An error in the first line is most likely a header. */
static bool refuse(tn_table_reader *reader, const char *at, const char *reason) {
  const char *header =
      "if this line names the columns, remove it, or read the file as a table: `header = true`";
  return tn_report(reader->diags, TN_DIAG_E_DATASET_PARSE_ERROR, reader->request->at,
                   TN_STR("path", reader->request->path), TN_INT("line", reader->line),
                   TN_STR("reason", reason), TN_INT("col", tn_table_column(reader, at)),
                   TN_HINT(tn_str_of(reader->line == 1 ? header : "")));
}

static tn_str trimmed(tn_str text) {
  while (text.len > 0 && (text.at[0] == ' ')) text.at++, text.len--;
  while (text.len > 0 && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\r')) text.len--;
  return text;
}

static bool add_whole(tn_table_reader *reader, tn_i32s *into, tn_str text, const char *problem) {
  int64_t whole;
  if (!tn_number_parse_i64(text, &whole) || whole < INT32_MIN || whole > INT32_MAX)
    return refuse(reader, text.at, problem);
  return tn_vec_push(reader->table->heap, into, (int32_t)whole) ? true : tn_table_out_of_memory(reader);
}

static bool add_feature(tn_table_reader *reader, tn_str text) {
  tn_table *table = reader->table;
  float number;
  if (!table->floats)
    return add_whole(reader, &table->ints, text, "a column holds something that is not a whole number");
  if (!tn_number_parse_f32(text, &number))
    return refuse(reader, text.at, "a column holds something that is not a number");
  return tn_vec_push(table->heap, &table->reals, number) ? true : tn_table_out_of_memory(reader);
}

static bool add_label(tn_table_reader *reader, tn_str text) {
  return add_whole(reader, &reader->table->labels, text, "a label is not a whole number");
}

/* number (, number)* */
static bool add_each(tn_table_reader *reader, tn_str column, bool (*add)(tn_table_reader *, tn_str)) {
  for (;;) {
    const char *comma = memchr(column.at, ',', column.len);
    tn_str item = { column.at, comma ? (size_t)(comma - column.at) : column.len };
    if (!add(reader, trimmed(item))) return false;
    if (!comma) return true;
    column = (tn_str){ comma + 1, column.len - item.len - 1 };
  }
}

static bool add_numbers(tn_table_reader *reader, tn_str column) {
  return add_each(reader, column, add_feature);
}

/* The last column is the label, so a single one leaves nothing to learn from. */
static const char *no_features(const tn_table_request *request) {
  return request->wants_labels
             ? "a row is numbers, a tab, and the label"
             : "the last column is the label, and there is no other; `tokens = 0` reads it as a number";
}

static bool column_at(tn_table_reader *reader, const tn_str *columns, size_t count, int32_t index,
                      tn_str *out) {
  if ((size_t)index >= count)
    return refuse(reader, reader->text.at + reader->text.len, "a column that the program reads is missing");
  *out = columns[index];
  return true;
}

/* Every column but the label's; SIZE_MAX: every column. */
static bool read_all_but(tn_table_reader *reader, const tn_str *columns, size_t count, size_t label) {
  for (size_t i = 0; i < count; i++) {
    if (i != label && !add_numbers(reader, columns[i])) return false;
  }
  return true;
}

/* Without a label there are too few numbers: then no column is one. */
static bool read_without_label(tn_table_reader *reader, const tn_str *columns, size_t count,
                               size_t before) {
  tn_table *table = reader->table;
  if (tn_table_feature_count(table) - before == (size_t)reader->request->width) return true;
  table->reals.count = table->floats ? before : 0;
  table->ints.count = table->floats ? 0 : before;
  return read_all_but(reader, columns, count, SIZE_MAX);
}

static bool read_features(tn_table_reader *reader, const tn_str *columns, size_t count) {
  const tn_table_request *request = reader->request;
  size_t before = tn_table_feature_count(reader->table);
  tn_str column;
  for (size_t i = 0; i < request->feature_column_count; i++) {
    if (!column_at(reader, columns, count, request->feature_columns[i], &column) ||
        !add_numbers(reader, column))
      return false;
  }
  /* Without a choice: every column but the label's, which is the last without a choice. It is the label's
   * also when nothing reads it, so that a model without labels does not learn from the answer. */
  size_t label = request->label_column_count > 0 ? (size_t)request->label_columns[0] : count - 1;
  if (request->feature_column_count > 0) return true;
  return read_all_but(reader, columns, count, label) &&
         (!request->label_may_miss || read_without_label(reader, columns, count, before));
}

static bool read_label(tn_table_reader *reader, const tn_str *columns, size_t count, int64_t *label) {
  const tn_table_request *request = reader->request;
  tn_str column = columns[count - 1];
  if (request->label_column_count > 0 &&
      !column_at(reader, columns, count, request->label_columns[0], &column))
    return false;
  if (request->label_lists) {
    size_t before = reader->table->labels.count;
    return add_each(reader, column, add_label) && tn_table_check_label_width(reader, before);
  }
  if (tn_number_parse_i64(column, label) && *label >= INT32_MIN && *label <= INT32_MAX) return true;
  return refuse(reader, column.at, "the label is not a whole number");
}

/* As many columns as there are tabs, and one more. */
static size_t split(tn_str line, tn_str *columns) {
  size_t count = 0;
  for (;;) {
    const char *tab = memchr(line.at, '\t', line.len);
    tn_str column = { line.at, tab ? (size_t)(tab - line.at) : line.len };
    columns[count++] = trimmed(column);
    if (!tab) return count;
    line = (tn_str){ tab + 1, line.len - column.len - 1 };
  }
}

bool tn_tsv_line(tn_table_reader *reader, tn_str line) {
  const tn_table_request *request = reader->request;
  size_t tabs = 0;
  for (size_t i = 0; i < line.len; i++) tabs += line.at[i] == '\t';
  if (tabs >= TN_TSV_COLUMN_LIMIT) return refuse(reader, line.at, "there are more than 65536 columns");
  tn_str *columns = tn_arena_array(&reader->arena, tabs + 1, sizeof *columns);
  if (!columns) return tn_table_out_of_memory(reader);
  size_t count = split(line, columns), before = tn_table_feature_count(reader->table);
  int64_t label = 0;
  bool needs_two = request->wants_features && !request->label_may_miss &&
                   request->feature_column_count == 0 && request->label_column_count == 0;
  if (needs_two && count < 2) return refuse(reader, line.at, no_features(request));
  if (request->wants_labels && !read_label(reader, columns, count, &label)) return false;
  if (request->wants_features &&
      !(read_features(reader, columns, count) && tn_table_check_width(reader, before)))
    return false;
  return tn_table_add_row(reader, label);
}
