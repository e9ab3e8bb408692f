/* data/jsonl_columns.c: reads lines of JSON into columns.
 *
 * The keys of an object come in any order, so the value of each key is kept first
 * (`field`); the whole row then goes into the columns. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "data/jsonl.h"
#include "data/lines.h"

/* What a key of this row holds. */
typedef struct {
  const tn_csv_column *wanted;
  tn_column *column;
  size_t index; /* of the column */
  tn_str key;
  bool found, by_other;
  tn_f32s reals;
  tn_i32s ints;
  tn_text text;
} field;

/* Lists within lists: how long those of each depth are. */
typedef struct {
  int depth, leaf; /* where items are; 0: there were none */
  int64_t count[TN_RANK_LIMIT], length[TN_RANK_LIMIT]; /* so far, and of the first list; -1: not known */
} nesting;

typedef struct {
  tn_heap *heap;
  const tn_csv_request *request;
  tn_columns *out;
  tn_data_fault *fault;
  tn_arena arena; /* for strings with escapes; reset after every line */
  field *fields;
  size_t field_count;
  tn_str line;
  uint64_t number;
  tn_json_reader json;
  bool any; /* there was a row */
} reader;

/* ---- faults ---- */

static bool fail(reader *r, tn_data_problem problem) {
  r->fault->problem = problem;
  return false;
}

static bool fail_at(reader *r, tn_data_problem problem, uint64_t at, const char *reason) {
  r->fault->line = r->number;
  r->fault->col = tn_utf8_count((tn_str){ r->line.at, (size_t)at }) + 1;
  r->fault->reason = reason;
  return fail(r, problem);
}

static bool not_json(reader *r, const char *reason) {
  return r->json.out_of_memory ? fail(r, TN_DATA_MEMORY)
                               : fail_at(r, TN_DATA_JSON, r->json.error_at, reason);
}

/* A string is shown in its quotes: "1" is not a number. */
static void show_value(char *out, const tn_json_token *token) {
  tn_data_show(out, token->text);
  if (token->kind != TN_JSON_STRING) return;
  tn_str shown = tn_utf8_clip(token->text, TN_DATA_SHOWN - 3);
  out[0] = '"';
  if (shown.len > 0) memcpy(out + 1, shown.at, shown.len);
  memcpy(out + 1 + shown.len, "\"", 2);
}

/* A line that is not JSON is reported as such first, wherever the error is. */
static bool wrong(reader *r, const field *s, const tn_json_token *at, tn_data_problem problem,
                  const char *reason) {
  tn_json_token rest = *at;
  uint64_t place = at->at;
  tn_data_show(r->fault->column, s->key);
  show_value(r->fault->value, at);
  r->fault->asked = s->index;
  while (rest.kind > TN_JSON_END) tn_json_next(&r->json, &rest);
  return rest.kind == TN_JSON_ERROR ? not_json(r, r->json.reason) : fail_at(r, problem, place, reason);
}

static const char *expected(const field *s) {
  bool list = s->wanted->width != s->wanted->pick_count;
  switch (s->column->kind) {
    case TN_COLUMN_F32: return list ? "a list of numbers" : "a number";
    case TN_COLUMN_I32: return "a list of whole numbers";
    case TN_COLUMN_TEXT: return "a text";
    default: break;
  }
  if (s->column->classes || s->wanted->classes == TN_CLASSES_NAMED) return "the name of a class";
  return list ? "a list of whole numbers" : "a whole number";
}

static bool wrong_kind(reader *r, const field *s, const tn_json_token *token) {
  if (token->kind == TN_JSON_ERROR) return not_json(r, r->json.reason);
  bool unnamed = s->column->kind == TN_COLUMN_CLASS && token->kind == TN_JSON_STRING && token->text.len == 0;
  if (token->kind == TN_JSON_NULL || unnamed) return wrong(r, s, token, TN_DATA_MISSING, NULL);
  return wrong(r, s, token, TN_DATA_KIND, expected(s));
}

/* ---- single items ---- */

static bool keep_real(reader *r, field *s, const tn_json_token *token) {
  bool truth = token->kind == TN_JSON_TRUE || token->kind == TN_JSON_FALSE;
  float number = token->kind == TN_JSON_TRUE ? 1.0f : 0.0f;
  if (token->kind == TN_JSON_NULL && s->wanted->may_miss)
    number = s->wanted->fill;
  else if (!truth && (token->kind != TN_JSON_NUMBER || !tn_json_token_f32(token, &number)))
    return wrong_kind(r, s, token);
  return tn_vec_push(r->heap, &s->reals, number) ? true : fail(r, TN_DATA_MEMORY);
}

static bool read_whole(const tn_json_token *token, int32_t *out) {
  int64_t whole;
  if (token->kind != TN_JSON_NUMBER || !tn_json_token_i64(token, &whole)) return false;
  *out = (int32_t)whole;
  return whole >= INT32_MIN && whole <= INT32_MAX;
}

/* Unless the caller knows, the first label says whether classes are numbers or names. */
static bool read_class(reader *r, field *s, const tn_json_token *token, int32_t *out) {
  bool word = token->kind == TN_JSON_TRUE || token->kind == TN_JSON_FALSE;
  bool text = token->kind == TN_JSON_STRING && token->text.len > 0;
  tn_column *column = s->column;
  tn_csv_classes classes = s->wanted->classes;
  if (!word && !text)
    return !column->classes && classes != TN_CLASSES_NAMED && (column->numbered = read_whole(token, out));
  if (column->numbered || classes == TN_CLASSES_NUMBERED) return false;
  tn_str name = text ? token->text : token->kind == TN_JSON_TRUE ? TN_LIT("true") : TN_LIT("false");
  return tn_column_add_class(r->heap, column, name, out) || fail(r, TN_DATA_MEMORY);
}

static bool keep_whole(reader *r, field *s, const tn_json_token *token) {
  int32_t number;
  bool label = s->column->kind == TN_COLUMN_CLASS;
  bool ok = label ? read_class(r, s, token, &number) : read_whole(token, &number);
  if (r->fault->problem != TN_DATA_OK) return false;
  if (!ok) return wrong_kind(r, s, token);
  return tn_vec_push(r->heap, &s->ints, number) ? true : fail(r, TN_DATA_MEMORY);
}

static bool keep_text(reader *r, field *s, const tn_json_token *token) {
  if (token->kind != TN_JSON_STRING) return wrong_kind(r, s, token);
  tn_text_add(&s->text, token->text);
  return s->text.failed ? fail(r, TN_DATA_MEMORY) : true;
}

static bool keep_item(reader *r, field *s, const tn_json_token *token) {
  if (token->kind == TN_JSON_ERROR) return not_json(r, r->json.reason);
  switch (s->column->kind) {
    case TN_COLUMN_F32: return keep_real(r, s, token);
    case TN_COLUMN_TEXT: return keep_text(r, s, token);
    default: return keep_whole(r, s, token);
  }
}

/* ---- lists ---- */

static size_t item_count(const field *s) {
  return s->column->kind == TN_COLUMN_F32 ? s->reals.count : s->ints.count;
}

/* Numbers as far as they are plain; *token is what follows them. */
static bool read_plain(reader *r, field *s, tn_json_token *token) {
  tn_json_numbers result = TN_JSON_NUMBERS_OTHER;
  if (s->column->kind == TN_COLUMN_F32)
    result = tn_json_read_f32s(&r->json, r->heap, &s->reals, token);
  else if (s->column->kind == TN_COLUMN_I32)
    result = tn_json_read_i32s(&r->json, r->heap, &s->ints, token);
  else
    tn_json_next(&r->json, token);
  if (result == TN_JSON_NUMBERS_OK) token->kind = TN_JSON_ARRAY_END;
  return result != TN_JSON_NUMBERS_NO_MEMORY ? true : fail(r, TN_DATA_MEMORY);
}

/* At least one list, and as deep as the row. */
static bool begin_list(nesting *n, const tn_shape *row) {
  if (n->depth >= row->rank && n->depth > 0) return false;
  n->count[n->depth++] = 0;
  return true;
}

/* Items of the innermost list; all are equally deep. */
static bool add_items(nesting *n, size_t count) {
  n->count[n->depth - 1] += (int64_t)count;
  if (count > 0 && n->leaf == 0) n->leaf = n->depth;
  return count == 0 || n->leaf == n->depth;
}

/* Lists of one depth have one length. */
static bool end_list(nesting *n) {
  int64_t count = n->count[--n->depth], *length = &n->length[n->depth];
  if (n->depth > 0) n->count[n->depth - 1]++;
  if (*length < 0) *length = count;
  return *length == count;
}

/* Lists that are as deep as the row have its lengths. */
static bool is_row(const nesting *n, const tn_shape *row) {
  for (int i = 0; n->leaf == row->rank && row->rank > 1 && i < row->rank; i++) {
    if (tn_dim_is_known(row->dim[i]) && row->dim[i] != n->length[i]) return false;
  }
  return true;
}

/* The items of a list, of lists within it too, in the order in which they are written. */
static bool read_list(reader *r, field *s, const tn_json_token *first) {
  const char *uneven = "lists with the lengths that the input has";
  nesting n = { .depth = 0 };
  for (int i = 0; i < TN_RANK_LIMIT; i++) n.length[i] = -1;
  tn_json_token token = *first;
  do {
    size_t before = item_count(s);
    bool begins = token.kind == TN_JSON_ARRAY_BEGIN;
    if (begins && !begin_list(&n, &s->wanted->row)) return wrong_kind(r, s, &token);
    if (!read_plain(r, s, &token)) return false;
    bool item = token.kind != TN_JSON_ARRAY_BEGIN && token.kind != TN_JSON_ARRAY_END;
    if (item && !keep_item(r, s, &token)) return false;
    bool even = add_items(&n, item_count(s) - before);
    if (token.kind == TN_JSON_ARRAY_END) even = end_list(&n) && even;
    if (!even) return wrong(r, s, first, TN_DATA_KIND, uneven);
  } while (n.depth > 0);
  return is_row(&n, &s->wanted->row) ? true : wrong(r, s, first, TN_DATA_KIND, uneven);
}

/* ---- rows ---- */

static void forget(field *s) {
  s->reals.count = s->ints.count = 0;
  tn_text_clear(&s->text);
}

static bool read_field(reader *r, field *s) {
  tn_json_token token;
  forget(s);
  s->found = true;
  if (tn_json_next(&r->json, &token) == TN_JSON_ARRAY_BEGIN && s->column->kind != TN_COLUMN_TEXT)
    return read_list(r, s, &token);
  return keep_item(r, s, &token);
}

/* Whether this key is that of the field; an alternative key gives way to it. */
static bool is_for(field *s, tn_str key) {
  bool own = tn_str_equal(key, s->key);
  bool other = !own && s->wanted->other.len > 0 && tn_str_equal(key, s->wanted->other);
  if (!own && (!other || (s->found && !s->by_other))) return false;
  s->by_other = other;
  return true;
}

/* The value of a key, for every field that it is for. */
static bool read_member(reader *r, tn_str key) {
  tn_json_reader before = r->json;
  tn_json_token token;
  bool used = false;
  for (size_t i = 0; i < r->field_count; i++) {
    if (!is_for(&r->fields[i], key)) continue;
    r->json = before;
    used = true;
    if (!read_field(r, &r->fields[i])) return false;
  }
  if (used) return true;
  tn_json_next(&r->json, &token);
  return tn_json_skip(&r->json, &token) ? true : not_json(r, r->json.reason);
}

static bool read_object(reader *r) {
  tn_json_token token;
  tn_json_init(&r->json, r->line, &r->arena);
  if (tn_json_next(&r->json, &token) == TN_JSON_ERROR) return not_json(r, r->json.reason);
  if (token.kind != TN_JSON_OBJECT_BEGIN) return fail_at(r, TN_DATA_JSON, token.at, "a line is one object");
  while (tn_json_next(&r->json, &token) == TN_JSON_KEY) {
    if (!read_member(r, token.text)) return false;
  }
  if (token.kind != TN_JSON_OBJECT_END) return not_json(r, r->json.reason);
  return tn_json_next(&r->json, &token) == TN_JSON_END ? true : not_json(r, r->json.reason);
}

/* A similar key of this line, as a suggestion. */
static tn_str suggest_key(reader *r, tn_str key) {
  tn_vec(tn_str) keys = { 0 };
  tn_json_token token;
  tn_json_init(&r->json, r->line, &r->arena);
  tn_json_next(&r->json, &token);
  while (tn_json_next(&r->json, &token) == TN_JSON_KEY) {
    if (!tn_vec_push(r->heap, &keys, token.text)) break;
    tn_json_next(&r->json, &token);
    if (!tn_json_skip(&r->json, &token)) break;
  }
  tn_str meant = tn_str_suggest(key, keys.at, keys.count);
  tn_vec_free(r->heap, &keys);
  return meant;
}

/* An absent key is a missing number, or an error. */
static bool fill_missing(reader *r, field *s) {
  if (s->column->kind == TN_COLUMN_F32 && s->wanted->may_miss)
    return tn_vec_push(r->heap, &s->reals, s->wanted->fill) ? true : fail(r, TN_DATA_MEMORY);
  r->fault->asked = s->index;
  r->fault->line = r->number;
  tn_data_show(r->fault->column, s->key);
  tn_data_show(r->fault->value, suggest_key(r, s->key));
  return fail(r, TN_DATA_NO_COLUMN);
}

/* What this row has of a column. */
static size_t width_of(const reader *r, size_t column) {
  size_t width = 0;
  for (size_t i = 0; i < r->field_count; i++) {
    if (r->fields[i].index == column) width += item_count(&r->fields[i]);
  }
  return width;
}

/* Every column has as many items as in the rows before; the first row decides if nothing else does. */
static bool check_widths(reader *r) {
  for (size_t i = 0; i < r->out->count; i++) {
    const tn_csv_column *wanted = &r->request->columns[i];
    tn_column *column = &r->out->at[i];
    bool text = column->kind == TN_COLUMN_TEXT;
    size_t width = text ? 1 : width_of(r, i);
    if (wanted->ignored) continue;
    if (column->width == 0) column->width = wanted->width > 0 && !text ? wanted->width : width;
    if (column->width == width && width > 0) continue;
    r->fault->asked = i;
    r->fault->line = r->number;
    r->fault->expected = column->width > 0 ? (int64_t)column->width : 1; /* a row that is empty has no mean */
    r->fault->received = (int64_t)width;
    return fail(r, TN_DATA_WIDTH);
  }
  return true;
}

#define APPEND(heap, to, from)                                                                               \
  ((from)->count == 0 ||                                                                                     \
   (tn_vec_reserve((heap), (to), (from)->count) &&                                                           \
    (memcpy((to)->at + (to)->count, (from)->at, (from)->count * sizeof *(from)->at),                         \
     (to)->count += (from)->count, true)))

static bool append(reader *r, field *s) {
  tn_column *column = s->column;
  if (column->kind != TN_COLUMN_TEXT)
    return APPEND(r->heap, &column->reals, &s->reals) && APPEND(r->heap, &column->ints, &s->ints);
  tn_text_add(&column->text, tn_text_str(&s->text));
  return !column->text.failed && tn_vec_push(r->heap, &column->ends, column->text.len);
}

static bool hand_over(reader *r) {
  if (!r->request->take(r->request->context, r->out)) return fail(r, TN_DATA_REFUSED);
  tn_columns_clear(r->out);
  return true;
}

static bool keep_row(reader *r) {
  if (r->out->rows == TN_COLUMN_ROW_LIMIT) {
    r->fault->expected = (int64_t)TN_COLUMN_ROW_LIMIT;
    return fail(r, TN_DATA_MANY_ROWS);
  }
  uint32_t line = r->number > UINT32_MAX ? UINT32_MAX : (uint32_t)r->number;
  bool ok = tn_vec_push(r->heap, &r->out->lines, line);
  for (size_t i = 0; ok && i < r->field_count; i++) ok = append(r, &r->fields[i]);
  if (!ok) return fail(r, TN_DATA_MEMORY);
  r->out->rows++;
  r->any = true;
  return r->out->rows < TN_CSV_CHUNK || !r->request->take || hand_over(r);
}

/* An infinite number is one that f32 does not hold; a missing one may be NaN. */
static bool check_finite(reader *r, const field *s) {
  for (size_t i = 0; i < s->reals.count; i++) {
    if (!isinf(s->reals.at[i])) continue;
    r->fault->asked = s->index;
    r->fault->line = r->number;
    r->fault->reason = "a number that fits 32 bits";
    tn_data_show(r->fault->column, s->key);
    return fail(r, TN_DATA_KIND);
  }
  return true;
}

static bool read_line(void *context, tn_str line, uint64_t number) {
  reader *r = context;
  r->line = line;
  r->number = number;
  for (size_t i = 0; i < r->field_count; i++) forget(&r->fields[i]), r->fields[i].found = false;
  if (!read_object(r)) return false;
  for (size_t i = 0; i < r->field_count; i++) {
    if (!r->fields[i].found && !fill_missing(r, &r->fields[i])) return false;
    if (!check_finite(r, &r->fields[i])) return false;
  }
  bool ok = check_widths(r) && keep_row(r);
  tn_arena_reset(&r->arena);
  return ok;
}

/* ---- the file ---- */

static bool make_fields(reader *r) {
  const tn_csv_request *request = r->request;
  size_t count = 0;
  for (size_t i = 0; i < request->column_count; i++)
    count += request->columns[i].ignored ? 0 : request->columns[i].pick_count;
  r->fields = tn_heap_alloc(r->heap, count * sizeof *r->fields);
  if (!r->fields && count > 0) return fail(r, TN_DATA_MEMORY);
  for (size_t i = 0; i < request->column_count; i++) {
    const tn_csv_column *wanted = &request->columns[i];
    r->out->at[i].kind = wanted->kind;
    for (size_t k = 0; !wanted->ignored && k < wanted->pick_count; k++) {
      field *s = &r->fields[r->field_count++];
      *s = (field){ .wanted = wanted, .column = &r->out->at[i], .index = i, .key = wanted->picks[k].name };
      tn_text_init(&s->text, r->heap);
    }
  }
  return true;
}

static void free_fields(reader *r) {
  for (size_t i = 0; i < r->field_count; i++) {
    tn_vec_free(r->heap, &r->fields[i].reals);
    tn_vec_free(r->heap, &r->fields[i].ints);
    tn_text_free(&r->fields[i].text);
  }
  tn_heap_free(r->heap, r->fields, r->field_count * sizeof *r->fields);
}

static bool read_file(reader *r) {
  const tn_csv_request *request = r->request;
  tn_lines_request lines = { .path = request->path,
                             .resolved = request->resolved,
                             .take = read_line,
                             .context = r,
                             .sha256 = request->sha256,
                             .faults = request->faults };
  uint64_t line;
  if (!make_fields(r)) return false;
  tn_data_problem problem = tn_lines_read(r->heap, &lines, &r->fault->file, &line);
  if (problem == TN_DATA_REFUSED) return false; /* the fault is known */
  if (problem == TN_DATA_UTF8) r->fault->line = line;
  if (problem != TN_DATA_OK) return fail(r, problem);
  if (!r->any) return fail(r, TN_DATA_EMPTY);
  if (request->take) return r->out->rows == 0 || hand_over(r);
  return tn_columns_name_classes(r->out) ? true : fail(r, TN_DATA_MEMORY);
}

bool tn_jsonl_read(tn_heap *heap, const tn_csv_request *request, tn_columns *out, tn_data_fault *fault) {
  reader r = { .heap = heap, .request = request, .out = out, .fault = fault };
  *fault = (tn_data_fault){ .problem = TN_DATA_OK };
  tn_arena_init(&r.arena, heap);
  bool ok = tn_columns_init(out, heap, request->column_count) ? read_file(&r) : fail(&r, TN_DATA_MEMORY);
  free_fields(&r);
  tn_arena_free(&r.arena);
  if (!ok) tn_columns_free(out);
  if (!ok && heap->stopped) fault->problem = TN_DATA_STOPPED; /* it refuses memory, too */
  return ok;
}
