/* lang/mind/emit.c: programs as graphs, for others to read.
 *
 * Lowering evaluates a program with every scalar as a node and every `if` as two
 * regions; literals alone are folded, as the draft has it. What comes out is the
 * module's value as outputs of one graph. For MLIR, functions follow whose types
 * say enough: they are evaluated with inputs in place of arguments. A function
 * that calls itself, or whose shapes follow from numbers, is not a graph and is left
 * out.
 *
 * What a function reads of its module is a number, not the history of one: a
 * network that was trained has its weights, not the steps that led to them. */
#include "lang/mind/emit.h"
#include "export/mlir.h"
#include "lang/mind/doors.h"

/* ---- outputs ---- */

static bool add_output(tn_mind_lowering_state *s, tn_name name, const tn_mind_value *value) {
  tn_heap *heap = s->e.host->heap;
  if (tn_mind_is_plain(value)) {
    tn_value node = tn_mind_node_of(&s->e, value, tn_mind_value_type(&s->e, value).dtype, TN_NOWHERE);
    tn_output output = { name, node };
    if (!node) return false;
    bool kept = tn_vec_push(heap, &s->outputs, output) &&
                tn_vec_push(heap, &s->scalars, value->kind == TN_MIND_V_SCALAR);
    return kept || tn_mind_out_of_memory(s->e.mind);
  }
  bool items = tn_mind_has_items(value);
  if (items && !tn_mind_room(s->e.mind)) return tn_mind_out_of_memory(s->e.mind);
  for (uint32_t i = 0; items && i < value->count; i++) {
    if (!add_output(s, value->kind == TN_MIND_V_GRAD ? value->names[i] : 0, &value->items[i])) return false;
  }
  return true;
}

static void forget_outputs(tn_mind_lowering_state *s) {
  s->outputs.count = 0;
  s->scalars.count = 0;
}

static bool verified(tn_mind_lowering_state *s, const tn_graph *graph) {
  tn_value where;
  const char *wrong = tn_graph_verify(graph, &where);
  if (!wrong) return true;
  return tn_report(s->e.host->diags, TN_DIAG_E3001, tn_graph_node(graph, where)->at,
                   TN_STR("message", wrong));
}

/* The outputs that were added, as a graph that has been checked. */
static bool take_graph(tn_mind_lowering_state *s, const tn_mind_extract *what, tn_graph *out) {
  if (!tn_mind_trace_extract(&s->trace, what, out)) return tn_mind_out_of_memory(s->e.mind);
  if (verified(s, out)) return true;
  tn_graph_free(out);
  return false;
}

/* ---- the module ---- */

void tn_mind_lowering_init(tn_mind_lowering_state *s, tn_mind *mind) {
  *s = (tn_mind_lowering_state){ 0 };
  tn_mind_trace_init(&s->trace, mind->host);
  s->e = (tn_mind_evaluator){ .mind = mind,
                              .host = mind->host,
                              .trace = &s->trace,
                              .arena = mind->arena,
                              .names_scalars = true,
                              .lowers = true };
}

void tn_mind_lowering_free(tn_mind_lowering_state *s) {
  tn_heap *heap = s->e.host->heap;
  tn_vec_free(heap, &s->outputs);
  tn_vec_free(heap, &s->scalars);
  tn_mind_trace_free(&s->trace);
}

/* All outputs, with all of their history. */
static bool take_outputs(tn_mind_lowering_state *s, tn_graph *out) {
  tn_mind_extract what = { .outputs = s->outputs.at, .output_count = s->outputs.count };
  return take_graph(s, &what, out);
}

static bool value_graph(tn_mind_lowering_state *s, const tn_mind_value *value, tn_graph *out) {
  forget_outputs(s);
  return add_output(s, 0, value) && take_outputs(s, out);
}

/* Every float tensor the module has a name for, but not the one that is the value itself. */
static bool variable_wanted(const tn_mind_lowering_state *s, const tn_mind_module *module,
                            const tn_mind_scope *entry, tn_value loss, tn_mind_value **slot) {
  bool visible = entry->binds == TN_MIND_BINDS_VARIABLE && module->newest[entry->name] == entry;
  if (!visible || entry->variable->module != module) return false;
  *slot = &module->frame->slots[entry->variable->slot];
  if ((*slot)->kind != TN_MIND_V_TENSOR || (*slot)->node == loss) return false;
  return tn_dtype_in(tn_graph_type(&s->trace.graph, (*slot)->node)->dtype, TN_FLOATS | TN_STORAGE);
}

static bool is_before(const tn_names *names, tn_name a, tn_name b) {
  return tn_str_compare(tn_names_text(names, a), tn_names_text(names, b)) < 0;
}

/* Names and nodes, sorted by name. */
static size_t gather_variables(tn_mind_lowering_state *s, const tn_mind_module *module, tn_value loss,
                               tn_name *names, tn_value *nodes) {
  size_t count = 0;
  for (const tn_mind_scope *at = module->scope; at; at = at->next) {
    tn_mind_value *slot;
    if (!variable_wanted(s, module, at, loss, &slot)) continue;
    size_t place = count++;
    for (; place > 0 && is_before(s->e.host->names, at->name, names[place - 1]); place--) {
      names[place] = names[place - 1];
      nodes[place] = nodes[place - 1];
    }
    names[place] = at->name;
    nodes[place] = slot->node;
  }
  return count;
}

static bool gradient_graph(tn_mind_lowering_state *s, const tn_mind_module *module,
                           const tn_mind_value *value, tn_span at, tn_graph *out) {
  if (!tn_mind_is_single(&s->e, value, at)) return false;
  tn_value loss = tn_mind_node_of(&s->e, value, tn_mind_value_type(&s->e, value).dtype, at);
  tn_name *names = tn_arena_array(s->e.arena, module->entry_count, sizeof *names);
  tn_value *nodes = tn_arena_array(s->e.arena, module->entry_count, sizeof *nodes);
  tn_value *grads = tn_arena_array(s->e.arena, module->entry_count, sizeof *grads);
  if (!loss) return false;
  if (!names || !nodes || !grads) return tn_mind_out_of_memory(s->e.mind);
  size_t count = gather_variables(s, module, loss, names, nodes);
  if (!tn_mind_gradients(&s->e, &loss, NULL, 1, nodes, (int)count, at, grads)) return false;
  forget_outputs(s);
  for (size_t i = 0; i < count; i++) {
    tn_mind_value grad = tn_mind_tensor_value(grads[i]);
    if (!add_output(s, names[i], &grad)) return false;
  }
  return take_outputs(s, out);
}

/* ---- functions ---- */

/* An argument that is given when the graph runs. */
static bool make_input(tn_mind_lowering_state *s, const tn_mind_function *f, uint32_t index,
                       tn_mind_value *value, tn_value *input) {
  const tn_mind_type *type = f->param_types[index];
  tn_builder *builder = tn_mind_builder(&s->e, TN_NOWHERE);
  tn_type of = { .dtype = type->dtype };
  if (!tn_mind_type_is_value(type) || !builder) return false;
  if (type->kind == TN_MIND_T_TENSOR) of.shape = type->shape;
  const tn_mind_param *params = f->definition ? f->definition->params : f->closure->node->closure.params;
  *input = tn_build_input(builder, params[index].word.name, &of);
  *value = tn_mind_tensor_value(*input);
  if (type->kind == TN_MIND_T_SCALAR) {
    *value = (tn_mind_value){ .kind = TN_MIND_V_SCALAR, .dtype = type->dtype, .node = *input };
  }
  return *input != TN_ERROR_VALUE;
}

typedef enum {
  NO_GRAPH, /* nothing has been reported */
  MADE,
  STOPPED /* reported: memory, an interruption */
} making;

/* How much of what follows from no argument stands as numbers. */
typedef enum {
  FOLD_MODULE, /* what the module computed; the function's own operations are all there */
  FOLD_ALL
} fold_extent;

static bool fold(tn_mind_lowering_state *s, const tn_mind_extract *what, tn_value end) {
  tn_fault fault;
  return tn_mind_trace_fold(&s->trace, what, end, &fault) || tn_mind_eval_fault(&s->e, &fault, NULL);
}

/* The results of `fn`, which takes what `f` takes, for inputs in place of arguments, become the outputs. */
static bool eval_on_inputs(tn_mind_lowering_state *s, const tn_mind_fn *fn, const tn_mind_function *f,
                           tn_value *inputs) {
  tn_mind_value *args = tn_arena_array(s->e.arena, f->param_count, sizeof *args), result;
  bool ok = args && inputs;
  s->e.unknown_inputs = true;
  for (uint32_t i = 0; ok && i < f->param_count; i++) ok = make_input(s, f, i, &args[i], &inputs[i]);
  ok = ok && tn_mind_eval_call_value(&s->e, fn, f, args, f->param_count, TN_NOWHERE, &result);
  s->e.unknown_inputs = false;
  forget_outputs(s);
  return ok && add_output(s, 0, &result) && s->outputs.count > 0;
}

/* A mistake that only the open arguments make, or a recursion that they never end, leaves the function out.
 * Whatever would make the output incomplete without a word is not such a mistake. */
static bool was_stopped(tn_mind_lowering_state *s, tn_diag_mark mark) {
  const tn_diags *diags = s->e.host->diags;
  if (s->e.host->heap->failed) return !tn_mind_out_of_memory(s->e.mind); /* the same report is kept once */
  for (size_t i = mark.kept; i < diags->list.count; i++) {
    switch (diags->list.at[i].code) {
      case TN_DIAG_E_INTERRUPTED:
      case TN_DIAG_E_TIME_LIMIT:
      case TN_DIAG_E_MEMORY_LIMIT:
      case TN_DIAG_E_OUT_OF_MEMORY:
      case TN_DIAG_E_LOOP_LIMIT:
      case TN_DIAG_E_TOO_LARGE:
      case TN_DIAG_E_INTERNAL: return true;
      default: break;
    }
  }
  return false;
}

static making function_graph(tn_mind_lowering_state *s, const tn_mind_fn *fn, const tn_mind_function *f,
                             fold_extent folds, tn_graph *out) {
  tn_diags *diags = s->e.host->diags;
  tn_diag_mark mark = tn_diags_mark(diags);
  tn_value *inputs = tn_arena_array(s->e.arena, f->param_count, sizeof *inputs);
  size_t before = s->trace.ready ? s->trace.graph.nodes.count : 0;
  bool ok = eval_on_inputs(s, fn, f, inputs);
  tn_mind_extract what = { inputs, f->param_count, s->outputs.at, s->outputs.count, .cut = true };
  if (ok && !fold(s, &what, folds == FOLD_ALL ? TN_NO_VALUE : (tn_value)before)) return STOPPED;
  if (ok && take_graph(s, &what, out)) return MADE;
  if (was_stopped(s, mark)) return STOPPED;
  tn_diags_rewind(diags, mark);
  if (s->trace.ready) tn_build_forget(&s->trace.builder.base);
  return NO_GRAPH;
}

/* ---- MLIR ---- */

typedef struct {
  tn_mind_lowering_state *s;
  tn_vec(tn_mlir_function) functions;
  tn_vec(tn_graph *) graphs;
} module_writer;

static bool *copy_flags(tn_mind_lowering_state *s, const bool *flags, size_t count) {
  return tn_arena_copy(s->e.arena, flags, count * sizeof *flags);
}

/* Takes the graph over. */
static bool add_function_take(module_writer *w, tn_str name, tn_graph *graph, const bool *scalars) {
  tn_heap *heap = w->s->e.host->heap;
  tn_graph *kept = tn_arena_copy(w->s->e.arena, graph, sizeof *graph);
  bool *scalar_outputs = copy_flags(w->s, w->s->scalars.at, w->s->scalars.count);
  tn_mlir_function function = { name, kept, scalars, scalar_outputs };
  if (!kept || !scalar_outputs || !tn_vec_push(heap, &w->graphs, kept)) {
    tn_graph_free(graph);
    return tn_mind_out_of_memory(w->s->e.mind);
  }
  return tn_vec_push(heap, &w->functions, function) || tn_mind_out_of_memory(w->s->e.mind);
}

/* @main is the module, and names that begin with tern_ are taken; so are the names that stand for them. */
static tn_str function_name(tn_mind_lowering_state *s, tn_name name) {
  tn_str text = tn_names_text(s->e.host->names, name), bare = text;
  while (tn_str_starts(bare, "fn_")) bare = (tn_str){ bare.at + 3, bare.len - 3 };
  if (!tn_str_is(bare, "main") && !tn_str_starts(bare, "tern_")) return text;
  tn_text renamed;
  tn_text_init(&renamed, s->e.host->heap);
  tn_text_puts(&renamed, "fn_");
  tn_text_add(&renamed, text);
  return tn_mind_kept_text(s->e.mind, &renamed);
}

static bool can_write(tn_mind_lowering_state *s, const tn_mlir_function *function) {
  tn_text ignored;
  tn_export_problem problem;
  tn_text_init(&ignored, s->e.host->heap);
  bool ok = tn_mlir_write(function, 1, s->e.host->heap, &ignored, &problem);
  tn_text_free(&ignored);
  return ok;
}

/* By parameter: whether it is a scalar. NULL after reporting. */
static bool *scalar_inputs(tn_mind_lowering_state *s, const tn_mind_function *f) {
  bool *scalars = tn_arena_array(s->e.arena, f->param_count, sizeof *scalars);
  if (!scalars) tn_mind_out_of_memory(s->e.mind);
  for (uint32_t i = 0; scalars && i < f->param_count; i++)
    scalars[i] = f->param_types[i]->kind == TN_MIND_T_SCALAR;
  return scalars;
}

static bool add_user_function(module_writer *w, tn_mind_function *f) {
  tn_mind_lowering_state *s = w->s;
  tn_graph graph;
  tn_mind_callable callable = { .kind = TN_MIND_C_FUNCTION, .function = f };
  tn_mind_fn fn = { .callable = &callable };
  bool *scalars = scalar_inputs(s, f);
  if (!scalars) return false;
  making made = function_graph(s, &fn, f, FOLD_MODULE, &graph);
  if (made != MADE) return made == NO_GRAPH;
  tn_mlir_function function = { TN_LIT("f"), &graph, scalars, s->scalars.at };
  if (!can_write(s, &function)) {
    tn_graph_free(&graph);
    return !s->e.host->heap->failed || tn_mind_out_of_memory(s->e.mind);
  }
  return add_function_take(w, function_name(s, f->name), &graph, scalars);
}

/* In the order of the text; the newest of a name. */
static bool add_user_functions(module_writer *w, const tn_mind_module *module) {
  for (const tn_mind_node *node = module->unit->block.first; node; node = node->next) {
    if (node->kind != TN_MIND_FN) continue;
    const tn_mind_scope *found = module->newest[node->definition->word.name];
    bool own =
        found && found->binds == TN_MIND_BINDS_FUNCTION && found->function->definition == node->definition;
    if (own && !add_user_function(w, found->function)) return false;
  }
  return true;
}

/* ---- a model ---- */

/* The function of a module's value: f, or of grad(f) and the like the one at the bottom. NULL: it has no
 * types of its own, as a closure that met no type of functions. */
static const tn_mind_function *function_of(const tn_mind_value *value) {
  const tn_mind_fn *fn = value->fn;
  while (fn->inner) fn = fn->inner;
  return fn->callable->kind == TN_MIND_C_FUNCTION ? fn->callable->function : fn->chosen;
}

/* A module whose value is a function is that function. */
static bool model_graph(tn_mind_lowering_state *s, const tn_mind_value *value, tn_span at, fold_extent folds,
                        tn_graph *out) {
  if (value->kind != TN_MIND_V_FN) return value_graph(s, value, out);
  const tn_mind_function *f = function_of(value);
  making made = f ? function_graph(s, value->fn, f, folds, out) : NO_GRAPH;
  if (made != NO_GRAPH) return made == MADE;
  return tn_report(
      s->e.host->diags, TN_DIAG_E_UNSUPPORTED, at,
      TN_STR("feature", "a graph of a function that calls itself, or whose types or sizes are open,"));
}

static bool add_main(module_writer *w, const tn_mind_value *value, tn_span at) {
  const tn_mind_function *f = value->kind == TN_MIND_V_FN ? function_of(value) : NULL;
  bool *scalars = f ? scalar_inputs(w->s, f) : NULL;
  tn_graph graph;
  if (f && !scalars) return false;
  return model_graph(w->s, value, at, FOLD_MODULE, &graph) &&
         add_function_take(w, TN_LIT("main"), &graph, scalars);
}

static bool write_mlir(tn_mind_lowering_state *s, const tn_mind_module *module, const tn_mind_value *value,
                       tn_span at, tn_text *out) {
  tn_heap *heap = s->e.host->heap;
  module_writer w = { .s = s };
  tn_export_problem problem;
  bool ok = add_main(&w, value, at);
  ok = ok && (!module || add_user_functions(&w, module));
  if (ok && !tn_mlir_write(w.functions.at, w.functions.count, heap, out, &problem))
    ok = tn_lang_report_export(s->e.host, &problem);
  for (size_t i = 0; i < w.graphs.count; i++) tn_graph_free(w.graphs.at[i]);
  tn_vec_free(heap, &w.graphs);
  tn_vec_free(heap, &w.functions);
  return ok;
}

/* ---- all forms ---- */

static bool form_graph(tn_mind_lowering_state *s, const tn_mind_module *module, const tn_mind_value *value,
                       tn_span at, tn_emit_kind kind, tn_graph *out) {
  if (kind == TN_EMIT_GRAD) return gradient_graph(s, module, value, at, out);
  return model_graph(s, value, at, FOLD_ALL, out);
}

bool tn_mind_write_form(tn_mind_lowering_state *s, const tn_mind_module *module, const tn_mind_value *value,
                        tn_span at, tn_emit_kind kind, tn_text *out) {
  tn_graph graph;
  if (kind == TN_EMIT_MLIR) return write_mlir(s, module, value, at, out);
  if (!form_graph(s, module, value, at, kind, &graph)) return false;
  tn_export what = { .graph = &graph, .kind = kind, .sources = s->e.host->sources };
  bool ok = tn_lang_write(s->e.host, &what, out);
  tn_graph_free(&graph);
  return ok;
}

bool tn_lang_mind_emit(tn_unit *unit, tn_emit_kind kind, tn_text *out) {
  tn_host *host = unit->host;
  tn_arena arena;
  tn_mind mind;
  tn_mind_lowering_state s;
  tn_mind_value value;
  bool failed = host->heap->failed; /* long ago */
  tn_arena_init(&arena, host->heap);
  tn_mind_init(&mind, host, &arena);
  tn_mind_module *module = tn_mind_load(&mind, unit->file);
  tn_mind_lowering_init(&s, &mind);
  bool ok = module && tn_host_seal(host, NULL, 0) && tn_mind_eval_module(&s.e, module, &value);
  if (ok) {
    const tn_mind_node *last = tn_mind_last(&module->unit->block);
    tn_span at = last ? tn_mind_span(module->unit, last) : TN_NOWHERE;
    ok = tn_mind_write_form(&s, module, &value, at, kind, out);
  }
  if (ok && host->heap->failed && !failed) ok = tn_mind_out_of_memory(&mind); /* a part may be missing */
  tn_mind_lowering_free(&s);
  tn_mind_free(&mind);
  tn_arena_free(&arena);
  return ok;
}
