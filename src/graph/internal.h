/* graph/internal.h: shared by the files of graph/. */
#ifndef TN_GRAPH_INTERNAL_H
#define TN_GRAPH_INTERNAL_H

#include "graph/builder.h"
#include "graph/fused.h"

/* A composed operation that is to be replaced by its parts. Types are copies, so they
 * stay while parts are made. The number of operands is right. */
typedef struct {
  tn_builder *builder;
  tn_op op;
  const tn_value *in;
  const tn_type *types;
  int count;
  const tn_attrs *attrs; /* as given: axes may be negative */
} tn_expand_args;

/* Returns the value that replaces the operation, or TN_ERROR_VALUE with a fault kept. */
tn_value tn_expand(const tn_expand_args *args);

/* Whether the operand has the rank; if not, keeps a fault that says what is `wanted`. */
bool tn_expand_check_rank(const tn_expand_args *args, int operand, int rank, const char *wanted);

/* Of operations whose parts are in files of their own. */
tn_value tn_expand_layer_norm(const tn_expand_args *args);
tn_value tn_expand_layer_norm_grad(const tn_expand_args *args);
tn_value tn_expand_attention(const tn_expand_args *args);
tn_value tn_expand_attention_grad(const tn_expand_args *args);
tn_value tn_expand_conv2d(const tn_expand_args *args);
tn_value tn_expand_depthwise(const tn_expand_args *args);
tn_value tn_expand_depthwise_image(const tn_expand_args *args);
tn_value tn_expand_depthwise_weights(const tn_expand_args *args);

#endif
