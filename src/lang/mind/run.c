/* lang/mind/run.c: a program from its text to a value. */
#include "lang/mind/doors.h"
#include "lang/mind/eval.h"

/* What a person sees: nothing where there is no value. */
static bool write_text(tn_mind_evaluator *e, const tn_mind_value *value, tn_arena *arena, tn_outcome *out) {
  tn_text text;
  if (value->kind == TN_MIND_V_UNIT) return true;
  tn_text_init(&text, e->host->heap);
  bool ok = tn_mind_value_print(e, value, true, TN_NOWHERE, &text);
  tn_text_byte(&text, '\n');
  if (ok) out->text = tn_arena_str(arena, tn_text_str(&text));
  tn_text_free(&text);
  return ok;
}

static bool write_outcome(tn_mind_evaluator *e, const tn_mind_value *value, tn_arena *arena,
                          tn_outcome *out) {
  tn_text type;
  out->values = tn_arena_new(arena, tn_datum);
  if (!out->values || !write_text(e, value, arena, out)) return false;
  if (!tn_mind_value_datum(e, value, arena, out->values)) {
    tn_datum_release(out->values);
    return false;
  }
  out->count = 1;
  tn_text_init(&type, e->host->heap);
  tn_mind_type_print(tn_mind_type_of(e, value), e->host->names, &type);
  out->type = tn_arena_str(arena, tn_text_str(&type));
  tn_text_free(&type);
  return !arena->failed || tn_mind_out_of_memory(e->mind);
}

static bool run_module(tn_mind *mind, tn_mind_module *module, tn_arena *arena, tn_outcome *out) {
  tn_host *host = mind->host;
  tn_mind_trace trace;
  tn_mind_value value;
  tn_fault fault;
  tn_mind_trace_init(&trace, host);
  tn_mind_evaluator e = {
    .mind = mind, .host = host, .trace = &trace, .arena = mind->arena, .names_scalars = mind->names_scalars
  };
  e.forgets = true;
  size_t errors = host->diags->errors;
  bool ok = tn_mind_plan_history(mind) && tn_mind_eval_module(&e, module, &value);
  if (ok && !tn_mind_trace_settle(&trace, &fault)) ok = tn_mind_eval_fault(&e, &fault, NULL);
  ok = ok && write_outcome(&e, &value, arena, out);
  tn_vec_free(host->heap, &e.live);
  tn_mind_trace_free(&trace);
  if (!ok && host->diags->errors == errors) tn_mind_out_of_memory(mind); /* all else has been said */
  return ok;
}

/* A name on the command line that the program does not have: MIND has no inputs. */
static bool no_inputs(tn_host *host) {
  const tn_given *given = host->input_count ? host->inputs : host->param_count ? host->params : NULL;
  if (!given && host->set_count) given = host->sets;
  if (!given) return true;
  return tn_report(host->diags, TN_DIAG_E_USAGE, TN_NOWHERE,
                   TN_STR("message", "a MIND program has no inputs, parameters or host values to be set"),
                   TN_HINT(TN_LIT("write the value into the program, as in `let x = 2`, or read it there: "
                                  "`read_csv(\"x.csv\")`")));
}

bool tn_lang_mind_run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  tn_host *host = unit->host;
  tn_arena own;
  tn_mind mind;
  if (!no_inputs(host)) return false;
  tn_arena_init(&own, host->heap);
  tn_mind_init(&mind, host, &own);
  tn_mind_module *module = tn_mind_load(&mind, unit->file);
  bool ok = module && tn_mind_seal(&mind) && run_module(&mind, module, arena, out);
  tn_mind_free(&mind);
  tn_arena_free(&own);
  return ok;
}
