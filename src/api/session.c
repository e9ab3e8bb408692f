/* api/session.c: creates sessions: their options, memory and interrupts. */
#include <string.h>
#include <time.h>

#include "api/internal.h"
#include "base/machine.h"

const char *tern_version(void) { return TN_VERSION; }

/* "fold,fuse": the passes that remain without those. */
static bool read_passes(const char *without, tn_pass_set *passes) {
  tn_str rest = tn_str_of(without);
  *passes = TN_PASS_ALL;
  while (rest.len > 0) {
    size_t end = 0;
    while (end < rest.len && rest.at[end] != ',') end++;
    tn_pass_set pass = tn_pass_find((tn_str){ rest.at, end });
    if (pass == 0) return false;
    *passes = (tn_pass_set)(*passes & ~pass);
    if (end < rest.len) end++;
    rest = (tn_str){ rest.at + end, rest.len - end };
  }
  return true;
}

static bool fold_with_ref(void *context, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                          const tn_view *out) {
  tern_session *session = context;
  tn_fault fault = { 0 };
  tn_kernel_call call = { .op = op,
                          .attrs = attrs,
                          .in = in,
                          .count = count,
                          .out = out,
                          .threads = 1,
                          .fault = &fault,
                          .stop = &session->stop };
  const tn_backend *ref = tn_backend_ref();
  if (ref->scratch(ref, op, attrs, in, count, out, 1) > 0) return false;   /* it is executed later */
  return tn_backend_run(ref, &call) && !tn_stop_asked(call.stop);
}

static const tn_backend *find_backend(const char *isa) {
  if (isa && strcmp(isa, "ref") == 0) return tn_backend_ref();
  return tn_backend_cpu(isa);
}

/* More threads than cores gain nothing. */
static int threads_of(const tern_options *options) {
  if (options->threads == 1) return 1; /* without asking the system */
  int cores = options->cores > 0 ? options->cores : tn_machine_cores();
  return options->threads > 0 && options->threads < cores ? options->threads : cores;
}

static bool set_up(tern_session *session, const tern_options *options) {
  tn_stack_find(&session->heap.stack);
  tn_sources_init(&session->sources, &session->heap);
  tn_diags_init(&session->diags, &session->heap, &session->sources);
  tn_text_init(&session->text, &session->heap);
  tn_text_init(&session->shown, &session->heap);
  tn_text_init(&session->printed, &session->heap);
  tn_arena_init(&session->views, &session->heap);
  session->evaluator = (tn_opt_evaluator){ .compute = fold_with_ref, .context = session };
  session->threads = threads_of(options);
  session->heap.pool = tn_pool_new(&session->heap, session->threads);
  if (!session->heap.pool) return false;
  session->names = tn_names_new(&session->heap);
  if (!session->names) return false;
  tn_api_host_init(session);
  session->host.seed = options->has_seed ? options->seed : 42;
  session->host.max_steps = options->max_steps;
  session->host.capabilities = session->everywhere = options->allow;
  session->host.eager = tn_eager_new(&session->heap, session->names, session->backend, session->threads);
  return session->host.eager != NULL;
}

static tern_session *refuse(const char **problem, const char *why) {
  if (problem) *problem = why;
  return NULL;
}

tern_session *tern_session_new(const tern_options *options, const char **problem) {
  static const tern_options usual;
  if (!options) options = &usual;
  tn_pass_set passes;
  if (!read_passes(options->without, &passes))
    return refuse(problem, "the passes are fold, cse, dce, fuse and recompute");
  const tn_backend *backend = find_backend(options->isa);
  if (!backend) return refuse(problem, "this machine or this build does not have that instruction set");
  tn_heap heap = { .ceiling = tn_machine_memory() / 16 * 15,
                   .fail_at = options->fail_allocation };
  tern_session *session = tn_heap_alloc(&heap, sizeof *session);
  if (!session) return refuse(problem, "out of memory");
  session->heap = heap; /* which has counted the session itself */
  session->heap.stop = &session->stop;
  session->backend = session->device = backend;
  session->passes = passes;
  session->max_seconds = options->max_seconds;
  if (!set_up(session, options)) {
    tern_session_free(session);
    return refuse(problem, "out of memory");
  }
  session->heap.limit = (size_t)options->max_memory; /* from here on: a session itself always begins */
  return session;
}

void tern_session_free(tern_session *session) {
  if (!session) return;
  tn_eager_free(session->host.eager);
  tn_api_close_device(session);
  tn_api_sandbox_free(session);
  tn_api_grants_free(session);
  tn_arena_free(&session->views);
  tn_text_free(&session->printed);
  tn_text_free(&session->text);
  tn_text_free(&session->shown);
  tn_diags_free(&session->diags);
  tn_sources_free(&session->sources);
  tn_names_free(session->names);
  tn_pool_free(session->heap.pool);
  tn_heap heap = session->heap;
  tn_heap_free(&heap, session, sizeof *session);
}

void tern_interrupt(tern_session *session) { tn_stop_ask(&session->stop); }

void tern_start_clock(tern_session *session) {
  session->clock_runs = true;
  tn_stop_limit(&session->stop, session->max_seconds);
}

tern_status tern_check_limits(tern_session *session) {
  tn_api_begin(session);
  if (session->heap.limit > 0 && session->heap.used > session->heap.limit)
    tn_report_memory(&session->diags, &session->heap, TN_NOWHERE, NULL);
  else if (session->clock_runs && tn_stop_time_left(&session->stop) == 0)
    tn_api_report_timeout(session);
  return tn_api_status(session);
}

size_t tern_memory_used(const tern_session *session) { return session->heap.used; }

void tn_api_join(tern_session *session, tn_transport *transport) { session->transport = transport; }

int tern_threads(const tern_session *session) { return session ? session->threads : tn_machine_cores(); }

const char *tern_backend(const tern_session *session) {
  return session->backend->isa[0] ? session->backend->isa : session->backend->name;
}

void tern_on_print(tern_session *session, tern_sink sink, void *context) {
  session->sink = sink;
  session->host.shorten = sink != NULL;
  session->sink_context = context;
}

tn_heap *tn_api_heap(tern_session *session) { return &session->heap; }
tn_diags *tn_api_diags(tern_session *session) { return &session->diags; }

tn_text *tn_api_answer(tern_session *session) {
  tn_text_clear(&session->text);
  return &session->text;
}

const char *tn_api_text(tern_session *session) {
  if (session->text.failed) return NULL;
  return session->text.at ? session->text.at : "";
}
