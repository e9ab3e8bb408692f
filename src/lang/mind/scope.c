/* lang/mind/scope.c: which name means what.
 *
 * Local names are a list that grows at its front, so leaving a block is going
 * back to an older front; each front has a tree of the names from there on, which
 * shares all but one path with that of the next. A module's names are such a list
 * too. A function sees the module's names that stand before it; if there is none
 * of a name, then one that stands after it, and functions and imports wherever
 * they stand. A name may be bound often: entries of one name jump far back. */
#include <string.h>

#include "lang/mind/check.h"

tn_mind_variable *tn_mind_variable_new(tn_mind_checker *c, const tn_mind_word *word,
                                       const tn_mind_type *type) {
  tn_mind_variable *variable = tn_arena_new(c->mind->arena, tn_mind_variable);
  if (!variable) return NULL;
  *variable = (tn_mind_variable){ .name = word->name,
                                  .unit = c->unit,
                                  .start = word->start,
                                  .end = word->end,
                                  .type = type,
                                  .owner = c->function,
                                  .module = c->module,
                                  .last_use = c->mind->statement };
  variable->slot = c->function ? c->function->slot_count++ : c->module->slot_count++;
  if (c->function) return variable;
  variable->next = c->unit->variables;
  c->unit->variables = variable;
  return variable;
}

/* When a function runs is not known, nor when another module does. */
static bool is_elsewhere(const tn_mind_checker *c, const tn_mind_variable *variable) {
  return c->function || c->module != variable->module;
}

void tn_mind_use(const tn_mind_checker *c, tn_mind_variable *variable) {
  variable->kept |= is_elsewhere(c, variable);
  variable->last_use = c->mind->statement;
}

void tn_mind_use_wrt(const tn_mind_checker *c, tn_mind_variable *variable) {
  tn_mind_use(c, variable);
  variable->kept_wrt |= is_elsewhere(c, variable);
  variable->last_wrt = c->mind->statement;
}

/* Room for the name in the table of the newest entries. */
static bool reserve_name(tn_mind *mind, tn_mind_module *module, tn_name name) {
  if (name < module->newest_count) return true;
  uint32_t room = module->newest_count ? module->newest_count : 64;
  while (room <= name) room *= 2;
  const tn_mind_scope **table = tn_arena_array(mind->arena, room, sizeof *table);
  if (!table) return false;
  if (module->newest_count) memcpy(table, module->newest, module->newest_count * sizeof *table);
  module->newest = table;
  module->newest_count = room;
  return true;
}

static uint32_t nth(const tn_mind_scope *entry) { return entry ? entry->nth : 0; }

/* Two jumps of one length become one of both together, and a step. */
void tn_mind_link_entry(tn_mind_module *module, tn_mind_scope *entry) {
  const tn_mind_scope *older = module->newest[entry->name], *jump = older ? older->jump : NULL;
  bool equal = jump && nth(older) - nth(jump) == nth(jump) - nth(jump->jump);
  entry->next = module->scope;
  entry->nth = nth(older) + 1;
  entry->older = older;
  entry->jump = equal ? jump->jump : older;
  entry->fixed = entry->binds != TN_MIND_BINDS_VARIABLE ? entry : older ? older->fixed : NULL;
  module->scope = module->newest[entry->name] = entry;
}

void tn_mind_declare_in_module(tn_mind *mind, tn_mind_module *module, tn_mind_scope entry) {
  if (!reserve_name(mind, module, entry.name)) return;
  tn_mind_scope *kept = tn_arena_copy(mind->arena, &entry, sizeof entry);
  if (!kept) return;
  kept->order = module->entry_count++;
  tn_mind_link_entry(module, kept);
}

/* ---- local names ---- */

#define BRANCH_BITS 3 /* of a name, by level */
#define BRANCHES    (1 << BRANCH_BITS)

struct tn_mind_names {
  const tn_mind_scope *entry; /* whose name's bits end here; NULL: none */
  const tn_mind_names *inner[BRANCHES];
};

/* A copy of the path to the name, with the entry at its end. */
static const tn_mind_names *add_name(tn_arena *arena, const tn_mind_names *from, const tn_mind_scope *entry) {
  const tn_mind_names *top = NULL, **place = &top;
  for (tn_name rest = entry->name;; rest >>= BRANCH_BITS) {
    tn_mind_names *node = tn_arena_new(arena, tn_mind_names);
    if (!node) return NULL;
    if (from) *node = *from;
    *place = node;
    if (!rest) {
      node->entry = entry;
      return top;
    }
    place = &node->inner[rest % BRANCHES];
    from = *place;
  }
}

static const tn_mind_scope *find_local(const tn_mind_checker *c, tn_name name) {
  const tn_mind_names *node = c->locals ? c->locals->names : NULL;
  for (; node && name; name >>= BRANCH_BITS) {
    node = node->inner[name % BRANCHES];
    c->mind->host->looked_at++;
  }
  return node ? node->entry : NULL;
}

void tn_mind_declare(tn_mind_checker *c, tn_mind_variable *variable) {
  tn_mind_scope entry = { .name = variable->name, .binds = TN_MIND_BINDS_VARIABLE, .variable = variable };
  if (!c->function && !c->conditional) {
    tn_mind_declare_in_module(c->mind, c->module, entry);
    return;
  }
  entry.next = c->locals;
  tn_mind_scope *kept = tn_arena_copy(c->mind->arena, &entry, sizeof entry);
  if (!kept) return;
  kept->names = add_name(c->mind->arena, c->locals ? c->locals->names : NULL, kept);
  if (kept->names) c->locals = kept;
}

const tn_mind_scope *tn_mind_lookup_in(const tn_mind_module *module, tn_name name) {
  return name < module->newest_count ? module->newest[name] : NULL;
}

/* The newest before the function, else the oldest after it. */
static const tn_mind_scope *lookup_from(const tn_mind_checker *c, tn_name name, uint32_t order) {
  const tn_mind_scope *at = tn_mind_lookup_in(c->module, name), *later = NULL;
  if (at && at->fixed && at->fixed->order >= order) return at->fixed;
  while (at && at->order >= order) {
    c->mind->host->looked_at++;
    later = at;
    at = at->jump && at->jump->order >= order ? at->jump : at->older;
  }
  return at ? at : later;
}

static uint32_t order_of(const tn_mind_function *function) {
  while (function && function->outer) function = function->outer;
  return function ? function->order : UINT32_MAX;
}

const tn_mind_scope *tn_mind_lookup(const tn_mind_checker *c, tn_name name) {
  const tn_mind_scope *local = find_local(c, name);
  if (local) return local;
  return c->function ? lookup_from(c, name, order_of(c->function)) : tn_mind_lookup_in(c->module, name);
}

bool tn_mind_is_dimension(const tn_mind_checker *c, tn_name name) {
  return tn_mind_is_size(tn_mind_sizes_here(c), TN_DIM_SYMBOL(name)) && !find_local(c, name);
}

bool tn_mind_is_symbol(const tn_mind_checker *c, tn_name name) {
  if (tn_mind_is_dimension(c, name)) return true;
  tn_str text = tn_names_text(c->mind->host->names, name);
  return text.len && text.at[0] >= 'A' && text.at[0] <= 'Z';
}

/* ---- lists of names ---- */

void tn_mind_begin_names(tn_mind *mind) { mind->round++; }

static bool reserve_mark(tn_mind *mind, tn_name name) {
  size_t count = mind->marks.count;
  if (name < count) return true;
  size_t more = (size_t)name + 1 - count;
  if (!tn_vec_reserve(mind->host->heap, &mind->marks, more)) {
    mind->arena->failed = true;
    return false;
  }
  memset(mind->marks.at + count, 0, more * sizeof *mind->marks.at);
  mind->marks.count += more;
  return true;
}

bool tn_mind_mark_name(tn_mind *mind, tn_name name, uint32_t index) {
  mind->host->looked_at++;
  if (!reserve_mark(mind, name) || mind->marks.at[name].round == mind->round) return false;
  mind->marks.at[name] = (tn_mind_mark){ mind->round, index };
  return true;
}

bool tn_mind_repeats(tn_mind_checker *c, const tn_mind_word *word, uint32_t index, const char *message) {
  if (tn_mind_mark_name(c->mind, word->name, index) || c->mind->arena->failed) return false;
  tn_report(tn_mind_diags(c), TN_DIAG_E1001, tn_mind_word_span(c->unit, word), TN_STR("message", message));
  return true;
}

int64_t tn_mind_marked(const tn_mind *mind, tn_name name) {
  bool met = name < mind->marks.count && mind->marks.at[name].round == mind->round;
  return met ? (int64_t)mind->marks.at[name].index : -1;
}

/* ---- suggestions ---- */

typedef struct {
  tn_mind *mind;
  tn_str *at;
  size_t count, room;
} candidates;

static void add_candidate(candidates *list, tn_str text) {
  list->mind->host->looked_at++;
  if (list->count < list->room) list->at[list->count++] = text;
}

static bool can_be_called(const tn_mind_scope *entry) {
  if (entry->binds == TN_MIND_BINDS_VARIABLE) return entry->variable->type->kind == TN_MIND_T_FN;
  return entry->binds == TN_MIND_BINDS_FUNCTION;
}

static void add_scope(candidates *list, const tn_mind_scope *from, bool functions) {
  for (const tn_mind_scope *at = from; at && list->count < list->room; at = at->next) {
    if (!functions || can_be_called(at))
      add_candidate(list, tn_names_text(list->mind->host->names, at->name));
  }
}

static void add_library(candidates *list) {
  size_t count;
  const tn_mind_entry *entries = tn_mind_library(&count);
  for (size_t i = 0; i < count; i++) add_candidate(list, tn_str_of(entries[i].name));
}

#define CANDIDATE_LIMIT 2000

/* Nobody sees a suggestion of a diagnostic that is left out. */
static bool begin_candidates(candidates *list, tn_mind *mind) {
  *list = (candidates){ .mind = mind, .room = CANDIDATE_LIMIT };
  if (!tn_diags_has_room(mind->host->diags, TN_DIAG_E2002)) return false;
  list->at = tn_heap_alloc(mind->host->heap, list->room * sizeof *list->at);
  return list->at != NULL;
}

/* The texts of names outlive the list. */
static tn_str nearest(candidates *list, tn_str wrong) {
  tn_str found = tn_str_suggest(wrong, list->at, list->count);
  tn_heap_free(list->mind->host->heap, list->at, list->room * sizeof *list->at);
  return found;
}

tn_str tn_mind_suggest(const tn_mind_checker *c, tn_str wrong, bool functions) {
  candidates list;
  if (!begin_candidates(&list, c->mind)) return TN_LIT("");
  if (functions) add_library(&list);
  add_scope(&list, c->locals, functions);
  add_scope(&list, c->module->scope, functions);
  if (!functions) add_library(&list);
  return nearest(&list, wrong);
}

tn_str tn_mind_suggest_public(tn_mind *mind, const tn_mind_module *module, tn_str wrong) {
  candidates list;
  if (!begin_candidates(&list, mind)) return TN_LIT("");
  for (const tn_mind_scope *at = module->scope; at && list.count < list.room; at = at->next) {
    if (tn_mind_is_public(module, at->name)) add_candidate(&list, tn_names_text(mind->host->names, at->name));
  }
  return nearest(&list, wrong);
}
