/* lang/mind/opened.c: which files a program opens, found before it runs.
 *
 * The sandbox is narrowed to them. A path counts when its text stands in the
 * program and can get to `read` or the like, which read, load or save: written
 * there, bound to a name, chosen by an `if`, given to a function that reads. A path
 * that is made in another way, from what a file holds, is not one that the program
 * names.
 *
 * Values are followed backwards from every call of such a function. Parameters are not
 * told apart: one that is read stands for every string that any function of the
 * program is called with. What cannot be followed (an item of a tuple, a name
 * that is assigned again, `read` as a value, a closure) stands for every string
 * in the program, so that more may be granted than is read, and never less. */
#include "lang/mind/internal.h"

#define MOST_STEPS 100000
#define MOST_DEPTH 200

typedef struct {
  tn_mind *mind;
  tn_name openers[TN_MIND_OPENER_COUNT];
  bool saves; /* a file is written */
  tn_vec(tn_str) paths;
  uint32_t steps, depth;
  bool parameters; /* a parameter is read */
  bool anything;   /* something that cannot be followed is */
  bool failed;     /* memory ran out */
} search;

static void follow(search *s, const tn_mind_node *node);

static void add_path(search *s, tn_str path) {
  if (!tn_vec_push(s->mind->host->heap, &s->paths, path)) s->failed = true;
}

/* The value of a block is that of its last statement. */
static void follow_block(search *s, const tn_mind_block *block) {
  const tn_mind_node *last = tn_mind_last(block);
  if (last) follow(s, last);
}

static bool is_parameter(const tn_mind_variable *variable) {
  const tn_mind_function *owner = variable->owner;
  for (uint32_t i = 0; owner && owner->definition && i < owner->param_count; i++) {
    if (owner->params[i] == variable) return true;
  }
  return false;
}

static void follow_variable(search *s, const tn_mind_variable *variable) {
  if (variable && is_parameter(variable) && !variable->assigned)
    s->parameters = true;
  else if (variable && variable->value && !variable->assigned)
    follow(s, variable->value);
  else
    s->anything = true;
}

/* Whether a name stands for a function that opens a file, as far as its spelling goes. */
static bool opens(const search *s, const tn_mind_node *callee) {
  if (callee->kind == TN_MIND_NAME) return tn_mind_is_opener(s->openers, callee->name.name);
  return callee->kind == TN_MIND_FIELD && tn_mind_is_opener(s->openers, callee->field.word.name);
}

static const tn_mind_node *earlier_word(const tn_mind_node *word) {
  return word->kind == TN_MIND_NAME ? word->name.earlier : word->field.earlier;
}

/* No other function of the library makes a path. */
static void follow_call(search *s, const tn_mind_node *node) {
  const tn_mind_function *function = node->call.function;
  if (opens(s, node->left) || node->call.target == TN_MIND_CALL_LIBRARY) return;
  if (node->call.target == TN_MIND_CALL_FUNCTION && function && function->definition)
    follow_block(s, &function->definition->body);
  else
    s->anything = true;
}

static void follow_parts(search *s, const tn_mind_node *node) {
  switch (node->kind) {
    case TN_MIND_STRING: add_path(s, node->text); break;
    case TN_MIND_NAME: follow_variable(s, node->name.variable); break;
    case TN_MIND_CALL: follow_call(s, node); break;
    case TN_MIND_IF:
      for (const tn_mind_branch *b = node->branch.branches; b; b = b->next) follow_block(s, &b->block);
      break;
    case TN_MIND_BODY: follow_block(s, &node->block); break;
    default: s->anything = true; break;
  }
}

static void follow(search *s, const tn_mind_node *node) {
  const tn_mind_type *type = node->type;
  if (type && type->kind == TN_MIND_T_STRING && type->known) {
    add_path(s, type->text); /* the checker knows it */
  } else if (s->anything || s->depth == MOST_DEPTH || ++s->steps > MOST_STEPS || !tn_mind_room(s->mind)) {
    s->anything = true;
  } else {
    s->depth++;
    follow_parts(s, node);
    s->depth--;
  }
}

static bool may_be_string(const tn_mind_node *node) {
  return !node->type || node->type->kind == TN_MIND_T_STRING;
}

/* "x".read() gives what stands before the point; lib.read("x") gives a module, which has no type. */
static void follow_arguments(search *s, const tn_mind_node *call) {
  const tn_mind_node *callee = call->left;
  bool library = call->call.target == TN_MIND_CALL_LIBRARY;
  s->saves |= !library || call->call.entry->special == TN_MIND_SAVE;
  for (const tn_mind_node *a = call->call.args; a; a = a->next) {
    if (may_be_string(a)) follow(s, a);
  }
  if (callee->kind == TN_MIND_FIELD && callee->left->type) follow(s, callee->left);
}

static void follow_given(search *s, const tn_mind_node *call) {
  const tn_mind_node *callee = call->left;
  if (call->call.target == TN_MIND_CALL_LIBRARY) return;
  for (const tn_mind_node *a = call->call.args; a; a = a->next) {
    if (may_be_string(a)) follow(s, a);
  }
  if (callee->kind == TN_MIND_FIELD && callee->left->type && may_be_string(callee->left))
    follow(s, callee->left);
}

typedef void (*visit)(search *s, const tn_mind_node *call);

static void each_call(search *s, bool openers, visit take) {
  for (const tn_mind_module *m = s->mind->modules; m; m = m->next) {
    for (const tn_mind_node *c = m->unit ? m->unit->calls : NULL; c; c = c->call.earlier) {
      if (!s->anything && (!openers || opens(s, c->left))) take(s, c);
    }
  }
}

/* Every string of the program. */
static void add_everything(search *s) {
  s->paths.count = 0;
  for (const tn_mind_module *m = s->mind->modules; m; m = m->next) {
    for (const tn_mind_text *t = m->unit ? m->unit->texts : NULL; t; t = t->next) add_path(s, t->text);
  }
}

/* One of them under another name is called where this does not see it. */
static bool is_renamed(const search *s) {
  uint32_t words = 0, calls = 0;
  for (const tn_mind_module *m = s->mind->modules; m; m = m->next) {
    if (!m->unit) continue;
    for (const tn_mind_node *w = m->unit->words; w; w = earlier_word(w)) words += opens(s, w);
    for (const tn_mind_node *c = m->unit->calls; c; c = c->call.earlier) calls += opens(s, c->left);
  }
  return words > calls;
}

bool tn_mind_seal(tn_mind *mind) {
  search s = { .mind = mind };
  tn_mind_openers(mind->host->names, s.openers);
  for (int i = 0; i < TN_MIND_OPENER_COUNT; i++) s.failed |= s.openers[i] == 0;
  s.anything = s.saves = is_renamed(&s);
  each_call(&s, true, follow_arguments);
  if (s.parameters) each_call(&s, false, follow_given);
  if (s.anything) add_everything(&s);
  mind->host->saved = s.paths.at;
  mind->host->saved_count = s.saves ? s.paths.count : 0;
  bool ok = s.failed ? tn_mind_out_of_memory(mind) : tn_host_seal(mind->host, s.paths.at, s.paths.count);
  mind->host->saved = NULL;
  mind->host->saved_count = 0;
  tn_vec_free(mind->host->heap, &s.paths);
  return ok;
}
