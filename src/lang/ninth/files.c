/* lang/ninth/files.c: reads tables, arrays and texts from files, and makes random batches of rows.
 *
 * The command line grants what a program may read and write. Before it runs, the host learns which
 * files it may open: the strings of its text, because any of them may reach an opcode that opens a
 * file. Tables are read by data/, whose diagnostics name the line and the column. */
#include <string.h>

#include "base/rng.h"
#include "base/utf8.h"
#include "data/csv.h"
#include "data/report.h"
#include "lang/ninth/vm.h"
#include "tensor/npy.h"

#define PATH_LIMIT 4096

/* ---- what was granted ---- */

static bool denied(tn_ninth_vm *m, bool writes, tn_str path, tn_str granted) {
  tn_field hint = granted.len == 0 ? (tn_field){ .kind = TN_FIELD_TEXT, .name = "granted" }
                  : writes ? TN_HINT(TN_LIT("`--allow filewrite=DIR` grants a folder, and may be repeated"))
                           : TN_HINT(TN_LIT("`--allow fileread=DIR` grants a folder, and may be repeated"));
  if (granted.len == 0) path = (tn_str){ 0 };
  return tn_ninth_error(m, TN_DIAG_E_CAPABILITY_DENIED,
                        TN_STR("capability", writes ? "FileWrite" : "FileRead"),
                        TN_STR("op", tn_ninth_opcode_here(m)),
                        TN_STR("attempted_action", writes ? "write a file" : "read a file"),
                        TN_TEXT("path", path), TN_TEXT("granted", granted), hint);
}

static bool path_at(tn_ninth_vm *m, size_t place, bool writes, tn_arena *arena, tn_str *path) {
  const tn_host *host = m->host;
  tn_ninth_value value = m->top[-1 - (ptrdiff_t)place];
  if (value.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", value);
  tn_str name = tn_names_text(host->names, value.name);
  if (!(host->capabilities & (writes ? TN_CAP_FILEWRITE : TN_CAP_FILEREAD)))
    return denied(m, writes, name, (tn_str){ 0 });
  bool found = (writes ? tn_host_find_target : tn_host_find)(host, name, arena, path);
  if (!found) return denied(m, writes, name, (writes ? tn_host_writable : tn_host_readable)(host, arena));
  return !arena->failed || tn_ninth_no_room(m);
}

bool tn_ninth_source_at(tn_ninth_vm *m, size_t place, tn_arena *arena, tn_str *path) {
  return path_at(m, place, false, arena, path);
}

bool tn_ninth_target_at(tn_ninth_vm *m, size_t place, tn_arena *arena, tn_str *path) {
  return path_at(m, place, true, arena, path);
}

/* ---- what may be opened ---- */

static bool opens_files(uint32_t op, bool *saves) {
  *saves = *saves || op == TN_NINTH_SAVE;
  return op == TN_NINTH_READ || op == TN_NINTH_READ_COLUMNS || op == TN_NINTH_READ_CLASSES ||
         op == TN_NINTH_SAVE || op == TN_NINTH_LOAD_WEIGHTS;
}

typedef tn_vec(tn_str) paths;

static bool list_strings(tn_ninth_vm *m, const tn_ninth_unit *unit, paths *out) {
  for (uint32_t i = 0; i < unit->count; i++) {
    if (unit->code[i].op != TN_NINTH_CODE_STRING) continue;
    tn_str text = tn_names_text(m->host->names, unit->code[i].arg);
    if (text.len > 0 && text.len < PATH_LIMIT && !tn_vec_push(m->heap, out, text)) return false;
  }
  return true;
}

bool tn_ninth_seal(tn_ninth_vm *m, const tn_ninth_program *program) {
  paths named = { 0 };
  bool opens = false, saves = false, ok = true;
  for (size_t u = 0; u < program->units.count; u++) {
    const tn_ninth_unit *unit = program->units.at[u];
    for (uint32_t i = 0; i < unit->count; i++) opens |= opens_files(unit->code[i].op, &saves);
  }
  for (size_t u = 0; ok && opens && u < program->units.count; u++)
    ok = list_strings(m, program->units.at[u], &named);
  if (!ok) tn_ninth_report_memory(m->heap, m->host->diags, TN_NOWHERE);
  m->host->saved = named.at;
  m->host->saved_count = saves ? named.count : 0;
  ok = ok && tn_host_seal(m->host, named.at, named.count);
  m->host->saved = NULL;
  m->host->saved_count = 0;
  tn_vec_free(m->heap, &named);
  return ok;
}

/* ---- one file ---- */

/* The bytes of a file, to be released. False after reporting. */
static bool read_bytes(tn_ninth_vm *m, tn_str path, tn_file_bytes *out) {
  tn_file_status status = tn_host_read(m->host, path.at, out);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NO_MEMORY) return tn_ninth_no_room(m);
  return tn_data_report_file(status, path.at, tn_ninth_here(m), m->host->diags);
}

/* Puts a tensor in the place of the `count` top items, as f32. Its reference is taken. */
static bool finish_tensor(tn_ninth_vm *m, size_t count, tn_tensor *tensor) {
  tn_value given = tn_eager_tensor(m->eager, tensor);
  tn_attrs attrs = { .dtype = TN_F32 };
  tn_tensor_unref(tensor);
  tn_value value = given ? tn_eager_apply(m->eager, TN_OP_CAST, &given, 1, &attrs) : TN_ERROR_VALUE;
  tn_eager_unref(m->eager, given);
  return value != TN_ERROR_VALUE ? tn_ninth_finish(m, count, value) : tn_ninth_no_room(m);
}

static bool read_array(tn_ninth_vm *m, tn_str path) {
  tn_file_bytes bytes;
  tn_tensor tensor;
  if (!read_bytes(m, path, &bytes)) return false;
  tn_npy_error error = tn_npy_read(m->heap, bytes.at, bytes.len, &tensor);
  tn_file_release(m->heap, &bytes);
  if (error == TN_NPY_MEMORY) return tn_ninth_no_room(m);
  if (error == TN_NPY_OK) return finish_tensor(m, 1, &tensor);
  return tn_ninth_error(m, TN_DIAG_E_FILE_CORRUPT, TN_STR("path", path.at), TN_STR("format", "npy"),
                        TN_STR("reason", tn_npy_reason(error)));
}

static bool read_text(tn_ninth_vm *m, tn_str path) {
  tn_file_bytes bytes;
  if (!read_bytes(m, path, &bytes)) return false;
  tn_str text = { bytes.at, bytes.len };
  bool valid = tn_utf8_valid(text);
  size_t wrong = valid ? 0 : tn_utf8_first_invalid(text);
  tn_name name = valid ? tn_names_intern(m->host->names, text) : 0;
  tn_file_release(m->heap, &bytes);
  if (!valid)
    return tn_ninth_error(m, TN_DIAG_E_FILE_INVALID_UTF8, TN_STR("path", path.at),
                          TN_INT("offset", (int64_t)wrong));
  if (name == 0) return tn_ninth_no_room(m);
  tn_ninth_replace(m, 1, (tn_ninth_value){ .kind = TN_NINTH_STRING, .name = name });
  return true;
}

/* ---- tables ---- */

static bool ends_with(tn_str path, const char *end) {
  size_t length = strlen(end);
  return path.len > length && memcmp(path.at + path.len - length, end, length) == 0;
}

static bool report_table(tn_ninth_vm *m, const tn_data_fault *fault, tn_str path) {
  tn_data_place place = { .path = path.at, .at = tn_ninth_here(m), .columns_at = tn_ninth_here(m) };
  if (fault->problem == TN_DATA_STOPPED) return tn_ninth_report_stop(m);
  return tn_data_report(fault, &place, m->heap, m->host->diags);
}

static bool read_csv(tn_ninth_vm *m, tn_csv_request *request, bool may_have_header, tn_columns *out) {
  tn_data_fault fault;
  bool ok = may_have_header ? tn_csv_read_guessed(m->heap, request, out, &fault)
                            : tn_csv_read(m->heap, request, out, &fault);
  if (ok) return true;
  return report_table(m, &fault, (tn_str){ request->path, strlen(request->path) });
}

static bool column_tensor(tn_ninth_vm *m, const tn_columns *columns, bool vector, tn_tensor *out) {
  return tn_column_tensor(columns, 0, vector, out) || tn_ninth_no_room(m);
}

static bool read_table(tn_ninth_vm *m, tn_str path) {
  tn_csv_column all = { .kind = TN_COLUMN_F32 };
  tn_csv_request request = { .path = path.at,
                             .resolved = tn_host_resolves(m->host),
                             .delimiter = tn_csv_delimiter(path),
                             .columns = &all,
                             .column_count = 1 };
  tn_columns columns;
  tn_tensor tensor;
  if (!read_csv(m, &request, true, &columns)) return false;
  bool ok = column_tensor(m, &columns, false, &tensor);
  tn_columns_free(&columns);
  return ok && finish_tensor(m, 1, &tensor);
}

static bool unknown_format(tn_ninth_vm *m, const char *expected, tn_str path) {
  return tn_ninth_error(m, TN_DIAG_E_TYPE, TN_STR("opcode", tn_ninth_opcode_here(m)),
                        TN_STR("expected", expected), TN_TEXT("got", path));
}

static bool read_any(tn_ninth_vm *m, tn_str path) {
  if (tn_csv_delimiter(path)) return read_table(m, path);
  if (ends_with(path, ".npy")) return read_array(m, path);
  if (ends_with(path, ".txt")) return read_text(m, path);
  return unknown_format(m, "a path that ends in .csv, .tsv, .npy or .txt", path);
}

bool tn_ninth_run_read(tn_ninth_vm *m) {
  tn_arena arena;
  tn_str path;
  tn_arena_init(&arena, m->heap);
  bool ok = tn_ninth_source_at(m, 0, &arena, &path) && read_any(m, path);
  tn_arena_free(&arena);
  return ok;
}

/* ---- columns of a table ---- */

typedef struct {
  tn_csv_pick *at;
  size_t count;
  bool named; /* so the file has a header */
  bool one;   /* a single column, which becomes a vector */
} picks;

static bool pick_number(tn_ninth_vm *m, double number, tn_csv_pick *out) {
  bool fits = number >= 0 && number < TN_CSV_COLUMN_LIMIT && (double)(uint32_t)number == number;
  *out = (tn_csv_pick){ .first = fits ? (uint32_t)number : 0, .last = fits ? (uint32_t)number : 0 };
  if (fits) return true;
  return tn_ninth_error(m, TN_DIAG_E_INDEX_OUT_OF_RANGE, TN_STR("function", tn_ninth_opcode_here(m)),
                        TN_INT("index", tn_i64_from_f64(number)), TN_INT("limit", TN_CSV_COLUMN_LIMIT),
                        TN_HINT(TN_LIT("columns are whole numbers from 0 on")));
}

static bool pick_names(tn_ninth_vm *m, const tn_ninth_value *names, size_t count, picks *out) {
  out->named = true;
  for (size_t i = 0; i < count; i++) {
    if (names[i].kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "a list of names", names[i]);
    out->at[i] = (tn_csv_pick){ .name = tn_names_text(m->host->names, names[i].name) };
  }
  return true;
}

static bool pick_numbers(tn_ninth_vm *m, tn_value numbers, picks *out) {
  tn_view view = tn_eager_view(m->eager, numbers);
  out->one = view.rank == 0;
  out->count = (size_t)tn_view_count(&view);
  for (size_t i = 0; i < out->count; i++) {
    if (!pick_number(m, tn_view_get_f64(&view, (int64_t)i), &out->at[i])) return false;
  }
  return true;
}

/* What the top item names: a name, a list of names, a number or numbers. */
static bool picks_on_top(tn_ninth_vm *m, tn_arena *arena, picks *out) {
  tn_ninth_value value = m->top[-1];
  bool list = value.kind == TN_NINTH_LIST_VALUE, string = value.kind == TN_NINTH_STRING;
  tn_ninth_operand numbers = { 0 };
  if (!list && !string && !tn_ninth_operand_at(m, 0, &numbers)) return false;
  *out = (picks){ .one = string, .count = 1 };
  if (list) out->count = tn_ninth_object_of(m, value.object)->count;
  if (!list && !string) out->count = (size_t)tn_shape_count(tn_eager_shape(m->eager, numbers.value));
  out->at = tn_arena_array(arena, out->count + 1, sizeof *out->at);
  bool ok = out->at || tn_ninth_no_room(m);
  if (ok && list) ok = pick_names(m, tn_ninth_object_of(m, value.object)->items, out->count, out);
  if (ok && string) ok = pick_names(m, &value, 1, out);
  if (ok && !list && !string) ok = pick_numbers(m, numbers.value, out);
  tn_ninth_operand_end(m, &numbers);
  return ok && (out->count > 0 || tn_ninth_wrong_kind(m, "at least one column", value));
}

/* Reads the columns that the top item names, of the table below it. */
static bool read_picked(tn_ninth_vm *m, tn_column_kind kind, tn_arena *arena, picks *picked,
                        tn_columns *out) {
  tn_str path;
  if (!tn_ninth_source_at(m, 1, arena, &path) || !picks_on_top(m, arena, picked)) return false;
  if (kind == TN_COLUMN_CLASS && !picked->one) return tn_ninth_wrong_kind(m, "one column", m->top[-1]);
  if (!tn_csv_delimiter(path)) return unknown_format(m, "a path that ends in .csv or .tsv", path);
  tn_csv_column column = { .kind = kind, .picks = picked->at, .pick_count = picked->count };
  tn_csv_request request = { .path = path.at,
                             .resolved = tn_host_resolves(m->host),
                             .delimiter = tn_csv_delimiter(path),
                             .header = picked->named,
                             .columns = &column,
                             .column_count = 1 };
  return read_csv(m, &request, false, out);
}

bool tn_ninth_run_read_columns(tn_ninth_vm *m) {
  tn_arena arena;
  tn_columns columns;
  tn_tensor tensor = { 0 };
  picks picked;
  tn_arena_init(&arena, m->heap);
  bool ok = read_picked(m, TN_COLUMN_F32, &arena, &picked, &columns);
  if (ok) {
    ok = column_tensor(m, &columns, picked.one, &tensor);
    tn_columns_free(&columns);
  }
  tn_arena_free(&arena);
  return ok && finish_tensor(m, 2, &tensor);
}

/* The names of the classes, in their order; none where the file has numbers. 0 when memory runs out. */
static uint32_t class_names(tn_ninth_vm *m, const tn_column *column) {
  size_t count = column->classes ? column->class_count : 0;
  uint32_t number = tn_ninth_list_new(m, count);
  tn_ninth_object *list = number != 0 ? tn_ninth_object_of(m, number) : NULL;
  for (size_t i = 0; list && i < count; i++) {
    tn_name name = tn_names_intern(m->host->names, tn_names_text(column->classes, (tn_name)(i + 1)));
    list->items[i] = (tn_ninth_value){ .kind = TN_NINTH_STRING, .name = name };
    if (name != 0) continue;
    tn_ninth_release_object(m, number);
    return 0;
  }
  return number;
}

static bool finish_classes(tn_ninth_vm *m, const tn_columns *columns) {
  tn_tensor tensor;
  uint32_t names = class_names(m, &columns->at[0]);
  if (names == 0) return tn_ninth_no_room(m);
  if (!column_tensor(m, columns, true, &tensor) || !finish_tensor(m, 2, &tensor)) {
    tn_ninth_release_object(m, names);
    return false;
  }
  tn_ninth_object_of(m, names)->literal = true;
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_LIST_VALUE, .object = names };
  return true;
}

bool tn_ninth_run_read_classes(tn_ninth_vm *m) {
  tn_arena arena;
  tn_columns columns;
  picks picked;
  tn_arena_init(&arena, m->heap);
  bool ok = read_picked(m, TN_COLUMN_CLASS, &arena, &picked, &columns);
  if (ok) {
    ok = finish_classes(m, &columns);
    tn_columns_free(&columns);
  }
  tn_arena_free(&arena);
  return ok;
}

/* ---- batches ---- */

static bool batch_of(tn_ninth_vm *m, const uint32_t *rows, size_t count, tn_ninth_value *out) {
  tn_tensor tensor;
  tn_shape shape = tn_shape_make(1, (int64_t)count);
  if (!tn_tensor_new(m->heap, TN_F32, &shape, &tensor)) return false;
  for (size_t i = 0; i < count; i++) ((float *)tensor.view.data)[i] = (float)rows[i];
  tn_value value = tn_eager_tensor(m->eager, &tensor);
  tn_tensor_unref(&tensor);
  *out = (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = value };
  return value != TN_ERROR_VALUE;
}

static uint32_t list_batches(tn_ninth_vm *m, const uint32_t *rows, size_t count, size_t size) {
  size_t batches = (count + size - 1) / size, made = 0;
  uint32_t number = tn_ninth_list_new(m, batches);
  tn_ninth_object *list = number != 0 ? tn_ninth_object_of(m, number) : NULL;
  for (; list && made < batches; made++) {
    size_t from = made * size, left = count - from;
    if (!batch_of(m, rows + from, left < size ? left : size, &list->items[made])) break;
  }
  if (list && made == batches) return number;
  if (list) list->count = (uint32_t)made;
  if (list) tn_ninth_release_object(m, number);
  return 0;
}

/* The generator continues where [RANDN] stopped. */
static bool shuffled_batches(tn_ninth_vm *m, size_t count, size_t size, uint32_t *rows) {
  tn_rng rng;
  tn_rng_init(&rng, m->host->seed);
  tn_rng_seek(&rng, m->drawn);
  for (size_t i = 0; i < count; i++) rows[i] = (uint32_t)i;
  tn_rng_shuffle(&rng, rows, (uint32_t)count);
  uint32_t list = list_batches(m, rows, count, size);
  if (list == 0) return tn_ninth_no_room(m);
  m->drawn = rng.position;
  tn_ninth_replace(m, 2, (tn_ninth_value){ .kind = TN_NINTH_LIST_VALUE, .object = list });
  return true;
}

bool tn_ninth_run_batches(tn_ninth_vm *m) {
  int64_t count, size;
  if (!tn_ninth_whole_at(m, 1, &count) || !tn_ninth_whole_at(m, 0, &size)) return false;
  if (!tn_ninth_check_exact(m, count)) return false;
  tn_shape asked = tn_shape_make(1, size);
  if (size < 1) return tn_ninth_wrong_shape(m, &asked, "has no rows", "a batch has at least one row");
  size_t bytes = ((size_t)count + 1) * sizeof(uint32_t);
  uint32_t *rows = tn_heap_alloc(m->heap, bytes);
  if (!rows) return tn_ninth_no_room(m);
  bool ok = shuffled_batches(m, (size_t)count, (size_t)size, rows);
  tn_heap_free(m->heap, rows, bytes);
  return ok;
}
