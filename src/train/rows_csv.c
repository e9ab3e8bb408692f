/* train/rows_csv.c: reads rows from a table, CSV, TSV or JSONL: columns for every input that the
 * file feeds.
 *
 * Statistics are computed from the training rows only, in their order, in f64; so no information
 * from held-out rows reaches a model. */
#include <math.h>

#include "data/jsonl.h"
#include "data/report.h"
#include "train/rows_internal.h"

static tn_column_kind column_kind(const tn_dataset_feed *feed, tn_data_kind kind) {
  if (feed->tokens != TN_TOKENS_NUMBERS) return TN_COLUMN_TEXT;
  switch (kind) {
    case TN_DATA_TOKEN_IDS: return TN_COLUMN_I32;
    case TN_DATA_LABELS: return TN_COLUMN_CLASS;
    default: return TN_COLUMN_F32;
  }
}

/* ---- reading ---- */

static const tn_csv_pick *make_picks(const tn_dataset_feed *feed, tn_arena *arena) {
  tn_csv_pick *picks = tn_arena_array(arena, feed->pick_count + 1, sizeof *picks);
  for (size_t i = 0; picks && i < feed->pick_count; i++)
    picks[i] = (tn_csv_pick){ feed->picks[i].name, feed->picks[i].first, feed->picks[i].last };
  return picks;
}

/* 0: not a number. */
static size_t declared_width(const tn_tensor_spec *input) {
  int64_t width = tn_rows_declared_width(input);
  return width > 0 ? (size_t)width : 0;
}

/* What an input has after its rows. */
static tn_shape row_of(const tn_shape *input) {
  return input->rank > 1 ? tn_shape_of(input->dim + 1, input->rank - 1) : TN_SCALAR_SHAPE;
}

tn_csv_column *tn_rows_csv_columns(const tn_rows_source *source) {
  const tn_dataset_block *data = source->program->dataset;
  float fill = data->missing == TN_MISSING_MEAN ? NAN : (float)data->missing_number;
  tn_csv_column *columns = tn_arena_array(source->arena, data->feed_count + 1, sizeof *columns);
  for (size_t i = 0; columns && i < data->feed_count; i++) {
    const tn_dataset_feed *feed = &data->feeds[i];
    columns[i] = (tn_csv_column){ .kind = column_kind(feed, source->program->specs.inputs[feed->input].kind),
                                  .picks = make_picks(feed, source->arena),
                                  .pick_count = feed->pick_count,
                                  .may_miss = data->missing != TN_MISSING_REFUSED,
                                  .fill = fill,
                                  .other = feed->other,
                                  .width = declared_width(&source->program->specs.inputs[feed->input]),
                                  .row = row_of(&source->program->specs.inputs[feed->input].type.shape) };
  }
  return source->arena->failed ? NULL : columns;
}

const int *tn_rows_csv_column_of(const tn_rows_source *source) {
  const tn_dataset_block *data = source->program->dataset;
  size_t inputs = source->program->specs.input_count;
  int *column_of = tn_arena_array(source->arena, inputs + 1, sizeof *column_of);
  for (size_t i = 0; column_of && i < inputs; i++) column_of[i] = -1;
  for (size_t i = 0; column_of && i < data->feed_count; i++) column_of[data->feeds[i].input] = (int)i;
  return column_of;
}

int64_t tn_rows_declared_width(const tn_tensor_spec *input) {
  int64_t width = 1;
  for (int i = 1; i < input->type.shape.rank; i++) {
    int64_t dim = input->type.shape.dim[i];
    if (!tn_dim_is_known(dim)) return -1;
    width *= dim;
  }
  return width;
}

static bool check_widths(const tn_rows_source *source, const tn_columns *columns) {
  const tn_dataset_block *data = source->program->dataset;
  for (size_t i = 0; i < data->feed_count; i++) {
    const tn_tensor_spec *input = &source->program->specs.inputs[data->feeds[i].input];
    int64_t declared = tn_rows_declared_width(input), received = (int64_t)columns->at[i].width;
    bool text = columns->at[i].kind == TN_COLUMN_TEXT; /* it becomes as long as it has to be */
    if (text || (declared < 0 && received > 0) || declared == received) continue;
    return tn_report(source->host->diags, TN_DIAG_E_DATASET_DIM_MISMATCH, data->feeds[i].at,
                     TN_TEXT("path", data->path), TN_INT("line", columns->lines.at[0]),
                     TN_INT("expected_T", declared < 0 ? 1 : declared), TN_INT("received_T", received),
                     TN_TEXT("input", tn_names_text(source->host->names, input->name)),
                     TN_DURING(TN_PHASE_DATA));
  }
  return true;
}

/* What the fault is about, as far as the program says something about it. */
static void name_input(const tn_rows_source *source, const tn_dataset_feed *feed, tn_data_place *place) {
  const tn_tensor_spec *input = &source->program->specs.inputs[feed->input];
  place->columns_at = feed->at;
  place->tokens = input->kind == TN_DATA_TOKEN_IDS;
  if (tn_rows_declared_width(input) < 0 && input->kind != TN_DATA_LABELS) return;
  place->input = tn_names_text(source->host->names, input->name);
  if (place->at.file != 0) place->input_at = input->at;
}

bool tn_rows_csv_failed(const tn_rows_source *source, const tn_data_fault *fault, tn_span at) {
  const tn_dataset_block *data = source->program->dataset;
  if (fault->problem == TN_DATA_STOPPED)
    return source->program->doors->report_fault(source->program->model,
                                                &(tn_fault){ .kind = TN_FAULT_INTERRUPTED });
  tn_data_place place = { .path = source->path, .at = at, .columns_at = at, .input_at = TN_NOWHERE };
  if (fault->asked < data->feed_count) name_input(source, &data->feeds[fault->asked], &place);
  return tn_data_report(fault, &place, source->host->heap, source->host->diags);
}

bool tn_rows_read_table(const tn_dataset_block *data, tn_heap *heap, const tn_csv_request *request,
                        tn_columns *out, tn_data_fault *fault) {
  return (data->format == TN_DATASET_JSONL ? tn_jsonl_read : tn_csv_read)(heap, request, out, fault);
}

static bool read_file(const tn_rows_source *source, const tn_csv_column *columns, tn_rows *rows) {
  const tn_dataset_block *data = source->program->dataset;
  tn_data_fault fault;
  tn_csv_request request = { .path = source->path,
                             .resolved = tn_host_resolves(source->host),
                             .delimiter = data->delimiter,
                             .header = data->header,
                             .header_is_default = data->header_is_default,
                             .columns = columns,
                             .column_count = data->feed_count,
                             .sha256 = source->hashed ? rows->sha256 : NULL };
  if (tn_rows_read_table(data, source->host->heap, &request, &rows->columns, &fault)) return true;
  return tn_rows_csv_failed(source, &fault, data->path_at);
}

bool tn_rows_read_csv(const tn_rows_source *source, tn_rows *rows) {
  const tn_csv_column *columns = tn_rows_csv_columns(source);
  rows->column_of = tn_rows_csv_column_of(source);
  if (!columns || !rows->column_of)
    return tn_report_memory(source->host->diags, source->host->heap, TN_NOWHERE, "the data set");
  if (!read_file(source, columns, rows)) return false;
  if (check_widths(source, &rows->columns)) return true;
  tn_columns_free(&rows->columns);
  return false;
}

/* ---- statistics ---- */

/* One item of every row of a column. */
typedef struct {
  const tn_rows *rows;
  tn_column *column;
  size_t item;
} series;

static float *number_at(const series *s, size_t row) {
  return &s->column->reals.at[row * s->column->width + s->item];
}

/* The mean of the rows for training that have a value; 0 where none has. */
static double mean_of(const series *s) {
  double sum = 0;
  size_t count = 0;
  for (size_t i = 0; i < s->rows->train_count; i++) {
    float number = *number_at(s, s->rows->order[i]);
    if (isnan(number)) continue;
    sum += (double)number;
    count++;
  }
  return count > 0 ? sum / (double)count : 0;
}

/* The standard deviation of these rows, all of them; 1 where they do not differ. */
static double deviation_of(const series *s, double mean) {
  double sum = 0;
  for (size_t i = 0; i < s->rows->train_count; i++) {
    double apart = (double)*number_at(s, s->rows->order[i]) - mean;
    sum += apart * apart;
  }
  double deviation = s->rows->train_count > 0 ? sqrt(sum / (double)s->rows->train_count) : 0;
  return deviation > 0 ? deviation : 1;
}

static void fill_missing(const series *s, float *fill) {
  *fill = (float)mean_of(s);
  for (size_t row = 0; row < s->rows->count; row++) {
    if (isnan(*number_at(s, row))) *number_at(s, row) = *fill;
  }
}

static void normalize(const series *s, double *mean, double *deviation) {
  *mean = mean_of(s);
  *deviation = deviation_of(s, *mean);
  for (size_t row = 0; row < s->rows->count; row++)
    *number_at(s, row) = (float)(((double)*number_at(s, row) - *mean) / *deviation);
}

static bool prepare_numbers(const tn_rows_source *source, tn_rows *rows, size_t index) {
  const tn_dataset_block *data = source->program->dataset;
  tn_column *column = &rows->columns.at[index];
  tn_row_statistics *to = &rows->statistics[index];
  bool fills = data->missing == TN_MISSING_MEAN, normalizes = data->feeds[index].normalized;
  if (fills) to->fill = tn_arena_array(source->arena, column->width, sizeof *to->fill);
  if (normalizes) to->mean = tn_arena_array(source->arena, column->width, sizeof *to->mean);
  if (normalizes) to->deviation = tn_arena_array(source->arena, column->width, sizeof *to->deviation);
  for (size_t item = 0; !source->arena->failed && item < column->width; item++) {
    series s = { rows, column, item };
    if (fills) fill_missing(&s, &to->fill[item]);
    if (normalizes) normalize(&s, &to->mean[item], &to->deviation[item]);
  }
  return !source->arena->failed;
}

bool tn_rows_prepare_csv(const tn_rows_source *source, tn_rows *rows) {
  const tn_dataset_block *data = source->program->dataset;
  rows->statistics = tn_arena_array(source->arena, data->feed_count + 1, sizeof *rows->statistics);
  if (!rows->statistics)
    return tn_report_memory(source->host->diags, source->host->heap, TN_NOWHERE, "the data set");
  for (size_t i = 0; i < data->feed_count; i++) {
    if (rows->columns.at[i].kind == TN_COLUMN_F32 && !prepare_numbers(source, rows, i))
      return tn_report_memory(source->host->diags, source->host->heap, TN_NOWHERE, "the data set");
    if (rows->columns.at[i].kind == TN_COLUMN_TEXT && !tn_rows_tokenize(source, &data->feeds[i], rows))
      return false;
  }
  return true;
}
