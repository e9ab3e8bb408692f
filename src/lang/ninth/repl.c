/* lang/ninth/repl.c: Ninth, line by line.
 *
 * One machine lives as long as the session; every line is a text of its own that
 * is compiled and run on it. Where a line leaves something open, it waits for
 * the next ones. A mistake is shown, and what was on the stack and defined stays. */
#include "lang/ninth/ninth.h"

struct tn_repl {
  tn_host *host;
  tn_ninth_machine machine;
  tn_text pending; /* lines that are not complete yet */
  tn_text *shown;  /* where this line's answer goes */
  uint32_t lines;  /* for the names of their texts */
};

tn_repl *tn_ninth_repl_new(tn_host *host) {
  tn_repl *repl = tn_heap_alloc(host->heap, sizeof *repl);
  if (!repl) return NULL;
  repl->host = host;
  tn_text_init(&repl->pending, host->heap);
  if (tn_ninth_machine_init(&repl->machine, host)) return repl;
  tn_ninth_repl_free(repl);
  return NULL;
}

void tn_ninth_repl_free(tn_repl *repl) {
  tn_heap *heap = repl->host->heap;
  tn_ninth_machine_free(&repl->machine);
  tn_text_free(&repl->pending);
  tn_heap_free(heap, repl, sizeof *repl);
}

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

static void show_mistakes(tn_repl *repl, tn_text *out) {
  tn_diags_sort(repl->host->diags);
  tn_diags_render_text(repl->host->diags, (tn_diag_style){ .color = false }, out);
  tn_diags_clear(repl->host->diags);
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

/* ---- running lines ---- */

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
    if (tn_ninth_load(m, program)) tn_ninth_run(m, program);
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

static void line_name(tn_repl *repl, tn_text *name) {
  tn_text_init(name, repl->host->heap);
  tn_text_puts(name, "<line ");
  tn_text_uint(name, repl->lines + 1);
  tn_text_byte(name, '>');
}

/* False when more lines are needed. */
static bool run_line(tn_repl *repl, tn_str line, tn_text *out) {
  tn_text name;
  bool complete;
  if (repl->pending.len > 0) tn_text_byte(&repl->pending, '\n');
  tn_text_add(&repl->pending, line);
  line_name(repl, &name);
  size_t files = repl->host->sources->files.count;
  run_text(repl, tn_text_str(&name), tn_text_str(&repl->pending), &complete);
  tn_text_free(&name);
  if (!complete && !repl->pending.failed) return false;
  repl->lines++;
  tn_text_clear(&repl->pending);
  show_mistakes(repl, out);
  show_stack(repl, out);
  forget_text(repl, files);
  return true;
}

/* ---- commands ---- */

static const struct {
  const char *name, *doc;
} commands[] = {
  { ":help", "this list; :help OPCODE says what an opcode does" },
  { ":stack", "show the stack" },
  { ":vars", "show variables, stored values, functions and modules" },
  { ":clear", "empty the stack" },
  { ":trace on|off", "show every step" },
  { ":load FILE", "run a file" },
  { ":quit", "end the session" },
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static void show_help(tn_text *out) {
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    size_t width = tn_str_of(commands[i].name).len;
    tn_text_puts(out, "  ");
    tn_text_puts(out, commands[i].name);
    tn_text_repeat(out, ' ', width < 16 ? 16 - width : 1);
    tn_text_puts(out, commands[i].doc);
    tn_text_byte(out, '\n');
  }
}

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

static void load_file(tn_repl *repl, tn_str path, tn_text *out) {
  tn_arena arena;
  tn_str text;
  const char *problem = "";
  bool complete = true;
  tn_arena_init(&arena, repl->host->heap);
  if (path.len > 0 && repl->host->read_file(repl->host, path, &arena, &text, &problem)) {
    run_text(repl, path, text, &complete);
    if (!complete) tn_text_puts(out, "the file ends inside a block\n");
    show_mistakes(repl, out);
    show_stack(repl, out);
  } else {
    tn_text_puts(out, path.len > 0 ? "cannot read " : ":load needs the name of a file");
    tn_text_add(out, path);
    if (path.len > 0) tn_text_puts(out, ": "), tn_text_puts(out, problem);
    tn_text_byte(out, '\n');
  }
  tn_arena_free(&arena);
}

static void set_trace(tn_repl *repl, tn_str word, tn_text *out) {
  bool on = tn_str_is(word, "on");
  if (!on && !tn_str_is(word, "off")) {
    tn_text_puts(out, "say :trace on or :trace off\n");
    return;
  }
  repl->machine.trace = on ? trace_step : NULL;
  repl->machine.tracer = repl;
}

static tn_str trimmed(tn_str text) {
  while (text.len > 0 && (text.at[0] == ' ' || text.at[0] == '\t')) text.at++, text.len--;
  while (text.len > 0 &&
         (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t' || text.at[text.len - 1] == '\r')) {
    text.len--;
  }
  return text;
}

static void run_command(tn_repl *repl, tn_str line, tn_text *out, bool *quit) {
  size_t end = 0;
  while (end < line.len && line.at[end] != ' ' && line.at[end] != '\t') end++;
  tn_str word = { line.at, end }, rest = trimmed((tn_str){ line.at + end, line.len - end });
  if (tn_str_is(word, ":quit") || tn_str_is(word, ":q")) {
    *quit = true;
  } else if (tn_str_is(word, ":help")) {
    if (rest.len > 0)
      show_opcode(rest, out);
    else
      show_help(out);
  } else if (tn_str_is(word, ":stack")) {
    show_stack(repl, out);
  } else if (tn_str_is(word, ":vars")) {
    show_variables(repl, out);
  } else if (tn_str_is(word, ":clear")) {
    tn_ninth_drop(&repl->machine, tn_ninth_depth(&repl->machine));
    tn_text_clear(&repl->pending);
    show_stack(repl, out);
  } else if (tn_str_is(word, ":trace")) {
    set_trace(repl, rest, out);
  } else if (tn_str_is(word, ":load")) {
    load_file(repl, rest, out);
  } else {
    tn_text_puts(out, "there is no command ");
    tn_text_add(out, word);
    tn_text_puts(out, "; :help lists them\n");
  }
}

bool tn_ninth_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit) {
  tn_str bare = trimmed(line);
  repl->shown = out;
  if (bare.len > 0 && bare.at[0] == ':') {
    run_command(repl, bare, out, quit);
    return repl->pending.len == 0;
  }
  if (bare.len == 0 && repl->pending.len == 0) return true;
  return run_line(repl, line, out);
}

/* ---- completion ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void offer(tn_str word, const char *before, tn_str name, const char *behind, tn_text *candidates) {
  bool begins = name.len >= word.len;
  for (size_t i = 0; begins && i < word.len; i++) begins = name.at[i] == word.at[i];
  if (!begins || name.len == 0) return;
  tn_text_puts(candidates, before);
  tn_text_add(candidates, name);
  tn_text_puts(candidates, behind);
  tn_text_byte(candidates, '\n');
}

static void offer_names(tn_repl *repl, tn_str word, char sign, tn_text *candidates) {
  const tn_ninth_machine *m = &repl->machine;
  const tn_ninth_object *self = tn_ninth_object_of(m, m->self);
  tn_names *names = repl->host->names;
  for (uint32_t i = 0; sign == '@' && i < self->count; i++) {
    offer(word, "@", tn_names_text(names, self->entries[i].name), "", candidates);
  }
  for (size_t i = 0; sign == 0 && i < m->locals.count; i++) {
    if (m->locals.at[i].kind != TN_NINTH_UNBOUND)
      offer(word, "", tn_names_text(names, m->scope.names.at[i]), "", candidates);
  }
  for (size_t name = 0; name < m->symbols.count; name++) {
    const tn_ninth_symbol *symbol = &m->symbols.at[name];
    tn_str text = tn_names_text(names, (tn_name)name);
    if (sign == '"' && (symbol->function || symbol->memory.kind != TN_NINTH_UNBOUND))
      offer(word, "\"", text, "\"", candidates);
    if (sign == '{' && symbol->module) offer(word, "{", text, "}", candidates);
  }
}

/* The word that ends at the cursor, with the sign before it that says what it can be. */
void tn_ninth_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates) {
  size_t end = cursor < line.len ? cursor : line.len, start = end;
  while (start > 0 && is_word(line.at[start - 1])) start--;
  tn_str word = { line.at + start, end - start };
  char sign = start > 0 ? line.at[start - 1] : 0;
  if (sign == ':' && start == 1) {
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
      tn_str name = tn_str_of(commands[i].name + 1);
      for (size_t k = 0; k < name.len; k++) {
        if (name.at[k] == ' ') name.len = k;
      }
      offer(word, ":", name, "", candidates);
    }
  } else if (sign == '[') {
    for (int i = 0; i < TN_NINTH_OPCODE_COUNT; i++) {
      offer(word, "[", tn_str_of(tn_ninth_opcode_info_of((tn_ninth_opcode)i)->name), "]", candidates);
    }
  } else {
    offer_names(repl, word, sign == '@' || sign == '"' || sign == '{' ? sign : 0, candidates);
  }
}
