/* lang/mind/session.c: what stays of a line, and for how long. */
#include "lang/mind/session.h"

#include <stdlib.h>
#include <string.h>

#include "lang/mind/check.h"
#include "lang/mind/lexer.h"

#define FIRST_COLLECTION 256
#define FIRST_COMPACTION 4096
#define HISTORY_LIMIT    20000              /* nodes of earlier lines that gradients may flow through */
#define COMPACTION_BYTES ((size_t)64 << 20) /* that may be garbage */

static tn_mind_box *box_of(const tn_mind_scope *entry) { return (tn_mind_box *)(uintptr_t)entry; }

/* A variable of the session's own module; those of imports never change. */
static tn_mind_variable *variable_of(const tn_mind_session *s, const tn_mind_scope *entry) {
  if (entry->binds != TN_MIND_BINDS_VARIABLE || entry->variable->module != &s->module) return NULL;
  return entry->variable;
}

static bool out_of_memory(const tn_mind_session *s) {
  return tn_report_plain(s->host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
}

/* ---- sessions ---- */

void tn_mind_session_init(tn_mind_session *s, tn_host *host) {
  *s = (tn_mind_session){ .host = host, .collect_at = FIRST_COLLECTION, .compact_at = FIRST_COMPACTION };
  tn_arena_init(&s->kept, host->heap);
  tn_mind_init(&s->mind, host, &s->kept);
  tn_mind_trace_init(&s->trace, host);
  s->mind.names_scalars = true;
  s->nowhere.module = &s->module;
  s->module.frame = &s->frame;
  s->frame.symbols.arena = &s->kept;
  s->compact_bytes = host->heap->used + COMPACTION_BYTES;
}

static void forget_file(tn_mind_session *s, uint32_t file) {
  if (!file) return;
  if (file == s->host->sources->files.count) {
    tn_sources_rewind(s->host->sources, file - 1);
    return;
  }
  tn_sources_forget(s->host->sources, file);
  tn_vec_push(s->host->heap, &s->free_files, file);
}

static void free_line(tn_mind_session *s, tn_mind_line *line) {
  tn_heap *heap = s->host->heap;
  for (uint32_t i = line->slot; i < line->slot_end; i++) {
    s->frame.slots[i] = (tn_mind_value){ 0 };
    tn_vec_push(heap, &s->free_slots, i);
  }
  forget_file(s, line->file);
  tn_vec_free(heap, &line->named);
  tn_arena_free(&line->arena);
  tn_heap_free(heap, line, sizeof *line);
}

static void free_box(tn_mind_session *s, tn_mind_box *box) {
  const tn_mind_variable *variable = variable_of(s, &box->entry);
  if (variable && !box->home) {
    s->frame.slots[variable->slot] = (tn_mind_value){ 0 };
    tn_vec_push(s->host->heap, &s->free_slots, variable->slot);
  }
  tn_heap_free(s->host->heap, box, sizeof *box);
}

void tn_mind_session_free(tn_mind_session *s) {
  tn_heap *heap = s->host->heap;
  for (const tn_mind_scope *at = s->module.scope, *next; at; at = next) {
    next = at->next;
    free_box(s, box_of(at));
  }
  for (tn_mind_line *line = s->lines, *next; line; line = next) {
    next = line->next;
    free_line(s, line);
  }
  tn_heap_free(heap, (void *)(uintptr_t)s->module.newest, s->module.newest_count * sizeof *s->module.newest);
  tn_heap_free(heap, s->frame.slots, s->slot_room * sizeof *s->frame.slots);
  tn_vec_free(heap, &s->free_slots);
  tn_vec_free(heap, &s->free_files);
  tn_mind_trace_free(&s->trace);
  tn_mind_free(&s->mind);
  tn_arena_free(&s->kept);
}

const tn_mind_box *tn_mind_session_visible(const tn_mind_session *s, const tn_mind_scope *entry) {
  return s->module.newest[entry->name] == entry ? box_of(entry) : NULL;
}

/* ---- beginning ---- */

static bool add_text(tn_mind_turn *t, tn_str name, tn_str text) {
  tn_mind_session *s = t->session;
  tn_sources *sources = s->host->sources;
  if (s->free_files.count) {
    uint32_t file = tn_vec_last(&s->free_files);
    if (!tn_sources_put(sources, file, name, text)) return false;
    t->line->file = file;
    s->free_files.count--;
    return true;
  }
  t->line->file = tn_sources_add(sources, name, text);
  t->files = sources->files.count;
  return t->line->file != 0;
}

/* Types are copied into the line, so that a tree that is kept never points to what may be copied away. */
static bool remember(tn_mind_turn *t, tn_mind_box *box) {
  tn_mind_session *s = t->session;
  tn_mind_before before = { .box = box };
  tn_mind_variable *variable = variable_of(s, &box->entry);
  box->turn = s->turn;
  box->place = (uint32_t)t->before.count;
  if (variable) {
    before.type = variable->type;
    before.declared = variable->declared;
    before.fixed = variable->fixed;
    before.value = s->frame.slots[variable->slot];
  }
  if (!tn_vec_push(s->host->heap, &t->before, before)) return false;
  if (!variable) return true;
  variable->type = tn_mind_type_copy(&t->line->arena, variable->type);
  if (variable->declared) variable->declared = tn_mind_type_copy(&t->line->arena, variable->declared);
  return !t->line->arena.failed;
}

/* A word that is given a meaning here, or is the name of an argument. */
static bool is_bound_here(int before, bool in_let, int after) {
  return before == TN_MIND_TOKEN_FN || in_let || after == '=';
}

static void shadow(tn_mind_session *s, tn_name name) {
  const tn_mind_scope *found = tn_mind_lookup_in(&s->module, name);
  if (found) box_of(found)->shadowed = s->turn;
}

/* The statement that holds a place, from `node` on. Those before it have bound their names. */
static const tn_mind_node *statement_at(tn_mind_session *s, const tn_mind_node *node, uint32_t place) {
  for (; node && node->next && node->next->from <= place; node = node->next) {
    if (node->kind != TN_MIND_LET) continue;
    if (node->let.word.name) shadow(s, node->let.word.name);
    for (uint32_t i = 0; !node->let.word.name && i < node->let.count; i++) shadow(s, node->let.words[i].name);
  }
  return node;
}

/* Everything that the words of the text may stand for. */
static bool remember_words(tn_mind_turn *t) {
  tn_mind_session *s = t->session;
  const tn_mind_node *statement = t->unit->block.first;
  tn_mind_lexer lexer;
  tn_str text = tn_sources_get(s->host->sources, t->line->file)->text;
  bool in_let = false;
  int before = TN_MIND_TOKEN_END;
  s->turn++;
  tn_mind_lexer_init(&lexer, text, t->line->file, s->host->names, NULL);
  for (tn_mind_token token = tn_mind_next(&lexer), next; token.kind != TN_MIND_TOKEN_END; token = next) {
    next = tn_mind_next(&lexer);
    statement = statement_at(s, statement, token.start);
    if (token.kind == TN_MIND_TOKEN_LET || token.kind == '=' || token.kind == ':')
      in_let = token.kind == TN_MIND_TOKEN_LET;
    const tn_mind_scope *found =
        token.kind == TN_MIND_TOKEN_NAME ? tn_mind_lookup_in(&s->module, token.name) : NULL;
    bool bound = is_bound_here(before, in_let, next.kind);
    before = token.kind;
    if (!found) continue;
    tn_mind_box *box = box_of(found);
    if (box->turn != s->turn && !remember(t, box)) return false;
    if (!bound && box->shadowed != s->turn) t->before.at[box->place].used = true;
  }
  return true;
}

/* Variables of this line and those before it have a slot. */
static bool make_room(tn_mind_session *s) {
  uint32_t needed = s->module.slot_count, room = s->slot_room ? s->slot_room : 16;
  if (needed <= s->slot_room) return true;
  while (room < needed) room *= 2;
  tn_mind_value *slots =
      tn_heap_resize(s->host->heap, s->frame.slots, s->slot_room * sizeof *slots, room * sizeof *slots);
  if (!slots) return false;
  s->frame.slots = slots;
  s->slot_room = room;
  return true;
}

/* An expression at the end of the text is bound to a name: EXPR becomes let _ = EXPR. */
static void name_last(tn_mind_turn *t) {
  tn_mind_node **last = &t->unit->block.first;
  while (*last && (*last)->next) last = &(*last)->next;
  if (!*last || (*last)->kind >= TN_MIND_LET || (*last)->kind == TN_MIND_BAD) return;
  tn_mind_node *let = tn_arena_new(&t->line->arena, tn_mind_node), *value = *last;
  if (!let) return;
  *let = (tn_mind_node){ .kind = TN_MIND_LET,
                         .start = value->start,
                         .end = value->end,
                         .from = value->from,
                         .to = value->to };
  let->let.word = (tn_mind_word){ t->session->last, value->start, value->end };
  let->let.value = value;
  *last = let;
}

bool tn_mind_turn_begin(tn_mind_turn *t, tn_mind_session *s, tn_str name, tn_str text) {
  tn_host *host = s->host;
  *t = (tn_mind_turn){
    .session = s, .module = s->module, .modules = s->mind.modules, .files = host->sources->files.count
  };
  t->nodes = s->trace.ready ? s->trace.graph.nodes.count : 0;
  t->line = tn_heap_alloc(host->heap, sizeof *t->line);
  if (!t->line) return out_of_memory(s);
  tn_names_mark(host->names);
  tn_arena_init(&t->line->arena, host->heap);
  s->mind.arena = &t->line->arena;
  s->mind.instanced = NULL;
  s->mind.queue = NULL;
  s->mind.depth = 0;
  t->e = (tn_mind_evaluator){ .mind = &s->mind,
                              .host = host,
                              .trace = &s->trace,
                              .arena = &t->line->arena,
                              .drawn = s->drawn,
                              .names_scalars = true };
  t->unit = tn_arena_new(&t->line->arena, tn_mind_unit);
  if (!t->unit || !add_text(t, name, text)) return out_of_memory(s);
  *t->unit = (tn_mind_unit){ .file = t->line->file, .module = &s->module };
  s->module.unit = t->unit;
  bool ok = tn_mind_parse(&t->line->arena, host->names, host->sources, host->diags, t->unit);
  if (!t->line->arena.failed && !remember_words(t)) return out_of_memory(s);
  if (s->last && ok && !t->line->arena.failed) name_last(t);
  if (!t->line->arena.failed) ok = tn_mind_check_unit(&s->mind, t->unit) && ok; /* also after syntax errors */
  if (t->line->arena.failed || (ok && !make_room(s))) return out_of_memory(s);
  t->checked = ok;
  return ok;
}

/* ---- running ---- */

/* The entries that the line has made, newest first, end where the old ones begin. */
static bool is_new(const tn_mind_turn *t, const tn_mind_scope *entry) { return entry != t->module.scope; }

static bool force_bound(tn_mind_turn *t) {
  tn_mind_session *s = t->session;
  for (const tn_mind_scope *at = s->module.scope; is_new(t, at); at = at->next) {
    const tn_mind_variable *variable = variable_of(s, at);
    if (variable && !tn_mind_value_force(&t->e, &s->frame.slots[variable->slot], TN_NOWHERE)) return false;
  }
  for (size_t i = 0; i < t->before.count; i++) {
    const tn_mind_variable *variable = variable_of(s, &t->before.at[i].box->entry);
    if (variable && !tn_mind_value_force(&t->e, &s->frame.slots[variable->slot], TN_NOWHERE)) return false;
  }
  return true;
}

bool tn_mind_turn_run(tn_mind_turn *t, tn_mind_value *value) {
  tn_mind_session *s = t->session;
  tn_fault fault;
  tn_diags_enter(s->host->diags, TN_PHASE_RUN);
  for (uint32_t i = 0; i < s->module.import_count; i++) {
    if (!tn_mind_eval_module(&t->e, s->module.imports[i], value)) return false;
  }
  if (!tn_mind_eval_unit(&t->e, t->unit, &s->frame, value)) return false;
  if (!tn_mind_trace_settle(&s->trace, &fault)) return tn_mind_eval_fault(&t->e, &fault, NULL);
  return force_bound(t);
}

/* ---- undoing ---- */

/* Copies of closures of earlier lines are in the memory of this one; those of its own stay with them. */
static void forget_instances(tn_mind_session *s, const tn_mind_unit *unit) {
  for (tn_mind_instanced *at = s->mind.instanced; at; at = at->next) {
    if (at->closure->unit != unit) at->closure->instances = at->before;
  }
  s->mind.instanced = NULL;
}

/* Places in a text that is gone are nowhere. */
static void forget_places(tn_mind_turn *t) {
  tn_graph *graph = &t->session->trace.graph;
  for (size_t i = t->nodes; t->session->trace.ready && i < graph->nodes.count; i++)
    graph->nodes.at[i].at = TN_NOWHERE;
}

static void undo(tn_mind_turn *t) {
  tn_mind_session *s = t->session;
  s->trace.pending.count = 0; /* what it made and did not need is not computed later either */
  s->trace.seen = s->trace.ready ? s->trace.graph.nodes.count : 0;
  uint32_t slots = s->module.slot_count;
  const tn_mind_scope **table = t->module.newest;
  for (const tn_mind_scope *at = s->module.scope; at && is_new(t, at); at = at->next) {
    if (at->name < t->module.newest_count) table[at->name] = at->older;
  }
  for (size_t i = 0; i < t->before.count; i++) {
    const tn_mind_before *before = &t->before.at[i];
    tn_mind_variable *variable = variable_of(s, &before->box->entry);
    if (!variable) continue;
    variable->type = before->type;
    variable->declared = before->declared;
    variable->fixed = before->fixed;
    s->frame.slots[variable->slot] = before->value;
  }
  s->module = t->module;
  s->mind.modules = t->modules;
  for (uint32_t i = s->module.slot_count; i < slots && i < s->slot_room; i++)
    s->frame.slots[i] = (tn_mind_value){ 0 };
}

/* ---- what outlives the line ---- */

static tn_mind_value copy_value(tn_arena *arena, tn_mind_value value) {
  switch ((tn_mind_value_kind)value.kind) {
    case TN_MIND_V_STRING: value.text = tn_arena_str(arena, value.text); break;
    case TN_MIND_V_SHAPE: value.shape = tn_arena_copy(arena, value.shape, sizeof *value.shape); break;
    case TN_MIND_V_TUPLE:
    case TN_MIND_V_LIST:
    case TN_MIND_V_GRAD: {
      tn_mind_value *items = tn_arena_room(arena) ? tn_arena_array(arena, value.count, sizeof *items) : NULL;
      for (uint32_t i = 0; items && i < value.count; i++) items[i] = copy_value(arena, value.items[i]);
      value.items = items;
      if (value.names) value.names = tn_arena_copy(arena, value.names, value.count * sizeof *value.names);
      break;
    }
    default: break;
  }
  return value;
}

static bool has_function(tn_stack *stack, const tn_mind_type *type) {
  if (type->kind == TN_MIND_T_FN) return true;
  bool items = tn_mind_type_has_items(type);
  if (items && !tn_stack_room(stack)) return true;
  for (uint32_t i = 0; items && i < type->count; i++) {
    if (has_function(stack, type->items[i])) return true;
  }
  return false;
}

/* Whether the line's own memory is still needed when it is over. */
static bool must_stay(const tn_mind_turn *t) {
  const tn_mind_session *s = t->session;
  for (const tn_mind_scope *at = s->module.scope; is_new(t, at); at = at->next) {
    if (at->binds != TN_MIND_BINDS_VARIABLE || at->variable->module != &s->module) return true;
    if (has_function(&s->host->heap->stack, at->variable->type)) return true;
  }
  for (size_t i = 0; i < t->before.count; i++) {
    const tn_mind_variable *variable = variable_of(s, &t->before.at[i].box->entry);
    if (!variable || !has_function(&s->host->heap->stack, variable->type)) continue;
    const tn_mind_value *now = &s->frame.slots[variable->slot];
    if (memcmp(now, &t->before.at[i].value, sizeof *now) != 0) return true;
  }
  return s->mind.modules != t->modules;
}

/* The same for the table by name, which may have grown in the line's arena. */
static bool keep_table(tn_mind_turn *t) {
  tn_mind_module *module = &t->session->module;
  tn_heap *heap = t->session->host->heap;
  if (module->newest == t->module.newest) return true;
  const tn_mind_scope **table = tn_heap_alloc(heap, module->newest_count * sizeof *table);
  if (!table) return false;
  memcpy(table, module->newest, module->newest_count * sizeof *table);
  tn_heap_free(heap, (void *)(uintptr_t)t->module.newest, t->module.newest_count * sizeof *table);
  module->newest = table;
  return true;
}

typedef struct {
  tn_mind_box *box;
  tn_mind_variable *from; /* NULL: no variable of the session's own */
  tn_mind_kept kept;      /* of the variable */
} fresh_box;

typedef tn_vec(fresh_box) fresh_boxes;

/* Boxes for what the line has bound, oldest first. Of a line that is forgotten only what can be seen. */
static bool make_boxes(tn_mind_turn *t, bool stays, fresh_boxes *out) {
  tn_mind_session *s = t->session;
  tn_heap *heap = s->host->heap;
  for (const tn_mind_scope *at = s->module.scope; is_new(t, at); at = at->next) {
    if (!stays && s->module.newest[at->name] != at) continue;
    fresh_box fresh = { .box = tn_heap_alloc(heap, sizeof *fresh.box), .from = variable_of(s, at) };
    if (!fresh.box || !tn_vec_push(heap, out, fresh)) {
      tn_heap_free(heap, fresh.box, sizeof *fresh.box);
      return false;
    }
    fresh.box->entry = *at;
    if (stays) fresh.box->home = t->line;
  }
  for (size_t i = 0; i < out->count / 2; i++) {
    fresh_box other = out->at[i];
    out->at[i] = out->at[out->count - 1 - i];
    out->at[out->count - 1 - i] = other;
  }
  return true;
}

/* Copies that outlive the line. The arena says whether all of it could be copied. */
static tn_mind_kept copy_kept(tn_mind_session *s, tn_arena *arena, const tn_mind_variable *variable) {
  tn_mind_kept kept = { .type = tn_mind_type_copy(arena, variable->type),
                        .value = copy_value(arena, s->frame.slots[variable->slot]) };
  if (variable->declared) kept.declared = tn_mind_type_copy(arena, variable->declared);
  s->copies++;
  return kept;
}

static void use_kept(tn_mind_session *s, tn_mind_variable *variable, const tn_mind_kept *kept) {
  variable->type = kept->type;
  variable->declared = kept->declared;
  s->frame.slots[variable->slot] = kept->value;
}

/* A variable of a line that is forgotten moves into its box, and into a slot that is free. */
static void settle_box(tn_mind_session *s, fresh_box *fresh) {
  if (!fresh->from) return;
  if (!fresh->box->home) {
    uint32_t slot = s->free_slots.count ? tn_vec_pop(&s->free_slots) : s->module.slot_count++;
    fresh->box->own = *fresh->from;
    fresh->box->own.unit = &s->nowhere;
    fresh->box->own.slot = slot;
    fresh->box->entry.variable = &fresh->box->own;
  }
  use_kept(s, fresh->box->entry.variable, &fresh->kept);
}

static bool is_as_before(const tn_mind_session *s, const tn_mind_variable *variable,
                         const tn_mind_before *before) {
  const tn_mind_value *now = &s->frame.slots[variable->slot];
  return memcmp(now, &before->value, sizeof *now) == 0 &&
         tn_mind_type_equal(&s->host->heap->stack, variable->type, before->type);
}

/* Variables that were there before and were named: their types went into the line and come out of it. */
static void keep_changes(tn_mind_turn *t, bool stays) {
  tn_mind_session *s = t->session;
  for (size_t i = 0; i < t->before.count; i++) {
    const tn_mind_before *before = &t->before.at[i];
    tn_mind_variable *variable = variable_of(s, &before->box->entry);
    if (!variable) continue;
    if (is_as_before(s, variable, before)) {
      variable->type = before->type;
      variable->declared = before->declared;
      continue;
    }
    bool same = memcmp(&s->frame.slots[variable->slot], &before->value, sizeof before->value) == 0;
    use_kept(s, variable, &before->kept);
    if (stays && !same && has_function(&s->host->heap->stack, variable->type)) before->box->holds = t->line;
  }
}

/* Everything that is to be kept is copied before anything changes. */
static bool copy_all(tn_mind_turn *t, fresh_boxes *boxes) {
  tn_mind_session *s = t->session;
  for (size_t i = 0; i < boxes->count; i++) {
    if (boxes->at[i].from) boxes->at[i].kept = copy_kept(s, &s->kept, boxes->at[i].from);
  }
  for (size_t i = 0; i < t->before.count; i++) {
    tn_mind_before *before = &t->before.at[i];
    const tn_mind_variable *variable = variable_of(s, &before->box->entry);
    if (variable && !is_as_before(s, variable, before)) before->kept = copy_kept(s, &s->kept, variable);
  }
  bool ok = !s->kept.failed;
  s->kept.failed = false; /* what was copied is not used */
  return ok;
}

/* A function is what its name means in all of its text. */
static bool is_redefined(const tn_mind_session *s, const tn_mind_line *line, const tn_mind_box *box) {
  const tn_mind_scope *now = tn_mind_lookup_in(&s->module, box->entry.name);
  return now && now->binds == TN_MIND_BINDS_FUNCTION && box_of(now)->home == line;
}

static void keep_line(tn_mind_turn *t) {
  tn_mind_session *s = t->session;
  tn_mind_line *line = t->line;
  line->pinned = s->mind.modules != t->modules;
  for (size_t i = 0; i < t->before.count; i++) {
    tn_mind_box *box = t->before.at[i].box;
    if (t->before.at[i].used && !is_redefined(s, line, box))
      line->named.at[line->named.count++] = box; /* there is room */
  }
  line->next = s->lines;
  s->lines = line;
  s->line_count++;
}

static void keep_all(tn_mind_turn *t, bool stays, fresh_boxes *boxes) {
  tn_mind_session *s = t->session;
  uint32_t slots = s->module.slot_count;
  const tn_mind_scope **table = s->module.newest;
  for (const tn_mind_scope *at = s->module.scope; is_new(t, at); at = at->next) table[at->name] = at->older;
  s->module.scope = t->module.scope;
  if (stays) {
    t->line->slot = t->module.slot_count;
    t->line->slot_end = slots;
  } else {
    s->module.slot_count = t->module.slot_count;
    for (uint32_t i = t->module.slot_count; i < slots; i++) s->frame.slots[i] = (tn_mind_value){ 0 };
  }
  for (size_t i = 0; i < boxes->count; i++) {
    settle_box(s, &boxes->at[i]);
    tn_mind_link_entry(&s->module, &boxes->at[i].box->entry);
    s->boxes++;
  }
  keep_changes(t, stays);
  if (stays) keep_line(t);
}

static bool keep_turn(tn_mind_turn *t, bool *stays) {
  tn_heap *heap = t->session->host->heap;
  fresh_boxes boxes = { 0 };
  *stays = must_stay(t);
  bool ok = make_boxes(t, *stays, &boxes) && copy_all(t, &boxes) &&
            tn_vec_reserve(heap, &t->line->named, t->before.count) && keep_table(t);
  if (ok)
    keep_all(t, *stays, &boxes);
  else
    for (size_t i = 0; i < boxes.count; i++) tn_heap_free(heap, boxes.at[i].box, sizeof *boxes.at[i].box);
  tn_vec_free(heap, &boxes);
  return ok;
}

/* ---- what is not needed any more ---- */

/* Types and values move to a new arena, and what is not used any more is left out. Where there is no memory
 * for that, they stay where they are. */
static void move_kept(tn_mind_session *s) {
  tn_heap *heap = s->host->heap;
  tn_vec(tn_mind_kept) all = { 0 };
  tn_arena fresh;
  bool ok = true;
  tn_arena_init(&fresh, heap);
  for (const tn_mind_scope *at = s->module.scope; ok && at; at = at->next) {
    const tn_mind_variable *variable = variable_of(s, at);
    if (variable) ok = tn_vec_push(heap, &all, copy_kept(s, &fresh, variable)) && !fresh.failed;
  }
  size_t next = 0;
  for (const tn_mind_scope *at = s->module.scope; ok && at; at = at->next) {
    tn_mind_variable *variable = variable_of(s, at);
    if (variable) use_kept(s, variable, &all.at[next++]);
  }
  s->copies = 0;
  tn_vec_free(heap, &all);
  tn_arena_free(ok ? &s->kept : &fresh);
  if (ok) s->kept = fresh;
}

static void mark_box(tn_mind_box *box, bool *more) {
  if (box->marked) return;
  box->marked = *more = true;
  if (box->home) box->home->marked = true;
  if (box->holds) box->holds->marked = true;
}

static void mark(tn_mind_session *s) {
  bool more = true;
  for (const tn_mind_scope *at = s->module.scope; at; at = at->next) box_of(at)->marked = false;
  for (tn_mind_line *line = s->lines; line; line = line->next) line->marked = line->pinned;
  for (const tn_mind_scope *at = s->module.scope; at; at = at->next) {
    if (tn_mind_session_visible(s, at)) mark_box(box_of(at), &more);
  }
  while (more) { /* a line names what is older, so that one round nearly always suffices */
    more = false;
    for (tn_mind_line *line = s->lines; line; line = line->next) {
      for (size_t i = 0; line->marked && i < line->named.count; i++) mark_box(line->named.at[i], &more);
    }
    for (const tn_mind_scope *at = s->module.scope; at; at = at->next) {
      if (box_of(at)->home && box_of(at)->home->marked) mark_box(box_of(at), &more);
    }
  }
}

/* The entries that are needed, linked as if no others had been: the oldest first. */
static void sweep_boxes(tn_mind_session *s) {
  tn_mind_scope *oldest = NULL;
  for (const tn_mind_scope *at = s->module.scope, *next; at; at = next) {
    tn_mind_box *box = box_of(at);
    next = at->next;
    s->module.newest[at->name] = NULL;
    if (box->marked) {
      box->entry.next = oldest;
      oldest = &box->entry;
      continue;
    }
    free_box(s, box);
    s->boxes--;
  }
  s->module.scope = NULL;
  for (tn_mind_scope *at = oldest, *next; at; at = next) {
    next = (tn_mind_scope *)(uintptr_t)at->next;
    tn_mind_link_entry(&s->module, at);
  }
}

static void sweep_lines(tn_mind_session *s) {
  for (tn_mind_line **at = &s->lines; *at;) {
    tn_mind_line *line = *at;
    if (line->marked) {
      at = &line->next;
      continue;
    }
    *at = line->next;
    free_line(s, line);
    s->line_count--;
  }
}

/* ---- the graph ---- */

static void hold_frame(tn_mind_holders *h, const tn_mind_frame *frame, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) tn_mind_hold(h, &frame->slots[i], true);
}

/* Keeps the nodes that variables need, with the history that leads to other variables. A history that has
 * become too long is given up, but never that of the last line. */
static void compact(tn_mind_session *s, size_t made) {
  tn_mind_holders h;
  tn_mind_holders_init(&h, s->host->heap);
  hold_frame(&h, &s->frame, s->module.slot_count);
  for (const tn_mind_module *m = s->mind.modules; m; m = m->next) {
    if (m->frame) hold_frame(&h, m->frame, m->frame->slot_count);
  }
  if (tn_mind_compact(&s->trace, &h, false) && s->trace.graph.nodes.count > HISTORY_LIMIT + made)
    s->forgot = tn_mind_compact(&s->trace, &h, true);
  tn_mind_holders_free(&h);
  s->compact_at = s->trace.graph.nodes.count * 3 / 2 + FIRST_COMPACTION;
  s->compact_bytes = 2 * s->host->heap->used + COMPACTION_BYTES;
}

/* `made`: nodes that the last line has added. */
static void tidy(tn_mind_session *s, size_t made) {
  if (s->boxes + s->line_count > s->collect_at) {
    mark(s);
    sweep_boxes(s);
    sweep_lines(s);
    s->collect_at = 2 * (s->boxes + s->line_count) + FIRST_COLLECTION;
  }
  if (s->copies > 4 * s->boxes + FIRST_COLLECTION) move_kept(s);
  bool large = s->host->heap->used > s->compact_bytes;
  if (s->trace.ready && (large || s->trace.graph.nodes.count > s->compact_at)) compact(s, made);
}

/* ---- the end of a line ---- */

bool tn_mind_turn_end(tn_mind_turn *t, bool keep) {
  tn_mind_session *s = t->session;
  bool stays = false, ok = true;
  if (!t->line) return true;
  forget_instances(s, t->unit);
  if (keep) {
    ok = keep_turn(t, &stays);
    s->drawn = ok ? t->e.drawn : s->drawn;
    if (!ok) stays = out_of_memory(s);
  }
  if (!keep || !ok) {
    undo(t);
    tn_sources_rewind(s->host->sources, t->files); /* what was imported */
  }
  tn_vec_free(s->host->heap, &t->before);
  s->mind.arena = &s->kept;
  s->module.unit = NULL;
  if (!stays) {
    forget_places(t);
    t->line->slot = t->line->slot_end = 0;
    free_line(s, t->line);
  }
  tidy(s, s->trace.ready ? s->trace.graph.nodes.count - t->nodes : 0);
  if (!keep && !t->checked) tn_names_rewind(s->host->names);
  return ok;
}
