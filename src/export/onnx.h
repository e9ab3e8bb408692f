/* export/onnx.h: graphs as ONNX models, operator set 17.
 *
 * The model computes what tern computes up to rounding: ONNX leaves the order of sums and the
 * elementary functions to the runtime. Named dimensions stay names. A parameter with a value
 * becomes an initializer, one without an input. */
#ifndef TN_EXPORT_ONNX_H
#define TN_EXPORT_ONNX_H

#include "export/export.h"

#define TN_ONNX_OPSET      17
#define TN_ONNX_IR_VERSION 8

/* `params`: a value for each of the graph's parameters, or NULL. False with *problem filled in. */
bool tn_onnx_write(const tn_graph *graph, const tn_tensor *params, tn_text *out, tn_export_problem *problem);
#endif
