/* diag/render.c: diagnostics as text for people and as JSON for programs.
 *
 * Both are renderings of the same record. The text shows everything a person
 * can use; the JSON has exactly the members that the command-line contract
 * promises, so that a program may rely on them. */
#include "diag/internal.h"

#define FIELD_BYTES 200   /* shown of a field's value; JSON has all of it */
#define TITLE_BYTES 256   /* enough for the title of E_OUT_OF_MEMORY */

/* All snippets of a diagnostic share one margin. */
static size_t margin_digits(const tn_diags *diags, const tn_diag *diag) {
  size_t widest = tn_snippet_digits(diags->sources, diag->at);
  for (size_t i = 0; i < diag->note_count; i++) {
    size_t digits = tn_snippet_digits(diags->sources, diag->notes[i].at);
    if (digits > widest) widest = digits;
  }
  return widest;
}

/* An addition below the snippet: "   = name: value". */
static void put_line(const tn_snippet *s, const char *name, tn_str value, const char *tail) {
  tn_snippet_margin(s, "=");
  tn_text_byte(s->out, ' ');
  tn_diag_painted(s->out, s->color, TN_PAINT_BOLD, name);
  tn_text_puts(s->out, ": ");
  tn_diag_put_safe(s->out, value);
  tn_text_puts(s->out, tail);
  tn_text_byte(s->out, '\n');
}

static void put_field(const tn_snippet *s, const tn_diag_field *field) {
  tn_str shown = tn_diag_cut(field->value, FIELD_BYTES);
  put_line(s, field->name, shown, shown.len < field->value.len ? "..." : "");
}

static void put_heading(tn_text *out, bool color, tn_paint paint, const char *kind, const char *code,
                        tn_str title) {
  tn_diag_paint(out, color, paint);
  tn_text_puts(out, kind);
  if (code) {
    tn_text_byte(out, '[');
    tn_text_puts(out, code);
    tn_text_byte(out, ']');
  }
  tn_diag_paint(out, color, TN_PAINT_OFF);
  tn_diag_paint(out, color, TN_PAINT_BOLD);
  tn_text_puts(out, ": ");
  tn_diag_put_safe(out, title);
  tn_diag_paint(out, color, TN_PAINT_OFF);
  tn_text_byte(out, '\n');
}

static void put_note(const tn_snippet *s, const tn_diag_note *note) {
  tn_snippet of_note = *s;
  of_note.at = note->at;
  of_note.label = (tn_str){ "", 0 };
  of_note.paint = TN_PAINT_NOTE;
  if (!tn_sources_get(s->sources, note->at.file)) {
    put_line(s, "note", note->text, "");
    return;
  }
  put_heading(s->out, s->color, TN_PAINT_NOTE, "note", NULL, note->text);
  tn_snippet_render(&of_note);
}

/* The hint, or the whole title, says it already. */
static bool is_said(const tn_diag *diag, const tn_diag_field *field) {
  return tn_str_is(TN_LIT("suggestion"), field->name) || tn_str_equal(field->value, diag->title);
}

void tn_diag_render_text(const tn_diags *diags, const tn_diag *diag, tn_diag_style style, tn_text *out) {
  bool warning = diag->severity == TN_SEVERITY_WARNING;
  tn_snippet s = {
    .out = out,
    .sources = diags->sources,
    .at = diag->at,
    .label = diag->label,
    .digits = margin_digits(diags, diag),
    .paint = warning ? TN_PAINT_WARNING : TN_PAINT_ERROR,
    .color = style.color,
  };
  put_heading(out, style.color, s.paint, warning ? "warning" : "error", tn_diag_info_of(diag->code)->code,
              diag->title);
  tn_snippet_render(&s);
  for (size_t i = 0; i < diag->field_count; i++)
    if (!is_said(diag, &diag->fields[i])) put_field(&s, &diag->fields[i]);
  if (diag->hint.len > 0) put_line(&s, "hint", diag->hint, "");
  for (size_t i = 0; i < diag->note_count; i++) put_note(&s, &diag->notes[i]);
  tn_text_byte(out, '\n');
}

static void write_span(tn_sources *sources, tn_span at, tn_json_writer *json) {
  const tn_source *source = tn_sources_get(sources, at.file);
  if (!source) {
    tn_json_null(json);
    return;
  }
  tn_place start = tn_place_of(sources, at.file, at.start);
  tn_place end = tn_place_of(sources, at.file, at.end > at.start ? at.end : at.start);
  tn_json_object_begin(json);
  tn_json_key(json, "file"), tn_json_string(json, source->name);
  tn_json_key(json, "line"), tn_json_uint(json, start.line);
  tn_json_key(json, "col"), tn_json_uint(json, start.column);
  tn_json_key(json, "end_line"), tn_json_uint(json, end.line);
  tn_json_key(json, "end_col"), tn_json_uint(json, end.column);
  tn_json_object_end(json);
}

void tn_diag_render_json(const tn_diags *diags, const tn_diag *diag, tn_json_writer *json) {
  static const char *const phases[] = { "parse", "check", "run", "data" };
  bool warning = diag->severity == TN_SEVERITY_WARNING;
  tn_json_object_begin(json);
  tn_json_key(json, "code"), tn_json_string(json, tn_str_of(tn_diag_info_of(diag->code)->code));
  tn_json_key(json, "severity"), tn_json_string(json, tn_str_of(warning ? "warning" : "error"));
  tn_json_key(json, "phase"), tn_json_string(json, tn_str_of(phases[diag->phase]));
  tn_json_key(json, "title"), tn_json_string(json, diag->title);
  tn_json_key(json, "fields"), tn_json_object_begin(json);
  for (size_t i = 0; i < diag->field_count; i++) {
    tn_json_key(json, diag->fields[i].name);
    tn_json_string(json, diag->fields[i].value);
  }
  tn_json_object_end(json);
  tn_json_key(json, "span"), write_span(diags->sources, diag->at, json);
  tn_json_key(json, "hint");
  if (diag->hint.len > 0) tn_json_string(json, diag->hint);
  else tn_json_null(json);
  tn_json_object_end(json);
}

/* Reports were lost, and the list does not say so yet. */
static bool lacks_memory(const tn_diags *diags) {
  for (size_t i = 0; i < diags->list.count; i++)
    if (diags->list.at[i].code == TN_DIAG_E_OUT_OF_MEMORY) return false;
  return diags->out_of_memory;
}

/* Represents the lost reports; it needs no memory itself. */
static tn_diag out_of_memory(const tn_diags *diags, char title[TITLE_BYTES]) {
  const tn_diag_info *info = tn_diag_info_of(TN_DIAG_E_OUT_OF_MEMORY);
  return (tn_diag){
    .code = TN_DIAG_E_OUT_OF_MEMORY,
    .phase = diags->phase,
    .title = { title, tn_diag_expand(info->title, NULL, 0, title) },
    .hint = tn_str_of(info->hint),
  };
}

void tn_diags_render_text(const tn_diags *diags, tn_diag_style style, tn_text *out) {
  char title[TITLE_BYTES];
  for (size_t i = 0; i < diags->list.count; i++)
    tn_diag_render_text(diags, &diags->list.at[i], style, out);
  if (lacks_memory(diags)) {
    tn_diag extra = out_of_memory(diags, title);
    tn_diag_render_text(diags, &extra, style, out);
  }
  if (diags->dropped == 0) return;
  tn_text_uint(out, diags->dropped);
  tn_text_puts(out, " more not shown\n\n");
}

void tn_diags_render_json(const tn_diags *diags, tn_json_writer *json) {
  char title[TITLE_BYTES];
  tn_json_array_begin(json);
  for (size_t i = 0; i < diags->list.count; i++) tn_diag_render_json(diags, &diags->list.at[i], json);
  if (lacks_memory(diags)) {
    tn_diag extra = out_of_memory(diags, title);
    tn_diag_render_json(diags, &extra, json);
  }
  tn_json_array_end(json);
}
