/* diag/explain.c: `tern explain`: everything about a code.
 *
 * It shows the explanation from diag.def, wrapped to the width of a page, the fields, and the
 * examples with the commands that run them. Templates have no values here, so {left} is shown as
 * <left>. */
#include "diag/internal.h"

#define PAGE_COLUMNS 78
#define CODE_COLUMNS 38   /* of the list: the longest code and two spaces */

typedef struct {
  const char *title;
  tn_diag_code first;
} group;

static const group groups[] = {
#define TN_DIAG_GROUP(title, first) { title, TN_DIAG_##first },
#define TN_DIAG(code, ...)
#include "diag/diag.def"
#undef TN_DIAG
};

/* Room is made first and filled then: a template is never longer than it says. */
static void put_outline(tn_text *out, const char *template, const char *required) {
  size_t len = tn_diag_outline(template, required, NULL), at = out->len;
  tn_text_repeat(out, ' ', len);
  if (!out->failed) tn_diag_outline(template, required, out->at + at);
}

/* The next word of a paragraph; empty at its end. */
static tn_str next_word(const char **at) {
  while (**at == ' ') ++*at;
  const char *start = *at;
  while (**at && **at != ' ' && **at != '\n') ++*at;
  return (tn_str){ start, (size_t)(*at - start) };
}

static void put_wrapped(tn_text *out, const char *text) {
  size_t column = 0;
  while (*text) {
    tn_str word = next_word(&text);
    if (column > 0 && column + 1 + word.len > PAGE_COLUMNS) {
      tn_text_byte(out, '\n');
      column = 0;
    }
    if (column > 0 && word.len > 0) tn_text_byte(out, ' ');
    tn_text_add(out, word);
    column += (column > 0) + word.len;
    for (; *text == '\n'; text++, column = 0) tn_text_byte(out, '\n');
  }
  tn_text_puts(out, "\n\n");
}

static void put_names(tn_text *out, const char *heading, const char *list) {
  tn_str name;
  const char *separator = "";
  if (!list || !*list) return;
  tn_text_puts(out, heading);
  while (tn_diag_next_name(&list, &name)) {
    tn_text_puts(out, separator);
    tn_text_add(out, name);
    separator = ", ";
  }
  tn_text_byte(out, '\n');
}

static void put_indented(tn_text *out, const char *text) {
  tn_text_byte(out, '\n');
  while (*text) {
    const char *line = text;
    while (*text && *text != '\n') text++;
    if (text > line) tn_text_puts(out, "    ");
    tn_diag_put_safe(out, (tn_str){ line, (size_t)(text - line) });
    tn_text_byte(out, '\n');
    if (*text) text++;
  }
  tn_text_byte(out, '\n');
}

static void put_command(tn_text *out, const tn_diag_info *info, const char *command) {
  tn_text_puts(out, " (tern ");
  tn_text_puts(out, command ? command : "run");
  tn_text_puts(out, " example.");
  tn_text_puts(out, info->lang);
  tn_text_puts(out, "):\n");
}

static void put_data(tn_text *out, const tn_diag_info *info, const char *data) {
  tn_text_puts(out, data && *data ? "with " : data ? "with an empty " : "and no file ");
  tn_text_puts(out, info->data);
  tn_text_puts(out, data && *data ? ":\n" : "\n\n");
  if (data && *data) put_indented(out, data);
}

static bool same(const char *a, const char *b) {
  return a == b || (a && b && tn_str_is(tn_str_of(a), b));
}

static void put_examples(tn_text *out, const tn_diag_info *info, bool color) {
  const char *right_command = info->right_command ? info->right_command : info->command;
  tn_diag_painted(out, color, TN_PAINT_ERROR, "Wrong");
  put_command(out, info, info->command);
  put_indented(out, info->wrong);
  if (info->data && info->wrong_data) put_data(out, info, info->wrong_data);
  else if (info->data && info->right_data && !info->right) put_data(out, info, NULL);

  tn_diag_painted(out, color, TN_PAINT_NOTE, "Right");
  put_command(out, info, right_command);
  if (info->right) put_indented(out, info->right);
  else tn_text_puts(out, "\n    the same program\n\n");
  if (info->right_data && !same(info->wrong_data, info->right_data)) put_data(out, info, info->right_data);
}

static const char *summary_of(const tn_diag_info *info) {
  return info->summary ? info->summary : info->title;
}

static void put_heading(tn_text *out, const tn_diag_info *info, bool color) {
  bool warning = info->severity == TN_SEVERITY_WARNING;
  tn_diag_painted(out, color, warning ? TN_PAINT_WARNING : TN_PAINT_ERROR, warning ? "warning" : "error");
  tn_text_byte(out, ' ');
  tn_diag_paint(out, color, TN_PAINT_BOLD);
  tn_text_puts(out, info->code);
  tn_text_puts(out, ": ");
  put_outline(out, summary_of(info), info->fields);
  tn_diag_paint(out, color, TN_PAINT_OFF);
  tn_text_puts(out, "\n\n");
}

void tn_diag_explain(tn_diag_code code, tn_text *out, bool color) {
  const tn_diag_info *info = tn_diag_info_of(code);
  put_heading(out, info, color);
  put_wrapped(out, info->explanation);
  put_names(out, "Fields: ", info->fields);
  put_names(out, "Sometimes also: ", info->optional);
  if (info->hint && tn_diag_outline(info->hint, info->fields, NULL) > 0) {
    tn_text_puts(out, "Hint: ");
    put_outline(out, info->hint, info->fields);
    tn_text_byte(out, '\n');
  }
  if (out->len > 1 && out->at[out->len - 2] != '\n') tn_text_byte(out, '\n');
  if (info->wrong) {
    put_examples(out, info, color);
  } else {
    tn_text_puts(out, "There is no example: ");
    tn_text_puts(out, info->no_example);
    tn_text_puts(out, ".\n");
  }
}

void tn_diag_list(tn_text *out, bool color) {
  size_t next = 0;
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++) {
    const tn_diag_info *info = tn_diag_info_of((tn_diag_code)i);
    if (next < sizeof groups / sizeof *groups && (int)groups[next].first == i) {
      if (next > 0) tn_text_byte(out, '\n');
      tn_diag_painted(out, color, TN_PAINT_BOLD, groups[next++].title);
      tn_text_byte(out, '\n');
    }
    size_t len = tn_str_of(info->code).len;
    tn_text_puts(out, "  ");
    tn_text_puts(out, info->code);
    tn_text_repeat(out, ' ', len < CODE_COLUMNS ? CODE_COLUMNS - len : 1);
    put_outline(out, summary_of(info), info->fields);
    tn_text_byte(out, '\n');
  }
}

static void write_text(tn_json_writer *json, const char *key, const char *text) {
  tn_json_key(json, key);
  if (text) tn_json_string(json, tn_str_of(text));
  else tn_json_null(json);
}

static void write_outline(tn_json_writer *json, const char *key, const char *template, const char *required) {
  tn_text text;
  tn_text_init(&text, json->out->heap);
  put_outline(&text, template ? template : "", required);
  tn_json_key(json, key);
  if (text.len > 0) tn_json_string(json, tn_text_str(&text));
  else tn_json_null(json);
  json->out->failed |= text.failed;
  tn_text_free(&text);
}

static void write_names(tn_json_writer *json, const char *key, const char *list) {
  tn_str name;
  tn_json_key(json, key);
  tn_json_array_begin(json);
  while (tn_diag_next_name(&list, &name)) tn_json_string(json, name);
  tn_json_array_end(json);
}

static void write_example(tn_json_writer *json, const char *key, const tn_diag_info *info, bool right) {
  const char *command = right && info->right_command ? info->right_command : info->command;
  tn_json_key(json, key);
  if (!info->wrong) {
    tn_json_null(json);
    return;
  }
  tn_json_object_begin(json);
  write_text(json, "language", info->lang);
  write_text(json, "command", command ? command : "run");
  write_text(json, "program", right && info->right ? info->right : info->wrong);
  write_text(json, "data", info->data);
  write_text(json, "content", right ? info->right_data : info->wrong_data);
  tn_json_object_end(json);
}

void tn_diag_explain_json(tn_diag_code code, tn_json_writer *json) {
  const tn_diag_info *info = tn_diag_info_of(code);
  tn_json_object_begin(json);
  write_text(json, "code", info->code);
  write_text(json, "severity", info->severity == TN_SEVERITY_WARNING ? "warning" : "error");
  write_outline(json, "title", summary_of(info), info->fields);
  write_names(json, "fields", info->fields);
  write_names(json, "optional", info->optional);
  write_outline(json, "hint", info->hint, info->fields);
  write_text(json, "explanation", info->explanation);
  write_example(json, "wrong", info, false);
  write_example(json, "right", info, true);
  tn_json_object_end(json);
}
