/* lang/ail/lower.c: lowers a program with known lengths to a graph. */
#include "lang/ail/doors.h"
#include "lang/ail/lower.h"

/* ---- driving the walk ---- */

/* The key of dropout masks follows the program's own inputs. */
static void make_key(tn_ail_walk *w) {
  tn_name name = tn_names_intern(w->program->host->names, TN_LIT(TN_DROPOUT_KEY));
  tn_type type = { .dtype = TN_I64 };
  w->key = name ? tn_build_input(w->builder, name, &type) : TN_ERROR_VALUE;
  if (w->key == TN_ERROR_VALUE) w->failed = w->program->arena.failed = true;
}

bool tn_ail_lowering_begin(tn_ail_lowering *l, tn_ail *program, const tn_sizes *sizes, tn_lower_mode mode) {
  tn_host *host = program->host;
  *l = (tn_ail_lowering){ .program = program };
  if (!tn_graph_init(&l->graph, host->heap, host->names)) return false;
  tn_graph_builder_init(&l->builder, &l->graph);
  tn_ail_walk_init(&l->walk, program, &l->builder.base);
  l->walk.sizes = sizes;
  l->walk.unnamed = sizes == NULL;
  l->walk.replays = sizes != NULL;
  tn_ail_walk_specs(&l->walk);
  if (mode == TN_LOWER_TRAINING && program->uses_dropout) make_key(&l->walk);
  return true;
}

/* The graph belongs to the caller on success, and is freed otherwise. Evaluation is lazy: the
 * position of a binding does not matter. */
bool tn_ail_lowering_end(tn_ail_lowering *l, tn_graph *out) {
  tn_ail *program = l->program;
  bool memory = l->graph.failed || program->arena.failed;
  bool ok = !l->walk.failed && !memory;
  bool shown = l->walk.outline != NULL; /* to be looked at as it was made, and by those numbers */
  if (ok && !shown && !tn_graph_sink(&l->graph)) ok = false, memory = true;
  tn_ail_walk_free(&l->walk);
  if (ok) {
    *out = l->graph;
    return true;
  }
  tn_graph_free(&l->graph);
  if (memory && program->host->diags->errors == l->errors) {
    tn_ail_out_of_memory(program);
  }
  return false;
}

/* ---- outputs ---- */

static int add_output(tn_ail_lowering *l, const char *name, tn_name given, tn_value value) {
  tn_name named = given ? given : tn_names_intern(l->program->host->names, tn_str_of(name));
  if (value == TN_ERROR_VALUE) return -1;
  if (!tn_graph_output(&l->graph, named, value)) return -1;
  return (int)l->graph.outputs.count - 1;
}

int tn_ail_lowering_output(tn_ail_lowering *l, const tn_ail_operand *operand, tn_name name) {
  return add_output(l, "output", name, tn_ail_as_value(&l->walk, operand, l->program->main->keyword_at));
}

static void add_loss(tn_ail_lowering *l, const tn_ail_operand *output, tn_lowered *out) {
  tn_ail_walk *w = &l->walk;
  w->logits = w->logits ? w->logits : TN_ERROR_VALUE;
  tn_ail_operand loss = tn_ail_walk_loss(w);
  tn_ail_site site = { .function = "loss" };
  out->loss = add_output(l, "loss", 0, tn_ail_as_tensor(w, &loss, &site, w->program->train.at));
  tn_value logits = w->logits;
  out->classifies = logits != TN_ERROR_VALUE;
  if (logits == TN_ERROR_VALUE && !output->wrong) logits = tn_ail_as_value(w, output, w->program->train.at);
  out->logits = add_output(l, "logits", out->classifies ? 0 : l->program->output_name, logits);
}

bool tn_ail_lower(const tn_ail *constant, const tn_sizes *sizes, tn_lower_mode mode, tn_lowered *out) {
  tn_ail *program = (tn_ail *)(uintptr_t)constant; /* the walk marks functions it has seen */
  tn_ail_lowering l;
  size_t errors = program->host->diags->errors;
  if (!tn_ail_lowering_begin(&l, program, sizes, mode)) {
    return tn_ail_out_of_memory(program);
  }
  l.errors = errors;
  tn_ail_operand output = tn_ail_walk_main(&l.walk);
  add_loss(&l, &output, out);
  return out->has_graph = tn_ail_lowering_end(&l, &out->graph);
}

/* ---- pipelines ---- */

/* A map gives back the dtype it was given, so that the next stage and the model find what they expect. */
static tn_value stage_result(tn_ail_walk *w, const tn_dataset_stage *stage, const tn_ail_operand *result,
                             tn_dtype dtype) {
  if (stage->kind == TN_STAGE_FILTER && !result->wrong && tn_shape_count(tn_ail_shape_of(w, result)) != 1) {
    const tn_ail *program = w->program;
    tn_ail_say(w, TN_DIAG_E_DATASET_FILTER_NOT_BOOLEAN, stage->at,
               TN_TEXT("function_name", tn_ail_text_of(program, stage->function)), TN_STR("stage", "filter"),
               TN_TEXT("dataset_path", program->dataset.path));
    return TN_ERROR_VALUE;
  }
  if (stage->kind == TN_STAGE_FILTER) {
    tn_ail_operand truth = tn_ail_as_condition(w, result, stage->at);
    return tn_ail_as_value(w, &truth, stage->at);
  }
  tn_ail_site site = { .at = stage->at, .function = "map" };
  tn_value value = tn_ail_as_tensor(w, result, &site, stage->at);
  return value == TN_ERROR_VALUE ? value : tn_build_cast(w->builder, value, dtype);
}

tn_data_kind tn_ail_stage_column(const tn_ail *program, const tn_dataset_stage *stage) {
  int input = program->dataset.features_input;
  if (stage->on_labels) return TN_DATA_LABELS;
  return input >= 0 && program->inputs[input].kind == TN_DATA_TENSOR ? TN_DATA_TENSOR : TN_DATA_TOKEN_IDS;
}

bool tn_ail_lower_stage(const tn_ail *constant, size_t index, const tn_shape *row, tn_graph *out) {
  tn_ail *program = (tn_ail *)(uintptr_t)constant;
  const tn_dataset_stage *stage = &program->dataset.stages[index];
  tn_host *host = program->host;
  tn_ail_lowering l = { .program = program, .errors = host->diags->errors };
  tn_data_kind kind = tn_ail_stage_column(program, stage);
  tn_type type = { tn_data_kind_dtype(kind), *row };
  if (!tn_graph_init(&l.graph, host->heap, host->names)) {
    return tn_ail_out_of_memory(program);
  }
  tn_graph_builder_init(&l.builder, &l.graph);
  tn_ail_walk_init(&l.walk, program, &l.builder.base);
  tn_sizes none = { 0 };
  l.walk.sizes = &none;
  l.builder.base.at = stage->at;
  tn_name name = stage->on_labels ? program->known.labels : program->known.tokens;
  tn_ail_operand argument = tn_ail_of_value(kind, tn_build_input(&l.builder.base, name, &type));
  if (!tn_vec_push(host->heap, &l.walk.stack, argument)) program->arena.failed = true;
  const tn_ail_fn *fn = tn_ail_find_fn(program, stage->function);
  if (!program->arena.failed && fn) {
    tn_ail_operand result = tn_ail_walk_call(&l.walk, fn, 0);
    add_output(&l, stage->kind == TN_STAGE_MAP ? "map" : "filter", 0,
               stage_result(&l.walk, stage, &result, type.dtype));
  }
  return tn_ail_lowering_end(&l, out);
}

/* ---- faults of a run ---- */

/* A call's text begins with the name of its function. */
tn_str tn_ail_called(const tn_ail *program, tn_op op, tn_span at) {
  tn_str text = tn_span_text(program->host->sources, at);
  size_t len = 0;
  while (len < text.len && (text.at[len] == '_' || (text.at[len] >= '0' && text.at[len] <= '9') ||
                            ((text.at[len] | 0x20) >= 'a' && (text.at[len] | 0x20) <= 'z'))) {
    len++;
  }
  if (op == TN_OP_CROSS_ENTROPY) return TN_LIT("cross_entropy");
  bool call = len > 0 && len < text.len && text.at[len] == '(';
  return call ? (tn_str){ text.at, len } : tn_str_of(tn_op_sig_of(op)->name);
}

bool tn_ail_report_fault(const tn_ail *program, const tn_fault *fault) {
  if (fault->kind != TN_FAULT_BOUNDS) return tn_ail_report_plain_fault(program, fault);
  return tn_report(program->host->diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, fault->at,
                   TN_TEXT("function", tn_ail_called(program, fault->op, fault->at)),
                   TN_INT("index", fault->got), TN_INT("limit", fault->expected));
}

/* ---- the door ---- */

static bool take_inputs(const tn_ail *program, tn_tensor *inputs) {
  for (size_t i = 0; i < program->input_count; i++) {
    if (!tn_ail_given(program, i))
      return tn_host_usage(program->host, "input ", tn_ail_text_of(program, program->inputs[i].name),
                           " has no value; a step is trained on what is given");
    if (!tn_ail_supplied(program, i, &inputs[i])) return false;
  }
  return true;
}

/* They outlive the program. */
static void take_options(const tn_ail *program, tn_lowered *out) {
  out->has_options = true;
  out->options = program->train.options;
  out->options.shards = 1;
  if (!out->options.exempt) return;
  for (size_t i = 0; i < program->param_count; i++) out->exempt[i] = out->options.exempt[i];
  out->options.exempt = out->exempt;
}

static bool lower_given(tn_ail *program, tn_arena *arena, tn_lowered *out) {
  tn_size_request request = { 0 };
  tn_sizes sizes;
  take_options(program, out);
  return tn_ail_require_loss(program) && tn_ail_seal(program) &&
         tn_ail_size(program, &request, arena, &sizes) && take_inputs(program, out->inputs) &&
         tn_ail_init_params(program, &sizes, out->params) &&
         tn_ail_lower(program, &sizes, TN_LOWER_TRAINING, out) && tn_ail_allow(program, &out->graph);
}

bool tn_lang_ail_lower(tn_unit *unit, const char *loss, tn_lowered *out) {
  tn_host *host = unit->host;
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  tn_arena arena;
  tn_arena_init(&arena, host->heap);
  /* One more input: the key of dropout, which a training sets. */
  bool room = tn_lowered_init(out, host->heap, program->input_count + 1, program->param_count);
  bool ok = loss   ? tn_host_usage(host, "", TN_LIT("the train block"), " of an .ail program names its loss")
            : room ? lower_given(program, &arena, out)
                   : tn_ail_out_of_memory(program);
  if (room && !ok) tn_lowered_free(out, host->heap);
  tn_arena_free(&arena);
  tn_ail_free(program);
  return ok;
}
