/* lang/ail/structure.c: collects the blocks and declarations of a program.
 *
 * A program may be written in almost any order. Constants come first, because
 * shapes and fields use them; then functions and declarations, those at the top
 * level before the model's. A duplicate is reported and its first version kept, so that one error
 * does not hide others. */
#include <string.h>

#include "base/utf8.h"
#include "lang/ail/constant.h"
#include "lang/ail/declare.h"

static tn_diags *diags_of(const tn_ail *program) { return program->host->diags; }

bool tn_ail_report_syntax(const tn_ail *program, tn_span at, const char *message) {
  return tn_ail_report_missing(program, at, message, "");
}

bool tn_ail_report_missing(const tn_ail *program, tn_span at, const char *message, const char *hint) {
  return tn_report(diags_of(program), TN_DIAG_E_SYNTAX_ERROR, at, TN_LINE("line", at), TN_COLUMN("col", at),
                   TN_STR("message", message), TN_HINT(tn_str_of(hint)));
}

#define FIELD_TEXT_BYTES 60

tn_str tn_ail_source_text(const tn_ail *program, tn_span at) {
  tn_str text = tn_utf8_clip(tn_span_text(program->host->sources, at), FIELD_TEXT_BYTES);
  const char *line_end = text.len ? memchr(text.at, '\n', text.len) : NULL;
  if (line_end) text.len = (size_t)(line_end - text.at);
  return text;
}

/* Suggestions are a courtesy: they are given while there are few errors and looked for among the
 * names that were seen first, so that a broken program of any size is refused quickly. */
#define SUGGESTION_NAMES  256
#define SUGGESTION_ERRORS 50

bool tn_ail_may_suggest(const tn_ail *program) { return diags_of(program)->errors <= SUGGESTION_ERRORS; }

tn_str tn_ail_suggest(const tn_ail *program, tn_name wrong, const tn_map *const *maps, size_t count) {
  tn_str candidates[SUGGESTION_NAMES];
  size_t found = 0;
  if (!tn_ail_may_suggest(program)) return TN_LIT("");
  for (size_t m = 0; m < count; m++) {
    for (size_t i = 0; i < maps[m]->count && found < SUGGESTION_NAMES; i++) {
      candidates[found++] = tn_ail_text_of(program, (tn_name)maps[m]->entries[i].key);
    }
  }
  return tn_str_suggest(tn_ail_text_of(program, wrong), candidates, found);
}

/* ---- constants ---- */

const tn_ail_const *tn_ail_find_const(const tn_ail *program, tn_name name) {
  const uint64_t *index = tn_map_get(&program->consts, name);
  return index ? &program->const_list[*index] : NULL;
}

const tn_ail_fn *tn_ail_find_fn(const tn_ail *program, tn_name name) {
  const uint64_t *index = tn_map_get(&program->functions, name);
  return index ? &program->fn_list[*index] : NULL;
}

static bool number_literal(const tn_ail_expr *expr, tn_ail_const *out) {
  bool minus = false;
  if (expr->form == TN_AIL_EXPR_NEGATE) {
    minus = expr->as.unary.count % 2 != 0;
    expr = expr->as.unary.of;
  }
  if (expr->form != TN_AIL_EXPR_NUMBER) return false;
  out->kind = TN_AIL_CONST_NUMBER;
  out->is_integer = expr->is_integer;
  out->integer = expr->is_integer ? expr->as.number.integer : 0;
  out->number = expr->is_integer ? (double)out->integer : expr->as.number.value;
  if (minus) out->integer = -out->integer, out->number = -out->number;
  return true;
}

bool tn_ail_literal(const tn_ail *program, const tn_ail_expr *expr, tn_ail_const *out) {
  *out = (tn_ail_const){ .kind = TN_AIL_CONST_BROKEN };
  if (!expr) return false; /* it was not understood */
  if (number_literal(expr, out)) return true;
  bool minus = expr->form == TN_AIL_EXPR_NEGATE && expr->as.unary.count % 2 != 0;
  if (expr->form == TN_AIL_EXPR_NEGATE) expr = expr->as.unary.of;
  if (expr->form == TN_AIL_EXPR_NAME) {
    const tn_ail_const *constant = tn_ail_find_const(program, expr->as.name);
    if (!constant || (minus && constant->kind != TN_AIL_CONST_NUMBER)) return false;
    *out = *constant;
    if (minus) out->integer = -out->integer, out->number = -out->number;
    return true;
  }
  if (minus) return false;
  if (expr->form == TN_AIL_EXPR_STRING) {
    *out = (tn_ail_const){ .kind = TN_AIL_CONST_TEXT, .text = expr->as.text };
  } else if (expr->form == TN_AIL_EXPR_BOOL) {
    *out = (tn_ail_const){ .kind = TN_AIL_CONST_BOOL, .number = expr->as.truth, .integer = expr->as.truth };
  }
  return out->kind != TN_AIL_CONST_BROKEN;
}

static bool add_const(tn_ail *program, const tn_ail_statement *statement) {
  if (tn_map_get(&program->consts, statement->name)) {
    tn_report(diags_of(program), TN_DIAG_E_CONST_REDECLARED, statement->name_at,
              TN_TEXT("name", tn_ail_text_of(program, statement->name)));
    return true;
  }
  tn_ail_const *constant = &program->const_list[program->const_count];
  *constant = (tn_ail_const){ .kind = TN_AIL_CONST_BROKEN, .name = statement->name, .decl = statement };
  if (!statement->value) constant->state = TN_AIL_CONST_KNOWN; /* it was not understood */
  return tn_map_put(&program->consts, statement->name, program->const_count++);
}

static bool is_main(tn_ail_item_kind kind) {
  return kind == TN_AIL_ITEM_MODEL || kind == TN_AIL_ITEM_FORWARD;
}

static bool collect_consts(tn_ail *program) {
  const tn_ail_tree *tree = &program->tree;
  size_t most = 0;
  for (size_t i = 0; i < tree->count; i++)
    most += is_main(tree->items[i].kind) ? tree->items[i].as.block->count : 1;
  program->const_list = tn_arena_array(&program->arena, most, sizeof *program->const_list);
  if (!program->const_list) return false;
  for (size_t i = 0; i < tree->count; i++) {
    const tn_ail_item *item = &tree->items[i];
    if (item->kind == TN_AIL_ITEM_CONST && !add_const(program, item->as.statement)) return false;
    for (uint32_t s = 0; is_main(item->kind) && s < item->as.block->count; s++) {
      const tn_ail_statement *statement = &item->as.block->statements[s];
      if (statement->kind == TN_AIL_CONSTANT && !add_const(program, statement)) return false;
    }
  }
  return tn_ail_resolve_constants(program);
}

/* ---- functions ---- */

static void check_params(const tn_ail *program, const tn_ail_function *function) {
  for (uint32_t i = 1; i < function->param_count && i < 1000; i++) {
    for (uint32_t k = 0; k < i; k++) {
      if (function->params[k].name != function->params[i].name) continue;
      tn_ail_report_syntax(program, function->params[i].at, "two parameters have the same name");
      break;
    }
  }
}

/* The params of a layer: each once, and none is an argument. */
static void check_layer_params(const tn_ail *program, const tn_ail_function *function) {
  tn_map names;
  bool ok = true;
  tn_map_init(&names, program->host->heap);
  for (uint32_t i = 0; ok && i < function->param_count; i++)
    ok = tn_map_put(&names, function->params[i].name, 1);
  for (uint32_t i = 0; ok && i < function->body.count; i++) {
    const tn_ail_statement *statement = &function->body.statements[i];
    if (statement->kind != TN_AIL_PARAM) continue;
    if (tn_map_get(&names, statement->name))
      tn_ail_report_syntax(program, statement->name_at,
                           "an argument or a param of this name is already declared");
    ok = tn_map_put(&names, statement->name, 1);
  }
  tn_map_free(&names);
}

/* Up to the line that is the value: params may follow it. */
static uint32_t lines_of(const tn_ail_block *body) {
  uint32_t count = body->count;
  while (count > 0 && body->statements[count - 1].kind == TN_AIL_PARAM) count--;
  return count;
}

/* The last line is the value; only assignments precede it, and params in a layer. */
static void check_body(const tn_ail *program, const tn_ail_function *function) {
  const tn_ail_block *body = &function->body;
  uint32_t count = lines_of(body);
  if (function->is_layer) check_layer_params(program, function);
  if (count == 0) {
    tn_report(diags_of(program), TN_DIAG_E_FUNCTION_EMPTY_BODY, function->name_at,
              TN_TEXT("function_name", tn_ail_text_of(program, function->name)));
  }
  for (uint32_t i = 0; i + 1 < count; i++) {
    const tn_ail_statement *statement = &body->statements[i];
    if (statement->kind == TN_AIL_RETURN) {
      tn_ail_report_syntax(program, body->statements[i + 1].at, "nothing follows `return` in a function");
      return;
    }
    if (statement->kind == TN_AIL_VALUE) {
      tn_ail_report_syntax(program, statement->at,
                           "only the last line of a function is a value by itself; "
                           "give this one a name");
    }
  }
}

static bool collect_functions(tn_ail *program) {
  const tn_ail_tree *tree = &program->tree;
  program->fn_list = tn_arena_array(&program->arena, tree->count, sizeof *program->fn_list);
  if (!program->fn_list) return false;
  for (size_t i = 0; i < tree->count; i++) {
    if (tree->items[i].kind != TN_AIL_ITEM_FUNCTION) continue;
    tn_ail_function *function = tree->items[i].as.function;
    check_params(program, function);
    check_body(program, function);
    if (tn_map_get(&program->functions, function->name)) {
      tn_report(diags_of(program), TN_DIAG_E_FUNCTION_DUPLICATE_NAME, function->name_at,
                TN_TEXT("function_name", tn_ail_text_of(program, function->name)));
      continue;
    }
    program->fn_list[program->fn_count].decl = function;
    if (!tn_map_put(&program->functions, function->name, program->fn_count++)) return false;
  }
  return true;
}

/* ---- declarations ---- */

static bool collect_specs(tn_ail *program) {
  const tn_ail_tree *tree = &program->tree;
  size_t most = tree->count + (program->main ? program->main->count : 0);
  program->inputs = tn_arena_array(&program->arena, most, sizeof *program->inputs);
  if (!program->inputs) return false;
  for (size_t i = 0; i < tree->count; i++) {
    const tn_ail_item *item = &tree->items[i];
    if (item->kind == TN_AIL_ITEM_DECLARATION && !tn_ail_declare(program, item->as.statement)) return false;
  }
  for (uint32_t i = 0; program->main && i < program->main->count; i++) {
    if (!tn_ail_declare(program, &program->main->statements[i])) return false;
  }
  return true;
}

/* ---- blocks ---- */

/* Whether this is the first of its kind; reports a second. */
static bool first_block(const tn_ail *program, const void *there, tn_diag_code code, tn_span at,
                        const char *block) {
  if (!there) return true;
  return tn_report(diags_of(program), code, at, TN_STR("block", block));
}

static void take_main(tn_ail *program, const tn_ail_item *item) {
  bool forward = item->kind == TN_AIL_ITEM_FORWARD;
  tn_diag_code code = forward ? TN_DIAG_E_DUPLICATE_FORWARD_BLOCK : TN_DIAG_E_DUPLICATE_MODEL_BLOCK;
  const char *block = forward ? "forward" : "model";
  if (!first_block(program, program->main, code, item->as.block->keyword_at, block)) return;
  program->main = item->as.block;
  program->is_forward = forward;
}

static void take_fields(const tn_ail *program, tn_ail_fields **place, const tn_ail_item *item,
                        tn_diag_code code, const char *block) {
  if (first_block(program, *place, code, item->as.fields->keyword_at, block)) *place = item->as.fields;
}

static void take_train(tn_ail *program, const tn_ail_item *item) {
  take_fields(program, &program->train_fields, item, TN_DIAG_E_DUPLICATE_TRAIN_BLOCK, "train");
  if (program->main) return;
  for (size_t i = 0; i < program->tree.count; i++) {
    if (!is_main(program->tree.items[i].kind)) continue;
    tn_ail_report_syntax(program, item->as.fields->keyword_at, "the train block must follow the model");
    return;
  }
}

static void take_eval(tn_ail *program, const tn_ail_item *item) {
  take_fields(program, &program->eval_fields, item, TN_DIAG_E_DUPLICATE_EVAL_BLOCK, "eval");
  if (program->train_fields) return;
  for (size_t i = 0; i < program->tree.count; i++) {
    if (program->tree.items[i].kind != TN_AIL_ITEM_TRAIN) continue;
    tn_ail_report_syntax(program, item->as.fields->keyword_at,
                         "the eval block must follow the train block");
    return;
  }
  tn_report_plain(diags_of(program), TN_DIAG_E_EVAL_REQUIRES_TRAIN, item->as.fields->keyword_at);
}

static void take_state_machine(tn_ail *program, const tn_ail_item *item) {
  if (!program->state_machine)
    program->state_machine = item->as.state_machine;
  else
    tn_ail_report_syntax(program, item->as.state_machine->keyword_at, "a program has one state machine");
}

static void take_item(tn_ail *program, const tn_ail_item *item) {
  switch (item->kind) {
    case TN_AIL_ITEM_MODEL:
    case TN_AIL_ITEM_FORWARD: take_main(program, item); break;
    case TN_AIL_ITEM_TRAIN: take_train(program, item); break;
    case TN_AIL_ITEM_EVAL: take_eval(program, item); break;
    case TN_AIL_ITEM_DATASET:
      take_fields(program, &program->dataset_fields, item, TN_DIAG_E_DUPLICATE_DATASET_BLOCK, "dataset");
      break;
    case TN_AIL_ITEM_LOSS:
      if (first_block(program, program->loss_block, TN_DIAG_E_DUPLICATE_LOSS_BLOCK,
                      item->as.block->keyword_at, "loss")) {
        program->loss_block = item->as.block;
      }
      break;
    case TN_AIL_ITEM_STATE:
      if (first_block(program, program->variables, TN_DIAG_E_DUPLICATE_STATE_BLOCK,
                      item->as.variables->keyword_at, "state")) {
        program->variables = item->as.variables;
      }
      break;
    case TN_AIL_ITEM_FUNCTION:
      if (program->main)
        tn_ail_report_syntax(program, item->as.function->name_at,
                             item->as.function->is_layer ? "layers must precede the model"
                                                         : "functions must precede the model");
      break;
    case TN_AIL_ITEM_STATE_MACHINE: take_state_machine(program, item); break;
    case TN_AIL_ITEM_APP_BEGIN: program->app = item->as.app; break;
    default: break;
  }
}

/* ---- what must be there ---- */

static bool is_broken(const tn_ail_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    if (block->statements[i].kind == TN_AIL_BROKEN) return true;
  }
  return false;
}

static void check_returns(const tn_ail *program, const tn_ail_block *block, const char *missing) {
  for (uint32_t i = 0; i < block->count; i++) {
    if (block->statements[i].kind != TN_AIL_RETURN) continue;
    if (i + 1 < block->count) {
      tn_ail_report_syntax(program, block->statements[i + 1].at, "nothing follows `return` in this block");
    }
    return;
  }
  if (!is_broken(block)) tn_ail_report_syntax(program, block->close_at, missing);
}

static void check_model(const tn_ail *program) {
  const tn_ail_block *block = program->main;
  for (uint32_t i = 0; i < block->count; i++) {
    if (block->statements[i].kind == TN_AIL_ASSIGN || block->statements[i].kind == TN_AIL_LET) return;
  }
  if (!is_broken(block)) {
    tn_report(diags_of(program), TN_DIAG_E_MODEL_EMPTY, block->keyword_at, TN_STR("block", "model"));
  }
}

/* A program of handlers or of a state machine alone needs no model; any other does. */
static void check_main(const tn_ail *program) {
  bool trains =
      program->train_fields || program->eval_fields || program->dataset_fields || program->loss_block;
  if (program->main || program->tree.broken) return;
  if ((program->state_machine || program->handler_count > 0) && !trains) return;
  tn_span at = { program->file, 0, 0 };
  if (program->tree.count > 0) at = program->tree.items[0].at;
  at.end = at.start;
  tn_ail_report_missing(program, at, "a program needs a model block",
                        "such as `model { x [B, 4] y = relu(x) }`");
}

static bool is_field(const tn_ail_fields *fields, tn_name name) {
  for (uint32_t i = 0; fields && i < fields->count; i++) {
    bool broken = fields->fields[i].kind == TN_AIL_FIELD_BROKEN;
    if (broken || (fields->fields[i].kind == TN_AIL_FIELD && fields->fields[i].name == name)) return true;
  }
  return false;
}

static void check_blocks_present(const tn_ail *program) {
  check_main(program);
  if (program->main && program->is_forward) {
    check_returns(program, program->main, "a forward block ends with `return`");
  } else if (program->main) {
    check_model(program);
  }
  if (program->loss_block) check_returns(program, program->loss_block, "a loss block ends with `return`");
  if (program->train_fields && !program->loss_block &&
      !is_field(program->train_fields, program->known.loss)) {
    tn_report(diags_of(program), TN_DIAG_E_TRAIN_REQUIRES_LOSS, program->train_fields->keyword_at,
              TN_STR("block", "train"));
  }
}

/* ---- apps ---- */

static bool take_variable(tn_ail *program, const tn_ail_variable *decl) {
  tn_str type = tn_ail_text_of(program, decl->type);
  tn_ail_var var = { .name = decl->name, .kind = TN_DATA_TENSOR, .type = TN_AIL_STATE_TENSOR, .decl = decl };
  if (tn_map_get(&program->var_index, decl->name)) {
    tn_report(diags_of(program), TN_DIAG_E_STATE_REDECLARED, decl->name_at,
              TN_TEXT("var_name", tn_ail_text_of(program, decl->name)));
    return true;
  }
  if (tn_str_is(type, "int")) {
    var.type = TN_AIL_STATE_INT;
  } else if (tn_str_is(type, "float")) {
    var.type = TN_AIL_STATE_FLOAT;
  } else if (!tn_str_is(type, "tensor")) {
    const tn_str known[] = { TN_LIT("int"), TN_LIT("float"), TN_LIT("tensor") };
    tn_report(diags_of(program), TN_DIAG_E_STATE_TYPE_INVALID, decl->type_at, TN_TEXT("type", type),
              TN_TEXT("suggestion", tn_str_suggest(type, known, 3)));
  }
  program->vars[program->var_count] = var;
  return tn_map_put(&program->var_index, decl->name, program->var_count++);
}

static bool collect_app(tn_ail *program) {
  const tn_ail_tree *tree = &program->tree;
  const tn_ail_variables *variables = program->variables;
  program->handlers = tn_arena_array(&program->arena, tree->count, sizeof *program->handlers);
  program->vars = tn_arena_array(&program->arena, variables ? variables->count : 0, sizeof *program->vars);
  if (!program->handlers || !program->vars) return false;
  for (uint32_t i = 0; variables && i < variables->count; i++) {
    if (!take_variable(program, &variables->variables[i])) return false;
  }
  for (size_t i = 0; i < tree->count; i++) {
    if (tree->items[i].kind != TN_AIL_ITEM_HANDLER) continue;
    const tn_ail_handler *handler = tree->items[i].as.handler;
    if (tn_map_get(&program->handler_index, handler->event)) {
      tn_report(diags_of(program), TN_DIAG_E_EVENT_DUPLICATE, handler->event_at,
                TN_TEXT("event_name", tn_ail_text_of(program, handler->event)));
      continue;
    }
    program->handlers[program->handler_count] = handler;
    if (!tn_map_put(&program->handler_index, handler->event, program->handler_count++)) return false;
  }
  return true;
}

bool tn_ail_collect(tn_ail *program) {
  for (size_t i = 0; i < program->tree.count; i++) take_item(program, &program->tree.items[i]);
  tn_diags_enter(program->host->diags, TN_PHASE_CHECK);
  if (!collect_app(program)) return false;
  tn_diags_enter(program->host->diags, TN_PHASE_PARSE);
  check_blocks_present(program);
  tn_diags_enter(program->host->diags, TN_PHASE_CHECK);
  return collect_consts(program) && collect_functions(program) && collect_specs(program);
}
