/* lang/ninth/undo.c: undoes the changes of a session line that fails.
 *
 * Before something changes for the first time in a turn (one line), its old value is kept: the
 * entries of instances that are older than the turn, and the meanings of names. Only instructions
 * of the line's own unit bind variables of the main program, so those are found by scanning it; the
 * stack, which every opcode changes, is copied. The engine keeps the old values of its variables.
 * So the cost of a turn depends on what it changes, not on the size of the session.
 *
 * A line also adds names: in its text, and as strings. They are removed with it if it fails, or if
 * nothing that remains uses one. */
#include "lang/ninth/vm.h"

void tn_ninth_turn_begin(tn_ninth_vm *m) {
  tn_ninth_turn *turn = &m->turn;
  turn->number++;
  turn->names = m->scope.names.count;
  turn->symbol_count = m->symbols.count;
  turn->drawn = m->drawn;
  turn->input = m->input;
  turn->libraries = m->libraries.count;
  turn->forgets_names = false;
  tn_names_mark(m->host->names);
}

/* ---- keeping ---- */

static bool keep_stack(tn_ninth_vm *m) {
  size_t depth = tn_ninth_depth(m);
  if (!tn_vec_reserve(m->heap, &m->turn.stack, depth)) return false;
  for (size_t i = 0; i < depth; i++) {
    tn_ninth_hold(m, m->stack[i]);
    m->turn.stack.at[m->turn.stack.count++] = m->stack[i];
  }
  return true;
}

static bool keep_locals(tn_ninth_vm *m, const tn_ninth_unit *main) {
  for (uint32_t i = 0; i < main->count; i++) {
    uint32_t op = main->code[i].op, slot = main->code[i].arg;
    if ((op != TN_NINTH_CODE_BIND && op != TN_NINTH_CODE_KEEP) || slot >= m->locals.count) continue;
    tn_ninth_kept_local kept = { slot, m->locals.at[slot] };
    if (!tn_vec_push(m->heap, &m->turn.locals, kept)) return false;
    tn_ninth_hold(m, kept.was);
  }
  return true;
}

bool tn_ninth_turn_run(tn_ninth_vm *m, const tn_ninth_unit *main) {
  if (!keep_stack(m) || !keep_locals(m, main)) return false;
  m->turn.open = true;
  tn_eager_changes_begin(m->eager);
  return true;
}

bool tn_ninth_keep_entry(tn_ninth_vm *m, uint32_t object, tn_ninth_entry *entry, bool added) {
  const tn_ninth_object *instance = tn_ninth_object_of(m, object);
  if (!m->turn.open || instance->turn == m->turn.number || entry->turn == m->turn.number) return true;
  tn_ninth_kept_entry kept = { object, (uint32_t)(entry - instance->entries), added, entry->value };
  if (!tn_vec_push(m->heap, &m->turn.entries, kept)) return false;
  tn_ninth_hold_object(m, object);
  tn_ninth_hold(m, kept.was);
  entry->turn = m->turn.number;
  return true;
}

static void hold_definitions(const tn_ninth_symbol *symbol) {
  if (symbol->function) tn_ninth_hold_program(symbol->function->program);
  if (symbol->module) tn_ninth_hold_program(symbol->module->program);
}

static void release_definitions(tn_ninth_vm *m, const tn_ninth_symbol *symbol) {
  if (symbol->function) tn_ninth_release_program(m, symbol->function->program);
  if (symbol->module) tn_ninth_release_program(m, symbol->module->program);
}

bool tn_ninth_keep_symbol(tn_ninth_vm *m, tn_name name) {
  tn_ninth_symbol *symbol = &m->symbols.at[name];
  if (!m->turn.open || symbol->turn == m->turn.number) return true;
  tn_ninth_kept_symbol kept = { name, *symbol };
  if (!tn_vec_push(m->heap, &m->turn.symbols, kept)) return false;
  tn_ninth_hold(m, kept.was.memory);
  hold_definitions(&kept.was);
  symbol->turn = m->turn.number;
  return true;
}

/* ---- undoing: the references that were kept go back to where they came from ---- */

static void put_back(tn_ninth_vm *m, tn_ninth_value *place, tn_ninth_value *was) {
  tn_ninth_value now = *place;
  *place = *was;
  *was = (tn_ninth_value){ 0 };
  tn_ninth_release(m, now);
}

/* The stack has had room for these items before. */
static void undo_stack(tn_ninth_vm *m) {
  tn_ninth_drop(m, tn_ninth_depth(m));
  for (size_t i = 0; i < m->turn.stack.count; i++) *m->top++ = m->turn.stack.at[i];
  m->turn.stack.count = 0;
}

static void undo_entry(tn_ninth_vm *m, tn_ninth_kept_entry *kept) {
  tn_ninth_object *instance = tn_ninth_object_of(m, kept->object);
  put_back(m, &instance->entries[kept->entry].value, &kept->was);
  if (kept->added && kept->entry + 1 == instance->count) tn_ninth_state_pop(instance);
}

static void undo_symbol(tn_ninth_vm *m, tn_ninth_kept_symbol *kept) {
  tn_ninth_symbol *symbol = &m->symbols.at[kept->name], now = *symbol;
  *symbol = kept->was;
  kept->was = (tn_ninth_symbol){ 0 };
  tn_ninth_release(m, now.memory);
  release_definitions(m, &now);
}

/* Newest first, so that entries go in the order in which they came. */
static void undo(tn_ninth_vm *m) {
  tn_ninth_turn *turn = &m->turn;
  undo_stack(m);
  for (size_t i = turn->locals.count; i-- > 0;)
    put_back(m, &m->locals.at[turn->locals.at[i].slot], &turn->locals.at[i].was);
  for (size_t i = turn->entries.count; i-- > 0;) undo_entry(m, &turn->entries.at[i]);
  for (size_t i = turn->symbols.count; i-- > 0;) undo_symbol(m, &turn->symbols.at[i]);
  m->drawn = turn->drawn;
  m->input = turn->input;
  m->libraries.count = turn->libraries; /* what a library has defined is gone */
}

/* ---- names ---- */

static bool is_new(const tn_ninth_vm *m, tn_ninth_value value) {
  if (value.kind == TN_NINTH_STRING) return tn_names_since(m->host->names, value.name);
  return value.kind >= TN_NINTH_SHAPE_VALUE &&
         tn_ninth_object_of(m, value.object)->turn == m->turn.number;
}

/* Whether a place that has changed leads to a name that came up in the turn. */
static bool holds_new_name(const tn_ninth_vm *m) {
  const tn_ninth_turn *turn = &m->turn;
  bool found = m->scope.names.count > turn->names;
  for (const tn_ninth_value *value = m->stack; value < m->top; value++) found |= is_new(m, *value);
  for (size_t i = 0; i < turn->locals.count; i++) found |= is_new(m, m->locals.at[turn->locals.at[i].slot]);
  for (size_t i = 0; i < turn->entries.count; i++) {
    const tn_ninth_kept_entry *kept = &turn->entries.at[i];
    const tn_ninth_entry *entry = &tn_ninth_object_of(m, kept->object)->entries[kept->entry];
    found |= tn_names_since(m->host->names, entry->name) || is_new(m, entry->value);
  }
  for (size_t i = 0; i < turn->symbols.count; i++) {
    tn_name name = turn->symbols.at[i].name;
    found |= tn_names_since(m->host->names, name) || is_new(m, m->symbols.at[name].memory);
  }
  return found || m->libraries.count > turn->libraries;
}

/* Names that the text mentioned and nothing was bound to have no slot when it is over. */
static void trim_scope(tn_ninth_vm *m, size_t count) {
  size_t last = m->locals.count > count ? m->locals.count : count;
  while (last > count && m->locals.at[last - 1].kind == TN_NINTH_UNBOUND) last--;
  if (m->locals.count > last) m->locals.count = last;
  tn_ninth_scope_rewind(&m->scope, last);
}

/* ---- the end ---- */

static void forget_kept(tn_ninth_vm *m) {
  tn_ninth_turn *turn = &m->turn;
  while (turn->stack.count > 0) tn_ninth_release(m, tn_vec_pop(&turn->stack));
  while (turn->locals.count > 0) tn_ninth_release(m, tn_vec_pop(&turn->locals).was);
  while (turn->entries.count > 0) {
    tn_ninth_kept_entry kept = tn_vec_pop(&turn->entries);
    tn_ninth_release(m, kept.was);
    tn_ninth_release_object(m, kept.object);
  }
  while (turn->symbols.count > 0) {
    tn_ninth_kept_symbol kept = tn_vec_pop(&turn->symbols);
    tn_ninth_release(m, kept.was.memory);
    release_definitions(m, &kept.was);
  }
  tn_vec_free(m->heap, &turn->stack);
  tn_vec_free(m->heap, &turn->locals);
  tn_vec_free(m->heap, &turn->entries);
  tn_vec_free(m->heap, &turn->symbols);
}

/* What was bound to slots that the turn has added. */
static void drop_new_locals(tn_ninth_vm *m) {
  while (m->locals.count > m->turn.names) tn_ninth_release(m, tn_vec_pop(&m->locals));
}

void tn_ninth_turn_end(tn_ninth_vm *m, bool undone) {
  tn_ninth_turn *turn = &m->turn;
  bool ran = turn->open;
  turn->open = false;
  if (ran && undone) undo(m);
  if (undone) drop_new_locals(m);
  trim_scope(m, turn->names);
  turn->forgets_names = undone || !holds_new_name(m);
  if (ran) tn_eager_changes_end(m->eager, undone);
  forget_kept(m);
  if (undone && m->symbols.count > turn->symbol_count) m->symbols.count = turn->symbol_count;
}
