/* lang/ninth/weights.c: saves and loads parameters as safetensors files.
 *
 * A tensor is named by its path: "first.W", or "layers.0.W" through a list. Reading changes all
 * parameters or none: everything is compared first. */
#include "base/file.h"
#include "data/report.h"
#include "data/safetensors.h"
#include "lang/ninth/vm.h"


/* The parameters of the item below the path. False after reporting; to be freed in any case. */
static bool params_below(tn_ninth_vm *m, tn_ninth_params *out) {
  tn_ninth_value value = m->top[-2];
  *out = (tn_ninth_params){ 0 };
  if (value.kind != TN_NINTH_INSTANCE && value.kind != TN_NINTH_LIST_VALUE)
    return tn_ninth_wrong_kind(m, "instance or list", value);
  return tn_ninth_named_params(m, value.object, out);
}

static bool check_end(tn_ninth_vm *m, tn_str path) {
  static const char end[] = ".safetensors";
  size_t length = sizeof end - 1;
  if (path.len > length && tn_str_is((tn_str){ path.at + path.len - length, length }, end)) return true;
  return tn_ninth_error(m, TN_DIAG_E_TYPE, TN_STR("opcode", tn_ninth_opcode_here(m)),
                        TN_STR("expected", "a path that ends in .safetensors"), TN_TEXT("got", path));
}

/* ---- writing ---- */

static bool write_params(tn_ninth_vm *m, const tn_ninth_params *params, tn_arena *arena, tn_str path) {
  tn_text bytes;
  tn_named_view *views = tn_arena_array(arena, params->count + 1, sizeof *views);
  if (!views) return tn_ninth_no_room(m);
  for (size_t i = 0; i < params->count; i++) {
    views[i] = (tn_named_view){ params->at[i].name, tn_eager_view(m->eager, params->at[i].variable) };
  }
  tn_text_init(&bytes, m->heap);
  tn_safetensors_write(views, params->count, (tn_str){ 0 }, &bytes);
  bool full = bytes.failed;
  tn_file_status status =
      full ? TN_FILE_NO_MEMORY : tn_file_replace(m->heap, path.at, tn_text_str(&bytes), NULL);
  tn_text_free(&bytes);
  if (status == TN_FILE_OK) return true;
  if (status == TN_FILE_NO_MEMORY) return tn_ninth_no_room(m);
  return tn_ninth_error(m, TN_DIAG_E_FILE_WRITE, TN_STR("path", path.at),
                        TN_STR("reason", tn_file_status_text(status)));
}

bool tn_ninth_run_save(tn_ninth_vm *m) {
  tn_arena arena;
  tn_ninth_params params;
  tn_str path;
  tn_arena_init(&arena, m->heap);
  bool ok = params_below(m, &params) && tn_ninth_target_at(m, 0, &arena, &path) && check_end(m, path) &&
            write_params(m, &params, &arena, path);
  tn_vec_free(m->heap, &params);
  tn_arena_free(&arena);
  if (ok) tn_ninth_drop(m, 2);
  return ok;
}

/* ---- reading ---- */

static void put_type(tn_text *out, tn_dtype dtype, const tn_shape *shape) {
  tn_text_puts(out, tn_dtype_name(dtype));
  tn_shape_print(shape, NULL, TN_SHAPE_SPACE, out);
}

static bool misfit(tn_ninth_vm *m, tn_str name, const tn_shape *want, const tn_tensor *found) {
  tn_text expected, received;
  tn_text_init(&expected, m->heap);
  tn_text_init(&received, m->heap);
  if (want)
    put_type(&expected, TN_F32, want);
  else
    tn_text_puts(&expected, "no parameter of this name");
  tn_shape have = found ? tn_view_shape(&found->view) : TN_SCALAR_SHAPE;
  if (found)
    put_type(&received, found->view.dtype, &have);
  else
    tn_text_puts(&received, "no tensor of this name");
  tn_ninth_error(m, TN_DIAG_E_WEIGHTS_MISMATCH, TN_TEXT("name", name),
                 TN_TEXT("expected", tn_text_str(&expected)), TN_TEXT("received", tn_text_str(&received)));
  tn_text_free(&expected);
  tn_text_free(&received);
  return false;
}

static bool fits(tn_ninth_vm *m, const tn_ninth_params *params, const tn_safetensors *file) {
  for (size_t i = 0; i < params->count; i++) {
    const tn_shape *want = tn_eager_shape(m->eager, params->at[i].variable);
    const tn_tensor *found = tn_safetensors_find(file, params->at[i].name);
    tn_shape have = found ? tn_view_shape(&found->view) : TN_SCALAR_SHAPE;
    bool same = found && found->view.dtype == TN_F32 && tn_shape_equal(&have, want);
    if (!same) return misfit(m, params->at[i].name, want, found);
  }
  for (size_t i = 0; i < file->tensors.count && file->tensors.count > params->count; i++) {
    const tn_named_tensor *tensor = &file->tensors.at[i];
    bool known = false;
    for (size_t k = 0; k < params->count && !known; k++)
      known = tn_str_equal(params->at[k].name, tensor->name);
    if (!known) return misfit(m, tensor->name, NULL, &tensor->tensor);
  }
  return true;
}

static bool assign_all(tn_ninth_vm *m, const tn_ninth_params *params, const tn_safetensors *file) {
  for (size_t i = 0; i < params->count; i++) {
    if (!tn_eager_assign(m->eager, params->at[i].variable, tn_safetensors_find(file, params->at[i].name)))
      return tn_ninth_no_room(m);
  }
  return true;
}

static bool read_weights(tn_ninth_vm *m, tn_str path, tn_safetensors *out) {
  tn_file_bytes bytes;
  tn_file_status status = tn_host_read(m->host, path.at, &bytes);
  if (status == TN_FILE_NO_MEMORY) return tn_ninth_no_room(m);
  if (status != TN_FILE_OK) return tn_data_report_file(status, path.at, tn_ninth_here(m), m->host->diags);
  const char *problem = tn_safetensors_read(m->heap, bytes.at, bytes.len, out);
  tn_file_release(m->heap, &bytes);
  if (problem == tn_safetensors_no_memory) return tn_ninth_no_room(m);
  return !problem || tn_ninth_error(m, TN_DIAG_E_FILE_CORRUPT, TN_STR("path", path.at),
                                    TN_STR("format", "safetensors"), TN_STR("reason", problem));
}

static bool load(tn_ninth_vm *m, const tn_ninth_params *params, tn_str path) {
  tn_safetensors file;
  if (!check_end(m, path) || !read_weights(m, path, &file)) return false;
  bool ok = fits(m, params, &file) && assign_all(m, params, &file);
  tn_safetensors_free(&file);
  return ok;
}

bool tn_ninth_run_load_weights(tn_ninth_vm *m) {
  tn_arena arena;
  tn_ninth_params params;
  tn_str path;
  tn_arena_init(&arena, m->heap);
  bool ok =
      params_below(m, &params) && tn_ninth_source_at(m, 0, &arena, &path) && load(m, &params, path);
  tn_vec_free(m->heap, &params);
  tn_arena_free(&arena);
  if (ok) tn_ninth_drop(m, 2);
  return ok;
}
