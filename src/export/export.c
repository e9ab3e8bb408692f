/* export/export.c: which writer writes which form. */
#include "export/export.h"

#include <string.h>

#include "export/mlir.h"
#include "export/onnx.h"
#include "export/picture.h"

static const char *const names[TN_EMIT_COUNT] = {
  [TN_EMIT_GRAPH] = "graph", [TN_EMIT_GRAD] = "grad", [TN_EMIT_MLIR] = "mlir",
  [TN_EMIT_DOT] = "dot",     [TN_EMIT_SVG] = "svg",   [TN_EMIT_ONNX] = "onnx",
};

tn_emit_kind tn_emit_kind_of(const char *name) {
  int kind = 0;
  while (kind < TN_EMIT_COUNT && strcmp(names[kind], name) != 0) kind++;
  return (tn_emit_kind)kind;
}

static bool write_mlir(const tn_graph *graph, tn_text *out, tn_export_problem *problem) {
  tn_mlir_function function = { .name = TN_LIT("main"), .graph = graph };
  return tn_mlir_write(&function, 1, graph->heap, out, problem);
}

bool tn_export_write(const tn_export *what, tn_text *out, tn_export_problem *problem) {
  *problem = (tn_export_problem){ 0 };
  switch (what->kind) {
    case TN_EMIT_MLIR: return write_mlir(what->graph, out, problem);
    case TN_EMIT_DOT: return tn_dot_write(what->graph, what->sources, out);
    case TN_EMIT_SVG: return tn_svg_write(what->graph, what->sources, out, problem);
    case TN_EMIT_ONNX: return tn_onnx_write(what->graph, what->params, out, problem);
    default: tn_graph_print(what->graph, out); return !out->failed;
  }
}
