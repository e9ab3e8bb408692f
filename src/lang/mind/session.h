/* lang/mind/session.h: a module that is written line by line.
 *
 * A line is parsed, checked and run in an arena of its own. If it fails, nothing
 * has changed. If not, its bindings are kept: the types and values of variables
 * are copied out and the line is freed, unless it defines a function, a closure or
 * an import, whose text is still needed. Such a line lives as long as a name
 * refers to it, directly or through other lines; so the session holds only what
 * is reachable. */
#ifndef TN_LANG_MIND_SESSION_H
#define TN_LANG_MIND_SESSION_H

#include "lang/mind/eval.h"

typedef struct tn_mind_line tn_mind_line;
typedef struct tn_mind_box tn_mind_box;

/* What a name stands for. Every entry of the module's scope is one between two lines. */
struct tn_mind_box {
  tn_mind_scope entry; /* first, so that an entry is its box */
  tn_mind_variable own;
  tn_mind_line *home;  /* that holds the variable or function; NULL: `own` is the variable */
  tn_mind_line *holds; /* that holds what the value needs: a closure was assigned there */
  uint32_t turn;       /* the last that named it, */
  uint32_t place;      /* and where it stands in that one's `before` */
  uint32_t shadowed;   /* the last turn in which a statement before gave its name another meaning */
  bool marked;
};

/* A line whose text and tree are kept. */
struct tn_mind_line {
  tn_arena arena;
  uint32_t file;
  uint32_t slot, slot_end;     /* its variables in the module's frame */
  tn_vec(tn_mind_box *) named; /* what it uses */
  bool pinned, marked;
  tn_mind_line *next;
};

typedef struct {
  tn_host *host;
  tn_mind mind;
  tn_mind_module module;
  tn_mind_unit nowhere; /* in which variables of forgotten lines were bound */
  tn_mind_frame frame;
  uint32_t slot_room;
  tn_vec(uint32_t) free_slots;
  tn_vec(uint32_t) free_files;
  tn_mind_trace trace;
  uint64_t drawn;
  tn_arena kept; /* types and values of variables */
  uint32_t copies, boxes, line_count;
  uint32_t turn;
  uint32_t collect_at;  /* so many boxes and lines, and it is time to look which are needed */
  size_t compact_at;    /* so many nodes, */
  size_t compact_bytes; /* or so many bytes of memory */
  tn_mind_line *lines;  /* newest first */
  bool forgot;          /* history was given up; to be told */
  tn_name last;         /* the name that the value of an expression gets; 0: none */
} tn_mind_session;

void tn_mind_session_init(tn_mind_session *session, tn_host *host);
void tn_mind_session_free(tn_mind_session *session);

/* What a variable is, in memory that outlives a line. */
typedef struct {
  const tn_mind_type *type, *declared; /* declared may be NULL */
  tn_mind_value value;
} tn_mind_kept;

/* What a variable was before a line that names it. */
typedef struct {
  tn_mind_box *box;
  const tn_mind_type *type, *declared;
  bool fixed;
  bool used; /* not only rebound */
  tn_mind_value value;
  tn_mind_kept kept; /* what it is after the line, where that is something else */
} tn_mind_before;

/* One text on its way. */
typedef struct {
  tn_mind_session *session;
  tn_mind_line *line;
  tn_mind_unit *unit;
  tn_mind_evaluator e;
  tn_mind_module module; /* as it was */
  tn_mind_module *modules;
  size_t files, nodes;
  tn_vec(tn_mind_before) before;
  bool checked; /* else nothing ran, and its names are forgotten with it */
} tn_mind_turn;

/* Parses and checks. False after reporting. To be ended in any case. */
bool tn_mind_turn_begin(tn_mind_turn *turn, tn_mind_session *session, tn_str name, tn_str text);
/* Carries it out and computes what it bound. False after reporting. */
bool tn_mind_turn_run(tn_mind_turn *turn, tn_mind_value *value);
/* Keeps what the text did, or undoes it. Diagnostics must have been shown. False after reporting, when there
 * was no memory to keep it: then it is undone. */
bool tn_mind_turn_end(tn_mind_turn *turn, bool keep);
/* What a name stands for now; NULL: nothing. */
const tn_mind_box *tn_mind_session_visible(const tn_mind_session *session, const tn_mind_scope *entry);
#endif
