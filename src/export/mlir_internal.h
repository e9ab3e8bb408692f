/* export/mlir_internal.h: shared by the files of the MLIR writer.
 *
 * A value without dimensions is a scalar in MLIR, not a tensor; so arithmetic is
 * written in the same way inside and outside the body of a linalg.generic.
 * Everything written is text in an arena: "%12", "tensor<2x?xf32>". */
#ifndef TN_EXPORT_MLIR_INTERNAL_H
#define TN_EXPORT_MLIR_INTERNAL_H

#include "export/mlir.h"

/* Helper functions after the module's own, each once. */
typedef enum {
  TN_MLIR_EXP,
  TN_MLIR_LOG,
  TN_MLIR_TANH,
  TN_MLIR_SIGMOID,
  TN_MLIR_ERF,
  TN_MLIR_SIN,
  TN_MLIR_COS,
  TN_MLIR_POW,
  TN_MLIR_HELPER_COUNT
} tn_mlir_helper;

/* Kinds of helpers that exist for several dtypes. */
typedef enum {
  TN_MLIR_SUM,
  TN_MLIR_PROD,
  TN_MLIR_MAX,
  TN_MLIR_MIN,
  TN_MLIR_ARGMAX,
  TN_MLIR_ROW_COUNT
} tn_mlir_row;

typedef struct {
  tn_heap *heap;
  tn_arena arena;
  tn_text *out;       /* the module */
  tn_text head, body; /* of the function: constants, and what uses them */
  const tn_graph *graph;
  const tn_mlir_function *function;
  tn_str *values; /* by node */
  tn_str *arguments;
  tn_name *symbols;
  size_t symbol_count;
  uint32_t next; /* the next number for a value */
  int indent;
  bool used[TN_MLIR_HELPER_COUNT];
  bool rows[TN_MLIR_ROW_COUNT][TN_DTYPE_COUNT];
  int64_t *constants; /* index constants that are in `head` */
  size_t constant_count, constant_room;
  tn_export_problem *problem;
  bool failed;
} tn_mlir;

/* ---- mlir_text.c ---- */

/* Writes a line: each $ is replaced by the next text. */
void tn_mlir_line(tn_mlir *m, const char *pattern, const tn_str *texts);
#define TN_MLIR(m, pattern, ...) tn_mlir_line((m), (pattern), (const tn_str[]){ __VA_ARGS__ })
tn_str tn_mlir_fresh(tn_mlir *m); /* "%7" */
/* A pattern like those above as a text. */
tn_str tn_mlir_text(tn_mlir *m, const char *pattern, const tn_str *texts);
#define TN_MLIR_TEXT(m, pattern, ...) tn_mlir_text((m), (pattern), (const tn_str[]){ __VA_ARGS__ })
tn_str tn_mlir_dtype(tn_dtype dtype);                 /* f32, i1 */
tn_str tn_mlir_type(tn_mlir *m, const tn_type *type); /* f32 without dimensions, else tensor<2x?xf32> */
tn_str tn_mlir_tensor_type(tn_mlir *m, const tn_type *type); /* always a tensor */
tn_str tn_mlir_index(tn_mlir *m, int64_t number);            /* a constant of type index */
tn_str tn_mlir_int(tn_mlir *m, int64_t number);              /* digits */
/* The attribute of a number: 1.5, 0x7FC00000, true. */
tn_str tn_mlir_number(tn_mlir *m, tn_dtype dtype, const void *element);
tn_str tn_mlir_constant(tn_mlir *m, tn_dtype dtype, double number); /* a value */
bool tn_mlir_unsupported(tn_mlir *m, const char *feature, tn_span at);
void tn_mlir_fail(tn_mlir *m); /* memory ran out */

/* ---- sizes ---- */

/* One dimension of a value that has been written, as a value of type index. */
tn_str tn_mlir_dim(tn_mlir *m, tn_value value, int axis);
/* An empty tensor for the result of a node, given its sizes. */
tn_str tn_mlir_empty(tn_mlir *m, const tn_type *type, const tn_str *dims);
/* A tensor of one number. Not a constant: MLIR 19 translates one that is -0.0 all over to +0.0. */
tn_str tn_mlir_filled(tn_mlir *m, tn_str number, const tn_type *type, const tn_str *dims);
/* The sizes of the result, computed from the operands'. False after saying that it cannot. */
bool tn_mlir_result_dims(tn_mlir *m, tn_value value, tn_str *dims);
/* The product of sizes. */
tn_str tn_mlir_product(tn_mlir *m, const tn_str *dims, int count);

/* ---- mlir_element.c ---- */

tn_str tn_mlir_canonical(tn_mlir *m, tn_dtype dtype, tn_str x);
tn_str tn_mlir_add(tn_mlir *m, tn_dtype dtype, tn_str x, tn_str y);
tn_str tn_mlir_unary(tn_mlir *m, tn_op op, tn_dtype dtype, tn_str x); /* exp, log, ... */

/* ---- nodes: the writers that ops.def names ---- */

/* Each writes the node and its value's name; false after saying what is wrong. */
#define TN_OP(id, ...)        __VA_ARGS__
#define TN_EXPORT(mlir, onnx) bool tn_mlir_##mlir(tn_mlir *m, tn_value value);
#include "op/ops.def"

/* The same elements under another shape. */
tn_str tn_mlir_reshaped(tn_mlir *m, tn_str x, const tn_type *from, const tn_type *to, const tn_str *dims);
/* A fresh tensor; `canonical`: with every NaN canonical. */
tn_str tn_mlir_copy(tn_mlir *m, tn_str x, const tn_type *type, const tn_str *dims, bool canonical);

/* ---- mlir_helper.c ---- */

/* The name of the function that reduces a row, which is written after the module. */
tn_str tn_mlir_row_function(tn_mlir *m, tn_mlir_row row, tn_dtype dtype);
void tn_mlir_write_helpers(tn_mlir *m);
#endif
