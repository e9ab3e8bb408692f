/* graph/fused.h: several elementwise operations as one.
 *
 * A fused program is a list of elementwise steps over registers. Registers
 * 0..operands-1 are the operands of the FUSED node, which broadcast to its
 * shape; step i writes register operands+i; the last step is the result. Each
 * step is an elementwise or cast operation of ops.def with its own dtype, so a
 * program means exactly what the separate operations meant, bit for bit. */
#ifndef TN_GRAPH_FUSED_H
#define TN_GRAPH_FUSED_H

#include "op/op.h"

#define TN_FUSED_STEP_LIMIT 48
#define TN_FUSED_OPERAND_LIMIT 16

typedef struct {
  tn_op op;
  tn_dtype dtype;        /* of what it writes */
  uint8_t in[3];         /* registers */
  double number;         /* of a FILL step: a constant; its `in` is unused */
} tn_fused_step;

typedef struct tn_fused {
  int32_t operand_count, step_count;
  tn_dtype operand_dtype[TN_FUSED_OPERAND_LIMIT];
  tn_fused_step step[];  /* step_count of them */
} tn_fused;

size_t tn_fused_bytes(int step_count);
/* How many registers a step of this operation reads. */
int tn_fused_step_arity(tn_op op);
/* NULL when the program is sound for these operands and this result, else what is wrong
 * (static text). */
const char *tn_fused_verify(const tn_fused *program, const tn_type *in, int count, const tn_type *out);
#endif
