/* export/onnx_internal.h: shared by the files of the ONNX writer.
 *
 * A model is a tree of protobuf messages. A message is a text buffer; a nested one is finished
 * first and then added to the enclosing one. */
#ifndef TN_EXPORT_ONNX_INTERNAL_H
#define TN_EXPORT_ONNX_INTERNAL_H

#include "export/onnx.h"

/* ---- onnx_wire.c: protobuf ---- */

void tn_wire_int(tn_text *out, int field, int64_t number);
void tn_wire_bytes(tn_text *out, int field, tn_str bytes);
void tn_wire_word(tn_text *out, int field, const char *word);

/* Numbers of the format. */
enum {
  TN_ONNX_FLOAT = 1,
  TN_ONNX_INT32 = 6,
  TN_ONNX_INT64 = 7,
  TN_ONNX_BOOL = 9,
  TN_ONNX_FLOAT16 = 10,
  TN_ONNX_DOUBLE = 11,
  TN_ONNX_BFLOAT16 = 16
};
int tn_onnx_dtype(tn_dtype dtype);
/* A TensorProto; the view is copied row by row. */
void tn_onnx_tensor(tn_text *out, tn_str name, const tn_view *view);
/* A ValueInfoProto. */
void tn_onnx_value_info(tn_text *out, tn_str name, const tn_type *type, const tn_names *names);

/* ---- a graph in the making ---- */

typedef struct {
  tn_heap *heap;
  tn_arena arena;
  const tn_graph *graph;
  tn_text *nodes;       /* of the graph or branch that is being written */
  tn_text initializers; /* constants are in the outermost graph and visible in every branch */
  tn_text attributes;   /* of the next node */
  tn_str *values;       /* names, by node */
  bool *used;           /* by node: something needs it */
  uint32_t next;        /* number of the next name */
  tn_export_problem *problem;
  bool failed;
} tn_onnx;

bool tn_onnx_unsupported(tn_onnx *w, const char *feature, tn_span at);
void tn_onnx_fail(tn_onnx *w); /* memory ran out */

/* Attributes of the next node. */
void tn_onnx_attr_int(tn_onnx *w, const char *name, int64_t number);
void tn_onnx_attr_ints(tn_onnx *w, const char *name, const int64_t *numbers, int count);
void tn_onnx_attr_word(tn_onnx *w, const char *name, const char *word);
/* Writes a node with the attributes that were set; its result's name. */
tn_str tn_onnx_op(tn_onnx *w, const char *type, const tn_str *in, int count);
#define TN_ONNX_OP(w, type, ...)                                                                             \
  tn_onnx_op((w), (type), (const tn_str[]){ __VA_ARGS__ },                                                   \
             (int)(sizeof((const tn_str[]){ __VA_ARGS__ }) / sizeof(tn_str)))

/* Constants. */
tn_str tn_onnx_constant(tn_onnx *w, const tn_view *view);
tn_str tn_onnx_number(tn_onnx *w, tn_dtype dtype, double number);   /* 0-d */
tn_str tn_onnx_ints(tn_onnx *w, const int64_t *numbers, int count); /* i64, rank 1 */
tn_str tn_onnx_cast(tn_onnx *w, tn_str x, int dtype);

/* Sizes. One dimension as an i64 tensor of one element; empty after saying that it cannot be known. */
tn_str tn_onnx_size(tn_onnx *w, tn_value value, int axis);
/* The sizes of a type, all together; `at` is the location of its node. */
tn_str tn_onnx_shape(tn_onnx *w, const tn_shape *shape, tn_span at);

/* ---- nodes: the writers that ops.def names ---- */

/* Each writes the node and its value's name; false after saying what is wrong. */
#define TN_OP(id, ...)        __VA_ARGS__
#define TN_EXPORT(mlir, onnx) bool tn_onnx_##onnx(tn_onnx *w, tn_value value);
#include "op/ops.def"
#endif
