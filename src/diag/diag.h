/* diag/diag.h: diagnostics as data.
 *
 * A diagnostic is a code, a span and named fields. diag.def lists every code
 * once with its title, fields, label, hint and explanation; text, JSON and
 * editor output are renderings of the same record. No message is composed where
 * the error is found: titles, labels, hints and notes are templates.
 *
 *   tn_report(diags, TN_DIAG_E_INDEX_OUT_OF_RANGE, at,
 *             TN_STR("function", name), TN_INT("index", 7), TN_INT("limit", 5));
 *
 * In a template {field} is a field's value, and [[ in {function}]] is
 * left out when a field in it is absent; [[a {x}||b {y}||c]] is the first of its
 * alternatives that has all its fields. A field that the code does not require
 * and whose value is empty counts as absent, so a report may always pass
 * TN_TEXT("suggestion", tn_str_suggest(...)). */
#ifndef TN_DIAG_DIAG_H
#define TN_DIAG_DIAG_H

#include "base/arena.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "diag/source.h"

typedef enum {
  TN_DIAG_NONE = 0,
#define TN_DIAG(code, ...) TN_DIAG_##code,
#include "diag/diag.def"
#undef TN_DIAG
  TN_DIAG_COUNT
} tn_diag_code;

typedef enum { TN_SEVERITY_ERROR, TN_SEVERITY_WARNING } tn_severity;
typedef enum { TN_PHASE_PARSE, TN_PHASE_CHECK, TN_PHASE_RUN, TN_PHASE_DATA } tn_phase;

/* What diag.def says about a code. Strings are static; NULL if there is none.
 *
 * The examples are real programs: the tests write `wrong` to example.<lang>,
 * run `tern <command> example.<lang>` and expect this code, then the same for
 * `right`, which must succeed. */
typedef struct {
  const char *code;          /* "E_SHAPE_MISMATCH" */
  tn_severity severity;
  int status;                /* the exit status it leads to; 0: the usual 1 */
  const char *fields;        /* required field names, separated by spaces */
  const char *optional;      /* names that only some reports carry */
  const char *title;         /* template */
  const char *summary;       /* in lists, where the title is nothing but a field */
  const char *label;         /* template, after the carets */
  const char *hint;          /* template */
  const char *explanation;   /* what it means and why; several paragraphs */
  const char *lang;          /* of the examples: "ail", "mind", "nth" or "graph" */
  const char *command;       /* verb and options; NULL: "run" */
  const char *right_command; /* where the fix is an option; NULL: as `command` */
  const char *wrong;         /* a program that raises the code */
  const char *right;         /* the corrected program; NULL: the fix is in the command or the data */
  const char *data;          /* the name of a file beside the program */
  const char *wrong_data;    /* its content; NULL: it is missing */
  const char *right_data;
  const char *no_example;    /* why no program raises it, where `wrong` is NULL */
} tn_diag_info;

/* Never NULL: an unknown code reads as E_INTERNAL. */
const tn_diag_info *tn_diag_info_of(tn_diag_code code);
/* By its text, ignoring case; TN_DIAG_NONE when unknown. */
tn_diag_code tn_diag_find(tn_str code);
/* The code that the user most likely meant: a similar one, or one that contains this text; empty:
 * none. */
tn_str tn_diag_suggest(tn_str wrong);

/* One named value of a diagnostic, or an addition to it. */
typedef enum {
  TN_FIELD_TEXT,
  TN_FIELD_INT,
  TN_FIELD_LINE,   /* the line, and the column, of `at` */
  TN_FIELD_COLUMN,
  TN_FIELD_HINT,   /* from here on not fields, but additions */
  TN_FIELD_NOTE,
  TN_FIELD_PHASE   /* `number` is the phase of this report */
} tn_field_kind;
typedef struct {
  tn_field_kind kind;
  const char *name;       /* static; for a note: its text, a template */
  tn_str text;            /* borrowed during the call; empty: look at inline_text */
  int64_t number;
  tn_span at;             /* of a line, a column or a note */
  char inline_text[208];  /* fits any shape of rank 8 */
} tn_field;

#define TN_STR(field, value) ((tn_field){ .kind = TN_FIELD_TEXT, .name = (field), .text = tn_str_of(value) })
#define TN_TEXT(field, value) ((tn_field){ .kind = TN_FIELD_TEXT, .name = (field), .text = (value) })
#define TN_INT(field, value) ((tn_field){ .kind = TN_FIELD_INT, .name = (field), .number = (value) })
/* Line and column of the start of a span. They are computed only for a report that is kept: that
 * scans the line, so a text with many errors in one line would cost quadratic time. */
#define TN_LINE(field, span) ((tn_field){ .kind = TN_FIELD_LINE, .name = (field), .at = (span) })
#define TN_COLUMN(field, span) ((tn_field){ .kind = TN_FIELD_COLUMN, .name = (field), .at = (span) })
/* Replaces the code's own hint; an empty value leaves it. */
#define TN_HINT(value) ((tn_field){ .kind = TN_FIELD_HINT, .text = (value) })
/* The phase of this one report, if it is not that of the list. */
#define TN_DURING(phase) ((tn_field){ .kind = TN_FIELD_PHASE, .number = (phase) })
/* Another place that matters: "left has shape {left}". `value` is a static template. */
#define TN_NOTE(span, value) ((tn_field){ .kind = TN_FIELD_NOTE, .name = (value), .at = (span) })
/* The same where there may be no such place; at TN_NOWHERE there is no note. */
#define TN_NOTE_IF(span, value) TN_NOTE(span, (span).file ? (value) : NULL)

/* The note of a call that led to the error. */
#define TN_DIAG_CALLED "called here"

typedef struct {
  const char *name;
  tn_str value;
} tn_diag_field;

typedef struct {
  tn_span at;
  tn_str text;
} tn_diag_note;

/* A stored diagnostic; everything it points to lives in the list's arena. */
typedef struct {
  tn_diag_code code;
  tn_severity severity;
  tn_phase phase;
  tn_span at;
  tn_str title, label, hint;        /* expanded; empty where there is none */
  const tn_diag_field *fields;
  size_t field_count;
  const tn_diag_note *notes;
  size_t note_count;
  uint32_t order;                   /* of reporting */
} tn_diag;

/* A call that is being checked or run, and the enclosing one. */
typedef struct tn_diag_call {
  tn_span at;
  const struct tn_diag_call *outer;
} tn_diag_call;

/* The list that everything is reported to. It belongs to a session. */
typedef struct tn_diags {
  tn_arena arena;
  tn_sources *sources;      /* borrowed */
  tn_vec(tn_diag) list;     /* what is kept */
  tn_phase phase;           /* the current phase; set by tn_diags_enter */
  const tn_diag_call *call; /* the current call, which a note names; NULL: none; borrowed */
  size_t errors, warnings;  /* reported: also repetitions and those past the limit */
  size_t dropped;           /* past the limit */
  size_t limit;             /* how many errors, and how many warnings, are kept; 0: TN_DIAG_LIMIT */
  bool out_of_memory;       /* a report could not be kept; rendered as E_OUT_OF_MEMORY */
} tn_diags;

#define TN_DIAG_LIMIT 100   /* errors, and warnings, that are kept and shown; the others are counted */

void tn_diags_init(tn_diags *diags, tn_heap *heap, tn_sources *sources);
void tn_diags_free(tn_diags *diags);
void tn_diags_clear(tn_diags *diags);
/* Later reports belong to this phase, unless a report says TN_DURING. The phases of a program are
 * parse, check, run. A function that does work of another phase in between, such as parsing an
 * import, enters that phase and at its end the one that this returned. */
tn_phase tn_diags_enter(tn_diags *diags, tn_phase phase);
/* In source order (file, start, then order of reporting); those without a place last. */
void tn_diags_sort(tn_diags *diags);
/* The exit status the list leads to: 0 when there is no error, else the highest of 1, 2 and 3. */
int tn_diags_status(const tn_diags *diags);

/* Reports; see the macro. Always returns false, so that a check can
 * `return tn_report(...)`. The code's required fields must be among `fields`;
 * others may be, and are shown too. The same code at the same place is counted
 * again but kept once (nowhere: when its fields are the same too). */
bool tn_diags_report(tn_diags *diags, tn_diag_code code, tn_span at, const tn_field *fields,
                     size_t count);
#define tn_report(diags, code, at, ...)                                              \
  tn_diags_report((diags), (code), (at), (const tn_field[]){ __VA_ARGS__ },          \
                  sizeof((const tn_field[]){ __VA_ARGS__ }) / sizeof(tn_field))
/* For a code without fields. */
#define tn_report_plain(diags, code, at) tn_diags_report((diags), (code), (at), NULL, 0)

/* Whether a report of this code would still be kept. Callers check this before an expensive
 * computation such as a suggestion, so that n errors among n names do not cost n * n. They report
 * in any case. */
bool tn_diags_has_room(const tn_diags *diags, tn_diag_code code);

/* Memory ran out: E_MEMORY_LIMIT if the user has set a limit, else E_OUT_OF_MEMORY for `what`,
 * which may be NULL; if it was the stack, as tn_report_stack. */
bool tn_report_memory(tn_diags *diags, const tn_heap *heap, tn_span at, const char *what);
/* E_FILE_NOT_FOUND, with the name of a similar file beside it. Returns false. */
bool tn_report_no_file(tn_diags *diags, tn_span at, tn_str path);
/* The stack ran out: E_NESTING_LIMIT with its size; `what` may be NULL. */
bool tn_report_stack(tn_diags *diags, tn_span at, const char *what);
/* Memory or stack has run out. Other reports may only be consequences, so this becomes the only
 * one. */
void tn_diags_settle_memory(tn_diags *diags, const tn_heap *heap);

/* A mark to go back to: it removes later reports. Not across a sort. */
typedef struct {
  size_t kept, errors, warnings, dropped;
  bool out_of_memory;
} tn_diag_mark;
tn_diag_mark tn_diags_mark(const tn_diags *diags);
void tn_diags_rewind(tn_diags *diags, tn_diag_mark mark);

/* Text of a program, a file or a user, made harmless for a terminal: control and
 * bidirectional characters and bytes that are not UTF-8 are shown as escapes.
 * All text that others wrote is printed through this. */
void tn_diag_put_safe(tn_text *out, tn_str text);

/* Renderings (diag/render.c). Text is safe for a terminal: control and
 * bidirectional characters of programs and values are shown as escapes. */
typedef struct {
  bool color;
} tn_diag_style;
/* As the command-line contract shows it, followed by an empty line. */
void tn_diag_render_text(const tn_diags *diags, const tn_diag *diag, tn_diag_style style, tn_text *out);
/* One JSON object, with the members of the command-line contract in its order. */
void tn_diag_render_json(const tn_diags *diags, const tn_diag *diag, tn_json_writer *json);
/* The whole list in its present order: one after the other, and as a JSON array. */
void tn_diags_render_text(const tn_diags *diags, tn_diag_style style, tn_text *out);
void tn_diags_render_json(const tn_diags *diags, tn_json_writer *json);

/* What is known of a code, for `tern explain` (diag/explain.c). */
void tn_diag_explain(tn_diag_code code, tn_text *out, bool color);
void tn_diag_explain_json(tn_diag_code code, tn_json_writer *json);
/* Every code with its title, by subject. */
void tn_diag_list(tn_text *out, bool color);
#endif
