/* What the tests of AILang share: a host that computes with the reference kernels. */
#ifndef TESTS_AIL_SUPPORT_H
#define TESTS_AIL_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/backend.h"
#include "lang/ail/ail.h"
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
  int computed; /* how often something was computed */
  int clock_read;
} ail_session;

static bool ail_run_plan(tn_host *host, tn_plan *plan, const tn_graph *graph, tn_tensor *outputs,
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

static bool ail_compute(tn_host *host, const tn_graph *graph, const tn_view *inputs, const tn_view *params,
                        tn_tensor *outputs, tn_fault *fault) {
  tn_plan_options options = { .backend = tn_backend_ref(), .threads = 1 };
  tn_plan *plan = tn_plan_new(host->heap, graph, &options, fault);
  if (!plan) return false;
  ((ail_session *)host->context)->computed++;
  for (size_t i = 0; i < graph->inputs.count; i++) tn_plan_bind_input(plan, (int)i, &inputs[i]);
  for (size_t i = 0; i < graph->params.count; i++) tn_plan_bind_param(plan, (int)i, &params[i]);
  if (host->effects) {
    tn_plan_host effects = { host->effects->context, host->effects->call, host->effects->entering };
    tn_plan_set_host(plan, &effects);
  }
  bool ok = ail_run_plan(host, plan, graph, outputs, fault);
  tn_plan_free(plan);
  return ok;
}

static double ail_now(tn_host *host) {
  ((ail_session *)host->context)->clock_read++;
  return 1000;
}

/* There is one file: notes.txt. */
static bool ail_read_file(tn_host *host, tn_str path, tn_arena *arena, tn_str *out, const char **problem) {
  (void)host;
  *problem = "not_found";
  if (!tn_str_is(path, "notes.txt")) return false;
  *out = tn_arena_str(arena, TN_LIT("buy milk\n"));
  *problem = arena->failed ? "out_of_memory" : NULL;
  return !arena->failed;
}

/* Requests for memory are counted from here: heap.fail_at may be set before. */
static bool ail_open(ail_session *s) {
  s->names = tn_names_new(&s->heap);
  tn_sources_init(&s->sources, &s->heap);
  tn_diags_init(&s->diags, &s->heap, &s->sources);
  tn_arena_init(&s->arena, &s->heap);
  s->host = (tn_host){ .heap = &s->heap,
                       .names = s->names,
                       .sources = &s->sources,
                       .diags = &s->diags,
                       .seed = 42,
                       .context = s,
                       .compute = ail_compute,
                       .now = ail_now,
                       .read_file = ail_read_file };
  return s->names != NULL;
}

static void ail_close(ail_session *s) {
  for (size_t i = 0; i < s->outcome.count; i++) tn_datum_release(&s->outcome.values[i]);
  tn_arena_free(&s->arena);
  tn_diags_free(&s->diags);
  tn_sources_free(&s->sources);
  if (s->names) tn_names_free(s->names);
}

static uint32_t ail_add(ail_session *s, const char *text) {
  return tn_sources_add(&s->sources, TN_LIT("test.ail"), tn_str_of(text));
}

/* How often a code was reported. */
static int ail_reported(const ail_session *s, tn_diag_code code) {
  int count = 0;
  for (size_t i = 0; i < s->diags.list.count; i++) count += s->diags.list.at[i].code == code;
  return count;
}

static inline bool ail_run(ail_session *s, const char *text) {
  uint32_t file = ail_add(s, text);
  return file && tn_lang_ail()->run(&s->host, file, &s->arena, &s->outcome);
}

static inline bool ail_app(ail_session *s, const char *text) {
  uint32_t file = ail_add(s, text);
  return file && tn_lang_ail()->app(&s->host, file, &s->arena, &s->outcome);
}

static inline bool ail_check(ail_session *s, const char *text) {
  uint32_t file = ail_add(s, text);
  return file && tn_lang_ail()->check(&s->host, file);
}

static inline float ail_value(const ail_session *s, int64_t index) {
  return (float)tn_view_get_f64(&s->outcome.values[0].tensor.view, index);
}
#endif
