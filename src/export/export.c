/* export/export.c: calls the writer of each format. */
#include "export/export.h"

#include <string.h>

#include "export/mlir.h"
#include "export/onnx.h"
#include "export/picture.h"
#include "tensor/npz.h"

static const char *const names[TN_EMIT_COUNT] = {
  [TN_EMIT_GRAPH] = "graph", [TN_EMIT_GRAD] = "grad", [TN_EMIT_MLIR] = "mlir", [TN_EMIT_DOT] = "dot",
  [TN_EMIT_SVG] = "svg",     [TN_EMIT_ONNX] = "onnx", [TN_EMIT_NPZ] = "npz",
  [TN_EMIT_PLAN] = "plan",
};

tn_emit_kind tn_emit_kind_of(const char *name) {
  int kind = 0;
  while (kind < TN_EMIT_COUNT && strcmp(names[kind], name) != 0) kind++;
  return (tn_emit_kind)kind;
}

bool tn_emit_is_text(tn_emit_kind kind) { return kind != TN_EMIT_ONNX && kind != TN_EMIT_NPZ; }

static bool write_mlir(const tn_graph *graph, tn_text *out, tn_export_problem *problem) {
  tn_mlir_function function = { .name = TN_LIT("main"), .graph = graph };
  return tn_mlir_write(&function, 1, graph->heap, out, problem);
}

static bool write_params(const tn_export *what, tn_text *out, tn_export_problem *problem) {
  const tn_graph *graph = what->graph;
  tn_npz_writer writer;
  tn_npy_error error = TN_NPY_OK;
  if (!what->params) {
    problem->feature = "an archive of parameters of a program that gives them no values";
    return false;
  }
  tn_npz_begin(&writer, out);
  for (size_t i = 0; error == TN_NPY_OK && i < graph->params.count; i++) {
    tn_name name = tn_graph_node(graph, graph->params.at[i])->attrs->name;
    error = tn_npz_add(&writer, tn_names_text(graph->names, name), &what->params[i].view);
  }
  tn_npy_error ended = tn_npz_end(&writer);
  if (error == TN_NPY_OK) error = ended;
  if (error != TN_NPY_OK && error != TN_NPY_MEMORY)
    problem->feature = "an archive this large, or of this dtype,";
  return error == TN_NPY_OK;
}

bool tn_export_write(const tn_export *what, tn_text *out, tn_export_problem *problem) {
  *problem = (tn_export_problem){ 0 };
  switch (what->kind) {
    case TN_EMIT_MLIR: return write_mlir(what->graph, out, problem);
    case TN_EMIT_DOT: return tn_dot_write(what->graph, what->sources, out);
    case TN_EMIT_SVG: return tn_svg_write(what->graph, what->outline, what->sources, out, problem);
    case TN_EMIT_ONNX: return tn_onnx_write(what->graph, what->params, out, problem);
    case TN_EMIT_NPZ: return write_params(what, out, problem);
    default: tn_graph_print(what->graph, out); return !out->failed;
  }
}
