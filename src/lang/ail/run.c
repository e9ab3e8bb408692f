/* lang/ail/run.c: runs a model once.
 *
 * Inputs are supplied or drawn, parameters drawn or given; one graph has the
 * model's output and every value that states and handlers read. Each is computed
 * when it is read, and what it needs of the clock and of files is checked then. */
#include "lang/ail/doors.h"
#include "lang/ail/lower.h"
#include "lang/ail/world.h"

/* ---- values going in ---- */

static void free_tensors(tn_tensor *tensors, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (tensors[i].buffer) tn_tensor_unref(&tensors[i]);
  }
}

static bool draw_input(const tn_ail *program, size_t index, const tn_sizes *sizes, tn_tensor *out) {
  const tn_tensor_spec *spec = &program->inputs[index];
  uint64_t apart = spec->kind == TN_DATA_TOKEN_IDS ? 1000 : spec->kind == TN_DATA_LABELS ? 3000 : 2000;
  tn_rng rng;
  if (!tn_tensor_new(program->host->heap, spec->type.dtype, &sizes->inputs[index], out)) {
    return tn_ail_out_of_memory(program);
  }
  tn_rng_init(&rng, program->host->seed + apart);
  tn_ail_draw(program, index, sizes, &rng, &out->view);
  return true;
}

static bool make_inputs(const tn_ail *program, const tn_sizes *sizes, tn_tensor *inputs) {
  for (size_t i = 0; i < program->input_count; i++) {
    bool ok = tn_ail_given(program, i) ? tn_ail_supplied(program, i, &inputs[i])
                                       : draw_input(program, i, sizes, &inputs[i]);
    if (!ok) {
      free_tensors(inputs, i);
      return false;
    }
  }
  return true;
}

/* ---- names that are read outside of the model ---- */

typedef struct {
  tn_map names; /* that are read */
  tn_map lets;  /* of the state or handler so far, which hide everything else */
  bool failed;
} reading;

static void note_names(reading *r, const tn_ail_expr *expr);

static void note_call(reading *r, const tn_ail_call *call) {
  for (uint32_t i = 0; i < call->count; i++) note_names(r, call->args[i].value);
}

static void note_list(reading *r, const tn_ail_expr *list) {
  for (uint32_t i = 0; i < list->as.list.count; i++) note_names(r, list->as.list.items[i]);
}

static void note_if(reading *r, const tn_ail_if *branch) {
  note_names(r, branch->otherwise);
  for (uint32_t i = 0; i < branch->count; i++) {
    note_names(r, branch->arms[i].condition);
    note_names(r, branch->arms[i].value);
  }
}

static void note_chain(reading *r, const tn_ail_chain *chain) {
  note_names(r, chain->first);
  for (uint32_t i = 0; i < chain->count; i++) note_names(r, chain->links[i].right);
}

/* recursion: expressions in each other, TN_AIL_NESTING_LIMIT deep. */
static void note_names(reading *r, const tn_ail_expr *expr) {
  if (!expr) return;
  switch (expr->form) {
    case TN_AIL_EXPR_NAME:
      if (tn_map_get(&r->lets, expr->as.name)) break;
      r->failed = r->failed || !tn_map_put(&r->names, expr->as.name, 1);
      break;
    case TN_AIL_EXPR_CALL: note_call(r, expr->as.call); break;
    case TN_AIL_EXPR_CHAIN: note_chain(r, expr->as.chain); break;
    case TN_AIL_EXPR_LIST: note_list(r, expr); break;
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT: note_names(r, expr->as.unary.of); break;
    case TN_AIL_EXPR_IF: note_if(r, expr->as.branch); break;
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE:
      note_names(r, expr->as.loop->init);
      note_names(r, expr->as.loop->body);
      break;
    default: break;
  }
}

static void begin_body(reading *r) {
  tn_heap *heap = r->names.heap;
  tn_map_free(&r->lets);
  tn_map_init(&r->lets, heap);
}

static void note_statements(reading *r, const tn_ail_statement *statements, uint32_t count) {
  begin_body(r);
  for (uint32_t i = 0; i < count; i++) {
    note_names(r, statements[i].value);
    bool let = statements[i].kind == TN_AIL_LET;
    if (let && !tn_map_put(&r->lets, statements[i].name, 1)) r->failed = true;
  }
}

static void note_state_machine(reading *r, const tn_ail_state_machine *state_machine) {
  for (uint32_t i = 0; state_machine && i < state_machine->count; i++) {
    const tn_ail_state *state = &state_machine->states[i];
    note_statements(r, state->body, state->body_count);
    for (uint32_t k = 0; k < state->transition_count; k++) note_names(r, state->transitions[k].condition);
  }
}

static void note_handlers(reading *r, const tn_ail *program) {
  for (size_t i = 0; i < program->handler_count; i++) {
    const tn_ail_block *body = &program->handlers[i]->body;
    note_statements(r, body->statements, body->count);
  }
  for (size_t i = 0; i < program->var_count; i++) { /* a tensor without a first value is the model's */
    const tn_ail_var *var = &program->vars[i];
    bool follows = var->type == TN_AIL_STATE_TENSOR && !var->decl->initial;
    if (follows && !tn_map_put(&r->names, var->name, 1)) r->failed = true;
  }
}

static void read_all(reading *r, const tn_ail *program) {
  r->failed = false;
  tn_map_init(&r->names, program->host->heap);
  tn_map_init(&r->lets, program->host->heap);
  note_state_machine(r, program->state_machine);
  note_handlers(r, program);
}

static void free_reading(reading *r) {
  tn_map_free(&r->names);
  tn_map_free(&r->lets);
}

bool tn_ail_reads_name(const tn_ail *program, tn_name name) {
  reading r;
  read_all(&r, program);
  bool found = tn_map_get(&r.names, name) != NULL;
  free_reading(&r);
  return found;
}

/* ---- computing ---- */

/* The model, lowered once, with an output for itself and for each name that states and handlers
 * read. Outputs that are not read are never computed, and need no capabilities. */
struct tn_ail_model {
  tn_graph graph;
  int output; /* position of the model's own; -1: it is not wanted */
  tn_data_kind kind;
  tn_ail_cells names;         /* without values, in the order of the other outputs */
  tn_tensor *inputs, *params; /* NULL before something is computed */
};

/* The values the names have at the end of the model. */
static void add_names(struct tn_ail_model *m, tn_ail_lowering *l, const reading *r) {
  for (size_t i = 0; i < r->names.count; i++) {
    tn_name name = (tn_name)r->names.entries[i].key;
    const tn_ail_operand *bound = tn_ail_lookup(&l->walk, name);
    if (!bound || bound->wrong || bound->is_text) continue;
    tn_ail_operand operand = *bound;
    tn_ail_cell cell = { .name = name, .kind = operand.kind };
    if (tn_ail_lowering_output(l, &operand, name) < 0) return;
    if (!tn_vec_push(l->program->host->heap, &m->names, cell)) l->program->arena.failed = true;
  }
}

static bool lower_model(tn_ail_world *world, const reading *r, bool want_output) {
  tn_ail *program = world->program;
  struct tn_ail_model *m = world->source;
  tn_ail_lowering l;
  size_t errors = program->host->diags->errors;
  m->output = -1;
  if (!tn_ail_lowering_begin(&l, program, &world->sizes, TN_LOWER_INFERENCE)) {
    return tn_ail_out_of_memory(program);
  }
  l.errors = errors;
  tn_ail_operand output = tn_ail_walk_main(&l.walk);
  m->kind = output.kind;
  if (want_output) m->output = tn_ail_lowering_output(&l, &output, program->output_name);
  add_names(m, &l, r);
  return tn_ail_lowering_end(&l, &m->graph);
}

bool tn_ail_compute(tn_ail *program, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                    tn_tensor *outputs) {
  tn_host *host = program->host;
  const tn_effects *before = host->effects;
  tn_fault fault = { .kind = TN_FAULT_NONE };
  if (!tn_ail_allow(program, graph)) return false;
  host->effects = &program->effects;
  bool ok = host->compute(host, graph, inputs, params, outputs, &fault);
  host->effects = before;
  return ok ? true : tn_ail_report_fault(program, &fault);
}

/* Inputs and parameters, once. */
static bool make_values(tn_ail_world *world) {
  tn_ail *program = world->program;
  struct tn_ail_model *m = world->source;
  if (m->inputs) return true;
  tn_tensor *inputs = tn_arena_array(world->arena, program->input_count + 1, sizeof *inputs);
  tn_tensor *params = tn_arena_array(world->arena, program->param_count + 1, sizeof *params);
  if (!inputs || !params) return tn_ail_out_of_memory(program);
  if (!make_inputs(program, &world->sizes, inputs)) return false;
  if (!tn_ail_init_params(program, &world->sizes, params)) {
    free_tensors(inputs, program->input_count);
    return false;
  }
  m->inputs = inputs;
  m->params = params;
  return true;
}

static bool compute_with(tn_ail_world *world, const tn_graph *graph, tn_tensor *out) {
  const tn_ail *program = world->program;
  size_t input_count = program->input_count, param_count = program->param_count;
  tn_view *views = tn_arena_array(world->arena, input_count + param_count + 1, sizeof *views);
  if (!views) return tn_ail_out_of_memory(program);
  for (size_t i = 0; i < input_count; i++) views[i] = world->source->inputs[i].view;
  for (size_t i = 0; i < param_count; i++) views[input_count + i] = world->source->params[i].view;
  return tn_ail_compute(world->program, graph, views, views + input_count, out);
}

/* One output of the model, and nothing that it does not need. Capabilities are checked before anything is
 * drawn. */
static bool compute_output(tn_ail_world *world, size_t position, tn_tensor *out) {
  tn_graph graph;
  if (!tn_graph_copy(&world->source->graph, &graph))
    return tn_ail_out_of_memory(world->program);
  graph.outputs.at[0] = graph.outputs.at[position];
  graph.outputs.count = 1;
  bool ok = tn_ail_allow(world->program, &graph) && make_values(world) && compute_with(world, &graph, out);
  tn_graph_free(&graph);
  return ok;
}

bool tn_ail_world_model(tn_ail_world *world, tn_name name, const tn_ail_cell **out) {
  const struct tn_ail_model *m = world->source;
  size_t first = m && m->output >= 0 ? 1 : 0;
  *out = tn_ail_cells_find(&world->model, name);
  for (size_t i = 0; m && !*out && i < m->names.count; i++) {
    tn_ail_cell cell = m->names.at[i];
    if (cell.name != name) continue;
    if (!compute_output(world, first + i, &cell.tensor)) return false;
    if (!tn_vec_push(world->program->host->heap, &world->model, cell)) {
      tn_ail_cell_release(&cell);
      return tn_ail_out_of_memory(world->program);
    }
    *out = &tn_vec_last(&world->model);
  }
  return true;
}

static bool open_model(tn_ail_world *world, const reading *r, tn_ail_cell *output) {
  tn_ail *program = world->program;
  world->source = tn_arena_alloc(world->arena, sizeof *world->source);
  if (!world->source) return tn_ail_out_of_memory(program);
  *world->source = (struct tn_ail_model){ .output = -1 };
  if (!lower_model(world, r, output != NULL)) return false;
  if (world->source->output < 0) return true;
  *output = (tn_ail_cell){ .name = program->output_name, .kind = world->source->kind };
  return compute_output(world, 0, &output->tensor);
}

/* The parameters that were drawn or given, if something was computed with them, go to the unit. */
static bool keep_params(tn_ail_world *world, tn_unit *unit) {
  const tn_ail *program = world->program;
  const tn_tensor *params = world->source ? world->source->params : NULL;
  for (size_t i = 0; params && i < program->param_count; i++) {
    tn_str name = tn_ail_text_of(program, program->params[i].name);
    tn_tensor share = tn_tensor_ref(&params[i]);
    if (!tn_unit_keep_param_take(unit, name, &share)) return false;
  }
  return true;
}

void tn_ail_model_free(tn_ail_world *world) {
  struct tn_ail_model *m = world->source;
  if (!m) return;
  if (m->graph.heap) tn_graph_free(&m->graph);
  if (m->inputs) free_tensors(m->inputs, world->program->input_count);
  if (m->params) free_tensors(m->params, world->program->param_count);
  tn_vec_free(world->program->host->heap, &m->names);
}

/* Values that were given for parameters must fit them, also where no event ever needs them. */
static bool check_params(tn_ail_world *world) {
  const tn_host *host = world->program->host;
  return (!host->has_weights && host->param_count == 0) || make_values(world);
}

bool tn_ail_world_open(tn_ail_world *world, tn_ail *program, tn_arena *arena, tn_ail_cell *output) {
  tn_size_request request = { 0 };
  reading r;
  *world = (tn_ail_world){ .program = program, .arena = arena };
  if (!tn_ail_seal(program) || !tn_ail_check_given(program, output ? TN_AIL_TO_RUN : TN_AIL_AS_APP) ||
      !tn_ail_size(program, &request, arena, &world->sizes))
    return false;
  read_all(&r, program);
  bool ok = !r.failed || tn_ail_out_of_memory(program);
  if (ok && program->main) ok = open_model(world, &r, output) && check_params(world);
  free_reading(&r);
  return ok;
}

/* ---- the door ---- */

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

bool tn_lang_ail_run(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
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
  ok = ok && keep_params(&world, unit);
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
