/* ad/jacobian.c: the full Jacobian matrix.
 *
 * One sweep per row (reverse) or per column (forward), whichever are fewer; ties
 * go to reverse. A row is the gradient of one output element, seeded with a 1
 * at its place. */
#include "ad/internal.h"

typedef struct {
  tn_graph_builder *builder;
  tn_value output, wrt;
  tn_type to, from;      /* their types */
  int64_t rows, columns; /* their numbers of elements */
  tn_ad_policy policy;
} matrix;

/* Zeros of this type with a 1 at one place. */
static tn_value unit(const matrix *m, const tn_type *type, int64_t count, int64_t place) {
  tn_builder *builder = &m->builder->base;
  tn_attrs places = { .dtype = TN_I64, .shape = tn_shape_make(1, count) };
  tn_value iota = tn_build(builder, TN_OP_IOTA, NULL, 0, &places);
  tn_value here = tn_build_binary(builder, TN_OP_EQ, iota, tn_build_number(builder, TN_I64, (double)place));
  return tn_build_reshape(builder, tn_build_cast(builder, here, type->dtype), &type->shape);
}

/* Derivatives of all outputs with respect to one input element, or of one output element with
 * respect to all inputs, flat. */
static tn_value slopes(const matrix *m, bool reverse, int64_t place) {
  tn_shape flat = tn_shape_make(1, reverse ? m->columns : m->rows);
  tn_value result = TN_ERROR_VALUE;
  if (reverse) {
    tn_value seed = unit(m, &m->to, m->rows, place);
    tn_grad_request request = { .builder = m->builder,
                                .outputs = &m->output,
                                .seeds = &seed,
                                .output_count = 1,
                                .wrt = &m->wrt,
                                .wrt_count = 1,
                                .policy = m->policy };
    if (seed == TN_ERROR_VALUE || !tn_ad_grad(&request, &result)) return TN_ERROR_VALUE;
  } else {
    tn_value seed = unit(m, &m->from, m->columns, place);
    tn_jvp_request request = { .builder = m->builder,
                               .wrt = &m->wrt,
                               .tangents = &seed,
                               .wrt_count = 1,
                               .outputs = &m->output,
                               .output_count = 1,
                               .policy = m->policy };
    if (seed == TN_ERROR_VALUE || !tn_ad_jvp(&request, &result)) return TN_ERROR_VALUE;
  }
  return tn_build_reshape(&m->builder->base, result, &flat);
}

static tn_value assemble(const matrix *m, bool reverse, tn_value *parts, int64_t count) {
  tn_builder *builder = &m->builder->base;
  for (int64_t i = 0; i < count; i++) {
    parts[i] = slopes(m, reverse, i);
    if (parts[i] == TN_ERROR_VALUE) return TN_ERROR_VALUE;
  }
  return tn_build(builder, TN_OP_STACK, parts, (int)count, &(tn_attrs){ .axis = reverse ? 0 : 1 });
}

/* Dimensions of the output, then those of the input. */
static bool result_type(const matrix *m, tn_type *type) {
  tn_builder *builder = &m->builder->base;
  tn_fault fault = {
    .kind = TN_FAULT_NO_GRADIENT, .left = m->to, .right = m->from, .reason = "a jacobian needs known shapes"
  };
  tn_op op = tn_graph_node(m->builder->graph, m->output)->op;
  *type = m->to;
  for (int i = 0; i < m->from.shape.rank && type->shape.rank < TN_RANK_LIMIT; i++) {
    type->shape.dim[type->shape.rank++] = m->from.shape.dim[i];
  }
  if (m->rows >= 0 && m->columns >= 0) {
    fault.kind = TN_FAULT_RANK_LIMIT;
    fault.got = m->to.shape.rank + m->from.shape.rank;
    if (fault.got <= TN_RANK_LIMIT) return true;
  }
  tn_build_fault(builder, op, fault);
  return false;
}

bool tn_ad_jacobian(tn_graph_builder *builder, tn_value output, tn_value wrt, tn_ad_policy policy,
                    tn_value *jacobian) {
  *jacobian = TN_ERROR_VALUE;
  if (output == TN_ERROR_VALUE || wrt == TN_ERROR_VALUE || !tn_build_ok(&builder->base)) return false;
  matrix m = { .builder = builder,
               .output = output,
               .wrt = wrt,
               .policy = policy,
               .to = *tn_graph_type(builder->graph, output),
               .from = *tn_graph_type(builder->graph, wrt) };
  m.rows = tn_shape_count(&m.to.shape);
  m.columns = tn_shape_count(&m.from.shape);
  tn_type type;
  if (!result_type(&m, &type)) return false;
  if (m.rows == 0 || m.columns == 0) {
    *jacobian = tn_build_fill(&builder->base, &type, 0);
    return *jacobian != TN_ERROR_VALUE;
  }
  bool reverse = m.rows <= m.columns;
  int64_t count = reverse ? m.rows : m.columns;
  if (count > TN_OPERAND_LIMIT) {
    tn_build_fault(&builder->base, TN_OP_STACK,
                   (tn_fault){ .kind = TN_FAULT_TOO_LARGE,
                               .left = type,
                               .expected = TN_OPERAND_LIMIT,
                               .reason = "the number of rows of a jacobian" });
    return false;
  }
  size_t bytes = (size_t)count * sizeof(tn_value);
  tn_value *parts = tn_heap_alloc(builder->base.heap, bytes);
  if (parts)
    *jacobian = tn_build_reshape(&builder->base, assemble(&m, reverse, parts, count), &type.shape);
  else
    tn_build_fault(&builder->base, TN_OP_STACK, (tn_fault){ .kind = TN_FAULT_MEMORY });
  tn_heap_free(builder->base.heap, parts, bytes);
  return *jacobian != TN_ERROR_VALUE;
}
