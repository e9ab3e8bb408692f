/* Every operation of the table: MLIR and ONNX say it, or say that they cannot.
 *
 * A case of ops/kernels becomes a graph of one node, which both writers are given. What they write is run
 * elsewhere (tests/mlir, tests/onnx); here no operation may be left out, and none may pass for another: a
 * reduction that is not known must not come out as a sum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "case.h"
#include "check.h"
#include "export/mlir.h"
#include "export/onnx.h"
#include "graph/builder.h"
#include "op/formula.h"

#define CASES 16

/* ---- a graph of one node ---- */

typedef struct {
  tn_heap heap;
  tn_names *names;
  tn_graph graph;
  tn_graph_builder builder;
} one_node;

static void add_inputs(one_node *g, const op_case *c, tn_value *in) {
  for (int i = 0; i < c->count; i++) {
    char name[] = { 'x', (char)('a' + i), 0 };
    tn_type type = { c->in[i].view.dtype, tn_view_shape(&c->in[i].view) };
    in[i] = tn_build_input(&g->builder.base, tn_names_intern(g->names, tn_str_of(name)), &type);
  }
}

static bool build(one_node *g, const op_case *c) {
  tn_value in[CASE_OPERANDS];
  g->heap = (tn_heap){ 0 };
  g->names = tn_names_new(&g->heap);
  if (!g->names || !tn_graph_init(&g->graph, &g->heap, g->names)) return false;
  tn_graph_builder_init(&g->builder, &g->graph);
  add_inputs(g, c, in);
  tn_value out = tn_build(&g->builder.base, c->op, in, c->count, &c->attrs);
  return out != TN_ERROR_VALUE && tn_graph_output(&g->graph, 0, out);
}

static void release(one_node *g) {
  tn_graph_free(&g->graph);
  tn_names_free(g->names);
}

/* ---- what cannot be said ---- */

static bool is_among(tn_op op, const tn_op *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (list[i] == op) return true;
  return false;
}

static bool mlir_lacks(tn_op op) {
  static const tn_op all[] = { TN_OP_ROW_UPDATE, TN_OP_FUSED };
  return is_among(op, all, sizeof all / sizeof *all);
}

static bool onnx_lacks(tn_op op) {
  static const tn_op all[] = { TN_OP_ROW_UPDATE, TN_OP_FUSED, TN_OP_FOLD, TN_OP_DEPTHWISE_IMAGE,
                               TN_OP_CUMPROD };
  return is_among(op, all, sizeof all / sizeof *all);
}

/* Random numbers are drawn while writing, which needs a key that is known. */
static bool is_drawn(tn_op op) { return tn_op_sig_of(op)->kind == TN_KIND_GENERATE; }

static void judge(const char *form, tn_op op, int number, bool written, const tn_export_problem *problem,
                  bool lacking) {
  const char *name = tn_op_sig_of(op)->name;
  if (written && lacking) fail_msg("%s: %s says it now; take it off the list here", name, form);
  if (!written && !problem->feature) fail_msg("%s, case %d: %s says nothing", name, number, form);
  if (!written && !lacking)
    fail_msg("%s, case %d: %s lacks %s", name, number, form, problem->feature);
}

static void write_both(one_node *g, tn_op op, int number) {
  tn_text text;
  tn_export_problem problem;
  tn_mlir_function function = { .name = TN_LIT("f"), .graph = &g->graph };
  tn_text_init(&text, &g->heap);
  bool written = tn_mlir_write(&function, 1, &g->heap, &text, &problem);
  judge("MLIR", op, number, written, &problem, mlir_lacks(op) || is_drawn(op));
  tn_text_clear(&text);
  written = tn_onnx_write(&g->graph, NULL, &text, &problem);
  bool between = op == TN_OP_PAD && !written; /* zeros between elements */
  judge("ONNX", op, number, written, &problem, onnx_lacks(op) || is_drawn(op) || between);
  tn_text_free(&text);
}

static void every_operation_is_written_or_refused(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    generator g = generator_of(op);
    for (int number = 0; g.make && number < CASES; number++) {
      op_case c;
      one_node node;
      case_begin(&c, op, number);
      g.make(&c);
      if (op != TN_OP_FUSED && case_infer(&c)) {
        if (!build(&node, &c)) fail_msg("%s, case %d: no graph", tn_op_sig_of(op)->name, number);
        write_both(&node, op, number);
        release(&node);
      }
      case_end(&c);
    }
  }
}

/* ---- formulas ---- */

/* A row has a formula for each class of dtypes it takes, and slopes exactly where it says so. */
static void every_row_has_the_formulas_it_needs(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of(op);
    if (!tn_op_formulas[op].real) continue;
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
      if (tn_dtype_in(dtype, TN_STORAGE)) continue;
      bool has = tn_op_value(op, dtype)->kind != TN_TERM_END;
      if (has != tn_dtype_in(dtype, sig->dtypes))
        fail_msg("%s: formula and dtypes disagree about %s", sig->name, tn_dtype_name(dtype));
    }
    for (int i = 0; i < 2; i++) {
      bool has = tn_op_formulas[op].slope[i]->kind != TN_TERM_END, other = i == 1 && sig->arity == 1;
      if (has && other) fail_msg("%s: a slope by an operand that it does not have", sig->name);
      if (i == 1 && !other && has != (tn_op_formulas[op].slope[0]->kind != TN_TERM_END))
        fail_msg("%s: a slope by one operand only", sig->name);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_operation_is_written_or_refused),
    cmocka_unit_test(every_row_has_the_formulas_it_needs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
