/* lang/repl.h: shared by the interactive sessions of the three languages.
 *
 * Incomplete lines, commands that begin with a colon and their help, files to
 * load, completion of words. Each language interprets its lines in
 * lang/NAME/repl.c. */
#ifndef TN_LANG_REPL_H
#define TN_LANG_REPL_H

#include "lang/lang.h"

/* A command: ":load FILE" and what it does. */
typedef struct {
  const char *name, *doc;
  void (*run)(tn_repl *repl, tn_str argument, tn_text *out);
} tn_repl_command;

typedef struct {
  tn_host *host;
  const tn_repl_command *commands;
  size_t command_count;
  tn_text pending; /* lines that are not complete yet */
  uint64_t read;   /* bytes that were scanned to find out whether they are */
  tn_text name;
  uint32_t lines; /* for the names of their texts */
  bool quit;
} tn_repl_talk;

void tn_repl_talk_init(tn_repl_talk *talk, tn_host *host, const tn_repl_command *commands, size_t count);
void tn_repl_talk_free(tn_repl_talk *talk);

/* Executes a line that begins with a colon; false if it does not. A blank line with nothing pending
 * counts as executed. */
bool tn_repl_talk_command(tn_repl_talk *talk, tn_repl *repl, tn_str line, tn_text *out);
/* Adds a line to the pending ones and returns all of them. */
tn_str tn_repl_talk_add(tn_repl_talk *talk, tn_str line);
/* An open block is scanned again with each new line, which costs quadratic time. Past this many
 * bytes in all (about a thousand lines of 66) it is E_TOO_LARGE, and the lines are dropped. A file
 * of any size can be loaded. Lines are dropped too if memory runs out. True, after reporting, if
 * there is nothing to run. */
#define TN_REPL_OPEN_LIMIT ((uint64_t)1 << 25)
bool tn_repl_talk_is_lost(tn_repl_talk *talk, tn_text *out);
/* The text is complete: the next line begins a new one. */
void tn_repl_talk_done(tn_repl_talk *talk);
/* <line 7>: the name of the text that is being read; valid until the next call. */
tn_str tn_repl_talk_name(tn_repl_talk *talk);

/* A value's text, as the session's terminal wants it (repl_value.c). `open` is the bracket of rows. */
void tn_repl_show(const tn_repl_talk *talk, tn_str value, char open, tn_text *out);
/* Shows what an operation of the table computes; or that there is none, with a suggestion. `kind`
 * is the language's word for it. */
void tn_repl_help_op(tn_str name, const char *kind, tn_text *out);

/* Every command and what it does. */
void tn_repl_talk_help(const tn_repl_talk *talk, tn_text *out);
/* Shows what was reported, and clears it. */
void tn_repl_talk_mistakes(const tn_repl_talk *talk, tn_text *out);
/* The text of a file to load, in the arena; false after saying why not. */
bool tn_repl_talk_read(const tn_repl_talk *talk, tn_str path, tn_arena *arena, tn_str *text, tn_text *out);

/* Without blanks before and after. */
tn_str tn_repl_trimmed(tn_str text);
/* The word of letters, digits and _ that ends at the cursor. */
tn_str tn_repl_word(tn_str line, size_t cursor);
/* before NAME after, if the name begins with the word. */
void tn_repl_offer(tn_str word, const char *before, tn_str name, const char *after, tn_text *candidates);
/* Completes commands, if the cursor is in one; false if not. */
bool tn_repl_talk_complete(const tn_repl_talk *talk, tn_str line, size_t cursor, tn_text *candidates);
#endif
