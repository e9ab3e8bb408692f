/* lang/ninth/check.c: finds errors that are certain to happen, without running.
 *
 * The code is walked once, with an upper bound on the depth of the stack in
 * place of its items and a set of names that may be bound in place of their values. Code in a
 * branch, in a loop, in a block or after a possible return may not run, so its errors are not
 * reported; its effect on the bound and the names counts. Functions and [INIT] methods are walked
 * where they are called, if the target is certain. So everything that is reported would happen, and
 * much that would happen is not reported. */
#include "lang/ninth/doors.h"
#include "lang/ninth/meant.h"

#define UNKNOWN      (INT64_MAX / 2) /* a depth */
#define INLINE_DEPTH 64              /* calls that are followed into each other */
#define EFFORT       1000000         /* instructions that are checked */

/* What is known of a name, wherever it occurs. */
enum {
  STORED = 1,         /* may be in the memory */
  STATE_ANYWHERE = 2, /* a function or a block binds @name, of whatever instance */
  DEFINED_INSIDE = 4, /* a function of that name is not, or not only, defined by the main program */
  MODULE_INSIDE = 8
};

typedef struct {
  tn_host *host;
  const tn_ninth_program *program;
  const tn_ninth_scope *scope;
  tn_map flags;              /* name -> the above */
  tn_map functions, modules; /* name -> unit, module: certain from here on */
  const tn_ninth_unit *running[INLINE_DEPTH];
  int depth;
  int64_t effort;
  bool any_memory; /* something is stored under a name that is not known */
  bool any_state;  /* a library may bind state */
  bool out_of_memory;
} checker;

/* One unit that is being walked. */
typedef struct {
  const tn_ninth_unit *unit;
  bool *bound;      /* slots that may have a value */
  tn_map *state;    /* names of @ that may have a value */
  int64_t low;      /* the lowest depth it has reached */
  int64_t exit;     /* the greatest depth it may return with; -1: none yet */
  uint32_t returns; /* that were met */
  bool certain;     /* what is checked now will run */
  tn_span called;   /* where; TN_NOWHERE: the main program */
} activation;

/* Where the walk is. */
typedef struct {
  int64_t depth; /* of the stack, at most */
  bool dead;     /* nothing gets here */
} flow;

static flow walk(checker *c, activation *a, uint32_t from, uint32_t to, flow at);

/* ---- sets of names ---- */

static void put(checker *c, tn_map *map, tn_name name, uint64_t value) {
  if (!tn_map_put(map, name, value)) c->out_of_memory = true;
}

static uint64_t get(const tn_map *map, tn_name name) {
  const uint64_t *value = tn_map_get(map, name);
  return value ? *value : 0;
}

static void flag(checker *c, tn_name name, uint64_t flags) {
  put(c, &c->flags, name, get(&c->flags, name) | flags);
}
static bool has_flag(const checker *c, tn_name name, uint64_t flags) {
  return (get(&c->flags, name) & flags) != 0;
}

/* The string right before an instruction, if there is one. */
static bool string_before(const tn_ninth_unit *unit, uint32_t at, tn_name *name) {
  if (unit->code[at].hint != TN_NINTH_HINT_STRING) return false;
  *name = unit->code[at - 1].arg;
  return true;
}

/* ---- what the units inside the main program may do at any time ---- */

static void note_store(checker *c, const tn_ninth_unit *unit, uint32_t at) {
  tn_name name;
  if (string_before(unit, at, &name))
    flag(c, name, STORED);
  else
    c->any_memory = true;
}

static void survey_unit(checker *c, const tn_ninth_unit *unit) {
  bool method = unit->kind == TN_NINTH_UNIT_INIT || unit->kind == TN_NINTH_UNIT_FORWARD;
  tn_name name;
  for (uint32_t i = 0; i < unit->count; i++) {
    const tn_ninth_code *code = &unit->code[i];
    switch (code->op) {
      case TN_NINTH_CODE_BIND_STATE:
      case TN_NINTH_CODE_KEEP_STATE:
        if (!method) flag(c, code->arg, STATE_ANYWHERE);
        break;
      case TN_NINTH_STORE: note_store(c, unit, i); break;
      case TN_NINTH_CODE_DEFINE: flag(c, c->program->definitions.at[code->arg].name, DEFINED_INSIDE); break;
      case TN_NINTH_CODE_DEFINE_MODULE:
        if (string_before(unit, i, &name)) flag(c, name, MODULE_INSIDE);
        break;
      default: break;
    }
  }
}

static void survey(checker *c) {
  for (size_t i = 0; i < c->program->units.count; i++) {
    const tn_ninth_unit *unit = c->program->units.at[i];
    for (uint32_t k = 0; k < unit->count; k++) c->any_state |= unit->code[k].op == TN_NINTH_USE;
    if (unit != c->program->main) survey_unit(c, unit);
  }
}

/* ---- names ---- */

static tn_name slot_name(const checker *c, const tn_ninth_unit *unit, uint32_t slot) {
  return unit->shared ? c->scope->names.at[slot] : unit->slots[slot];
}

/* Also one that is defined further down: it was meant in any case. */
static bool is_function(const checker *c, tn_name name) {
  for (size_t i = 0; i < c->program->definitions.count; i++) {
    if (c->program->definitions.at[i].name == name) return true;
  }
  return get(&c->functions, name) != 0;
}

/* The bound variable of that name, where `@name` is read, or the first that is near. */
static tn_str near_variable(const checker *c, const activation *a, tn_str name) {
  tn_str likely = { 0 };
  for (uint32_t i = 0; i < a->unit->slot_count && !tn_str_equal(likely, name); i++) {
    tn_str known = tn_names_text(c->host->names, slot_name(c, a->unit, i));
    if (a->bound[i] && (likely.len == 0 || tn_str_equal(known, name)))
      likely = tn_str_suggest(name, &known, 1);
  }
  return likely;
}

static void report_undefined(checker *c, const activation *a, tn_name name, tn_span at) {
  tn_str text = tn_names_text(c->host->names, name), near = { 0 };
  tn_text meant;
  tn_text_init(&meant, c->host->heap);
  if (tn_diags_has_room(c->host->diags, TN_DIAG_E_UNDEFINED_VARIABLE)) {
    near = near_variable(c, a, text);
    tn_ninth_put_meant(&meant, text,
                       &(tn_ninth_known){ .function = is_function(c, name),
                                          .module = get(&c->modules, name) != 0,
                                          .variables = &near,
                                          .variable_count = near.len > 0 });
  }
  tn_report(c->host->diags, TN_DIAG_E_UNDEFINED_VARIABLE, at, TN_TEXT("name", text),
            TN_TEXT("suggestion", tn_text_str(&meant)), TN_NOTE_IF(a->called, TN_DIAG_CALLED));
  tn_text_free(&meant);
}

static bool may_be_state(const checker *c, const activation *a, tn_name name) {
  return c->any_state || has_flag(c, name, STATE_ANYWHERE) || get(a->state, name) != 0;
}

static void read_state(checker *c, activation *a, tn_name name, tn_span at) {
  if (!a->certain || may_be_state(c, a, name)) return;
  report_undefined(c, a, name, at);
  put(c, a->state, name, 1); /* once is enough */
}

static void read_slot(checker *c, activation *a, uint32_t slot, tn_span at) {
  tn_name name = slot_name(c, a->unit, slot);
  if (!a->certain || a->bound[slot] || may_be_state(c, a, name)) return;
  report_undefined(c, a, name, at);
  a->bound[slot] = true;
}

/* A shape is one place, where one name is reported. */
static void read_dims(checker *c, activation *a, const tn_ninth_shape *shape, tn_span at) {
  size_t errors = c->host->diags->errors;
  for (uint32_t i = 0; i < shape->count && c->host->diags->errors == errors; i++) {
    const tn_ninth_dim *dim = &shape->dims[i];
    if (dim->kind == TN_NINTH_DIM_SLOT) read_slot(c, a, dim->arg, at);
    if (dim->kind == TN_NINTH_DIM_STATE) read_state(c, a, dim->arg, at);
  }
}

static void read_memory(checker *c, activation *a, uint32_t at) {
  tn_name name;
  if (!a->certain || c->any_memory || !string_before(a->unit, at, &name) || has_flag(c, name, STORED)) return;
  report_undefined(c, a, name, a->unit->at[at]);
  flag(c, name, STORED);
}

/* ---- the stack ---- */

static void report_underflow(checker *c, const activation *a, uint32_t at, const char *opcode, int64_t needed,
                             int64_t have) {
  tn_ninth_underflow what = { a->unit->code[at].op, opcode, a->unit->at[at], a->called, needed, have };
  tn_ninth_report_underflow(c->host->heap, c->host->diags, &what);
}

/* Continues as if the missing items had been there. */
static void take(checker *c, activation *a, flow *f, uint32_t at, const char *opcode, int64_t takes,
                 int64_t gives) {
  if (f->depth >= UNKNOWN) return;
  if (f->depth < takes) {
    if (a->certain) report_underflow(c, a, at, opcode, takes, f->depth);
    f->depth = takes;
  }
  f->depth -= takes;
  if (f->depth < a->low) a->low = f->depth;
  f->depth += gives;
}

/* Looks at an item and leaves it. */
static void look(checker *c, activation *a, flow *f, uint32_t at, const char *opcode, int64_t needs,
                 int64_t gives) {
  int64_t low = a->low;
  take(c, a, f, at, opcode, needs, needs + gives);
  a->low = low;
}

/* ---- calls ---- */

static bool is_running(const checker *c, const tn_ninth_unit *unit) {
  for (int i = 0; i < c->depth; i++) {
    if (c->running[i] == unit) return true;
  }
  return false;
}

static void bind_keys(const activation *a, const tn_ninth_maker *maker) {
  for (uint32_t i = 0; maker && i < maker->count; i++) {
    for (uint32_t slot = 0; slot < a->unit->slot_count; slot++) {
      if (a->unit->slots[slot] == maker->keys[i]) a->bound[slot] = true;
    }
  }
}

/* Walks a unit as if it were inlined here. False if it is not followed. */
static bool follow(checker *c, activation *caller, uint32_t at, const tn_ninth_unit *unit,
                   const tn_ninth_maker *maker, tn_map *state, flow *f, int64_t *low) {
  if (c->depth == INLINE_DEPTH || is_running(c, unit) || c->effort <= 0) return false;
  activation a = { .unit = unit, .state = state, .low = f->depth, .exit = -1, .certain = caller->certain };
  a.called = caller->unit->at[at];
  a.bound = tn_heap_alloc(c->host->heap, unit->slot_count + 1);
  if (!a.bound) {
    c->out_of_memory = true;
    return false;
  }
  bind_keys(&a, maker);
  c->running[c->depth++] = unit;
  flow end = walk(c, &a, 0, unit->count, *f);
  c->depth--;
  tn_heap_free(c->host->heap, a.bound, unit->slot_count + 1);
  f->depth = !end.dead && end.depth > a.exit ? end.depth : a.exit;
  if (f->depth < 0) f->depth = UNKNOWN;
  *low = a.low;
  return true;
}

static void call_function(checker *c, activation *a, uint32_t at, tn_name name, flow *f) {
  const tn_ninth_unit *unit = (const tn_ninth_unit *)(uintptr_t)get(&c->functions, name);
  int64_t low;
  if (unit && !has_flag(c, name, DEFINED_INSIDE) && follow(c, a, at, unit, NULL, a->state, f, &low)) {
    if (low < a->low) a->low = low;
  } else {
    f->depth = UNKNOWN;
  }
}

/* An instance is one above the lowest depth that its [INIT] reached. */
static void make(checker *c, activation *a, uint32_t at, const tn_ninth_maker *maker, flow *f) {
  const tn_ninth_module *module = (const tn_ninth_module *)(uintptr_t)get(&c->modules, maker->name);
  tn_map state;
  int64_t low = f->depth;
  flow inside = *f;
  tn_map_init(&state, c->host->heap);
  if (module && module->init && !has_flag(c, maker->name, MODULE_INSIDE)) {
    follow(c, a, at, module->init, maker, &state, &inside, &low);
  }
  tn_map_free(&state);
  if (low < a->low) a->low = low;
  if (f->depth < UNKNOWN) f->depth = low + 1;
}

/* In a branch it is no longer certain which one a name means. */
static void define(checker *c, const activation *a, const tn_ninth_definition *definition) {
  put(c, &c->functions, definition->name, a->certain ? (uint64_t)(uintptr_t)definition->unit : 0);
}

static void define_module(checker *c, activation *a, uint32_t at, flow *f) {
  tn_name name;
  const tn_ninth_module *module = &c->program->modules.at[a->unit->code[at].arg];
  bool known = string_before(a->unit, at, &name);
  take(c, a, f, at, "MODULE", 1, 0);
  if (known)
    put(c, &c->modules, name, a->certain ? (uint64_t)(uintptr_t)module : 0);
  else
    tn_map_clear(&c->modules);
}

/* ---- branches and loops ---- */

static flow join(flow x, flow y) {
  if (x.dead) return y;
  if (!y.dead && y.depth > x.depth) x.depth = y.depth;
  return x;
}

/* A part that may not run. If it may return, what follows may not run either. */
static flow maybe(checker *c, activation *a, uint32_t from, uint32_t to, flow at) {
  bool certain = a->certain;
  uint32_t returns = a->returns;
  a->certain = false;
  flow end = walk(c, a, from, to, at);
  a->certain = certain && a->returns == returns;
  return end;
}

/* A block that the text leaves open leads nowhere; it was reported. */
static uint32_t walk_open(flow *f, uint32_t at) {
  f->depth = UNKNOWN;
  return at + 1;
}

/* Returns where to continue. */
static uint32_t walk_if(checker *c, activation *a, uint32_t at, flow *f) {
  const tn_ninth_code *code = a->unit->code;
  uint32_t otherwise = code[at].arg, end = otherwise;
  take(c, a, f, at, "IF", 1, 0);
  if (otherwise <= at || (code[at].hint != 0 && code[otherwise - 1].arg < otherwise)) return walk_open(f, at);
  if (code[at].hint == 0) {
    *f = join(*f, maybe(c, a, at + 1, otherwise, *f));
    return end;
  }
  end = code[otherwise - 1].arg;
  flow first = maybe(c, a, at + 1, otherwise - 1, *f);
  *f = join(first, maybe(c, a, otherwise, end, *f));
  return end;
}

static uint32_t walk_repeat(checker *c, activation *a, uint32_t at, flow *f) {
  uint32_t end = a->unit->code[at].arg;
  take(c, a, f, at, "REPEAT", 1, 0);
  if (end <= at) return walk_open(f, at);
  flow once = maybe(c, a, at + 1, end - 1, *f);
  if (!once.dead && once.depth > f->depth) f->depth = UNKNOWN; /* every round adds to it */
  return end;
}

/* The condition runs at least once, the body perhaps. */
static uint32_t walk_while(checker *c, activation *a, uint32_t at, flow *f) {
  uint32_t condition = a->unit->code[at].arg, end = condition > at ? a->unit->code[condition].arg : 0;
  if (end <= condition) return walk_open(f, at);
  int64_t before = f->depth;
  *f = walk(c, a, at + 1, condition, *f);
  if (f->dead) return end;
  take(c, a, f, condition, "DO", 1, 0);
  flow once = maybe(c, a, condition + 1, end - 1, *f);
  if (!once.dead && once.depth > before) f->depth = UNKNOWN; /* every round adds to it */
  return end;
}

/* ---- instructions ---- */

/* [ZEROS] after a number takes two. */
static void walk_opcode(checker *c, activation *a, uint32_t at, flow *f) {
  const tn_ninth_unit *unit = a->unit;
  tn_ninth_opcode opcode = (tn_ninth_opcode)unit->code[at].op;
  const tn_ninth_opcode_info *info = tn_ninth_opcode_info_of(opcode);
  tn_name name;
  int64_t takes = info->takes;
  switch (opcode) {
    case TN_NINTH_DUP:
    case TN_NINTH_OVER:
    case TN_NINTH_SWAP:
    case TN_NINTH_ROT:
    case TN_NINTH_PEEK: look(c, a, f, at, info->name, takes, info->gives - takes); return;
    case TN_NINTH_ZEROS:
    case TN_NINTH_ONES:
    case TN_NINTH_RANDN:
      if (unit->code[at].hint == TN_NINTH_HINT_NUMBER) takes = 2;
      break;
    case TN_NINTH_LOAD:
    case TN_NINTH_GRAD:
    case TN_NINTH_ZERO_GRAD: read_memory(c, a, at); break;
    case TN_NINTH_STORE: note_store(c, unit, at); break;
    case TN_NINTH_CALL:
      take(c, a, f, at, info->name, 1, 0);
      if (string_before(unit, at, &name))
        call_function(c, a, at, name, f);
      else
        f->depth = UNKNOWN;
      return;
    default: break;
  }
  take(c, a, f, at, info->name, takes, info->gives);
  if (opcode == TN_NINTH_FOREACH) f->depth = UNKNOWN;
}

static void walk_other(checker *c, activation *a, uint32_t at, flow *f) {
  const tn_ninth_code *code = &a->unit->code[at];
  tn_span place = a->unit->at[at];
  switch (code->op) {
    case TN_NINTH_CODE_READ: read_slot(c, a, code->arg, place); break;
    case TN_NINTH_CODE_READ_STATE: read_state(c, a, code->arg, place); break;
    case TN_NINTH_CODE_SHAPE: read_dims(c, a, &c->program->shapes.at[code->arg], place); break;
    case TN_NINTH_CODE_BIND:
      take(c, a, f, at, "->", 1, 0);
      a->bound[code->arg] = true;
      return;
    case TN_NINTH_CODE_KEEP:
      look(c, a, f, at, "->>", 1, 0);
      a->bound[code->arg] = true;
      return;
    case TN_NINTH_CODE_BIND_STATE:
      take(c, a, f, at, "->", 1, 0);
      put(c, a->state, code->arg, 1);
      return;
    case TN_NINTH_CODE_KEEP_STATE:
      look(c, a, f, at, "->>", 1, 0);
      put(c, a->state, code->arg, 1);
      return;
    case TN_NINTH_CODE_FLAW:
      f->depth = UNKNOWN;
      c->any_memory = true; /* it may have been meant to store */
      return;
    case TN_NINTH_CODE_MAKE: make(c, a, at, &c->program->makers.at[code->arg], f); return;
    case TN_NINTH_CODE_DEFINE: define(c, a, &c->program->definitions.at[code->arg]); return;
    case TN_NINTH_CODE_DEFINE_MODULE: define_module(c, a, at, f); return;
    default: break;
  }
  take(c, a, f, at, "", 0, 1);
}

/* Returns where to continue. */
static uint32_t step(checker *c, activation *a, uint32_t at, flow *f) {
  const tn_ninth_code *code = &a->unit->code[at];
  c->effort--;
  switch (code->op) {
    case TN_NINTH_IF: return walk_if(c, a, at, f);
    case TN_NINTH_REPEAT: return walk_repeat(c, a, at, f);
    case TN_NINTH_WHILE: return walk_while(c, a, at, f);
    case TN_NINTH_RET:
      if (f->depth > a->exit) a->exit = f->depth;
      a->returns++;
      f->dead = true;
      return at + 1;
    case TN_NINTH_CODE_CALL_NAME:
      call_function(c, a, at, code->arg, f);
      return at + 2; /* the string is its name, or what is pushed counts as unknown */
    case TN_NINTH_NO_GRAD:
    case TN_NINTH_END_NO_GRAD:
    case TN_NINTH_CODE_END_OF_UNIT: return at + 1;
    default: break;
  }
  if (code->op < TN_NINTH_OPCODE_COUNT)
    walk_opcode(c, a, at, f);
  else
    walk_other(c, a, at, f);
  return at + 1;
}

static flow walk(checker *c, activation *a, uint32_t from, uint32_t to, flow f) {
  if (!tn_stack_room(&c->host->heap->stack)) c->out_of_memory = true;
  tn_heap *heap = c->host->heap;
  while (from < to && !f.dead && !c->out_of_memory) {
    if (tn_stop_asked(heap->stop)) c->out_of_memory = heap->stopped = heap->failed = true;
    from = step(c, a, from, &f);
  }
  return f;
}

/* Reports underflows and undefined names that are certain. */
static void check_program(tn_host *host, const tn_ninth_program *program, const tn_ninth_scope *scope) {
  checker c = { .host = host, .program = program, .scope = scope, .effort = EFFORT };
  tn_map state, *maps[] = { &c.flags, &c.functions, &c.modules, &state };
  for (int i = 0; i < 4; i++) tn_map_init(maps[i], host->heap);
  tn_diags_enter(host->diags, TN_PHASE_CHECK);
  survey(&c);
  activation main = { .unit = program->main, .state = &state, .exit = -1, .certain = true };
  main.bound = tn_heap_alloc(host->heap, program->main->slot_count + 1);
  if (main.bound) walk(&c, &main, 0, program->main->count, (flow){ 0 });
  if (!main.bound || c.out_of_memory) tn_ninth_report_memory(host->heap, host->diags, TN_NOWHERE);
  tn_heap_free(host->heap, main.bound, program->main->slot_count + 1);
  for (int i = 0; i < 4; i++) tn_map_free(maps[i]);
}

bool tn_lang_ninth_check(tn_unit *unit) {
  tn_host *host = unit->host;
  tn_ninth_scope scope;
  size_t errors = host->diags->errors;
  tn_ninth_scope_init(&scope, host->heap);
  tn_ninth_program *program =
      tn_ninth_compile_flawed(host->heap, host->names, host->diags, unit->file, &scope);
  if (program) check_program(host, program, &scope);
  tn_ninth_program_free(program);
  tn_ninth_scope_free(&scope, host->heap);
  return host->diags->errors == errors;
}
