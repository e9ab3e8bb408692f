/* lang/ninth/run.c: compiles and runs a program; the result is its stack. */
#include "lang/ninth/doors.h"

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

/* Named values that a Ninth program cannot use are an error on the command line. */
bool tn_ninth_check_given(tn_host *host) {
  const char *wrong = NULL, *hint = "such as `--input x=2`: each [INPUT] takes one value, in their order";
  if (host->has_weights) wrong = "a Ninth program has no named parameters that --weights could fill";
  if (host->has_weights) hint = "[LOAD_WEIGHTS] reads a .safetensors file in the program";
  if (host->set_count > 0) wrong = "a Ninth program takes its values with --input; there is no --set";
  if (host->param_count > 0) wrong = "a Ninth program takes its values with --input; there is no --param";
  return !wrong || tn_report(host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_STR("message", wrong),
                             TN_HINT(tn_str_of(hint)));
}

/* Only a program that has ended shows which values it takes. */
static bool took_every_input(tn_ninth_vm *m) {
  const tn_host *host = m->host;
  tn_text message;
  if (m->input == host->input_count) return true;
  tn_text_init(&message, m->heap);
  tn_text_puts(&message, "no [INPUT] took the value of ");
  tn_text_add(&message, host->inputs[m->input].name);
  tn_report(host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_TEXT("message", tn_text_str(&message)),
            TN_HINT(TN_LIT("each [INPUT] that runs takes one value, in the order of --input")));
  tn_text_free(&message);
  return false;
}

bool tn_ninth_run_file(tn_ninth_vm *m, uint32_t file) {
  tn_ninth_program *program =
      tn_ninth_compile(m->heap, m->host->names, m->host->diags, file, &m->scope, NULL);
  return program && tn_ninth_load(m, program) && tn_ninth_seal(m, program) && tn_ninth_run(m, program) &&
         took_every_input(m);
}

bool tn_lang_ninth_run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
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
