/* lang/ninth/calls.c: calls of functions, methods and blocks, and name lookup in them.
 *
 * A call opens a scope; a block opens one inside the frame it runs in and sees its variables. Every
 * frame holds the instance that @ refers to: a method its own, a function and a block that of the
 * frame below.
 *
 * An [INIT] may leave items on the stack; those above the lowest depth it reached are dropped when
 * it ends. That depth is the VM's floor: an opcode that needs items below it lowers it. */
#include "lang/ninth/vm.h"

static tn_ninth_frame *frame_of(const tn_ninth_vm *m) { return &tn_vec_last(&m->frames); }

/* ---- frames ---- */

static bool add_locals(tn_ninth_vm *m, size_t count) {
  if (!tn_vec_reserve(m->heap, &m->locals, count)) return false;
  for (size_t i = 0; i < count; i++) m->locals.at[m->locals.count++] = (tn_ninth_value){ 0 };
  return true;
}

static bool too_deep(tn_ninth_vm *m, const char *what) {
  return tn_ninth_error(m, TN_DIAG_E_NESTING_LIMIT, TN_INT("limit", TN_NINTH_CALL_LIMIT),
                        TN_STR("what", what));
}

/* Takes the reference to `self`; on failure it has reported and released it. */
static bool push_frame(tn_ninth_vm *m, const tn_ninth_unit *unit, uint32_t self) {
  bool block = unit->kind == TN_NINTH_UNIT_BLOCK;
  bool ok = true;
  if ((block ? m->blocks : m->calls) >= TN_NINTH_CALL_LIMIT)
    ok = too_deep(m, block ? "running blocks" : "calling");
  if (ok && (!tn_vec_reserve(m->heap, &m->frames, 1) || !add_locals(m, unit->slot_count)))
    ok = tn_ninth_no_room(m);
  if (!ok) {
    tn_ninth_release_object(m, self);
    return false;
  }
  tn_ninth_frame *caller = frame_of(m);
  caller->next = m->next;
  tn_ninth_frame frame = { .unit = unit,
                           .locals = (uint32_t)(m->locals.count - unit->slot_count),
                           .self = self,
                           .loops = (uint32_t)m->loops.count,
                           .recording = tn_eager_is_recording(m->eager) };
  if (block && unit->around == caller->unit) frame.outer = unit->outer;
  m->frames.at[m->frames.count++] = frame;
  if (block)
    m->blocks++;
  else
    m->calls++;
  m->next = unit->code;
  return true;
}

bool tn_ninth_begin(tn_ninth_vm *m, const tn_ninth_unit *unit) {
  if (!add_locals(m, m->scope.names.count - m->locals.count) || !tn_vec_reserve(m->heap, &m->frames, 1))
    return false;
  tn_ninth_hold_object(m, m->self);
  m->frames.at[m->frames.count++] = (tn_ninth_frame){ .unit = unit, .self = m->self, .recording = true };
  m->floor = m->stack;
  m->next = unit->code;
  return true;
}

bool tn_ninth_call_unit(tn_ninth_vm *m, const tn_ninth_unit *unit, uint32_t self) {
  tn_ninth_hold_object(m, self);
  return push_frame(m, unit, self);
}

/* Restores the state at the start of the unit: variables, loops, recording. */
static void end_scope(tn_ninth_vm *m, const tn_ninth_frame *frame) {
  for (size_t i = 0; i < frame->unit->slot_count; i++) {
    tn_ninth_value *local = &m->locals.at[frame->locals + i];
    tn_ninth_release(m, *local);
    *local = (tn_ninth_value){ 0 };
  }
  m->loops.count = frame->loops;
  tn_eager_recording(m->eager, frame->recording);
}

/* The frame is gone; the one below continues. */
static void pop_frame(tn_ninth_vm *m) {
  tn_ninth_frame frame = tn_vec_pop(&m->frames);
  if (frame.unit->shared) {
    m->loops.count = 0;
    tn_eager_recording(m->eager, true);
  } else {
    end_scope(m, &frame);
    m->locals.count = frame.locals;
    if (frame.unit->kind == TN_NINTH_UNIT_BLOCK)
      m->blocks--;
    else
      m->calls--;
  }
  if (frame.items != 0) tn_ninth_release_object(m, frame.items);
  if ((frame.unit->kind == TN_NINTH_UNIT_INIT || frame.gathers) && m->stack + frame.floor < m->floor)
    m->floor = m->stack + frame.floor;
  tn_ninth_release_object(m, frame.self);
  if (m->frames.count > 0) m->next = frame_of(m)->next;
}

void tn_ninth_unwind(tn_ninth_vm *m) {
  while (m->frames.count > 0) pop_frame(m);
  m->floor = m->stack;
}

/* The next item of [FOREACH]; false when there is none left. */
static bool next_item(tn_ninth_vm *m) {
  tn_ninth_frame *frame = frame_of(m);
  const tn_ninth_object *list = frame->items != 0 ? tn_ninth_object_of(m, frame->items) : NULL;
  if (!list || frame->item >= list->count) return false;
  tn_ninth_value item = list->items[frame->item++];
  tn_ninth_hold(m, item);
  *m->top++ = item;
  m->next = frame->unit->code;
  return true;
}

/* Pushes the instance that [INIT] has initialised. */
static bool end_init(tn_ninth_vm *m) {
  uint32_t made = frame_of(m)->made;
  tn_ninth_drop(m, (size_t)(m->top - m->floor));
  if (!tn_ninth_room(m)) return false;
  tn_ninth_hold_object(m, made);
  pop_frame(m);
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_INSTANCE, .object = made };
  return true;
}

/* What the block of a [LIST] has left becomes one item; the references move. */
static bool end_list(tn_ninth_vm *m) {
  size_t count = (size_t)(m->top - m->floor);
  if (!tn_ninth_room(m)) return false;
  uint32_t number = tn_ninth_list_new(m, count);
  if (number == 0) return tn_ninth_no_room(m);
  tn_ninth_object *list = tn_ninth_object_of(m, number);
  for (size_t i = 0; i < count; i++) list->items[i] = m->floor[i];
  list->literal = true;
  m->top -= count;
  pop_frame(m);
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_LIST_VALUE, .object = number };
  return true;
}

bool tn_ninth_return(tn_ninth_vm *m) {
  const tn_ninth_frame *frame = frame_of(m);
  if (frame->made != 0) return end_init(m);
  if (frame->gathers) return end_list(m);
  if (frame->items != 0) {
    end_scope(m, frame);
    if (!tn_ninth_room(m)) return false;
    if (next_item(m)) return true;
  }
  pop_frame(m);
  return true;
}

/* ---- what names mean ---- */

tn_name tn_ninth_slot_name(const tn_ninth_vm *m, const tn_ninth_unit *unit, uint32_t slot) {
  return unit->shared ? m->scope.names.at[slot] : unit->slots[slot];
}

/* The slot of a name in a unit, or UINT32_MAX. */
static uint32_t find_slot(const tn_ninth_vm *m, const tn_ninth_unit *unit, tn_name name) {
  if (unit->shared) {
    const uint64_t *known = tn_map_get(&m->scope.slots, name);
    return known && *known < unit->slot_count ? (uint32_t)*known : UINT32_MAX;
  }
  for (uint32_t i = 0; i < unit->slot_count; i++) {
    if (unit->slots[i] == name) return i;
  }
  return UINT32_MAX;
}

/* A value that {Name [key->value]} gave and [INIT] never mentions. */
static tn_ninth_value given_value(const tn_ninth_frame *frame, tn_name name) {
  for (uint32_t i = 0; frame->maker && i < frame->maker->count; i++) {
    if (frame->maker->keys[i] != name) continue;
    return (tn_ninth_value){ .kind = TN_NINTH_NUMBER, .number = frame->maker->values[i] };
  }
  return (tn_ninth_value){ 0 };
}

/* Looks up a name that is not a variable of the running unit: an enclosing variable, or state.
 * UNBOUND if there is none. */
static tn_ninth_value look_up(const tn_ninth_vm *m, uint32_t slot) {
  const tn_ninth_frame *frame = frame_of(m);
  tn_name name = tn_ninth_slot_name(m, frame->unit, slot);
  tn_ninth_value value = m->locals.at[frame->locals + slot];
  while (value.kind == TN_NINTH_UNBOUND && frame->unit->kind == TN_NINTH_UNIT_BLOCK) {
    bool known = slot != UINT32_MAX && frame->outer;
    slot = known ? frame->outer[slot] : find_slot(m, frame[-1].unit, name);
    frame--;
    value = slot != UINT32_MAX ? m->locals.at[frame->locals + slot] : given_value(frame, name);
  }
  if (value.kind != TN_NINTH_UNBOUND) return value;
  uint16_t hint = 0;
  const tn_ninth_entry *entry = tn_ninth_state_find(tn_ninth_object_of(m, frame_of(m)->self), name, &hint);
  return entry ? entry->value : value;
}

bool tn_ninth_read_slot(tn_ninth_vm *m, uint32_t slot, tn_ninth_value *out) {
  *out = look_up(m, slot);
  return out->kind != TN_NINTH_UNBOUND ||
         tn_ninth_undefined(m, tn_ninth_slot_name(m, frame_of(m)->unit, slot));
}

bool tn_ninth_read_state(tn_ninth_vm *m, tn_name name, uint16_t *hint, tn_ninth_value *out) {
  const tn_ninth_entry *entry = tn_ninth_state_find(tn_ninth_object_of(m, frame_of(m)->self), name, hint);
  if (!entry || entry->value.kind == TN_NINTH_UNBOUND) return tn_ninth_undefined(m, name);
  *out = entry->value;
  return true;
}

/* ---- functions and modules ---- */

const tn_ninth_symbol *tn_ninth_symbol_of(const tn_ninth_vm *m, tn_name name) {
  static const tn_ninth_symbol nothing;
  return name < m->symbols.count ? &m->symbols.at[name] : &nothing;
}

tn_ninth_symbol *tn_ninth_symbol_change(tn_ninth_vm *m, tn_name name) {
  if (name >= m->symbols.count) {
    size_t more = name + 1 - m->symbols.count;
    if (!tn_vec_reserve(m->heap, &m->symbols, more)) return NULL;
    while (more-- > 0) m->symbols.at[m->symbols.count++] = (tn_ninth_symbol){ 0 };
  }
  return tn_ninth_keep_symbol(m, name) ? &m->symbols.at[name] : NULL;
}

bool tn_ninth_define(tn_ninth_vm *m, const tn_ninth_definition *definition) {
  tn_ninth_symbol *symbol = tn_ninth_symbol_change(m, definition->name);
  if (!symbol) return tn_ninth_no_room(m);
  const tn_ninth_unit *old = symbol->function;
  tn_ninth_hold_program(definition->unit->program);
  symbol->function = definition->unit;
  if (old) tn_ninth_release_program(m, old->program);
  return true;
}

bool tn_ninth_define_module(tn_ninth_vm *m, const tn_ninth_module *module) {
  tn_ninth_value name = m->top[-1];
  if (name.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "string", name);
  tn_ninth_symbol *symbol = tn_ninth_symbol_change(m, name.name);
  if (!symbol) return tn_ninth_no_room(m);
  const tn_ninth_module *old = symbol->module;
  tn_ninth_hold_program(module->program);
  symbol->module = module;
  if (old) tn_ninth_release_program(m, old->program);
  tn_ninth_drop(m, 1);
  return true;
}

/* The instance on top. */
static bool call_instance(tn_ninth_vm *m) {
  uint32_t instance = m->top[-1].object;
  const tn_ninth_object *object = tn_ninth_object_of(m, instance);
  if (!object->module->forward) {
    return tn_ninth_error(m, TN_DIAG_E_UNKNOWN_FUNCTION,
                          TN_TEXT("name", tn_names_text(m->host->names, object->name)),
                          TN_HINT(TN_LIT("the module has no [FORWARD], so its instances cannot be called")));
  }
  if (!tn_ninth_call_unit(m, object->module->forward, instance)) return false;
  tn_ninth_drop(m, 1);
  return true;
}

/* The block on top. Its program stays while it runs. */
static bool call_block(tn_ninth_vm *m) {
  if (!tn_ninth_call_unit(m, m->units.at[m->top[-1].unit], frame_of(m)->self)) return false;
  tn_ninth_drop(m, 1);
  return true;
}

bool tn_ninth_call_name(tn_ninth_vm *m, tn_name name) {
  const tn_ninth_symbol *symbol = tn_ninth_symbol_of(m, name);
  if (symbol->function) {
    if (!tn_ninth_call_unit(m, symbol->function, frame_of(m)->self)) return false;
    frame_of(m)[-1].next++; /* the string was its name */
    return true;
  }
  uint32_t kind = m->top > m->stack ? m->top[-1].kind : TN_NINTH_UNBOUND;
  if (kind == TN_NINTH_INSTANCE) return tn_ninth_reach(m, 1) && call_instance(m);
  if (kind == TN_NINTH_BLOCK) return tn_ninth_reach(m, 1) && call_block(m);
  return tn_ninth_unknown(m, TN_DIAG_E_UNKNOWN_FUNCTION, name);
}

bool tn_ninth_run_call(tn_ninth_vm *m) {
  tn_ninth_value value = m->top[-1];
  if (value.kind == TN_NINTH_INSTANCE) return call_instance(m);
  if (value.kind == TN_NINTH_BLOCK) return call_block(m);
  if (value.kind != TN_NINTH_STRING) return tn_ninth_wrong_kind(m, "instance", value);
  const tn_ninth_symbol *symbol = tn_ninth_symbol_of(m, value.name);
  if (!symbol->function) return tn_ninth_unknown(m, TN_DIAG_E_UNKNOWN_FUNCTION, value.name);
  if (!tn_ninth_call_unit(m, symbol->function, frame_of(m)->self)) return false;
  tn_ninth_drop(m, 1);
  return true;
}

/* ---- instances ---- */

static void bind_given(tn_ninth_vm *m, const tn_ninth_maker *maker) {
  const tn_ninth_frame *frame = frame_of(m);
  for (uint32_t i = 0; i < maker->count; i++) {
    uint32_t slot = find_slot(m, frame->unit, maker->keys[i]);
    if (slot == UINT32_MAX) continue;
    m->locals.at[frame->locals + slot] =
        (tn_ninth_value){ .kind = TN_NINTH_NUMBER, .number = maker->values[i] };
  }
}

/* Runs [INIT], whose end pushes the instance. Takes the reference to it. */
static bool run_init(tn_ninth_vm *m, const tn_ninth_maker *maker, uint32_t made,
                     const tn_ninth_module *module) {
  if (!push_frame(m, module->init, made)) return false;
  tn_ninth_frame *frame = frame_of(m);
  frame->made = made;
  frame->maker = maker;
  frame->floor = (uint32_t)(m->floor - m->stack);
  m->floor = m->top;
  bind_given(m, maker);
  return true;
}

static bool make_instance(tn_ninth_vm *m, const tn_ninth_maker *maker, const tn_ninth_module *module) {
  uint32_t made = tn_ninth_object_new(m, TN_NINTH_INSTANCE);
  if (made == 0) return tn_ninth_no_room(m);
  tn_ninth_object_of(m, made)->name = maker->name;
  tn_ninth_object_of(m, made)->module = module;
  tn_ninth_hold_program(module->program);
  if (module->init) return run_init(m, maker, made, module);
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_INSTANCE, .object = made };
  return true;
}

bool tn_ninth_make(tn_ninth_vm *m, const tn_ninth_maker *maker) {
  const tn_ninth_symbol *symbol = tn_ninth_symbol_of(m, maker->name);
  if (!tn_ninth_room(m)) return false;
  if (symbol->module) return make_instance(m, maker, symbol->module);
  if (!maker->block || look_up(m, maker->slot).kind == TN_NINTH_UNBOUND) {
    return tn_ninth_unknown(m, TN_DIAG_E_UNKNOWN_MODULE, maker->name);
  }
  tn_ninth_hold_program(maker->block->program);
  *m->top++ = (tn_ninth_value){ .kind = TN_NINTH_BLOCK, .unit = maker->block->id };
  return true;
}

/* A shape that an [INIT] binds to its state becomes a parameter: normal numbers times `std`. */
static bool make_parameter(tn_ninth_vm *m, tn_ninth_value *value) {
  const tn_ninth_frame *frame = frame_of(m);
  tn_ninth_value std = m->locals.at[frame->locals + frame->unit->std];
  float scale = 1;
  tn_shape shape;
  if (std.kind != TN_NINTH_UNBOUND && !tn_ninth_number_of(m, std, &scale))
    return tn_ninth_wrong_kind(m, "number", std);
  if (!tn_ninth_dims_of(m, *value, &shape) || !tn_ninth_check_shape(m, &shape)) return false;
  tn_value numbers[2] = { tn_ninth_normal(m, &shape), tn_eager_number(m->eager, scale) };
  tn_value scaled =
      numbers[0] && numbers[1] ? tn_eager_apply(m->eager, TN_OP_MUL, numbers, 2, NULL) : TN_ERROR_VALUE;
  tn_value variable = scaled ? tn_eager_variable(m->eager, scaled) : TN_ERROR_VALUE;
  for (int i = 0; i < 2; i++) tn_eager_unref(m->eager, numbers[i]);
  tn_eager_unref(m->eager, scaled);
  if (variable == TN_ERROR_VALUE) return tn_ninth_fault(m, NULL, NULL);
  tn_ninth_release(m, *value);
  *value = (tn_ninth_value){ .kind = TN_NINTH_TENSOR, .tensor = variable };
  return true;
}

bool tn_ninth_bind_state(tn_ninth_vm *m, tn_name name, uint16_t *hint, tn_ninth_value *value) {
  const tn_ninth_frame *frame = frame_of(m);
  bool parameter = value->kind == TN_NINTH_SHAPE_VALUE && frame->unit->kind == TN_NINTH_UNIT_INIT;
  if (parameter && !make_parameter(m, value)) return false;
  tn_ninth_object *self = tn_ninth_object_of(m, frame->self);
  uint32_t count = self->count;
  tn_ninth_entry *entry = tn_ninth_state_make(m, self, name, hint);
  if (!entry || !tn_ninth_keep_entry(m, frame->self, entry, self->count > count)) return tn_ninth_no_room(m);
  tn_ninth_value old = entry->value;
  entry->value = *value;
  tn_ninth_release(m, old);
  return true;
}

/* ---- blocks ---- */

bool tn_ninth_run_foreach(tn_ninth_vm *m) {
  tn_ninth_value list = m->top[-2], block = m->top[-1];
  if (block.kind != TN_NINTH_BLOCK) return tn_ninth_wrong_kind(m, "block", block);
  if (list.kind != TN_NINTH_LIST_VALUE) return tn_ninth_wrong_kind(m, "list", list);
  if (tn_ninth_object_of(m, list.object)->count == 0) {
    tn_ninth_drop(m, 2);
    return true;
  }
  if (!tn_ninth_call_unit(m, m->units.at[block.unit], frame_of(m)->self)) return false;
  frame_of(m)->items = list.object; /* the reference moves from the stack to the frame */
  m->top -= 2;
  tn_ninth_release(m, block); /* its program stays while it runs */
  return next_item(m);
}

bool tn_ninth_run_list(tn_ninth_vm *m) {
  if (m->top[-1].kind != TN_NINTH_BLOCK) return tn_ninth_wrong_kind(m, "block", m->top[-1]);
  if (!call_block(m)) return false;
  tn_ninth_frame *frame = frame_of(m);
  frame->gathers = true;
  frame->floor = (uint32_t)(m->floor - m->stack);
  m->floor = m->top;
  return true;
}
