/* api/values.c: reads values from outside: JSON, files, an embedder's memory.
 *
 * Numbers are read as f64 and converted when the dtype is known; NaNs become canonical here. */
#include <string.h>

#include "api/internal.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "data/safetensors.h"
#include "tensor/npz.h"

#define TN_VALUE_FILE_LIMIT  ((uint64_t)1 << 32) /* bytes of a .json, .npy or .npz file */
#define TN_WEIGHT_FILE_LIMIT ((uint64_t)1 << 40)

bool tn_api_usage(tern_session *session, const char *before, tn_str name, const char *after) {
  return tn_host_usage(&session->host, before, name, after);
}

bool tn_api_usage_hint(tern_session *session, const char *before, tn_str name, const char *after,
                       tn_str hint) {
  return tn_host_usage_hint(&session->host, before, name, after, hint);
}

/* ---- JSON ---- */

typedef struct {
  tn_json_reader reader;
  tn_heap *heap;
  tn_vec(double) numbers;
  tn_shape shape;
  int64_t seen[TN_RANK_LIMIT + 1]; /* items so far of the array open at each depth */
  int depth, rank;                 /* rank: -1 until the first number or empty array */
  const char *problem;
} value_reader;

static bool refuse(value_reader *r, const char *problem) {
  if (!r->problem) r->problem = problem;
  return false;
}

/* A leaf, or an array that has ended: one more item of the array around it. */
static void count_item(value_reader *r) {
  if (r->depth > 0) r->seen[r->depth - 1]++;
}

static bool open_array(value_reader *r) {
  if (r->depth == TN_RANK_LIMIT) return refuse(r, "has more than 8 dimensions");
  if (r->rank >= 0 && r->depth >= r->rank) return refuse(r, "has rows of different shapes");
  r->seen[r->depth++] = 0;
  return true;
}

/* The first array to end at a depth decides the length of all others there. */
static bool close_array(value_reader *r) {
  r->depth--;
  int64_t *length = &r->shape.dim[r->depth];
  if (r->rank < 0) r->rank = r->depth + 1; /* an empty array is the innermost */
  if (*length < 0)
    *length = r->seen[r->depth];
  else if (*length != r->seen[r->depth])
    return refuse(r, "has rows of different lengths");
  count_item(r);
  return true;
}

static bool add_number(value_reader *r, double number) {
  if (r->rank < 0) r->rank = r->depth;
  if (r->rank != r->depth) return refuse(r, "has rows of different shapes");
  if (!tn_vec_push(r->heap, &r->numbers, number)) return refuse(r, "does not fit into memory");
  count_item(r);
  return true;
}

static bool special_number(tn_str text, double *out) {
  if (tn_str_is(text, "NaN"))
    *out = (double)__builtin_nanf("");
  else if (tn_str_is(text, "Infinity"))
    *out = (double)__builtin_inff();
  else if (tn_str_is(text, "-Infinity"))
    *out = (double)-__builtin_inff();
  else
    return false;
  return true;
}

static bool read_token(value_reader *r, const tn_json_token *token) {
  double number = 0;
  switch (token->kind) {
    case TN_JSON_ARRAY_BEGIN: return open_array(r);
    case TN_JSON_ARRAY_END: return close_array(r);
    case TN_JSON_NUMBER:
      return tn_json_token_f64(token, &number) ? add_number(r, number)
                                               : refuse(r, "has a number out of range");
    case TN_JSON_TRUE: return add_number(r, 1);
    case TN_JSON_FALSE: return add_number(r, 0);
    case TN_JSON_STRING:
      if (special_number(token->text, &number)) return add_number(r, number);
      return refuse(r, "is not a number or an array of numbers");
    default: return refuse(r, "is not a number or an array of numbers");
  }
}

static bool read_json(value_reader *r, tn_str text, tn_arena *arena) {
  tn_json_token token;
  r->rank = -1;
  for (int i = 0; i < TN_RANK_LIMIT; i++) r->shape.dim[i] = -1;
  tn_json_init(&r->reader, text, arena);
  while (tn_json_next(&r->reader, &token) > TN_JSON_END) {
    if (!read_token(r, &token)) return false;
  }
  if (token.kind == TN_JSON_ERROR)
    return refuse(r, "is not valid JSON; it is a number, or numbers in brackets: [[1, 2]]");
  r->shape.rank = r->rank;
  for (int i = r->rank; i < TN_RANK_LIMIT; i++) r->shape.dim[i] = 0;
  for (int i = 0; i < r->rank; i++) {
    if (r->shape.dim[i] < 0) r->shape.dim[i] = 0; /* below an empty array */
  }
  return true;
}

static bool tensor_from_json(tern_session *session, const char *name, tn_str text, tn_arena *arena,
                             tn_tensor *out) {
  value_reader r = { .heap = &session->heap };
  bool ok = read_json(&r, text, arena) || tn_api_usage(session, "the value of ", tn_str_of(name), "");
  if (ok && !tn_tensor_new(&session->heap, TN_F64, &r.shape, out))
    ok = refuse(&r, "does not fit into memory");
  if (ok && r.numbers.count > 0) memcpy(out->view.data, r.numbers.at, r.numbers.count * sizeof(double));
  if (r.problem) {
    tn_diags_clear(&session->diags);
    tn_text why;
    tn_text_init(&why, &session->heap);
    tn_text_byte(&why, ' ');
    tn_text_puts(&why, r.problem);
    tn_api_usage(session, "the value of ", tn_str_of(name), why.failed ? "" : why.at);
    tn_text_free(&why);
    ok = false;
  }
  tn_vec_free(&session->heap, &r.numbers);
  if (ok) tn_view_canonicalise(&out->view);
  return ok;
}

/* ---- files ---- */

/* "weights.npz:W" is a file and the array in it. */
static tn_str member_of(tn_str given, tn_str *path) {
  static const tn_str between = { ".npz:", 5 };
  *path = given;
  for (size_t at = given.len; at >= between.len; at--) {
    tn_str before = { given.at, at };
    if (!tn_str_ends(before, between.at)) continue;
    path->len = at - 1;
    return (tn_str){ given.at + at, given.len - at };
  }
  return (tn_str){ 0 };
}

static bool report_array(tern_session *session, tn_str path, tn_str member, const char *format,
                         tn_npy_error error) {
  if (error == TN_NPY_OK) return true;
  if (error == TN_NPY_MEMBER) return tn_api_usage(session, "the archive holds no array ", member, "");
  if (error == TN_NPY_WHICH)
    return tn_api_usage(session, "", path, " holds several arrays; name one: @FILE.npz:NAME");
  if (error == TN_NPY_MEMORY) return tn_api_out_of_memory(session);
  return tn_report(&session->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_TEXT("path", path),
                   TN_STR("format", format), TN_STR("reason", tn_npy_reason(error)));
}

/* What the bytes of the file are. */
static bool tensor_from_bytes(tern_session *session, const char *name, tn_str path, tn_str member,
                              tn_str bytes, tn_arena *arena, tn_tensor *out) {
  if (tn_str_ends(path, ".npz")) {
    tn_npy_error error = tn_npz_read(&session->heap, bytes.at, bytes.len, member, out);
    return report_array(session, path, member, "npz", error);
  }
  if (tn_str_ends(path, ".npy"))
    return report_array(session, path, member, "npy", tn_npy_read(&session->heap, bytes.at, bytes.len, out));
  return tensor_from_json(session, name, tn_utf8_unmarked(bytes), arena, out);
}

static bool tensor_from_file(tern_session *session, const char *name, const char *given, tn_arena *arena,
                             tn_tensor *out) {
  tn_str path, member = member_of(tn_str_of(given), &path);
  tn_file_bytes bytes;
  if (!tn_str_ends(path, ".npy") && !tn_str_ends(path, ".npz") && !tn_str_ends(path, ".json"))
    return tn_api_usage(session, "", path, ": a value file is a .json, an .npy or an .npz");
  tn_str opened = tn_arena_str(arena, path); /* with a NUL after it */
  if (arena->failed) return tn_api_out_of_memory(session);
  tn_file_status status = tn_file_read(&session->heap, opened.at, TN_VALUE_FILE_LIMIT, NULL, &bytes);
  if (status != TN_FILE_OK) {
    tn_text why;
    tn_text_init(&why, &session->heap);
    tn_text_puts(&why, ": ");
    tn_text_puts(&why, tn_file_status_text(status));
    tn_api_usage(session, "", path, why.failed ? "" : why.at);
    tn_text_free(&why);
    return false;
  }
  bool ok = tensor_from_bytes(session, name, path, member, (tn_str){ bytes.at, bytes.len }, arena, out);
  tn_file_release(&session->heap, &bytes);
  return ok;
}

tern_status tern_sandbox_value(tern_session *session, const char *value) {
  tn_str path;
  if (value[0] != '@') return TERN_OK;
  (void)member_of(tn_str_of(value + 1), &path);
  return tn_api_keep_path(session, path, TERN_SANDBOX_LOAD) ? TERN_OK : TERN_FAILED;
}

bool tn_api_read_value(tern_session *session, const char *name, const char *text, tn_arena *arena,
                       tn_given *out) {
  *out = (tn_given){ .name = tn_arena_str(arena, tn_str_of(name)),
                     .json = tn_arena_str(arena, tn_str_of(text)) };
  if (arena->failed)
    return tn_report(&session->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE, TN_STR("what", "a value"));
  if (text[0] == '@') return tensor_from_file(session, name, text + 1, arena, &out->data);
  return tensor_from_json(session, name, out->json, arena, &out->data);
}

bool tn_api_read_weights(tern_session *session, const char *path, tn_arena *arena, tn_givens *out) {
  tn_file_bytes bytes;
  tn_safetensors file;
  tn_file_status status = tn_file_read(&session->heap, path, TN_WEIGHT_FILE_LIMIT, NULL, &bytes);
  if (status == TN_FILE_NO_MEMORY)
    return tn_report_memory(&session->diags, &session->heap, TN_NOWHERE, "the weights");
  if (status == TN_FILE_NOT_FOUND)
    return tn_report_no_file(&session->diags, TN_NOWHERE, tn_str_of(path));
  if (status != TN_FILE_OK) {
    return tn_report(&session->diags, TN_DIAG_E_FILE_IO_ERROR, TN_NOWHERE, TN_STR("path", path),
                     TN_STR("io_error_kind", tn_file_status_text(status)));
  }
  const char *problem = tn_safetensors_read(&session->heap, bytes.at, bytes.len, &file);
  tn_file_release(&session->heap, &bytes);
  if (problem == tn_safetensors_no_memory)
    return tn_report_memory(&session->diags, &session->heap, TN_NOWHERE, "the weights");
  if (problem) {
    return tn_report(&session->diags, TN_DIAG_E_FILE_CORRUPT, TN_NOWHERE, TN_STR("path", path),
                     TN_STR("format", "safetensors"), TN_STR("reason", problem));
  }
  bool ok = true;
  for (size_t i = 0; ok && i < file.tensors.count; i++) {
    tn_given given = { .name = tn_arena_str(arena, file.tensors.at[i].name),
                       .data = tn_tensor_ref(&file.tensors.at[i].tensor) };
    ok = !arena->failed && tn_vec_push(&session->heap, out, given);
    if (!ok) tn_tensor_unref(&given.data);
  }
  tn_safetensors_free(&file);
  return ok || tn_api_out_of_memory(session);
}

/* ---- an embedder's tensors ---- */

bool tn_api_copy_value(tern_session *session, const tern_tensor *value, tn_tensor *out) {
  bool shape_ok = value->rank >= 0 && value->rank <= TN_RANK_LIMIT && (int)value->dtype >= 0 &&
                  (int)value->dtype < TN_DTYPE_COUNT;
  for (int i = 0; shape_ok && i < value->rank; i++) shape_ok = value->dims[i] >= 0;
  if (!shape_ok)
    return tn_api_usage(session, "", tn_str_of("a tensor"), " has a dtype, rank or dimension that cannot be");
  tn_shape shape = tn_shape_of(value->dims, value->rank);
  tn_view view = tn_view_make((void *)(uintptr_t)value->data, (tn_dtype)value->dtype, &shape);
  for (int i = 0; value->strides && i < value->rank; i++) view.stride[i] = value->strides[i];
  if (!tn_tensor_copy(&session->heap, &view, out)) {
    return tn_api_out_of_memory(session);
  }
  tn_view_canonicalise(&out->view);
  return true;
}

/* The first number that an integer of this dtype cannot hold; false when it holds all. */
static bool find_misfit(const tn_view *from, tn_dtype dtype, double *number) {
  double limit = dtype == TN_I32 ? 0x1p31 : 0x1p63;
  int64_t count = tn_dtype_in(dtype, TN_INTS) && from->dtype != TN_BOOL ? tn_view_count(from) : 0;
  for (int64_t i = 0; i < count; i++) {
    *number = tn_view_get_f64(from, i);
    bool held = *number >= -limit && *number < limit && (double)(int64_t)*number == *number;
    if (!held) return true;
  }
  return false;
}

static bool refuse_misfit(tern_session *session, tn_str name, tn_dtype dtype, double number) {
  tn_text reason;
  tn_text_init(&reason, &session->heap);
  tn_text_puts(&reason, " has the number ");
  tn_text_f64(&reason, number);
  tn_text_puts(&reason, ", which ");
  tn_text_puts(&reason, tn_dtype_name(dtype));
  tn_text_puts(&reason, " cannot hold");
  tn_api_usage(session, "the value of ", name, tn_text_str(&reason).at);
  tn_text_free(&reason);
  return false;
}

bool tn_api_convert(tern_session *session, const tn_given *given, tn_dtype dtype, tn_tensor *out) {
  const tn_view *from = &given->data.view;
  tn_shape shape = tn_view_shape(from);
  double number;
  if (from->dtype != dtype && find_misfit(from, dtype, &number))
    return refuse_misfit(session, given->name, dtype, number);
  if (!tn_tensor_new(&session->heap, dtype, &shape, out)) {
    return tn_api_out_of_memory(session);
  }
  if (from->dtype == dtype) {
    tn_view_copy(&out->view, from);
    tn_view_canonicalise(&out->view);
    return true;
  }
  tn_attrs attrs = { .dtype = dtype };
  tn_fault fault = { 0 };
  tn_kernel_call call = { .op = TN_OP_CAST,
                          .attrs = &attrs,
                          .in = from,
                          .count = 1,
                          .out = &out->view,
                          .threads = 1,
                          .fault = &fault,
                          .stop = &session->stop };
  bool ok = tn_backend_run(tn_backend_ref(), &call);
  if (tn_stop_asked(call.stop)) ok = false, fault = (tn_fault){ .kind = TN_FAULT_INTERRUPTED };
  if (!ok) tn_tensor_unref(out);
  return ok || tn_api_report_fault(session, &fault);
}
