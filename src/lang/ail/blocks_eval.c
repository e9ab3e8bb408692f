/* lang/ail/blocks_eval.c: reads the fields of the eval block, and checks its metrics.
 *
 * Metrics of classes compare logits with the input `labels`. Metrics of numbers compare the output with its
 * target: the input that the loss names. */
#include "lang/ail/blocks.h"

static tn_diags *diags_of(const tn_ail *program) { return program->host->diags; }

/* ---- fields ---- */

static void add_metric(tn_ail *program, tn_metric *list, const tn_metric *metric) {
  for (size_t i = 0; i < program->eval.metric_count; i++) {
    if (tn_metric_same(&list[i], metric)) return;
  }
  list[program->eval.metric_count++] = *metric;
}

static void read_metric(tn_ail *program, const tn_ail_expr *item, tn_metric *list) {
  tn_metric metric;
  tn_str word;
  if (!tn_ail_read_word(program, item, &word)) word = tn_ail_source_text(program, item->at);
  if (!tn_metric_find(word, &program->arena, &metric)) {
    tn_report(diags_of(program), TN_DIAG_E_EVAL_UNKNOWN_METRIC, item->at, TN_TEXT("metric", word),
              TN_TEXT("suggestion", tn_metric_suggest(word)));
    return;
  }
  metric.at = item->at;
  if (program->eval.metric_count < TN_METRIC_LIMIT) {
    add_metric(program, list, &metric);
    return;
  }
  tn_report(diags_of(program), TN_DIAG_E_TOO_LARGE, item->at, TN_STR("what", "the list of metrics"),
            TN_INT("limit", TN_METRIC_LIMIT));
}

static void read_metrics(tn_ail *program, const tn_ail_field *field) {
  const tn_ail_expr *list = field->value;
  tn_metric *metrics = tn_arena_array(&program->arena, TN_METRIC_LIMIT, sizeof *metrics);
  if (list->form != TN_AIL_EXPR_LIST) {
    tn_ail_ill_typed(program, field, "is a list, as in `metrics = [loss, acc]`");
    return;
  }
  if (!metrics) return;
  program->eval.metrics = metrics;
  if (list->as.list.count == 0) tn_report_plain(diags_of(program), TN_DIAG_E_EVAL_METRICS_REQUIRED, list->at);
  for (uint32_t i = 0; i < list->as.list.count; i++) read_metric(program, list->as.list.items[i], metrics);
}

static void read_every(tn_ail *program, const tn_ail_field *field) {
  tn_ail_const value;
  bool ok =
      tn_ail_literal(program, field->value, &value) && value.kind == TN_AIL_CONST_NUMBER && value.is_integer;
  if (ok && value.integer >= 1) {
    program->eval.every = value.integer;
    return;
  }
  tn_field every =
      ok ? TN_INT("every", value.integer) : TN_TEXT("every", tn_ail_source_text(program, field->value->at));
  tn_report(diags_of(program), TN_DIAG_E_EVAL_INVALID_EVERY, field->value->at, every);
}

static void read_split(tn_ail *program, const tn_ail_field *field) {
  const tn_str known[] = { TN_LIT("train"), TN_LIT("val") };
  tn_str word;
  if (!tn_ail_read_word(program, field->value, &word)) word = tn_ail_source_text(program, field->value->at);
  program->eval.on_train = tn_str_is(word, "train");
  if (program->eval.on_train || tn_str_is(word, "val")) return;
  tn_report(diags_of(program), TN_DIAG_E_EVAL_INVALID_SPLIT, field->value->at, TN_TEXT("split", word),
            TN_TEXT("suggestion", tn_str_suggest(word, known, 2)));
}

static bool take_field(tn_ail *program, const tn_ail_field *field) {
  tn_str name = tn_ail_field_name(program, field);
  if (tn_str_is(name, "metrics"))
    read_metrics(program, field);
  else if (tn_str_is(name, "every"))
    read_every(program, field);
  else if (tn_str_is(name, "split"))
    read_split(program, field);
  else
    return false;
  return true;
}

void tn_ail_check_eval(tn_ail *program) {
  program->eval = (tn_eval_block){ .at = program->eval_fields->keyword_at, .every = 20, .target = -1 };
  tn_ail_take_fields(program, TN_AIL_BLOCK_EVAL, program->eval_fields, take_field);
  if (!tn_ail_has_field(program, program->eval_fields, "metrics")) {
    tn_report_plain(diags_of(program), TN_DIAG_E_EVAL_METRICS_REQUIRED, program->eval_fields->keyword_at);
  }
}

/* ---- the target of numbers ---- */

#define NO_TARGET   (-1) /* the loss names no input */
#define TWO_TARGETS (-2) /* it names several */

/* A name that the expression reads. */
static void add_names(const tn_ail *program, const tn_ail_expr *expr, int *target);

static void add_name(const tn_ail *program, tn_name name, int *target) {
  for (size_t i = 0; i < program->input_count; i++) {
    if (program->inputs[i].name != name) continue;
    *target = *target == NO_TARGET || *target == (int)i ? (int)i : TWO_TARGETS;
  }
}

static void add_items(const tn_ail *program, tn_ail_expr *const *items, uint32_t count, int *target) {
  for (uint32_t i = 0; i < count; i++) add_names(program, items[i], target);
}

/* The parts of a loss: neither conditions nor loops. */
static void add_names(const tn_ail *program, const tn_ail_expr *expr, int *target) {
  if (!expr || !tn_stack_room(&program->host->heap->stack)) return;
  switch (expr->form) {
    case TN_AIL_EXPR_NAME: add_name(program, expr->as.name, target); break;
    case TN_AIL_EXPR_CALL:
      for (uint32_t i = 0; i < expr->as.call->count; i++)
        add_names(program, expr->as.call->args[i].value, target);
      break;
    case TN_AIL_EXPR_CHAIN:
      add_names(program, expr->as.chain->first, target);
      for (uint32_t i = 0; i < expr->as.chain->count; i++)
        add_names(program, expr->as.chain->links[i].right, target);
      break;
    case TN_AIL_EXPR_NEGATE:
    case TN_AIL_EXPR_NOT: add_names(program, expr->as.unary.of, target); break;
    case TN_AIL_EXPR_LIST: add_items(program, expr->as.list.items, expr->as.list.count, target); break;
    default: break;
  }
}

/* What a name is bound to in the model; NULL: nothing, or not there. */
static const tn_ail_expr *bound_to(const tn_ail *program, tn_name name) {
  const tn_ail_expr *found = NULL;
  for (uint32_t i = 0; program->main && i < program->main->count; i++) {
    const tn_ail_statement *s = &program->main->statements[i];
    if ((s->kind == TN_AIL_ASSIGN || s->kind == TN_AIL_LET) && s->name == name) found = s->value;
  }
  return found;
}

/* The input that the loss names, in the train block, in the loss block, or in the model where the loss is a
 * name of it. */
static int find_target(const tn_ail *program) {
  int target = NO_TARGET;
  const tn_ail_expr *loss = program->loss;
  if (loss && loss->form == TN_AIL_EXPR_NAME && bound_to(program, loss->as.name))
    loss = bound_to(program, loss->as.name);
  add_names(program, loss, &target);
  for (uint32_t i = 0; !program->loss && program->loss_block && i < program->loss_block->count; i++)
    add_names(program, program->loss_block->statements[i].value, &target);
  return target;
}

/* ---- whether a metric has a meaning ---- */

/* What is compared: shapes with names, or with lengths once those are known. */
typedef struct {
  const tn_ail *program;
  const tn_shape *prediction;
  const tn_shape *target; /* NULL: there is none */
  tn_text *reason;
} meaning;

static void put_shape(const meaning *m, const tn_shape *shape) {
  tn_shape_print(shape, m->program->host->names, TN_SHAPE_COMMA, m->reason);
}

static bool differs(int64_t a, int64_t b) { return tn_dim_is_known(a) && tn_dim_is_known(b) && a != b; }

static bool counts_differ(const meaning *m) {
  for (int i = 0; i < m->target->rank; i++) {
    if (differs(m->prediction->dim[i], m->target->dim[i])) return true;
  }
  return false;
}

/* Each true after writing why it has none. */
static bool refuses_classes(const meaning *m, const tn_metric *metric) {
  const tn_shape *logits = m->prediction;
  int64_t classes = logits->rank > 0 ? logits->dim[logits->rank - 1] : 0;
  if (!m->target || tn_ail_input_named(m->program, "labels") < 0) {
    tn_text_puts(m->reason, "there is no input `labels` to compare with");
  } else if (logits->rank < 2 || logits->rank != m->target->rank + 1 || classes == 1) {
    tn_text_puts(m->reason, "it needs one logit per class for each row, [rows, classes], and the shape is ");
    put_shape(m, logits);
  } else if (counts_differ(m)) {
    tn_text_puts(m->reason, "there are logits for ");
    tn_text_int(m->reason, logits->dim[0]);
    tn_text_puts(m->reason, " and labels for ");
    tn_text_int(m->reason, m->target->dim[0]);
  } else if (metric->kind == TN_METRIC_TOP && tn_dim_is_known(classes) && metric->k >= classes) {
    tn_text_puts(m->reason, "there are only ");
    tn_text_int(m->reason, classes);
    tn_text_puts(m->reason, " classes, so that it is always 1");
  } else {
    return false;
  }
  return true;
}

static bool refuses_numbers(const meaning *m) {
  const tn_eval_block *eval = &m->program->eval;
  bool same = m->target && m->target->rank == m->prediction->rank && !counts_differ(m);
  if (eval->classifies) {
    tn_text_puts(m->reason, "the loss compares logits with labels, and a class is not a quantity");
  } else if (!m->target) {
    tn_text_puts(m->reason, eval->target == TWO_TARGETS
                                ? "the loss names several inputs, and one must be the target"
                                : "the loss names no input that the output is compared with");
  } else if (!same) {
    tn_text_puts(m->reason, "the output has the shape ");
    put_shape(m, m->prediction);
    tn_text_puts(m->reason, " and its target ");
    put_shape(m, m->target);
  } else {
    return false;
  }
  return true;
}

/* "these fit: loss, mae, rmse, r2" */
static void write_hint(const meaning *m, tn_text *hint) {
  meaning quiet = *m;
  tn_metric accuracy = { .kind = TN_METRIC_ACCURACY };
  tn_text ignored;
  tn_text_init(&ignored, m->program->host->heap);
  quiet.reason = &ignored;
  bool classes = !refuses_classes(&quiet, &accuracy), numbers = !refuses_numbers(&quiet);
  tn_text_puts(hint, classes || numbers ? "these fit: " : "`metrics = [loss]` evaluates the loss alone");
  if (classes || numbers) tn_metric_list(classes ? TN_NEEDS_CLASSES : TN_NEEDS_NUMBERS, hint);
  tn_text_free(&ignored);
}

static void refuse(const meaning *m, const tn_metric *metric) {
  tn_text hint;
  tn_text_init(&hint, m->program->host->heap);
  write_hint(m, &hint);
  tn_report(diags_of(m->program), TN_DIAG_E_EVAL_UNKNOWN_METRIC, metric->at,
            TN_TEXT("metric", metric->written), TN_TEXT("reason", tn_text_str(m->reason)),
            TN_HINT(tn_text_str(&hint)));
  tn_text_free(&hint);
}

bool tn_ail_check_metrics(const tn_ail *program, const tn_shape *prediction, const tn_shape *target) {
  tn_text reason;
  bool ok = true;
  tn_text_init(&reason, program->host->heap);
  meaning m = { program, prediction, target, &reason };
  for (size_t i = 0; program->eval_fields && i < program->eval.metric_count; i++) {
    const tn_metric *metric = &program->eval.metrics[i];
    tn_metric_needs needs = tn_metric_needs_of(metric->kind);
    tn_text_clear(&reason);
    bool refused = needs == TN_NEEDS_CLASSES ? refuses_classes(&m, metric)
                                             : needs == TN_NEEDS_NUMBERS && refuses_numbers(&m);
    if (refused) refuse(&m, metric);
    ok = ok && !refused;
  }
  tn_text_free(&reason);
  return ok;
}

/* Metrics of classes and of numbers never fit the same output, so one target is enough. */
void tn_ail_find_target(tn_ail *program, bool classifies) {
  tn_eval_block *eval = &program->eval;
  int labels = tn_ail_input_named(program, "labels");
  bool numbers = false;
  for (size_t i = 0; i < eval->metric_count; i++)
    numbers = numbers || tn_metric_needs_of(eval->metrics[i].kind) == TN_NEEDS_NUMBERS;
  eval->classifies = classifies;
  eval->target = classifies || !numbers ? labels : find_target(program);
}
