/* lang/ail/feeds.c: assigns columns of a table, or arrays, to inputs.
 *
 * An input is fed by the column of its name, unless a field of the dataset block
 * says otherwise: `x = ["age", "income"]`, `x = 0-3`, `x = "*"`. Names are
 * written as strings, numbers of columns as numbers. A column of texts becomes
 * tokens: `tokens = words("text")`. What is given by --input is not read. */
#include "lang/ail/internal.h"

#define COLUMN_LIMIT 65536

typedef tn_vec(tn_dataset_pick) picks;

static int input_of(const tn_ail *program, tn_name name) {
  for (size_t i = 0; i < program->input_count; i++) {
    if (program->inputs[i].name == name) return (int)i;
  }
  return -1;
}

bool tn_ail_is_feed(const tn_ail *program, tn_name name) { return input_of(program, name) >= 0; }

static bool is_given(const tn_ail *program, size_t input) {
  tn_str name = tn_ail_text_of(program, program->inputs[input].name);
  return tn_given_find(program->host->inputs, program->host->input_count, name) != NULL;
}

/* ---- columns ---- */

static bool read_number(const tn_ail *program, const tn_ail_expr *expr, uint32_t *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, expr, &value) && value.kind == TN_AIL_CONST_NUMBER && value.is_integer &&
            value.integer >= 0 && value.integer < COLUMN_LIMIT;
  if (ok) *out = (uint32_t)value.integer;
  return ok;
}

/* pick = string | integer | integer "-" integer */
static bool read_pick(const tn_ail *program, const tn_ail_expr *expr, tn_dataset_pick *out) {
  tn_ail_const value;
  const tn_ail_chain *chain = expr->form == TN_AIL_EXPR_CHAIN ? expr->as.chain : NULL;
  *out = (tn_dataset_pick){ 0 };
  if (chain)
    return chain->count == 1 && chain->links[0].op == TN_AIL_SUB &&
           read_number(program, chain->first, &out->first) &&
           read_number(program, chain->links[0].right, &out->last) && out->first <= out->last;
  if (read_number(program, expr, &out->first)) {
    out->last = out->first;
    return true;
  }
  bool named = tn_ail_literal(program, expr, &value) && value.kind == TN_AIL_CONST_TEXT && value.text.len > 0;
  if (named) out->name = value.text;
  return named;
}

static bool is_rest(const tn_ail *program, const tn_ail_expr *expr) {
  tn_ail_const value;
  if (expr->form != TN_AIL_EXPR_STRING || !tn_ail_literal(program, expr, &value)) return false;
  return tn_str_is(value.text, "*");
}

/* One column; nothing is wrong with a list that got no memory. */
static bool is_single(const tn_ail *program, const picks *list) {
  if (program->arena.failed) return true;
  return list->count == 1 && list->at[0].first == list->at[0].last;
}

static bool add_pick(tn_ail *program, const tn_ail_expr *expr, picks *list) {
  tn_dataset_pick pick;
  if (!read_pick(program, expr, &pick)) return false;
  if (!tn_vec_push(program->host->heap, list, pick)) program->arena.failed = true;
  return true;
}

/* columns = pick | "[" pick { "," pick } "]" | "*" */
static bool read_columns(tn_ail *program, const tn_ail_expr *expr, picks *list) {
  if (is_rest(program, expr)) return true;
  if (expr->form != TN_AIL_EXPR_LIST) return add_pick(program, expr, list);
  for (uint32_t i = 0; i < expr->as.list.count; i++) {
    if (!add_pick(program, expr->as.list.items[i], list)) return false;
  }
  return expr->as.list.count > 0;
}


/* ---- texts ---- */

static const char *const text_functions[] = { "", "words", "chars", "bytes", "bpe" };

/* The function of a call that makes tokens of a text, or TN_TOKENS_NUMBERS. */
static tn_dataset_tokens tokens_of(const tn_ail *program, const tn_ail_call *call) {
  tn_str name = tn_ail_text_of(program, call->name);
  for (int i = TN_TOKENS_WORDS; i <= TN_TOKENS_BPE; i++) {
    if (tn_str_is(name, text_functions[i])) return (tn_dataset_tokens)i;
  }
  return TN_TOKENS_NUMBERS;
}

/* size = 1000: a vocabulary has room for padding and the unknown at least. */
static bool read_size(const tn_ail *program, const tn_ail_arg *arg, tn_dataset_feed *feed) {
  tn_ail_const value;
  bool ok = tn_str_is(tn_ail_text_of(program, arg->key), "size") && feed->tokens <= TN_TOKENS_CHARS &&
            tn_ail_literal(program, arg->value, &value) && value.is_integer && value.integer > 2;
  if (ok) feed->size = value.integer;
  return ok;
}

/* texts = ( "words" | "chars" ) "(" pick [ "," "size" "=" integer ] ")" | "bytes" "(" pick ")"
 *       | "bpe" "(" string "," pick ")" */
static bool read_texts(tn_ail *program, const tn_ail_call *call, tn_dataset_feed *feed, picks *list) {
  uint32_t column = 0;
  tn_ail_const path;
  feed->tokens = tokens_of(program, call);
  if (feed->tokens == TN_TOKENS_NUMBERS) return false;
  if (feed->tokens == TN_TOKENS_BPE) {
    bool ok = call->count == 2 && !call->args[0].key && tn_ail_literal(program, call->args[0].value, &path) &&
              path.kind == TN_AIL_CONST_TEXT && path.text.len > 0;
    if (!ok) return false;
    feed->tokenizer = path.text;
    column = 1;
  }
  if (call->count <= column || call->args[column].key) return false;
  bool sized = call->count == column + 2;
  if (sized ? !read_size(program, &call->args[column + 1], feed) : call->count != column + 1) return false;
  return add_pick(program, call->args[column].value, list) && is_single(program, list);
}

static void read_text_feed(tn_ail *program, const tn_ail_expr *expr, tn_dataset_feed *feed, picks *list) {
  if (program->inputs[feed->input].kind != TN_DATA_TOKEN_IDS)
    tn_ail_report_syntax(program, expr->at, "texts become token ids: they feed the input `tokens`");
  else if (!read_texts(program, expr->as.call, feed, list))
    tn_ail_report_syntax(program, expr->at,
                         "texts are words(\"column\"), chars(\"column\"), bytes(\"column\") or "
                         "bpe(\"tokenizer.json\", \"column\"); the first two may have `size = 1000`");
}

/* Keys are names, and all of them are listed. */
static bool are_keys(const picks *list) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->at[i].name.len == 0) return false;
  }
  return list->count > 0;
}

static void read_feed(tn_ail *program, const tn_ail_expr *expr, tn_dataset_feed *feed) {
  bool label = program->inputs[feed->input].kind == TN_DATA_LABELS;
  bool keys = program->dataset.format == TN_DATASET_JSONL, call = expr->form == TN_AIL_EXPR_CALL;
  picks list = { 0 };
  if (call) read_text_feed(program, expr, feed, &list);
  bool ok = call || read_columns(program, expr, &list);
  if (keys && !(ok && (are_keys(&list) || call || program->arena.failed)))
    tn_ail_report_syntax(program, expr->at,
                         "an input is fed by a key or several: \"age\", [\"age\", \"income\"]");
  else if (!ok)
    tn_ail_report_syntax(program, expr->at,
                         "columns are names or numbers from 0: \"age\", 3, 0-3, [\"age\", 3], or \"*\" for "
                         "the rest");
  else if (label && program->inputs[feed->input].type.shape.rank < 2 && !is_single(program, &list))
    tn_ail_report_syntax(program, expr->at, "labels are one column, unless the input is labels [B, T]");
  feed->picks = tn_arena_copy(&program->arena, list.at, list.count * sizeof *list.at);
  feed->pick_count = list.count;
  feed->at = expr->at;
  tn_vec_free(program->host->heap, &list);
}

/* x = "images": the array of that name in an archive. */
static void read_array(tn_ail *program, const tn_ail_expr *expr, tn_dataset_feed *feed) {
  tn_ail_const value;
  tn_dataset_pick pick = { 0 };
  bool named = tn_ail_literal(program, expr, &value) && value.kind == TN_AIL_CONST_TEXT && value.text.len > 0;
  if (named) pick.name = value.text;
  if (program->dataset.format == TN_DATASET_NPY)
    tn_ail_report_syntax(program, expr->at, "an npy file is one array, which has no name");
  else if (!named)
    tn_ail_report_syntax(program, expr->at, "arrays have names: \"images\"");
  feed->picks = tn_arena_copy(&program->arena, &pick, sizeof pick);
  feed->pick_count = 1;
  feed->at = expr->at;
}

/* The column, the array or the key that has the input's name. */
static void feed_by_name(tn_ail *program, tn_dataset_feed *feed) {
  tn_dataset_pick own = { .name = tn_ail_text_of(program, program->inputs[feed->input].name) };
  if (!program->dataset.header && !is_given(program, feed->input))
    tn_ail_report_syntax(program, program->inputs[feed->input].at,
                         "columns without a header have no names: number this input's, as in `x = 0-3`");
  feed->picks = tn_arena_copy(&program->arena, &own, sizeof own);
  feed->pick_count = 1;
  feed->at = program->dataset.at;
}

/* ---- keys ---- */

/* `label` and `labels` are interchangeable. */
static tn_str other_label(tn_str key) {
  if (tn_str_is(key, "label")) return TN_LIT("labels");
  return tn_str_is(key, "labels") ? TN_LIT("label") : TN_LIT("");
}

/* A model without an input `tokens` has its features in the first input of numbers: those of the key
 * `tokens`, or of the input's own name. */
static void feed_by_key(tn_ail *program, tn_dataset_feed *feed) {
  const tn_dataset_block *data = &program->dataset;
  tn_str name = tn_ail_text_of(program, program->inputs[feed->input].name);
  tn_dataset_pick pick = { .name = name };
  if ((int)feed->input == data->features_input) pick.name = data->features.key, feed->other = name;
  if ((int)feed->input == data->labels_input) pick.name = data->labels.key;
  if ((int)feed->input == data->labels_input) feed->other = other_label(pick.name);
  if (tn_str_equal(feed->other, pick.name)) feed->other = TN_LIT("");
  feed->picks = tn_arena_copy(&program->arena, &pick, sizeof pick);
  feed->pick_count = 1;
  feed->at = data->path_at;
}

/* keys = string | "[" string { "," string } "]" */
static void read_keys(tn_ail *program, const tn_ail_expr *expr, tn_dataset_feed *feed) {
  read_feed(program, expr, feed);
  bool label = program->inputs[feed->input].kind == TN_DATA_LABELS;
  if (label && feed->pick_count == 1 && feed->picks) feed->other = other_label(feed->picks[0].name);
}

/* ---- fields ---- */

static const tn_ail_field *field_named(const tn_ail *program, tn_name name) {
  const tn_ail_fields *fields = program->dataset_fields;
  for (uint32_t i = 0; i < fields->count; i++) {
    if (fields->fields[i].kind == TN_AIL_FIELD && fields->fields[i].name == name) return &fields->fields[i];
  }
  return NULL;
}

static void normalize(tn_ail *program, tn_dataset_feed *feeds, const tn_ail_expr *expr) {
  int input = expr->form == TN_AIL_EXPR_NAME ? input_of(program, expr->as.name) : -1;
  if (input < 0 || program->inputs[input].kind != TN_DATA_TENSOR) {
    tn_ail_report_syntax(program, expr->at, "`normalize` lists inputs of numbers, as in `normalize = [x]`");
    return;
  }
  for (size_t i = 0; i < program->dataset.feed_count; i++) {
    if (feeds[i].input == (size_t)input) feeds[i].normalized = true;
  }
}

static void read_normalize(tn_ail *program, tn_dataset_feed *feeds) {
  tn_name name = tn_names_intern(program->host->names, TN_LIT("normalize"));
  const tn_ail_field *field = field_named(program, name);
  if (!field || !field->value) return;
  const tn_ail_expr *value = field->value;
  if (value->form != TN_AIL_EXPR_LIST) normalize(program, feeds, value);
  for (uint32_t i = 0; value->form == TN_AIL_EXPR_LIST && i < value->as.list.count; i++)
    normalize(program, feeds, value->as.list.items[i]);
}

/* What feeds an input: its field, if it has one, or else the column, array or key of its name. */
static void check_feed(tn_ail *program, const tn_ail_expr *value, tn_dataset_feed *feed) {
  switch (program->dataset.format) {
    case TN_DATASET_JSONL: value ? read_keys(program, value, feed) : feed_by_key(program, feed); break;
    case TN_DATASET_CSV:
    case TN_DATASET_TSV: value ? read_feed(program, value, feed) : feed_by_name(program, feed); break;
    default: value ? read_array(program, value, feed) : feed_by_name(program, feed); break;
  }
}

void tn_ail_check_feeds(tn_ail *program) {
  tn_dataset_feed *feeds = tn_arena_array(&program->arena, program->input_count + 1, sizeof *feeds);
  if (!feeds) return;
  if (program->dataset.stage_count > 0)
    tn_ail_report_syntax(program, program->dataset.stages[0].at,
                         "`map` and `filter` work on jsonl and tsv, on features and labels alone");
  for (size_t i = 0; i < program->input_count; i++) {
    tn_dataset_feed *feed = &feeds[program->dataset.feed_count];
    const tn_ail_field *field = field_named(program, program->inputs[i].name);
    feed->input = i;
    check_feed(program, field ? field->value : NULL, feed);
    if (!is_given(program, i)) program->dataset.feed_count++;
  }
  if (program->dataset.format == TN_DATASET_NPY && program->dataset.feed_count > 1)
    tn_ail_report_syntax(program, program->dataset.at,
                         "an npy file is one array, which feeds one input: several arrays are an npz file");
  program->dataset.feeds = feeds;
  read_normalize(program, feeds);
}

/* ---- a whole text ---- */

/* tokens = ( "words" | "chars" ) "(" [ "size" "=" integer ] ")" | "bytes" "(" ")" | "bpe" "(" string ")" */
static bool read_text_tokens(const tn_ail *program, const tn_ail_call *call, tn_dataset_feed *feed) {
  tn_ail_const path;
  feed->tokens = tokens_of(program, call);
  if (feed->tokens == TN_TOKENS_NUMBERS) return false;
  if (feed->tokens != TN_TOKENS_BPE)
    return call->count == 0 ||
           (call->count == 1 && call->args[0].key && read_size(program, &call->args[0], feed));
  bool ok = call->count == 1 && !call->args[0].key && tn_ail_literal(program, call->args[0].value, &path) &&
            path.kind == TN_AIL_CONST_TEXT && path.text.len > 0;
  if (ok) feed->tokenizer = path.text;
  return ok;
}

/* How many tokens a window has: the input says so. */
static int64_t window_of(const tn_tensor_spec *input) {
  const tn_shape *shape = &input->type.shape;
  return shape->rank == 2 && tn_dim_is_known(shape->dim[1]) ? shape->dim[1] : -1;
}

static void check_windows(tn_ail *program, int tokens) {
  int labels = program->dataset.labels_input;
  int64_t window = window_of(&program->inputs[tokens]);
  if (window < 1)
    tn_ail_report_syntax(program, program->inputs[tokens].at,
                         "windows of a text have a length: tokens [B, 64]");
  else if (labels >= 0 && window_of(&program->inputs[labels]) != window)
    tn_ail_report_syntax(program, program->inputs[labels].at,
                         "labels of a text are the next tokens, as many as there are tokens: labels [B, 64]");
}

void tn_ail_check_text(tn_ail *program) {
  int tokens = tn_ail_input_named(program, "tokens");
  tn_dataset_feed *feed = tn_arena_array(&program->arena, 1, sizeof *feed);
  if (!feed) return;
  if (program->dataset.stage_count > 0)
    tn_ail_report_syntax(program, program->dataset.stages[0].at,
                         "`map` and `filter` work on jsonl and tsv, on features and labels alone");
  if (tokens < 0) {
    tn_ail_report_syntax(program, program->dataset.at, "a text feeds the input `tokens`, and there is none");
    return;
  }
  const tn_ail_field *field = field_named(program, program->inputs[tokens].name);
  const tn_ail_expr *value = field ? field->value : NULL;
  *feed = (tn_dataset_feed){ .input = (size_t)tokens, .at = value ? value->at : program->dataset.at };
  if (!value || value->form != TN_AIL_EXPR_CALL || !read_text_tokens(program, value->as.call, feed))
    tn_ail_report_syntax(program, feed->at,
                         "a text has tokens = chars(), words(), bytes() or bpe(\"tokenizer.json\"); the "
                         "first two may have `size = 1000`");
  check_windows(program, tokens);
  program->dataset.feeds = feed;
  program->dataset.feed_count = 1;
}
