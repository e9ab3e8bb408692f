/* tests/ops/generators.c: which generator makes cases of which operation. */
#include "case.h"

/* An operation with operands or attributes of its own needs a line here. */
static const generator special[TN_OP_COUNT] = {
  [TN_OP_FILL] = { make_fill, 60 },
  [TN_OP_IOTA] = { make_iota, 60 },
  [TN_OP_UNIFORM] = { make_random, 60 },
  [TN_OP_NORMAL] = { make_random, 60 },
  [TN_OP_CAST] = { make_cast, 49 * 4 },
  [TN_OP_SELECT] = { make_select, 100 },
  [TN_OP_FUSED] = { make_fused, 320 },
  [TN_OP_RESHAPE] = { make_reshape, 160 },
  [TN_OP_TRANSPOSE] = { make_transpose, 100 },
  [TN_OP_BROADCAST_TO] = { make_broadcast_to, 100 },
  [TN_OP_SLICE] = { make_slice, 100 },
  [TN_OP_PAD] = { make_pad, 100 },
  [TN_OP_CONCAT] = { make_concat, 100 },
  [TN_OP_GATHER] = { make_gather, 120 },
  [TN_OP_SCATTER_ADD] = { make_scatter_add, 120 },
  [TN_OP_ROW_UPDATE] = { make_row_update, 120 },
  [TN_OP_PATCHES] = { make_patches, 100 },
  [TN_OP_FOLD] = { make_fold, 100 },
  [TN_OP_SUM] = { make_reduction, 300 },
  [TN_OP_MEAN] = { make_reduction, 100 },
  [TN_OP_MAX] = { make_reduction, 160 },
  [TN_OP_MIN] = { make_reduction, 160 },
  [TN_OP_PROD] = { make_reduction, 160 },
  [TN_OP_ELEMENTS] = { make_count, 40 },
  [TN_OP_ARGMAX] = { make_argmax, 120 },
  [TN_OP_CUMSUM] = { make_scan, 120 },
  [TN_OP_CUMPROD] = { make_scan, 120 },
  [TN_OP_SOFTMAX] = { make_softmax, 160 },
  [TN_OP_LOG_SOFTMAX] = { make_softmax, 160 },
  [TN_OP_LAYER_NORM] = { make_layer_norm, 240 },
  [TN_OP_LAYER_NORM_GRAD] = { make_layer_norm_grad, 240 },
  [TN_OP_CROSS_ENTROPY] = { make_cross_entropy, 160 },
  [TN_OP_MATMUL] = { make_matmul, 560 },
  [TN_OP_ATTENTION] = { make_attention, 160 },
  [TN_OP_ATTENTION_GRAD] = { make_attention, 160 },
  [TN_OP_DEPTHWISE] = { make_depthwise, 160 },
  [TN_OP_DEPTHWISE_IMAGE] = { make_depthwise, 160 },
  [TN_OP_DEPTHWISE_WEIGHTS] = { make_depthwise, 160 },
};

/* Elementwise operations of one and two operands need none: the table says all there is to know. */
generator generator_of(tn_op op) {
  const tn_op_sig *sig = tn_op_sig_of(op);
  if (special[op].make) return special[op];
  bool plain = sig->kind == TN_KIND_ELEMENTWISE && sig->attrs == 0;
  if (plain && sig->arity == 1) return (generator){ make_unary, 64 };
  if (plain && sig->arity == 2) return (generator){ make_binary, 64 };
  return (generator){ NULL, 0 };
}
