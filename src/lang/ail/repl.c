/* lang/ail/repl.c: interactive sessions of AILang.
 *
 * An AILang program is declarations and one model, so the session keeps lines of
 * two kinds: declarations (const, fn, input, param) and the assignments of a
 * model. Each line is appended to those it needs (lines.h), the result is run as a program, and the
 * line is kept if it succeeds. Inputs, parameters and draws follow from the seed, so a value is the
 * same each time it is computed. */
#include "lang/repl.h"

#include "lang/ail/internal.h"
#include "lang/ail/lexer.h"
#include "lang/ail/lines.h"
#include "lang/ail/doors.h"
#include "lang/ail/library.h"
#include "tensor/print.h"

struct tn_repl {
  tn_repl_talk talk;
  tn_ail_lines lines;
  bool single;  /* the last result is one number, */
  float number; /* and which */
};

#define CHAIN_LINES 64 /* that may lead to a number; if there are more, the number is kept in their place */
#define EXPLAINED_LINES 256 /* kept lines up to which a mistake is explained with all of them in sight */

/* An input may be declared as in a model, `x [B, 3]`, and is then kept among the assignments. */
typedef enum { DECLARATION, MODEL_INPUT, ASSIGNMENT, EXPRESSION, PROGRAM } line_kind;

/* ---- what a line is ---- */

static line_kind kind_of(tn_str text, tn_str *target) {
  tn_ail_lexer lexer;
  tn_ail_lexer_init(&lexer, text);
  tn_ail_token first = tn_ail_lexer_next(&lexer), second = tn_ail_lexer_next(&lexer);
  bool let = first.kind == TN_AIL_TOKEN_NAME && first.word == TN_AIL_WORD_LET;
  if (let) first = second, second = tn_ail_lexer_next(&lexer);
  *target = (tn_str){ text.at + first.start, first.end - first.start };
  if (first.kind != TN_AIL_TOKEN_NAME) return EXPRESSION;
  if (second.kind == TN_AIL_TOKEN_ASSIGN) return ASSIGNMENT;
  bool shape = second.kind == TN_AIL_TOKEN_OPEN_LIST || second.kind == TN_AIL_TOKEN_COLON;
  if (shape && !let) return MODEL_INPUT;
  bool named = second.kind == TN_AIL_TOKEN_NAME, block = second.kind == TN_AIL_TOKEN_OPEN_BLOCK;
  switch (first.word) {
    case TN_AIL_WORD_CONST:
    case TN_AIL_WORD_FN:
    case TN_AIL_WORD_LAYER:
    case TN_AIL_WORD_INPUT:
    case TN_AIL_WORD_PARAM: return named ? DECLARATION : EXPRESSION;
    case TN_AIL_WORD_MODEL:
    case TN_AIL_WORD_FORWARD: return block ? PROGRAM : EXPRESSION;
    case TN_AIL_WORD_STATE_MACHINE:
    case TN_AIL_WORD_APP: return named ? PROGRAM : EXPRESSION;
    default: return EXPRESSION;
  }
}

static bool wants_value(tn_ail_word word) {
  switch (word) {
    case TN_AIL_WORD_IF:
    case TN_AIL_WORD_THEN:
    case TN_AIL_WORD_ELSE:
    case TN_AIL_WORD_AND:
    case TN_AIL_WORD_OR:
    case TN_AIL_WORD_NOT: return true;
    default: return false;
  }
}

static bool wants_more(const tn_ail_token *last) {
  switch (last->kind) {
    case TN_AIL_TOKEN_COMMA:
    case TN_AIL_TOKEN_ASSIGN:
    case TN_AIL_TOKEN_PLUS:
    case TN_AIL_TOKEN_MINUS:
    case TN_AIL_TOKEN_STAR:
    case TN_AIL_TOKEN_SLASH: return true;
    case TN_AIL_TOKEN_NAME: return wants_value(last->word);
    default: return last->kind >= TN_AIL_TOKEN_EQ && last->kind <= TN_AIL_TOKEN_GE;
  }
}

/* An open bracket or loop, or an end that wants more. */
static bool is_open(tn_str text) {
  tn_ail_lexer lexer;
  tn_ail_token last = { .kind = TN_AIL_TOKEN_END };
  int nesting = 0, loops = 0;
  tn_ail_lexer_init(&lexer, text);
  for (;;) {
    tn_ail_token token = tn_ail_lexer_next(&lexer);
    if (token.kind == TN_AIL_TOKEN_BAD) return false;
    if (token.kind == TN_AIL_TOKEN_END) break;
    nesting += tn_ail_token_nesting(token.kind);
    if (token.word == TN_AIL_WORD_DO) loops++;
    if (token.word == TN_AIL_WORD_END && loops > 0) loops--; /* that of a state closes nothing */
    last = token;
  }
  nesting += loops;
  return nesting > 0 || (nesting == 0 && wants_more(&last));
}

/* ---- programs ---- */

/* The lines that were found, or all of them, with one more. `shown` is the name of its result. */
typedef struct {
  line_kind kind;
  tn_str line, shown;
  bool whole;
} program_text;

static void write_lines(const tn_repl *repl, const program_text *p, bool in_model, tn_text *out) {
  (p->whole ? tn_ail_lines_write_all : tn_ail_lines_write)(&repl->lines, in_model, out);
}

static void write_program(const tn_repl *repl, const program_text *p, tn_text *out) {
  write_lines(repl, p, false, out);
  if (p->kind == DECLARATION || p->kind == PROGRAM) tn_text_add(out, p->line), tn_text_byte(out, '\n');
  if (p->kind == PROGRAM) return;
  tn_text_puts(out, "model {\n");
  write_lines(repl, p, true, out);
  if (p->kind == ASSIGNMENT || p->kind == MODEL_INPUT) tn_text_add(out, p->line), tn_text_byte(out, '\n');
  tn_text_puts(out, "logits = ");
  tn_text_add(out, p->kind == EXPRESSION ? p->line : p->kind == ASSIGNMENT ? p->shown : TN_LIT("0"));
  tn_text_puts(out, "\n}\n");
}

/* The name of the output says nothing here. */
static tn_str without_name(tn_str text) {
  size_t end = 0;
  if (!tn_str_starts(text, "Output: logits\n")) return text;
  while (text.at[end] != '\n') end++;
  return (tn_str){ text.at + end + 1, text.len - end - 1 };
}

static void note_number(tn_repl *repl, const tn_outcome *outcome) {
  const tn_datum *value = outcome->count == 1 ? &outcome->values[0] : NULL;
  repl->single = value && value->kind == TN_VALUE_TENSOR && value->dtype == TN_F32 && value->tensor.buffer &&
                 value->tensor.view.rank == 0;
  if (!repl->single) return;
  repl->number = *(const float *)value->tensor.view.data;
  repl->single = repl->number - repl->number == 0; /* there are words for no other */
}

/* All rows of a matrix where the terminal shows rows, else the first values, as `tern run` prints them. */
static void show_outcome(const tn_repl *repl, const tn_outcome *outcome, tn_text *out) {
  const tn_datum *value = outcome->count == 1 ? &outcome->values[0] : NULL;
  bool tensor = value && value->kind == TN_VALUE_TENSOR && value->tensor.buffer;
  bool matrix = tensor && value->tensor.view.rank > 1;
  tn_str text = without_name(outcome->text);
  size_t end = 0;
  if (!matrix || !repl->talk.host->rows) {
    while (text.len > 0 && text.at[text.len - 1] == '\n') text.len--;
    tn_repl_show(&repl->talk, text, '[', out);
    if (outcome->text.len > 0) tn_text_byte(out, '\n');
    return;
  }
  while (end < text.len && text.at[end] != '\n') end++; /* the shape, then the rows */
  tn_text rows;
  tn_text_init(&rows, repl->talk.host->heap);
  tn_text_add(&rows, (tn_str){ text.at, end });
  tn_text_byte(&rows, ' ');
  tn_print_style style = tn_print_list(&value->tensor.view, true);
  tn_view_print(&value->tensor.view, &style, &rows);
  tn_repl_show(&repl->talk, tn_text_str(&rows), '[', out);
  tn_text_byte(out, '\n');
  tn_text_free(&rows);
}

static bool run_program(tn_repl *repl, uint32_t file, bool runs, tn_text *out) {
  tn_host *host = repl->talk.host;
  const tn_lang *lang = tn_lang_ail();
  tn_unit unit = { .host = host, .file = file };
  tn_arena arena;
  tn_outcome outcome = { 0 };
  if (!runs) return lang->check(&unit);
  tn_arena_init(&arena, host->heap);
  bool ok = lang->run(&unit, &arena, &outcome);
  if (ok) show_outcome(repl, &outcome, out);
  if (ok) note_number(repl, &outcome);
  for (size_t i = 0; i < outcome.count; i++) tn_datum_release(&outcome.values[i]);
  tn_givens_free(host->heap, &unit.params);
  tn_arena_free(&arena);
  return ok;
}

typedef bool (*program_use)(tn_repl *repl, uint32_t file, line_kind kind, tn_text *out);

/* *file is the program's text, to be forgotten when its mistakes have been shown. */
static bool try_program(tn_repl *repl, const program_text *p, program_use use, uint32_t *file, tn_text *out) {
  tn_host *host = repl->talk.host;
  tn_text text;
  tn_text_init(&text, host->heap);
  write_program(repl, p, &text);
  *file = text.failed ? 0 : tn_sources_add(host->sources, TN_LIT("<session>"), tn_text_str(&text));
  tn_text_free(&text);
  if (!*file) return tn_report_plain(host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
  return use(repl, *file, p->kind, out);
}

/* Makes the program of a line, does something with it, and forgets it with the names that came up in it. A
 * mistake is looked at again with every line there is, whose names may be what was meant. */
static bool with_program(tn_repl *repl, line_kind kind, tn_str line, tn_str shown, program_use use,
                         tn_text *out) {
  tn_host *host = repl->talk.host;
  size_t files = host->sources->files.count;
  program_text p = { .kind = kind, .line = line, .shown = shown };
  tn_text made;
  uint32_t file = 0;
  tn_text_init(&made, host->heap);
  tn_names_mark(host->names);
  bool found = tn_ail_lines_search(&repl->lines, line);
  if (!found) tn_report_plain(host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
  bool ok = found && try_program(repl, &p, use, &file, &made);
  p.whole = file && !host->heap->failed && repl->lines.found.count < repl->lines.count &&
            repl->lines.count <= EXPLAINED_LINES;
  if (!ok && p.whole) {
    tn_diags_clear(host->diags);
    tn_text_clear(&made);
    ok = try_program(repl, &p, use, &file, &made);
  }
  if (ok) tn_text_add(out, tn_text_str(&made));
  tn_repl_talk_mistakes(&repl->talk, out);
  tn_sources_rewind(host->sources, files);
  tn_names_rewind(host->names);
  tn_text_free(&made);
  return ok;
}

static bool use_run(tn_repl *repl, uint32_t file, line_kind kind, tn_text *out) {
  return run_program(repl, file, kind != DECLARATION && kind != MODEL_INPUT, out);
}

/* NAME = NUMBER, where a long chain of lines leads to one number; else the line as it is. */
static bool keep_line(tn_repl *repl, line_kind kind, tn_str text, tn_str target) {
  bool chain = repl->lines.found.count > repl->lines.always.count + CHAIN_LINES;
  if (kind != ASSIGNMENT || !chain || !repl->single || !tn_ail_lines_binds_only(text, target))
    return tn_ail_lines_keep(&repl->lines, text, kind != DECLARATION);
  tn_text number;
  tn_text_init(&number, repl->talk.host->heap);
  tn_text_add(&number, target);
  tn_text_puts(&number, " = ");
  tn_text_f32(&number, repl->number);
  bool ok = !number.failed && tn_ail_lines_keep(&repl->lines, tn_text_str(&number), true);
  tn_text_free(&number);
  return ok;
}

/* `_` is the value of the last expression; where memory ends, that of the one before. */
static void name_last(tn_repl *repl, tn_str expression) {
  tn_text line;
  tn_text_init(&line, repl->talk.host->heap);
  tn_text_puts(&line, "_ = ");
  tn_text_add(&line, expression);
  if (!line.failed) (void)keep_line(repl, ASSIGNMENT, tn_text_str(&line), TN_LIT("_"));
  tn_text_free(&line);
}

static void run_text(tn_repl *repl, tn_str text, tn_text *out) {
  tn_str target;
  line_kind kind = kind_of(text, &target);
  repl->single = false;
  if (!with_program(repl, kind, text, target, use_run, out)) return;
  if (kind == EXPRESSION) name_last(repl, text);
  if (kind == EXPRESSION || kind == PROGRAM || keep_line(repl, kind, text, target)) return;
  tn_report_plain(repl->talk.host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
  tn_repl_talk_mistakes(&repl->talk, out);
}

bool tn_lang_ail_repl_line(tn_repl *repl, tn_str line, tn_text *out, bool *quit) {
  if (tn_repl_talk_command(&repl->talk, repl, line, out)) {
    *quit = repl->talk.quit;
    return repl->talk.pending.len == 0;
  }
  tn_str text = tn_repl_talk_add(&repl->talk, line);
  if (tn_repl_talk_is_lost(&repl->talk, out)) return true;
  if (is_open(text)) return false;
  run_text(repl, text, out);
  tn_repl_talk_done(&repl->talk);
  return true;
}

/* ---- commands ---- */

static bool use_emit(tn_repl *repl, uint32_t file, tn_emit_kind kind, tn_text *out) {
  tn_unit unit = { .host = repl->talk.host, .file = file };
  return tn_lang_ail()->emit(&unit, kind, out);
}

static bool use_graph(tn_repl *repl, uint32_t file, line_kind kind, tn_text *out) {
  (void)kind;
  return use_emit(repl, file, TN_EMIT_GRAPH, out);
}

static bool use_mlir(tn_repl *repl, uint32_t file, line_kind kind, tn_text *out) {
  (void)kind;
  return use_emit(repl, file, TN_EMIT_MLIR, out);
}

static bool use_shape(tn_repl *repl, uint32_t file, line_kind kind, tn_text *out) {
  tn_text whole;
  (void)kind;
  tn_text_init(&whole, repl->talk.host->heap);
  bool ok = run_program(repl, file, true, &whole);
  tn_str text = tn_text_str(&whole), lead = TN_LIT("Output shape: ");
  size_t end = 0;
  while (end < text.len && text.at[end] != '\n') end++;
  if (ok && end > lead.len) tn_text_add(out, (tn_str){ text.at + lead.len, end + 1 - lead.len });
  tn_text_free(&whole);
  return ok;
}

static void on_expression(tn_repl *repl, tn_str argument, const char *command, program_use use,
                          tn_text *out) {
  if (argument.len > 0) {
    with_program(repl, EXPRESSION, argument, argument, use, out);
    return;
  }
  tn_text_puts(out, command);
  tn_text_puts(out, " needs an expression\n");
}

static void run_shape(tn_repl *repl, tn_str argument, tn_text *out) {
  on_expression(repl, argument, ":shape", use_shape, out);
}

static void run_graph(tn_repl *repl, tn_str argument, tn_text *out) {
  on_expression(repl, argument, ":graph", use_graph, out);
}

static void run_mlir(tn_repl *repl, tn_str argument, tn_text *out) {
  on_expression(repl, argument, ":mlir", use_mlir, out);
}

static void run_time(tn_repl *repl, tn_str argument, tn_text *out) {
  double start = repl->talk.host->now(repl->talk.host);
  on_expression(repl, argument, ":time", use_run, out);
  double seconds = repl->talk.host->now(repl->talk.host) - start;
  if (argument.len == 0) return;
  tn_text_puts(out, "time: ");
  tn_text_fixed(out, seconds * 1e3, 3);
  tn_text_puts(out, " ms\n");
}

static void run_env(tn_repl *repl, tn_str argument, tn_text *out) {
  (void)argument;
  for (int in_model = 0; in_model < 2; in_model++) {
    for (const tn_ail_line *line = repl->lines.first; line; line = line->newer) {
      if (line->in_model != in_model || tn_str_starts(line->text, "_ = ")) continue;
      tn_text_add(out, line->text);
      tn_text_byte(out, '\n');
    }
  }
}

static void run_reset(tn_repl *repl, tn_str argument, tn_text *out) {
  (void)argument;
  (void)out;
  tn_ail_lines_free(&repl->lines);
}

/* A whole program runs as it is, after the declarations; lines are taken one by one. */
static void run_load(tn_repl *repl, tn_str argument, tn_text *out) {
  tn_arena arena;
  tn_str text;
  bool quit = false;
  tn_arena_init(&arena, repl->talk.host->heap);
  if (tn_repl_talk_read(&repl->talk, argument, &arena, &text, out)) {
    while (text.len > 0) {
      size_t end = 0;
      while (end < text.len && text.at[end] != '\n') end++;
      tn_lang_ail_repl_line(repl, (tn_str){ text.at, end }, out, &quit);
      text = (tn_str){ text.at + end, text.len - end };
      if (text.len > 0) text.at++, text.len--;
    }
  }
  tn_arena_free(&arena);
}

static const tn_ail_builtin *find_builtin(tn_str name) {
  size_t count;
  const tn_ail_builtin *builtins = tn_ail_builtins(&count);
  for (size_t i = 0; i < count; i++) {
    if (tn_str_is(name, builtins[i].name)) return &builtins[i];
  }
  return NULL;
}

/* reduce(x, axis?), then what the operation below it computes. */
static void describe(const tn_ail_builtin *builtin, tn_text *out) {
  const char *comma = "";
  tn_text_puts(out, builtin->name);
  tn_text_byte(out, '(');
  for (const tn_ail_param_spec *p = builtin->params; p->kind != TN_AIL_ARG_NONE; p++, comma = ", ") {
    tn_text_puts(out, comma);
    tn_text_puts(out, p->name);
    if (p->optional) tn_text_byte(out, '?');
  }
  tn_text_puts(out, ")\n");
  const tn_op_sig *sig = tn_op_sig_of(builtin->op);
  if (builtin->op == TN_OP_ERROR) return;
  tn_text_puts(out, "  ");
  tn_text_puts(out, sig->doc);
  tn_text_puts(out, "\n  result: ");
  tn_text_puts(out, sig->result);
  tn_text_byte(out, '\n');
}

static void run_help(tn_repl *repl, tn_str argument, tn_text *out) {
  const tn_ail_builtin *builtin = find_builtin(argument);
  if (argument.len == 0)
    tn_repl_talk_help(&repl->talk, out);
  else if (builtin)
    describe(builtin, out);
  else
    tn_repl_help_op(argument, "operation", out);
}

static const tn_repl_command commands[] = {
  { ":help", "this list; :help NAME says what an operation does", run_help },
  { ":shape EXPR", "the shape of an expression", run_shape },
  { ":graph EXPR", "its graph", run_graph },
  { ":mlir EXPR", "the same as MLIR", run_mlir },
  { ":env", "the current declarations and assignments", run_env },
  { ":time EXPR", "its value, and how long it took", run_time },
  { ":reset", "forget everything", run_reset },
  { ":load FILE", "run a file as if it had been typed", run_load },
  { ":quit", "end the session", NULL },
};

/* ---- sessions ---- */

tn_repl *tn_lang_ail_repl_new(tn_host *host) {
  tn_repl *repl = tn_heap_alloc(host->heap, sizeof *repl);
  if (!repl) return NULL;
  tn_repl_talk_init(&repl->talk, host, commands, sizeof commands / sizeof *commands);
  tn_ail_lines_init(&repl->lines, host->heap, host->names);
  return repl;
}

void tn_lang_ail_repl_free(tn_repl *repl) {
  tn_heap *heap = repl->talk.host->heap;
  tn_ail_lines_free(&repl->lines);
  tn_repl_talk_free(&repl->talk);
  tn_heap_free(heap, repl, sizeof *repl);
}

void tn_lang_ail_repl_cancel(tn_repl *repl) { tn_text_clear(&repl->talk.pending); }

/* ---- completion ---- */

/* Every name that means something in the session and begins with the word. */
static void offer_names(const tn_repl *repl, tn_str word, tn_text *candidates) {
  const tn_map *meaning = &repl->lines.meaning;
  for (size_t i = 0; i < meaning->count; i++) {
    if (meaning->entries[i].value == 0) continue;
    tn_str name = tn_names_text(repl->lines.names, (tn_name)meaning->entries[i].key);
    tn_repl_offer(word, "", name, "", candidates);
  }
}

void tn_lang_ail_repl_complete(tn_repl *repl, tn_str line, size_t cursor, tn_text *candidates) {
  static const char *const words[] = {
    "const", "fn",     "input", "param",  "model", "if",    "then", "else",  "for", "in", "do",
    "end",   "repeat", "times", "reduce", "over",  "range", "true", "false", "and", "or", "not",
  };
  tn_str word = tn_repl_word(line, cursor);
  if (tn_repl_talk_complete(&repl->talk, line, cursor, candidates)) return;
  offer_names(repl, word, candidates);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    tn_repl_offer(word, "", tn_str_of(words[i]), "", candidates);
  size_t count;
  const tn_ail_builtin *builtins = tn_ail_builtins(&count);
  for (size_t i = 0; i < count; i++) tn_repl_offer(word, "", tn_str_of(builtins[i].name), "", candidates);
}
