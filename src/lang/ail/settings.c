/* lang/ail/settings.c: `--set`: overrides fields of the train block and constants for a run.
 *
 * A value is parsed like one of the program, from a separate text, and replaces the node in the
 * tree before anything is checked. So the same rules apply to it, and an error is shown in that
 * text. */
#include "lang/ail/blocks.h"
#include "lang/ail/internal.h"

/* ---- what can be set ---- */

static tn_ail_fields *find_train(const tn_ail *program) {
  for (size_t i = 0; i < program->tree.count; i++) {
    if (program->tree.items[i].kind == TN_AIL_ITEM_TRAIN) return program->tree.items[i].as.fields;
  }
  return NULL;
}

typedef bool (*visit_const)(void *context, tn_ail_statement *statement);

/* Every constant, until one makes it stop; that one. */
static tn_ail_statement *each_const(const tn_ail *program, visit_const visit, void *context) {
  for (size_t i = 0; i < program->tree.count; i++) {
    const tn_ail_item *item = &program->tree.items[i];
    bool main = item->kind == TN_AIL_ITEM_MODEL || item->kind == TN_AIL_ITEM_FORWARD;
    if (item->kind == TN_AIL_ITEM_CONST && visit(context, item->as.statement)) return item->as.statement;
    for (uint32_t k = 0; main && k < item->as.block->count; k++) {
      tn_ail_statement *statement = &item->as.block->statements[k];
      if (statement->kind == TN_AIL_CONSTANT && visit(context, statement)) return statement;
    }
  }
  return NULL;
}

static bool has_name(void *context, tn_ail_statement *statement) {
  return statement->name == *(const tn_name *)context;
}

static tn_ail_statement *find_const(const tn_ail *program, tn_name name) {
  return name ? each_const(program, has_name, &name) : NULL;
}

#define CANDIDATES 96

typedef struct {
  const tn_ail *program;
  tn_str names[CANDIDATES];
  size_t count;
} candidates;

static bool add_const_name(void *context, tn_ail_statement *statement) {
  candidates *c = context;
  if (c->count < CANDIDATES) c->names[c->count++] = tn_ail_text_of(c->program, statement->name);
  return false;
}

static bool refuse(const tn_ail *program, tn_str name, const char *problem, tn_str meant, tn_str hint) {
  tn_text message;
  tn_text_init(&message, program->host->heap);
  tn_text_puts(&message, "--set ");
  tn_text_add(&message, name);
  tn_text_puts(&message, ": ");
  tn_text_puts(&message, problem);
  tn_report(program->host->diags, TN_DIAG_E_USAGE, TN_NOWHERE, TN_TEXT("message", tn_text_str(&message)),
            TN_TEXT("suggestion", meant), TN_HINT(hint));
  tn_text_free(&message);
  return false;
}

static bool is_train_field(tn_str name) {
  const char *field;
  for (size_t i = 0; (field = tn_ail_train_field(i)) != NULL; i++) {
    if (tn_str_is(name, field)) return true;
  }
  return false;
}

/* With a similar name, or all of them. */
static bool refuse_listed(const candidates *c, tn_str name) {
  tn_str synonym = tn_ail_field_synonym(name);
  tn_str meant = is_train_field(synonym) ? synonym : tn_str_suggest(name, c->names, c->count);
  tn_text hint;
  tn_text_init(&hint, c->program->host->heap);
  tn_text_puts(&hint, "it can set ");
  for (size_t i = 0; i < c->count; i++) {
    if (i > 0) tn_text_puts(&hint, ", ");
    tn_text_add(&hint, c->names[i]);
  }
  refuse(c->program, name, "the train block has no such field, and the program no such const", meant,
         meant.len > 0 ? TN_LIT("") : tn_text_str(&hint));
  tn_text_free(&hint);
  return false;
}

static bool refuse_unknown(const tn_ail *program, tn_str name, bool is_field) {
  candidates c = { .program = program };
  const char *field;
  if (is_field) return refuse(program, name, "the program has no train block", TN_LIT(""), TN_LIT(""));
  for (size_t i = 0; (field = tn_ail_train_field(i)) != NULL; i++) c.names[c.count++] = tn_str_of(field);
  each_const(program, add_const_name, &c);
  if (tn_str_is(name, "seed"))
    return refuse(program, name, "the seed is an option of its own", TN_LIT(""), TN_LIT("--seed N"));
  if (tn_str_is(name, "loss"))
    return refuse(program, name, "the loss is part of the model; change it in the program", TN_LIT(""),
                  TN_LIT(""));
  return refuse_listed(&c, name);
}

/* ---- setting ---- */

/* A word without quotes is a string, as a shell passes it: optimizer=adam.
 * recursion: as deep as lists nest, which the parser limits. */
static void quote_words(const tn_ail *program, tn_ail_expr *expr) {
  for (uint32_t i = 0; expr->form == TN_AIL_EXPR_LIST && i < expr->as.list.count; i++)
    quote_words(program, expr->as.list.items[i]);
  if (expr->form != TN_AIL_EXPR_NAME || find_const(program, expr->as.name)) return;
  expr->as.text = tn_ail_text_of(program, expr->as.name);
  expr->form = TN_AIL_EXPR_STRING;
}

static bool set_field(tn_ail *program, tn_ail_fields *train, tn_name name, tn_ail_expr *value) {
  for (uint32_t i = 0; i < train->count; i++) {
    if (train->fields[i].kind != TN_AIL_FIELD || train->fields[i].name != name) continue;
    train->fields[i].value = value;
    return true;
  }
  tn_ail_field *fields = tn_arena_array(&program->arena, (size_t)train->count + 1, sizeof *fields);
  if (!fields) return false;
  for (uint32_t i = 0; i < train->count; i++) fields[i] = train->fields[i];
  fields[train->count++] = (tn_ail_field){
    .kind = TN_AIL_FIELD, .name = name, .name_at = value->at, .at = value->at, .value = value
  };
  train->fields = fields;
  return true;
}

/* One that takes the place of another: `epochs` of `steps`, and the other way round. */
static void drop_field(tn_ail *program, tn_ail_fields *train, const char *name) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < train->count; i++) {
    const tn_ail_field *field = &train->fields[i];
    if (field->kind == TN_AIL_FIELD && tn_str_is(tn_ail_text_of(program, field->name), name)) continue;
    train->fields[kept++] = *field;
  }
  train->count = kept;
}

static bool set(tn_ail *program, const tn_setting *setting) {
  tn_name name = tn_names_intern(program->host->names, setting->name);
  tn_ail_fields *train = find_train(program);
  tn_ail_statement *constant = find_const(program, name);
  bool field = is_train_field(setting->name);
  tn_ail_expr *value;
  if (!name || !tn_ail_parse_value(program->host, setting->file, &program->arena, &program->tree, &value))
    return false;
  if (!constant && !(field && train)) refuse_unknown(program, setting->name, field);
  if (!value || (!constant && !(field && train))) return true;
  quote_words(program, value);
  if (!field || !train) {
    constant->value = value;
    return true;
  }
  if (tn_str_is(setting->name, "epochs")) drop_field(program, train, "steps");
  if (tn_str_is(setting->name, "steps")) drop_field(program, train, "epochs");
  return set_field(program, train, name, value);
}

bool tn_ail_apply_settings(tn_ail *program) {
  for (size_t i = 0; i < program->host->setting_count; i++) {
    if (!set(program, &program->host->settings[i])) return false;
  }
  return true;
}
