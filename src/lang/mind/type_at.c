/* lang/mind/type_at.c: what the checker knows of a place in a text.
 *
 * The smallest expression that holds the place and has a type, or the name that
 * is bound there. A text with mistakes is looked at as far as it was understood. */
#include "lang/mind/doors.h"
#include "lang/mind/internal.h"

typedef struct {
  tn_mind *mind;
  const tn_mind_module *module;
  uint32_t place;
  uint32_t width; /* of the smallest so far */
  const tn_mind_type *type;
  const tn_mind_function *function; /* where it is one with a name */
} seeker;

static void offer(seeker *s, uint32_t start, uint32_t end, const tn_mind_type *type,
                  const tn_mind_function *function) {
  bool here = start <= s->place && s->place < end && end - start <= s->width;
  if (!here || (!type && !function)) return;
  s->width = end - start;
  s->type = type;
  s->function = function;
}

static void offer_variable(seeker *s, const tn_mind_word *word, const tn_mind_variable *variable) {
  if (variable) offer(s, word->start, word->end, variable->type, NULL);
}

static void seek_block(seeker *s, const tn_mind_block *block);
static void seek(seeker *s, const tn_mind_node *top);

static void seek_list(seeker *s, const tn_mind_node *item) {
  for (; item; item = item->next) seek(s, item);
}

static void seek_let(seeker *s, const tn_mind_node *node) {
  uint32_t count = node->let.word.name ? 1 : node->let.count;
  const tn_mind_word *words = node->let.word.name ? &node->let.word : node->let.words;
  for (uint32_t i = 0; node->let.variables && i < count; i++)
    offer_variable(s, &words[i], node->let.variables[i]);
  if (node->let.value) seek(s, node->let.value);
}

static void seek_fn(seeker *s, const tn_mind_definition *fn) {
  const tn_mind_function *function = fn->function;
  if (function) offer(s, fn->word.start, fn->word.end, NULL, function);
  for (uint32_t i = 0; function && i < fn->count; i++)
    offer_variable(s, &fn->params[i].word, function->params[i]);
  seek_block(s, &fn->body);
}

/* A closure was checked as a copy for each kind of call; the newest says what its names are. */
static void seek_closure(seeker *s, const tn_mind_node *node) {
  const tn_mind_closure *state = node->closure.state;
  const tn_mind_function *instance = state ? state->instances : NULL;
  for (uint32_t i = 0; instance && i < node->closure.count; i++)
    offer_variable(s, &node->closure.params[i].word, instance->params[i]);
  if (instance) seek(s, instance->body);
}

static void seek_one(seeker *s, const tn_mind_node *node) {
  const tn_mind_function *function = node->kind == TN_MIND_NAME ? node->name.function : NULL;
  if (function && !function->definition) function = NULL;
  offer(s, node->start, node->end, node->type, function);
  switch ((tn_mind_kind)node->kind) {
    case TN_MIND_TUPLE:
    case TN_MIND_LIST: seek_list(s, node->list.items); break;
    case TN_MIND_BINARY:
    case TN_MIND_LOGIC: seek(s, node->right); break;
    case TN_MIND_CALL:
    case TN_MIND_INDEX: seek_list(s, node->call.args); break;
    case TN_MIND_IF:
      for (const tn_mind_branch *branch = node->branch.branches; branch; branch = branch->next) {
        if (branch->condition) seek(s, branch->condition);
        seek_block(s, &branch->block);
      }
      break;
    case TN_MIND_CLOSURE: seek_closure(s, node); break;
    case TN_MIND_BODY: seek_block(s, &node->block); break;
    case TN_MIND_LET:
    case TN_MIND_ASSIGN: seek_let(s, node); break;
    case TN_MIND_FN:
      if (node->definition) seek_fn(s, node->definition);
      break;
    default: break;
  }
}

static void seek(seeker *s, const tn_mind_node *top) {
  const tn_mind_node *node = top;
  if (!tn_mind_room(s->mind)) return;
  while (node->left) node = node->left;
  for (;; node = node->up) {
    seek_one(s, node);
    if (node == top) break;
  }
}

static void seek_block(seeker *s, const tn_mind_block *block) { seek_list(s, block->first); }

static void write_found(const seeker *s, tn_text *out) {
  tn_host *host = s->mind->host;
  if (!s->function) {
    tn_mind_type_print(tn_mind_type_plain(s->mind->arena, s->type), host->names, out);
    return;
  }
  const tn_mind_definition *fn = s->function->definition;
  tn_text_puts(out, "fn ");
  tn_text_add(out, tn_span_text(host->sources, tn_mind_at(s->function->unit, fn->word.start, fn->head_end)));
}

bool tn_lang_mind_type_at(tn_unit *unit, uint32_t place, tn_text *out) {
  tn_host *host = unit->host;
  tn_arena arena;
  tn_mind mind;
  tn_arena_init(&arena, host->heap);
  tn_mind_init(&mind, host, &arena);
  tn_mind_load(&mind, unit->file);
  seeker s = { .mind = &mind, .module = mind.modules, .place = place, .width = UINT32_MAX };
  while (s.module && s.module->next) s.module = s.module->next; /* the first that was read */
  if (s.module && s.module->unit) seek_block(&s, &s.module->unit->block);
  bool found = s.function || (s.type && s.type->kind != TN_MIND_T_ERROR);
  if (found) write_found(&s, out);
  tn_mind_free(&mind);
  tn_arena_free(&arena);
  return found && !out->failed;
}
