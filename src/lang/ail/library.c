/* lang/ail/library.c: the built-in operations and how they are called.
 *
 * The reference names seventeen; the rest of the table of operations can be
 * called by its own names. An argument is a value, or something that must be
 * known before the program runs: a whole number, a shape. Those may be constants
 * and loop variables too. Every argument can be given by its name. */
#include <string.h>

#include "base/number.h"
#include "lang/ail/library.h"

/* ---- the table ---- */

#define T(n)                                                                                                 \
  { n, TN_AIL_ARG_TENSOR, false }
#define I(n)                                                                                                 \
  { n, TN_AIL_ARG_INT, false }
#define OPT(n, k)                                                                                            \
  { n, TN_AIL_ARG_##k, true }
#define ARG(n, k)                                                                                            \
  { n, TN_AIL_ARG_##k, false }
#define UNARY(n, o)                                                                                          \
  {                                                                                                          \
    n, TN_OP_##o, tn_ail_make_plain, { T("x") }                                                              \
  }
#define BINARY(n, o)                                                                                         \
  {                                                                                                          \
    n, TN_OP_##o, tn_ail_make_plain, { T("a"), T("b") }                                                      \
  }
#define COMPARE(n, o)                                                                                        \
  {                                                                                                          \
    n, TN_OP_##o, tn_ail_make_compare, { T("a"), T("b") }                                                    \
  }
#define REDUCE(n, o)                                                                                         \
  {                                                                                                          \
    n, TN_OP_##o, tn_ail_make_reduce, { T("x"), OPT("axes", INTS), OPT("keepdims", FLAG) }                   \
  }
#define SCAN(n, o)                                                                                           \
  {                                                                                                          \
    n, TN_OP_##o, tn_ail_make_scan, {                                                                        \
      T("x"), OPT("axis", INT), OPT("reverse", FLAG), OPT("exclusive", FLAG)                                 \
    }                                                                                                        \
  }

/* Those that take plain tensors, and reductions, are defined in ops.def. */
#define AIL_UNARY(n, o)   UNARY(n, o),
#define AIL_BINARY(n, o)  BINARY(n, o),
#define AIL_COMPARE(n, o) COMPARE(n, o),
#define AIL_REDUCE(n, o)  REDUCE(n, o),
#define AIL_SCAN(n, o)    SCAN(n, o),
static const tn_ail_builtin builtins[] = {
#define TN_OP(id, ...) __VA_ARGS__
#define TN_AIL(...)    __VA_ARGS__
#include "op/ops.def"
  /* those with arguments of their own */
  { "softmax", TN_OP_SOFTMAX, tn_ail_make_along, { T("x"), OPT("axis", INT) } },
  { "embedding", TN_OP_EMBEDDING, tn_ail_make_embedding, { ARG("tokens", IDS), T("weight") } },
  { "linear", TN_OP_MATMUL, tn_ail_make_linear, { T("x"), T("W"), OPT("b", TENSOR) } },
  { "dropout", TN_OP_DROPOUT, tn_ail_make_dropout, { T("x"), ARG("p", NUMBER) } },
  { "meanpool", TN_OP_MEAN_POOL_TIME, tn_ail_make_pool, { T("x") } },
  { "mean_pool_time", TN_OP_MEAN_POOL_TIME, tn_ail_make_pool, { T("x") } },
  { "cross_entropy", TN_OP_CROSS_ENTROPY, tn_ail_make_cross_entropy, { T("logits"), ARG("labels", LABELS) } },
  { "xent", TN_OP_CROSS_ENTROPY, tn_ail_make_cross_entropy, { T("logits"), ARG("labels", LABELS) } },
  { "concat", TN_OP_CONCAT, tn_ail_make_concat, { I("axis"), T("a"), T("b") } },
  { "slice_rows", TN_OP_SLICE, tn_ail_make_slice_rows, { T("x"), I("start"), I("len") } },
  { "gather_rows", TN_OP_GATHER, tn_ail_make_gather_rows, { T("x"), ARG("indices", IDS) } },
  { "reshape", TN_OP_RESHAPE, tn_ail_make_reshape, { T("x"), ARG("shape", SHAPE) } },
  { "now", TN_OP_HOST, tn_ail_make_now, { { 0 } } },
  { "read_file_text", TN_OP_HOST, tn_ail_make_read_file_text, { ARG("path", TEXT) } },
  { "argmax", TN_OP_ARGMAX, tn_ail_make_argmax, { T("x"), OPT("axis", INT), OPT("keepdims", FLAG) } },
  { "log_softmax", TN_OP_LOG_SOFTMAX, tn_ail_make_along, { T("x"), OPT("axis", INT) } },
  { "layer_norm",
    TN_OP_LAYER_NORM,
    tn_ail_make_layer_norm,
    { T("x"), T("gamma"), T("beta"), OPT("eps", NUMBER) } },
  { "transpose", TN_OP_TRANSPOSE, tn_ail_make_transpose, { T("x"), OPT("axes", INTS) } },
  { "squeeze", TN_OP_SQUEEZE, tn_ail_make_squeeze, { T("x"), OPT("axes", INTS) } },
  { "expand_dims", TN_OP_EXPAND_DIMS, tn_ail_make_expand_dims, { T("x"), I("axis") } },
  { "broadcast_to", TN_OP_BROADCAST_TO, tn_ail_make_broadcast_to, { T("x"), ARG("shape", SHAPE) } },
  { "pad", TN_OP_PAD, tn_ail_make_pad, { T("x"), ARG("before", INTS), ARG("after", INTS) } },
  { "slice", TN_OP_SLICE, tn_ail_make_slice, { T("x"), I("axis"), I("start"), I("end"), OPT("step", INT) } },
  { "index", TN_OP_INDEX, tn_ail_make_index, { T("x"), I("axis"), I("place") } },
  { "gather", TN_OP_GATHER, tn_ail_make_gather, { T("x"), ARG("indices", IDS), OPT("axis", INT) } },
  { "scatter_add",
    TN_OP_SCATTER_ADD,
    tn_ail_make_scatter_add,
    { T("x"), ARG("indices", IDS), T("y"), OPT("axis", INT) } },
  { "one_hot", TN_OP_ONE_HOT, tn_ail_make_one_hot, { ARG("indices", IDS), I("classes") } },
  { "conv2d",
    TN_OP_CONV2D,
    tn_ail_make_conv2d,
    { T("x"), T("w"), OPT("stride", INTS), OPT("padding", TEXT), OPT("groups", INT) } },
  { "patches", TN_OP_PATCHES, tn_ail_make_patches, { T("x"), ARG("window", INTS), OPT("stride", INTS) } },
  /* made of others: no operation of the table is theirs */
  BINARY("mse", MSE_LOSS),
  { "mae", TN_OP_ERROR, tn_ail_make_mae, { T("a"), T("b") } },
  { "mae_loss", TN_OP_ERROR, tn_ail_make_mae, { T("a"), T("b") } },
  { "huber", TN_OP_ERROR, tn_ail_make_huber, { T("a"), T("b"), OPT("delta", NUMBER) } },
  { "huber_loss", TN_OP_ERROR, tn_ail_make_huber, { T("a"), T("b"), OPT("delta", NUMBER) } },
  { "rms_norm", TN_OP_ERROR, tn_ail_make_rms_norm, { T("x"), T("gamma"), OPT("eps", NUMBER) } },
  { "group_norm",
    TN_OP_ERROR,
    tn_ail_make_group_norm,
    { T("x"), I("groups"), T("gamma"), T("beta"), OPT("eps", NUMBER) } },
  { "instance_norm",
    TN_OP_ERROR,
    tn_ail_make_instance_norm,
    { T("x"), T("gamma"), T("beta"), OPT("eps", NUMBER) } },
  { "maxpool", TN_OP_ERROR, tn_ail_make_maxpool, { T("x") } },
  { "maxpool2d", TN_OP_ERROR, tn_ail_make_maxpool2d, { T("x"), ARG("window", INTS), OPT("stride", INTS) } },
  { "meanpool2d", TN_OP_ERROR, tn_ail_make_meanpool2d, { T("x"), ARG("window", INTS), OPT("stride", INTS) } },
  { "causal", TN_OP_ERROR, tn_ail_make_causal, { T("scores") } },
  { "attention",
    TN_OP_ERROR,
    tn_ail_make_attention,
    { T("q"), T("k"), T("v"), OPT("heads", INT), OPT("causal", FLAG) } },
  { "select", TN_OP_SELECT, tn_ail_make_select, { ARG("condition", BOOLEAN), T("a"), T("b") } },
  { "fill", TN_OP_FILL, tn_ail_make_fill, { ARG("shape", SHAPE), ARG("value", NUMBER) } },
  { "iota", TN_OP_IOTA, tn_ail_make_iota, { ARG("shape", SHAPE), OPT("axis", INT) } },
  { "uniform", TN_OP_UNIFORM, tn_ail_make_random, { I("seed"), ARG("shape", SHAPE) } },
  { "normal", TN_OP_NORMAL, tn_ail_make_random, { I("seed"), ARG("shape", SHAPE) } },
};

#define BUILTIN_COUNT (sizeof builtins / sizeof builtins[0])

const tn_ail_builtin *tn_ail_builtins(size_t *count) {
  *count = BUILTIN_COUNT;
  return builtins;
}

/* A program calls few of them: they are looked up by text once, and later by name. Where memory
 * runs out, the next call looks by the text again. */
int tn_ail_builtin_named(tn_ail *program, tn_name name) {
  const uint64_t *known = tn_map_get(&program->builtins, name);
  if (known) return (int)*known;
  tn_str text = name ? tn_ail_text_of(program, name) : TN_LIT("");
  for (size_t i = 0; text.len > 0 && i < BUILTIN_COUNT; i++) {
    if (builtins[i].name[0] != text.at[0] || !tn_str_is(text, builtins[i].name)) continue;
    tn_map_put(&program->builtins, name, i);
    return (int)i;
  }
  return -1;
}

/* In the order of the table, so that a suggestion does not depend on the calls before it. */
void tn_ail_list_builtins(tn_ail *program) {
  tn_map_clear(&program->builtins);
  for (size_t i = 0; i < BUILTIN_COUNT; i++) {
    tn_name name = tn_names_intern(program->host->names, tn_str_of(builtins[i].name));
    if (name == 0 || !tn_map_put(&program->builtins, name, i)) return;
  }
}

uint32_t tn_ail_builtin_effect(size_t index) {
  if (builtins[index].make == tn_ail_make_now) return TN_CAP_CLOCK;
  return builtins[index].make == tn_ail_make_read_file_text ? TN_CAP_FILEREAD : 0;
}

bool tn_ail_builtin_is_dropout(size_t index) { return builtins[index].op == TN_OP_DROPOUT; }

/* ---- refusing ---- */

bool tn_ail_make_refuse(tn_ail_make *m, const char *expected, tn_str got) {
  return tn_ail_say(m->w, TN_DIAG_E_INVALID_ARGUMENTS, m->site.at,
                    tn_ail_function_field(&m->site, m->builtin->op), TN_STR("expected", expected),
                    TN_TEXT("got", got));
}

/* "a whole number for `axis`" */
static bool refuse_for(tn_ail_make *m, int i, const char *what, tn_str got) {
  tn_text expected;
  tn_text_init(&expected, m->w->program->host->heap);
  tn_text_puts(&expected, what);
  tn_text_puts(&expected, " for `");
  tn_text_puts(&expected, m->builtin->params[i].name);
  tn_text_puts(&expected, "`");
  tn_ail_make_refuse(m, expected.failed ? what : expected.at, got);
  tn_text_free(&expected);
  return false;
}

/* The same, and what the program has there. */
static bool refuse_argument(tn_ail_make *m, int i, const char *what) {
  return refuse_for(m, i, what, tn_ail_source_text(m->w->program, m->given[i]->at));
}

/* ---- reading arguments ---- */

tn_value tn_ail_make_tensor(tn_ail_make *m, int i) {
  return tn_ail_as_tensor(m->w, tn_ail_make_operand(m, i), &m->site, m->given[i]->at);
}

/* A number that is known now: a literal to the last digit, anything else in f32. */
static bool known_number(const tn_ail_make *m, const tn_ail_expr *expr, const tn_ail_operand *operand,
                         double *out) {
  tn_ail_const literal;
  if (!operand->constant || operand->kind != TN_DATA_TENSOR) return false;
  bool exact = expr->form != TN_AIL_EXPR_NAME || !tn_ail_lookup(m->w, expr->as.name);
  bool number = exact && tn_ail_literal(m->w->program, expr, &literal) && literal.kind == TN_AIL_CONST_NUMBER;
  *out = number ? literal.number : (double)operand->number;
  return true;
}

static bool known_int(const tn_ail_make *m, const tn_ail_expr *expr, const tn_ail_operand *operand,
                      int64_t *out) {
  double number;
  if (!known_number(m, expr, operand, &number) || !(number >= -9e15 && number <= 9e15)) return false;
  *out = (int64_t)number;
  return (double)*out == number;
}

bool tn_ail_make_int(tn_ail_make *m, int i, int64_t fallback, int64_t *out) {
  *out = fallback;
  if (!m->given[i]) return true;
  if (known_int(m, m->given[i], tn_ail_make_operand(m, i), out)) return true;
  return refuse_argument(m, i, "a constant whole number");
}

bool tn_ail_make_number(tn_ail_make *m, int i, double fallback, double *out) {
  *out = fallback;
  if (!m->given[i]) return true;
  if (known_number(m, m->given[i], tn_ail_make_operand(m, i), out)) return true;
  return refuse_argument(m, i, "a constant number");
}

bool tn_ail_make_flag(tn_ail_make *m, int i, bool *out) {
  const tn_ail_operand *operand = tn_ail_make_operand(m, i);
  *out = false;
  if (!m->given[i]) return true;
  *out = operand->number != 0.0f;
  bool known = operand->constant && operand->kind == TN_DATA_BOOLEAN;
  return known ? true : refuse_argument(m, i, "true or false");
}

bool tn_ail_make_text(tn_ail_make *m, int i, tn_str *out) {
  const tn_ail_operand *operand = tn_ail_make_operand(m, i);
  if (!m->given[i]) return true;
  if (!operand->is_text) return refuse_argument(m, i, "a string");
  *out = *operand->text;
  return true;
}

bool tn_ail_make_ints(tn_ail_make *m, int i, int64_t *out, int *count) {
  const tn_ail_expr *expr = m->given[i];
  *count = -1;
  if (!expr) return true;
  *count = 1;
  if (expr->form != TN_AIL_EXPR_LIST) return tn_ail_make_int(m, i, 0, out);
  if (expr->as.list.count > TN_RANK_LIMIT) return refuse_argument(m, i, "at most 8 whole numbers");
  *count = (int)expr->as.list.count;
  for (int k = 0; k < *count; k++) {
    const tn_ail_expr *item = expr->as.list.items[k];
    tn_ail_operand operand = tn_ail_evaluate(m->w, item);
    if (operand.wrong) return false;
    if (!known_int(m, item, &operand, &out[k])) return refuse_argument(m, i, "constant whole numbers");
  }
  return true;
}

/* ---- matching arguments to parameters ---- */

static void count_params(const tn_ail_builtin *builtin, int *least, int *most) {
  *least = *most = 0;
  for (int i = 0; builtin->params[i].name; i++) {
    ++*most;
    if (!builtin->params[i].optional) *least = *most;
  }
}

static bool refuse_count(tn_ail_make *m, int least, int most, uint32_t got) {
  tn_text expected;
  tn_text_init(&expected, m->w->program->host->heap);
  tn_text_int(&expected, least);
  if (most > least) {
    tn_text_puts(&expected, most == least + 1 ? " or " : " to ");
    tn_text_int(&expected, most);
  }
  tn_ail_say(m->w, TN_DIAG_E_INVALID_ARGUMENTS, m->site.at, tn_ail_function_field(&m->site, m->builtin->op),
             TN_TEXT("expected", tn_text_str(&expected)), TN_INT("got", got));
  tn_text_free(&expected);
  return false;
}

static int param_named(const tn_ail_builtin *builtin, tn_str name) {
  for (int i = 0; builtin->params[i].name; i++) {
    if (tn_str_is(name, builtin->params[i].name)) return i;
  }
  return -1;
}

static bool match(tn_ail_make *m, const tn_ail_call *call) {
  int least, most, position = 0;
  count_params(m->builtin, &least, &most);
  if (call->count > (uint32_t)most) return refuse_count(m, least, most, call->count);
  for (uint32_t i = 0; i < call->count; i++) {
    const tn_ail_arg *arg = &call->args[i];
    tn_str key = tn_ail_text_of(m->w->program, arg->key);
    int at = arg->key ? param_named(m->builtin, key) : position++;
    if (at < 0) return tn_ail_make_refuse(m, "no argument of this name", key);
    if (m->given[at])
      return tn_ail_make_refuse(m, "each argument once", tn_str_of(m->builtin->params[at].name));
    m->given[at] = arg->value;
  }
  if (call->count < (uint32_t)least) return refuse_count(m, least, most, call->count);
  for (int i = 0; i < least; i++) {
    if (!m->given[i]) return refuse_for(m, i, "a value", TN_LIT("none"));
  }
  return true;
}

/* An undeclared name is of kind unknown to an operation that has its own code for it. */
static tn_ail_operand eval_ids(tn_ail_walk *w, const tn_ail_expr *expr) {
  bool name = expr->form == TN_AIL_EXPR_NAME && !tn_ail_lookup(w, expr->as.name) &&
              !tn_ail_find_const(w->program, expr->as.name) &&
              !tn_ail_name_is(&w->program->tree, expr->as.name, TN_AIL_NAME_SKIPPED);
  if (!name || w->open_names || w->outside) return tn_ail_evaluate(w, expr);
  return (
      tn_ail_operand){ .kind = TN_DATA_UNKNOWN, .value = TN_NO_VALUE, .origin = expr->as.name, .input = -1 };
}

static tn_ail_operand eval_argument(tn_ail_make *m, int i) {
  const tn_ail_expr *expr = m->given[i];
  tn_ail_arg_kind kind = m->builtin->params[i].kind;
  if (!expr) return tn_ail_wrong();
  bool list = kind == TN_AIL_ARG_SHAPE || kind == TN_AIL_ARG_INTS;
  if (list && expr->form == TN_AIL_EXPR_LIST) return tn_ail_of_number(0); /* read by who makes it */
  if (kind == TN_AIL_ARG_LABELS || m->builtin->op == TN_OP_EMBEDDING) return eval_ids(m->w, expr);
  return tn_ail_evaluate(m->w, expr);
}

static bool eval_arguments(tn_ail_make *m) {
  bool ok = true;
  for (int i = 0; m->builtin->params[i].name; i++) {
    tn_ail_operand operand = eval_argument(m, i);
    if (m->given[i] && operand.wrong) ok = false;
    if (!tn_vec_push(m->w->program->host->heap, &m->w->stack, operand)) {
      m->w->failed = m->w->stopped = m->w->program->arena.failed = true;
      return false;
    }
  }
  return ok;
}

tn_ail_operand tn_ail_eval_builtin(tn_ail_walk *w, size_t builtin, const tn_ail_expr *expr) {
  const tn_ail_call *call = expr->as.call;
  tn_ail_make m = { .w = w, .builtin = &builtins[builtin], .first = w->stack.count };
  m.site = (tn_ail_site){ .at = expr->at, .written = tn_ail_text_of(w->program, call->name) };
  tn_ail_operand result = tn_ail_wrong();
  if (!match(&m, call)) {
    for (uint32_t i = 0; i < call->count; i++) { /* there may be more to say */
      if (call->args[i].value->form != TN_AIL_EXPR_LIST) tn_ail_evaluate(w, call->args[i].value);
    }
  } else if (eval_arguments(&m) && !w->stopped) {
    result = m.builtin->make(&m);
  }
  w->stack.count = m.first;
  return result;
}
