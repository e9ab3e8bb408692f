/* lang/mind/repl.c: MIND, line by line.
 *
 * A line is a small module that sees everything before it (session.c); its value
 * is shown. Commands look at an expression in another way: they check it, or
 * carry it out, and undo it. */
#include "lang/repl.h"

#include "lang/mind/doors.h"
#include "lang/mind/emit.h"
#include "lang/mind/session.h"

struct tn_repl {
  tn_repl_talk talk;
  tn_mind_session session;
  bool waits;   /* the lines are complete, but an `else` may follow */
  tn_name last; /* `_`: the value of the last expression */
};

/* ---- what is shown ---- */

static void show_type(const tn_repl *repl, const tn_mind_type *type, tn_text *out) {
  tn_mind_type_print(type, repl->talk.host->names, out);
}

/* fn f(x: f32) -> f32, as it was written. */
static void show_function(const tn_repl *repl, const tn_mind_function *f, tn_text *out) {
  const tn_mind_definition *fn = f->definition;
  tn_str text = tn_sources_get(repl->talk.host->sources, f->unit->file)->text;
  bool blank = false;
  tn_text_puts(out, "fn ");
  for (uint32_t i = fn->word.start; i < fn->head_end; i++) { /* in one line */
    char c = text.at[i];
    bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) tn_text_byte(out, c);
    if (space && !blank) tn_text_byte(out, ' ');
    blank = space;
  }
}

static bool show_value(const tn_repl *repl, tn_mind_turn *turn, const tn_mind_value *value, tn_text *out) {
  tn_text text;
  if (value->kind == TN_MIND_V_UNIT) return true;
  tn_text_init(&text, repl->talk.host->heap);
  bool ok = tn_mind_value_print(&turn->e, value, true, TN_NOWHERE, &text);
  if (ok) tn_repl_show(&repl->talk, tn_text_str(&text), '[', out), tn_text_byte(out, '\n');
  tn_text_free(&text);
  return ok;
}

/* ---- lines ---- */

/* Carries a text out; `keeps` says whether it stays. */
static bool run_text(tn_repl *repl, tn_str name, tn_str text, bool keeps, tn_text *out) {
  tn_mind_turn turn;
  tn_mind_value value;
  size_t before = out->len;
  repl->session.last = keeps ? repl->last : 0;
  bool ok = tn_mind_turn_begin(&turn, &repl->session, name, text) && tn_mind_turn_run(&turn, &value) &&
            show_value(repl, &turn, &value, out);
  repl->session.last = 0;
  if (ok && repl->talk.host->heap->failed) { /* a part of the text or of the answer may be missing */
    out->len = before;
    ok = tn_mind_out_of_memory(&repl->session.mind);
  }
  tn_repl_talk_mistakes(&repl->talk, out);
  if (!tn_mind_turn_end(&turn, ok && keeps)) {
    ok = false;
    tn_repl_talk_mistakes(&repl->talk, out);
  }
  if (!repl->session.forgot) return ok;
  tn_text_puts(out, "note: gradients no longer flow through what was computed up to here\n");
  repl->session.forgot = false;
  return ok;
}

static void run_pending(tn_repl *repl, tn_text *out) {
  repl->waits = false;
  run_text(repl, tn_repl_talk_name(&repl->talk), tn_text_str(&repl->talk.pending), true, out);
  tn_repl_talk_done(&repl->talk);
}

/* After an `if` without an `else` the next line decides: it continues the `if`, or begins a new text. An
 * empty line does neither. */
bool tn_lang_mind_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit) {
  if (repl->waits && !tn_mind_begins_with_else(line)) {
    run_pending(repl, out);
    if (tn_repl_trimmed(line).len == 0) return true;
  }
  if (tn_repl_talk_command(&repl->talk, repl, line, out)) {
    *quit = repl->talk.quit;
    return repl->talk.pending.len == 0;
  }
  tn_str text = tn_repl_talk_add(&repl->talk, line);
  if (tn_repl_talk_is_lost(&repl->talk, out)) return true;
  repl->waits = false;
  if (tn_mind_is_open(text)) return false;
  repl->waits = tn_mind_may_go_on(text);
  if (repl->waits) return false;
  run_pending(repl, out);
  return true;
}

void tn_lang_mind_repl_cancel(tn_repl *repl) {
  tn_text_clear(&repl->talk.pending);
  repl->waits = false;
}

/* ---- commands on an expression ---- */

static bool needs_expression(tn_str argument, const char *command, tn_text *out) {
  if (argument.len > 0) return true;
  tn_text_puts(out, command);
  tn_text_puts(out, " needs an expression\n");
  return false;
}

/* A name that stands for a function is shown with its signature. */
static const tn_mind_function *named_function(const tn_mind_turn *turn) {
  const tn_mind_node *node = tn_mind_last(&turn->unit->block);
  if (!node || node->kind != TN_MIND_NAME) return NULL;
  return node->name.function && node->name.function->definition ? node->name.function : NULL;
}

static void show_type_of(tn_repl *repl, tn_mind_turn *turn, tn_text *out) {
  const tn_mind_function *function = named_function(turn);
  const tn_mind_node *last = tn_mind_last(&turn->unit->block);
  if (function)
    show_function(repl, function, out);
  else
    show_type(repl, last ? tn_mind_type_plain(turn->e.arena, last->type) : &tn_mind_type_unit, out);
  tn_text_byte(out, '\n');
}

static void show_shape_of(tn_repl *repl, tn_mind_turn *turn, tn_text *out) {
  const tn_mind_node *last = tn_mind_last(&turn->unit->block);
  const tn_mind_type *type = last ? last->type : &tn_mind_type_unit;
  tn_mind_value value;
  bool known = type->kind == TN_MIND_T_TENSOR && tn_shape_is_known(&type->shape);
  if (type->kind == TN_MIND_T_TENSOR && !known) { /* running it may say more */
    if (!tn_mind_turn_run(turn, &value)) return;
    type = tn_mind_type_of(&turn->e, &value);
  }
  if (type->kind == TN_MIND_T_TENSOR || type->kind == TN_MIND_T_SHAPE) {
    tn_mind_shape_print(&type->shape, repl->talk.host->names, out);
  } else if (type->kind == TN_MIND_T_SCALAR) {
    tn_text_puts(out, "()");
  } else {
    tn_text_puts(out, "a value of type ");
    show_type(repl, type, out);
    tn_text_puts(out, " has no shape");
  }
  tn_text_byte(out, '\n');
}

/* Checks an expression, shows something of it, and undoes it. */
static void look_at(tn_repl *repl, tn_str text, void (*show)(tn_repl *, tn_mind_turn *, tn_text *),
                    tn_text *out) {
  tn_mind_turn turn;
  if (tn_mind_turn_begin(&turn, &repl->session, tn_repl_talk_name(&repl->talk), text)) show(repl, &turn, out);
  tn_repl_talk_mistakes(&repl->talk, out);
  tn_mind_turn_end(&turn, false);
}

static void run_type(tn_repl *repl, tn_str argument, tn_text *out) {
  if (needs_expression(argument, ":type", out)) look_at(repl, argument, show_type_of, out);
}

static void run_shape(tn_repl *repl, tn_str argument, tn_text *out) {
  if (needs_expression(argument, ":shape", out)) look_at(repl, argument, show_shape_of, out);
}

static void run_grad(tn_repl *repl, tn_str argument, tn_text *out) {
  tn_text text;
  if (!needs_expression(argument, ":grad", out)) return;
  tn_text_init(&text, repl->talk.host->heap);
  tn_text_puts(&text, "grad(");
  tn_text_add(&text, argument);
  bool comment = false;
  for (size_t i = 0; i + 1 < argument.len; i++) comment |= argument.at[i] == '/' && argument.at[i + 1] == '/';
  tn_text_puts(&text, comment ? "\n)" : ")");
  run_text(repl, tn_repl_talk_name(&repl->talk), tn_text_str(&text), false, out);
  tn_text_free(&text);
}

/* The session's graph is lent to the lowering. */
static void show_form(tn_repl *repl, tn_mind_turn *turn, tn_emit_kind kind, tn_text *out) {
  tn_mind_session *s = &repl->session;
  tn_mind_lowering_state lowering;
  tn_mind_value value;
  const tn_mind_node *last = tn_mind_last(&turn->unit->block);
  tn_span at = last ? tn_mind_span(turn->unit, last) : TN_NOWHERE;
  tn_mind_lowering_init(&lowering, &s->mind);
  tn_mind_trace own = lowering.trace;
  lowering.trace = s->trace;
  lowering.trace.builder.graph = &lowering.trace.graph;
  tn_diags_enter(repl->talk.host->diags, TN_PHASE_RUN);
  if (tn_mind_eval_unit(&lowering.e, turn->unit, &s->frame, &value))
    tn_mind_write_form(&lowering, &s->module, &value, at, kind, out);
  s->trace = lowering.trace;
  s->trace.builder.graph = &s->trace.graph;
  lowering.trace = own;
  tn_mind_lowering_free(&lowering);
}

static void show_graph(tn_repl *repl, tn_mind_turn *turn, tn_text *out) {
  show_form(repl, turn, TN_EMIT_GRAPH, out);
}

static void show_mlir(tn_repl *repl, tn_mind_turn *turn, tn_text *out) {
  show_form(repl, turn, TN_EMIT_MLIR, out);
}

static void run_graph(tn_repl *repl, tn_str argument, tn_text *out) {
  if (needs_expression(argument, ":graph", out)) look_at(repl, argument, show_graph, out);
}

static void run_mlir(tn_repl *repl, tn_str argument, tn_text *out) {
  if (needs_expression(argument, ":mlir", out)) look_at(repl, argument, show_mlir, out);
}

static void run_time(tn_repl *repl, tn_str argument, tn_text *out) {
  if (!needs_expression(argument, ":time", out)) return;
  double start = repl->talk.host->now(repl->talk.host);
  run_text(repl, tn_repl_talk_name(&repl->talk), argument, true, out);
  double seconds = repl->talk.host->now(repl->talk.host) - start;
  tn_text_puts(out, "time: ");
  tn_text_fixed(out, seconds * 1e3, 3);
  tn_text_puts(out, " ms\n");
}

/* ---- commands on the session ---- */

static void show_entry(tn_repl *repl, const tn_mind_scope *entry, tn_text *out) {
  const tn_names *names = repl->talk.host->names;
  switch (entry->binds) {
    case TN_MIND_BINDS_VARIABLE:
      tn_text_add(out, tn_names_text(names, entry->name));
      tn_text_puts(out, ": ");
      tn_mind_type_print(entry->variable->type, names, out);
      break;
    case TN_MIND_BINDS_FUNCTION: show_function(repl, entry->function, out); break;
    default:
      tn_text_puts(out, "import ");
      tn_text_add(out, entry->module->name);
      tn_str name = tn_names_text(names, entry->name), path = entry->module->name;
      bool same =
          path.len >= name.len && tn_str_equal(name, (tn_str){ path.at + path.len - name.len, name.len });
      if (!same) tn_text_puts(out, " as "), tn_text_add(out, name);
      break;
  }
  tn_text_byte(out, '\n');
}

/* Oldest first. */
static void run_env(tn_repl *repl, tn_str argument, tn_text *out) {
  tn_heap *heap = repl->talk.host->heap;
  tn_vec(const tn_mind_scope *) entries = { 0 };
  (void)argument;
  for (const tn_mind_scope *at = repl->session.module.scope; at; at = at->next) {
    bool named = at->name != repl->last && tn_mind_session_visible(&repl->session, at);
    if (named && !tn_vec_push(heap, &entries, at)) break;
  }
  for (size_t i = entries.count; i > 0; i--) show_entry(repl, entries.at[i - 1], out);
  tn_vec_free(heap, &entries);
}

static void run_reset(tn_repl *repl, tn_str argument, tn_text *out) {
  (void)argument;
  (void)out;
  tn_host *host = repl->talk.host;
  tn_mind_session_free(&repl->session);
  tn_mind_session_init(&repl->session, host);
}

static void run_load(tn_repl *repl, tn_str argument, tn_text *out) {
  tn_arena arena;
  tn_str text;
  tn_arena_init(&arena, repl->talk.host->heap);
  if (tn_repl_talk_read(&repl->talk, argument, &arena, &text, out)) run_text(repl, argument, text, true, out);
  tn_arena_free(&arena);
}

static void show_entry_help(const tn_mind_entry *entry, tn_text *out) {
  tn_mind_entry_print(entry, out);
  tn_text_puts(out, "\n  ");
  tn_text_puts(out, entry->doc);
  tn_text_byte(out, '\n');
}

static void run_help(tn_repl *repl, tn_str argument, tn_text *out) {
  const tn_mind_entry *entry = tn_mind_library_find(argument);
  if (argument.len == 0) {
    tn_repl_talk_help(&repl->talk, out);
  } else if (entry) {
    show_entry_help(entry, out);
  } else {
    tn_repl_help_op(argument, "library function", out);
  }
}

static const tn_repl_command commands[] = {
  { ":help", "this list; :help NAME says what a function or operation does", run_help },
  { ":type EXPR", "the type of an expression, without running it", run_type },
  { ":shape EXPR", "its shape", run_shape },
  { ":grad EXPR", "its gradient with respect to every variable it depends on", run_grad },
  { ":graph EXPR", "its graph", run_graph },
  { ":mlir EXPR", "the same as MLIR", run_mlir },
  { ":env", "all names, with their types", run_env },
  { ":time EXPR", "its value, and how long it took", run_time },
  { ":reset", "forget everything", run_reset },
  { ":load FILE", "run a file as if it had been typed", run_load },
  { ":quit", "end the session", NULL },
};

/* ---- sessions ---- */

tn_repl *tn_lang_mind_repl_new(tn_host *host) {
  tn_repl *repl = tn_heap_alloc(host->heap, sizeof *repl);
  if (!repl) return NULL;
  tn_repl_talk_init(&repl->talk, host, commands, sizeof commands / sizeof *commands);
  tn_mind_session_init(&repl->session, host);
  repl->last = tn_names_intern(host->names, TN_LIT("_"));
  if (repl->last) return repl;
  tn_lang_mind_repl_free(repl);
  return NULL;
}

void tn_lang_mind_repl_free(tn_repl *repl) {
  tn_heap *heap = repl->talk.host->heap;
  tn_mind_session_free(&repl->session);
  tn_repl_talk_free(&repl->talk);
  tn_heap_free(heap, repl, sizeof *repl);
}

/* ---- completion ---- */

static void offer_library(tn_str word, tn_text *candidates) {
  size_t count;
  const tn_mind_entry *entries = tn_mind_library(&count);
  for (size_t i = 0; i < count; i++) tn_repl_offer(word, "", tn_str_of(entries[i].name), "", candidates);
}

static void offer_public(const tn_repl *repl, const tn_mind_module *module, tn_str word,
                         tn_text *candidates) {
  for (const tn_mind_scope *at = module->scope; at; at = at->next) {
    bool newest = module->newest[at->name] == at;
    if (newest && tn_mind_is_public(module, at->name))
      tn_repl_offer(word, "", tn_names_text(repl->talk.host->names, at->name), "", candidates);
  }
}

/* After a point: methods, or what a module has. */
static void offer_members(const tn_repl *repl, tn_str owner, tn_str word, tn_text *candidates) {
  const tn_mind_session *s = &repl->session;
  for (const tn_mind_scope *at = s->module.scope; at; at = at->next) {
    bool named = tn_str_equal(owner, tn_names_text(repl->talk.host->names, at->name));
    if (!named || !tn_mind_session_visible(s, at) || at->binds != TN_MIND_BINDS_MODULE) continue;
    offer_public(repl, at->module, word, candidates);
    return;
  }
  offer_library(word, candidates);
}

void tn_lang_mind_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates) {
  static const char *const keywords[] = {
    "let", "fn", "import", "export", "as", "if", "else", "true", "false"
  };
  tn_str word = tn_repl_word(line, cursor);
  size_t start = (size_t)(word.at - line.at);
  if (tn_repl_talk_complete(&repl->talk, line, cursor, candidates)) return;
  if (start > 0 && line.at[start - 1] == '.') {
    offer_members(repl, tn_repl_word(line, start - 1), word, candidates);
    return;
  }
  for (const tn_mind_scope *at = repl->session.module.scope; at; at = at->next) {
    if (tn_mind_session_visible(&repl->session, at))
      tn_repl_offer(word, "", tn_names_text(repl->talk.host->names, at->name), "", candidates);
  }
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    tn_repl_offer(word, "", tn_str_of(keywords[i]), "", candidates);
  tn_repl_offer(word, "", TN_LIT("tensor"), "", candidates);
  offer_library(word, candidates);
}
