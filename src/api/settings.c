/* api/settings.c: values of `--set`: fields and constants that a training overrides, from the
 * caller or from a run's record. */
#include "api/internal.h"
#include "base/file.h"
#include "base/folder.h"

/* Its place in the list; whether there is one of this name. */
static bool find_setting(const tern_program *program, tn_str name, size_t *place) {
  for (*place = 0; *place < program->settings.count; (*place)++) {
    int order = tn_str_compare(program->settings.at[*place].name, name);
    if (order >= 0) return order == 0;
  }
  return false;
}

/* An error is shown in the text of the value, which is a separate source. */
static bool make_setting(tern_program *program, tn_str name, tn_str text, tn_setting *out) {
  tn_text title;
  tn_text_init(&title, &program->session->heap);
  tn_text_puts(&title, "--set ");
  tn_text_add(&title, name);
  *out = (tn_setting){ .name = tn_arena_str(&program->given_arena, name),
                       .text = tn_arena_str(&program->given_arena, text) };
  if (!title.failed && !program->given_arena.failed)
    out->file = tn_sources_add(&program->session->sources, tn_text_str(&title), text);
  tn_text_free(&title);
  return out->file != 0;
}

tern_status tn_api_set_field(tern_program *program, tn_str name, tn_str text) {
  tn_setting setting;
  size_t place;
  if (!make_setting(program, name, text, &setting)) {
    tn_api_out_of_memory(program->session);
    return TERN_FAILED;
  }
  program->unit->revision++;
  if (find_setting(program, name, &place)) {
    program->settings.at[place] = setting;
    return TERN_OK;
  }
  if (!tn_vec_push(&program->session->heap, &program->settings, setting)) {
    tn_api_out_of_memory(program->session);
    return TERN_FAILED;
  }
  for (size_t i = program->settings.count - 1; i > place; i--)
    program->settings.at[i] = program->settings.at[i - 1];
  program->settings.at[place] = setting;
  return TERN_OK;
}

bool tn_api_take_record_settings(tern_program *program, const tn_run_record *record) {
  for (size_t i = 0; i < record->setting_count; i++) {
    const tn_setting *setting = &record->settings[i];
    size_t place;
    if (find_setting(program, setting->name, &place)) continue;
    if (tn_api_set_field(program, setting->name, setting->text) != TERN_OK) return false;
  }
  return true;
}

#define RECORD_LIMIT ((uint64_t)1 << 30)

bool tn_api_take_settings(tern_program *program, const char *folder) {
  tn_heap *heap = &program->session->heap;
  tn_file_bytes bytes;
  tn_run_record record;
  tn_arena arena;
  tn_text path;
  bool ok = true;
  if (!folder) return true;
  tn_text_init(&path, heap);
  tn_folder_join(&path, folder, TN_RECORD_FILE);
  bool there = !path.failed && tn_file_read(heap, path.at, RECORD_LIMIT, NULL, &bytes) == TN_FILE_OK;
  tn_text_free(&path);
  if (!there) return true; /* the caller that needs the folder reports it */
  tn_arena_init(&arena, heap);
  if (!tn_record_read(heap, (tn_str){ bytes.at, bytes.len }, &arena, &record))
    ok = tn_api_take_record_settings(program, &record);
  tn_arena_free(&arena);
  tn_file_release(heap, &bytes);
  return ok;
}

tern_status tern_set_field(tern_program *program, const char *name, const char *value) {
  return tn_api_set_field(program, tn_str_of(name), tn_str_of(value));
}
