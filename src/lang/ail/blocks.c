/* lang/ail/blocks.c: reads the fields of blocks, and those of the dataset block. */
#include <string.h>

#include "base/number.h"
#include "lang/ail/blocks.h"

static tn_diags *diags_of(const tn_ail *program) { return program->host->diags; }

tn_str tn_ail_field_name(const tn_ail *program, const tn_ail_field *field) {
  return tn_ail_text_of(program, field->name);
}

/* "`steps` is {what}" */
bool tn_ail_ill_typed(const tn_ail *program, const tn_ail_field *field, const char *what) {
  tn_text message;
  tn_text_init(&message, program->host->heap);
  tn_text_byte(&message, '`');
  tn_text_add(&message, tn_ail_field_name(program, field));
  tn_text_puts(&message, "` ");
  tn_text_puts(&message, what);
  tn_ail_report_syntax(program, field->value ? field->value->at : field->at,
                       message.failed ? "" : message.at);
  tn_text_free(&message);
  return false;
}

/* ---- kinds of fields ---- */

void tn_ail_read_count(const tn_ail *program, const tn_ail_field *field, int64_t least, int64_t *out) {
  tn_ail_const value;
  bool ok =
      tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_NUMBER && value.is_integer;
  if (ok && value.integer >= least)
    *out = value.integer;
  else
    tn_ail_ill_typed(program, field,
              least > 0 ? "is a whole number of at least 1" : "is a whole number of at least 0");
}

void tn_ail_read_amount(const tn_ail *program, const tn_ail_field *field, double *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_NUMBER;
  if (ok && value.number >= 0 && value.number <= 1e300)
    *out = value.number;
  else
    tn_ail_ill_typed(program, field, "is a number of at least 0");
}

bool tn_ail_read_text(const tn_ail *program, const tn_ail_field *field, tn_str *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_TEXT;
  if (!ok) return tn_ail_ill_typed(program, field, "is a string");
  *out = value.text;
  return true;
}

/* What `find` gives for a string; `fallback` after reporting that it gives -1. */
int tn_ail_read_choice(const tn_ail *program, const tn_ail_field *field, int (*find)(tn_str name),
                       const char *what, int fallback) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_TEXT;
  int found = ok ? find(value.text) : -1;
  if (found < 0) tn_ail_ill_typed(program, field, what);
  return found < 0 ? fallback : found;
}

static bool given_before(const tn_ail_fields *fields, uint32_t index) {
  if (index > 64) return false; /* more than there are names: unknown ones are among them */
  for (uint32_t i = 0; i < index; i++) {
    const tn_ail_field *other = &fields->fields[i];
    if (other->kind == TN_AIL_FIELD && other->name == fields->fields[index].name) return true;
  }
  return false;
}

void tn_ail_take_fields(tn_ail *program, tn_ail_block_kind block, const tn_ail_fields *fields,
                        tn_ail_take_field take) {
  for (uint32_t i = 0; i < fields->count; i++) {
    const tn_ail_field *field = &fields->fields[i];
    if (field->kind != TN_AIL_FIELD) continue;
    if (!take(program, field))
      tn_ail_refuse_field(program, block, field);
    else if (given_before(fields, i))
      tn_ail_report_syntax(program, field->name_at, "this field is given twice");
  }
}

bool tn_ail_has_field(const tn_ail *program, const tn_ail_fields *fields, const char *name) {
  for (uint32_t i = 0; i < fields->count; i++) {
    const tn_ail_field *field = &fields->fields[i];
    if (field->kind == TN_AIL_FIELD_BROKEN) return true;
    if (field->kind == TN_AIL_FIELD && tn_str_is(tn_ail_field_name(program, field), name)) return true;
  }
  return false;
}

bool tn_ail_read_word(const tn_ail *program, const tn_ail_expr *expr, tn_str *out) {
  tn_ail_const value;
  if (tn_ail_literal(program, expr, &value) && value.kind == TN_AIL_CONST_TEXT)
    *out = value.text;
  else if (expr->form == TN_AIL_EXPR_NAME)
    *out = tn_ail_text_of(program, expr->as.name);
  else
    return false;
  return true;
}

/* ---- columns of a data set ---- */

#define COLUMN_LIMIT 100000

typedef tn_vec(int32_t) columns;

static bool add_columns(const tn_ail *program, columns *list, int64_t from, int64_t to) {
  for (int64_t i = from; i <= to; i++) {
    if (!tn_vec_push(program->host->heap, list, (int32_t)i)) return false;
  }
  return true;
}

/* "3", "0-3": one part of a selection. */
static bool read_part(tn_str part, int64_t *from, int64_t *to) {
  const char *dash = part.len ? memchr(part.at, '-', part.len) : NULL;
  tn_str first = part, last = part;
  if (dash) {
    first.len = (size_t)(dash - part.at);
    last = (tn_str){ dash + 1, part.len - first.len - 1 };
  }
  bool ok = tn_number_parse_i64(first, from) && tn_number_parse_i64(last, to);
  return ok && *from >= 0 && *to >= *from && *to < COLUMN_LIMIT;
}

static tn_str trimmed(tn_str text) {
  while (text.len && text.at[0] == ' ') text.at++, text.len--;
  while (text.len && text.at[text.len - 1] == ' ') text.len--;
  return text;
}

/* A word that selects nothing leaves the list empty: the default layout. */
static void select_columns(const tn_ail *program, tn_str text, columns *list) {
  for (size_t start = 0; start <= text.len;) {
    const char *comma = start < text.len ? memchr(text.at + start, ',', text.len - start) : NULL;
    size_t end = comma ? (size_t)(comma - text.at) : text.len;
    int64_t from, to;
    bool ok = read_part(trimmed((tn_str){ text.at + start, end - start }), &from, &to);
    if (!ok || list->count > COLUMN_LIMIT || !add_columns(program, list, from, to)) {
      list->count = 0;
      return;
    }
    start = end + 1;
  }
}

static bool select_list(const tn_ail *program, const tn_ail_expr *list, columns *out) {
  for (uint32_t i = 0; i < list->as.list.count; i++) {
    tn_ail_const value;
    bool ok = tn_ail_literal(program, list->as.list.items[i], &value) && value.is_integer;
    if (!ok || value.integer < 0 || value.integer >= COLUMN_LIMIT) return false;
    if (!add_columns(program, out, value.integer, value.integer)) return false;
  }
  return out->count > 0;
}

static void read_column(tn_ail *program, const tn_ail_field *field, tn_dataset_column *out) {
  columns list = { 0 };
  tn_ail_const value;
  bool ok = true;
  if (field->value->form == TN_AIL_EXPR_LIST) {
    ok = select_list(program, field->value, &list);
  } else if (tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_TEXT) {
    out->key = value.text;
    select_columns(program, value.text, &list);
  } else if (value.kind == TN_AIL_CONST_NUMBER && value.is_integer && value.integer >= 0 &&
             value.integer < COLUMN_LIMIT) {
    ok = add_columns(program, &list, value.integer, value.integer);
  } else {
    ok = false;
  }
  if (!ok)
    tn_ail_ill_typed(program, field,
                     "names a key, or columns counted from 0: \"tokens\", 3, \"0-3\", [0, 2]");
  out->columns = tn_arena_copy(&program->arena, list.at, list.count * sizeof *list.at);
  out->column_count = list.count;
  tn_vec_free(program->host->heap, &list);
}

/* ---- dataset ---- */

static void read_format(tn_ail *program, const tn_ail_field *field) {
  const tn_str known[] = { TN_LIT("jsonl"), TN_LIT("tsv"), TN_LIT("csv"), TN_LIT("text"),
                           TN_LIT("npy"),   TN_LIT("npz") };
  tn_str format;
  if (!tn_ail_read_text(program, field, &format)) return;
  int found = tn_dataset_format_find(format);
  if (found >= 0)
    program->dataset.format = (tn_dataset_format)found;
  else
    tn_report(diags_of(program), TN_DIAG_E_DATASET_UNKNOWN_FORMAT, field->value->at,
              TN_TEXT("format", format), TN_TEXT("suggestion", tn_str_suggest(format, known, 6)));
}

static void read_truth(tn_ail *program, const tn_ail_field *field, bool *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_BOOL;
  if (ok)
    *out = value.number != 0;
  else
    tn_ail_ill_typed(program, field, "is true or false");
}

/* One character that cannot be part of a number or end a line. */
static void read_delimiter(tn_ail *program, const tn_ail_field *field) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_TEXT &&
            value.text.len == 1 && memchr(",;:| \t", value.text.at[0], 6) != NULL;
  if (ok)
    program->dataset.delimiter = value.text.at[0];
  else
    tn_ail_ill_typed(program, field, "is one of \",\", \";\", \":\", \"|\", \" \" and \"\\t\"");
}

static void read_missing(tn_ail *program, const tn_ail_field *field) {
  tn_dataset_block *dataset = &program->dataset;
  tn_ail_const value;
  bool known = tn_ail_literal(program, field->value, &value);
  bool number = known && value.kind == TN_AIL_CONST_NUMBER && value.number >= -1e30 && value.number <= 1e30;
  bool mean = known && value.kind == TN_AIL_CONST_TEXT && tn_str_is(value.text, "mean");
  dataset->missing = mean ? TN_MISSING_MEAN : TN_MISSING_NUMBER;
  dataset->missing_number = value.number;
  if (!number && !mean) tn_ail_ill_typed(program, field, "is a number, or \"mean\"");
}

/* Fields that only data with a feed for every input has. False: none of them. */
static bool take_table_field(tn_ail *program, const tn_ail_field *field) {
  tn_str name = tn_ail_field_name(program, field);
  tn_dataset_format format = program->dataset.format;
  bool table = format == TN_DATASET_CSV || format == TN_DATASET_TSV;
  if (!program->dataset.fed) return false;
  if (tn_str_is(name, "normalize") || tn_ail_is_feed(program, field->name)) return true;
  if (table && tn_str_is(name, "header"))
    read_truth(program, field, &program->dataset.header);
  else if (format == TN_DATASET_CSV && tn_str_is(name, "delimiter"))
    read_delimiter(program, field);
  else if ((table || format == TN_DATASET_JSONL) && tn_str_is(name, "missing"))
    read_missing(program, field);
  else
    return false;
  return true;
}

/* ---- which data has a feed for every input ---- */

static bool is_stage(const tn_ail_field *field) {
  return field->kind == TN_AIL_FIELD_MAP || field->kind == TN_AIL_FIELD_FILTER;
}

/* A field that means something only where columns have names, or are more than features and a label. */
static bool needs_feeds(const tn_ail *program, const tn_ail_field *field) {
  tn_str name = tn_ail_field_name(program, field);
  if (field->kind != TN_AIL_FIELD) return false;
  if (tn_str_is(name, "tokens") || tn_str_is(name, "labels"))
    return field->value && field->value->form == TN_AIL_EXPR_CALL;
  return tn_str_is(name, "header") || tn_str_is(name, "missing") || tn_str_is(name, "normalize") ||
         tn_ail_is_feed(program, field->name);
}

/* JSONL has one, except where stages work on its rows; TSV, where a field asks for it. */
static bool is_fed(const tn_ail *program) {
  const tn_ail_fields *fields = program->dataset_fields;
  bool stages = false, asked = false;
  for (uint32_t i = 0; i < fields->count; i++) {
    stages |= is_stage(&fields->fields[i]);
    asked |= needs_feeds(program, &fields->fields[i]);
  }
  switch (program->dataset.format) {
    case TN_DATASET_JSONL: return asked || !stages;
    case TN_DATASET_TSV: return asked;
    case TN_DATASET_TEXT: return false;
    default: return true;
  }
}

static void read_split(tn_ail *program, const tn_ail_field *field) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_NUMBER;
  program->dataset.split_at = field->value->at;
  if (ok && value.number > 0 && value.number <= 1)
    program->dataset.split = value.number;
  else
    tn_ail_ill_typed(program, field, "is a number above 0 and at most 1");
}

/* The rest of the rows, if any, is for validation. */
static void read_test(tn_ail *program, const tn_ail_field *field) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_NUMBER;
  if (!ok || value.number <= 0 || value.number >= 1)
    tn_ail_ill_typed(program, field, "is a number between 0 and 1");
  else if (!program->eval_fields)
    tn_ail_ill_typed(program, field, "needs an eval block, whose metrics it measures");
  else
    program->dataset.test = value.number;
}

/* Sums such as 0.7 + 0.3 are a little off. */
static void check_shares(tn_ail *program) {
  const tn_dataset_block *data = &program->dataset;
  const tn_ail_fields *fields = program->dataset_fields;
  for (uint32_t i = 0; data->split + data->test > 1 + 1e-9 && i < fields->count; i++) {
    const tn_ail_field *field = &fields->fields[i];
    if (field->kind == TN_AIL_FIELD && tn_str_is(tn_ail_field_name(program, field), "test"))
      tn_ail_ill_typed(program, field,
                       "and `split` are at most 1 together, as in `split = 0.8`, `test = 0.1`");
  }
}

static bool take_dataset_field(tn_ail *program, const tn_ail_field *field) {
  tn_dataset_block *dataset = &program->dataset;
  tn_str name = tn_ail_field_name(program, field);
  if (take_table_field(program, field) || tn_str_is(name, "format")) return true;
  bool text = dataset->format == TN_DATASET_TEXT;
  if (text && tn_str_is(name, "tokens")) return true; /* tn_ail_check_text */
  if (text && (tn_str_is(name, "labels") || tn_str_is(name, "shuffle"))) return false;
  bool column = tn_str_is(name, "tokens") || tn_str_is(name, "labels");
  bool arrays = dataset->format == TN_DATASET_NPY || dataset->format == TN_DATASET_NPZ;
  if (column && arrays) return false; /* of an input that there is not */
  if (tn_str_is(name, "path")) {
    dataset->path_at = field->value->at;
    tn_ail_read_text(program, field, &dataset->path);
  } else if (tn_str_is(name, "tokens"))
    read_column(program, field, &dataset->features);
  else if (tn_str_is(name, "labels")) {
    read_column(program, field, &dataset->labels);
    if (dataset->labels.column_count > 1) tn_ail_ill_typed(program, field, "is one column");
  } else if (tn_str_is(name, "shuffle"))
    read_truth(program, field, &dataset->shuffle);
  else if (tn_str_is(name, "split"))
    read_split(program, field);
  else if (tn_str_is(name, "test"))
    read_test(program, field);
  else
    return false;
  return true;
}

static const char *stage_name(tn_stage_kind kind) { return kind == TN_STAGE_MAP ? "map" : "filter"; }

/* The function a stage names: one of the program's, of one parameter, that reaches no effect. */
static bool check_stage_function(const tn_ail *program, const tn_dataset_stage *stage, tn_span at) {
  const tn_ail_fn *fn = tn_ail_find_fn(program, stage->function);
  bool layer = fn && fn->decl->is_layer;
  if (layer) fn = NULL; /* a stage has nothing to train */
  const tn_map *const maps[] = { &program->functions };
  tn_str name = tn_ail_text_of(program, stage->function), path = program->dataset.path;
  if (!fn) {
    tn_str meant = layer ? TN_LIT("") : tn_ail_suggest(program, stage->function, maps, 1);
    tn_diag_code code =
        stage->kind == TN_STAGE_MAP ? TN_DIAG_E_DATASET_MAP_NOT_FOUND : TN_DIAG_E_DATASET_FILTER_NOT_FOUND;
    if (tn_ail_name_is(&program->tree, stage->function, TN_AIL_NAME_SKIPPED)) return false;
    return tn_report(diags_of(program), code, at, TN_TEXT("function_name", name),
                     TN_STR("stage", stage_name(stage->kind)), TN_TEXT("dataset_path", path),
                     TN_TEXT("suggestion", meant));
  }
  if (fn->decl->param_count != 1) {
    return tn_report(diags_of(program), TN_DIAG_E_FUNCTION_ARITY_MISMATCH, at, TN_INT("expected", 1),
                     TN_INT("received", fn->decl->param_count), TN_TEXT("function_name", name),
                     TN_STR("stage", stage_name(stage->kind)));
  }
  if (fn->effects == 0) return true;
  const char *capability = fn->effects & TN_CAP_CLOCK ? "Clock" : "FileRead";
  return tn_report(diags_of(program), TN_DIAG_E_DATASET_PIPELINE_CAPABILITY_DENIED, at,
                   TN_TEXT("function_name", name), TN_STR("stage", stage_name(stage->kind)),
                   TN_TEXT("dataset_path", path), TN_STR("capability", capability));
}

/* The column of a stage: `tokens`, `labels`, or the input that a column feeds. */
static bool read_stage_column(const tn_ail *program, const tn_ail_call *call, tn_span at, bool *on_labels) {
  const tn_ail_expr *arg = call->count == 1 ? call->args[0].value : NULL;
  if (!arg || arg->form != TN_AIL_EXPR_NAME || call->args[0].key) {
    return tn_ail_report_syntax(program, arg ? arg->at : at,
                                "a stage takes one column: `tokens` or `labels`");
  }
  int features = program->dataset.features_input;
  *on_labels = arg->as.name == program->known.labels || arg->as.name == program->known.label;
  bool known = *on_labels || arg->as.name == program->known.tokens ||
               (features >= 0 && program->inputs[features].name == arg->as.name);
  if (known) return true;
  return tn_report(diags_of(program), TN_DIAG_E_IDENTIFIER_NOT_FOUND, arg->at,
                   TN_TEXT("name", tn_ail_text_of(program, arg->as.name)));
}

static void add_stages(tn_ail *program, tn_dataset_stage *stages, tn_ail_field_kind kind) {
  const tn_ail_fields *fields = program->dataset_fields;
  for (uint32_t i = 0; i < fields->count; i++) {
    const tn_ail_field *field = &fields->fields[i];
    if (field->kind != kind) continue;
    const tn_ail_call *call = field->value->as.call;
    tn_dataset_stage stage = { .kind = kind == TN_AIL_FIELD_MAP ? TN_STAGE_MAP : TN_STAGE_FILTER,
                               .function = call->name,
                               .at = field->value->at };
    bool ok = check_stage_function(program, &stage, call->name_at);
    if (read_stage_column(program, call, field->at, &stage.on_labels) && ok) {
      stages[program->dataset.stage_count++] = stage;
    }
  }
}

static void read_pipeline_batch(tn_ail *program, int64_t *out) {
  const tn_ail_fields *fields = program->dataset_fields;
  bool given = false;
  for (uint32_t i = 0; i < fields->count; i++) {
    tn_ail_field field = fields->fields[i];
    if (field.kind != TN_AIL_FIELD_BATCH) continue;
    if (given) tn_ail_report_syntax(program, field.name_at, "batch is given twice");
    given = true;
    field.name = tn_names_intern(program->host->names, TN_LIT("batch"));
    tn_ail_read_count(program, &field, 1, out);
  }
}

static int features_input(const tn_ail *program) {
  for (size_t i = 0; i < program->input_count; i++) {
    if (program->inputs[i].kind == TN_DATA_TOKEN_IDS) return (int)i;
  }
  for (size_t i = 0; i < program->input_count; i++) {
    if (program->inputs[i].kind == TN_DATA_TENSOR) return (int)i;
  }
  return -1;
}

static void check_dataset(tn_ail *program, int64_t *batch) {
  const tn_ail_fields *fields = program->dataset_fields;
  program->dataset = (tn_dataset_block){ .at = fields->keyword_at,
                                         .split = 1,
                                         .split_at = fields->keyword_at,
                                         .features = { .key = TN_LIT("tokens") },
                                         .labels = { .key = TN_LIT("labels") },
                                         .features_input = features_input(program),
                                         .labels_input = tn_ail_input_named(program, "labels"),
                                         .header = true,
                                         .delimiter = ',' };
  for (uint32_t i = 0; i < fields->count; i++) { /* which fields there are depends on it */
    const tn_ail_field *field = &fields->fields[i];
    if (field->kind == TN_AIL_FIELD && tn_str_is(tn_ail_field_name(program, field), "format"))
      read_format(program, field);
  }
  program->dataset.fed = is_fed(program);
  program->dataset.header_is_default = !tn_ail_has_field(program, fields, "header");
  if (program->dataset.format == TN_DATASET_TSV) program->dataset.delimiter = '\t';
  tn_ail_take_fields(program, TN_AIL_BLOCK_DATASET, fields, take_dataset_field);
  check_shares(program);
  if (!tn_ail_has_field(program, fields, "format"))
    tn_ail_report_missing(program, fields->keyword_at, "a dataset needs a `format`",
                          "such as `format = \"csv\"`; there are csv, tsv, jsonl, npy, npz and text");
  if (!tn_ail_has_field(program, fields, "path"))
    tn_ail_report_missing(program, fields->keyword_at, "a dataset needs a `path`",
                          "such as `path = \"rows.csv\"`");
  tn_dataset_stage *stages = tn_arena_array(&program->arena, fields->count, sizeof *stages);
  if (!stages) return;
  program->dataset.stages = stages;
  add_stages(program, stages, TN_AIL_FIELD_MAP);
  add_stages(program, stages, TN_AIL_FIELD_FILTER);
  read_pipeline_batch(program, batch);
  if (program->dataset.fed) tn_ail_check_feeds(program);
  if (program->dataset.format == TN_DATASET_TEXT) tn_ail_check_text(program);
}

void tn_ail_check_blocks(tn_ail *program) {
  int64_t batch = 4;
  if (program->train_fields) tn_ail_check_train(program);
  if (program->eval_fields) tn_ail_check_eval(program);
  if (program->dataset_fields) check_dataset(program, &batch);
  if (program->train.batch == 0) program->train.batch = batch;
  if (program->train_fields) tn_ail_apply_accumulate(program);
}
