/* lang/ail/run.c: computing a model once.
 *
 * Inputs are supplied or drawn, parameters drawn or given; one graph has the
 * model's output and every value that states and handlers read. What it needs
 * of the clock and of files is checked before anything is computed. */
#include "lang/ail/lower.h"
#include "lang/ail/world.h"

/* ---- values going in ---- */

static void free_tensors(tn_tensor *tensors, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (tensors[i].buffer) tn_tensor_unref(&tensors[i]);
  }
}

static bool draw_input(const tn_ail *program, size_t index, const tn_ail_sizes *sizes, tn_tensor *out) {
  const tn_ail_slot *slot = &program->inputs[index];
  uint64_t apart = slot->kind == TN_AIL_TOKEN_IDS ? 1000 : slot->kind == TN_AIL_LABELS ? 3000 : 2000;
  int64_t limit =
      slot->kind == TN_AIL_LABELS ? tn_ail_classes(program, sizes) : tn_ail_vocabulary(program, sizes);
  tn_rng rng;
  if (!tn_tensor_new(program->host->heap, tn_ail_kind_dtype(slot->kind), &sizes->inputs[index], out)) {
    return tn_ail_report_plain_fault(program, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  tn_rng_init(&rng, program->host->seed + apart);
  tn_ail_draw(&rng, slot->kind, limit, &out->view);
  return true;
}

static bool make_inputs(const tn_ail *program, const tn_ail_sizes *sizes, tn_tensor *inputs) {
  for (size_t i = 0; i < program->input_count; i++) {
    bool ok = tn_ail_is_supplied(program, i) ? tn_ail_supplied(program, i, sizes, &inputs[i])
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

static void note_names(reading *r, const tn_ail_expr *expr) {
  if (!expr) return;
  switch (expr->form) {
    case TN_AIL_EXPR_NAME: r->failed = r->failed || !tn_map_put(&r->names, expr->as.name, 1); break;
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

static void note_machine(reading *r, const tn_ail_machine *machine) {
  for (uint32_t i = 0; machine && i < machine->count; i++) {
    const tn_ail_state *state = &machine->states[i];
    for (uint32_t k = 0; k < state->body_count; k++) note_names(r, state->body[k].value);
    for (uint32_t k = 0; k < state->transition_count; k++) note_names(r, state->transitions[k].condition);
  }
}

static void note_handlers(reading *r, const tn_ail *program) {
  for (size_t i = 0; i < program->handler_count; i++) {
    const tn_ail_block *body = &program->handlers[i]->body;
    for (uint32_t k = 0; k < body->count; k++) note_names(r, body->statements[k].value);
  }
  for (size_t i = 0; i < program->var_count; i++) { /* a tensor without a first value is the model's */
    const tn_ail_var *var = &program->vars[i];
    bool follows = var->type == TN_AIL_STATE_TENSOR && !var->decl->initial;
    if (follows && !tn_map_put(&r->names, var->name, 1)) r->failed = true;
  }
}

bool tn_ail_reads_name(const tn_ail *program, tn_name name) {
  reading r = { 0 };
  tn_map_init(&r.names, program->host->heap);
  note_machine(&r, program->machine);
  note_handlers(&r, program);
  bool found = tn_map_get(&r.names, name) != NULL;
  tn_map_free(&r.names);
  return found;
}

/* ---- computing ---- */

typedef struct {
  tn_ail_world *world;
  tn_ail_lowered lowered; /* graph and output */
  tn_ail_cells wanted;    /* the names, in the order of the outputs behind the model's own */
} model_run;

/* The values the names have at the end of the model. */
static void add_names(model_run *m, tn_ail_lowering *l, const reading *r) {
  for (size_t i = 0; i < r->names.count; i++) {
    tn_name name = (tn_name)r->names.entries[i].key;
    const tn_ail_operand *bound = tn_ail_lookup(&l->walk, name);
    if (!bound || bound->wrong || bound->is_text) continue;
    tn_ail_operand operand = *bound;
    tn_ail_cell cell = { .name = name, .kind = operand.kind };
    if (tn_ail_lowering_output(l, &operand, name) < 0) return;
    if (!tn_vec_push(m->world->program->host->heap, &m->wanted, cell)) m->world->program->arena.failed = true;
  }
}

static bool lower_model(model_run *m, const reading *r, bool want_output) {
  tn_ail *program = m->world->program;
  tn_ail_lowering l;
  size_t errors = program->host->diags->errors;
  program->host->diags->phase = TN_PHASE_RUN;
  m->lowered.output = -1;
  if (!tn_ail_lowering_begin(&l, program, &m->world->sizes, TN_AIL_FOR_RUN)) {
    return tn_ail_report_plain_fault(program, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  }
  l.errors = errors;
  tn_ail_operand output = tn_ail_walk_main(&l.walk);
  m->lowered.kind = output.kind;
  if (want_output) m->lowered.output = tn_ail_lowering_output(&l, &output, program->output_name);
  add_names(m, &l, r);
  return tn_ail_lowering_end(&l, &m->lowered.graph);
}

bool tn_ail_compute(tn_ail *program, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                    tn_tensor *outputs) {
  tn_host *host = program->host;
  const tn_effects *before = host->effects;
  tn_fault fault = { .kind = TN_FAULT_NONE };
  host->diags->phase = TN_PHASE_RUN;
  if (!tn_ail_allow(program, graph)) return false;
  host->effects = &program->effects;
  bool ok = host->compute(host, graph, inputs, params, outputs, &fault);
  host->effects = before;
  return ok ? true : tn_ail_report_fault(program, &fault);
}

static void take_outputs(model_run *m, tn_tensor *outputs, tn_ail_cell *output) {
  size_t next = 0;
  if (output && m->lowered.output >= 0) {
    *output = (tn_ail_cell){ .name = m->world->program->output_name,
                             .kind = m->lowered.kind,
                             .tensor = outputs[next++] };
  }
  for (size_t i = 0; i < m->wanted.count; i++) m->wanted.at[i].tensor = outputs[next++];
  m->world->model = m->wanted;
  m->wanted = (tn_ail_cells){ 0 };
}

static bool compute_with(model_run *m, tn_tensor *inputs, tn_tensor *params, tn_ail_cell *output) {
  tn_ail *program = m->world->program;
  size_t input_count = program->input_count, param_count = program->param_count;
  size_t count = m->lowered.graph.outputs.count;
  tn_view *views = tn_arena_array(m->world->arena, input_count + param_count, sizeof *views);
  tn_tensor *outputs = tn_arena_array(m->world->arena, count, sizeof *outputs);
  if (!views || !outputs) return tn_ail_report_plain_fault(program, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  for (size_t i = 0; i < input_count; i++) views[i] = inputs[i].view;
  for (size_t i = 0; i < param_count; i++) views[input_count + i] = params[i].view;
  if (!tn_ail_compute(program, &m->lowered.graph, views, views + input_count, outputs)) return false;
  take_outputs(m, outputs, output);
  return true;
}

static bool compute_model(model_run *m, tn_ail_cell *output) {
  tn_ail *program = m->world->program;
  tn_tensor *inputs = tn_arena_array(m->world->arena, program->input_count, sizeof *inputs);
  tn_tensor *params = tn_arena_array(m->world->arena, program->param_count, sizeof *params);
  if (!inputs || !params) return tn_ail_report_plain_fault(program, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  if (m->lowered.graph.outputs.count == 0) return true;
  if (!tn_ail_allow(program, &m->lowered.graph)) return false;
  if (!make_inputs(program, &m->world->sizes, inputs)) return false;
  bool ok = tn_ail_init_params(program, &m->world->sizes, params) && compute_with(m, inputs, params, output);
  free_tensors(inputs, program->input_count);
  free_tensors(params, program->param_count);
  return ok;
}

static bool run_model(tn_ail_world *world, const reading *r, tn_ail_cell *output) {
  model_run m = { .world = world };
  bool ok = lower_model(&m, r, output != NULL);
  if (ok) {
    ok = compute_model(&m, output);
    tn_graph_free(&m.lowered.graph);
  }
  tn_vec_free(world->program->host->heap, &m.wanted);
  return ok;
}

bool tn_ail_world_open(tn_ail_world *world, tn_ail *program, tn_arena *arena, bool with_app,
                       tn_ail_cell *output) {
  tn_ail_size_request request = { 0 };
  reading r = { 0 };
  *world = (tn_ail_world){ .program = program, .arena = arena };
  if (!tn_ail_seal(program) || !tn_ail_world_check_host(program) ||
      !tn_ail_size(program, &request, arena, &world->sizes))
    return false;
  tn_map_init(&r.names, program->host->heap);
  note_machine(&r, program->machine);
  if (with_app) note_handlers(&r, program);
  bool ok = !r.failed || tn_ail_report_plain_fault(program, &(tn_fault){ .kind = TN_FAULT_MEMORY });
  if (ok && program->main) ok = run_model(world, &r, output);
  tn_map_free(&r.names);
  return ok;
}
