/* export/export.h: a graph in the formats of `tern emit`.
 *
 * The languages build the graph; this folder writes it. All use the same entry
 * point, so every format works for every language. */
#ifndef TN_EXPORT_EXPORT_H
#define TN_EXPORT_EXPORT_H

#include "graph/outline.h"

typedef enum {
  TN_EMIT_GRAPH, /* the text form of graph/graph.h */
  TN_EMIT_GRAD,  /* the same, of a graph of gradients */
  TN_EMIT_MLIR,
  TN_EMIT_DOT,
  TN_EMIT_SVG,
  TN_EMIT_ONNX, /* bytes, not text */
  TN_EMIT_NPZ,  /* the parameters alone, as NumPy's archive */
  TN_EMIT_PLAN, /* how it is executed: tn_lang_write writes it */
  TN_EMIT_COUNT
} tn_emit_kind;

/* "graph", "mlir"; TN_EMIT_COUNT: there is no such form. */
tn_emit_kind tn_emit_kind_of(const char *name);
bool tn_emit_is_text(tn_emit_kind kind);
#define TN_EMIT_NAMES "graph, grad, mlir, dot, svg, onnx, npz and plan"

/* Why a graph could not be written. */
typedef struct {
  const char *feature; /* what the format cannot express; NULL: memory ran out */
  tn_span at;
} tn_export_problem;

typedef struct {
  const tn_graph *graph;
  tn_emit_kind kind;
  tn_sources *sources;     /* where the lines of the program are found; NULL: they are not shown */
  const tn_outline *outline; /* SVG: calls that are not open are one box; NULL: every operation is shown */
  const tn_tensor *params; /* ONNX, NPZ: the values of the graph's parameters; NULL: they have none */
} tn_export;

/* Appends to `out`. False with *problem filled in; `out` may then hold a part. */
bool tn_export_write(const tn_export *what, tn_text *out, tn_export_problem *problem);
#endif
