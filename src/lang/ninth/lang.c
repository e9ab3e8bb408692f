/* lang/ninth/lang.c: the doors of Ninth.
 *
 * Reading, checking, running, formatting and talking each have a file of their
 * own; here they are put after the names that every language has. */
#include "lang/ninth/doors.h"

/* ---- running ---- */

/* What a person sees at the end: what is left on the stack, one item per line. */
static bool stack_text(tn_ninth_vm *m, tn_arena *arena, tn_outcome *out) {
  tn_text text;
  tn_text_init(&text, m->heap);
  for (const tn_ninth_value *value = m->stack; value < m->top; value++) {
    tn_ninth_show(m, *value, true, &text);
    tn_text_byte(&text, '\n');
  }
  bool ok = !text.failed;
  if (ok) out->text = tn_arena_str(arena, tn_text_str(&text));
  tn_text_free(&text);
  return ok && !arena->failed;
}

static bool give_stack(tn_ninth_vm *m, tn_arena *arena, tn_outcome *out) {
  size_t depth = tn_ninth_depth(m);
  out->values = tn_arena_array(arena, depth + 1, sizeof *out->values);
  bool ok = out->values != NULL;
  for (; ok && out->count < depth; out->count++) {
    ok = tn_ninth_datum(m, m->stack[out->count], arena, &out->values[out->count]);
  }
  if (ok && stack_text(m, arena, out)) return true;
  tn_build_forget(m->builder);
  return tn_ninth_report_memory(m->heap, m->host->diags, TN_NOWHERE);
}

/* Values that a Ninth program has no names for are a mistake on the command line. */
bool tn_ninth_check_given(tn_host *host) {
  const char *wrong = NULL;
  if (host->has_weights) wrong = "a Ninth program has no named parameters that --weights could fill";
  if (host->set_count > 0) wrong = "a Ninth program takes its values with --input; there is no --set";
  if (host->param_count > 0) wrong = "a Ninth program takes its values with --input; there is no --param";
  return !wrong || tn_report(host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_STR("message", wrong));
}

/* Only a program that has ended shows which values it takes. */
static bool took_every_input(tn_ninth_vm *m) {
  const tn_host *host = m->host;
  tn_text message;
  if (m->input == host->input_count) return true;
  tn_text_init(&message, m->heap);
  tn_text_puts(&message, "no [INPUT] took the value of ");
  tn_text_add(&message, host->inputs[m->input].name);
  tn_report(host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_TEXT("message", tn_text_str(&message)));
  tn_text_free(&message);
  return false;
}

bool tn_ninth_run_file(tn_ninth_vm *m, uint32_t file) {
  tn_ninth_program *program =
      tn_ninth_compile(m->heap, m->host->names, m->host->diags, file, &m->scope, NULL);
  return program && tn_ninth_load(m, program) && tn_host_seal(m->host, NULL, 0) && tn_ninth_run(m, program) &&
         took_every_input(m);
}

static bool run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  tn_host *host = unit->host;
  tn_ninth_vm m;
  *out = (tn_outcome){ 0 };
  if (!tn_ninth_check_given(host)) return false;
  bool ok = tn_ninth_vm_init(&m, host);
  if (!ok) tn_ninth_report_memory(host->heap, host->diags, TN_NOWHERE);
  tn_givens_free(host->heap, &unit->params);
  ok = ok && tn_ninth_run_file(&m, unit->file) && give_stack(&m, arena, out) &&
       tn_ninth_keep_params(&m, unit);
  tn_ninth_vm_free(&m);
  return ok;
}

/* ---- inputs ---- */

/* What Ninth keeps of a program from call to call. */
typedef struct {
  tn_unit unit;
  bool counted;
  tn_arena arena; /* of the specs, once they have been counted */
  tn_specs specs;
} kept_unit;

static size_t count_inputs(const tn_ninth_program *program) {
  size_t count = 0;
  for (size_t u = 0; u < program->units.count; u++) {
    const tn_ninth_unit *unit = program->units.at[u];
    for (uint32_t i = 0; i < unit->count; i++) count += unit->code[i].op == TN_NINTH_INPUT;
  }
  return count;
}

static bool read_inputs(kept_unit *self) {
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
static const tn_specs *specs(tn_unit *unit) {
  kept_unit *self = (kept_unit *)unit;
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

static void drop(tn_unit *unit) {
  kept_unit *self = (kept_unit *)unit;
  if (self->counted) tn_arena_free(&self->arena);
}

/* ---- the other doors ---- */

static bool check(tn_unit *unit) {
  tn_host *host = unit->host;
  tn_ninth_scope scope;
  size_t errors = host->diags->errors;
  tn_ninth_scope_init(&scope, host->heap);
  tn_ninth_program *program =
      tn_ninth_compile_flawed(host->heap, host->names, host->diags, unit->file, &scope);
  if (program) tn_ninth_check(host, program, &scope);
  tn_ninth_program_free(program);
  tn_ninth_scope_free(&scope, host->heap);
  return host->diags->errors == errors;
}

static bool format(tn_unit *unit, tn_text *out) { return tn_ninth_format(unit->host, unit->file, out); }

static bool emit(tn_unit *unit, tn_emit_kind kind, tn_text *out) {
  return tn_ninth_emit_as(unit->host, unit->file, kind, out);
}

const tn_lang *tn_lang_ninth(void) {
  static const char *const extensions[] = { ".nth", ".ninth", NULL };
  static const tn_lang ninth = {
    .name = "ninth",
    .unit_bytes = sizeof(kept_unit),
    .drop = drop,
    .specs = specs,
    .extensions = extensions,
    .check = check,
    .run = run,
    .format = format,
    .emit = emit,
    .repl_new = tn_ninth_repl_new,
    .repl_line = tn_ninth_repl_line,
    .repl_cancel = tn_ninth_repl_cancel,
    .repl_complete = tn_ninth_repl_complete,
    .repl_free = tn_ninth_repl_free,
  };
  return &ninth;
}
