/* export/mlir.h: graphs as MLIR, in the dialects func, arith, math, tensor, linalg and scf.
 *
 * The module computes what tern computes, operation for operation: matrix products are chains of
 * math.fma from +0, sums add in the fixed order of docs/numerics.md, and the f32 elementary
 * functions are tern's own, written out. In f64 those come from the math dialect, and may differ in
 * the last bit. A NaN that is returned is the canonical one.
 *
 * Names of dimensions become `index` arguments, before the function's own; sizes
 * that are not known print as `?`. Results are fresh tensors, never an argument or
 * a constant, so that every way of bufferizing may give them to the caller. */
#ifndef TN_EXPORT_MLIR_H
#define TN_EXPORT_MLIR_H

#include "export/export.h"

typedef struct {
  tn_str name;                /* of the function, without @ */
  const tn_graph *graph;      /* its inputs, then its parameters, are the arguments */
  const bool *scalar_inputs;  /* by argument: without dimensions it is a number, not a tensor; NULL: none */
  const bool *scalar_outputs; /* by output, likewise */
} tn_mlir_function;

/* A module with these functions, in order. False with *problem filled in; `out` may then hold a part. */
bool tn_mlir_write(const tn_mlir_function *functions, size_t count, tn_heap *heap, tn_text *out,
                   tn_export_problem *problem);
#endif
