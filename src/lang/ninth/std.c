/* lang/ninth/std.c: the standard libraries of Ninth.
 *
 * They are written in Ninth, in std/ninth, and become part of the program when
 * tern is built: loading one reads no file and needs no capability. */
#include "lang/ninth/std.h"

#include "lang/ninth/vm.h"

static bool matches(const tn_embedded *library, tn_str name) {
  return tn_str_is(name, library->name);
}

static const tn_embedded *find(tn_str name) {
  for (size_t i = 0; i < tn_ninth_library_file_count; i++) {
    if (matches(&tn_ninth_library_files[i], name)) return &tn_ninth_library_files[i];
  }
  return NULL;
}

tn_str tn_ninth_library_suggest(tn_str wrong) {
  tn_str best = { 0 };
  for (size_t i = 0; i < tn_ninth_library_file_count && best.len == 0; i++) {
    tn_str name = tn_str_of(tn_ninth_library_files[i].name);
    if (tn_str_distance(wrong, name, 1) <= 1) best = name;
  }
  return best;
}

static bool is_loaded(const tn_ninth_vm *m, tn_name name) {
  for (size_t i = 0; i < m->libraries.count; i++) {
    if (m->libraries.at[i] == name) return true;
  }
  return false;
}

/* Compiled like any text, with a scope of its own. NULL after reporting. */
static const tn_ninth_program *load(tn_ninth_vm *m, const tn_embedded *library) {
  tn_diags *diags = m->host->diags;
  tn_str text = { library->text, library->length };
  uint32_t file = tn_ninth_add_text(m, tn_str_of(library->file), text);
  tn_ninth_program *program =
      file != 0 ? tn_ninth_compile(m->heap, m->host->names, diags, file, NULL, NULL) : NULL;
  if (file == 0) tn_ninth_no_room(m);
  return program && tn_ninth_load(m, program) ? program : NULL;
}

bool tn_ninth_run_use(tn_ninth_vm *m) {
  tn_ninth_value name = m->top[-1];
  if (name.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", name);
  const tn_embedded *library = find(tn_names_text(m->host->names, name.name));
  if (!library) return tn_ninth_unknown(m, TN_DIAG_E_UNKNOWN_LIBRARY, name.name);
  if (is_loaded(m, name.name)) {
    tn_ninth_drop(m, 1);
    return true;
  }
  if (!tn_vec_reserve(m->heap, &m->libraries, 1)) return tn_ninth_no_room(m);
  const tn_ninth_program *program = load(m, library);
  if (!program || !tn_ninth_call_unit(m, program->main, m->self)) return false;
  m->libraries.at[m->libraries.count++] = name.name;
  tn_ninth_drop(m, 1);
  return true;
}
