/* lang/ninth/repl.c: Ninth, line by line.
 *
 * One machine lives as long as the session; every line is a text of its own that
 * is compiled and run on it. Where a line leaves something open, it waits for
 * the next ones. A mistake is shown, and everything is as it was before the line. */
#include "lang/repl.h"
#include "lang/ninth/ninth.h"

struct tn_repl {
  tn_repl_talk talk;
  tn_host *host;
  tn_ninth_machine machine;
  tn_text *shown; /* where this line's answer goes */
};

/* ---- what is shown ---- */

static void show_stack(tn_repl *repl, tn_text *out) {
  const tn_ninth_machine *m = &repl->machine;
  tn_text_puts(out, "stack:");
  if (m->top == m->stack) tn_text_puts(out, " (empty)");
  for (const tn_ninth_value *value = m->stack; value < m->top; value++) {
    bool string = value->kind == TN_NINTH_STRING;
    tn_text_puts(out, string ? " \"" : " ");
    tn_ninth_show(m, *value, true, out);
    if (string) tn_text_byte(out, '"');
  }
  tn_text_byte(out, '\n');
}

static void show_variable(tn_repl *repl, const char *before, tn_name name, tn_ninth_value value,
                          tn_text *out) {
  if (value.kind == TN_NINTH_UNBOUND) return;
  tn_text_puts(out, before);
  tn_text_add(out, tn_names_text(repl->host->names, name));
  tn_text_puts(out, " = ");
  tn_ninth_show(&repl->machine, value, true, out);
  tn_text_byte(out, '\n');
}

static void show_variables(tn_repl *repl, tn_text *out) {
  const tn_ninth_machine *m = &repl->machine;
  for (size_t i = 0; i < m->locals.count; i++)
    show_variable(repl, "", m->scope.names.at[i], m->locals.at[i], out);
  const tn_ninth_object *self = tn_ninth_object_of(m, m->self);
  for (uint32_t i = 0; i < self->count; i++)
    show_variable(repl, "@", self->entries[i].name, self->entries[i].value, out);
  for (size_t name = 0; name < m->symbols.count; name++) {
    const tn_ninth_symbol *symbol = &m->symbols.at[name];
    tn_str text = tn_names_text(repl->host->names, (tn_name)name);
    show_variable(repl, "stored ", (tn_name)name, symbol->memory, out);
    if (symbol->function) tn_text_puts(out, "function "), tn_text_add(out, text), tn_text_byte(out, '\n');
    if (symbol->module) tn_text_puts(out, "module "), tn_text_add(out, text), tn_text_byte(out, '\n');
  }
}

/* Before each step: the token, and the stack as it finds it. */
static void trace_step(tn_ninth_machine *m) {
  tn_repl *repl = m->tracer;
  tn_text_puts(repl->shown, "  ");
  tn_text_add(repl->shown, tn_span_text(m->host->sources, tn_ninth_here(m)));
  tn_text_puts(repl->shown, "  ");
  show_stack(repl, repl->shown);
}

/* ---- what a line that fails leaves as it was ---- */

/* An instance and where its state begins among those of all. */
typedef struct {
  uint32_t object, first, count;
} instance;

/* Everything: the stack, variables, stored values, functions and modules, the state of every instance (the
 * main program is one), weights and gradients, and how many numbers were drawn and inputs taken. */
typedef struct {
  tn_vec(tn_ninth_value) stack, locals, state;
  tn_vec(tn_ninth_symbol) symbols;
  tn_vec(instance) instances;
  tn_eager_state variables;
  uint64_t drawn;
  size_t input, libraries;
} snapshot;

static void snapshot_free(tn_repl *repl, snapshot *s) {
  tn_ninth_machine *m = &repl->machine;
  for (size_t i = 0; i < s->stack.count; i++) tn_ninth_release(m, s->stack.at[i]);
  for (size_t i = 0; i < s->locals.count; i++) tn_ninth_release(m, s->locals.at[i]);
  for (size_t i = 0; i < s->symbols.count; i++) tn_ninth_release(m, s->symbols.at[i].memory);
  for (size_t i = 0; i < s->state.count; i++) tn_ninth_release(m, s->state.at[i]);
  for (size_t i = 0; i < s->instances.count; i++) tn_ninth_release_object(m, s->instances.at[i].object);
  tn_eager_keep_free(m->eager, &s->variables);
  tn_vec_free(m->heap, &s->stack);
  tn_vec_free(m->heap, &s->locals);
  tn_vec_free(m->heap, &s->symbols);
  tn_vec_free(m->heap, &s->state);
  tn_vec_free(m->heap, &s->instances);
}

static bool take_instance(tn_ninth_machine *m, snapshot *s, uint32_t number) {
  const tn_ninth_object *object = tn_ninth_object_of(m, number);
  instance taken = { number, (uint32_t)s->state.count, object->count };
  if (!tn_vec_reserve(m->heap, &s->state, object->count) || !tn_vec_push(m->heap, &s->instances, taken))
    return false;
  tn_ninth_hold_object(m, number);
  for (uint32_t i = 0; i < object->count; i++) {
    tn_ninth_hold(m, object->entries[i].value);
    s->state.at[s->state.count++] = object->entries[i].value;
  }
  return true;
}

static bool take_instances(tn_ninth_machine *m, snapshot *s) {
  for (uint32_t number = 1; number < m->chunks.count * TN_NINTH_OBJECT_CHUNK; number++) {
    const tn_ninth_object *object = tn_ninth_object_of(m, number);
    bool is_instance = object->references > 0 && object->kind == TN_NINTH_INSTANCE;
    if (is_instance && !take_instance(m, s, number)) return false;
  }
  return true;
}

/* False when memory runs out; to be freed in any case. */
static bool snapshot_take(tn_repl *repl, snapshot *s) {
  tn_ninth_machine *m = &repl->machine;
  size_t depth = tn_ninth_depth(m);
  *s = (snapshot){ .drawn = m->drawn, .input = m->input, .libraries = m->libraries.count };
  if (!tn_vec_reserve(m->heap, &s->stack, depth) || !tn_vec_reserve(m->heap, &s->locals, m->locals.count) ||
      !tn_vec_reserve(m->heap, &s->symbols, m->symbols.count)) {
    return false;
  }
  for (size_t i = 0; i < depth; i++) s->stack.at[s->stack.count++] = m->stack[i];
  for (size_t i = 0; i < m->locals.count; i++) s->locals.at[s->locals.count++] = m->locals.at[i];
  for (size_t i = 0; i < m->symbols.count; i++) s->symbols.at[s->symbols.count++] = m->symbols.at[i];
  for (size_t i = 0; i < depth; i++) tn_ninth_hold(m, s->stack.at[i]);
  for (size_t i = 0; i < s->locals.count; i++) tn_ninth_hold(m, s->locals.at[i]);
  for (size_t i = 0; i < s->symbols.count; i++) tn_ninth_hold(m, s->symbols.at[i].memory);
  return take_instances(m, s) && tn_eager_keep(m->eager, &s->variables);
}

/* The value that was there, with its reference, in place of the one that is; unbound where there was none. */
static void put_back(tn_ninth_machine *m, tn_ninth_value *place, tn_ninth_value *saved) {
  tn_ninth_value now = *place;
  *place = saved ? *saved : (tn_ninth_value){ 0 };
  if (saved) *saved = (tn_ninth_value){ 0 };
  tn_ninth_release(m, now);
}

static void put_back_state(tn_ninth_machine *m, snapshot *s, const instance *taken) {
  for (uint32_t i = 0; i < tn_ninth_object_of(m, taken->object)->count; i++) {
    tn_ninth_value *place = &tn_ninth_object_of(m, taken->object)->entries[i].value;
    put_back(m, place, i < taken->count ? &s->state.at[taken->first + i] : NULL);
  }
}

/* The stack has had room for these items before. */
static void snapshot_restore(tn_repl *repl, snapshot *s) {
  tn_ninth_machine *m = &repl->machine;
  tn_ninth_drop(m, tn_ninth_depth(m));
  for (size_t i = 0; i < s->stack.count; i++) *m->top++ = s->stack.at[i];
  s->stack.count = 0;
  for (size_t i = 0; i < m->locals.count; i++)
    put_back(m, &m->locals.at[i], i < s->locals.count ? &s->locals.at[i] : NULL);
  for (size_t i = 0; i < m->symbols.count; i++) {
    tn_ninth_symbol *saved = i < s->symbols.count ? &s->symbols.at[i] : NULL;
    put_back(m, &m->symbols.at[i].memory, saved ? &saved->memory : NULL);
    m->symbols.at[i].function = saved ? saved->function : NULL;
    m->symbols.at[i].module = saved ? saved->module : NULL;
  }
  for (size_t i = 0; i < s->instances.count; i++) put_back_state(m, s, &s->instances.at[i]);
  tn_eager_go_back(m->eager, &s->variables);
  m->drawn = s->drawn;
  m->input = s->input;
  m->libraries.count = s->libraries; /* what a library has defined is gone */
}

/* ---- running lines ---- */

static void run_program(tn_repl *repl, tn_ninth_program *program) {
  tn_ninth_machine *m = &repl->machine;
  snapshot before;
  if (!tn_ninth_load(m, program)) return;
  if (!snapshot_take(repl, &before))
    tn_ninth_report_memory(m->heap, repl->host->diags, TN_NOWHERE);
  else if (!tn_ninth_run(m, program))
    snapshot_restore(repl, &before);
  snapshot_free(repl, &before);
}

static void run_text(tn_repl *repl, tn_str name, tn_str text, bool *complete) {
  tn_ninth_machine *m = &repl->machine;
  tn_diags *diags = repl->host->diags;
  tn_diag_mark mark = tn_diags_mark(diags);
  size_t files = repl->host->sources->files.count;
  bool open = false;
  uint32_t file = tn_sources_add(repl->host->sources, name, text);
  tn_ninth_program *program =
      file ? tn_ninth_compile(m->heap, repl->host->names, diags, file, &m->scope, &open) : NULL;
  *complete = !open || program;
  if (!file) tn_ninth_report_memory(m->heap, diags, TN_NOWHERE);
  if (program) {
    run_program(repl, program);
  } else if (!*complete) {
    tn_diags_rewind(diags, mark);
    tn_sources_rewind(repl->host->sources, files);
  }
}

/* A session may be long: a line that defined nothing is gone when its answer has been shown. */
static void forget_text(tn_repl *repl, size_t files) {
  tn_sources *sources = repl->host->sources;
  bool alone = sources->files.count == files + 1; /* it did not bring in a library */
  if (alone && tn_ninth_forget(&repl->machine, (uint32_t)files + 1)) tn_sources_rewind(sources, files);
}

/* False when more lines are needed. */
static bool run_line(tn_repl *repl, tn_str line, tn_text *out) {
  bool complete;
  tn_str text = tn_repl_talk_add(&repl->talk, line);
  size_t files = repl->host->sources->files.count;
  run_text(repl, tn_repl_talk_name(&repl->talk), text, &complete);
  if (!complete && !repl->talk.pending.failed) return false;
  tn_repl_talk_done(&repl->talk);
  tn_repl_talk_mistakes(&repl->talk, out);
  show_stack(repl, out);
  forget_text(repl, files);
  return true;
}

/* ---- commands ---- */

/* `[ADD]` or `ADD`. */
static void show_opcode(tn_str word, tn_text *out) {
  if (word.len > 2 && word.at[0] == '[') word = (tn_str){ word.at + 1, word.len - 2 };
  tn_ninth_opcode opcode = tn_ninth_opcode_find(word);
  if (opcode == TN_NINTH_OPCODE_COUNT) {
    tn_text_puts(out, "there is no opcode ");
    tn_text_add(out, word);
    tn_text_byte(out, '\n');
    return;
  }
  const tn_ninth_opcode_info *info = tn_ninth_opcode_info_of(opcode);
  tn_text_byte(out, '[');
  tn_text_puts(out, info->name);
  tn_text_puts(out, "]  ( ");
  tn_text_puts(out, info->effect);
  tn_text_puts(out, " )  ");
  tn_text_puts(out, info->doc);
  tn_text_byte(out, '\n');
}

static void run_help(tn_repl *repl, tn_str argument, tn_text *out) {
  if (argument.len > 0)
    show_opcode(argument, out);
  else
    tn_repl_talk_help(&repl->talk, out);
}

static void run_stack(tn_repl *repl, tn_str argument, tn_text *out) {
  (void)argument;
  show_stack(repl, out);
}

static void run_vars(tn_repl *repl, tn_str argument, tn_text *out) {
  (void)argument;
  show_variables(repl, out);
}

static void run_clear(tn_repl *repl, tn_str argument, tn_text *out) {
  (void)argument;
  tn_ninth_drop(&repl->machine, tn_ninth_depth(&repl->machine));
  tn_text_clear(&repl->talk.pending);
  show_stack(repl, out);
}

static void run_trace(tn_repl *repl, tn_str argument, tn_text *out) {
  bool on = tn_str_is(argument, "on");
  if (!on && !tn_str_is(argument, "off")) {
    tn_text_puts(out, "say :trace on or :trace off\n");
    return;
  }
  repl->machine.trace = on ? trace_step : NULL;
  repl->machine.tracer = repl;
}

static void run_load(tn_repl *repl, tn_str argument, tn_text *out) {
  tn_arena arena;
  tn_str text;
  bool complete = true;
  tn_arena_init(&arena, repl->host->heap);
  if (tn_repl_talk_read(&repl->talk, argument, &arena, &text, out)) {
    run_text(repl, argument, text, &complete);
    if (!complete) tn_text_puts(out, "the file ends inside a block\n");
    tn_repl_talk_mistakes(&repl->talk, out);
    show_stack(repl, out);
  }
  tn_arena_free(&arena);
}

static const tn_repl_command commands[] = {
  { ":help", "this list; :help OPCODE says what an opcode does", run_help },
  { ":stack", "show the stack", run_stack },
  { ":vars", "show variables, stored values, functions and modules", run_vars },
  { ":clear", "empty the stack", run_clear },
  { ":trace on|off", "show every step", run_trace },
  { ":load FILE", "run a file", run_load },
  { ":quit", "end the session", NULL },
};

/* ---- sessions ---- */

tn_repl *tn_ninth_repl_new(tn_host *host) {
  tn_repl *repl = tn_heap_alloc(host->heap, sizeof *repl);
  if (!repl) return NULL;
  repl->host = host;
  tn_repl_talk_init(&repl->talk, host, commands, sizeof commands / sizeof *commands);
  if (tn_ninth_machine_init(&repl->machine, host)) return repl;
  tn_ninth_repl_free(repl);
  return NULL;
}

void tn_ninth_repl_free(tn_repl *repl) {
  tn_heap *heap = repl->host->heap;
  tn_ninth_machine_free(&repl->machine);
  tn_repl_talk_free(&repl->talk);
  tn_heap_free(heap, repl, sizeof *repl);
}

void tn_ninth_repl_cancel(tn_repl *repl) { tn_text_clear(&repl->talk.pending); }

bool tn_ninth_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit) {
  repl->shown = out;
  if (!tn_repl_talk_command(&repl->talk, repl, line, out)) return run_line(repl, line, out);
  *quit = repl->talk.quit;
  return repl->talk.pending.len == 0;
}

/* ---- completion ---- */

static void offer_names(tn_repl *repl, tn_str word, char sign, tn_text *candidates) {
  const tn_ninth_machine *m = &repl->machine;
  const tn_ninth_object *self = tn_ninth_object_of(m, m->self);
  tn_names *names = repl->host->names;
  for (uint32_t i = 0; sign == '@' && i < self->count; i++) {
    tn_repl_offer(word, "@", tn_names_text(names, self->entries[i].name), "", candidates);
  }
  for (size_t i = 0; sign == 0 && i < m->locals.count; i++) {
    if (m->locals.at[i].kind != TN_NINTH_UNBOUND)
      tn_repl_offer(word, "", tn_names_text(names, m->scope.names.at[i]), "", candidates);
  }
  for (size_t name = 0; name < m->symbols.count; name++) {
    const tn_ninth_symbol *symbol = &m->symbols.at[name];
    tn_str text = tn_names_text(names, (tn_name)name);
    if (sign == '"' && (symbol->function || symbol->memory.kind != TN_NINTH_UNBOUND))
      tn_repl_offer(word, "\"", text, "\"", candidates);
    if (sign == '{' && symbol->module) tn_repl_offer(word, "{", text, "}", candidates);
  }
}

/* The sign before the word says what it can be. */
void tn_ninth_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates) {
  tn_str word = tn_repl_word(line, cursor);
  char sign = word.at > line.at ? word.at[-1] : 0;
  if (tn_repl_talk_complete(&repl->talk, line, cursor, candidates)) return;
  for (int i = 0; sign == '[' && i < TN_NINTH_OPCODE_COUNT; i++) {
    tn_repl_offer(word, "[", tn_str_of(tn_ninth_opcode_info_of((tn_ninth_opcode)i)->name), "]", candidates);
  }
  if (sign != '[') offer_names(repl, word, sign == '@' || sign == '"' || sign == '{' ? sign : 0, candidates);
}
