/* diag/diag.c: the table of codes and the list of reports.
 *
 * A report copies what it needs into the list's arena, so that a caller may
 * report from scratch memory. Three things keep the list small whatever a
 * program does: the same code at the same place is kept once (an unrolled loop
 * fails in every iteration), errors and warnings have separate limits (so that warnings never
 * displace the error that explains the failure), and values are truncated in messages. If memory
 * runs out for a report, `out_of_memory` records that one was lost. */
#include "diag/diag.h"

#include <assert.h>
#include <string.h>

#include "diag/internal.h"

static const tn_diag_info table[TN_DIAG_COUNT] = {
#define TN_DIAG(name, ...) [TN_DIAG_##name] = { .code = #name, __VA_ARGS__ },
#include "diag/diag.def"
#undef TN_DIAG
};

const tn_diag_info *tn_diag_info_of(tn_diag_code code) {
  bool known = code > TN_DIAG_NONE && code < TN_DIAG_COUNT;
  return &table[known ? code : TN_DIAG_E_INTERNAL];
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_ignoring_case(tn_str a, const char *b) {
  if (a.len != strlen(b)) return false;
  for (size_t i = 0; i < a.len; i++)
    if (lower(a.at[i]) != lower(b[i])) return false;
  return true;
}

tn_diag_code tn_diag_find(tn_str code) {
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++)
    if (equal_ignoring_case(code, table[i].code)) return (tn_diag_code)i;
  return TN_DIAG_NONE;
}

#define PART_BYTES 3 /* shorter texts are part of too many codes */

static bool contains(tn_str code, tn_str part) {
  for (size_t i = 0; part.len >= PART_BYTES && i + part.len <= code.len; i++) {
    size_t same = 0;
    while (same < part.len && lower(code.at[i + same]) == lower(part.at[same])) same++;
    if (same == part.len) return true;
  }
  return false;
}

/* The shortest code that contains this text; the first on a tie. */
static tn_str code_with(tn_str part) {
  tn_str best = TN_LIT("");
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++) {
    tn_str code = tn_str_of(table[i].code);
    if (contains(code, part) && (best.len == 0 || code.len < best.len)) best = code;
  }
  return best;
}

tn_str tn_diag_suggest(tn_str wrong) {
  tn_str codes[TN_DIAG_COUNT];
  size_t count = 0;
  for (int i = TN_DIAG_NONE + 1; i < TN_DIAG_COUNT; i++) codes[count++] = tn_str_of(table[i].code);
  tn_str near = tn_str_suggest(wrong, codes, count);
  return near.len > 0 ? near : code_with(wrong);
}

bool tn_diag_next_name(const char **list, tn_str *name) {
  if (!*list || !**list) return false;
  size_t len = strcspn(*list, " ");
  *name = (tn_str){ *list, len };
  *list += (*list)[len] ? len + 1 : len;
  return true;
}

bool tn_diag_names_contain(const char *list, const char *name) {
  tn_str each;
  while (tn_diag_next_name(&list, &each))
    if (tn_str_is(each, name)) return true;
  return false;
}

void tn_diags_init(tn_diags *diags, tn_heap *heap, tn_sources *sources) {
  *diags = (tn_diags){ .sources = sources };
  tn_arena_init(&diags->arena, heap);
}

void tn_diags_free(tn_diags *diags) {
  tn_vec_free(diags->arena.heap, &diags->list);
  tn_arena_free(&diags->arena);
}

tn_phase tn_diags_enter(tn_diags *diags, tn_phase phase) {
  tn_phase before = diags->phase;
  diags->phase = phase;
  return before;
}

void tn_diags_clear(tn_diags *diags) {
  tn_arena_reset(&diags->arena);
  tn_diags_rewind(diags, (tn_diag_mark){ 0 });
}

tn_diag_mark tn_diags_mark(const tn_diags *diags) {
  return (tn_diag_mark){
    .kept = diags->list.count,
    .errors = diags->errors,
    .warnings = diags->warnings,
    .dropped = diags->dropped,
    .out_of_memory = diags->out_of_memory,
  };
}

void tn_diags_rewind(tn_diags *diags, tn_diag_mark mark) {
  assert(mark.kept <= diags->list.count);
  diags->list.count = mark.kept;
  diags->errors = mark.errors;
  diags->warnings = mark.warnings;
  diags->dropped = mark.dropped;
  diags->out_of_memory = mark.out_of_memory;
  diags->arena.heap->reporting = mark.errors > 0;
}

static bool comes_before(const tn_diag *a, const tn_diag *b) {
  bool a_placed = a->at.file != 0, b_placed = b->at.file != 0;
  if (a_placed != b_placed) return a_placed;
  if (a->at.file != b->at.file) return a->at.file < b->at.file;
  if (a->at.start != b->at.start) return a->at.start < b->at.start;
  return a->order < b->order;
}

/* Insertion sort: the list is short and nearly sorted. */
void tn_diags_sort(tn_diags *diags) {
  tn_diag *list = diags->list.at;
  for (size_t i = 1; i < diags->list.count; i++) {
    tn_diag moving = list[i];
    size_t to = i;
    for (; to > 0 && comes_before(&moving, &list[to - 1]); to--) list[to] = list[to - 1];
    list[to] = moving;
  }
}

static int status_of(tn_diag_code code) {
  const tn_diag_info *info = tn_diag_info_of(code);
  if (info->severity != TN_SEVERITY_ERROR) return 0;
  return info->status ? info->status : 1;
}

int tn_diags_status(const tn_diags *diags) {
  int status = diags->errors > 0 || diags->out_of_memory ? 1 : 0;
  for (size_t i = 0; i < diags->list.count; i++) {
    int each = status_of(diags->list.at[i].code);
    if (each > status) status = each;
  }
  return status;
}

#define NUMBER_BYTES 20   /* "-9223372036854775808" */

static tn_str number_text(int64_t number, char scratch[NUMBER_BYTES]) {
  char *at = scratch + NUMBER_BYTES;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do *--at = (char)('0' + rest % 10); while (rest /= 10);
  if (number < 0) *--at = '-';
  return (tn_str){ at, (size_t)(scratch + NUMBER_BYTES - at) };
}

static tn_str place_text(tn_sources *sources, const tn_field *field, char scratch[NUMBER_BYTES]) {
  tn_place place = tn_place_of(sources, field->at.file, field->at.start);
  return number_text(field->kind == TN_FIELD_LINE ? place.line : place.column, scratch);
}

static tn_str value_of(tn_sources *sources, const tn_field *field, char scratch[NUMBER_BYTES]) {
  switch (field->kind) {
    case TN_FIELD_INT: return number_text(field->number, scratch);
    case TN_FIELD_LINE:
    case TN_FIELD_COLUMN: return place_text(sources, field, scratch);
    default: return field->text.len > 0 ? field->text : tn_str_of(field->inline_text);
  }
}

/* Hints and notes are not fields, and an empty value is one only where the code requires it. */
static bool is_field(const tn_diag_info *info, const tn_field *field) {
  if (field->kind >= TN_FIELD_HINT) return false;
  if (field->kind != TN_FIELD_TEXT) return true;
  return field->text.len > 0 || field->inline_text[0] || tn_diag_names_contain(info->fields, field->name);
}

bool tn_diag_has_required(tn_diag_code code, const tn_field *fields, size_t count) {
  const tn_diag_info *info = tn_diag_info_of(code);
  const char *list = info->fields;
  tn_str name;
  while (tn_diag_next_name(&list, &name)) {
    size_t i = 0;
    while (i < count && !(is_field(info, &fields[i]) && tn_str_is(name, fields[i].name))) i++;
    if (i == count) return false;
  }
  return true;
}

static bool same_fields(tn_sources *sources, const tn_diag *diag, const tn_field *fields, size_t count) {
  const tn_diag_info *info = tn_diag_info_of(diag->code);
  char scratch[NUMBER_BYTES];
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (!is_field(info, &fields[i])) continue;
    if (kept == diag->field_count) return false;
    const tn_diag_field *other = &diag->fields[kept++];
    if (strcmp(other->name, fields[i].name) != 0) return false;
    if (!tn_str_equal(other->value, value_of(sources, &fields[i], scratch))) return false;
  }
  return kept == diag->field_count;
}

static bool is_repeated(const tn_diags *diags, const tn_diag *diag, const tn_field *fields, size_t count) {
  for (size_t i = 0; i < diags->list.count; i++) {
    const tn_diag *other = &diags->list.at[i];
    bool same = other->code == diag->code && other->at.file == diag->at.file &&
                other->at.start == diag->at.start && other->at.end == diag->at.end;
    if (same && (diag->at.file != 0 || same_fields(diags->sources, other, fields, count))) return true;
  }
  return false;
}

bool tn_diags_has_room(const tn_diags *diags, tn_diag_code code) {
  tn_severity severity = tn_diag_info_of(code)->severity;
  size_t limit = diags->limit ? diags->limit : TN_DIAG_LIMIT, kept = 0;
  for (size_t i = 0; i < diags->list.count; i++) kept += diags->list.at[i].severity == severity;
  return kept < limit;
}

static void keep_fields(tn_diags *diags, const tn_field *fields, size_t count, tn_diag *diag) {
  const tn_diag_info *info = tn_diag_info_of(diag->code);
  tn_arena *arena = &diags->arena;
  tn_diag_field *kept = tn_arena_array(arena, count, sizeof *kept);
  if (!kept) return;
  diag->fields = kept;
  for (size_t i = 0; i < count; i++) {
    char scratch[NUMBER_BYTES];
    if (!is_field(info, &fields[i])) continue;
    tn_str value = value_of(diags->sources, &fields[i], scratch);
    kept[diag->field_count++] = (tn_diag_field){ fields[i].name, tn_arena_str(arena, value) };
  }
}

static tn_str expand(tn_arena *arena, const char *template, const tn_diag *diag) {
  if (!template) return (tn_str){ "", 0 };
  size_t len = tn_diag_expand(template, diag->fields, diag->field_count, NULL);
  char *at = tn_arena_alloc(arena, len + 1);
  if (!at) return (tn_str){ "", 0 };
  tn_diag_expand(template, diag->fields, diag->field_count, at);
  return (tn_str){ at, len };
}

static void keep_hint(tn_arena *arena, const tn_field *fields, size_t count, tn_diag *diag) {
  for (size_t i = 0; i < count; i++) {
    if (fields[i].kind != TN_FIELD_HINT || fields[i].text.len == 0) continue;
    diag->hint = tn_arena_str(arena, fields[i].text);
    return;
  }
  diag->hint = expand(arena, tn_diag_info_of(diag->code)->hint, diag);
}

static bool is_note(const tn_field *field) { return field->kind == TN_FIELD_NOTE && field->name; }

#define CALL_NOTES 3 /* a diagnostic shows at most so many enclosing calls */

/* A call that contains the error is shown with it; one that contains the last note is shown with
 * that. */
static bool is_elsewhere(tn_span call, tn_span than) {
  return call.file && !(call.file == than.file && call.start <= than.start && than.end <= call.end);
}

static void keep_calls(tn_arena *arena, const tn_diag_call *call, tn_diag *diag) {
  tn_span last = diag->at;
  tn_diag_note *notes = call ? tn_arena_array(arena, diag->note_count + CALL_NOTES, sizeof *notes) : NULL;
  if (!notes) return;
  if (diag->note_count) memcpy(notes, diag->notes, diag->note_count * sizeof *notes);
  diag->notes = notes;
  for (int left = CALL_NOTES; call && left > 0; call = call->outer) {
    if (!is_elsewhere(call->at, last)) continue;
    last = call->at;
    notes[diag->note_count++] = (tn_diag_note){ last, TN_LIT(TN_DIAG_CALLED) };
    left--;
  }
}

static void keep_notes(tn_arena *arena, const tn_field *fields, size_t count, tn_diag *diag) {
  size_t notes = 0;
  for (size_t i = 0; i < count; i++) notes += is_note(&fields[i]);
  tn_diag_note *kept = notes ? tn_arena_array(arena, notes, sizeof *kept) : NULL;
  if (!kept) return;
  diag->notes = kept;
  for (size_t i = 0; i < count; i++)
    if (is_note(&fields[i]))
      kept[diag->note_count++] = (tn_diag_note){ fields[i].at, expand(arena, fields[i].name, diag) };
}

static void keep_phase(const tn_field *fields, size_t count, tn_diag *diag) {
  for (size_t i = 0; i < count; i++)
    if (fields[i].kind == TN_FIELD_PHASE) diag->phase = (tn_phase)fields[i].number;
}

static bool keep(tn_diags *diags, const tn_field *fields, size_t count, tn_diag *diag) {
  const tn_diag_info *info = tn_diag_info_of(diag->code);
  tn_arena *arena = &diags->arena;
  arena->failed = false;
  keep_fields(diags, fields, count, diag);
  keep_hint(arena, fields, count, diag);
  keep_phase(fields, count, diag);
  keep_notes(arena, fields, count, diag);
  keep_calls(arena, diags->call, diag);
  diag->title = expand(arena, info->title, diag);
  diag->label = expand(arena, info->label, diag);
  return !arena->failed && tn_vec_push(arena->heap, &diags->list, *diag);
}

bool tn_diags_report(tn_diags *diags, tn_diag_code code, tn_span at, const tn_field *fields,
                     size_t count) {
  /* Memory refused by the user's own limit has its own code, wherever it was requested. */
  size_t limit = diags->arena.heap->limit;
  if (code == TN_DIAG_E_OUT_OF_MEMORY && diags->arena.heap->stack.exceeded)
    return tn_report_stack(diags, at, NULL);
  if (code == TN_DIAG_E_OUT_OF_MEMORY && limit > 0)
    return tn_report(diags, TN_DIAG_E_MEMORY_LIMIT, at, TN_INT("limit", (int64_t)limit));
  const tn_diag_info *info = tn_diag_info_of(code);
  tn_diag diag = {
    .code = code,
    .severity = info->severity,
    .phase = diags->phase,
    .at = at,
    .order = (uint32_t)(diags->errors + diags->warnings),
  };
  assert(tn_diag_has_required(code, fields, count) && "diag.def names the fields that this code requires");
  if (info->severity == TN_SEVERITY_WARNING) diags->warnings++;
  else diags->errors++;
  diags->arena.heap->reporting = diags->errors > 0;

  if (is_repeated(diags, &diag, fields, count)) return false;
  if (!tn_diags_has_room(diags, code)) diags->dropped++;
  else if (!keep(diags, fields, count, &diag)) diags->out_of_memory = true;
  return false;
}

bool tn_report_memory(tn_diags *diags, const tn_heap *heap, tn_span at, const char *what) {
  if (heap->stack.exceeded) return tn_report_stack(diags, at, what);
  if (heap->limit > 0)
    return tn_report(diags, TN_DIAG_E_MEMORY_LIMIT, at, TN_INT("limit", (int64_t)heap->limit));
  if (!what) return tn_report_plain(diags, TN_DIAG_E_OUT_OF_MEMORY, at);
  return tn_report(diags, TN_DIAG_E_OUT_OF_MEMORY, at, TN_STR("what", what));
}

/* recursion: once, E_NESTING_LIMIT is reported as it is. */
bool tn_report_stack(tn_diags *diags, tn_span at, const char *what) {
  static const char hint[] =
      "give an inner part a name of its own, or run it where the stack is larger (ulimit -s)";
  tn_field fields[] = { TN_INT("limit", (int64_t)diags->arena.heap->stack.size), TN_STR("unit", "bytes"),
                        TN_HINT(tn_str_of(hint)), TN_STR("what", what) };
  return tn_diags_report(diags, TN_DIAG_E_NESTING_LIMIT, at, fields, what ? 4 : 3);
}

/* Keeps only the first report of one of two codes; false if there is none. */
static bool keep_only(tn_diags *diags, tn_diag_code code, tn_diag_code other) {
  for (size_t i = 0; i < diags->list.count; i++) {
    if (diags->list.at[i].code != code && diags->list.at[i].code != other) continue;
    diags->list.at[0] = diags->list.at[i];
    diags->list.count = diags->errors = 1;
    diags->warnings = diags->dropped = 0;
    return true;
  }
  tn_diags_clear(diags);
  return false;
}

void tn_diags_settle_memory(tn_diags *diags, const tn_heap *heap) {
  if (heap->stack.exceeded) {
    if (!keep_only(diags, TN_DIAG_E_NESTING_LIMIT, TN_DIAG_E_NESTING_LIMIT))
      tn_report_stack(diags, TN_NOWHERE, NULL);
  } else if (!keep_only(diags, TN_DIAG_E_OUT_OF_MEMORY, TN_DIAG_E_MEMORY_LIMIT)) {
    tn_report_memory(diags, heap, TN_NOWHERE, NULL);
  }
}
