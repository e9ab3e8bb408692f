/* lang/ail/app.c: checks and runs apps: state variables and event handlers.
 *
 * An event is a transaction: its handler, and those of the events it emits, work
 * on the variables; when the outer event ends they are kept, and when it fails
 * everything is as it was before. */
#include <string.h>

#include "base/json.h"
#include "lang/ail/doors.h"
#include "lang/ail/world.h"
#include "tensor/print.h"

/* ---- checking ---- */

static tn_diags *diags_of(const tn_ail *program) { return program->host->diags; }

static bool is_host_event(const tn_ail *program, tn_name event) {
  return event == program->known.initialized || event == program->known.result;
}

static void check_emit(const tn_ail *program, const tn_ail_handler *handler,
                       const tn_ail_statement *statement) {
  const tn_map *const maps[] = { &program->handler_index };
  if (is_host_event(program, statement->name) || tn_map_get(&program->handler_index, statement->name)) return;
  tn_report(diags_of(program), TN_DIAG_E_EVENT_NOT_DEFINED, statement->name_at,
            TN_TEXT("event_name", tn_ail_text_of(program, handler->event)),
            TN_TEXT("emitted_event", tn_ail_text_of(program, statement->name)),
            TN_TEXT("suggestion", tn_ail_suggest(program, statement->name, maps, 1)));
}

static void check_assignment(const tn_ail *program, const tn_ail_statement *statement) {
  const tn_map *const maps[] = { &program->var_index };
  if (tn_map_get(&program->var_index, statement->name)) return;
  if (tn_ail_name_is(&program->tree, statement->name, TN_AIL_NAME_SKIPPED)) return;
  tn_report(diags_of(program), TN_DIAG_E_STATE_NOT_DECLARED, statement->name_at,
            TN_TEXT("var_name", tn_ail_text_of(program, statement->name)),
            TN_TEXT("suggestion", tn_ail_suggest(program, statement->name, maps, 1)));
}

static void check_handler(const tn_ail *program, const tn_ail_handler *handler) {
  for (uint32_t i = 0; i < handler->body.count; i++) {
    const tn_ail_statement *statement = &handler->body.statements[i];
    if (statement->kind == TN_AIL_ASSIGN) check_assignment(program, statement);
    if (statement->kind == TN_AIL_EMIT) check_emit(program, handler, statement);
  }
}

/* Follows emits, with a list instead of recursion. */
typedef struct {
  uint32_t handler, next;
} emit_step;

typedef struct {
  const tn_ail *program;
  tn_vec(emit_step) path;
  uint8_t *state; /* 0 not met, 1 on the path, 2 done */
} emit_search;

static void report_cycle(const emit_search *s, uint32_t callee, tn_span at) {
  tn_text cycle;
  size_t from = 0;
  tn_text_init(&cycle, s->program->host->heap);
  while (s->path.at[from].handler != callee) from++;
  for (size_t i = from; i < s->path.count; i++) {
    tn_text_add(&cycle, tn_ail_text_of(s->program, s->program->handlers[s->path.at[i].handler]->event));
    tn_text_puts(&cycle, " -> ");
  }
  tn_text_add(&cycle, tn_ail_text_of(s->program, s->program->handlers[callee]->event));
  tn_report(diags_of(s->program), TN_DIAG_E_EVENT_CYCLE_DETECTED, at, TN_TEXT("cycle", tn_text_str(&cycle)));
  tn_text_free(&cycle);
}

static void follow_emits(emit_search *s, uint32_t first) {
  tn_heap *heap = s->program->host->heap;
  emit_step start = { first, 0 };
  if (s->state[first] || !tn_vec_push(heap, &s->path, start)) return;
  s->state[first] = 1;
  while (s->path.count > 0) {
    emit_step *top = &tn_vec_last(&s->path);
    const tn_ail_block *body = &s->program->handlers[top->handler]->body;
    if (top->next == body->count) {
      s->state[top->handler] = 2;
      s->path.count--;
      continue;
    }
    const tn_ail_statement *statement = &body->statements[top->next++];
    const uint64_t *callee =
        statement->kind == TN_AIL_EMIT ? tn_map_get(&s->program->handler_index, statement->name) : NULL;
    if (!callee || s->state[*callee] == 2) continue;
    if (s->state[*callee] == 1) {
      report_cycle(s, (uint32_t)*callee, statement->name_at);
      continue;
    }
    emit_step next = { (uint32_t)*callee, 0 };
    s->state[*callee] = 1;
    if (!tn_vec_push(heap, &s->path, next)) return;
  }
}

/* ---- first values ---- */

/* Counts the numbers of a list of lists and finds its shape; false when rows differ.
 * recursion: TN_RANK_LIMIT deep. */
static bool measure(const tn_ail *program, const tn_ail_expr *expr, int depth, tn_shape *shape) {
  tn_ail_const value;
  if (expr->form != TN_AIL_EXPR_LIST) {
    bool number = tn_ail_literal(program, expr, &value) && value.kind == TN_AIL_CONST_NUMBER;
    return number && depth == shape->rank;
  }
  if (depth >= shape->rank || shape->dim[depth] != expr->as.list.count) return false;
  for (uint32_t i = 0; i < expr->as.list.count; i++) {
    if (!measure(program, expr->as.list.items[i], depth + 1, shape)) return false;
  }
  return true;
}

static bool list_shape(const tn_ail *program, const tn_ail_expr *expr, tn_shape *shape) {
  *shape = TN_SCALAR_SHAPE;
  for (const tn_ail_expr *at = expr; at->form == TN_AIL_EXPR_LIST; at = at->as.list.items[0]) {
    if (shape->rank == TN_RANK_LIMIT || at->as.list.count == 0) return false;
    shape->dim[shape->rank++] = at->as.list.count;
  }
  return measure(program, expr, 0, shape);
}

/* recursion: TN_RANK_LIMIT deep, because it was measured. */
static void fill_list(const tn_ail *program, const tn_ail_expr *expr, const tn_view *out, int64_t *index) {
  tn_ail_const value;
  if (expr->form != TN_AIL_EXPR_LIST) {
    tn_ail_literal(program, expr, &value);
    tn_view_set_f64(out, (*index)++, value.number);
    return;
  }
  for (uint32_t i = 0; i < expr->as.list.count; i++) fill_list(program, expr->as.list.items[i], out, index);
}

static void check_initial(const tn_ail *program, const tn_ail_var *var) {
  const tn_ail_expr *initial = var->decl->initial;
  tn_ail_const value;
  tn_shape shape;
  if (!initial) return;
  if (tn_ail_literal(program, initial, &value)) {
    if (value.kind != TN_AIL_CONST_TEXT) return;
    tn_report(diags_of(program), TN_DIAG_E_STRING_NOT_ALLOWED_IN_EXPRESSION, initial->at,
              TN_TEXT("value", value.text));
  } else if (var->type != TN_AIL_STATE_TENSOR || !list_shape(program, initial, &shape)) {
    tn_ail_report_syntax(program, initial->at,
                         "a first value is a number, a constant, or a list of them for a tensor");
  }
}

void tn_ail_check_app(tn_ail *program) {
  emit_search s = { .program = program };
  for (size_t i = 0; i < program->var_count; i++) check_initial(program, &program->vars[i]);
  for (size_t i = 0; i < program->handler_count; i++) check_handler(program, program->handlers[i]);
  s.state = tn_arena_alloc(&program->arena, program->handler_count);
  if (!s.state) return;
  for (size_t i = 0; i < program->handler_count; i++) follow_emits(&s, (uint32_t)i);
  tn_vec_free(program->host->heap, &s.path);
}

/* ---- variables ---- */

static tn_ail_cell copy_cell(const tn_ail_cell *cell) {
  tn_ail_cell copy = *cell;
  if (copy.tensor.buffer) copy.tensor = tn_tensor_ref(&cell->tensor);
  return copy;
}

/* int and float variables hold element 0 of what they are given; an int its whole part. */
static tn_ail_cell as_variable(const tn_ail_var *var, const tn_ail_cell *value) {
  if (var->type == TN_AIL_STATE_TENSOR) {
    tn_ail_cell cell = copy_cell(value);
    cell.name = var->name;
    return cell;
  }
  tn_ail_cell cell = {
    .name = var->name, .kind = TN_DATA_TENSOR, .is_number = true, .number = value->number
  };
  if (!value->is_number) {
    bool empty = tn_view_count(&value->tensor.view) == 0;
    cell.number = empty ? 0.0f : (float)tn_view_get_f64(&value->tensor.view, 0);
  }
  if (var->type == TN_AIL_STATE_FLOAT) return cell;
  cell.whole = true;
  cell.integer = value->whole ? value->integer : tn_i64_from_f64((double)cell.number);
  cell.number = (float)cell.integer;
  return cell;
}

static bool initial_cell(tn_ail_world *world, const tn_ail_var *var, tn_ail_cell *out) {
  const tn_ail_expr *initial = var->decl->initial;
  const tn_ail_cell *model = NULL;
  tn_ail_const value = { 0 };
  tn_shape shape;
  *out = (tn_ail_cell){ .name = var->name, .kind = TN_DATA_TENSOR, .is_number = true };
  out->whole = var->type == TN_AIL_STATE_INT;
  if (!initial) {
    bool follows = var->type == TN_AIL_STATE_TENSOR;
    if (follows && !tn_ail_world_model(world, var->name, &model)) return false;
    if (model) *out = copy_cell(model);
    return true;
  }
  if (tn_ail_literal(world->program, initial, &value)) {
    tn_ail_cell given = { .is_number = true, .kind = TN_DATA_TENSOR, .number = (float)value.number };
    given.whole = value.is_integer;
    given.integer = value.integer;
    *out = as_variable(var, &given);
    return true;
  }
  int64_t index = 0;
  *out = (tn_ail_cell){ .name = var->name, .kind = TN_DATA_TENSOR };
  if (!list_shape(world->program, initial, &shape) ||
      !tn_tensor_new(world->program->host->heap, TN_F32, &shape, &out->tensor)) {
    return tn_ail_out_of_memory(world->program);
  }
  fill_list(world->program, initial, &out->tensor.view, &index);
  return true;
}

bool tn_ail_world_open_variables(tn_ail_world *world) {
  const tn_ail *program = world->program;
  tn_ail_cell *vars = tn_arena_array(world->arena, program->var_count, sizeof *vars);
  if (!vars) return tn_ail_out_of_memory(program);
  world->vars = vars;
  for (size_t i = 0; i < program->var_count; i++) {
    if (!initial_cell(world, &program->vars[i], &vars[i])) return false;
  }
  return true;
}

static bool same_cell(const tn_ail_cell *a, const tn_ail_cell *b) {
  if (a->is_number != b->is_number) return false;
  if (a->whole && b->whole) return a->integer == b->integer;
  if (a->is_number) return memcmp(&a->number, &b->number, sizeof a->number) == 0;
  return tn_view_equal(&a->tensor.view, &b->tensor.view);
}

/* ---- events ---- */

typedef struct {
  tn_ail_world *world;
  tn_ail_cell *before;     /* the variables before the event */
  tn_vec(tn_name) emitted; /* by the event, in order */
  tn_text events_json;     /* of the events that ended well, without brackets */
  tn_text text;            /* for people */
  size_t count;
  int depth;
  tn_ail_state_machine_run *state_machine; /* NULL: the program has none */
} app;

static bool run_handler(app *a, const tn_ail_handler *handler);

static bool assign(app *a, const tn_ail_statement *statement) {
  tn_ail *program = a->world->program;
  tn_ail_cell value;
  if (!tn_ail_world_eval(a->world, statement->value, statement->name, &value)) return false;
  value.name = statement->name;
  if (statement->kind == TN_AIL_LET) {
    if (tn_vec_push(program->host->heap, &a->world->locals, value)) return true;
    tn_ail_cell_release(&value);
    return tn_ail_out_of_memory(a->world->program);
  }
  const uint64_t *index = tn_map_get(&program->var_index, statement->name);
  tn_ail_cell next = as_variable(&program->vars[*index], &value);
  tn_ail_cell_release(&value);
  tn_ail_cell_release(&a->world->vars[*index]);
  a->world->vars[*index] = next;
  return true;
}

/* Handlers that each emit twice grow exponentially, even without a cycle. */
#define EMIT_LIMIT 10000

/* The handler of the emitted event runs now, with names of its own. */
static bool emit(app *a, tn_name event, tn_span at) {
  tn_ail *program = a->world->program;
  const uint64_t *index = tn_map_get(&program->handler_index, event);
  if (a->emitted.count == EMIT_LIMIT) {
    return tn_report(program->host->diags, TN_DIAG_E_EXECUTION_FAILURE, at,
                     TN_STR("message", "one event emitted 10,000 others"));
  }
  if (!tn_vec_push(program->host->heap, &a->emitted, event)) return tn_ail_out_of_memory(a->world->program);
  if (!index) return true;
  if (!tn_stack_room(&program->host->heap->stack))
    return tn_report_stack(program->host->diags, program->handlers[*index]->event_at,
                           "the chain of emitted events");
  if (++a->depth > TN_AIL_NESTING_LIMIT) {
    return tn_report(program->host->diags, TN_DIAG_E_NESTING_LIMIT, program->handlers[*index]->event_at,
                     TN_INT("limit", TN_AIL_NESTING_LIMIT), TN_STR("what", "the chain of emitted events"));
  }
  tn_ail_cells locals = a->world->locals;
  a->world->locals = (tn_ail_cells){ 0 };
  bool ok = run_handler(a, program->handlers[*index]);
  tn_ail_cells_release(program->host->heap, &a->world->locals);
  a->world->locals = locals;
  a->depth--;
  return ok;
}

static bool run_handler(app *a, const tn_ail_handler *handler) {
  for (uint32_t i = 0; i < handler->body.count; i++) {
    const tn_ail_statement *statement = &handler->body.statements[i];
    bool ok =
        statement->kind == TN_AIL_EMIT ? emit(a, statement->name, statement->name_at) : assign(a, statement);
    if (!ok) return false;
  }
  return true;
}

/* ---- showing ---- */

static void put_value(tn_ail *program, const tn_ail_var *var, const tn_ail_cell *cell, tn_json_writer *json) {
  if (var->type == TN_AIL_STATE_INT) {
    tn_json_int(json, cell->integer);
  } else if (var->type == TN_AIL_STATE_FLOAT) {
    tn_json_f32(json, cell->number);
  } else {
    tn_text text;
    tn_datum datum = tn_ail_cell_datum(program, cell);
    tn_text_init(&text, program->host->heap);
    tn_datum_json(&datum, program->host->names, &text);
    tn_json_raw(json, tn_text_str(&text));
    tn_text_free(&text);
    tn_datum_release(&datum);
  }
}

static void put_state(const app *a, tn_json_writer *json) {
  tn_ail *program = a->world->program;
  tn_json_object_begin(json);
  for (size_t i = 0; a->world->vars && i < program->var_count; i++) {
    tn_json_key_str(json, tn_ail_text_of(program, program->vars[i].name));
    put_value(program, &program->vars[i], &a->world->vars[i], json);
  }
  tn_json_object_end(json);
}

static void put_event(app *a, tn_str event) {
  tn_ail *program = a->world->program;
  if (a->count++ > 0) tn_text_byte(&a->events_json, ',');
  tn_json_writer json = tn_json_writer_on(&a->events_json);
  tn_json_object_begin(&json);
  tn_json_key(&json, "event"), tn_json_string(&json, event);
  tn_json_key(&json, "emitted"), tn_json_array_begin(&json);
  for (size_t i = 0; i < a->emitted.count; i++)
    tn_json_string(&json, tn_ail_text_of(program, a->emitted.at[i]));
  tn_json_array_end(&json);
  tn_json_key(&json, "changes"), tn_json_object_begin(&json);
  for (size_t i = 0; i < program->var_count; i++) {
    if (same_cell(&a->before[i], &a->world->vars[i])) continue;
    tn_json_key_str(&json, tn_ail_text_of(program, program->vars[i].name));
    put_value(program, &program->vars[i], &a->world->vars[i], &json);
  }
  tn_json_object_end(&json);
  tn_json_object_end(&json);
}

static void print_variable(const app *a, size_t index, tn_text *out) {
  static const tn_print_style style = { "[", "]", ", ", 3 };
  const tn_ail_cell *cell = &a->world->vars[index];
  tn_text_puts(out, "  ");
  tn_text_add(out, tn_ail_text_of(a->world->program, a->world->program->vars[index].name));
  tn_text_puts(out, " = ");
  if (cell->is_number)
    tn_ail_cell_print(cell, out);
  else
    tn_view_print(&cell->tensor.view, &style, out);
  tn_text_byte(out, '\n');
}

static void print_event(app *a, tn_str event) {
  tn_ail *program = a->world->program;
  tn_text *out = &a->text;
  tn_text_puts(out, "Event: ");
  tn_text_add(out, event);
  tn_text_byte(out, '\n');
  if (a->emitted.count > 0) tn_text_puts(out, "Emitted:");
  for (size_t i = 0; i < a->emitted.count; i++) {
    tn_text_puts(out, i ? ", " : " ");
    tn_text_add(out, tn_ail_text_of(program, a->emitted.at[i]));
  }
  if (a->emitted.count > 0) tn_text_byte(out, '\n');
  bool any = false;
  for (size_t i = 0; i < program->var_count; i++) {
    if (same_cell(&a->before[i], &a->world->vars[i])) continue;
    if (!any) tn_text_puts(out, "Changed:\n");
    any = true;
    print_variable(a, i, out);
  }
  tn_text_byte(out, '\n');
}

/* ---- transactions ---- */

static void release_all(const app *a, tn_ail_cell *cells) {
  for (size_t i = 0; i < a->world->program->var_count; i++) tn_ail_cell_release(&cells[i]);
}

static bool run_event(app *a, tn_str event, const tn_ail_handler *handler) {
  tn_ail_world *world = a->world;
  size_t count = world->program->var_count;
  for (size_t i = 0; i < count; i++) a->before[i] = copy_cell(&world->vars[i]);
  a->emitted.count = 0;
  a->depth = 0;
  world->vars_first = true;
  bool ok = run_handler(a, handler);
  tn_ail_cells_release(world->program->host->heap, &world->locals);
  if (ok) {
    put_event(a, event);
    print_event(a, event);
    release_all(a, a->before);
  } else {
    release_all(a, world->vars);
    for (size_t i = 0; i < count; i++) world->vars[i] = a->before[i];
  }
  return ok;
}

/* The handler of an event runs and its changes are kept; then the state machine is offered that event, the
 * `number`-th, and sees the variables as they are now. */
static bool run_named(app *a, tn_str event, size_t number) {
  const tn_ail *program = a->world->program;
  tn_name name = tn_names_find(program->host->names, event);
  const uint64_t *index = name ? tn_map_get(&program->handler_index, name) : NULL;
  if (index && !run_event(a, event, program->handlers[*index])) return false;
  return !a->state_machine || tn_ail_state_machine_offer(a->world, a->state_machine, number);
}

/* `start` at load; the host's events in order, of which a first `start` is that same one. */
static bool run_events(app *a) {
  const tn_host *host = a->world->program->host;
  size_t first = host->event_count > 0 && tn_str_is(host->events[0], "start") ? 1 : 0;
  if (!run_named(a, TN_LIT("start"), 1)) return false;
  for (size_t i = first; i < host->event_count; i++) {
    if (!run_named(a, host->events[i], i - first + 2)) return false;
  }
  return true;
}

/* ---- the whole ---- */

static void finish(app *a, tn_arena *arena, tn_outcome *out) {
  tn_ail *program = a->world->program;
  bool moved = a->state_machine && a->state_machine->path.count > 0;
  const tn_ail_state_machine_run *state_machine = moved ? a->state_machine : NULL;
  tn_text json_text;
  tn_text_init(&json_text, program->host->heap);
  tn_text_puts(&json_text, "\"events\":[");
  tn_text_add(&json_text, tn_text_str(&a->events_json));
  tn_text_puts(&json_text, "],\"state\":");
  tn_json_writer json = tn_json_writer_on(&json_text);
  put_state(a, &json);
  json.comma = true;
  if (state_machine) tn_ail_state_machine_json(program, state_machine, &json);
  out->extra_json = tn_arena_str(arena, tn_text_str(&json_text));
  tn_text_free(&json_text);
  if (program->var_count > 0) tn_text_puts(&a->text, "State:\n");
  for (size_t i = 0; a->world->vars && i < program->var_count; i++) print_variable(a, i, &a->text);
  if (state_machine) tn_ail_state_machine_text(program, state_machine, &a->text);
  out->text = tn_arena_str(arena, tn_text_str(&a->text));
}

static bool run_all(app *a, tn_arena *arena, tn_outcome *out) {
  tn_ail *program = a->world->program;
  tn_ail_state_machine_run state_machine = { 0 };
  if (program->state_machine) a->state_machine = &state_machine;
  a->before = tn_arena_array(arena, program->var_count, sizeof *a->before);
  bool opened = tn_ail_world_open_variables(a->world);
  bool ok = opened && (a->before || tn_ail_out_of_memory(a->world->program)) &&
            (!a->state_machine || tn_ail_state_machine_begin(a->world, &state_machine)) && run_events(a);
  if (opened) finish(a, arena, out);
  tn_ail_state_machine_free(program, &state_machine);
  return ok;
}

bool tn_lang_ail_app(tn_unit *unit, tn_arena *arena, tn_outcome *out) {
  tn_host *host = unit->host;
  tn_ail_world world;
  *out = (tn_outcome){ 0 };
  tn_ail *program = tn_ail_compile(host, unit->file);
  if (!program) return false;
  bool ok = tn_ail_world_open(&world, program, arena, NULL);
  if (ok) {
    app a = { .world = &world };
    tn_text_init(&a.events_json, host->heap);
    tn_text_init(&a.text, host->heap);
    ok = run_all(&a, arena, out);
    if (a.events_json.failed || a.text.failed) ok = tn_ail_out_of_memory(a.world->program);
    tn_text_free(&a.events_json);
    tn_text_free(&a.text);
    tn_vec_free(host->heap, &a.emitted);
  }
  tn_ail_world_close(&world);
  tn_ail_free(program);
  return ok;
}
