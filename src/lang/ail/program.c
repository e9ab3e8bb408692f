/* lang/ail/program.c: a compilation from text to a program without errors. */
#include <string.h>

#include "lang/ail/internal.h"

/* ---- names ---- */

static bool intern_known(tn_ail *program) {
  const struct {
    tn_name *place;
    const char *text;
  } known[] = {
    { &program->known.tokens, "tokens" },
    { &program->known.labels, "labels" },
    { &program->known.label, "label" },
    { &program->known.logits, "logits" },
    { &program->known.loss, "loss" },
    { &program->known.y, "y" },
    { &program->known.b, "B" },
    { &program->known.start, "start" },
    { &program->known.input, "input" },
    { &program->known.tick, "tick" },
    { &program->known.initialized, "initialized" },
    { &program->known.result, "result" },
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    *known[i].place = tn_names_intern(program->host->names, tn_str_of(known[i].text));
    if (*known[i].place == 0) return false;
  }
  return true;
}

/* ---- making and freeing ---- */

static tn_ail *new_program(tn_host *host, uint32_t file) {
  tn_ail *program = tn_heap_alloc(host->heap, sizeof *program);
  if (!program) return NULL;
  program->host = host;
  program->file = file;
  tn_arena_init(&program->arena, host->heap);
  tn_map *const maps[] = { &program->consts, &program->functions, &program->builtins,     &program->specs,
                           &program->numbered,
                           &program->dims,   &program->var_index, &program->handler_index,
                           &program->read_paths, &program->shape_index };
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) tn_map_init(maps[i], host->heap);
  tn_map_init(&program->tree.marks, host->heap);
  program->effects = tn_ail_effects(program);
  return program;
}

void tn_ail_free(tn_ail *program) {
  if (!program) return;
  tn_heap *heap = program->host->heap;
  tn_map_free(&program->tree.marks);
  tn_map_free(&program->consts);
  tn_map_free(&program->functions);
  tn_map_free(&program->numbered);
  tn_vec_free(heap, &program->uses);
  tn_map_free(&program->builtins);
  tn_map_free(&program->specs);
  tn_map_free(&program->dims);
  tn_map_free(&program->var_index);
  tn_map_free(&program->handler_index);
  tn_map_free(&program->read_paths);
  tn_vec_free(heap, &program->embedding_rows);
  tn_vec_free(heap, &program->gather_rows);
  tn_vec_free(heap, &program->classes);
  tn_map_free(&program->shape_index);
  tn_vec_free(heap, &program->named_shapes);
  tn_vec_free(heap, &program->sites);
  tn_arena_free(&program->arena);
  tn_heap_free(heap, program, sizeof *program);
}

/* ---- compiling ---- */

bool tn_ail_report_plain_fault(const tn_ail *program, const tn_fault *fault) {
  return tn_host_fault(program->host, fault);
}

bool tn_ail_out_of_memory(const tn_ail *program) { return tn_host_out_of_memory(program->host); }

/* A text that the parser gave up on is not checked: reports about its rest would be guesses. */
static bool check(tn_ail *program) {
  if (program->tree.lost) return false;
  if (!tn_ail_apply_settings(program)) return tn_ail_out_of_memory(program);
  if (!tn_ail_collect(program)) return tn_ail_out_of_memory(program);
  tn_ail_check_rules(program);
  tn_ail_check_blocks(program);
  if (program->state_machine) tn_ail_check_state_machine(program);
  tn_ail_check_app(program);
  if (!program->arena.failed) tn_ail_check_values(program);
  return !program->arena.failed || tn_ail_out_of_memory(program);
}

tn_ail *tn_ail_compile(tn_host *host, uint32_t file) {
  size_t errors = host->diags->errors;
  tn_ail *program = new_program(host, file);
  if (!program) {
    tn_fault fault = { .kind = TN_FAULT_MEMORY };
    if (host->report_fault)
      host->report_fault(host, &fault);
    else
      tn_fault_report(&fault, host->names, host->diags);
    return NULL;
  }
  bool ok = intern_known(program) && tn_ail_parse(host, file, &program->arena, NULL, &program->tree);
  ok = ok ? check(program) : tn_ail_out_of_memory(program);
  if (ok && host->diags->errors == errors) {
    tn_diags_enter(host->diags, TN_PHASE_RUN);
    return program;
  }
  tn_ail_free(program);
  return NULL;
}

/* ---- what it declares ---- */

int tn_ail_input_named(const tn_ail *program, const char *name) {
  tn_name found = tn_names_find(program->host->names, tn_str_of(name));
  for (size_t i = 0; i < program->input_count; i++) {
    if (program->inputs[i].name == found) return (int)i;
  }
  return -1;
}

bool tn_ail_require_loss(const tn_ail *program) {
  if (program->train_fields) return true;
  tn_span at = program->main ? program->main->keyword_at : TN_NOWHERE;
  return tn_report(program->host->diags, TN_DIAG_E_TRAIN_REQUIRES_LOSS, at, TN_STR("block", "train"));
}
