/* train/rows.c: executes a dataset block: reads, maps, filters, shuffles and splits rows.
 *
 * Maps change a column, row by row, and may change how many numbers a row has
 * (the same for all); filters drop rows. Both are graphs for one row, planned
 * once. They run while the file is read, so that memory holds only the rows that
 * stay. Then the rows are shuffled by the seed and divided. */
#include "train/rows.h"

#include <string.h>

#include "base/rng.h"
#include "data/report.h"
#include "data/table.h"
#include "plan/plan.h"
#include "train/rows_internal.h"

/* A map or a filter, planned for rows of one length. */
typedef struct {
  tn_graph graph;
  tn_plan *plan;
  tn_shape row; /* of the column it reads */
  bool on_labels;
} stage;

typedef struct {
  tn_host *host;
  const tn_training *program;
  const tn_dataset_block *data;
  const tn_backend *backend;
  tn_arena *arena;
  tn_rows *rows;
  const tn_rows_request *given; /* rows for a trained model; NULL: to train on */
  stage *stages;
  tn_table kept;   /* the rows that stay */
  tn_table *table; /* the rows that the stages work on */
  size_t read;     /* rows so far, those that filters have dropped included */
} pipeline;

static bool take_rows(void *context, tn_table *table);

static bool report_fault(const pipeline *p, const tn_fault *fault) {
  return p->program->doors->report_fault(p->program->model, fault);
}

static bool out_of_memory(tn_host *host) {
  return tn_report_memory(host->diags, host->heap, TN_NOWHERE, "the data set");
}

/* What an input declares after its rows, where that is a number. */
static int64_t declared_width(const tn_tensor_spec *input) {
  const tn_shape *shape = &input->type.shape;
  return shape->rank == 2 && tn_dim_is_known(shape->dim[1]) ? shape->dim[1] : -1;
}

/* Reading that ended without a report was stopped, by the user or by a limit; the host knows. */
static bool read_rows(pipeline *p, const tn_table_request *request, tn_table *out) {
  size_t errors = p->host->diags->errors;
  if (tn_table_read(p->host->heap, request, p->host->diags, out)) return true;
  if (p->host->diags->errors > errors) return false;
  return report_fault(p, &(tn_fault){ .kind = TN_FAULT_INTERRUPTED });
}

/* Whether some stage works on that column. A column is read for a stage too, whether or not an input takes
 * it. */
static bool has_stage(const tn_dataset_block *data, bool on_labels) {
  for (size_t i = 0; i < data->stage_count; i++) {
    if (data->stages[i].on_labels == on_labels) return true;
  }
  return false;
}

/* The path to open. */
static bool find_path(pipeline *p, tn_str *path) {
  const tn_dataset_block *d = p->data;
  bool found = tn_host_find(p->host, d->path, p->arena, path); /* it was when it was allowed */
  if (p->arena->failed) return out_of_memory(p->host);
  if (found) return true;
  return tn_report(p->host->diags, TN_DIAG_E_FILE_IO_ERROR, d->path_at, TN_TEXT("path", d->path),
                   TN_STR("io_error_kind", "permission_denied"));
}

/* How many features the rows had that the model was trained on, where the model has no other choice. */
static int64_t trained_width(const pipeline *p) {
  const tn_input_facts *facts = &p->given->facts->inputs[p->data->features_input];
  const tn_tensor_spec *input = &p->program->specs.inputs[p->data->features_input];
  bool open = input->kind == TN_DATA_TOKEN_IDS && declared_width(input) < 0; /* any number of tokens */
  return facts->known && !(open && p->data->format == TN_DATASET_JSONL) ? (int64_t)facts->width : -1;
}

/* Whether the input is read from the file. */
static bool is_wanted(const pipeline *p, int input) {
  return input >= 0 && (!p->given || p->given->wanted[input]);
}

/* A model with labels [B, T] has a class for every position. */
static bool has_label_lists(const tn_training *program) {
  int input = program->dataset->labels_input;
  return input >= 0 && program->specs.inputs[input].type.shape.rank > 1;
}

static int64_t label_width(const pipeline *p) {
  int input = p->data->labels_input;
  if (input < 0 || p->data->stage_count > 0) return -1;
  if (p->given && p->given->facts->inputs[input].known) return (int64_t)p->given->facts->inputs[input].width;
  return tn_rows_declared_width(&p->program->specs.inputs[input]);
}

static tn_table_request table_request(const pipeline *p, tn_str path, bool hashed) {
  const tn_dataset_block *d = p->data;
  bool all = !p->given || !p->given->take; /* also what only a stage reads */
  return (tn_table_request){
    .path = path.at,
    .resolved = !p->given && tn_host_resolves(p->host),
    .at = p->given ? TN_NOWHERE : d->path_at,
    .format = d->format == TN_DATASET_TSV ? TN_TABLE_TSV : TN_TABLE_JSONL,
    .wants_features = is_wanted(p, d->features_input) || (all && has_stage(d, false)),
    .wants_labels = is_wanted(p, d->labels_input) || (all && has_stage(d, true)),
    .width = -1,
    .label_lists = has_label_lists(p->program),
    .label_width = label_width(p),
    .feature_key = d->features.key,
    .label_key = d->labels.key,
    .feature_columns = d->features.columns,
    .feature_column_count = d->features.column_count,
    .label_columns = d->labels.columns,
    .label_column_count = d->labels.column_count,
    .sha256 = hashed ? p->rows->sha256 : NULL,
  };
}

static bool read_table(pipeline *p, tn_str path, bool hashed) {
  const tn_dataset_block *d = p->data;
  tn_table_request request = table_request(p, path, hashed);
  if (d->features_input >= 0) {
    const tn_tensor_spec *input = &p->program->specs.inputs[d->features_input];
    request.floats = input->kind == TN_DATA_TENSOR;
    if (d->stage_count == 0) request.width = p->given ? trained_width(p) : declared_width(input);
    if (request.width >= 0) request.input = tn_names_text(p->host->names, input->name);
    if (request.width >= 0 && !p->given) request.input_at = input->at;
    request.label_may_miss = p->given && !request.wants_labels && request.width >= 0;
  }
  if (d->stage_count == 0 && !(p->given && p->given->take)) return read_rows(p, &request, &p->kept);
  tn_table read;
  request.take = take_rows;
  request.context = p;
  p->kept = (tn_table){ .heap = p->host->heap, .floats = request.floats, .width = -1, .label_width = -1 };
  bool ok = read_rows(p, &request, &read);
  if (ok) tn_table_free(&read);
  if (!ok) tn_table_free(&p->kept);
  return ok;
}

/* ---- stages ---- */

static tn_view column_view(const pipeline *p, const stage *s, size_t row) {
  tn_table *table = p->table;
  size_t width = (size_t)table->label_width;
  if (s->on_labels) return tn_view_make(&table->labels.at[row * width], TN_I32, &s->row);
  void *data = (void *)(uintptr_t)tn_table_row(table, row);
  return tn_view_make(data, table->floats ? TN_F32 : TN_I32, &s->row);
}

/* The result is valid until the next row. */
static bool compute_row(pipeline *p, const stage *s, size_t row, tn_view *out) {
  tn_fault fault;
  tn_view view = column_view(p, s, row);
  tn_plan_bind_input(s->plan, 0, &view);
  if (!tn_plan_run(s->plan, &fault)) return report_fault(p, &fault);
  *out = tn_plan_output(s->plan, 0);
  return true;
}

static bool keep_whole(pipeline *p, const tn_view *view, tn_i32s *into) {
  for (int64_t i = 0; i < tn_view_count(view); i++) {
    if (!tn_vec_push(p->host->heap, into, (int32_t)tn_view_get_i64(view, i))) return out_of_memory(p->host);
  }
  return true;
}

static bool keep_numbers(pipeline *p, const tn_view *view, tn_table *into) {
  if (!into->floats) return keep_whole(p, view, &into->ints);
  for (int64_t i = 0; i < tn_view_count(view); i++) {
    if (!tn_vec_push(into->heap, &into->reals, (float)tn_view_get_f64(view, i)))
      return out_of_memory(p->host);
  }
  return true;
}

/* Features go into a fresh column, because their number may change. */
static bool map_features(pipeline *p, const stage *s) {
  tn_table *table = p->table;
  tn_table mapped = { .heap = table->heap, .floats = table->floats };
  bool ok = true;
  for (size_t row = 0; ok && row < table->rows; row++) {
    tn_view result;
    ok = compute_row(p, s, row, &result) && keep_numbers(p, &result, &mapped);
    if (ok) mapped.width = tn_view_count(&result);
  }
  tn_vec_free(table->heap, &table->ints);
  tn_vec_free(table->heap, &table->reals);
  table->ints = mapped.ints;
  table->reals = mapped.reals;
  if (ok) table->width = mapped.width;
  return ok;
}

static bool map_labels(pipeline *p, const stage *s) {
  tn_table *table = p->table;
  tn_i32s mapped = { 0 };
  int64_t width = table->label_width;
  bool ok = true;
  for (size_t row = 0; ok && row < table->rows; row++) {
    tn_view result;
    ok = compute_row(p, s, row, &result) && keep_whole(p, &result, &mapped);
    if (ok) width = tn_view_count(&result);
  }
  tn_vec_free(table->heap, &table->labels);
  table->labels = mapped;
  table->label_width = width;
  return ok;
}

static void move_row(tn_table *table, size_t from, size_t to) {
  size_t width = table->width > 0 ? (size_t)table->width : 0;
  if (table->floats && width)
    memmove(table->reals.at + to * width, table->reals.at + from * width, width * sizeof(float));
  if (!table->floats && width)
    memmove(table->ints.at + to * width, table->ints.at + from * width, width * sizeof(int32_t));
  size_t labels = table->label_width > 0 ? (size_t)table->label_width : 0;
  if (table->labels.count > 0 && labels)
    memmove(table->labels.at + to * labels, table->labels.at + from * labels, labels * sizeof(int32_t));
  table->lines.at[to] = table->lines.at[from];
}

static bool filter_rows(pipeline *p, const stage *s) {
  tn_table *table = p->table;
  size_t kept = 0;
  for (size_t row = 0; row < table->rows; row++) {
    tn_view result;
    if (!compute_row(p, s, row, &result)) return false;
    if (tn_view_get_i64(&result, 0) == 0) continue;
    if (kept != row) move_row(table, row, kept);
    kept++;
  }
  size_t width = table->width > 0 ? (size_t)table->width : 0;
  table->rows = table->lines.count = kept;
  if (table->labels.count > 0) table->labels.count = kept * (size_t)table->label_width;
  if (table->floats)
    table->reals.count = kept * width;
  else
    table->ints.count = kept * width;
  return true;
}

static bool plan_stage(pipeline *p, size_t index, stage *s) {
  tn_fault fault;
  tn_plan_options options = { .backend = tn_backend_on_host(p->backend), .threads = 1 };
  s->on_labels = p->data->stages[index].on_labels;
  int64_t width = s->on_labels ? p->table->label_width : p->table->width;
  bool single = s->on_labels && !has_label_lists(p->program);
  s->row = single ? TN_SCALAR_SHAPE : tn_shape_of(&width, 1);
  if (!p->program->doors->lower_stage(p->program->model, index, &s->row, &s->graph)) return false;
  s->plan = tn_plan_new(p->host->heap, &s->graph, &options, &fault);
  if (s->plan) return true;
  tn_graph_free(&s->graph);
  return report_fault(p, &fault);
}

static bool run_stage(pipeline *p, size_t index) {
  stage *s = &p->stages[index];
  if (!s->plan && !plan_stage(p, index, s)) return false;
  if (p->data->stages[index].kind == TN_STAGE_FILTER) return filter_rows(p, s);
  return s->on_labels ? map_labels(p, s) : map_features(p, s);
}

static bool keep_rows(pipeline *p, const tn_table *rows) {
  tn_table *kept = &p->kept;
  if (kept->rows + rows->rows > TN_TABLE_ROW_LIMIT) {
    return tn_report(p->host->diags, TN_DIAG_E_TOO_LARGE, p->data->path_at, TN_STR("what", "the data set"),
                     TN_INT("limit", (int64_t)TN_TABLE_ROW_LIMIT));
  }
  if (tn_table_append(kept, rows)) return true;
  tn_table_free(kept); /* reporting needs memory, too */
  return out_of_memory(p->host);
}

/* A row to predict is not dropped, and its label is not read. */
static bool applies(const pipeline *p, size_t index) {
  const tn_dataset_stage *s = &p->data->stages[index];
  return !p->given || !p->given->take || (s->kind == TN_STAGE_MAP && !s->on_labels);
}

/* To the caller that takes them. */
static bool give_rows(pipeline *p, tn_table *table) {
  tn_rows rows = { .present = true, .column_of = p->rows->column_of };
  if (!tn_table_take(table, &rows.columns)) return out_of_memory(p->host);
  rows.count = rows.columns.rows;
  bool ok = p->given->take(p->given->context, &rows);
  tn_rows_free(&rows);
  return ok;
}

/* What the reader has read so far; what is left of it is kept. */
static bool take_rows(void *context, tn_table *table) {
  pipeline *p = context;
  tn_table rows = *table;
  *table = (tn_table){
    .heap = rows.heap, .floats = rows.floats, .width = rows.width, .label_width = rows.label_width
  };
  p->table = &rows;
  p->read += rows.rows;
  bool ok = true;
  for (size_t i = 0; ok && i < p->data->stage_count; i++) ok = !applies(p, i) || run_stage(p, i);
  ok = ok && (p->given && p->given->take ? give_rows(p, &rows) : keep_rows(p, &rows));
  tn_table_free(&rows);
  p->table = NULL;
  return ok;
}

static void free_stages(pipeline *p) {
  for (size_t i = 0; p->stages && i < p->data->stage_count; i++) {
    if (!p->stages[i].plan) continue;
    tn_plan_free(p->stages[i].plan);
    tn_graph_free(&p->stages[i].graph);
  }
}

/* ---- columns ---- */

/* Features and labels become columns, and those feed inputs. */
static const int *make_column_of(const pipeline *p) {
  int *column_of = tn_arena_array(p->arena, p->program->specs.input_count + 1, sizeof *column_of);
  for (size_t i = 0; column_of && i < p->program->specs.input_count; i++) {
    column_of[i] = (int)i == p->data->labels_input     ? TN_TABLE_LABELS
                   : (int)i == p->data->features_input ? TN_TABLE_FEATURES
                                                       : -1;
  }
  return column_of;
}

static bool take_table(pipeline *p) {
  if (tn_table_take(&p->kept, &p->rows->columns)) return true;
  tn_table_free(&p->kept); /* reporting needs memory, too */
  return out_of_memory(p->host);
}

/* ---- order ---- */

static bool put_in_order(pipeline *p) {
  tn_rows *rows = p->rows;
  rows->count = rows->columns.rows;
  if (rows->count == 0) {
    return tn_report(p->host->diags, TN_DIAG_E_DATASET_EMPTY, p->data->at, TN_TEXT("path", p->data->path),
                     TN_INT("filtered", (int64_t)p->read), TN_DURING(TN_PHASE_DATA));
  }
  rows->order = tn_heap_alloc(p->host->heap, rows->count * sizeof *rows->order);
  if (!rows->order) {
    tn_columns_free(&rows->columns);
    rows->count = 0;
    return out_of_memory(p->host);
  }
  rows->order_count = rows->count;
  for (size_t i = 0; i < rows->count; i++) rows->order[i] = (uint32_t)i;
  if (p->data->shuffle && !p->given) {
    tn_rng rng;
    tn_rng_init(&rng, p->host->seed);
    tn_rng_shuffle(&rng, rows->order, (uint32_t)rows->count);
  }
  rows->train_count = p->given ? rows->count : (size_t)((double)rows->count * p->data->split);
  rows->test_count = tn_rows_test_share(p->data, rows->count, rows->train_count);
  return true;
}

bool tn_rows_stopped(const tn_rows_source *source) {
  tn_host *host = source->host;
  if (!tn_stop_asked(host->heap->stop))
    return tn_report_memory(host->diags, host->heap, TN_NOWHERE, "the data set");
  return source->program->doors->report_fault(source->program->model,
                                              &(tn_fault){ .kind = TN_FAULT_INTERRUPTED });
}

bool tn_rows_read_file(const tn_rows_source *source, bool given, tn_file_bytes *out) {
  tn_host *host = source->host;
  tn_file_status status = given ? tn_file_read(host->heap, source->path, UINT64_C(1) << 40, NULL, out)
                                : tn_host_read(host, source->path, out);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NO_MEMORY) return tn_rows_stopped(source);
  tn_span at = given ? TN_NOWHERE : source->program->dataset->path_at;
  return tn_data_report_file(status, source->path, at, host->diags);
}

size_t tn_rows_test_share(const tn_dataset_block *data, size_t count, size_t train) {
  size_t test = (size_t)((double)count * data->test);
  return test < count - train ? test : count - train;
}

/* JSONL and TSV, with the stages that run while they are read. */
static bool read_stages(pipeline *p, tn_str path, bool hashed) {
  p->stages = tn_arena_array(p->arena, p->data->stage_count + 1, sizeof *p->stages);
  p->rows->column_of = make_column_of(p);
  bool ok = p->stages && p->rows->column_of ? read_table(p, path, hashed) : out_of_memory(p->host);
  free_stages(p);
  return ok && take_table(p);
}

static bool has_arrays(const tn_dataset_block *data) {
  return data->format == TN_DATASET_NPY || data->format == TN_DATASET_NPZ;
}

bool tn_rows_read(tn_host *host, const tn_training *program, const tn_backend *backend, bool hashed,
                  tn_arena *arena, tn_rows *out) {
  pipeline p = { .host = host,
                 .program = program,
                 .data = program->dataset,
                 .backend = backend,
                 .arena = arena,
                 .rows = out };
  tn_str path;
  *out = (tn_rows){ .present = false };
  if (!p.data) return true;
  if (!find_path(&p, &path)) return false;
  tn_rows_source source = { host, program, path.at, hashed, arena };
  if (p.data->format == TN_DATASET_TEXT) return tn_rows_read_text(&source, NULL, out);
  out->present = !p.data->fed         ? read_stages(&p, path, hashed)
                 : has_arrays(p.data) ? tn_rows_read_arrays(&source, NULL, out)
                                      : tn_rows_read_csv(&source, out);
  if (!out->present) return false;
  bool ok = put_in_order(&p) && (!p.data->fed || tn_rows_prepare_csv(&source, out));
  if (!ok) tn_rows_free(out);
  return ok;
}

bool tn_rows_read_given(tn_host *host, const tn_training *program, const tn_backend *backend,
                        const tn_rows_request *request, tn_arena *arena, tn_rows *out) {
  tn_rows unused = { 0 };
  pipeline p = { .host = host,
                 .program = program,
                 .data = program->dataset,
                 .backend = backend,
                 .arena = arena,
                 .rows = out ? out : &unused,
                 .given = request };
  tn_rows_source source = { host, program, request->path, request->hashed, arena };
  if (p.data->format == TN_DATASET_TEXT) return tn_rows_read_text(&source, request, p.rows);
  *p.rows = (tn_rows){ .present = false };
  p.rows->present = !p.data->fed         ? read_stages(&p, tn_str_of(request->path), request->hashed)
                    : has_arrays(p.data) ? tn_rows_read_arrays(&source, request, p.rows)
                                         : tn_rows_read_given_csv(&source, request, p.rows);
  if (!p.rows->present) return false;
  bool ok = request->take || put_in_order(&p);
  if (!ok || !out) tn_rows_free(p.rows);
  return ok;
}

void tn_rows_free(tn_rows *rows) {
  if (!rows->present) return;
  tn_heap_free(rows->columns.heap, rows->order, rows->order_count * sizeof *rows->order);
  tn_columns_free(&rows->columns);
  tn_vocab_free(rows->vocab);
  rows->present = false;
}
