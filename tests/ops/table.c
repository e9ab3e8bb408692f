/* Every operation of the table, through every way to ask for it.
 *
 * An operation has one graph here, of constant operands. It is run by the reference kernels and by those of
 * this machine, written as MLIR and as ONNX, and said in each language; every answer must be that of the
 * reference kernels, and what cannot be done must be refused with a diagnostic. Operations whose operands and
 * spellings follow the pattern of their kind need nothing here: their programs are made from the tables. The
 * others have a card. One that has neither fails by its name.
 *
 *   test_table                 the test
 *   test_table --write FOLDER  the graphs, a file for each operation, for {mlir,onnx}/operations
 *
 * ops/kernels compares kernels at length, ops/gradients the reverse and forward derivatives of every row. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lang/ail/library.h"
#include "lang/mind/library.h"
#include "op/op.h"
#include "tern/tern.h"

enum { AIL, MIND, NINTH, LANGUAGES };
static const tern_language languages[LANGUAGES] = { TERN_LANG_AIL, TERN_LANG_MIND, TERN_LANG_NINTH };

typedef struct {
  const char *name, *dims; /* "2,3" */
  int limit;               /* f32; or whole numbers below this */
} operand;

typedef struct {
  tn_op op;
  operand in[3];
  const char *graph;                /* lines; %r is the result */
  const char *program[LANGUAGES];   /* NULL: the language does not offer it */
  bool refused;                     /* wherever it is asked for */
} card;

#define X { "x", "2,3", 0 }
#define Y { "y", "2,3", 0 }
#define TOKENS(n) { "tokens", "4", n }

#define BRANCH                                                                                               \
  "%s = sum %x\n  %t = sum %y\n  %c = lt %s, %t\n"                                                          \
  "  %i = if %c {\n    yield %x\n  } else {\n    yield %y\n  }\n  %r = pick %i {index=0}"
#define CHOICE { "if sum(x) < sum(y) then x else y", "if sum(x) < sum(y) { x } else { y }", NULL }

#define TRUTHS                                                                                               \
  "%s = sum %x\n  %t = sum %y\n  %a = lt %s, %t\n  %b = gt %s, %t\n  "
#define LOGIC(ail, mind)                                                                                     \
  { "(sum(x) < sum(y)) " ail " (sum(x) > sum(y))",                                                           \
    "sum(x) * 0.0 + (if sum(x) < sum(y) " mind " sum(x) > sum(y) { 1.0 } else { 0.0 })", NULL }

static const card cards[] = {
  /* sources */
  { TN_OP_INPUT, { X }, "%r = neg %x", { "-x", NULL, NULL }, false },
  { TN_OP_PARAM, { X }, "%r = neg %x", { NULL, NULL, "x [VAR] [NEG]" }, false },
  { TN_OP_CONST, { X }, "%r = neg %x", { NULL, "-x", "x [NEG]" }, false },
  { TN_OP_FILL, { X }, "%r = fill {dtype=f32, shape=[2, 3], number=1}",
    { "fill([2, 3], 1)", "full((2, 3), 1.0)", "2 3 [ONES]" }, false },
  { TN_OP_IOTA, { X }, "%r = iota {dtype=f32, shape=[3], axis=0}",
    { "iota([3])", "arange(0.0, 3.0)", "3 [RANGE]" }, false },
  { TN_OP_UNIFORM, { X }, "%k = const {value=i64[] [42]}\n  %r = uniform %k {shape=[2, 3]}",
    { "uniform(42, [2, 3])", "rand((2, 3))", NULL }, false },
  { TN_OP_NORMAL, { X }, "%k = const {value=i64[] [42]}\n  %r = normal %k {shape=[2, 3]}",
    { "normal(42, [2, 3])", "randn((2, 3))", "2 3 [RANDN]" }, false },
  { TN_OP_HOST, { X }, "%r = host {name=\"now\", dtype=f64, shape=[]}", { "now()", "now()", NULL }, true },
  /* elementwise */
  { TN_OP_CAST, { X }, "%r = cast %x {dtype=f64}", { NULL, "cast(x, f64)", NULL }, false },
  { TN_OP_SELECT, { X, Y }, "%c = lt %x, %y\n  %r = select %c, %x, %y",
    { "select(x < y, x, y)", "where(x < y, x, y)", NULL }, false },
  { TN_OP_AND, { X, Y }, TRUTHS "%r = and %a, %b", LOGIC("and", "&&"), false },
  { TN_OP_OR, { X, Y }, TRUTHS "%r = or %a, %b", LOGIC("or", "||"), false },
  { TN_OP_NOT, { X, Y }, TRUTHS "%r = not %a",
    { "not (sum(x) < sum(y))", "sum(x) * 0.0 + (if !(sum(x) < sum(y)) { 1.0 } else { 0.0 })",
      "x [SUM] y [SUM] [LT] [NOT]" }, false },
  { TN_OP_DROPOUT, { X }, "%k = const {value=i64[] [42]}\n  %r = dropout %x, %k {number=0}",
    { "dropout(x, 0)", NULL, NULL }, false },
  { TN_OP_FUSED, { X }, "%y = neg %x\n  %r = exp %y", { "exp(-x)", "exp(-x)", "x [NEG] [EXP]" }, false },
  /* arranging */
  { TN_OP_RESHAPE, { X }, "%r = reshape %x {shape=[3, 2]}",
    { "reshape(x, [3, 2])", "reshape(x, (3, 2))", "x (3 2) [RESHAPE]" }, false },
  { TN_OP_TRANSPOSE, { X }, "%r = transpose %x", { "transpose(x)", "transpose(x)", "x [TRANSPOSE]" }, false },
  { TN_OP_BROADCAST_TO, { X }, "%r = broadcast_to %x {shape=[2, 2, 3]}",
    { "broadcast_to(x, [2, 2, 3])", NULL, NULL }, false },
  { TN_OP_SLICE, { X }, "%r = slice %x {low=[0, 0], high=[2, 3], step=[1, 2]}",
    { "slice(x, 1, 0, 3, 2)", "slice(x, 1, 0, 3, 2)",
      "x 0 1 1 [SLICE] x 2 3 1 [SLICE] 1 [CONCAT]" }, false },
  { TN_OP_PAD, { X }, "%r = pad %x {low=[1, 0], high=[0, 2]}", { "pad(x, [1, 0], [0, 2])", NULL, NULL },
    false },
  { TN_OP_CONCAT, { X, Y }, "%r = concat %x, %y {axis=1}",
    { "concat(1, x, y)", "concat([x, y], axis=1)", "x y 1 [CONCAT]" }, false },
  { TN_OP_SQUEEZE, { { "x", "2,1,3", 0 } }, "%r = squeeze %x",
    { "squeeze(x)", "squeeze(x)", "x [SQUEEZE]" }, false },
  { TN_OP_EXPAND_DIMS, { X }, "%r = expand_dims %x {axis=1}",
    { "expand_dims(x, 1)", "expand_dims(x, 1)", "x 1 [UNSQUEEZE]" }, false },
  { TN_OP_FLATTEN, { X }, "%r = flatten %x", { "flatten(x)", "flatten(x)", "x [FLATTEN]" }, false },
  { TN_OP_STACK, { X, Y }, "%r = stack %x, %y {axis=0}", { NULL, "stack([x, y])", NULL }, false },
  { TN_OP_INDEX, { X }, "%r = index %x {axis=0, index=1}",
    { "index(x, 0, 1)", "index(x, 0, 1)", "x 1 [INDEX]" }, false },
  /* indices */
  { TN_OP_GATHER, { X, TOKENS(2) }, "%r = gather %x, %tokens {axis=0}",
    { "gather(x, tokens)", "gather(x, tokens)", "x tokens 0 [GATHER]" }, false },
  { TN_OP_SCATTER_ADD, { X, TOKENS(2), { "z", "4,3", 0 } }, "%r = scatter_add %x, %tokens, %z {axis=0}",
    { "scatter_add(x, tokens, z)", NULL, NULL }, false },
  { TN_OP_ROW_UPDATE, { X, TOKENS(2), { "z", "4,3", 0 } },
    "%s = fill {dtype=f32, shape=[], number=0.5}\n  %r = row_update %x, %tokens, %z, %s",
    { NULL, NULL, NULL }, false },
  { TN_OP_EMBEDDING, { X, TOKENS(2) }, "%r = embedding %tokens, %x", { "embedding(tokens, x)", NULL, NULL },
    false },
  { TN_OP_ONE_HOT, { TOKENS(3) }, "%r = one_hot %tokens {index=3, dtype=f32}",
    { "one_hot(tokens, 3)", NULL, "tokens 3 [ONE_HOT]" }, false },
  /* windows */
  { TN_OP_PATCHES, { { "x", "1,3,3,1", 0 } }, "%r = patches %x {window=[2, 2]}",
    { "patches(x, [2, 2])", NULL, NULL }, false },
  { TN_OP_FOLD, { { "x", "1,3,3,1", 0 } },
    "%p = patches %x {window=[2, 2]}\n  %r = fold %p {window=[2, 2], shape=[1, 3, 3, 1]}",
    { NULL, NULL, NULL }, false },
  { TN_OP_CONV2D, { { "x", "1,3,3,1", 0 }, { "w", "2,2,1,2", 0 } }, "%r = conv2d %x, %w",
    { "conv2d(x, w)", "conv2d(x, w)", NULL }, false },
  /* along axes */
  { TN_OP_ELEMENTS, { X }, "%r = count %x {axes=[0, 1], dtype=f32}", { NULL, NULL, NULL }, false },
  { TN_OP_ARGMAX, { X }, "%r = argmax %x {axis=1}", { "argmax(x, 1)", "argmax(x, 1)", "x [ARGMAX]" }, false },
  { TN_OP_CUMSUM, { X }, "%r = cumsum %x {axis=1}", { "cumsum(x, 1)", NULL, NULL }, false },
  { TN_OP_CUMPROD, { X }, "%r = cumprod %x {axis=1}", { "cumprod(x, 1)", NULL, NULL }, false },
  { TN_OP_SOFTMAX, { X }, "%r = softmax %x {axis=1}", { "softmax(x)", "softmax(x)", "x [SOFTMAX]" }, false },
  { TN_OP_LOG_SOFTMAX, { X }, "%r = log_softmax %x {axis=1}", { "log_softmax(x)", "log_softmax(x)", NULL },
    false },
  { TN_OP_LAYER_NORM, { X, { "y", "3", 0 }, { "z", "3", 0 } }, "%r = layer_norm %x, %y, %z {number=0.5}",
    { "layer_norm(x, y, z, 0.5)", "layer_norm(x, y, z, eps=0.5)", NULL }, false },
  { TN_OP_LAYER_NORM_GRAD, { X, { "y", "3", 0 } }, "%r = layer_norm_grad %x, %y, %x {number=0.5}",
    { NULL, NULL, NULL }, false },
  { TN_OP_MEAN_POOL_TIME, { { "x", "2,2,3", 0 } }, "%r = mean_pool_time %x",
    { "mean_pool_time(x)", NULL, NULL }, false },
  { TN_OP_CROSS_ENTROPY, { { "x", "4,3", 0 }, { "labels", "4", 3 } }, "%r = cross_entropy %x, %labels",
    { "cross_entropy(x, labels)", "cross_entropy(x, labels)", "x labels [CROSS_ENTROPY]" }, false },
  { TN_OP_MSE_LOSS, { X, Y }, "%r = mse_loss %x, %y",
    { "mse_loss(x, y)", "mse_loss(x, y)", "x y [MSE_LOSS]" }, false },
  /* contraction */
  { TN_OP_MATMUL, { X, { "y", "3,2", 0 } }, "%r = matmul %x, %y", { "matmul(x, y)", "x @ y", "x y [MATMUL]" },
    false },
  { TN_OP_ATTENTION, { { "x", "2,4", 0 }, { "y", "3,4", 0 }, { "z", "3,2", 0 } },
    "%r = attention %x, %y, %z {index=2, causal=true}",
    { "attention(x, y, z, 2, true)", "attention(x, y, z, heads=2, causal=true)",
      "x y z 2 1 [ATTENTION]" }, false },
  { TN_OP_ATTENTION_GRAD, { { "x", "2,4", 0 }, { "y", "3,4", 0 }, { "z", "3,2", 0 } },
    "%g = slice %x {low=[0, 0], high=[2, 2], step=[1, 1]}\n"
    "  %r = attention_grad %x, %y, %z, %g {index=2, causal=true}",
    { NULL, NULL, NULL }, false },
  { TN_OP_DEPTHWISE, { { "x", "1,4,4,2", 0 }, { "w", "3,2,1,4", 0 } },
    "%r = depthwise %x, %w {window=[3, 2], high=[1, 1], step=[2, 1]}",
    { "conv2d(x, w, [2, 1], \"same\", 2)", "conv2d(x, w, strides=[2, 1], padding=\"same\", groups=2)", NULL },
    false },
  { TN_OP_DEPTHWISE_IMAGE, { { "x", "1,2,3,2", 0 }, { "w", "2,2,1,2", 0 } },
    "%r = depthwise_image %x, %w {window=[2, 2], shape=[1, 3, 4, 2]}", { NULL, NULL, NULL }, false },
  { TN_OP_DEPTHWISE_WEIGHTS, { { "x", "1,3,4,2", 0 }, { "y", "1,2,3,4", 0 } },
    "%r = depthwise_weights %x, %y {window=[2, 2]}", { NULL, NULL, NULL }, false },
  { TN_OP_DOT, { { "x", "3", 0 }, { "y", "3", 0 } }, "%r = dot %x, %y", { "dot(x, y)", "dot(x, y)", NULL },
    false },
  { TN_OP_LINEAR, { X, { "y", "3,2", 0 }, { "z", "2", 0 } }, "%r = linear %x, %y, %z",
    { "linear(x, y, z)", NULL, NULL }, false },
  /* control */
  { TN_OP_IF, { X, Y }, BRANCH, CHOICE, false },
  { TN_OP_PICK, { X, Y }, BRANCH, CHOICE, false },
};
#define CARD_COUNT (sizeof cards / sizeof *cards)

/* ---- text ---- */

#define TEXT 4096
typedef struct {
  char at[TEXT];
  int length;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  to->length += vsnprintf(to->at + to->length, (size_t)(TEXT - to->length), format, args);
  va_end(args);
  if (to->length >= TEXT) fail_msg("a program of this test is too long");
}

/* Element i of an operand: exact in every language, of both signs, no two alike in a row. */
static void put_element(text *to, const operand *x, int i) {
  if (x->limit) put(to, "%d", (i * 2 + 1) % x->limit);
  else put(to, "%g", ((i * 5 + x->name[0]) % 11 - 4) * 0.25 + 0.125);
}

static int dims_of(const operand *x, int *dims) {
  int rank = 0;
  for (const char *at = x->dims; at; at = at ? at + 1 : NULL) {
    dims[rank++] = atoi(at);
    at = strchr(at, ',');
  }
  return rank;
}

/* A literal of nested brackets: rows of the axis `axis` and those after it. */
static void put_rows(text *to, const operand *x, const char *brackets, const char *comma, int axis,
                     int *next) {
  int dims[4], rank = dims_of(x, dims);
  if (axis == rank) {
    put_element(to, x, (*next)++);
    return;
  }
  put(to, "%c", brackets[0]);
  for (int i = 0; i < dims[axis]; i++) {
    if (i) put(to, "%s", comma);
    put_rows(to, x, brackets, comma, axis + 1, next);
  }
  put(to, "%c", brackets[1]);
}

static void put_literal(text *to, const operand *x, const char *brackets, const char *comma) {
  int next = 0;
  put_rows(to, x, brackets, comma, 0, &next);
}

static void put_constant(text *to, const operand *x) {
  int dims[4], rank = dims_of(x, dims), count = 1;
  for (int i = 0; i < rank; i++) count *= dims[i];
  put(to, "  %%%s = const {value=%s[%s] [", x->name, x->limit ? "i32" : "f32", x->dims);
  for (int i = 0; i < count; i++) {
    if (i) put(to, ",");
    put_element(to, x, i);
  }
  put(to, "]}\n");
}

static text graph_of(const card *c) {
  text t = { .length = 0 };
  put(&t, "graph() {\n");
  for (int i = 0; i < 3 && c->in[i].name; i++) put_constant(&t, &c->in[i]);
  put(&t, "  %s\n  return %%r\n}\n", c->graph);
  return t;
}

static text program_of(const card *c, int language, const char *expression) {
  text t = { .length = 0 };
  if (language == AIL) put(&t, "model {\n");
  for (int i = 0; i < 3 && c->in[i].name; i++) {
    const operand *x = &c->in[i];
    if (language == AIL) {
      put(&t, "  %s [%s]\n", x->name, x->dims);
    } else if (language == MIND) {
      put(&t, "let %s: Tensor[%s,(%s)] = ", x->name, x->limit ? "i32" : "f32", x->dims);
      put_literal(&t, x, "[]", ", ");
      put(&t, "\n");
    } else {
      put_literal(&t, x, "()", " ");
      put(&t, " -> %s\n", x->name);
    }
  }
  put(&t, language == AIL ? "  out = %s\n}\n" : "%s\n", expression);
  return t;
}

/* ---- running ---- */

static tern_session *reference, *machine;

typedef struct {
  tern_dtype dtype;
  int rank, count;
  int64_t dims[8];
  double at[64];
  bool ok;
} answer;

static double element(const tern_tensor *t, int64_t i) {
  switch (t->dtype) {
    case TERN_F32: return (double)((const float *)t->data)[i];
    case TERN_F64: return ((const double *)t->data)[i];
    case TERN_I32: return ((const int32_t *)t->data)[i];
    case TERN_I64: return (double)((const int64_t *)t->data)[i];
    case TERN_BOOL: return ((const uint8_t *)t->data)[i];
    case TERN_BF16:
    case TERN_F16: break;
  }
  fail_msg("a dtype that this test does not read");
  return 0;
}

/* An element by its number in row-major order. */
static int64_t place_of(const tern_tensor *t, int64_t number) {
  int64_t place = 0, step = 1;
  for (int axis = t->rank - 1; axis >= 0; axis--) {
    int64_t at = number % t->dims[axis];
    number /= t->dims[axis];
    place += at * (t->strides ? t->strides[axis] : step);
    step *= t->dims[axis];
  }
  return place;
}

static answer read_answer(tern_program *p) {
  tern_tensor t;
  answer a = { .count = 1 };
  size_t last = tern_output_count(p);
  if (last == 0 || tern_output(p, last - 1, &t) != TERN_OK) return a;
  a.dtype = t.dtype;
  a.rank = t.rank;
  for (int i = 0; i < t.rank; i++) a.count *= (int)(a.dims[i] = t.dims[i]);
  if (a.count > 64) fail_msg("a result that this test has no room for");
  for (int i = 0; i < a.count; i++) a.at[i] = element(&t, place_of(&t, i));
  a.ok = true;
  return a;
}

static void set_inputs(tern_program *p, const card *c) {
  for (int i = 0; i < 3 && c->in[i].name; i++) {
    text value = { .length = 0 };
    put_literal(&value, &c->in[i], "[]", ",");
    assert_int_equal(tern_set_input_text(p, c->in[i].name, value.at), TERN_OK);
  }
}

/* Not ok, with a diagnostic, when the program is refused or fails. */
static answer ask(tern_session *session, tern_language language, const card *c, const text *t) {
  tern_clear_diagnostics(session);
  tern_program *p = tern_load(session, language, "program", t->at, (size_t)t->length);
  assert_non_null(p);
  if (language == TERN_LANG_AIL) set_inputs(p, c);
  answer a = { .ok = false };
  if (tern_run(p) == TERN_OK) a = read_answer(p);
  if (!a.ok && tern_error_count(session) == 0) fail_msg("neither a result nor a diagnostic:\n%s", t->at);
  tern_program_free(p);
  return a;
}

static const char *name_of(const card *c) { return tn_op_sig_of(c->op)->name; }

static void compare(const card *c, const char *who, const answer *wanted, const answer *got, const text *t) {
  if (!got->ok)
    fail_msg("%s, %s: %s\n%s", name_of(c), who, tern_diagnostics_text(machine, 0), t->at);
  bool same = got->rank == wanted->rank && memcmp(got->dims, wanted->dims, sizeof got->dims) == 0;
  if (same && memcmp(got->at, wanted->at, (size_t)wanted->count * sizeof *got->at) == 0) return;
  fail_msg("%s, %s: not what the reference kernels give: element 0 is %g, not %g\n%s", name_of(c), who,
           got->at[0], wanted->at[0], t->at);
}

/* ---- what is asked ---- */

static void check_exports(const card *c, const text *graph) {
  static const char *const forms[] = { "mlir", "onnx" };
  for (int i = 0; i < 2; i++) {
    size_t length;
    tern_clear_diagnostics(machine);
    tern_program *p = tern_load(machine, TERN_LANG_GRAPH, "program", graph->at, (size_t)graph->length);
    assert_non_null(p);
    bool written = tern_emit_bytes(p, forms[i], &length) != NULL;
    bool refused = tern_diagnostic_count(machine) > 0 &&
                   strcmp(tern_diagnostic_at(machine, 0).code, "E_UNSUPPORTED") == 0;
    if (written == refused) fail_msg("%s: %s neither writes nor refuses it", name_of(c), forms[i]);
    tern_program_free(p);
  }
}

static void check_program(const card *c, int language, const char *expression, const answer *wanted) {
  text t = program_of(c, language, expression);
  answer got = ask(machine, languages[language], c, &t);
  if (!c->refused) compare(c, tern_language_name(languages[language]), wanted, &got, &t);
  else if (got.ok) fail_msg("%s is not refused:\n%s", name_of(c), t.at);
}

/* What a language does not offer it refuses, and its tables do not name. */
static void check_absence(const card *c, int language, bool in_table) {
  char expression[64];
  const char *name = name_of(c), *who = tern_language_name(languages[language]);
  if (in_table) fail_msg("%s: %s has it now; write its program here", name, who);
  snprintf(expression, sizeof expression, language == NINTH ? "x [%s]" : "%s(x)", name);
  for (char *at = expression + 3; language == NINTH && *at; at++)
    if (*at >= 'a' && *at <= 'z') *at = (char)(*at - 'a' + 'A');
  text t = program_of(c, language, expression);
  answer got = ask(machine, languages[language], c, &t);
  if (got.ok) fail_msg("%s: %s takes it, and no table says so:\n%s", name, who, t.at);
}

/* ---- spellings, from the tables ---- */

typedef struct {
  tn_op op;
  int language;
  bool function;     /* a name before its operands; else an operator, or a word after them */
  const char *word;
  int takes;         /* Ninth: items of the stack */
} spelling;

#define OPERATOR(language, id, word) { TN_OP_##id, language, false, word, 0 },
static const spelling operators[] = {
#define TN_OP(id, ...) __VA_ARGS__
#define TN_AIL(...) __VA_ARGS__
#define TN_MIND(...) __VA_ARGS__
#define AIL_OPERATOR(id, word) OPERATOR(AIL, id, word)
#define AIL_PREFIX(id, word) OPERATOR(AIL, id, word)
#define MIND_OPERATOR(id, word) OPERATOR(MIND, id, word)
#define MIND_PREFIX(id, word) OPERATOR(MIND, id, word)
#include "op/ops.def"
#define TN_NINTH_OPCODE(name, takes, gives, group, effect, doc, how, operation) \
  { TN_OP_##operation, NINTH, false, #name, takes },
#include "lang/ninth/opcodes.def"
};

/* All ways in which a language names the operation. */
static int spellings_of(tn_op op, int language, spelling *all, int limit) {
  int count = 0;
  size_t n;
  for (size_t i = 0; i < sizeof operators / sizeof *operators && count < limit; i++)
    if (operators[i].op == op && operators[i].language == language) all[count++] = operators[i];
  const tn_ail_builtin *ail = tn_ail_builtins(&n);
  for (size_t i = 0; language == AIL && i < n && count < limit; i++)
    if (ail[i].op == op) all[count++] = (spelling){ op, AIL, true, ail[i].name, 0 };
  const tn_mind_entry *mind = tn_mind_library(&n);
  for (size_t i = 0; language == MIND && i < n && count < limit; i++)
    if (mind[i].op == op) all[count++] = (spelling){ op, MIND, true, mind[i].name, 0 };
  return count;
}

/* ---- operations that follow the pattern of their kind ---- */

static bool follows_pattern(const tn_op_sig *sig) {
  const uint32_t reduction = TN_ATTR_AXES | TN_ATTR_KEEPDIMS;
  bool plain = strcmp(sig->group, "elementwise") == 0 || strcmp(sig->group, "comparison") == 0;
  return (plain && sig->attrs == 0 && (sig->arity == 1 || sig->arity == 2)) ||
         (sig->attrs == reduction && sig->arity == 1);
}

static void spell(const spelling *by, const tn_op_sig *sig, bool truth, char *out, size_t size) {
  const char *x = truth ? "(x < y)" : "x", *y = truth ? "(x > y)" : "y";
  bool two = sig->arity == 2;
  if (by->function) snprintf(out, size, two ? "%s(%s, %s)" : "%s(%s)", by->word, x, y);
  else if (by->language == NINTH) snprintf(out, size, "%s %s [%s]", x, two ? y : "", by->word);
  else if (two) snprintf(out, size, "%s %s %s", x, by->word, y);
  else snprintf(out, size, "%s%s", by->word, x);
}

/* The card of an operation; `lines` is room for its graph. Without an op when it has none. */
static card card_of(tn_op op, char *lines, size_t size) {
  const tn_op_sig *sig = tn_op_sig_of(op);
  for (size_t i = 0; i < CARD_COUNT; i++)
    if (cards[i].op == op) return cards[i];
  if (!follows_pattern(sig)) return (card){ 0 };
  bool truth = sig->dtypes == TN_BOOLS, two = sig->arity == 2;
  snprintf(lines, size, "%s%%r = %s %s%s", truth ? "%a = lt %x, %y\n  %b = gt %x, %y\n  " : "", sig->name,
           truth ? "%a" : "%x", !two ? "" : truth ? ", %b" : ", %y");
  return (card){ .op = op, .in = { X, Y }, .graph = lines };
}

/* ---- one operation ---- */

static void check_spellings(const card *c, int language, const spelling *all, int count,
                            const answer *wanted) {
  const tn_op_sig *sig = tn_op_sig_of(c->op);
  for (int i = 0; i < count; i++) {
    char expression[128];
    if (all[i].takes > sig->arity) continue; /* along a dimension: tests/ninth/reductions.nth */
    spell(&all[i], sig, sig->dtypes == TN_BOOLS, expression, sizeof expression);
    check_program(c, language, expression, wanted);
  }
}

static void check_language(const card *c, int language, const answer *wanted) {
  spelling all[8];
  int count = spellings_of(c->op, language, all, 8);
  if (c->program[language]) check_program(c, language, c->program[language], wanted);
  else if (count && follows_pattern(tn_op_sig_of(c->op))) check_spellings(c, language, all, count, wanted);
  else check_absence(c, language, count > 0);
}

static void works_or_is_refused_everywhere(void **state) {
  char lines[256];
  tn_op op = *(const tn_op *)*state;
  card c = card_of(op, lines, sizeof lines);
  if (!c.op) fail_msg("%s has no card in tests/ops/table.c", tn_op_sig_of(op)->name);
  text graph = graph_of(&c);
  answer wanted = ask(reference, TERN_LANG_GRAPH, &c, &graph);
  answer got = ask(machine, TERN_LANG_GRAPH, &c, &graph);
  if (wanted.ok == c.refused) fail_msg("%s: %s", name_of(&c), tern_diagnostics_text(reference, 0));
  if (!c.refused) compare(&c, "cpu", &wanted, &got, &graph);
  check_exports(&c, &graph);
  for (int language = 0; language < LANGUAGES; language++) check_language(&c, language, &wanted);
}

/* ---- files for those who run MLIR and ONNX ---- */

static void remove_old(const char *folder) {
  DIR *at = opendir(folder);
  char path[1024];
  if (!at) return;
  for (struct dirent *entry; (entry = readdir(at));) {
    if (!strstr(entry->d_name, ".graph")) continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    remove(path);
  }
  closedir(at);
}

static int write_graphs(const char *folder) {
  char lines[256], path[1024];
  remove_old(folder);
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    card c = card_of(op, lines, sizeof lines);
    if (!c.op || c.refused) continue;
    text graph = graph_of(&c);
    snprintf(path, sizeof path, "%s/%s.graph", folder, name_of(&c));
    FILE *file = fopen(path, "w");
    if (!file || fputs(graph.at, file) < 0 || fclose(file) != 0) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  static struct CMUnitTest tests[TN_OP_COUNT];
  static tn_op ops[TN_OP_COUNT];
  size_t count = 0;
  if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_graphs(argv[2]);
  reference = tern_session_new(&(tern_options){ .threads = 1, .isa = "ref" }, NULL);
  machine = tern_session_new(&(tern_options){ .threads = 1 }, NULL);
  if (!reference || !machine) return 1;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    ops[op] = op;
    tests[count++] = (struct CMUnitTest){ .name = tn_op_sig_of(op)->name,
                                          .test_func = works_or_is_refused_everywhere,
                                          .initial_state = &ops[op] };
  }
  int failed = _cmocka_run_group_tests("ops/table", tests, count, NULL, NULL);
  tern_session_free(reference);
  tern_session_free(machine);
  return failed;
}
