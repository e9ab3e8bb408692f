/* api/host.c: the services that front ends may use.
 *
 * A program reaches everything outside its own text through these functions, so this file is the
 * complete list: computing, printing, the clock, files. */
#include <string.h>

#include "api/internal.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "plan/plan.h"

void tn_api_begin(tern_session *session) {
  if (!session->serves) tn_stop_begin(&session->stop); /* a server handles its stop itself */
  if (!session->serves && !session->clock_runs) tn_stop_limit(&session->stop, session->max_seconds);
  session->heap.failed = session->heap.stopped = false;
  tn_stack_find(&session->heap.stack);
  tn_diags_clear(&session->diags);
  tn_text_clear(&session->printed);
  session->printed_count = 0;
}

/* Compiling has no central loop that could check for a stop, but all of it allocates. */
void tn_api_begin_compiling(tern_session *session) {
  tn_api_begin(session);
  session->heap.stop_refuses = true;
  session->heap.stopped = false;
}

void tn_api_end_compiling(tern_session *session) { session->heap.stop_refuses = false; }

/* ---- computing ---- */

#define COPY_PIECE ((int64_t)1 << 22) /* elements between two checks for a stop */

/* recursion: an axis of a view is halved, so at most the logarithm of TN_ELEMENT_LIMIT deep. */
static bool copy_pieces(tn_stop *stop, const tn_view *to, const tn_view *from) {
  int axis = 0;
  if (tn_stop_asked(stop)) return false;
  while (axis < from->rank && from->dim[axis] < 2) axis++;
  if (axis == from->rank || tn_view_count(from) <= COPY_PIECE) {
    tn_view_copy(to, from);
    return true;
  }
  int64_t half = from->dim[axis] / 2, rest = from->dim[axis] - half;
  for (int i = 0; i < 2; i++) {
    int64_t start = i ? half : 0, count = i ? rest : half;
    tn_view part = tn_view_slice(to, axis, start, 1, count),
            source = tn_view_slice(from, axis, start, 1, count);
    if (!copy_pieces(stop, &part, &source)) return false;
  }
  return true;
}

/* An output may be one repeated number: copying it takes as long as computing it. */
static bool copy_output(tern_session *session, const tn_view *from, tn_tensor *out, tn_fault *fault) {
  tn_shape shape = tn_view_shape(from);
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  if (!tn_tensor_new(&session->heap, from->dtype, &shape, out)) return false;
  if (copy_pieces(&session->stop, &out->view, from)) return true;
  fault->kind = TN_FAULT_INTERRUPTED;
  tn_tensor_unref(out);
  return false;
}

static bool run_once(tern_session *session, const tn_graph *graph, const tn_view *inputs,
                     const tn_view *params, tn_tensor *outputs, tn_fault *fault) {
  tn_plan_options options = { .threads = session->threads };
  options.backend = tn_plan_backend(session->device, graph, session->threads, 1);
  tn_plan *plan = tn_plan_new(&session->heap, graph, &options, fault);
  if (!plan) return false;
  for (size_t i = 0; i < graph->inputs.count; i++) tn_plan_bind_input(plan, (int)i, &inputs[i]);
  for (size_t i = 0; i < graph->params.count; i++) tn_plan_bind_param(plan, (int)i, &params[i]);
  if (session->host.effects) tn_plan_set_effects(plan, session->host.effects);
  bool ok = tn_plan_run(plan, fault);
  size_t made = 0;
  for (; ok && made < graph->outputs.count; made++) {
    tn_view view = tn_plan_output(plan, (int)made);
    ok = copy_output(session, &view, &outputs[made], fault);
    if (!ok) break;
  }
  for (size_t i = 0; !ok && i < made; i++) tn_tensor_unref(&outputs[i]);
  tn_plan_free(plan);
  return ok;
}

bool tn_api_compute(tern_session *session, const tn_graph *graph, const tn_view *inputs,
                    const tn_view *params, tn_tensor *outputs, tn_fault *fault) {
  tn_graph copy;
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  if (!tn_graph_copy(graph, &copy)) return false;
  bool ok = tn_opt_run(&copy, session->passes, &session->evaluator) &&
            run_once(session, &copy, inputs, params, outputs, fault);
  tn_graph_free(&copy);
  return ok;
}

static bool compute(tn_host *host, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                    tn_tensor *outputs, tn_fault *fault) {
  return tn_api_compute(host->context, graph, inputs, params, outputs, fault);
}

static tn_plan *plan(tn_host *host, tn_graph *graph, tn_fault *fault) {
  tern_session *session = host->context;
  tn_plan_options options = { .threads = session->threads };
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  if (!tn_opt_run(graph, session->passes, &session->evaluator)) return NULL;
  options.backend = tn_plan_backend(session->device, graph, session->threads, 1);
  return tn_plan_new(&session->heap, graph, &options, fault);
}

static void bind(tn_host *host, tn_plan *plan, const tn_lowered *values) {
  (void)host;
  for (size_t i = 0; i < values->input_count; i++) tn_plan_bind_input(plan, (int)i, &values->inputs[i].view);
  for (size_t i = 0; i < values->param_count; i++) tn_plan_bind_param(plan, (int)i, &values->params[i].view);
}

static bool run(tn_host *host, tn_plan *plan, tn_fault *fault) {
  (void)host;
  return tn_plan_run(plan, fault);
}

static tn_view result(tn_host *host, const tn_plan *plan, int output) {
  (void)host;
  return tn_plan_output(plan, output);
}

static void print_plan(tn_host *host, const tn_plan *plan, tn_text *out) {
  const tern_session *session = host->context;
  tn_plan_print(plan, out);
  if (session->device->card && !tn_plan_is_on_card(plan))
    tn_text_puts(out, "device cpu: the work is too small to be worth a GPU's start\n");
}

static void unplan(tn_host *host, tn_plan *plan) {
  (void)host;
  tn_plan_free(plan);
}

static bool convert(tn_host *host, const tn_given *given, tn_dtype dtype, tn_tensor *out) {
  return tn_api_convert(host->context, given, dtype, out);
}

/* ---- printing, time, files ---- */

static void print(tn_host *host, tn_str line) {
  tern_session *session = host->context;
  if (session->sink) {
    session->sink(session->sink_context, line.at, line.len);
    return;
  }
  if (session->printed_count++ > 0) tn_text_byte(&session->printed, ',');
  tn_json_writer json = tn_json_writer_on(&session->printed);
  tn_json_string(&json, line);
}

static bool report_fault(tn_host *host, const tn_fault *fault) {
  return tn_api_report_fault(host->context, fault);
}

static double now(tn_host *host) {
  (void)host;
  return tn_clock_of_day();
}

static bool seal(tn_host *host, const tn_str *opened, size_t count) {
  return tn_api_seal(host->context, opened, count);
}

/* What was read, copied into the arena. */
static bool keep_text(tern_session *session, tn_file_status status, tn_file_bytes *bytes, tn_arena *arena,
                      tn_str *out, const char **problem) {
  if (status == TN_FILE_OK) {
    *out = tn_arena_str(arena, (tn_str){ bytes->at, bytes->len });
    tn_file_release(&session->heap, bytes);
    if (arena->failed) status = TN_FILE_NO_MEMORY;
  }
  *problem = status == TN_FILE_OK ? NULL : tn_file_status_word(status);
  return status == TN_FILE_OK;
}

/* Whether it can be read at all; *status is then TN_FILE_OK. */
static bool is_path(tn_str path, const tn_arena *arena, tn_file_status *status) {
  bool cut = path.len > 0 && memchr(path.at, 0, path.len) != NULL; /* one without bytes has no address */
  *status = arena->failed ? TN_FILE_NO_MEMORY : cut ? TN_FILE_NOT_FOUND : TN_FILE_OK;
  return *status == TN_FILE_OK;
}

static bool read_path(tn_host *host, tn_str path, bool resolved, tn_arena *arena, tn_str *out,
                      const char **problem) {
  tern_session *session = host->context;
  tn_str terminated = tn_host_path(host, path, arena);
  tn_file_bytes bytes;
  tn_file_status status;
  if (is_path(path, arena, &status))
    status = (resolved ? tn_file_read_resolved : tn_file_read)(&session->heap, terminated.at, TN_SOURCE_LIMIT,
                                                               NULL, &bytes);
  return keep_text(session, status, &bytes, arena, out, problem);
}

static bool read_file(tn_host *host, tn_str path, tn_arena *arena, tn_str *out, const char **problem) {
  return read_path(host, path, tn_host_resolves(host), arena, out, problem);
}

static bool read_program(tn_host *host, tn_str path, tn_arena *arena, tn_str *out, const char **problem) {
  tn_str terminated = tn_arena_str(arena, path);
  tn_file_status status;
  if (is_path(path, arena, &status) && !tn_api_leads_to_program(host->context, terminated.at)) {
    *problem = TN_API_FOREIGN_LINK;
    return false;
  }
  return read_path(host, path, false, arena, out, problem);
}

static bool read_module(tn_host *host, tn_str root, tn_str path, tn_arena *arena, tn_str *out,
                        const char **problem) {
  tern_session *session = host->context;
  tn_str folder = tn_arena_str(arena, root), terminated = tn_arena_str(arena, path);
  tn_file_bytes bytes;
  tn_file_status status;
  if (is_path(path, arena, &status) && is_path(root, arena, &status))
    status = tn_file_read_beneath(&session->heap, folder.at, terminated.at, TN_SOURCE_LIMIT, NULL, &bytes);
  return keep_text(session, status, &bytes, arena, out, problem);
}

void tn_api_host_init(tern_session *session) {
  session->host = (tn_host){
    .heap = &session->heap,
    .names = session->names,
    .sources = &session->sources,
    .diags = &session->diags,
    .context = session,
    .compute = compute,
    .plan = plan,
    .bind = bind,
    .run = run,
    .result = result,
    .print_plan = print_plan,
    .unplan = unplan,
    .convert = convert,
    .seal = seal,
    .print = print,
    .report_fault = report_fault,
    .now = now,
    .read_file = read_file,
    .read_program = read_program,
    .read_module = read_module,
  };
}
