/* train/rows_given.c: reads rows of a table for a trained model.
 *
 * Nothing is learned from these rows: missing values, means, deviations, class
 * names and vocabulary are those of the run's data.json. Columns that the answer
 * does not need, the labels above all, may be missing in the file. */
#include <math.h>

#include "data/report.h"
#include "train/rows_internal.h"

typedef struct {
  const tn_rows_source *source;
  const tn_rows_request *request;
  tn_csv_column *columns; /* as they are asked for */
  tn_rows rows;           /* those that were read */
} given;

static const tn_dataset_feed *feed_of(const given *g, size_t column) {
  return &g->source->program->dataset->feeds[column];
}

static const tn_input_facts *facts_of(const given *g, size_t column) {
  return &g->request->facts->inputs[feed_of(g, column)->input];
}

/* ---- what is asked for ---- */

/* Token ids of JSONL may be any number, where the model leaves it open. */
static bool is_open(const given *g, size_t column) {
  const tn_training *program = g->source->program;
  const tn_tensor_spec *input = &program->specs.inputs[feed_of(g, column)->input];
  return program->dataset->format == TN_DATASET_JSONL && input->kind != TN_DATA_TENSOR &&
         tn_rows_declared_width(input) < 0;
}

static bool ask(given *g) {
  const tn_dataset_block *data = g->source->program->dataset;
  g->columns = tn_rows_csv_columns(g->source);
  g->rows.column_of = tn_rows_csv_column_of(g->source);
  if (!g->columns || !g->rows.column_of) return tn_rows_stopped(g->source);
  for (size_t i = 0; i < data->feed_count; i++) {
    g->columns[i].ignored = !g->request->wanted[feed_of(g, i)->input];
    g->columns[i].classes = facts_of(g, i)->classes ? TN_CLASSES_NAMED : TN_CLASSES_NUMBERED;
    if (g->columns[i].may_miss) g->columns[i].fill = NAN;
    g->columns[i].width = is_open(g, i) ? 0 : facts_of(g, i)->width;
  }
  return true;
}

/* ---- what was read ---- */

void tn_rows_normalize(const tn_input_facts *facts, tn_column *column, size_t rows) {
  size_t width = column->width;
  for (size_t i = 0; i < rows * width; i++) {
    float *number = &column->reals.at[i];
    if (facts->fill && isnan(*number)) *number = facts->fill[i % width];
    if (!facts->mean) continue;
    *number = (float)(((double)*number - facts->mean[i % width]) / facts->deviation[i % width]);
  }
}

static bool wrong_width(const given *g, const tn_columns *columns, size_t index) {
  const tn_training *program = g->source->program;
  const tn_dataset_feed *feed = feed_of(g, index);
  return tn_report(g->source->host->diags, TN_DIAG_E_DATASET_DIM_MISMATCH, feed->at,
                   TN_STR("path", g->source->path), TN_INT("line", columns->lines.at[0]),
                   TN_INT("expected_T", (int64_t)facts_of(g, index)->width),
                   TN_INT("received_T", (int64_t)columns->at[index].width),
                   TN_TEXT("input", tn_names_text(g->source->host->names,
                                                  program->specs.inputs[feed->input].name)),
                   TN_DURING(TN_PHASE_DATA));
}

static int32_t class_named(const tn_input_facts *facts, tn_str name) {
  for (size_t i = 0; i < facts->class_count; i++) {
    if (tn_str_equal(facts->classes[i], name)) return (int32_t)i;
  }
  return -1;
}

static bool unknown_class(const given *g, const tn_columns *columns, size_t row, tn_str name,
                          const tn_input_facts *facts) {
  return tn_report(g->source->host->diags, TN_DIAG_E_DATASET_LABEL_OUT_OF_RANGE, TN_NOWHERE,
                   TN_STR("path", g->source->path), TN_INT("line", columns->lines.at[row]),
                   TN_TEXT("label", name), TN_INT("num_classes", (int64_t)facts->class_count),
                   TN_DURING(TN_PHASE_DATA));
}

/* From the numbers that names have in this file to those that they had in training. */
static bool number_classes(const given *g, const tn_columns *columns, tn_column *column,
                           const tn_input_facts *facts) {
  int32_t *number = tn_arena_array(g->source->arena, column->class_count + 1, sizeof *number);
  if (!number) return tn_rows_stopped(g->source);
  for (size_t i = 0; column->classes && i < column->class_count; i++)
    number[i] = class_named(facts, tn_names_text(column->classes, (tn_name)i + 1));
  for (size_t i = 0; column->classes && i < columns->rows * column->width; i++) {
    int32_t *label = &column->ints.at[i];
    tn_str name = tn_names_text(column->classes, (tn_name)*label + 1);
    if (number[*label] < 0) return unknown_class(g, columns, i / column->width, name, facts);
    *label = number[*label];
  }
  tn_names_free(column->classes);
  column->classes = NULL;
  return true;
}

static bool prepare_column(const given *g, tn_columns *columns, size_t index) {
  tn_column *column = &columns->at[index];
  const tn_input_facts *facts = facts_of(g, index);
  if (g->columns[index].ignored) return true;
  if (column->kind == TN_COLUMN_TEXT && facts->vocab)
    return tn_rows_encode(facts->vocab, column, columns->rows, facts->width, columns->heap) ||
           tn_rows_stopped(g->source);
  if (column->width != facts->width && !is_open(g, index)) return wrong_width(g, columns, index);
  if (column->kind == TN_COLUMN_F32) tn_rows_normalize(facts, column, columns->rows);
  return column->kind != TN_COLUMN_CLASS || number_classes(g, columns, column, facts);
}

static bool prepare(const given *g, tn_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    if (!prepare_column(g, columns, i)) return false;
  }
  return true;
}

/* A text column has become numbers, and is a text column again for the rows that follow. */
static void reset(const given *g, tn_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    if (columns->at[i].kind == g->columns[i].kind) continue;
    columns->at[i].kind = g->columns[i].kind;
    columns->at[i].width = 1;
  }
}

static bool take(void *context, tn_columns *columns) {
  given *g = context;
  bool ok = prepare(g, columns);
  g->rows.columns = *columns;
  g->rows.count = columns->rows;
  ok = ok && g->request->take(g->request->context, &g->rows);
  reset(g, columns);
  return ok;
}

bool tn_rows_read_given_csv(const tn_rows_source *source, const tn_rows_request *request, tn_rows *out) {
  given g = { .source = source, .request = request, .rows.present = true };
  const tn_dataset_block *data = source->program->dataset;
  tn_data_fault fault;
  if (!ask(&g)) return false;
  tn_csv_request wanted = { .path = source->path,
                            .delimiter = data->delimiter,
                            .header = data->header,
                            .header_is_default = data->header_is_default,
                            .columns = g.columns,
                            .column_count = data->feed_count,
                            .sha256 = source->hashed ? out->sha256 : NULL,
                            .take = request->take ? take : NULL,
                            .context = &g };
  out->column_of = g.rows.column_of;
  if (!tn_rows_read_table(data, source->host->heap, &wanted, &out->columns, &fault))
    return tn_rows_csv_failed(source, &fault, TN_NOWHERE);
  if (request->take || prepare(&g, &out->columns)) return true;
  tn_columns_free(&out->columns);
  return false;
}
