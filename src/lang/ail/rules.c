/* lang/ail/rules.c: checks the rules that depend on the text alone.
 *
 * One walk over every expression, before anything is expanded: where `if`, loops
 * and calls of functions are allowed, which functions call each other in a cycle or can reach an
 * effect, which loop hides another's variable, and how many iterations all loops unroll to. The
 * tree is no deeper than the nesting limit, so the walk may recurse. */
#include "lang/ail/internal.h"

typedef struct {
  tn_ail *program;
  const char *block;      /* where conditions and functions are refused; NULL: allowed */
  bool no_loops;          /* in functions and states */
  const char *loop_block; /* their name in that message */
  bool refused;           /* something was */
  const char *no_layers;  /* where layers are refused: in functions, states and handlers; NULL: allowed */
  tn_ail_fn *fn;          /* whose calls are collected; NULL: none */
  tn_vec(tn_ail_edge) edges;
  tn_map layers;          /* that this body has used, as in tn_ail.numbered */
  uint64_t repeated;      /* how often the loops around run their bodies */
  tn_name variables[TN_AIL_NESTING_LIMIT]; /* of the open loops */
  int depth;
  tn_span outer_at; /* the outermost loop of the statement */
  const char *outer_kind;
  bool failed;
} rules;

static tn_diags *diags_of(const rules *r) { return r->program->host->diags; }

/* Counts stay 64-bit integers with a sign, whatever is multiplied. */
#define MANY ((uint64_t)INT64_MAX)
static uint64_t plus(uint64_t a, uint64_t b) { return a + b < MANY ? a + b : MANY; }
static uint64_t times(uint64_t a, uint64_t b) { return b && a > MANY / b ? MANY : a * b; }

static uint64_t visit(rules *r, const tn_ail_expr *expr);

static uint64_t visit_maybe(rules *r, const tn_ail_expr *expr) { return expr ? visit(r, expr) : 0; }

/* ---- calls ---- */

static void refuse_call(rules *r, const tn_ail_call *call, const char *context) {
  tn_report(diags_of(r), TN_DIAG_E_FUNCTION_INVALID_CONTEXT, call->name_at,
            TN_TEXT("function_name", tn_ail_text_of(r->program, call->name)), TN_STR("context", context));
  r->refused = true;
}

/* Uses of one layer are numbered if there may be more than one. */
static void visit_layer_use(rules *r, uint64_t layer) {
  uint64_t body = r->fn ? (uint64_t)(r->fn - r->program->fn_list) + 1 : 0, key = body << 32 | layer;
  bool again = r->depth > 0 || tn_map_get(&r->layers, key) != NULL;
  if (!tn_map_put(&r->layers, key, 1) || (again && !tn_map_put(&r->program->numbered, key, 1)))
    r->failed = true;
}

/* The rounds of loops in a layer that is used here; those of a body that is not yet known are added when all
 * calls are (follow). */
static uint64_t visit_function_call(rules *r, uint64_t function, const tn_ail_call *call) {
  const tn_ail_fn *callee = &r->program->fn_list[function];
  const char *context = r->block ? r->block : callee->decl->is_layer ? r->no_layers : NULL;
  if (context) refuse_call(r, call, context);
  if (callee->decl->is_layer && !context) visit_layer_use(r, function);
  if (callee->rounds > 0 && r->depth == 0) r->outer_at = call->name_at, r->outer_kind = "layer";
  tn_ail_edge edge = { (uint32_t)function, r->repeated, call->name_at };
  if (r->fn && !tn_vec_push(r->program->host->heap, &r->edges, edge)) r->failed = true;
  return r->fn ? 0 : callee->rounds;
}

static uint64_t visit_callee(rules *r, const tn_ail_call *call) {
  const uint64_t *function = tn_map_get(&r->program->functions, call->name);
  if (function) return visit_function_call(r, *function, call);
  int builtin = tn_ail_builtin_named(r->program, call->name);
  if (builtin < 0) return 0;
  if (r->fn) r->fn->effects |= tn_ail_builtin_effect((size_t)builtin);
  if (tn_ail_builtin_is_dropout((size_t)builtin)) r->program->uses_dropout = true;
  return 0;
}

/* From argument `first` on. */
static uint64_t visit_call(rules *r, const tn_ail_call *call, uint32_t first) {
  uint64_t count = visit_callee(r, call);
  for (uint32_t i = first; i < call->count; i++) count = plus(count, visit_maybe(r, call->args[i].value));
  return count;
}

/* ---- loops ---- */

static void refuse_loop(rules *r, const tn_ail_loop *loop) {
  const char *block = r->block ? r->block : r->loop_block;
  tn_report(diags_of(r), TN_DIAG_E_LOOP_NOT_ALLOWED_IN_BLOCK, loop->keyword_at, TN_STR("block", block));
  r->refused = true;
}

static void warn_hidden(rules *r, const tn_ail_loop *loop) {
  for (int i = 0; i < r->depth; i++) {
    if (r->variables[i] != loop->variable) continue;
    tn_report(diags_of(r), TN_DIAG_E_LOOP_VAR_REDECLARED, loop->variable_at,
              TN_TEXT("name", tn_ail_text_of(r->program, loop->variable)));
    return;
  }
}

/* How often the body runs; 0 where that is not known, which is reported elsewhere. */
static uint64_t iterations(const rules *r, const tn_ail_loop *loop) {
  tn_ail_const from, to;
  if (loop->times) {
    bool known = tn_ail_literal(r->program, loop->times, &to) && to.is_integer && to.integer > 0;
    return known ? (uint64_t)to.integer : 0;
  }
  if (!tn_ail_literal(r->program, loop->from, &from) || !tn_ail_literal(r->program, loop->to, &to)) return 0;
  if (!from.is_integer || !to.is_integer || to.integer <= from.integer) return 0;
  return (uint64_t)to.integer - (uint64_t)from.integer;
}

static const char *loop_kind(tn_ail_form form) {
  return form == TN_AIL_EXPR_FOR ? "for loop" : form == TN_AIL_EXPR_REPEAT ? "repeat loop" : "reduce loop";
}

static uint64_t visit_loop(rules *r, const tn_ail_expr *expr) {
  const tn_ail_loop *loop = expr->as.loop;
  uint64_t count = plus(visit_maybe(r, loop->init), iterations(r, loop));
  if (r->block || r->no_loops) refuse_loop(r, loop);
  if (r->depth == 0) r->outer_at = loop->keyword_at, r->outer_kind = loop_kind(expr->form);
  if (loop->variable) warn_hidden(r, loop);
  if (r->depth < TN_AIL_NESTING_LIMIT) r->variables[r->depth] = loop->variable;
  uint64_t repeated = r->repeated;
  r->repeated = times(repeated, iterations(r, loop));
  r->depth++;
  uint64_t inner = loop->is_short ? visit_call(r, loop->body->as.call, 1) : visit_maybe(r, loop->body);
  r->depth--;
  r->repeated = repeated;
  if (r->block || r->no_loops) return 0; /* refused, so never unrolled */
  return plus(count, times(iterations(r, loop), inner));
}

/* ---- everything else ---- */

/* A condition that is a constant: the arms that it rules out are not unrolled. */
static bool is_decided(const rules *r, const tn_ail_expr *condition, bool *truth) {
  tn_ail_const value;
  if (!tn_ail_literal(r->program, condition, &value) || value.kind == TN_AIL_CONST_TEXT) return false;
  *truth = value.number != 0;
  return true;
}

static uint64_t visit_if(rules *r, const tn_ail_expr *expr) {
  const tn_ail_if *branch = expr->as.branch;
  uint64_t count = 0, otherwise = visit_maybe(r, branch->otherwise);
  bool truth = false, decided = false;
  if (r->block) {
    tn_span keyword = { expr->at.file, expr->at.start, expr->at.start + 2 };
    tn_report(diags_of(r), TN_DIAG_E_IF_NOT_ALLOWED_IN_BLOCK, expr->grouped ? expr->at : keyword,
              TN_STR("block", r->block));
    r->refused = true;
  }
  for (uint32_t i = 0; i < branch->count; i++) {
    const tn_ail_arm *arm = &branch->arms[i];
    uint64_t condition = visit_maybe(r, arm->condition), value = visit_maybe(r, arm->value);
    if (decided) continue;
    bool known = is_decided(r, arm->condition, &truth);
    count = plus(count, condition);
    if (!known || truth) count = plus(count, value);
    decided = known && truth;
  }
  return decided ? count : plus(count, otherwise);
}

static uint64_t visit_chain(rules *r, const tn_ail_chain *chain) {
  uint64_t count = visit_maybe(r, chain->first);
  for (uint32_t i = 0; i < chain->count; i++) count = plus(count, visit_maybe(r, chain->links[i].right));
  return count;
}

static uint64_t visit(rules *r, const tn_ail_expr *expr) {
  uint64_t count = 0;
  if (!tn_stack_room(&r->program->host->heap->stack)) {
    r->failed = true;
    return 0;
  }
  switch (expr->form) {
    case TN_AIL_EXPR_CALL: return visit_call(r, expr->as.call, 0);
    case TN_AIL_EXPR_CHAIN: return visit_chain(r, expr->as.chain);
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT: return visit_maybe(r, expr->as.unary.of);
    case TN_AIL_EXPR_IF: return visit_if(r, expr);
    case TN_AIL_EXPR_FOR:
    case TN_AIL_EXPR_REPEAT:
    case TN_AIL_EXPR_REDUCE: return visit_loop(r, expr);
    case TN_AIL_EXPR_LIST:
      for (uint32_t i = 0; i < expr->as.list.count; i++)
        count = plus(count, visit_maybe(r, expr->as.list.items[i]));
      return count;
    default: return 0;
  }
}

/* ---- the iterations of the whole program ---- */

typedef struct {
  uint64_t total;
  tn_span at; /* the loop in which the limit is passed */
  const char *kind;
} unrolling;

static void add_iterations(const rules *r, unrolling *all, uint64_t count) {
  bool below = all->total <= TN_AIL_UNROLL_LIMIT;
  all->total = plus(all->total, count);
  if (below && all->total > TN_AIL_UNROLL_LIMIT) all->at = r->outer_at, all->kind = r->outer_kind;
}

static void visit_statements(rules *r, const tn_ail_statement *statements, uint32_t count, unrolling *all) {
  for (uint32_t i = 0; i < count; i++) {
    if (statements[i].kind != TN_AIL_CONSTANT) add_iterations(r, all, visit_maybe(r, statements[i].value));
  }
}

static void check_unrolling(tn_ail *program, const unrolling *all) {
  if (all->total <= TN_AIL_UNROLL_LIMIT) return;
  program->unroll_exceeded = true;
  tn_report(program->host->diags, TN_DIAG_E_LOOP_UNROLL_LIMIT_EXCEEDED, all->at,
            TN_INT("limit", TN_AIL_UNROLL_LIMIT), TN_INT("requested", (int64_t)all->total),
            TN_STR("context", all->kind));
}

/* ---- functions ---- */

static void visit_function(rules *r, tn_ail_fn *fn) {
  unrolling own = { 0 };
  bool layer = fn->decl->is_layer;
  r->fn = fn;
  r->edges.count = 0;
  r->no_loops = !layer;
  r->loop_block = "fn";
  r->no_layers = layer ? NULL : "fn";
  r->refused = false;
  visit_statements(r, fn->decl->body.statements, fn->decl->body.count, &own);
  fn->refused = r->refused;
  fn->rounds = layer ? own.total : 0;
  fn->call_count = (uint32_t)r->edges.count;
  fn->calls = tn_arena_copy(&r->program->arena, r->edges.at, r->edges.count * sizeof *r->edges.at);
  if (!fn->calls) r->failed = true;
  r->fn = NULL;
  r->no_loops = false;
  r->no_layers = NULL;
}

/* One function whose calls are being followed. */
typedef struct {
  uint32_t fn, next; /* next: the call to follow */
} step;

typedef struct {
  rules *r;
  tn_vec(step) path;
  uint8_t *state; /* by function: 0 not met, 1 on the path, 2 done */
} search;

static void report_circle(search *s, uint32_t callee, tn_span at) {
  tn_ail *program = s->r->program;
  tn_text circle;
  size_t from = 0;
  tn_text_init(&circle, program->host->heap);
  while (s->path.at[from].fn != callee) from++;
  for (size_t i = from; i < s->path.count; i++) {
    tn_ail_fn *fn = &program->fn_list[s->path.at[i].fn];
    fn->recursive = true;
    if (i > from + 20) continue; /* enough to recognise it by */
    tn_text_add(&circle, tn_ail_text_of(program, fn->decl->name));
    tn_text_puts(&circle, i == from + 20 ? " -> ... -> " : " -> ");
  }
  tn_str name = tn_ail_text_of(program, program->fn_list[callee].decl->name);
  tn_text_add(&circle, name);
  tn_report(program->host->diags, TN_DIAG_E_FUNCTION_RECURSION, at, TN_TEXT("function_name", name),
            TN_TEXT("call_site", tn_text_str(&circle)));
  tn_text_free(&circle);
}

/* What a function or a layer has from the one it calls. */
static void inherit(tn_ail_fn *fn, const tn_ail_fn *callee, const tn_ail_edge *edge) {
  fn->effects |= callee->effects;
  fn->rounds = plus(fn->rounds, times(edge->rounds, callee->rounds));
}

/* Depth first, with a list in place of recursion: functions may call each other in long chains. */
static void follow(search *s, uint32_t first) {
  tn_heap *heap = s->r->program->host->heap;
  tn_ail_fn *fns = s->r->program->fn_list;
  step start = { first, 0 };
  if (s->state[first] || !tn_vec_push(heap, &s->path, start)) return;
  s->state[first] = 1;
  while (s->path.count > 0) {
    step *top = &tn_vec_last(&s->path);
    tn_ail_fn *fn = &fns[top->fn];
    if (top->next == fn->call_count) {
      s->state[top->fn] = 2;
      s->path.count--;
      if (s->path.count == 0) continue;
      const step *caller = &tn_vec_last(&s->path);
      inherit(&fns[caller->fn], fn, &fns[caller->fn].calls[caller->next - 1]);
      continue;
    }
    const tn_ail_edge *edge = &fn->calls[top->next++];
    if (s->state[edge->callee] == 1)
      report_circle(s, edge->callee, edge->at);
    else if (s->state[edge->callee] == 2)
      inherit(fn, &fns[edge->callee], edge);
    step next = { edge->callee, 0 };
    if (s->state[edge->callee] != 0) continue;
    s->state[edge->callee] = 1;
    if (!tn_vec_push(heap, &s->path, next)) {
      s->r->failed = true;
      return;
    }
  }
}

static void check_functions(rules *r) {
  tn_ail *program = r->program;
  search s = { .r = r };
  for (uint32_t i = 0; i < program->fn_count; i++) visit_function(r, &program->fn_list[i]);
  s.state = tn_arena_alloc(&program->arena, program->fn_count);
  if (!s.state || r->failed) return;
  for (uint32_t i = 0; i < program->fn_count; i++) follow(&s, i);
  tn_vec_free(program->host->heap, &s.path);
}

/* ---- blocks ---- */

/* A field with something that is not allowed there was already reported. */
static void visit_fields(rules *r, tn_ail_fields *fields, const char *block, unrolling *all) {
  r->block = block;
  for (uint32_t i = 0; fields && i < fields->count; i++) {
    tn_ail_field *field = &fields->fields[i];
    bool stage = field->kind == TN_AIL_FIELD_MAP || field->kind == TN_AIL_FIELD_FILTER;
    r->refused = false;
    if (!stage) {
      add_iterations(r, all, visit_maybe(r, field->value));
    } else {
      const tn_ail_call *call = field->value->as.call;
      for (uint32_t a = 0; a < call->count; a++) visit_maybe(r, call->args[a].value);
    }
    if (!r->refused) continue;
    field->kind = TN_AIL_FIELD_BROKEN;
    if (fields == r->program->train_fields) r->program->loss_refused = true;
  }
  r->block = NULL;
}

static void visit_state_machine(rules *r, const tn_ail_state_machine *state_machine) {
  unrolling ignored = { 0 };
  r->no_loops = true;
  r->no_layers = r->loop_block = "state_machine";
  for (uint32_t i = 0; state_machine && i < state_machine->count; i++) {
    const tn_ail_state *state = &state_machine->states[i];
    visit_statements(r, state->body, state->body_count, &ignored);
    for (uint32_t t = 0; t < state->transition_count; t++) visit_maybe(r, state->transitions[t].condition);
  }
  r->no_loops = false;
}

void tn_ail_check_rules(tn_ail *program) {
  rules r = { .program = program, .repeated = 1 };
  unrolling all = { 0 };
  tn_map_init(&r.layers, program->host->heap);
  check_functions(&r);
  if (program->main) visit_statements(&r, program->main->statements, program->main->count, &all);
  visit_fields(&r, program->train_fields, "train", &all);
  visit_fields(&r, program->eval_fields, "eval", &all);
  visit_fields(&r, program->dataset_fields, "dataset", &all);
  if (program->loss_block) {
    r.block = "loss";
    r.refused = false;
    visit_statements(&r, program->loss_block->statements, program->loss_block->count, &all);
    if (r.refused) program->loss_refused = true;
    r.block = NULL;
  }
  visit_state_machine(&r, program->state_machine);
  r.no_layers = "on";
  for (size_t i = 0; i < program->handler_count; i++) {
    visit_statements(&r, program->handlers[i]->body.statements, program->handlers[i]->body.count, &all);
  }
  check_unrolling(program, &all);
  tn_vec_free(program->host->heap, &r.edges);
  tn_map_free(&r.layers);
  if (r.failed) program->arena.failed = true;
}
