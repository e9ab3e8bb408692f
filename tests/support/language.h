/* What the tests of a language share: a session whose host computes with the reference kernels. */
#ifndef TESTS_SUPPORT_LANGUAGE_H
#define TESTS_SUPPORT_LANGUAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "lang/lang.h"
#include "plan/plan.h"

typedef struct {
  tn_heap heap;
  tn_names *names;
  tn_sources sources;
  tn_diags diags;
  tn_host host;
  tn_arena arena;
  tn_outcome outcome;
  int computed, printed, clock_read; /* how often */
} language_session;

static bool language_run_plan(tn_host *host, tn_plan *plan, const tn_graph *graph, tn_tensor *outputs,
                              tn_fault *fault) {
  size_t made = 0;
  if (!tn_plan_run(plan, fault)) return false;
  for (; made < graph->outputs.count; made++) {
    tn_view view = tn_plan_output(plan, (int)made);
    if (!tn_tensor_copy(host->heap, &view, &outputs[made])) break;
  }
  if (made == graph->outputs.count) return true;
  while (made > 0) tn_tensor_unref(&outputs[--made]);
  *fault = (tn_fault){ .kind = TN_FAULT_MEMORY };
  return false;
}

static bool language_compute(tn_host *host, const tn_graph *graph, const tn_view *inputs,
                             const tn_view *params, tn_tensor *outputs, tn_fault *fault) {
  tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1 };
  tn_plan *plan = tn_plan_new(host->heap, graph, &options, fault);
  if (!plan) return false;
  ((language_session *)host->context)->computed++;
  for (size_t i = 0; i < graph->inputs.count; i++) tn_plan_bind_input(plan, (int)i, &inputs[i]);
  for (size_t i = 0; i < graph->params.count; i++) tn_plan_bind_param(plan, (int)i, &params[i]);
  if (host->effects) tn_plan_set_effects(plan, host->effects);
  bool ok = language_run_plan(host, plan, graph, outputs, fault);
  tn_plan_free(plan);
  return ok;
}

/* Tests give values in the dtype that is wanted. */
static bool language_convert(tn_host *host, const tn_given *given, tn_dtype dtype, tn_tensor *out) {
  assert_int_equal(given->data.view.dtype, dtype);
  return tn_tensor_copy(host->heap, &given->data.view, out);
}

static void language_print(tn_host *host, tn_str line) {
  (void)line;
  ((language_session *)host->context)->printed++;
}

static double language_now(tn_host *host) {
  ((language_session *)host->context)->clock_read++;
  return 1000;
}

/* There are two files: notes.txt and lib/math.mind. */
static bool language_read_file(tn_host *host, tn_str path, tn_arena *arena, tn_str *out,
                               const char **problem) {
  (void)host;
  *problem = "not_found";
  if (tn_str_is(path, "lib/math.mind"))
    *out = tn_arena_str(arena, TN_LIT("let k = 2.0\nfn twice(x: f64) -> f64 = x * k\nexport { twice }\n"));
  else if (tn_str_is(path, "notes.txt"))
    *out = tn_arena_str(arena, TN_LIT("buy milk\n"));
  else
    return false;
  *problem = arena->failed ? "out_of_memory" : NULL;
  return !arena->failed;
}

static bool language_read_module(tn_host *host, tn_str root, tn_str path, tn_arena *arena, tn_str *out,
                                 const char **problem) {
  (void)root;
  return language_read_file(host, path, arena, out, problem);
}

/* Requests for memory are counted from here: heap.fail_at may be set before. */
static bool language_open(language_session *s, uint32_t capabilities) {
  s->names = tn_names_new(&s->heap);
  tn_sources_init(&s->sources, &s->heap);
  tn_diags_init(&s->diags, &s->heap, &s->sources);
  tn_arena_init(&s->arena, &s->heap);
  s->host = (tn_host){ .heap = &s->heap,
                       .names = s->names,
                       .sources = &s->sources,
                       .diags = &s->diags,
                       .seed = 42,
                       .capabilities = capabilities,
                       .context = s,
                       .compute = language_compute,
                       .convert = language_convert,
                       .print = language_print,
                       .now = language_now,
                       .read_file = language_read_file,
                       .read_program = language_read_file,
                       .read_module = language_read_module };
  return s->names != NULL;
}

static void language_close(language_session *s) {
  for (size_t i = 0; i < s->outcome.count; i++) tn_datum_release(&s->outcome.values[i]);
  tn_arena_free(&s->arena);
  tn_diags_free(&s->diags);
  tn_sources_free(&s->sources);
  if (s->names) tn_names_free(s->names);
}
#endif
