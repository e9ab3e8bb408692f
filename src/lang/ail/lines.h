/* lang/ail/lines.h: the lines that a session keeps, and which of them a line needs.
 *
 * Rerunning everything with each new line would cost quadratic time. A line needs
 * the lines that define its names, and what those need; besides them only inputs
 * and parameters, because their random values are drawn in order. A line that no
 * name refers to any more is freed. */
#ifndef TN_LANG_AIL_LINES_H
#define TN_LANG_AIL_LINES_H

#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

typedef struct tn_ail_line tn_ail_line;

/* A line that stays. */
struct tn_ail_line {
  tn_str text;
  bool in_model;   /* an assignment, or an input as a model declares it; else a declaration */
  uint64_t number; /* in the order of the session */
  uint32_t references; /* names that mean it, lines that need it, and one if it is always needed */
  uint32_t stamp;  /* the search that has met it */
  tn_ail_line **needs;
  size_t need_count;
  tn_ail_line *older, *newer, *next_dead;
};

typedef struct {
  tn_heap *heap;
  tn_names *names;
  tn_ail_line *first, *last;
  tn_map meaning; /* name -> the line that gave it its meaning; 0: none */
  tn_vec(tn_ail_line *) always; /* those with inputs and parameters */
  tn_vec(tn_ail_line *) found;  /* by the last search, in the order of the session */
  size_t count;
  uint64_t number;
  uint32_t stamp;
} tn_ail_lines;

void tn_ail_lines_init(tn_ail_lines *lines, tn_heap *heap, tn_names *names);
void tn_ail_lines_free(tn_ail_lines *lines); /* it can be used again */
/* Finds what a text needs. False when memory runs out. */
bool tn_ail_lines_search(tn_ail_lines *lines, tn_str text);
/* What was found: the declarations, or what belongs in the model, each with a line break. */
void tn_ail_lines_write(const tn_ail_lines *lines, bool in_model, tn_text *out);
/* The same of all lines. */
void tn_ail_lines_write_all(const tn_ail_lines *lines, bool in_model, tn_text *out);
/* Whether a text binds that name and no other. */
bool tn_ail_lines_binds_only(tn_str text, tn_str name);
/* Keeps a line, which gives the names that it binds a new meaning. False when memory runs out, and nothing
 * has changed. */
bool tn_ail_lines_keep(tn_ail_lines *lines, tn_str text, bool in_model);
#endif
