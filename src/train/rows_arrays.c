/* train/rows_arrays.c: reads rows from NumPy files: one array per input, whose first axis counts
 * rows.
 *
 * An archive (npz) has arrays with names; a file of one array (npy) feeds one
 * input. What an array holds for a row may have any shape that has as many
 * numbers as the input takes. Numbers become f32, token ids and labels are
 * integers. A diagnostic that names a line means the row, counted from 1. */
#include <math.h>

#include "data/report.h"
#include "tensor/npz.h"
#include "train/rows_internal.h"

#define CHUNK_ROWS ((size_t)1024) /* that are taken at a time */

typedef struct {
  const tn_rows_source *source;
  const tn_rows_request *request; /* NULL: rows to train on */
  tn_file_bytes file;
  tn_tensor *arrays; /* by feed; empty: it is not read */
  size_t rows;
} reading;

static tn_heap *heap_of(const reading *r) { return r->source->host->heap; }
static const tn_dataset_block *data_of(const reading *r) { return r->source->program->dataset; }

static const tn_dataset_feed *feed_of(const reading *r, size_t index) { return &data_of(r)->feeds[index]; }

static const tn_tensor_spec *input_of(const reading *r, size_t index) {
  return &r->source->program->specs.inputs[feed_of(r, index)->input];
}

/* ---- what is wrong ---- */

static tn_span place_of(const reading *r, tn_span at) { return r->request ? TN_NOWHERE : at; }

/* The name of the array, or of the input that a file of one array feeds. */
static tn_str array_name(const reading *r, size_t index) {
  const tn_dataset_feed *feed = feed_of(r, index);
  return feed->pick_count > 0 ? feed->picks[0].name
                              : tn_names_text(r->source->host->names, input_of(r, index)->name);
}

static bool wrong_array(const reading *r, size_t index, tn_text *reason) {
  tn_str input = tn_names_text(r->source->host->names, input_of(r, index)->name);
  if (reason->failed)
    tn_rows_stopped(r->source);
  else
    tn_report(r->source->host->diags, TN_DIAG_E_DATASET_ARRAY, place_of(r, feed_of(r, index)->at),
              TN_STR("path", r->source->path), TN_TEXT("array", array_name(r, index)),
              TN_TEXT("input", input), TN_TEXT("reason", tn_text_str(reason)), TN_DURING(TN_PHASE_DATA));
  tn_text_free(reason);
  return false;
}

/* "{before}{number}{after}" */
static bool wrong(const reading *r, size_t index, const char *before, int64_t number, const char *after) {
  tn_text reason;
  tn_text_init(&reason, heap_of(r));
  tn_text_puts(&reason, before);
  if (after) tn_text_int(&reason, number);
  if (after) tn_text_puts(&reason, after);
  return wrong_array(r, index, &reason);
}

/* ---- the file ---- */

static bool read_file(reading *r, uint8_t *sha256) {
  const tn_rows_source *source = r->source;
  if (!tn_rows_read_file(source, r->request != NULL, &r->file)) return false;
  if (source->hashed) tn_sha256_of(r->file.at, r->file.len, sha256);
  return true;
}

static bool read_array(reading *r, size_t index) {
  bool archive = data_of(r)->format == TN_DATASET_NPZ;
  tn_npy_error error = archive ? tn_npz_read(heap_of(r), r->file.at, r->file.len, array_name(r, index),
                                             &r->arrays[index])
                               : tn_npy_read(heap_of(r), r->file.at, r->file.len, &r->arrays[index]);
  if (error == TN_NPY_OK) return true;
  if (error == TN_NPY_MEMORY) return tn_rows_stopped(r->source);
  if (error == TN_NPY_MEMBER) return wrong(r, index, "is not in the archive", 0, NULL);
  return tn_report(r->source->host->diags, TN_DIAG_E_FILE_CORRUPT, place_of(r, data_of(r)->path_at),
                   TN_STR("path", r->source->path), TN_STR("format", archive ? "npz" : "npy"),
                   TN_STR("reason", tn_npy_reason(error)), TN_DURING(TN_PHASE_DATA));
}

/* ---- shapes and dtypes ---- */

static size_t width_of(const tn_view *view) {
  size_t width = 1;
  for (int i = 1; i < view->rank; i++) width *= (size_t)view->dim[i];
  return width;
}

/* An array with as many axes as the input has the input's lengths; any other has as many numbers. */
static bool fits(const reading *r, size_t index, const tn_view *view) {
  const tn_shape *shape = &input_of(r, index)->type.shape;
  int64_t declared = tn_rows_declared_width(input_of(r, index));
  for (int i = 1; view->rank == shape->rank && i < shape->rank; i++)
    if (tn_dim_is_known(shape->dim[i]) && shape->dim[i] != view->dim[i]) return false;
  return declared < 0 || (size_t)declared == width_of(view);
}

static bool wrong_shape(const reading *r, size_t index, const tn_view *view) {
  const tn_tensor_spec *input = input_of(r, index);
  tn_shape shape = tn_view_shape(view);
  tn_text reason;
  tn_text_init(&reason, heap_of(r));
  tn_text_puts(&reason, "has the shape ");
  tn_shape_print(&shape, NULL, TN_SHAPE_COMMA, &reason);
  tn_text_puts(&reason, ", and the input is ");
  tn_shape_print(&input->type.shape, r->source->host->names, TN_SHAPE_COMMA, &reason);
  return wrong_array(r, index, &reason);
}

static bool check_array(reading *r, size_t index, size_t first) {
  const tn_view *view = &r->arrays[index].view;
  bool whole = input_of(r, index)->kind != TN_DATA_TENSOR;
  if (view->rank < 1) return wrong(r, index, "is a single number, without rows", 0, NULL);
  if (!fits(r, index, view)) return wrong_shape(r, index, view);
  if (width_of(view) == 0) return wrong(r, index, "has rows without numbers", 0, NULL);
  if ((uint64_t)view->dim[0] > TN_COLUMN_ROW_LIMIT)
    return wrong(r, index, "has more than ", (int64_t)TN_COLUMN_ROW_LIMIT, " rows");
  if (index != first && view->dim[0] != r->arrays[first].view.dim[0])
    return wrong(r, index, "has another number of rows than the arrays before it: ", view->dim[0], "");
  if (whole && !tn_dtype_in(view->dtype, TN_INTS | TN_DTYPE_BIT(TN_BOOL)))
    return wrong(r, index, "holds numbers with a fraction, and the input takes integers", 0, NULL);
  const tn_input_facts *facts = r->request ? &r->request->facts->inputs[feed_of(r, index)->input] : NULL;
  if (facts && facts->known && facts->width != width_of(view))
    return wrong(r, index, "has other rows than those of the training, which had numbers: ",
                 (int64_t)facts->width, "");
  return true;
}

static bool read_arrays(reading *r) {
  size_t count = data_of(r)->feed_count, first = count;
  r->arrays = tn_arena_array(r->source->arena, count + 1, sizeof *r->arrays);
  if (!r->arrays) return tn_rows_stopped(r->source);
  for (size_t i = 0; i < count; i++) {
    if (r->request && !r->request->wanted[feed_of(r, i)->input]) continue;
    if (first == count) first = i;
    if (!read_array(r, i) || !check_array(r, i, first)) return false;
    r->rows = (size_t)r->arrays[i].view.dim[0];
  }
  return true;
}

/* ---- columns ---- */

static bool fill_numbers(const reading *r, size_t index, size_t from, size_t to, tn_column *column) {
  const tn_view *view = &r->arrays[index].view;
  column->reals.count = 0;
  if (!tn_vec_reserve(heap_of(r), &column->reals, (to - from) * column->width))
    return tn_rows_stopped(r->source);
  for (size_t i = from * column->width; i < to * column->width; i++) {
    float number = (float)tn_view_get_f64(view, (int64_t)i);
    if (!isfinite(number))
      return wrong(r, index, "has NaN, an infinity or a number beyond f32 in row ",
                   (int64_t)(i / column->width + 1), "");
    column->reals.at[column->reals.count++] = number;
  }
  return true;
}

static bool fill_integers(const reading *r, size_t index, size_t from, size_t to, tn_column *column) {
  const tn_view *view = &r->arrays[index].view;
  column->ints.count = 0;
  if (!tn_vec_reserve(heap_of(r), &column->ints, (to - from) * column->width))
    return tn_rows_stopped(r->source);
  for (size_t i = from * column->width; i < to * column->width; i++) {
    int64_t number = tn_view_get_i64(view, (int64_t)i);
    if (number < INT32_MIN || number > INT32_MAX)
      return wrong(r, index, "has a number beyond 32 bits in row ", (int64_t)(i / column->width + 1), "");
    column->ints.at[column->ints.count++] = (int32_t)number;
  }
  return true;
}

static bool fill_column(const reading *r, size_t index, size_t from, size_t to, tn_column *column) {
  if (!r->arrays[index].buffer) return true;
  bool whole = input_of(r, index)->kind != TN_DATA_TENSOR;
  bool label = input_of(r, index)->kind == TN_DATA_LABELS;
  column->kind = label ? TN_COLUMN_CLASS : whole ? TN_COLUMN_I32 : TN_COLUMN_F32;
  column->width = width_of(&r->arrays[index].view);
  if (whole) return fill_integers(r, index, from, to, column);
  if (!fill_numbers(r, index, from, to, column)) return false;
  if (r->request)
    tn_rows_normalize(&r->request->facts->inputs[feed_of(r, index)->input], column, to - from);
  return true;
}

static bool fill(const reading *r, size_t from, size_t to, tn_columns *columns) {
  columns->lines.count = 0;
  if (!tn_vec_reserve(heap_of(r), &columns->lines, to - from)) return tn_rows_stopped(r->source);
  for (size_t i = from; i < to; i++) columns->lines.at[columns->lines.count++] = (uint32_t)(i + 1);
  for (size_t i = 0; i < columns->count; i++)
    if (!fill_column(r, i, from, to, &columns->at[i])) return false;
  columns->rows = to - from;
  return true;
}

static bool give_rows(const reading *r, tn_rows *rows) {
  for (size_t from = 0; from < r->rows; from += CHUNK_ROWS) {
    size_t to = r->rows - from < CHUNK_ROWS ? r->rows : from + CHUNK_ROWS;
    if (!fill(r, from, to, &rows->columns)) return false;
    rows->count = to - from;
    if (!r->request->take(r->request->context, rows)) return false;
  }
  return true;
}

static bool fill_all(const reading *r, tn_rows *rows) {
  tn_span at = place_of(r, data_of(r)->path_at);
  tn_data_place place = { .path = r->source->path, .at = at, .columns_at = at };
  if (r->rows == 0)
    return tn_data_report(&(tn_data_fault){ .problem = TN_DATA_EMPTY }, &place, heap_of(r),
                          r->source->host->diags);
  return fill(r, 0, r->rows, &rows->columns);
}

static bool read_rows(reading *r, tn_rows *rows) {
  rows->column_of = tn_rows_csv_column_of(r->source);
  if (!rows->column_of || !tn_columns_init(&rows->columns, heap_of(r), data_of(r)->feed_count))
    return tn_rows_stopped(r->source);
  bool taken = r->request && r->request->take;
  bool ok = read_file(r, rows->sha256) && read_arrays(r) &&
            (taken ? give_rows(r, rows) : fill_all(r, rows));
  if (!ok) tn_columns_free(&rows->columns);
  return ok;
}

bool tn_rows_read_arrays(const tn_rows_source *source, const tn_rows_request *request, tn_rows *rows) {
  reading r = { .source = source, .request = request };
  tn_phase before = tn_diags_enter(source->host->diags, TN_PHASE_DATA);
  bool ok = read_rows(&r, rows);
  for (size_t i = 0; r.arrays && i < source->program->dataset->feed_count; i++)
    if (r.arrays[i].buffer) tn_tensor_unref(&r.arrays[i]);
  tn_file_release(source->host->heap, &r.file);
  tn_diags_enter(source->host->diags, before);
  return ok;
}
