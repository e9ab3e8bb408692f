/* data/table.c: reads JSONL and TSV files into a table, line by line. */
#include "data/table.h"

#include <string.h>

#include "base/utf8.h"
#include "data/internal.h"
#include "data/lines.h"
#include "data/report.h"

bool tn_table_out_of_memory(tn_table_reader *reader) {
  tn_table_free(reader->table); /* reporting needs memory, too */
  return tn_report_memory(reader->diags, reader->table->heap, reader->request->at, "the data set");
}

int64_t tn_table_column(const tn_table_reader *reader, const char *at) {
  return (int64_t)tn_utf8_count((tn_str){ reader->text.at, (size_t)(at - reader->text.at) }) + 1;
}

size_t tn_table_feature_count(const tn_table *table) {
  return table->floats ? table->reals.count : table->ints.count;
}

/* As many as the rows before have; the first row decides if nothing else does. */
static bool check_width(tn_table_reader *reader, size_t count, int64_t *width, tn_str input,
                        tn_span declared_at) {
  int64_t received = (int64_t)count;
  if (*width < 0 && received > 0) *width = received;
  if (*width == received) return true;
  int64_t expected = *width < 0 ? 1 : *width; /* a row that is empty has no mean */
  return tn_report(reader->diags, TN_DIAG_E_DATASET_DIM_MISMATCH, reader->request->at,
                   TN_STR("path", reader->request->path), TN_INT("line", reader->line),
                   TN_INT("expected_T", expected), TN_INT("received_T", received),
                   TN_TEXT("input", input), TN_NOTE_IF(declared_at, "`{input}` is declared here"));
}

bool tn_table_check_width(tn_table_reader *reader, size_t before) {
  tn_table *table = reader->table;
  return check_width(reader, tn_table_feature_count(table) - before, &table->width, reader->request->input,
                     reader->request->input_at);
}

bool tn_table_check_label_width(tn_table_reader *reader, size_t before) {
  tn_table *table = reader->table;
  if (!reader->request->label_lists) return true;
  return check_width(reader, table->labels.count - before, &table->label_width, TN_LIT("labels"),
                     TN_NOWHERE);
}

bool tn_table_add_row(tn_table_reader *reader, int64_t label) {
  tn_table *table = reader->table;
  if (table->rows == TN_TABLE_ROW_LIMIT) {
    return tn_report(reader->diags, TN_DIAG_E_TOO_LARGE, reader->request->at, TN_STR("what", "the data set"),
                     TN_INT("limit", (int64_t)TN_TABLE_ROW_LIMIT));
  }
  bool single = reader->request->wants_labels && !reader->request->label_lists;
  bool kept = tn_vec_push(table->heap, &table->lines, reader->line) &&
              (!single || tn_vec_push(table->heap, &table->labels, (int32_t)label));
  if (!kept) return tn_table_out_of_memory(reader);
  table->rows++;
  reader->any = true;
  bool full = reader->request->take && table->rows == TN_TABLE_CHUNK;
  return !full || reader->request->take(reader->request->context, table);
}

/* One line that is not blank. What a reader refuses it has reported. */
static bool read_line(void *context, tn_str line, uint64_t number) {
  tn_table_reader *reader = context;
  bool tsv = reader->request->format == TN_TABLE_TSV;
  reader->line = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
  reader->text = line;
  if (!(tsv ? tn_tsv_line : tn_jsonl_line)(reader, line)) return false;
  tn_arena_reset(&reader->arena);
  return true;
}

/* Why the lines ended early, unless the reader of a line has said so. */
static bool report_end(tn_table_reader *reader, tn_data_fault *fault) {
  const tn_table_request *request = reader->request;
  tn_data_place place = { .path = request->path, .at = request->at, .columns_at = request->at };
  if (fault->problem == TN_DATA_MEMORY) return tn_table_out_of_memory(reader);
  return tn_data_report(fault, &place, reader->table->heap, reader->diags);
}

static bool read_file(tn_table_reader *reader) {
  const tn_table_request *request = reader->request;
  tn_data_fault fault = { 0 };
  tn_lines_request lines = { .path = request->path,
                             .resolved = request->resolved,
                             .take = read_line,
                             .context = reader,
                             .sha256 = request->sha256 };
  fault.problem = tn_lines_read(reader->table->heap, &lines, &fault.file, &fault.line);
  if (fault.problem != TN_DATA_OK) return report_end(reader, &fault);
  bool left = request->take && reader->table->rows > 0;
  if (left && !request->take(request->context, reader->table)) return false;
  if (reader->any) return true;
  return tn_report(reader->diags, TN_DIAG_E_DATASET_EMPTY, request->at, TN_STR("path", request->path));
}

bool tn_table_read(tn_heap *heap, const tn_table_request *request, tn_diags *diags, tn_table *out) {
  *out = (tn_table){ .heap = heap,
                     .floats = request->floats,
                     .width = request->width,
                     .label_width = request->label_lists ? request->label_width : 1 };
  tn_table_reader reader = { .request = request, .table = out, .diags = diags };
  tn_phase before = tn_diags_enter(diags, TN_PHASE_DATA);
  tn_arena_init(&reader.arena, heap);
  bool ok = read_file(&reader);
  tn_arena_free(&reader.arena);
  tn_diags_enter(diags, before);
  if (!ok) tn_table_free(out);
  return ok;
}

void tn_table_free(tn_table *table) {
  tn_vec_free(table->heap, &table->ints);
  tn_vec_free(table->heap, &table->reals);
  tn_vec_free(table->heap, &table->labels);
  tn_vec_free(table->heap, &table->lines);
  table->rows = 0;
}

#define APPEND(heap, to, from)                                                                               \
  ((from)->count == 0 ||                                                                                     \
   (tn_vec_reserve((heap), (to), (from)->count) &&                                                           \
    (memcpy((to)->at + (to)->count, (from)->at, (from)->count * sizeof *(from)->at),                         \
     (to)->count += (from)->count, true)))

bool tn_table_append(tn_table *to, const tn_table *from) {
  if (from->rows == 0) return true;
  bool ok = APPEND(to->heap, &to->ints, &from->ints) && APPEND(to->heap, &to->reals, &from->reals) &&
            APPEND(to->heap, &to->labels, &from->labels) && APPEND(to->heap, &to->lines, &from->lines);
  if (!ok) return false;
  to->width = from->width;
  to->label_width = from->label_width;
  to->rows += from->rows;
  return true;
}

bool tn_table_take(tn_table *table, tn_columns *out) {
  if (!tn_columns_init(out, table->heap, 2)) return false;
  tn_column *features = &out->at[TN_TABLE_FEATURES], *labels = &out->at[TN_TABLE_LABELS];
  *features = (tn_column){ .kind = table->floats ? TN_COLUMN_F32 : TN_COLUMN_I32,
                           .width = table->width > 0 ? (size_t)table->width : 0,
                           .reals = table->reals,
                           .ints = table->ints };
  *labels = (tn_column){ .kind = TN_COLUMN_CLASS,
                         .width = table->label_width > 0 ? (size_t)table->label_width : 1,
                         .ints = table->labels };
  tn_text_init(&features->text, table->heap);
  tn_text_init(&labels->text, table->heap);
  out->rows = table->rows;
  out->lines.at = table->lines.at;
  out->lines.count = table->lines.count;
  out->lines.capacity = table->lines.capacity;
  *table = (tn_table){ .heap = table->heap };
  return true;
}

/* ---- indices ---- */

/* The first of a column's numbers that is not a number below the limit. */
static size_t first_outside(const tn_column *column, int64_t limit) {
  size_t place = 0;
  while (place < column->ints.count && column->ints.at[place] >= 0 && column->ints.at[place] < limit) place++;
  return place;
}

bool tn_columns_check_labels(const tn_columns *columns, const tn_column *column, const tn_table_index *index,
                             tn_diags *diags) {
  size_t place = first_outside(column, index->limit);
  if (place == column->ints.count) return true;
  int32_t label = column->ints.at[place];
  tn_field name = TN_INT("label", label);
  if (column->classes) name = TN_TEXT("label", tn_names_text(column->classes, (tn_name)label + 1));
  return tn_report(diags, TN_DIAG_E_DATASET_LABEL_OUT_OF_RANGE, index->at, TN_STR("path", index->path),
                   TN_INT("line", columns->lines.at[place / column->width]), name,
                   TN_INT("num_classes", index->limit), TN_DURING(TN_PHASE_DATA));
}

bool tn_columns_check_features(const tn_columns *columns, const tn_column *column,
                               const tn_table_index *index, tn_diags *diags) {
  size_t place = first_outside(column, index->limit);
  if (place == column->ints.count) return true;
  return tn_report(diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, index->at, TN_TEXT("function", index->function),
                   TN_INT("index", column->ints.at[place]), TN_INT("limit", index->limit),
                   TN_STR("path", index->path), TN_INT("line", columns->lines.at[place / column->width]),
                   TN_DURING(TN_PHASE_DATA));
}

bool tn_columns_check_windows(const tn_columns *columns, const tn_table_index *index, tn_diags *diags) {
  const tn_column *tokens = &columns->at[TN_TABLE_FEATURES];
  size_t place = first_outside(tokens, index->limit);
  if (place == tokens->ints.count) return true;
  size_t line = 0;
  while (line < columns->lines.count && columns->lines.at[line] <= place) line++;
  tn_field where = line > 0 ? TN_INT("line", (int64_t)line) : TN_STR("path", index->path);
  return tn_report(diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, index->at, TN_TEXT("function", index->function),
                   TN_INT("index", tokens->ints.at[place]), TN_INT("limit", index->limit),
                   TN_STR("path", index->path), where, TN_DURING(TN_PHASE_DATA));
}
