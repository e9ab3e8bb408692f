/* runner/transcript.c: runs what a transcript says and compares what comes back.
 *
 *   transcript --tern PROGRAM [--tests FOLDER] [--seconds N] [--update] FILE...
 *
 * Two kinds of file, told apart by their names; tests/README.md describes both.
 * In a .t file every line carries a mark: `$` a command, `>` its further lines,
 * `|` standard output, `!` standard error, `?` the exit status, `#` a remark. In a
 * .md file the fenced blocks are the examples: sessions, programs, C sources.
 *
 * Either becomes a list of steps. A step runs in a folder that belongs to the
 * file, and knows which lines of the file hold its expectations, so that --update
 * can put what really came in their place. Expectations that hold are never
 * touched: wildcards in them survive. */
#include "runner/run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  STEP_MARKED,  /* a .t command: both streams and the status are compared */
  STEP_SESSION, /* a `$` line in a document: both streams as one, as a reader sees them */
  STEP_PROGRAM, /* a source in a document: its output as one, and it must succeed */
  STEP_SCRIPT,  /* commands in a document without a `$`: all of them must succeed */
  STEP_REPL,    /* an interactive session in a document: everything it prints, in order */
  STEP_FILE,    /* a block that is only written to a file */
} step_kind;

typedef struct {
  step_kind kind;
  size_t line;           /* of the command, from 0 */
  size_t from, to;       /* lines that hold the expectations; empty where it has none */
  text command;
  text input;            /* for standard input, or what a file is to hold */
  lines out, err;
  int status;
  bool silent;           /* a source without expected output: only its status counts */
} step;

typedef struct {
  const char *tern, *tests;
  int seconds;           /* a command may take */
  bool update;
} options;

typedef struct {
  const char *path;
  text whole;
  lines all;
  step *steps;
  size_t count;
  size_t mistakes;       /* lines that cannot be read */
  size_t left_out;       /* blocks of commands that are not run, each with its reason */
  lines made;            /* expected lines that are not in `whole` as they are; freed with the file */
} transcript;

static step *step_new(transcript *file, step_kind kind, size_t line) {
  file->steps = more(file->steps, (file->count + 1) * sizeof *file->steps);
  step *made = &file->steps[file->count++];
  *made = (step){ .kind = kind, .line = line, .from = line + 1, .to = line + 1 };
  made->command = text_of("");
  return made;
}

static void mistake(transcript *file, size_t line, const char *what) {
  printf("%s:%zu: %s\n", file->path, line + 1, what);
  file->mistakes++;
}

/* Marked transcripts ----------------------------------------------------- */

/* What stands after the mark: "| text" and "|" alone for an empty line. */
static bool marked_body(text line, text *body) {
  *body = text_after(line, 2);
  return line.length == 1 || line.bytes[1] == ' ';
}

/* Adds one line to the step it belongs to; false when it makes no sense there. */
static bool marked_line(step *at, char mark, text body, lines **latest) {
  switch (mark) {
    case '>':
      text_add(&at->command, "\n", 1);
      text_add(&at->command, body.bytes, body.length);
      return at->from == at->to; /* not after the output */
    case '|': lines_add(*latest = &at->out, body); return true;
    case '!': lines_add(*latest = &at->err, body); return true;
    case '?': at->status = atoi(body.bytes); return true;
    case '\\':
      if (*latest) (*latest)->open = true;
      return *latest != NULL;
    default: return false;
  }
}

static void read_marked(transcript *file) {
  step *at = NULL;
  lines *latest = NULL;
  for (size_t i = 0; i < file->all.count; i++) {
    text line = file->all.at[i], body;
    if (line.length == 0 || line.bytes[0] == '#') {
      at = NULL;
    } else if (line.bytes[0] == '$' && marked_body(line, &body)) {
      at = step_new(file, STEP_MARKED, i);
      latest = NULL;
      text_add(&at->command, body.bytes, body.length);
    } else if (at && marked_body(line, &body) && marked_line(at, line.bytes[0], body, &latest)) {
      at->to = i + 1;
      if (line.bytes[0] == '>') at->from = at->to;
    } else {
      mistake(file, i, "expected a command, or a line that begins with one of # $ > | ! ? \\ and a space");
    }
  }
}

static void write_stream(text *to, char mark, text stream) {
  lines all = lines_of(stream);
  for (size_t i = 0; i < all.count; i++) {
    const char *gap = all.at[i].length ? " " : ""; /* no blank after a lone mark */
    text_addf(to, "%c%s%.*s\n", mark, gap, (int)all.at[i].length, all.at[i].bytes);
  }
  if (all.open) text_addf(to, "\\ no newline\n");
  free(all.at);
}

static void write_marked(text *to, const outcome *done) {
  write_stream(to, '|', done->out);
  write_stream(to, '!', done->err);
  if (done->status) text_addf(to, "? %d\n", done->status);
}

/* Documents -------------------------------------------------------------- */

/* A fenced block: lines from..to of the file, and the words after the opening fence. */
typedef struct {
  text info;
  size_t fence, from, to;
} block;

static bool first_word_is(text info, const char *name) {
  size_t length = strlen(name);
  return text_begins(info, name) && (info.length == length || info.bytes[length] == ' ');
}

static bool has_word(text info, const char *word) {
  for (size_t i = 0; i < info.length; i++)
    if (info.bytes[i] == ' ' && first_word_is(text_after(info, i + 1), word)) return true;
  return false;
}

/* Blank lines between an example's output and the next command are for the eye. */
static void trim_blank(lines *all) {
  while (all->count && all->at[all->count - 1].length == 0) all->count--;
  all->open = false;
}

/* An expected line in which every piece of `varies`, a list with commas, stands for any text. */
static text with_wildcards(transcript *file, text line, text varies) {
  text result = text_of("");
  for (size_t i = 0; i < line.length;) {
    size_t found = 0;
    for (size_t from = 0; from < varies.length && !found;) {
      size_t to = from;
      while (to < varies.length && !text_begins(text_after(varies, to), ", ")) to++;
      text piece = { varies.bytes + from, to - from };
      bool here = piece.length && piece.length <= line.length - i &&
                  memcmp(line.bytes + i, piece.bytes, piece.length) == 0;
      if (here) found = piece.length;
      from = to + 2;
    }
    text_add(&result, found ? "<*>" : line.bytes + i, found ? 3 : 1);
    i += found ? found : 1;
  }
  lines_add(&file->made, result);
  return result;
}

/* "mind> 1 + 2" is typed, "... x" continues it, anything else is printed. */
static void read_repl(transcript *file, block in, const char *language) {
  step *at = step_new(file, STEP_REPL, in.fence);
  text_addf(&at->command, "tern repl --lang %s", language);
  at->input = text_of("");
  text prompt = text_of(language);
  text_addf(&prompt, "> ");
  for (size_t i = in.from; i < in.to; i++) {
    text line = file->all.at[i];
    size_t skip = text_begins(line, prompt.bytes) ? prompt.length : text_begins(line, "... ") ? 4 : 0;
    if (skip) text_addf(&at->input, "%.*s\n", (int)(line.length - skip), line.bytes + skip);
    else lines_add(&at->out, line);
  }
  free(prompt.bytes);
  trim_blank(&at->out);
}

static void read_session(transcript *file, block in, text varies) {
  step *at = NULL;
  for (size_t i = in.from; i < in.to; i++) {
    text line = file->all.at[i];
    if (text_begins(line, "$ ")) {
      at = step_new(file, STEP_SESSION, i);
      text_add(&at->command, line.bytes + 2, line.length - 2);
    } else if (at && text_begins(line, "> ") && at->from == i) {
      text_add(&at->command, "\n", 1);
      text_add(&at->command, line.bytes + 2, line.length - 2);
      at->from = at->to = i + 1;
    } else if (at) {
      lines_add(&at->out, varies.length ? with_wildcards(file, line, varies) : line);
      if (line.length) at->to = i + 1;
    }
  }
  for (size_t i = 0; i < file->count; i++)
    if (file->steps[i].kind == STEP_SESSION) trim_blank(&file->steps[i].out);
}

static text block_text(const transcript *file, block in) {
  text whole = text_of("");
  for (size_t i = in.from; i < in.to; i++)
    text_addf(&whole, "%.*s\n", (int)file->all.at[i].length, file->all.at[i].bytes);
  return whole;
}

static bool has_commands(const transcript *file, block in) {
  for (size_t i = in.from; i < in.to; i++)
    if (text_begins(file->all.at[i], "$ ")) return true;
  return false;
}

static const char *language_of(text info) {
  static const char *const names[] = { "ninth", "mind", "ail" };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (first_word_is(info, names[i])) return names[i];
  return NULL;
}

/* A program is checked; with an `output` block after it, it is run. */
static step *read_program(transcript *file, block in, const char *language) {
  step *at = step_new(file, STEP_PROGRAM, in.fence);
  at->input = block_text(file, in);
  text_addf(&at->command, "tern check --lang %s -", language);
  if (has_word(in.info, "fails")) at->status = 1;
  at->silent = true;
  return at;
}

/* A C source with a main is compiled against libtern, and run if it has output. */
static step *read_c(transcript *file, block in) {
  text source = block_text(file, in);
  bool whole = strstr(source.bytes, "int main(") != NULL;
  if (!whole) {
    free(source.bytes);
    return NULL;
  }
  step *at = step_new(file, STEP_PROGRAM, in.fence);
  at->input = source;
  text_addf(&at->command, "cc -std=c17 -Wall -Wextra -Wpedantic -Werror -x c - -o example -ltern -lm");
  at->silent = true;
  return at;
}

/* The block of output belongs to the program before it. */
static void read_output(transcript *file, block in, step *of) {
  bool is_c = text_begins(of->command, "cc ");
  if (is_c) {
    text_addf(&of->command, " && ./example");
  } else {
    char *verb = strstr(of->command.bytes, "check");
    text rest = text_of(verb + strlen("check"));
    of->command.length = (size_t)(verb - of->command.bytes);
    text_addf(&of->command, "run%s", rest.bytes);
    free(rest.bytes);
  }
  of->silent = false;
  of->from = in.from;
  of->to = in.to;
  for (size_t i = in.from; i < in.to; i++) lines_add(&of->out, file->all.at[i]);
  trim_blank(&of->out);
}

/* "<!-- file: NAME -->" above a block, or "<!-- varies: TEXT, TEXT -->": what it says, or nothing. */
static text remark(text line, const char *open) {
  static const char close[] = " -->";
  size_t edges = strlen(open) + sizeof close - 1;
  if (!text_begins(line, open) || line.length <= edges) return (text){ 0 };
  return (text){ line.bytes + strlen(open), line.length - edges };
}

static bool is_installed(text command) {
  text look = { 0 };
  text_addf(&look, "command -v '%.*s' >/dev/null 2>&1", (int)command.length, command.bytes);
  bool found = system(look.bytes) == 0;
  free(look.bytes);
  return found;
}

static void leave_out(transcript *file, size_t line, text reason, const char *more) {
  printf("%s:%zu: not run: %.*s%s\n", file->path, line + 1, (int)reason.length, reason.bytes, more);
  file->left_out++;
}

/* A block of commands runs, or says above it why it does not. */
static void read_commands(transcript *file, block in, text above) {
  text reason = remark(above, "<!-- not run: "), needs = remark(above, "<!-- needs: ");
  if (reason.length) {
    leave_out(file, in.fence, reason, "");
  } else if (needs.length && !is_installed(needs)) {
    leave_out(file, in.fence, needs, " is not installed");
  } else if (has_word(in.info, "fragment")) {
    mistake(file, in.fence, "commands that are not run say why: <!-- not run: REASON -->");
  } else if (has_commands(file, in)) {
    read_session(file, in, remark(above, "<!-- varies: "));
  } else {
    step *at = step_new(file, STEP_SCRIPT, in.fence);
    text script = block_text(file, in);
    text_addf(&at->command, "set -e\n%s", script.bytes);
    at->silent = true;
    free(script.bytes);
  }
}

static void read_block(transcript *file, block in, text above, size_t *program) {
  text name = remark(above, "<!-- file: ");
  const char *language = language_of(in.info);
  size_t before = file->count;
  if (name.length) {
    step *at = step_new(file, STEP_FILE, in.fence);
    text_add(&at->command, name.bytes, name.length);
    at->input = block_text(file, in);
  } else if (first_word_is(in.info, "output")) {
    if (*program == SIZE_MAX) mistake(file, in.fence, "output of which program?");
    else read_output(file, in, &file->steps[*program]);
  } else if (first_word_is(in.info, "sh") || first_word_is(in.info, "console")) {
    read_commands(file, in, above);
  } else if (has_word(in.info, "fragment")) {
    return;
  } else if (first_word_is(in.info, "repl")) {
    if (language_of(text_after(in.info, 5))) read_repl(file, in, language_of(text_after(in.info, 5)));
    else mistake(file, in.fence, "repl of which language?");
  } else if (language) {
    read_program(file, in, language);
  } else if (first_word_is(in.info, "c")) {
    read_c(file, in);
  }
  bool made_program = file->count > before && file->steps[file->count - 1].kind == STEP_PROGRAM;
  *program = made_program ? file->count - 1 : SIZE_MAX;
}

/* What a reader has and an empty folder does not: a hidden command. */
static void read_setup(transcript *file, size_t line, text command) {
  step *at = step_new(file, STEP_SESSION, line);
  text_add(&at->command, command.bytes, command.length);
}

static void read_document(transcript *file) {
  size_t program = SIZE_MAX;
  text above = { 0 };
  for (size_t i = 0; i < file->all.count; i++) {
    text line = file->all.at[i];
    if (!text_begins(line, "```")) {
      if (line.length) above = line;
      if (remark(line, "<!-- setup: ").length) read_setup(file, i, remark(line, "<!-- setup: "));
      continue;
    }
    block in = { .info = text_after(line, 3), .fence = i, .from = i + 1 };
    in.to = in.from;
    while (in.to < file->all.count && !text_is(file->all.at[in.to], "```")) in.to++;
    if (in.to == file->all.count) mistake(file, i, "this block is never closed");
    read_block(file, in, above, &program);
    above = (text){ 0 };
    i = in.to;
  }
}

static void write_document(text *to, const outcome *done) {
  text_add(to, done->out.bytes, done->out.length);
  if (done->out.length && done->out.bytes[done->out.length - 1] != '\n') text_add(to, "\n", 1);
}

/* Running ---------------------------------------------------------------- */

/* Whether what came is what the transcript says. In a document no status is
 * written, so there only a crash or an internal error counts against a session. */
static bool step_holds(const step *at, const outcome *done) {
  lines out = lines_of(done->out), err = lines_of(done->err);
  bool holds;
  if (at->kind == STEP_MARKED) {
    holds = lines_match(at->out, out) && lines_match(at->err, err) && done->status == at->status;
  } else {
    trim_blank(&out);
    holds = at->silent || lines_match(at->out, out);
    if (at->kind == STEP_PROGRAM || at->kind == STEP_SCRIPT) holds = holds && done->status == at->status;
    else holds = holds && done->status < 126 && done->status != 3;
  }
  free(out.at);
  free(err.at);
  return holds && !done->timed_out;
}

static void show_stream(const char *name, lines wanted, text stream) {
  lines got = lines_of(stream);
  if (!lines_match(wanted, got)) {
    printf("  %s: wanted (-), got (+)\n", name);
    lines_show("-", wanted);
    lines_show("+", got);
  }
  free(got.at);
}

static void show_failure(const transcript *file, const step *at, const outcome *done) {
  printf("%s:%zu: $ %s\n", file->path, at->line + 1, at->command.bytes);
  show_stream("output", at->out, done->out);
  show_stream("standard error", at->err, done->err);
  if (done->timed_out) printf("  did not end in time\n");
  else printf("  status: wanted %d, got %d\n", at->status, done->status);
}

/* Writes the file's lines from `*next` up to `until`, then moves on. */
static void copy_lines(const transcript *file, text *to, size_t *next, size_t until) {
  for (; *next < until; ++*next)
    text_addf(to, "%.*s\n", (int)file->all.at[*next].length, file->all.at[*next].bytes);
}

static void put_file(const step *at, const char *folder) {
  text path = { 0 };
  text_addf(&path, "%s/%s", folder, at->command.bytes);
  write_file(path.bytes, at->input);
  free(path.bytes);
}

/* `cd first` alone in a document holds for what follows, as it would for a reader. */
static bool changes_folder(const step *at) {
  return at->kind == STEP_SESSION && text_begins(at->command, "cd ") && !strpbrk(at->command.bytes, "&;|\n");
}

static outcome run_step(const step *at, const char *folder, text *before, int seconds) {
  text command = text_of(before->bytes);
  text_addf(&command, "%s", at->command.bytes);
  outcome done =
      run_shell(command.bytes, folder, at->input.bytes, seconds, at->kind == STEP_MARKED ? 0 : RUN_MERGED);
  if (changes_folder(at)) text_addf(before, "%s || exit\n", at->command.bytes);
  free(command.bytes);
  return done;
}

/* Runs every step, collects the file as it would have to read, and returns how many differ; *stuck is how
 * many of them only a person can put right. */
static size_t run_steps(const transcript *file, const char *folder, int seconds, text *updated,
                        size_t *stuck) {
  size_t differ = 0, next = 0;
  text before = text_of("");
  for (size_t i = 0; i < file->count; i++) {
    const step *at = &file->steps[i];
    if (at->kind == STEP_FILE) {
      put_file(at, folder);
      continue;
    }
    outcome done = run_step(at, folder, &before, seconds);
    if (!step_holds(at, &done)) {
      differ++;
      show_failure(file, at, &done);
      if (at->kind == STEP_REPL) { /* it is not known which line printed what */
        ++*stuck;
        outcome_free(&done);
        continue;
      }
      copy_lines(file, updated, &next, at->from);
      if (at->kind == STEP_MARKED) write_marked(updated, &done);
      else write_document(updated, &done);
      next = at->to;
    }
    outcome_free(&done);
  }
  copy_lines(file, updated, &next, file->all.count);
  free(before.bytes);
  return differ;
}

static void transcript_free(transcript *file) {
  for (size_t i = 0; i < file->count; i++) {
    free(file->steps[i].command.bytes);
    free(file->steps[i].input.bytes);
    free(file->steps[i].out.at);
    free(file->steps[i].err.at);
  }
  for (size_t i = 0; i < file->made.count; i++) free(file->made.at[i].bytes);
  free(file->made.at);
  free(file->steps);
  free(file->all.at);
  free(file->whole.bytes);
}

static bool ends_with(const char *path, const char *suffix) {
  size_t a = strlen(path), b = strlen(suffix);
  return a >= b && strcmp(path + a - b, suffix) == 0;
}

/* Runs one file; true when all of it holds (or was rewritten to hold). */
static bool run_transcript(const char *path, const options *chosen) {
  transcript file = { .path = path, .whole = read_file(path, NULL) };
  text updated = text_of("");
  file.all = lines_of(file.whole);
  if (ends_with(path, ".md")) read_document(&file);
  else read_marked(&file);
  fflush(stdout);
  if (file.count == 0 && !ends_with(path, ".md")) mistake(&file, 0, "no command in this file");

  char *folder = scratch_new();
  size_t stuck = 0, differ = run_steps(&file, folder, chosen->seconds, &updated, &stuck);
  scratch_free(folder);
  bool rewrite = chosen->update && differ && !file.mistakes;
  if (rewrite) write_file(path, updated);
  printf("%s: %zu steps, %zu differ", path, file.count, differ);
  if (file.left_out) printf(", %zu not run", file.left_out);
  puts(rewrite ? ", rewritten" : "");
  bool good = file.mistakes == 0 && stuck == 0 && (differ == 0 || rewrite);
  free(updated.bytes);
  transcript_free(&file);
  return good;
}

static const char *usage =
  "usage: transcript --tern PROGRAM [--tests FOLDER] [--seconds N] [--update] FILE...";

int main(int count, char **words) {
  options chosen = { .tests = ".", .seconds = 60 };
  bool good = true;
  int i = 1;
  for (; i < count && words[i][0] == '-'; i++) {
    bool more_words = i + 1 < count;
    if (strcmp(words[i], "--update") == 0) chosen.update = true;
    else if (strcmp(words[i], "--tern") == 0 && more_words) chosen.tern = words[++i];
    else if (strcmp(words[i], "--tests") == 0 && more_words) chosen.tests = words[++i];
    else if (strcmp(words[i], "--seconds") == 0 && more_words) chosen.seconds = atoi(words[++i]);
    else die("%s", usage);
  }
  if (!chosen.tern || i == count) die("%s", usage);
  surroundings(chosen.tern, chosen.tests);
  for (; i < count; i++) good = run_transcript(words[i], &chosen) && good;
  return good ? 0 : 1;
}
