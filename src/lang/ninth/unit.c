/* lang/ninth/unit.c: the state of a Ninth program between calls, and its inputs. */
#include "lang/ninth/doors.h"

static size_t count_inputs(const tn_ninth_program *program) {
  size_t count = 0;
  for (size_t u = 0; u < program->units.count; u++) {
    const tn_ninth_unit *unit = program->units.at[u];
    for (uint32_t i = 0; i < unit->count; i++) count += unit->code[i].op == TN_NINTH_INPUT;
  }
  return count;
}

static bool read_inputs(tn_ninth_kept *self) {
  tn_host *host = self->unit.host;
  tn_ninth_scope scope;
  tn_ninth_scope_init(&scope, host->heap);
  tn_ninth_program *program =
      tn_ninth_compile(host->heap, host->names, host->diags, self->unit.file, &scope, NULL);
  self->counted = program != NULL;
  if (program) self->specs.input_count = count_inputs(program);
  if (program) tn_arena_init(&self->arena, host->heap);
  tn_ninth_program_free(program);
  tn_ninth_scope_free(&scope, host->heap);
  return self->counted;
}

/* "input1" as long as no value is there whose name it could have. */
static tn_name input_name(tn_host *host, size_t index) {
  if (index < host->input_count) return tn_names_intern(host->names, host->inputs[index].name);
  tn_text text;
  tn_text_init(&text, host->heap);
  tn_text_puts(&text, "input");
  tn_text_int(&text, (int64_t)index + 1);
  tn_name name = text.failed ? 0 : tn_names_intern(host->names, tn_text_str(&text));
  tn_text_free(&text);
  return name;
}

/* One for each [INPUT] of the text, of any shape. */
const tn_specs *tn_lang_ninth_specs(tn_unit *unit) {
  tn_ninth_kept *self = (tn_ninth_kept *)unit;
  if (!self->counted && !read_inputs(self)) return NULL;
  tn_arena_reset(&self->arena);
  tn_tensor_spec *inputs = tn_arena_array(&self->arena, self->specs.input_count + 1, sizeof *inputs);
  bool ok = inputs != NULL;
  for (size_t i = 0; ok && i < self->specs.input_count; i++) {
    inputs[i] = (tn_tensor_spec){ .name = input_name(unit->host, i), .type = { TN_F32, { .rank = -1 } } };
    ok = inputs[i].name != 0;
  }
  self->specs.inputs = inputs;
  if (!ok) tn_host_out_of_memory(unit->host);
  return ok ? &self->specs : NULL;
}

void tn_lang_ninth_drop(tn_unit *unit) {
  tn_ninth_kept *self = (tn_ninth_kept *)unit;
  if (self->counted) tn_arena_free(&self->arena);
}
