/* lang/ninth/repl.c: interactive sessions of Ninth.
 *
 * One VM lives as long as the session; every line is a separate text that is compiled and run on
 * it. A line that leaves a block open waits for the next ones. After an error everything is as it
 * was before the line. */
#include "lang/repl.h"
#include "lang/ninth/doors.h"

struct tn_repl {
  tn_repl_talk talk;
  tn_host *host;
  tn_ninth_vm vm;
  tn_text *shown; /* where this line's answer goes */
};

/* ---- what is shown ---- */

static void show_stack(tn_repl *repl, tn_text *out) {
  const tn_ninth_vm *m = &repl->vm;
  tn_text_puts(out, "stack:");
  if (m->top == m->stack) tn_text_puts(out, " (empty)");
  tn_text text;
  tn_text_init(&text, repl->host->heap);
  for (const tn_ninth_value *value = m->stack; value < m->top; value++) {
    bool string = value->kind == TN_NINTH_STRING;
    tn_text_puts(&text, string ? " \"" : " ");
    tn_ninth_show(m, *value, true, &text);
    if (string) tn_text_byte(&text, '"');
  }
  tn_repl_show(&repl->talk, tn_text_str(&text), '(', out);
  tn_text_free(&text);
  tn_text_byte(out, '\n');
}

static void show_variable(tn_repl *repl, const char *before, tn_name name, tn_ninth_value value,
                          tn_text *out) {
  if (value.kind == TN_NINTH_UNBOUND || tn_str_is(tn_names_text(repl->host->names, name), "_")) return;
  tn_text_puts(out, before);
  tn_text_add(out, tn_names_text(repl->host->names, name));
  tn_text_puts(out, " = ");
  tn_ninth_show(&repl->vm, value, true, out);
  tn_text_byte(out, '\n');
}

static void show_variables(tn_repl *repl, tn_text *out) {
  const tn_ninth_vm *m = &repl->vm;
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
static void show_step(tn_ninth_vm *m) {
  tn_repl *repl = m->watcher;
  tn_text_puts(repl->shown, "  ");
  tn_text_add(repl->shown, tn_span_text(m->host->sources, tn_ninth_here(m)));
  tn_text_puts(repl->shown, "  ");
  show_stack(repl, repl->shown);
}

/* ---- running lines ---- */

/* False after reporting. */
static bool run_program(tn_repl *repl, tn_ninth_program *program) {
  tn_ninth_vm *m = &repl->vm;
  if (!tn_ninth_load(m, program)) return false;
  if (!tn_ninth_turn_run(m, program->main))
    return tn_ninth_report_memory(m->heap, repl->host->diags, TN_NOWHERE);
  return tn_ninth_run(m, program);
}

/* A text on its way: to be read, then ended when what it said has been shown. */
typedef struct {
  uint32_t file; /* that no program owns */
  bool complete; /* no more lines are needed */
} reading;

static reading run_text(tn_repl *repl, tn_str name, tn_str text) {
  tn_ninth_vm *m = &repl->vm;
  tn_diags *diags = repl->host->diags;
  tn_diag_mark mark = tn_diags_mark(diags);
  bool open = false;
  tn_ninth_turn_begin(m);
  uint32_t file = tn_ninth_add_text(m, name, text);
  if (!file) tn_ninth_report_memory(m->heap, diags, TN_NOWHERE);
  tn_ninth_program *program =
      file ? tn_ninth_compile(m->heap, repl->host->names, diags, file, &m->scope, &open) : NULL;
  bool ok = program && run_program(repl, program);
  tn_ninth_turn_end(m, !ok);
  if (!program && open) tn_diags_rewind(diags, mark);
  return (reading){ .file = program ? 0 : file, .complete = program || !open };
}

/* Frees programs that nothing refers to any more, with their texts and names. */
static void end_text(tn_repl *repl, const reading *read) {
  if (read->file) tn_ninth_forget_text(&repl->vm, read->file);
  tn_ninth_collect(&repl->vm);
}

/* `_` is what was on top of the stack after the last line. */
static void name_last(tn_repl *repl) {
  tn_ninth_vm *m = &repl->vm;
  void (*watch)(tn_ninth_vm *) = m->watch;
  if (m->top == m->stack) return;
  m->watch = NULL;
  reading read = run_text(repl, TN_LIT("<last>"), TN_LIT("[DUP] -> _"));
  m->watch = watch;
  end_text(repl, &read);
  tn_diags_clear(repl->host->diags); /* a stack without room for one more has no last value */
}

/* False when more lines are needed. */
static bool run_line(tn_repl *repl, tn_str line, tn_text *out) {
  tn_str text = tn_repl_talk_add(&repl->talk, line);
  if (tn_repl_talk_is_lost(&repl->talk, out)) return true;
  reading read = run_text(repl, tn_repl_talk_name(&repl->talk), text);
  if (read.complete) {
    tn_repl_talk_done(&repl->talk);
    tn_repl_talk_mistakes(&repl->talk, out);
    show_stack(repl, out);
  }
  end_text(repl, &read);
  if (read.complete) name_last(repl);
  return read.complete;
}

/* ---- commands ---- */

static tn_ninth_opcode opcode_in_lower_case(tn_str word) {
  char upper[32];
  if (word.len > sizeof upper) return TN_NINTH_OPCODE_COUNT;
  for (size_t i = 0; i < word.len; i++) {
    char c = word.at[i];
    upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
  }
  return tn_ninth_opcode_find((tn_str){ upper, word.len });
}

/* `[ADD]`, `ADD` or `add`. */
static void show_opcode(tn_str word, tn_text *out) {
  if (word.len > 2 && word.at[0] == '[') word = (tn_str){ word.at + 1, word.len - 2 };
  tn_ninth_opcode opcode = tn_ninth_opcode_find(word);
  if (opcode == TN_NINTH_OPCODE_COUNT) opcode = opcode_in_lower_case(word);
  if (opcode == TN_NINTH_OPCODE_COUNT) {
    tn_repl_help_op(word, "opcode", out);
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
  tn_ninth_drop(&repl->vm, tn_ninth_depth(&repl->vm));
  tn_ninth_collect(&repl->vm);
  tn_text_clear(&repl->talk.pending);
  show_stack(repl, out);
}

static void run_trace(tn_repl *repl, tn_str argument, tn_text *out) {
  bool on = tn_str_is(argument, "on");
  if (!on && !tn_str_is(argument, "off")) {
    tn_text_puts(out, "say :trace on or :trace off\n");
    return;
  }
  repl->vm.watch = on ? show_step : NULL;
  repl->vm.watcher = repl;
}

static void run_load(tn_repl *repl, tn_str argument, tn_text *out) {
  tn_arena arena;
  tn_str text;
  tn_arena_init(&arena, repl->host->heap);
  if (tn_repl_talk_read(&repl->talk, argument, &arena, &text, out)) {
    reading read = run_text(repl, argument, text);
    if (!read.complete) tn_text_puts(out, "the file ends inside a block\n");
    tn_repl_talk_mistakes(&repl->talk, out);
    show_stack(repl, out);
    end_text(repl, &read);
  }
  tn_arena_free(&arena);
}

static const tn_repl_command commands[] = {
  { ":help", "this list; :help NAME says what an opcode or operation does", run_help },
  { ":stack", "show the stack", run_stack },
  { ":vars", "show variables, stored values, functions and modules", run_vars },
  { ":clear", "empty the stack", run_clear },
  { ":trace on|off", "show every step", run_trace },
  { ":load FILE", "run a file", run_load },
  { ":quit", "end the session", NULL },
};

/* ---- sessions ---- */

tn_repl *tn_lang_ninth_repl_new(tn_host *host) {
  tn_repl *repl = tn_heap_alloc(host->heap, sizeof *repl);
  if (!repl) return NULL;
  repl->host = host;
  tn_repl_talk_init(&repl->talk, host, commands, sizeof commands / sizeof *commands);
  if (tn_ninth_vm_init(&repl->vm, host)) return repl;
  tn_lang_ninth_repl_free(repl);
  return NULL;
}

void tn_lang_ninth_repl_free(tn_repl *repl) {
  tn_heap *heap = repl->host->heap;
  tn_ninth_vm_free(&repl->vm);
  tn_repl_talk_free(&repl->talk);
  tn_heap_free(heap, repl, sizeof *repl);
}

void tn_lang_ninth_repl_cancel(tn_repl *repl) { tn_text_clear(&repl->talk.pending); }

bool tn_lang_ninth_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit) {
  repl->shown = out;
  if (!tn_repl_talk_command(&repl->talk, repl, line, out)) return run_line(repl, line, out);
  *quit = repl->talk.quit;
  return repl->talk.pending.len == 0;
}

/* ---- completion ---- */

static void offer_names(tn_repl *repl, tn_str word, char sign, tn_text *candidates) {
  const tn_ninth_vm *m = &repl->vm;
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
void tn_lang_ninth_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates) {
  tn_str word = tn_repl_word(line, cursor);
  char sign = word.at > line.at ? word.at[-1] : 0;
  if (tn_repl_talk_complete(&repl->talk, line, cursor, candidates)) return;
  for (int i = 0; sign == '[' && i < TN_NINTH_OPCODE_COUNT; i++) {
    tn_repl_offer(word, "[", tn_str_of(tn_ninth_opcode_info_of((tn_ninth_opcode)i)->name), "]", candidates);
  }
  if (sign != '[') offer_names(repl, word, sign == '@' || sign == '"' || sign == '{' ? sign : 0, candidates);
}
