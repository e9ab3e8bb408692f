/* lang/ail/given.c: checks the values of the command line against the program.
 *
 * No option is silently ignored: a name that the program does not have, or a value that it never
 * reads, is a usage error before anything runs. */
#include "lang/ail/lower.h"
#include "lang/ail/world.h"

/* ---- refusing ---- */

/* "BEFORE`NAME`AFTER" */
static bool usage(const tn_ail *program, const char *before, tn_str name, const char *after, tn_str meant,
                  tn_str hint) {
  tn_text message;
  tn_text_init(&message, program->host->heap);
  tn_text_puts(&message, before);
  tn_text_add(&message, name);
  tn_text_puts(&message, after);
  tn_report(program->host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_TEXT("message", tn_text_str(&message)),
            TN_TEXT("suggestion", meant), TN_HINT(hint));
  tn_text_free(&message);
  return false;
}

static bool refuse(const tn_ail *program, const char *message, const char *hint) {
  return usage(program, message, TN_LIT(""), "", TN_LIT(""), tn_str_of(hint));
}

/* ---- inputs and parameters ---- */

static bool check_names(const tn_ail *program, const tn_given *given, size_t count,
                        const tn_tensor_spec *specs, size_t spec_count, const char *before) {
  bool ok = true;
  for (size_t i = 0; i < count; i++) {
    tn_str known[TN_HOST_NAMES];
    bool found = false;
    for (size_t k = 0; k < spec_count; k++) {
      tn_str name = tn_ail_text_of(program, specs[k].name);
      found = found || tn_str_equal(name, given[i].name);
      if (k < TN_HOST_NAMES) known[k] = name;
    }
    size_t known_count = spec_count < TN_HOST_NAMES ? spec_count : TN_HOST_NAMES;
    if (!found) ok = tn_host_no_name(program->host, before, given[i].name, "`", known, known_count);
  }
  return ok;
}

static bool check_values(const tn_ail *program, tn_ail_use use) {
  const tn_host *host = program->host;
  bool ok = check_names(program, host->inputs, host->input_count, program->inputs, program->input_count,
                        "the program has no input `");
  ok = check_names(program, host->params, host->param_count, program->params, program->param_count,
                   "the program has no param `") &&
       ok;
  if (host->has_weights && program->param_count == 0)
    ok = refuse(program, "the program has no parameters for --weights to fill", "");
  bool asked = host->has_weights || (host->param_count > 0 && !host->has_trained);
  if (ok && use == TN_AIL_TO_SHOW && asked)
    ok = refuse(program, "--param and --weights change nothing in a form without the values of parameters",
                "`--as onnx` and `--as npz` carry them");
  return ok;
}

/* ---- names that states and handlers read from the host ---- */

static bool main_assigns(const tn_ail *program, tn_name name) {
  for (uint32_t i = 0; program->main && i < program->main->count; i++) {
    const tn_ail_statement *statement = &program->main->statements[i];
    bool names = statement->kind == TN_AIL_ASSIGN || statement->kind == TN_AIL_LET;
    if (names && statement->name == name) return true;
  }
  return false;
}

/* A name that the program binds itself is never looked for outside. */
static bool is_bound(const tn_ail *program, tn_name name) {
  return tn_map_get(&program->var_index, name) || tn_map_get(&program->consts, name) ||
         tn_map_get(&program->specs, name) || main_assigns(program, name);
}

static bool check_set(const tn_ail *program, tn_str given) {
  tn_name name = tn_names_find(program->host->names, given);
  if (!name || !tn_ail_reads_name(program, name))
    return usage(program, "no state and no handler of the program reads `", given, "`", TN_LIT(""),
                 TN_LIT(""));
  if (!is_bound(program, name)) return true;
  return usage(program, "the program binds `", given, "` itself, so --set has no effect on it", TN_LIT(""),
               TN_LIT("--input and --param give inputs and parameters their values"));
}

/* ---- events ---- */

/* Events that need no handler: those a state machine knows by itself. */
static bool is_known_event(const tn_ail *program, tn_name event) {
  if (event && tn_map_get(&program->handler_index, event)) return true;
  if (!program->state_machine || !event) return false;
  return event == program->known.start || event == program->known.input || event == program->known.tick;
}

static bool unknown_event(const tn_ail *program, tn_str event) {
  tn_name name = tn_names_intern(program->host->names, event);
  const tn_map *const maps[] = { &program->handler_index };
  return tn_report(program->host->diags, TN_DIAG_E_EVENT_HANDLER_NOT_FOUND, TN_NOWHERE,
                   TN_TEXT("event_name", event),
                   TN_TEXT("suggestion", name ? tn_ail_suggest(program, name, maps, 1) : TN_LIT("")));
}

static bool check_events(const tn_ail *program, tn_ail_use use) {
  const tn_host *host = program->host;
  bool ok = true;
  if (use == TN_AIL_TO_RUN && host->event_count > 0 && !program->state_machine)
    return refuse(program, "tern run offers events to a state machine, and the program has none",
                  "`tern app` runs the handlers of events");
  for (size_t i = 0; i < host->event_count; i++) {
    if (!is_known_event(program, tn_names_find(host->names, host->events[i])))
      ok = unknown_event(program, host->events[i]);
  }
  return ok;
}

static bool check_app(const tn_ail *program) {
  bool app = program->state_machine || program->handler_count > 0 || program->var_count > 0;
  return app || refuse(program, "tern app runs handlers and a state machine, and the program has neither",
                       "`tern run` runs a model");
}

/* ---- all of it ---- */

bool tn_ail_check_given(const tn_ail *program, tn_ail_use use) {
  const tn_host *host = program->host;
  bool ok = check_values(program, use);
  for (size_t i = 0; i < host->set_count; i++) ok = check_set(program, host->sets[i].name) && ok;
  ok = check_events(program, use) && ok;
  return ok && (use != TN_AIL_AS_APP || check_app(program));
}
