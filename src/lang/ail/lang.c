/* lang/ail/lang.c: the doors of AILang. */
#include "lang/ail/world.h"

#include "base/json.h"
#include "lang/ail/doors.h"

static bool check(tn_unit *unit) {
  tn_ail *program = tn_ail_compile(unit->host, unit->file);
  tn_ail_free(program);
  return program != NULL;
}

/* ---- run ---- */

#define SHOWN_VALUES 10

/* The shape and the first values, as a person wants to see them. */
static void print_output(tn_ail *program, const tn_ail_cell *output, tn_text *out) {
  tn_view view = output->tensor.view;
  tn_shape shape = tn_view_shape(&view);
  int64_t count = tn_view_count(&view), shown = count < SHOWN_VALUES ? count : SHOWN_VALUES;
  if (output->name) {
    tn_text_puts(out, "Output: ");
    tn_text_add(out, tn_ail_text_of(program, output->name));
    tn_text_byte(out, '\n');
  }
  tn_text_puts(out, "Output shape: ");
  tn_shape_print(&shape, NULL, TN_SHAPE_COMMA, out);
  tn_text_puts(out, "\nFirst ");
  tn_text_int(out, shown);
  tn_text_puts(out, " values: [");
  for (int64_t i = 0; i < shown; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_text_fixed(out, tn_view_get_f64(&view, i), 4);
  }
  tn_text_puts(out, "]\n");
}

static bool take_output(tn_ail *program, const tn_ail_cell *output, tn_arena *arena, tn_outcome *out,
                        tn_text *text) {
  out->values = tn_arena_array(arena, 1, sizeof *out->values);
  if (!out->values) return tn_ail_out_of_memory(program);
  if (!output->tensor.buffer) return true; /* no model: an empty list */
  out->values[0] = tn_ail_cell_datum(program, output);
  out->count = 1;
  print_output(program, output, text);
  return true;
}

static bool run_state_machine(tn_ail_world *world, tn_outcome *out, tn_text *text) {
  tn_ail *program = world->program;
  tn_ail_state_machine_run run;
  tn_text json_text;
  bool ok = tn_ail_state_machine_begin(world, &run) && tn_ail_world_open_variables(world) &&
            tn_ail_state_machine_offer(world, &run, tn_ail_state_machine_events(program));
  if (ok) {
    tn_text_init(&json_text, program->host->heap);
    tn_json_writer json = tn_json_writer_on(&json_text);
    tn_ail_state_machine_json(program, &run, &json);
    out->extra_json = tn_arena_str(world->arena, tn_text_str(&json_text));
    tn_text_free(&json_text);
    tn_ail_state_machine_text(program, &run, text);
  }
  tn_ail_state_machine_free(program, &run);
  return ok;
}

static bool run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  tn_host *host = unit->host;
  tn_ail_world world;
  tn_ail_cell output = { 0 };
  tn_text text;
  *out = (tn_outcome){ 0 };
  tn_givens_free(host->heap, &unit->params);
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  tn_text_init(&text, host->heap);
  bool ok = tn_ail_world_open(&world, program, arena, &output);
  ok = ok && take_output(program, &output, arena, out, &text);
  if (ok && program->state_machine) ok = run_state_machine(&world, out, &text);
  ok = ok && tn_ail_model_keep_params(&world, unit);
  out->text = tn_arena_str(arena, tn_text_str(&text));
  if (ok && (text.failed || arena->failed))
    ok = tn_ail_out_of_memory(program);
  if (!ok) {
    for (size_t i = 0; i < out->count; i++) tn_datum_release(&out->values[i]);
    *out = (tn_outcome){ 0 };
  }
  tn_text_free(&text);
  tn_ail_cell_release(&output);
  tn_ail_world_close(&world);
  tn_ail_free(program);
  return ok;
}

static bool run_app(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  *out = (tn_outcome){ 0 };
  return tn_ail_app_run(unit->host, unit->file, arena, out);
}

static bool format(tn_unit *unit, tn_text *out) { return tn_ail_format_text(unit->host, unit->file, out); }

/* ---- emit ---- */

/* These forms carry the parameters: those of a run. */
static bool write_model(tn_ail *program, const tn_graph *graph, tn_emit_kind kind, tn_text *out) {
  tn_host *host = program->host;
  tn_export what = { .graph = graph, .kind = kind, .sources = host->sources };
  tn_export_problem problem;
  tn_size_request request = { 0 };
  tn_sizes sizes;
  tn_arena arena;
  tn_diags_enter(host->diags, TN_PHASE_RUN);
  tn_arena_init(&arena, host->heap);
  tn_tensor *params = tn_arena_array(&arena, program->param_count + 1, sizeof *params);
  bool ok = params != NULL || tn_ail_out_of_memory(program);
  bool made =
      ok && tn_ail_size(program, &request, &arena, &sizes) && tn_ail_init_params(program, &sizes, params);
  if (made) {
    what.params = params;
    ok = tn_export_write(&what, out, &problem) || tn_lang_report_export(host, &problem);
    for (size_t i = 0; i < program->param_count; i++) tn_tensor_unref(&params[i]);
  }
  tn_arena_free(&arena);
  return ok && made;
}

static bool write_form(tn_ail *program, const tn_graph *graph, tn_emit_kind kind, tn_text *out) {
  tn_export what = { .graph = graph, .kind = kind, .sources = program->host->sources };
  tn_export_problem problem;
  if (kind == TN_EMIT_ONNX || kind == TN_EMIT_NPZ) return write_model(program, graph, kind, out);
  return tn_export_write(&what, out, &problem) || tn_lang_report_export(program->host, &problem);
}

static bool emit(tn_unit *unit, tn_emit_kind kind, tn_text *out) {
  tn_host *host = unit->host;
  tn_graph graph;
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  bool values = kind == TN_EMIT_ONNX || kind == TN_EMIT_NPZ;
  bool ok = tn_host_seal(host, NULL, 0) &&
            tn_ail_check_given(program, values ? TN_AIL_TO_EXPORT : TN_AIL_TO_SHOW) &&
            tn_ail_graph(program, kind == TN_EMIT_GRAD, &graph);
  if (ok) {
    ok = write_form(program, &graph, kind, out);
    tn_graph_free(&graph);
  }
  tn_ail_free(program);
  return ok;
}

const tn_lang *tn_lang_ail(void) {
  static const char *const extensions[] = { ".ail", NULL };
  static const tn_lang language = { .name = "ail",
                                    .extensions = extensions,
                                    .check = check,
                                    .run = run,
                                    .format = format,
                                    .emit = emit,
                                    .app = run_app,
                                    .unit_bytes = sizeof(tn_ail_unit),
                                    .drop = tn_ail_unit_drop,
                                    .specs = tn_ail_unit_specs,
                                    .lower = tn_ail_unit_lower,
                                    .training = &tn_ail_training,
                                    .repl_new = tn_ail_repl_new,
                                    .repl_line = tn_ail_repl_line,
                                    .repl_cancel = tn_ail_repl_cancel,
                                    .repl_complete = tn_ail_repl_complete,
                                    .repl_free = tn_ail_repl_free };
  return &language;
}
