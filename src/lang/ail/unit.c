/* lang/ail/unit.c: what a model declares, and the model with its values for training step by step. */
#include "lang/ail/unit.h"

#include "lang/ail/internal.h"

/* ---- slots ---- */

static const tn_slot *list(const tn_ail *program, const tn_ail_slot *slots, size_t count, tn_arena *arena) {
  tn_slot *list = tn_arena_array(arena, count + 1, sizeof *list);
  for (size_t i = 0; list && i < count; i++)
    list[i] = (tn_slot){ tn_ail_text_of(program, slots[i].name),
                         { tn_ail_kind_dtype(slots[i].kind), slots[i].shape } };
  return list;
}

const tn_slots *tn_ail_unit_slots(tn_unit *unit) {
  tn_ail_unit *self = (tn_ail_unit *)unit;
  if (self->slots.known) return &self->slots;
  tn_ail *program = tn_ail_compile(unit->host, unit->file);
  if (!program) return NULL;
  tn_arena_init(&self->arena, unit->host->heap);
  tn_slots made = { true, list(program, program->inputs, program->input_count, &self->arena),
                    program->input_count, list(program, program->params, program->param_count, &self->arena),
                    program->param_count };
  bool ok = made.inputs && made.params;
  if (ok)
    self->slots = made;
  else
    tn_ail_out_of_memory(program);
  if (!ok) tn_arena_free(&self->arena);
  tn_ail_free(program);
  return ok ? &self->slots : NULL;
}

void tn_ail_unit_drop(tn_unit *unit) {
  tn_ail_unit *self = (tn_ail_unit *)unit;
  if (self->slots.known) tn_arena_free(&self->arena);
}

/* ---- lowering ---- */

static bool take_inputs(const tn_ail *program, const tn_ail_sizes *sizes, tn_tensor *inputs) {
  for (size_t i = 0; i < program->input_count; i++) {
    if (!tn_ail_is_supplied(program, i))
      return tn_host_usage(program->host, "input ", tn_ail_text_of(program, program->inputs[i].name),
                           " has no value; a step is trained on what is given");
    if (!tn_ail_supplied(program, i, sizes, &inputs[i])) return false;
  }
  return true;
}

static bool lower(tn_ail *program, tn_arena *arena, tn_lowered *out) {
  tn_ail_size_request request = { 0 };
  tn_ail_sizes sizes;
  tn_ail_lowered lowered;
  if (!tn_ail_require_loss(program) || !tn_ail_seal(program) ||
      !tn_ail_size(program, &request, arena, &sizes) || !take_inputs(program, &sizes, out->inputs) ||
      !tn_ail_init_params(program, &sizes, out->params) ||
      !tn_ail_lower(program, &sizes, TN_AIL_FOR_TRAIN, &lowered))
    return false;
  out->graph = lowered.graph;
  out->has_graph = true;
  out->loss = lowered.loss;
  return tn_ail_allow(program, &out->graph);
}

bool tn_ail_unit_lower(tn_unit *unit, const char *loss, tn_lowered *out) {
  tn_host *host = unit->host;
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  tn_arena arena;
  tn_arena_init(&arena, host->heap);
  /* One more input: the key of dropout, which a training sets. */
  bool room = tn_lowered_init(out, host->heap, program->input_count + 1, program->param_count);
  bool ok = loss   ? tn_host_usage(host, "", TN_LIT("the train block"), " of an .ail program names its loss")
            : room ? lower(program, &arena, out)
                   : tn_ail_out_of_memory(program);
  if (room && !ok) tn_lowered_free(out, host->heap);
  tn_arena_free(&arena);
  tn_ail_free(program);
  return ok;
}
