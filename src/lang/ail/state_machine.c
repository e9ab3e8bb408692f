/* lang/ail/state_machine.c: checks and runs state machines.
 *
 * Entering a state runs its lets and emits; then its transitions are tried in
 * order, `on` against the next event, `if` by its condition. The first event is
 * `start`, then come those of the host. Under `run` all of them are offered at
 * once; under `app` one after another, each when its handler has run, so that a
 * later event never changes what an earlier one did. */
#include "base/json.h"
#include "lang/ail/world.h"

/* ---- checking ---- */

typedef struct {
  tn_ail *program;
  const tn_ail_state_machine *state_machine;
  tn_map states; /* name -> number of the first state of that name */
  bool guessing; /* a target is missing, so what cannot be reached is not certain */
} checker;

static tn_diags *diags_of(const checker *c) { return c->program->host->diags; }
static tn_str text_of(const checker *c, tn_name name) { return tn_ail_text_of(c->program, name); }

static void collect_states(checker *c) {
  for (uint32_t i = 0; i < c->state_machine->count; i++) {
    const tn_ail_state *state = &c->state_machine->states[i];
    if (state->broken) c->guessing = true;
    if (!tn_map_get(&c->states, state->name)) {
      if (!tn_map_put(&c->states, state->name, i)) c->program->arena.failed = true;
      continue;
    }
    tn_report(diags_of(c), TN_DIAG_E_STATE_DUPLICATE, state->name_at,
              TN_TEXT("state_name", text_of(c, state->name)));
  }
}

static bool has_kind(const tn_ail_state *state, tn_ail_transition_kind kind) {
  for (uint32_t i = 0; i < state->transition_count; i++) {
    if (state->transitions[i].kind == kind) return true;
  }
  return false;
}

/* `else` needs an `if` before it and nothing after it; of two that do not go together, the later
 * one is named. */
static void check_order(const checker *c, const tn_ail_state *state) {
  bool conditions = state->broken; /* there may have been one in what was not understood */
  for (uint32_t i = 0; i < state->transition_count; i++) {
    const tn_ail_transition *transition = &state->transitions[i];
    if (transition->kind == TN_AIL_WHEN) conditions = true;
    if (transition->kind != TN_AIL_ELSE) continue;
    bool last = i + 1 == state->transition_count;
    if (last && conditions) return;
    uint32_t offender = last ? i : i + 1;
    tn_report(diags_of(c), TN_DIAG_E_TRANSITION_CONFLICT, state->transitions[offender].at,
              TN_TEXT("state_name", text_of(c, state->name)), TN_INT("transition_index", offender));
    return;
  }
}

static void check_event(const checker *c, const tn_ail_state *state, const tn_ail_transition *transition) {
  const tn_ail_known *known = &c->program->known;
  tn_name event = transition->event;
  if (event == known->start || event == known->input || event == known->tick) return;
  if (tn_map_get(&c->program->handler_index, event)) return;
  const tn_map *const maps[] = { &c->program->handler_index };
  const tn_str events[] = { TN_LIT("start"), TN_LIT("input"), TN_LIT("tick") };
  tn_str meant = tn_str_suggest(text_of(c, event), events, 3);
  if (meant.len == 0) meant = tn_ail_suggest(c->program, event, maps, 1);
  tn_report(diags_of(c), TN_DIAG_E_INVALID_EVENT, transition->event_at,
            TN_TEXT("event_name", text_of(c, event)), TN_TEXT("state_name", text_of(c, state->name)),
            TN_TEXT("suggestion", meant));
}

static bool report_target(const tn_ail *program, const tn_map *states, const tn_ail_state *state,
                          uint32_t index) {
  const tn_ail_transition *transition = &state->transitions[index];
  return tn_report(program->host->diags, TN_DIAG_E_STATE_NOT_FOUND, transition->target_at,
                   TN_TEXT("state_name", tn_ail_text_of(program, state->name)),
                   TN_TEXT("target", tn_ail_text_of(program, transition->target)),
                   TN_INT("transition_index", index),
                   TN_TEXT("suggestion", tn_ail_suggest(program, transition->target,
                                                        (const tn_map *const[]){ states }, 1)));
}

/* A missing target is an error, except after an `on` in a state that can also leave by if and else:
 * there it is reported when the transition is taken. */
static void check_transitions(checker *c, const tn_ail_state *state) {
  bool leaves = has_kind(state, TN_AIL_WHEN) && has_kind(state, TN_AIL_ELSE);
  for (uint32_t i = 0; i < state->transition_count; i++) {
    const tn_ail_transition *transition = &state->transitions[i];
    if (transition->kind == TN_AIL_ON) check_event(c, state, transition);
    if (tn_map_get(&c->states, transition->target)) continue;
    if (transition->kind == TN_AIL_ON && leaves) continue;
    c->guessing = true;
    if (tn_ail_name_is(&c->program->tree, transition->target, TN_AIL_NAME_SKIPPED)) continue;
    report_target(c->program, &c->states, state, i);
  }
}

static void check_one(checker *c, const tn_ail_state *state) {
  check_order(c, state);
  check_transitions(c, state);
  if (state->transition_count > 0 || state->ends || state->broken) return;
  tn_report(diags_of(c), TN_DIAG_E_STATE_NO_TRANSITION, state->name_at,
            TN_TEXT("state_name", text_of(c, state->name)));
}

static void check_reached(checker *c) {
  uint32_t count = c->state_machine->count, done = 0, found = 1;
  bool *reached = tn_arena_array(&c->program->arena, count, sizeof *reached);
  uint32_t *queue = tn_arena_array(&c->program->arena, count, sizeof *queue);
  if (!reached || !queue) return;
  reached[0] = true;
  for (queue[0] = 0; done < found; done++) {
    const tn_ail_state *state = &c->state_machine->states[queue[done]];
    for (uint32_t i = 0; i < state->transition_count; i++) {
      const uint64_t *target = tn_map_get(&c->states, state->transitions[i].target);
      if (!target || reached[*target]) continue;
      reached[*target] = true;
      queue[found++] = (uint32_t)*target;
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    const tn_ail_state *state = &c->state_machine->states[i];
    const uint64_t *first = tn_map_get(&c->states, state->name);
    if (reached[i] || !first || *first != i) continue; /* a second of a name has been reported */
    tn_report(diags_of(c), TN_DIAG_E_STATE_UNREACHABLE, state->name_at,
              TN_TEXT("state_name", text_of(c, state->name)));
  }
}

void tn_ail_check_state_machine(tn_ail *program) {
  checker c = { .program = program,
                .state_machine = program->state_machine,
                .guessing = program->state_machine->broken };
  if (c.state_machine->count == 0) {
    if (program->tree.broken) return;
    tn_report(diags_of(&c), TN_DIAG_E_STATE_MACHINE_EMPTY, c.state_machine->keyword_at,
              TN_TEXT("name", text_of(&c, c.state_machine->name)));
    return;
  }
  tn_map_init(&c.states, program->host->heap);
  collect_states(&c);
  for (uint32_t i = 0; i < c.state_machine->count; i++) check_one(&c, &c.state_machine->states[i]);
  if (!c.guessing) check_reached(&c);
  tn_map_free(&c.states);
}

/* ---- running ---- */

typedef struct {
  tn_ail_world *world;
  const tn_ail_state_machine *state_machine;
  tn_ail_state_machine_run *run;
} runner;

/* 1 where the host's first event is the `start` that comes by itself. */
static size_t first_event(const tn_host *host) {
  return host->event_count > 0 && tn_str_is(host->events[0], "start") ? 1 : 0;
}

size_t tn_ail_state_machine_events(const tn_ail *program) {
  return 1 + program->host->event_count - first_event(program->host);
}

/* The next event among those that were offered, or 0. */
static tn_name head(const runner *r) {
  const tn_host *host = r->world->program->host;
  if (r->run->next_event >= r->run->offered) return 0;
  if (r->run->next_event == 0) return r->world->program->known.start;
  return tn_names_find(host->names, host->events[r->run->next_event - 1 + first_event(host)]);
}

static bool emit(runner *r, const tn_ail_expr *expr) {
  tn_heap *heap = r->world->program->host->heap;
  tn_ail_cell cell;
  tn_text text;
  if (!tn_ail_world_eval(r->world, expr, 0, &cell)) return false;
  tn_text_init(&text, heap);
  tn_ail_cell_print(&cell, &text);
  tn_str kept = tn_arena_str(r->world->arena, tn_text_str(&text));
  bool ok = !text.failed && !r->world->arena->failed && tn_vec_push(heap, &r->run->emitted, kept);
  tn_text_free(&text);
  tn_ail_cell_release(&cell);
  return ok || tn_ail_out_of_memory(r->world->program);
}

static bool bind(runner *r, const tn_ail_statement *statement) {
  tn_ail_cell cell;
  if (!tn_ail_world_eval(r->world, statement->value, statement->name, &cell)) return false;
  cell.name = statement->name;
  if (tn_vec_push(r->world->program->host->heap, &r->world->locals, cell)) return true;
  tn_ail_cell_release(&cell);
  return tn_ail_out_of_memory(r->world->program);
}

static bool enter(runner *r, const tn_ail_state *state) {
  tn_ail_cells_release(r->world->program->host->heap, &r->world->locals);
  for (uint32_t i = 0; i < state->body_count; i++) {
    const tn_ail_statement *statement = &state->body[i];
    bool ok = statement->kind == TN_AIL_EMIT ? emit(r, statement->value) : bind(r, statement);
    if (!ok) return false;
  }
  return true;
}

/* The first transition that fires; *index is the count where none does. */
static bool choose(runner *r, const tn_ail_state *state, uint32_t *index) {
  for (*index = 0; *index < state->transition_count; ++*index) {
    const tn_ail_transition *transition = &state->transitions[*index];
    bool fires = true;
    if (transition->kind == TN_AIL_ON) {
      fires = head(r) != 0 && head(r) == transition->event;
      if (fires) r->run->next_event++;
    } else if (transition->kind == TN_AIL_WHEN &&
               !tn_ail_world_test(r->world, transition->condition, &fires)) {
      return false;
    }
    if (fires) return true;
  }
  return true;
}

static bool stuck(const runner *r, const tn_ail_state *state) {
  return tn_report(r->world->program->host->diags, TN_DIAG_E_STATE_NO_TRANSITION, state->name_at,
                   TN_TEXT("state_name", tn_ail_text_of(r->world->program, state->name)));
}

/* Goes to the target of a transition. */
static bool jump(runner *r, const tn_ail_state *state, uint32_t index) {
  const uint64_t *target = tn_map_get(&r->run->states, state->transitions[index].target);
  if (!target) return report_target(r->world->program, &r->run->states, state, index);
  r->run->current = (uint32_t)*target;
  r->run->inside = false;
  return true;
}

/* Leaves the current state, ends in it, or sets *waits if the next event has not been offered yet. */
static bool leave(runner *r, const tn_ail_state *state, bool *waits) {
  for (;;) {
    uint32_t index;
    if (!choose(r, state, &index)) return false;
    if (index < state->transition_count) return jump(r, state, index);
    if (state->ends) {
      r->run->ended = true;
      r->run->current = r->state_machine->count;
      return true;
    }
    if (!has_kind(state, TN_AIL_ON)) return stuck(r, state);
    *waits = head(r) == 0;
    if (*waits) return true;
    r->run->next_event++; /* no `on` here names this one */
  }
}

static bool too_long(const runner *r, const tn_ail_state *state) {
  return tn_report(r->world->program->host->diags, TN_DIAG_E_EXECUTION_FAILURE, state->name_at,
                   TN_STR("message", "the state machine took 10,000 steps without an end"));
}

static bool past_limit(const runner *r, const tn_ail_state *state) {
  const tn_host *host = r->world->program->host;
  return tn_report(host->diags, TN_DIAG_E_LOOP_LIMIT, state->name_at,
                   TN_INT("limit", (int64_t)host->max_steps));
}

static bool enter_current(runner *r, const tn_ail_state *state) {
  tn_host *host = r->world->program->host;
  if (host->max_steps > 0 && (uint64_t)r->run->steps == host->max_steps) return past_limit(r, state);
  if (r->run->steps++ == TN_AIL_STATE_STEP_LIMIT) return too_long(r, state);
  if (tn_stop_asked(host->heap->stop)) {
    return tn_ail_report_plain_fault(r->world->program,
                                     &(tn_fault){ .kind = TN_FAULT_INTERRUPTED, .at = state->at });
  }
  if (!tn_vec_push(host->heap, &r->run->path, r->run->current))
    return tn_ail_out_of_memory(r->world->program);
  r->run->inside = true;
  return enter(r, state);
}

static bool step_through(runner *r) {
  for (bool waits = false; !waits && r->run->current < r->state_machine->count;) {
    const tn_ail_state *state = &r->state_machine->states[r->run->current];
    if (!r->run->inside && !enter_current(r, state)) return false;
    if (!leave(r, state, &waits)) return false;
  }
  return true;
}

bool tn_ail_state_machine_begin(tn_ail_world *world, tn_ail_state_machine_run *run) {
  const tn_ail_state_machine *state_machine = world->program->state_machine;
  *run = (tn_ail_state_machine_run){ 0 };
  tn_map_init(&run->states, world->program->host->heap);
  for (uint32_t i = 0; i < state_machine->count; i++)
    if (!tn_map_put(&run->states, state_machine->states[i].name, i))
      return tn_ail_out_of_memory(world->program);
  return true;
}

/* The lets of the state it is in are put aside between two offers: handlers have names of their own. */
bool tn_ail_state_machine_offer(tn_ail_world *world, tn_ail_state_machine_run *run, size_t count) {
  runner r = { .world = world, .state_machine = world->program->state_machine, .run = run };
  tn_ail_cells before = world->locals;
  world->vars_first = false;
  world->locals = run->locals;
  run->offered = count;
  bool ok = step_through(&r);
  run->locals = world->locals;
  world->locals = before;
  return ok;
}

void tn_ail_state_machine_free(const tn_ail *program, tn_ail_state_machine_run *run) {
  tn_vec_free(program->host->heap, &run->path);
  tn_vec_free(program->host->heap, &run->emitted);
  tn_ail_cells_release(program->host->heap, &run->locals);
  if (run->states.heap) tn_map_free(&run->states);
}

/* ---- showing ---- */

static tn_str state_name(const tn_ail *program, uint32_t state) {
  return tn_ail_text_of(program, program->state_machine->states[state].name);
}

void tn_ail_state_machine_json(const tn_ail *program, const tn_ail_state_machine_run *run,
                               tn_json_writer *json) {
  tn_json_key(json, "machine");
  tn_json_object_begin(json);
  tn_json_key(json, "name"), tn_json_string(json, tn_ail_text_of(program, program->state_machine->name));
  tn_json_key(json, "path"), tn_json_array_begin(json);
  for (size_t i = 0; i < run->path.count; i++) tn_json_string(json, state_name(program, run->path.at[i]));
  tn_json_array_end(json);
  tn_json_key(json, "emitted"), tn_json_array_begin(json);
  for (size_t i = 0; i < run->emitted.count; i++) tn_json_string(json, run->emitted.at[i]);
  tn_json_array_end(json);
  tn_json_key(json, "final");
  if (run->path.count > 0)
    tn_json_string(json, state_name(program, tn_vec_last(&run->path)));
  else
    tn_json_null(json);
  tn_json_key(json, "ended"), tn_json_bool(json, run->ended);
  tn_json_object_end(json);
}

#define SHOWN_STATES 50

void tn_ail_state_machine_text(const tn_ail *program, const tn_ail_state_machine_run *run, tn_text *out) {
  tn_text_puts(out, "State machine ");
  tn_text_add(out, tn_ail_text_of(program, program->state_machine->name));
  tn_text_puts(out, ": ");
  for (size_t i = 0; i < run->path.count && i < SHOWN_STATES; i++) {
    if (i) tn_text_puts(out, " -> ");
    tn_text_add(out, state_name(program, run->path.at[i]));
  }
  if (run->path.count > SHOWN_STATES) tn_text_puts(out, " -> ...");
  tn_text_puts(out, run->ended ? " (ended)\n" : " (waiting)\n");
  if (run->emitted.count == 0) return;
  tn_text_puts(out, "Emitted: ");
  for (size_t i = 0; i < run->emitted.count && i < SHOWN_STATES; i++) {
    if (i) tn_text_puts(out, ", ");
    tn_text_add(out, run->emitted.at[i]);
  }
  tn_text_puts(out, run->emitted.count > SHOWN_STATES ? ", ...\n" : "\n");
}
