/* fuzz/programs.c: valid programs, run in two ways that must agree.
 *
 * Bytes decide how a graph grows: an operation of the table, its operands among the values that are there,
 * its attributes. What the rules refuse is left out, so every graph is valid and most are odd. Then it is
 * printed and run: on `ref` without any pass, and on `cpu` with all of them. Every bit must be the same.
 *
 * The same bytes, with another first one, become a Ninth program that knows how deep its stack is at every
 * step; it runs on the eager builder, again with both back ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "graph/builder.h"
#include "graph/graph.h"

#define MOST_VALUES 48

/* ---- graphs ---- */

typedef struct {
  tn_heap heap;
  tn_names *names;
  tn_graph graph;
  tn_graph_builder builder;
  fuzz_bytes bytes;
  tn_value values[MOST_VALUES];
  int count;
} grower;

static tn_shape some_shape(grower *g) {
  static const int64_t lengths[] = { 1, 2, 3, 4, 1, 17, 2, 0 };
  tn_shape shape = { .rank = (int32_t)fuzz_pick(&g->bytes, 4) };
  for (int i = 0; i < shape.rank; i++) shape.dim[i] = lengths[fuzz_pick(&g->bytes, 7)];
  return shape;
}

static const float odd_numbers[] = { 0, 1, -1, 0.5f, 2, 3, -0.0f, 1e-3f, 1e30f, -1e-40f, 0.1f, -7.25f };
#define ODD_COUNT (sizeof odd_numbers / sizeof *odd_numbers)

static void keep(grower *g, tn_value value) {
  if (value != TN_ERROR_VALUE && g->count < MOST_VALUES) g->values[g->count++] = value;
  tn_build_forget(&g->builder.base);
}

static tn_value any(grower *g) { return g->values[fuzz_pick(&g->bytes, (unsigned)g->count)]; }

/* A constant of numbers that rounding, overflow and signs make interesting. */
static void add_constant(grower *g) {
  tn_shape shape = some_shape(g);
  tn_tensor tensor;
  if (!tn_tensor_new(&g->heap, TN_F32, &shape, &tensor)) return;
  for (int64_t i = 0; i < tn_shape_count(&shape); i++)
    ((float *)tensor.view.data)[i] = odd_numbers[fuzz_pick(&g->bytes, ODD_COUNT)] + (float)i;
  keep(g, tn_build_const(&g->builder.base, &tensor));
  tn_tensor_unref(&tensor);
}

static void add_param(grower *g) {
  char name[8];
  snprintf(name, sizeof name, "p%d", g->count);
  tn_type type = { TN_F32, some_shape(g) };
  keep(g, tn_build_param(&g->builder.base, tn_names_intern(g->names, tn_str_of(name)), &type));
}

/* Only what the operation reads; the rest stays 0. */
static tn_attrs some_attrs(grower *g, uint32_t wanted) {
  tn_attrs attrs = { 0 };
  if (wanted & TN_ATTR_DTYPE) attrs.dtype = fuzz_pick(&g->bytes, 4) == 0 ? TN_I64 : TN_F32;
  if (wanted & TN_ATTR_AXIS) attrs.axis = (int32_t)fuzz_pick(&g->bytes, 5) - 2;
  if (wanted & TN_ATTR_AXES) {
    attrs.axis_count = (int32_t)fuzz_pick(&g->bytes, 4) - 1;
    for (int i = 0; i < attrs.axis_count; i++) attrs.axes[i] = (int32_t)fuzz_pick(&g->bytes, 4);
  }
  if (wanted & TN_ATTR_KEEPDIMS) attrs.keepdims = fuzz_pick(&g->bytes, 2);
  if (wanted & TN_ATTR_REVERSE) attrs.reverse = fuzz_pick(&g->bytes, 2);
  if (wanted & TN_ATTR_EXCLUSIVE) attrs.exclusive = fuzz_pick(&g->bytes, 2);
  if (wanted & TN_ATTR_SHAPE) attrs.shape = some_shape(g);
  if (wanted & TN_ATTR_NUMBER) attrs.number = (double)odd_numbers[fuzz_pick(&g->bytes, ODD_COUNT)];
  if (wanted & TN_ATTR_INDEX) attrs.index = fuzz_pick(&g->bytes, 3);
  if (wanted & TN_ATTR_SAME) attrs.same = fuzz_pick(&g->bytes, 2);
  if (wanted & TN_ATTR_CAUSAL) attrs.causal = fuzz_pick(&g->bytes, 2);
  for (int i = 0; (wanted & TN_ATTR_WINDOW) && i < 2; i++)
    attrs.window[i] = 1 + (int32_t)fuzz_pick(&g->bytes, 3);
  for (int i = 0; i < 3; i++) {
    if (wanted & TN_ATTR_LOW) attrs.low[i] = fuzz_pick(&g->bytes, 3);
    if (wanted & TN_ATTR_HIGH) attrs.high[i] = attrs.low[i] + fuzz_pick(&g->bytes, 3);
    if (wanted & TN_ATTR_STEP) attrs.step[i] = fuzz_pick(&g->bytes, 3);
  }
  return attrs;
}

/* Operations that look at nothing outside and have no program of their own. */
static bool is_pure(const tn_op_sig *sig) {
  uint32_t private = TN_ATTR_NAME | TN_ATTR_LITERAL | TN_ATTR_REGIONS | TN_ATTR_PROGRAM;
  return sig->op != TN_OP_ERROR && !(sig->attrs & private);
}

static void add_operation(grower *g) {
  const tn_op_sig *sig = tn_op_sig_of((tn_op)fuzz_pick(&g->bytes, TN_OP_COUNT));
  tn_value in[3];
  int count = sig->arity >= 0 ? sig->arity : 2;
  if (!is_pure(sig) || count > 3) return;
  for (int i = 0; i < count; i++) in[i] = any(g);
  tn_attrs attrs = some_attrs(g, sig->attrs);
  keep(g, tn_build(&g->builder.base, sig->op, in, count, &attrs));
}

static bool grow(grower *g, const uint8_t *data, size_t size, tn_text *out) {
  g->bytes = (fuzz_bytes){ data, size };
  g->names = tn_names_new(&g->heap);
  if (!g->names || !tn_graph_init(&g->graph, &g->heap, g->names)) return false;
  tn_graph_builder_init(&g->builder, &g->graph);
  add_param(g);
  add_constant(g);
  while (g->bytes.left > 0 && g->count > 0 && g->count < MOST_VALUES) {
    switch (fuzz_pick(&g->bytes, 8)) {
      case 0: add_constant(g); break;
      case 1: add_param(g); break;
      default: add_operation(g); break;
    }
  }
  for (int i = 0; i < 4 && g->count > 0; i++)
    (void)tn_graph_output(&g->graph, 0, g->values[(g->count - 1) - i < 0 ? 0 : (g->count - 1) - i]);
  tn_graph_print(&g->graph, out);
  return !out->failed && g->count > 0;
}

/* ---- two ways ---- */

static char *run(tern_language language, tn_str text, const char *isa, const char *without) {
  tern_options options = { .isa = isa, .without = without };
  tern_session *session = fuzz_session(&options);
  fuzz_expect(session != NULL, "there is a session");
  tern_program *program =
      tern_load(session, language, language == TERN_LANG_NINTH ? "a.nth" : "a.graph", text.at, text.len);
  fuzz_expect(program && tern_run(program) != TERN_BUG, "no input shows a bug of ours");
  char *result = strdup(tern_result_json(program));
  tern_program_free(program);
  tern_session_free(session);
  return result;
}

static void compare(tern_language language, tn_str text) {
  char *plain = run(language, text, "ref", "fold,cse,dce,fuse,recompute");
  char *fast = run(language, text, NULL, NULL);
  bool stopped = strstr(plain, "E_TIME_LIMIT") || strstr(fast, "E_TIME_LIMIT") || strstr(plain, "MEMORY") ||
                 strstr(fast, "MEMORY");
  if (!stopped && strcmp(plain, fast) != 0) {
    fprintf(stderr, "%.*s\n---- ref\n%s\n---- cpu\n%s\n", (int)text.len, text.at, plain, fast);
    fuzz_expect(false, "ref and cpu, with passes and without, give the same");
  }
  free(plain);
  free(fast);
}

/* ---- Ninth ---- */

static const char *const unary[] = { "[RELU]",  "[SIGMOID]", "[TANH]", "[EXP]",     "[NEG]",     "[ABS]",
                                     "[ROUND]", "[SQRT]",    "[LOG]",  "[SOFTMAX]", "[FLATTEN]", "[SQUEEZE]",
                                     "[SUM]",   "[MEAN]",    "[MAX]",  "[MIN]",     "[VAR]",     "[DUP]" };
static const char *const binary[] = { "[ADD]", "[SUB]", "[MUL]",    "[DIV]",  "[POW]", "[MSE_LOSS]",
                                      "[EQ]",  "[GT]",  "[MATMUL]", "[SWAP]", "[OVER]" };
static const char *const sources[] = { "(1 -2 3) ",      "[2 3] [RANDN] ",
                                       "[3 2] [RANDN] ", "[3] [ONES] ",
                                       "0.5 ",           "-2 ",
                                       "[17] [RANDN] ",  "[2 1 3] [RANDN] " };
#define COUNT(list) (unsigned)(sizeof(list) / sizeof *(list))

/* Every tensor is kept as a variable; what a program shows at its end is its values and gradients. */
static void write_ninth(fuzz_bytes *bytes, tn_text *out) {
  int depth = 0;
  while (bytes->left > 0) {
    unsigned what = fuzz_pick(bytes, 8);
    if (depth == 0 || what == 0) {
      tn_text_puts(out, sources[fuzz_pick(bytes, COUNT(sources))]);
      depth++;
    } else if (what < 4 && depth >= 2) {
      unsigned which = fuzz_pick(bytes, COUNT(binary));
      tn_text_puts(out, binary[which]);
      depth += which == COUNT(binary) - 1 ? 1 : which == COUNT(binary) - 2 ? 0 : -1;
    } else if (what == 7) {
      tn_text_puts(out, "[DUP] [VAR] -> w w w [MUL] [SUM] [BACKWARD] w [GRAD] [ADD] ");
    } else {
      unsigned which = fuzz_pick(bytes, COUNT(unary));
      tn_text_puts(out, unary[which]);
      depth += which == COUNT(unary) - 1;
    }
    tn_text_byte(out, ' ');
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  grower g = { 0 };
  tn_text text;
  if (size < 2 || size > 4096) return 0;
  tn_text_init(&text, &g.heap);
  if (data[0] % 4 == 0) {
    fuzz_bytes bytes = { data + 1, size - 1 };
    write_ninth(&bytes, &text);
    compare(TERN_LANG_NINTH, tn_text_str(&text));
  } else if (grow(&g, data + 1, size - 1, &text)) {
    compare(TERN_LANG_GRAPH, tn_text_str(&text));
  }
  tn_text_free(&text);
  if (g.names) {
    tn_graph_free(&g.graph);
    tn_names_free(g.names);
  }
  return 0;
}
