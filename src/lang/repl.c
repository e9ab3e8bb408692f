/* lang/repl.c: lines, commands and completion of interactive sessions, for every language. */
#include "lang/repl.h"

#define COMMAND_WIDTH 16 /* the column in which the help on a command begins */

void tn_repl_talk_init(tn_repl_talk *talk, tn_host *host, const tn_repl_command *commands, size_t count) {
  *talk = (tn_repl_talk){ .host = host, .commands = commands, .command_count = count };
  tn_text_init(&talk->pending, host->heap);
  tn_text_init(&talk->name, host->heap);
}

void tn_repl_talk_free(tn_repl_talk *talk) {
  tn_text_free(&talk->pending);
  tn_text_free(&talk->name);
}

/* ---- texts ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

tn_str tn_repl_trimmed(tn_str text) {
  while (text.len > 0 && is_blank(text.at[0])) text.at++, text.len--;
  while (text.len > 0 && is_blank(text.at[text.len - 1])) text.len--;
  return text;
}

tn_str tn_repl_talk_add(tn_repl_talk *talk, tn_str line) {
  if (talk->pending.len == 0)
    talk->read = 0;
  else
    tn_text_byte(&talk->pending, '\n');
  tn_text_add(&talk->pending, line);
  talk->read += talk->pending.len;
  return tn_text_str(&talk->pending);
}

bool tn_repl_talk_is_lost(tn_repl_talk *talk, tn_text *out) {
  bool too_long = talk->read > TN_REPL_OPEN_LIMIT && talk->read != talk->pending.len; /* one line may be */
  if (!too_long && !talk->pending.failed) return false;
  if (talk->pending.failed)
    tn_report_plain(talk->host->diags, TN_DIAG_E_OUT_OF_MEMORY, TN_NOWHERE);
  else
    tn_report(talk->host->diags, TN_DIAG_E_TOO_LARGE, TN_NOWHERE,
              TN_STR("what", "the reading of a block that is left open"),
              TN_INT("limit", (int64_t)TN_REPL_OPEN_LIMIT),
              TN_HINT(TN_LIT("put it into a file and `:load` it")));
  tn_repl_talk_done(talk);
  tn_repl_talk_mistakes(talk, out);
  return true;
}

void tn_repl_talk_done(tn_repl_talk *talk) {
  talk->lines++;
  tn_text_free(&talk->pending); /* a long text is not worth keeping its room */
}

tn_str tn_repl_talk_name(tn_repl_talk *talk) {
  tn_text_clear(&talk->name);
  tn_text_puts(&talk->name, "<line ");
  tn_text_uint(&talk->name, talk->lines + 1);
  tn_text_byte(&talk->name, '>');
  return tn_text_str(&talk->name);
}

void tn_repl_talk_mistakes(const tn_repl_talk *talk, tn_text *out) {
  tn_diags *diags = talk->host->diags;
  tn_heap *heap = talk->host->heap;
  if ((diags->errors && heap->failed) || heap->stack.exceeded) tn_diags_settle_memory(diags, heap);
  tn_diags_sort(diags);
  tn_diags_render_text(diags, (tn_diag_style){ .color = talk->host->color }, out);
  tn_diags_clear(diags);
}

bool tn_repl_talk_read(const tn_repl_talk *talk, tn_str path, tn_arena *arena, tn_str *text, tn_text *out) {
  const char *problem = "";
  if (path.len == 0) {
    tn_text_puts(out, ":load needs the name of a file\n");
    return false;
  }
  if (talk->host->read_program(talk->host, path, arena, text, &problem)) return true;
  tn_text_puts(out, "cannot read ");
  tn_text_add(out, path);
  tn_text_puts(out, ": ");
  tn_text_puts(out, problem);
  tn_text_byte(out, '\n');
  return false;
}

/* ---- commands ---- */

/* ":load" of ":load FILE". */
static tn_str name_of(const tn_repl_command *command) {
  tn_str name = tn_str_of(command->name);
  for (size_t i = 0; i < name.len; i++) {
    if (name.at[i] == ' ') name.len = i;
  }
  return name;
}

void tn_repl_talk_help(const tn_repl_talk *talk, tn_text *out) {
  for (size_t i = 0; i < talk->command_count; i++) {
    size_t width = tn_str_of(talk->commands[i].name).len;
    tn_text_puts(out, "  ");
    tn_text_puts(out, talk->commands[i].name);
    tn_text_repeat(out, ' ', width < COMMAND_WIDTH ? COMMAND_WIDTH - width : 1);
    tn_text_puts(out, talk->commands[i].doc);
    tn_text_byte(out, '\n');
  }
}

void tn_repl_help_op(tn_str name, const char *kind, tn_text *out) {
  tn_op op = tn_op_find(name);
  if (op != TN_OP_ERROR) {
    tn_op_describe(tn_op_sig_of(op), out);
    return;
  }
  tn_str close = tn_op_suggest(name);
  tn_text_puts(out, "there is no ");
  tn_text_puts(out, kind);
  tn_text_byte(out, ' ');
  tn_text_add(out, name);
  if (close.len > 0) tn_text_puts(out, "; did you mean "), tn_text_add(out, close), tn_text_byte(out, '?');
  tn_text_byte(out, '\n');
}

#define COMMAND_LIMIT 32

static void no_such_command(const tn_repl_talk *talk, tn_str word, tn_text *out) {
  tn_str names[COMMAND_LIMIT];
  size_t count = talk->command_count < COMMAND_LIMIT ? talk->command_count : COMMAND_LIMIT;
  for (size_t i = 0; i < count; i++) names[i] = name_of(&talk->commands[i]);
  tn_str close = tn_str_suggest(word, names, count);
  tn_text_puts(out, "there is no command ");
  tn_text_add(out, word);
  if (close.len > 0) tn_text_puts(out, "; did you mean "), tn_text_add(out, close);
  tn_text_puts(out, close.len > 0 ? "? :help lists them\n" : "; :help lists them\n");
}

static void run_command(tn_repl_talk *talk, tn_repl *repl, tn_str line, tn_text *out) {
  size_t end = 0;
  while (end < line.len && !is_blank(line.at[end])) end++;
  tn_str word = { line.at, end }, rest = tn_repl_trimmed((tn_str){ line.at + end, line.len - end });
  if (tn_str_is(word, ":quit") || tn_str_is(word, ":q")) {
    talk->quit = true;
    return;
  }
  for (size_t i = 0; i < talk->command_count; i++) {
    if (!tn_str_equal(word, name_of(&talk->commands[i])) || !talk->commands[i].run) continue;
    talk->commands[i].run(repl, rest, out);
    return;
  }
  no_such_command(talk, word, out);
}

/* Words that users type instead of commands with a colon. */
static tn_str command_meant(tn_str line) {
  if (tn_str_is(line, "quit") || tn_str_is(line, "exit")) return TN_LIT(":quit");
  if (tn_str_is(line, "quit()") || tn_str_is(line, "exit()")) return TN_LIT(":quit");
  return tn_str_is(line, "help") ? TN_LIT(":help") : line;
}

bool tn_repl_talk_command(tn_repl_talk *talk, tn_repl *repl, tn_str line, tn_text *out) {
  tn_str bare = tn_repl_trimmed(line);
  if (bare.len == 0) return talk->pending.len == 0;
  if (talk->pending.len == 0) bare = command_meant(bare);
  if (bare.at[0] != ':') return false;
  run_command(talk, repl, bare, out);
  return true;
}

/* ---- completion ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

tn_str tn_repl_word(tn_str line, size_t cursor) {
  size_t end = cursor < line.len ? cursor : line.len, start = end;
  while (start > 0 && is_word(line.at[start - 1])) start--;
  return (tn_str){ line.at + start, end - start };
}

void tn_repl_offer(tn_str word, const char *before, tn_str name, const char *after, tn_text *candidates) {
  if (name.len == 0 || name.len < word.len || !tn_str_equal(word, (tn_str){ name.at, word.len })) return;
  tn_text_puts(candidates, before);
  tn_text_add(candidates, name);
  tn_text_puts(candidates, after);
  tn_text_byte(candidates, '\n');
}

bool tn_repl_talk_complete(const tn_repl_talk *talk, tn_str line, size_t cursor, tn_text *candidates) {
  tn_str word = tn_repl_word(line, cursor);
  if (word.at != line.at + 1 || line.at[0] != ':') return false;
  for (size_t i = 0; i < talk->command_count; i++) {
    tn_str name = name_of(&talk->commands[i]);
    tn_repl_offer(word, ":", (tn_str){ name.at + 1, name.len - 1 }, "", candidates);
  }
  return true;
}
