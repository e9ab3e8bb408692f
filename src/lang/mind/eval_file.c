/* lang/mind/eval_file.c: tensors from files, and to files.
 *
 * Tables and weights are read by data/, arrays by tensor/, and their
 * diagnostics say what is wrong where. A tensor in a file of weights has the
 * name of its variable; an item of a tuple has its place after that: "W",
 * "layers.0". */
#include "base/file.h"
#include "data/csv.h"
#include "data/report.h"
#include "data/safetensors.h"
#include "lang/mind/eval.h"
#include "tensor/npy.h"

/* Where files are limited to folders, the path must lie beneath one. */
bool tn_mind_find_file(tn_mind_evaluator *e, tn_str path, bool writes, tn_span at, tn_str *found) {
  tn_host *host = e->host;
  if ((writes ? tn_host_find_target : tn_host_find)(host, path, e->arena, found)) return true;
  tn_str granted = (writes ? tn_host_writable : tn_host_readable)(host, e->arena);
  return tn_report(host->diags, TN_DIAG_E_CAPABILITY_DENIED, at,
                   TN_STR("capability", writes ? "FileWrite" : "FileRead"),
                   TN_STR("op", writes ? "WriteFile" : "ReadFileText"),
                   TN_STR("attempted_action", writes ? "write a file" : "read file from filesystem"),
                   TN_TEXT("path", path), TN_TEXT("granted", granted));
}

/* ---- reading ---- */

/* The bytes of a file, to be released. False after reporting. */
static bool read_bytes(tn_mind_evaluator *e, tn_str found, tn_span at, tn_file_bytes *out) {
  tn_file_status status = tn_host_read(e->host, found.at, out);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NO_MEMORY) return tn_mind_out_of_memory(e->mind);
  return tn_data_report_file(status, found.at, at, e->host->diags);
}

static bool corrupt(const tn_mind_evaluator *e, tn_str path, const char *format, const char *reason,
                    tn_span at) {
  return tn_report(e->host->diags, TN_DIAG_E_FILE_CORRUPT, at, TN_TEXT("path", path),
                   TN_STR("format", format), TN_STR("reason", reason));
}

/* A value of the tensor, whose reference is taken. */
static bool finish(tn_mind_evaluator *e, tn_tensor *tensor, tn_span at, tn_mind_value *out) {
  tn_shape shape = tn_view_shape(&tensor->view);
  bool ok = tn_mind_refuse_empty(e->mind, &shape, at) && tn_mind_builder(e, at);
  tn_value node = ok ? tn_mind_trace_const(e->trace, tensor) : TN_ERROR_VALUE;
  tn_tensor_unref(tensor);
  *out = tn_mind_tensor_value(node);
  return ok && tn_mind_built(e, NULL, node);
}

static bool bytes_tensor(tn_mind_evaluator *e, const tn_file_bytes *bytes, tn_tensor *out) {
  tn_shape shape = tn_shape_make(1, (int64_t)bytes->len);
  if (!tn_tensor_new(e->host->heap, TN_I32, &shape, out)) return tn_mind_out_of_memory(e->mind);
  int32_t *numbers = out->view.data;
  for (size_t i = 0; i < bytes->len; i++) numbers[i] = (unsigned char)((const char *)bytes->at)[i];
  return true;
}

/* The file says the dtype and the sizes; the program has said the dtype and how
 * many sizes. */
static bool npy_tensor(tn_mind_evaluator *e, const tn_file_bytes *bytes, tn_str path, int64_t rank,
                       tn_dtype dtype, tn_span at, tn_tensor *out) {
  tn_npy_error error = tn_npy_read(e->host->heap, bytes->at, bytes->len, out);
  if (error == TN_NPY_MEMORY) return tn_mind_out_of_memory(e->mind);
  if (error != TN_NPY_OK) return corrupt(e, path, "npy", tn_npy_reason(error), at);
  tn_shape shape = tn_view_shape(&out->view), wanted = { .rank = (int)rank };
  tn_dtype got = out->view.dtype;
  if (got == dtype && shape.rank == rank) return true;
  tn_tensor_unref(out);
  if (got != dtype)
    return tn_mind_refuse_dtype(e->mind, at, "read_npy", tn_dtype_name(dtype), got);
  for (int i = 0; i < wanted.rank; i++) wanted.dim[i] = TN_DIM_UNKNOWN;
  return tn_mind_shapes_differ(e->mind, at, &wanted, &shape, 0, 0, TN_LIT(""));
}

static bool csv_tensor(tn_mind_evaluator *e, tn_str found, tn_str path, tn_span at, tn_tensor *out) {
  tn_csv_column all = { .kind = TN_COLUMN_F32 };
  tn_csv_request request = { .path = found.at,
                             .resolved = tn_host_resolves(e->host),
                             .delimiter = tn_csv_delimiter(path),
                             .columns = &all,
                             .column_count = 1 };
  tn_data_place place = { .path = found.at, .at = at, .columns_at = at };
  tn_columns columns;
  tn_data_fault fault;
  if (!request.delimiter)
    return tn_report(e->host->diags, TN_DIAG_E2001, at,
                     TN_STR("expected", "a path that ends in .csv or .tsv"), TN_TEXT("got", path));
  if (!tn_csv_read_guessed(e->host->heap, &request, &columns, &fault)) {
    if (fault.problem == TN_DATA_STOPPED) return !tn_mind_interrupted(e, at);
    return tn_data_report(&fault, &place, e->host->heap, e->host->diags);
  }
  bool ok = tn_column_tensor(&columns, 0, false, out);
  tn_columns_free(&columns);
  return ok || tn_mind_out_of_memory(e->mind);
}

bool tn_mind_read_tensor(tn_mind_evaluator *e, tn_mind_special special, tn_str path, int64_t rank,
                         tn_dtype dtype, tn_span at, tn_mind_value *out) {
  tn_file_bytes bytes;
  tn_tensor tensor = { 0 };
  tn_str found;
  if (!tn_mind_find_file(e, path, false, at, &found)) return false;
  if (special == TN_MIND_READ_CSV)
    return csv_tensor(e, found, path, at, &tensor) && finish(e, &tensor, at, out);
  if (!read_bytes(e, found, at, &bytes)) return false;
  bool ok = special == TN_MIND_READ_BYTES ? bytes_tensor(e, &bytes, &tensor)
                                          : npy_tensor(e, &bytes, path, rank, dtype, at, &tensor);
  tn_file_release(e->host->heap, &bytes);
  return ok && finish(e, &tensor, at, out);
}

/* ---- weights ---- */

typedef struct {
  tn_str name;
  tn_mind_value *value; /* a number or a tensor */
} weight;

typedef struct {
  tn_mind_evaluator *e;
  tn_span at;
  tn_vec(weight) list;
} weights;

static tn_str place_name(weights *w, tn_str name, uint32_t place) {
  tn_text text;
  tn_text_init(&text, w->e->host->heap);
  tn_text_add(&text, name);
  tn_text_byte(&text, '.');
  tn_text_uint(&text, place);
  return tn_mind_kept_text(w->e->mind, &text);
}

/* The parts of a value, in a copy of it. */
static bool add_parts(weights *w, tn_str name, tn_mind_value *value) {
  if (!tn_mind_room(w->e->mind)) return tn_report_stack(w->e->host->diags, w->at, NULL);
  if (value->kind != TN_MIND_V_TUPLE) {
    weight part = { name, value };
    return tn_vec_push(w->e->host->heap, &w->list, part) || tn_mind_out_of_memory(w->e->mind);
  }
  value->items = tn_arena_copy(w->e->arena, value->items, value->count * sizeof *value->items);
  if (!value->items) return tn_mind_out_of_memory(w->e->mind);
  for (uint32_t i = 0; i < value->count; i++) {
    if (!add_parts(w, place_name(w, name, i), &value->items[i])) return false;
  }
  return true;
}

static bool write_weights(weights *w, tn_str found) {
  tn_mind_evaluator *e = w->e;
  tn_text bytes;
  tn_fault fault;
  tn_named_view *views = tn_arena_array(e->arena, w->list.count, sizeof *views);
  if (!views) return tn_mind_out_of_memory(e->mind);
  if (!tn_mind_trace_settle(e->trace, &fault)) return tn_mind_eval_fault(e, &fault, NULL);
  for (size_t i = 0; i < w->list.count; i++) {
    tn_mind_value *value = w->list.at[i].value;
    tn_value node = tn_mind_node_of(e, value, tn_mind_value_type(e, value).dtype, w->at);
    if (!node) return false;
    tn_mind_forced forced = tn_mind_trace_force(e->trace, &node, 1, &fault);
    if (forced == TN_MIND_FAULT) return tn_mind_eval_fault(e, &fault, NULL);
    if (forced == TN_MIND_NO_DATA)
      return tn_mind_expected(e->mind, w->at, "a tensor whose sizes are known", tn_mind_type_of(e, value));
    views[i] = (tn_named_view){ w->list.at[i].name, tn_mind_trace_data(e->trace, node)->view };
  }
  tn_text_init(&bytes, e->host->heap);
  tn_safetensors_write(views, w->list.count, (tn_str){ 0 }, &bytes);
  tn_file_status status =
      bytes.failed ? TN_FILE_NO_MEMORY : tn_file_replace(e->host->heap, found.at, tn_text_str(&bytes), NULL);
  tn_text_free(&bytes);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NO_MEMORY) return tn_mind_out_of_memory(e->mind);
  return tn_report(e->host->diags, TN_DIAG_E_FILE_WRITE, w->at, TN_STR("path", found.at),
                   TN_STR("reason", tn_file_status_text(status)));
}

static void put_type(const weights *w, tn_text *out, tn_dtype dtype, const tn_shape *shape) {
  tn_text_puts(out, tn_dtype_name(dtype));
  tn_text_add(out, tn_mind_describe_shape(w->e->mind, shape));
}

static bool misfit(const weights *w, tn_str name, const tn_type *wanted, const tn_tensor *found) {
  tn_heap *heap = w->e->host->heap;
  tn_shape shape = found ? tn_view_shape(&found->view) : TN_SCALAR_SHAPE;
  tn_text expected, received;
  tn_text_init(&expected, heap);
  tn_text_init(&received, heap);
  put_type(w, &expected, wanted->dtype, &wanted->shape);
  if (found)
    put_type(w, &received, found->view.dtype, &shape);
  else
    tn_text_puts(&received, "no tensor of this name");
  tn_report(w->e->host->diags, TN_DIAG_E_WEIGHTS_MISMATCH, w->at, TN_TEXT("name", name),
            TN_TEXT("expected", tn_text_str(&expected)), TN_TEXT("received", tn_text_str(&received)));
  tn_text_free(&expected);
  tn_text_free(&received);
  return false;
}

/* A number stays a number. */
static bool set_weight(weights *w, const tn_safetensors *file, const weight *part) {
  tn_mind_evaluator *e = w->e;
  tn_type wanted = tn_mind_value_type(e, part->value);
  const tn_tensor *found = tn_safetensors_find(file, part->name);
  tn_shape shape = found ? tn_view_shape(&found->view) : TN_SCALAR_SHAPE;
  bool fits = found && found->view.dtype == wanted.dtype && tn_shape_equal(&shape, &wanted.shape);
  if (!fits) return misfit(w, part->name, &wanted, found);
  tn_tensor share = tn_tensor_ref(found);
  bool scalar = part->value->kind == TN_MIND_V_SCALAR;
  if (!finish(e, &share, w->at, part->value)) return false;
  if (scalar) {
    part->value->kind = TN_MIND_V_SCALAR;
    part->value->dtype = (uint8_t)wanted.dtype;
  }
  return true;
}

static bool read_weights(weights *w, tn_str path, tn_str found) {
  tn_mind_evaluator *e = w->e;
  tn_file_bytes bytes;
  tn_safetensors file;
  if (!read_bytes(e, found, w->at, &bytes)) return false;
  const char *problem = tn_safetensors_read(e->host->heap, bytes.at, bytes.len, &file);
  tn_file_release(e->host->heap, &bytes);
  if (problem == tn_safetensors_no_memory) return tn_mind_out_of_memory(e->mind);
  if (problem) return corrupt(e, path, "safetensors", problem, w->at);
  bool ok = true;
  for (size_t i = 0; ok && i < w->list.count; i++) ok = set_weight(w, &file, &w->list.at[i]);
  tn_safetensors_free(&file);
  return ok;
}

/* The values of the names, and their parts. */
static bool name_weights(weights *w, tn_mind_frame *frame, tn_mind_node *names,
                         tn_mind_value *out) {
  tn_mind_evaluator *e = w->e;
  bool list = tn_mind_is_list(names);
  uint32_t count = list ? names->list.count : 1, next = 0;
  tn_mind_value *values = tn_arena_array(e->arena, count, sizeof *values);
  if (!values) return tn_mind_out_of_memory(e->mind);
  for (tn_mind_node *node = list ? names->list.items : names; next < count; node = node->next) {
    if (!tn_mind_eval(e, frame, node, &values[next])) return false;
    if (!add_parts(w, tn_names_text(e->host->names, node->name.name), &values[next++])) return false;
  }
  *out = values[0];
  if (count == 1) {
    for (size_t i = 0; i < w->list.count && out->kind != TN_MIND_V_TUPLE; i++) w->list.at[i].value = out;
    return true;
  }
  *out = (tn_mind_value){ .kind = TN_MIND_V_TUPLE, .count = count, .items = values };
  return true;
}

static bool is_weights_path(const weights *w, tn_str path) {
  static const char end[] = ".safetensors";
  size_t length = sizeof end - 1;
  if (path.len > length && tn_str_is((tn_str){ path.at + path.len - length, length }, end)) return true;
  return tn_report(w->e->host->diags, TN_DIAG_E2001, w->at,
                   TN_STR("expected", "a path that ends in .safetensors"), TN_TEXT("got", path));
}

bool tn_mind_eval_weights(tn_mind_evaluator *e, tn_mind_frame *frame, tn_mind_node *call, tn_str path,
                          tn_mind_value *out) {
  const tn_mind_entry *entry = call->call.entry;
  bool saves = entry->special == TN_MIND_SAVE;
  weights w = { .e = e, .at = tn_mind_span(frame->unit, call) };
  tn_str found;
  if (e->lowers || e->undecided)
    return tn_report(e->host->diags, TN_DIAG_E_UNSUPPORTED, w.at, TN_STR("feature", "a file in a graph"));
  if (!tn_mind_allow(e, entry->effects, w.at) || !is_weights_path(&w, path)) return false;
  if (!tn_mind_find_file(e, path, saves, w.at, &found) || !tn_mind_builder(e, w.at)) return false;
  bool ok = name_weights(&w, frame, call->call.bound[1], out) &&
            (saves ? write_weights(&w, found) : read_weights(&w, path, found));
  tn_vec_free(e->host->heap, &w.list);
  if (saves) *out = tn_mind_unit_value();
  return ok;
}
