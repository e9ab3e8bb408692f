/* lang/ail/emit.c: exports the graph of a program.
 *
 * A graph with named dimensions is more informative than one with numbers. But it cannot combine
 * two different names that may turn out equal; a program that does so is shown with the lengths of
 * a bare run, and one with given inputs with their lengths. */
#include "ad/ad.h"
#include "lang/ail/doors.h"
#include "lang/ail/lower.h"

/* ---- gradients ---- */

static tn_name gradient_name(tn_ail *program, tn_name param) {
  tn_text text;
  tn_text_init(&text, program->host->heap);
  tn_text_puts(&text, "d_");
  tn_text_add(&text, tn_ail_text_of(program, param));
  tn_name name = text.failed ? 0 : tn_names_intern(program->host->names, tn_text_str(&text));
  tn_text_free(&text);
  return name;
}

static bool add_gradients(tn_ail_lowering *l, tn_value loss) {
  tn_ail *program = l->program;
  size_t count = program->param_count;
  tn_value *grads = tn_arena_array(&program->arena, count, sizeof *grads);
  if (!grads) return false;
  tn_grad_request request = { .builder = &l->builder,
                              .outputs = &loss,
                              .output_count = 1,
                              .seeds = &(tn_value){ TN_NO_VALUE },
                              .wrt = l->graph.params.at,
                              .wrt_count = (int)count,
                              .policy = TN_AD_LENIENT };
  if (!tn_ad_grad(&request, grads)) {
    l->walk.failed = true;
    return tn_ail_report_plain_fault(program, &l->builder.base.fault);
  }
  for (size_t i = 0; i < count; i++) {
    if (!tn_graph_output(&l->graph, gradient_name(program, program->params[i].name), grads[i])) return false;
  }
  return true;
}

/* The loss, or else an output that is a single number. */
static tn_value loss_value(tn_ail_lowering *l, const tn_ail_operand *output) {
  const tn_ail *program = l->program;
  tn_span at = program->main->keyword_at;
  bool has_loss = program->loss || program->loss_block;
  tn_ail_operand loss = has_loss ? tn_ail_walk_loss(&l->walk) : *output;
  tn_ail_site site = { .at = at, .function = "loss" };
  tn_value value = tn_ail_as_tensor(&l->walk, &loss, &site, at);
  if (value == TN_ERROR_VALUE || tn_build_type(&l->builder.base, value)->shape.rank == 0) return value;
  l->walk.failed = true;
  tn_report(program->host->diags, TN_DIAG_E_TRAIN_REQUIRES_LOSS, at, TN_STR("block", "train"));
  return TN_ERROR_VALUE;
}

static void add_loss(tn_ail_lowering *l, const tn_ail_operand *output) {
  tn_value loss = loss_value(l, output);
  if (loss == TN_ERROR_VALUE || l->walk.failed) return;
  tn_name name = tn_names_intern(l->program->host->names, TN_LIT("loss"));
  bool ok = tn_graph_output(&l->graph, name, loss) && add_gradients(l, loss);
  if (!ok) l->walk.failed = true;
}

/* ---- the graph ---- */

static bool build(tn_ail *program, const tn_sizes *sizes, bool grad, tn_graph *out, bool *stuck) {
  tn_ail_lowering l;
  size_t errors = program->host->diags->errors;
  if (!tn_ail_lowering_begin(&l, program, sizes, grad ? TN_LOWER_TRAINING : TN_LOWER_INFERENCE)) {
    return tn_ail_out_of_memory(program);
  }
  l.errors = errors;
  l.walk.outline = program->host->outline;
  if (l.walk.outline) tn_outline_begin(l.walk.outline, &l.graph);
  tn_ail_operand output = tn_ail_walk_main(&l.walk);
  if (grad)
    add_loss(&l, &output);
  else if (!output.wrong)
    tn_ail_lowering_output(&l, &output, program->output_name);
  *stuck = l.walk.stuck;
  return tn_ail_lowering_end(&l, out);
}

/* The graph that `emit` exports: the model, or with `grad` the loss and its gradients with respect
 * to all parameters. Dimensions keep their names where the program allows it, and get the lengths
 * of a bare run otherwise, or if they must be known (`sized`). For exporters; freed by
 * tn_graph_free. */
static bool build_graph(tn_ail *program, bool grad, bool sized, tn_graph *out) {
  tn_size_request request = { 0 };
  tn_sizes sizes;
  tn_arena arena;
  bool stuck = false;
  tn_diags_enter(program->host->diags, TN_PHASE_CHECK);
  if (!program->main) {
    return tn_report(program->host->diags, TN_DIAG_E_UNSUPPORTED, TN_NOWHERE,
                     TN_STR("feature", "the graph of a program without a model"));
  }
  if (program->host->input_count > 0) sized = true; /* values give names their lengths */
  bool ok = !sized && build(program, NULL, grad, out, &stuck);
  if (ok || !(stuck || sized)) return ok;
  tn_diags_enter(program->host->diags, TN_PHASE_RUN);
  tn_arena_init(&arena, program->host->heap);
  ok = tn_ail_size(program, &request, &arena, &sizes) && build(program, &sizes, grad, out, &stuck);
  tn_arena_free(&arena);
  return ok;
}

/* ---- the door ---- */

/* These forms carry the parameters: those of a run. */
static bool write_model(tn_ail *program, const tn_graph *graph, tn_emit_kind kind, tn_text *out) {
  tn_host *host = program->host;
  tn_export what = { .graph = graph, .kind = kind, .sources = host->sources };
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
    ok = tn_lang_write(host, &what, out);
    for (size_t i = 0; i < program->param_count; i++) tn_tensor_unref(&params[i]);
  }
  tn_arena_free(&arena);
  return ok && made;
}

static bool write_form(tn_ail *program, const tn_graph *graph, tn_emit_kind kind, tn_text *out) {
  tn_export what = {
    .graph = graph, .kind = kind, .sources = program->host->sources, .outline = program->host->outline
  };
  if (kind == TN_EMIT_ONNX || kind == TN_EMIT_NPZ) return write_model(program, graph, kind, out);
  return tn_lang_write(program->host, &what, out);
}

bool tn_lang_ail_emit(tn_unit *unit, tn_emit_kind kind, tn_text *out) {
  tn_host *host = unit->host;
  tn_graph graph;
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  bool values = kind == TN_EMIT_ONNX || kind == TN_EMIT_NPZ;
  bool ok = tn_host_seal(host, NULL, 0) &&
            tn_ail_check_given(program, values ? TN_AIL_TO_EXPORT : TN_AIL_TO_SHOW) &&
            build_graph(program, kind == TN_EMIT_GRAD, kind == TN_EMIT_PLAN, &graph);
  if (ok) {
    ok = write_form(program, &graph, kind, out);
    tn_graph_free(&graph);
  }
  tn_ail_free(program);
  return ok;
}
