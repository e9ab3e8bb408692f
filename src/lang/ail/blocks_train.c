/* lang/ail/blocks_train.c: reads the fields of the train block.
 *
 * A field without effect is refused, because its author expects an effect. */
#include "lang/ail/blocks.h"

static const tn_ail_field *find_field(const tn_ail *program, const char *name) {
  const tn_ail_fields *fields = program->train_fields;
  for (uint32_t i = 0; i < fields->count; i++) {
    const tn_ail_field *field = &fields->fields[i];
    if (field->kind == TN_AIL_FIELD && tn_str_is(tn_ail_field_name(program, field), name)) return field;
  }
  return NULL;
}

/* ---- weight decay by name ---- */

/* `*` matches any text. Linear except for backtracking to the last star. */
static bool matches(tn_str pattern, tn_str name) {
  size_t p = 0, n = 0, star = SIZE_MAX, from = 0;
  while (n < name.len) {
    if (p < pattern.len && pattern.at[p] == '*')
      star = p++, from = n;
    else if (p < pattern.len && pattern.at[p] == name.at[n])
      p++, n++;
    else if (star != SIZE_MAX)
      p = star + 1, n = ++from;
    else
      return false;
  }
  while (p < pattern.len && pattern.at[p] == '*') p++;
  return p == pattern.len;
}

/* A pattern that matches nothing is most likely misspelt. */
static void mark_matches(tn_ail *program, const tn_ail_expr *item, bool *marked) {
  tn_str pattern;
  bool found = false;
  if (!tn_ail_read_word(program, item, &pattern)) {
    tn_ail_report_syntax(program, item->at, "a parameter's name or a pattern as \"b*\" is expected here");
    return;
  }
  for (size_t i = 0; i < program->param_count; i++) {
    if (!matches(pattern, tn_ail_text_of(program, program->params[i].name))) continue;
    marked[i] = found = true;
  }
  if (!found) tn_ail_report_syntax(program, item->at, "no parameter has such a name");
}

/* Either field lists names; what `decay` does not list is exempt, and what `no_decay` lists is. */
static void read_decay(tn_ail *program, const tn_ail_field *field, bool exempt) {
  const tn_ail_expr *list = field->value;
  bool *marked = tn_arena_array(&program->arena, program->param_count + 1, sizeof *marked);
  if (!marked) return;
  if (list->form != TN_AIL_EXPR_LIST || list->as.list.count == 0) {
    tn_ail_ill_typed(program, field, "is a list of parameters, as in `no_decay = [b, \"norm*\"]`");
    return;
  }
  for (uint32_t i = 0; i < list->as.list.count; i++)
    mark_matches(program, list->as.list.items[i], marked);
  for (size_t i = 0; !exempt && i < program->param_count; i++) marked[i] = !marked[i];
  program->train.options.exempt = marked;
  *(exempt ? &program->train.no_decay : &program->train.decay) =
      tn_span_text(program->host->sources, list->at);
}

/* ---- fields ---- */

static void read_beta(const tn_ail *program, const tn_ail_field *field, double *out) {
  tn_ail_const value;
  bool ok = tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_NUMBER;
  if (ok && value.number >= 0 && value.number < 1)
    *out = value.number;
  else
    tn_ail_ill_typed(program, field, "is a number from 0 up to 1, without 1");
}

static bool take_count(tn_ail *program, const tn_ail_field *field, tn_str name) {
  tn_train_block *train = &program->train;
  const struct {
    const char *name;
    int64_t least, *out;
  } counts[] = { { "steps", 1, &train->options.steps },   { "epochs", 1, &train->epochs },
                 { "batch", 1, &train->batch },           { "accumulate", 1, &train->accumulate },
                 { "warmup", 0, &train->options.warmup }, { "shards", 1, &train->options.shards },
                 { "patience", 1, &train->patience } };
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    if (!tn_str_is(name, counts[i].name)) continue;
    tn_ail_read_count(program, field, counts[i].least, counts[i].out);
    return true;
  }
  return false;
}

static bool take_amount(tn_ail *program, const tn_ail_field *field, tn_str name) {
  tn_train_options *train = &program->train.options;
  const struct {
    const char *name;
    double *out;
    bool beta;
  } amounts[] = { { "lr", &train->lr, false },
                  { "min_lr", &train->min_lr, false },
                  { "momentum", &train->momentum, false },
                  { "beta1", &train->beta1, true },
                  { "beta2", &train->beta2, true },
                  { "eps", &train->epsilon, false },
                  { "weight_decay", &train->weight_decay, false },
                  { "clip_norm", &train->clip_norm, false } };
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    if (!tn_str_is(name, amounts[i].name)) continue;
    (amounts[i].beta ? read_beta : tn_ail_read_amount)(program, field, amounts[i].out);
    return true;
  }
  return false;
}

/* 0: the last, 1: the best */
static int find_keep(tn_str name) {
  return tn_str_is(name, "best") ? 1 : tn_str_is(name, "last") ? 0 : -1;
}

static bool take_field(tn_ail *program, const tn_ail_field *field) {
  tn_train_options *train = &program->train.options;
  tn_str name = tn_ail_field_name(program, field);
  if (take_count(program, field, name) || take_amount(program, field, name)) return true;
  if (tn_str_is(name, "loss")) {
    program->loss = field->value;
  } else if (tn_str_is(name, "optimizer")) {
    train->optimizer =
        (tn_optimizer)tn_ail_read_choice(program, field, tn_optimizer_find,
                                         "is \"sgd\", \"momentum\", \"adam\" or \"adamw\"", TN_OPTIMIZER_SGD);
  } else if (tn_str_is(name, "schedule")) {
    train->schedule =
        (tn_schedule)tn_ail_read_choice(program, field, tn_schedule_find,
                                        "is \"constant\", \"cosine\" or \"linear\"", TN_SCHEDULE_CONSTANT);
  } else if (tn_str_is(name, "keep")) {
    program->train.keep_best =
        tn_ail_read_choice(program, field, find_keep, "is \"best\" or \"last\"", 0) == 1;
  } else if (tn_str_is(name, "decay") || tn_str_is(name, "no_decay")) {
    read_decay(program, field, tn_str_is(name, "no_decay"));
  } else {
    return false;
  }
  return true;
}

/* ---- fields without effect ---- */

static void require(const tn_ail *program, const char *name, bool met, const char *what) {
  const tn_ail_field *field = find_field(program, name);
  if (field && !met) tn_ail_ill_typed(program, field, what);
}

static void check_effects(const tn_ail *program) {
  const tn_train_options *train = &program->train.options;
  bool adam = train->optimizer == TN_OPTIMIZER_ADAM || train->optimizer == TN_OPTIMIZER_ADAMW;
  const char *needs_adam = "needs `optimizer = \"adam\"` or `\"adamw\"`";
  require(program, "momentum", train->optimizer == TN_OPTIMIZER_MOMENTUM,
          "needs `optimizer = \"momentum\"`");
  require(program, "beta1", adam, needs_adam);
  require(program, "beta2", adam, needs_adam);
  require(program, "eps", adam, needs_adam);
  require(program, "min_lr", train->schedule != TN_SCHEDULE_CONSTANT,
          "needs `schedule = \"cosine\"` or `\"linear\"`");
  require(program, "min_lr", train->min_lr <= train->lr, "is at most `lr`");
  require(program, "decay", train->weight_decay > 0, "needs `weight_decay`");
  require(program, "no_decay", train->weight_decay > 0, "needs `weight_decay`");
  require(program, "no_decay", !find_field(program, "decay"), "and `decay` exclude each other");
  require(program, "epochs", !find_field(program, "steps"), "and `steps` exclude each other");
  const char *needs_eval = "needs an eval block, whose first metric decides";
  require(program, "patience", program->eval_fields != NULL, needs_eval);
  require(program, "keep", program->eval_fields != NULL, needs_eval);
  require(program, "epochs", program->dataset_fields != NULL, "needs a dataset, whose rows it counts");
}

void tn_ail_check_train(tn_ail *program) {
  program->train = (tn_train_block){
    .at = program->train_fields->keyword_at,
    .accumulate = 1,
    .options = { .steps = 200, .lr = 0.1, .momentum = 0.9, TN_ADAM_DEFAULTS, .shards = 1 }
  };
  tn_ail_take_fields(program, TN_AIL_BLOCK_TRAIN, program->train_fields, take_field);
  check_effects(program);
  if (!find_field(program, "keep")) program->train.keep_best = program->train.patience > 0;
  if (program->train.epochs > 0) program->train.options.steps = 0; /* the data decides */
}

/* A step with `accumulate = k` is a step of k times the rows in k times the shards. */
void tn_ail_apply_accumulate(tn_ail *program) {
  tn_train_block *train = &program->train;
  int64_t k = train->accumulate;
  if (train->batch > INT64_MAX / k || train->options.shards > INT64_MAX / k) {
    tn_ail_ill_typed(program, find_field(program, "accumulate"), "makes a step of too many rows");
    return;
  }
  train->batch *= k;
  train->options.shards *= k;
}
