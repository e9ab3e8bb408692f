/* lang/ail/check.c: checks a program by walking it with shapes instead of values.
 *
 * Everything is walked once: the model, the loss, the stages of the pipeline,
 * states and handlers, and functions that are never called. */
#include "lang/ail/doors.h"
#include "lang/ail/lower.h"

static tn_diags *diags_of(const tn_ail_walk *w) { return w->program->host->diags; }

/* ---- the model and its loss ---- */

static void name_output(tn_ail *program) {
  const tn_ail_block *block = program->main;
  for (uint32_t i = 0; i < block->count; i++) {
    const tn_ail_statement *statement = &block->statements[i];
    const tn_ail_expr *value = statement->value;
    bool names = statement->kind == TN_AIL_ASSIGN || statement->kind == TN_AIL_LET;
    if (program->is_forward) {
      bool returns = statement->kind == TN_AIL_RETURN && value->form == TN_AIL_EXPR_NAME;
      if (returns) program->output_name = value->as.name;
    } else if (names && program->output_name != program->known.logits) {
      program->output_name = statement->name;
    }
  }
}

/* What a loss block returns, or the word `loss` where it returns nothing. */
static tn_span returned_at(const tn_ail_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    const tn_ail_statement *statement = &block->statements[i];
    if (statement->kind == TN_AIL_RETURN) return statement->value->at;
  }
  return block->keyword_at;
}

static void check_loss(tn_ail_walk *w) {
  const tn_ail *program = w->program;
  if (!program->loss && !program->loss_block) return;
  tn_span at = program->loss ? program->loss->at : returned_at(program->loss_block);
  tn_ail_operand loss = tn_ail_walk_loss(w);
  tn_ail_site site = { .at = at, .function = "loss" };
  tn_value value = tn_ail_as_tensor(w, &loss, &site, at);
  if (value == TN_ERROR_VALUE) return;
  tn_shape shape = tn_build_type(w->builder, value)->shape;
  if (shape.rank == 0) return;
  tn_report(diags_of(w), TN_DIAG_E_LOSS_NOT_SCALAR, at, tn_ail_shape_field(w, "shape", &shape));
}

/* ---- metrics ---- */

/* Logits are what the loss compares with labels, or else the output. */
static void check_metrics(tn_ail_walk *w, const tn_ail_operand *output) {
  tn_ail *program = w->program;
  bool compared = w->logits != TN_ERROR_VALUE;
  if (!program->eval_fields || (!compared && output->wrong)) return;
  tn_ail_find_target(program, compared);
  int target = program->eval.target;
  tn_shape shape = compared ? tn_build_type(w->builder, w->logits)->shape : *tn_ail_shape_of(w, output);
  tn_ail_check_metrics(program, &shape, target < 0 ? NULL : &program->inputs[target].type.shape);
}

/* ---- stages ---- */

static tn_shape row_shape(const tn_ail *program, const tn_dataset_stage *stage) {
  int input = stage->on_labels ? program->dataset.labels_input : program->dataset.features_input;
  const tn_shape *shape = input >= 0 ? &program->inputs[input].type.shape : NULL;
  if (stage->on_labels && (!shape || shape->rank < 2)) return TN_SCALAR_SHAPE;
  bool plain = shape && shape->rank == 2;
  return tn_shape_make(1, plain ? shape->dim[1] : TN_DIM_UNKNOWN);
}

#define STAGE_FIELDS(w, stage)                                                                               \
  TN_TEXT("function_name", tn_ail_text_of((w)->program, (stage)->function)),                                 \
      TN_STR("stage", (stage)->kind == TN_STAGE_MAP ? "map" : "filter"),                                     \
      TN_TEXT("dataset_path", (w)->program->dataset.path)

static bool has_one_element(const tn_shape *shape) {
  for (int i = 0; i < shape->rank; i++) {
    if (tn_dim_is_known(shape->dim[i]) && shape->dim[i] != 1) return false;
  }
  return true;
}

static void check_stage_result(tn_ail_walk *w, const tn_dataset_stage *stage, const tn_ail_operand *result,
                               int rank) {
  tn_shape shape = *tn_ail_shape_of(w, result);
  if (result->wrong) return;
  if (stage->kind == TN_STAGE_FILTER) {
    if (result->kind == TN_DATA_BOOLEAN && has_one_element(&shape)) return;
    tn_report(diags_of(w), TN_DIAG_E_DATASET_FILTER_NOT_BOOLEAN, stage->at, STAGE_FIELDS(w, stage));
    return;
  }
  tn_ail_site site = { .at = stage->at, .function = "map" };
  if (tn_ail_as_tensor(w, result, &site, stage->at) == TN_ERROR_VALUE || shape.rank == rank) return;
  tn_report(diags_of(w), TN_DIAG_E_DATASET_MAP_SHAPE_MISMATCH, stage->at, STAGE_FIELDS(w, stage),
            TN_INT("expected_rank", rank), TN_INT("received_rank", shape.rank));
}

static void check_stage(tn_ail_walk *w, const tn_dataset_stage *stage) {
  const tn_ail_fn *fn = tn_ail_find_fn(w->program, stage->function);
  tn_shape row = row_shape(w->program, stage);
  tn_data_kind kind = tn_ail_stage_column(w->program, stage);
  if (fn->recursive || fn->refused) return;
  tn_value value = tn_typer_value(w->typer, tn_data_kind_dtype(kind), &row);
  tn_ail_operand argument = tn_ail_of_value(kind, value);
  size_t first = w->stack.count;
  if (!tn_vec_push(w->program->host->heap, &w->stack, argument)) return;
  tn_ail_operand result = tn_ail_walk_call(w, fn, first);
  w->stack.count = first;
  check_stage_result(w, stage, &result, row.rank);
}

/* ---- states and handlers ---- */

/* A state variable: a number, or a tensor of unknown shape. */
static void bind_variables(tn_ail_walk *w, bool over_model) {
  const tn_ail *program = w->program;
  for (size_t i = 0; i < program->var_count; i++) {
    tn_ail_operand operand = tn_ail_wrong();
    if (!over_model && tn_ail_lookup(w, program->vars[i].name)) continue;
    if (program->vars[i].type != TN_AIL_STATE_TENSOR) {
      operand = tn_ail_of_value(TN_DATA_TENSOR, tn_typer_value(w->typer, TN_F32, &TN_SCALAR_SHAPE));
    }
    tn_ail_bind(w, program->vars[i].name, &operand);
  }
}

static tn_ail_operand check_value(tn_ail_walk *w, const tn_ail_expr *expr) {
  return expr ? tn_ail_evaluate(w, expr) : tn_ail_wrong();
}

static void check_state(tn_ail_walk *w, const tn_ail_state *state) {
  size_t scope = tn_ail_open_scope(w);
  bind_variables(w, false);
  for (uint32_t i = 0; i < state->body_count; i++) {
    const tn_ail_statement *statement = &state->body[i];
    w->target = statement->kind == TN_AIL_LET ? statement->name : 0;
    tn_ail_operand value = check_value(w, statement->value);
    if (statement->kind != TN_AIL_LET && statement->kind != TN_AIL_ASSIGN) continue;
    if (value.is_text) tn_ail_as_value(w, &value, statement->value->at), value = tn_ail_wrong();
    tn_ail_bind(w, statement->name, &value);
  }
  w->target = 0;
  for (uint32_t i = 0; i < state->transition_count; i++) {
    const tn_ail_expr *condition = state->transitions[i].condition;
    if (!condition) continue;
    tn_ail_operand value = tn_ail_evaluate(w, condition);
    tn_ail_as_condition(w, &value, condition->at);
  }
  tn_ail_close_scope(w, scope);
}

static void check_handler(tn_ail_walk *w, const tn_ail_handler *handler) {
  size_t scope = tn_ail_open_scope(w);
  bind_variables(w, true);
  for (uint32_t i = 0; i < handler->body.count; i++) {
    const tn_ail_statement *statement = &handler->body.statements[i];
    bool names = statement->kind == TN_AIL_LET || statement->kind == TN_AIL_ASSIGN;
    if (!names) continue;
    w->target = statement->name;
    tn_ail_operand value = check_value(w, statement->value);
    if (value.is_text) tn_ail_as_value(w, &value, statement->value->at), value = tn_ail_wrong();
    if (statement->kind == TN_AIL_LET) tn_ail_bind(w, statement->name, &value);
  }
  w->target = 0;
  tn_ail_close_scope(w, scope);
}

static void check_states_and_app(tn_ail_walk *w) {
  const tn_ail *program = w->program;
  w->open_names = true;
  for (uint32_t i = 0; program->state_machine && i < program->state_machine->count; i++)
    check_state(w, &program->state_machine->states[i]);
  for (size_t i = 0; i < program->handler_count; i++) check_handler(w, program->handlers[i]);
  w->open_names = false;
}

/* ---- functions that are never called ---- */

static void check_function(tn_ail_walk *w, const tn_ail_fn *fn) {
  size_t first = w->stack.count;
  for (uint32_t i = 0; i < fn->decl->param_count; i++) {
    if (!tn_vec_push(w->program->host->heap, &w->stack, tn_ail_wrong())) return;
  }
  tn_ail_walk_call(w, fn, first);
  w->stack.count = first;
}

/* A statement gives at least one value, and a long list that grows is copied repeatedly. */
static void make_room(tn_ail_walk *w, uint32_t statements) {
  tn_heap *heap = w->program->host->heap;
  if (tn_vec_reserve(heap, &w->typer->types, statements) && tn_vec_reserve(heap, &w->bindings, statements))
    return;
  w->failed = w->stopped = w->program->arena.failed = true;
}

void tn_ail_check_values(tn_ail *program) {
  tn_typer typer;
  tn_ail_walk w;
  tn_typer_init(&typer, program->host->heap, program->host->names);
  tn_ail_walk_init(&w, program, &typer.base);
  w.typer = &typer;
  w.records = true;
  if (program->main) make_room(&w, program->main->count);
  tn_ail_walk_specs(&w);
  tn_ail_operand output = tn_ail_walk_main(&w);
  if (program->main) {
    name_output(program);
    check_loss(&w);
    check_metrics(&w, &output);
  }
  w.records = false;
  for (size_t i = 0; i < program->dataset.stage_count; i++) check_stage(&w, &program->dataset.stages[i]);
  check_states_and_app(&w);
  for (uint32_t i = 0; i < program->fn_count; i++) {
    const tn_ail_fn *fn = &program->fn_list[i];
    if (!fn->walked && !fn->recursive && !fn->refused) check_function(&w, fn);
  }
  tn_ail_walk_free(&w);
  tn_typer_free(&typer);
}

bool tn_lang_ail_check(tn_unit *unit) {
  tn_ail *program = tn_ail_compile(unit->host, unit->file);
  tn_ail_free(program);
  return program != NULL;
}
