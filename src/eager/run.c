/* eager/run.c: computes any operation at once with the back end.
 *
 * Views share their operand's buffer; elements that live inside a cell are
 * copied, because the cell may go before the view does. */
#include <string.h>

#include "eager/internal.h"

static bool has_scratch(tn_eager *eager, size_t bytes) {
  if (bytes <= eager->scratch_bytes) return true;
  void *more = tn_heap_alloc_aligned(eager->heap, bytes, 64);
  if (!more) return false;
  tn_heap_free_aligned(eager->heap, eager->scratch, eager->scratch_bytes);
  eager->scratch = more;
  eager->scratch_bytes = bytes;
  return true;
}

static bool run_kernel(tn_eager *eager, tn_op op, const tn_attrs *attrs, const tn_view *in, int count,
                       const tn_view *out) {
  tn_fault fault = { 0 };
  tn_kernel_call call = {
    .op = op, .attrs = attrs, .in = in, .count = count, .out = out, .threads = eager->threads, .fault = &fault
  };
  const tn_backend *backend = eager->backend;
  size_t scratch =
      backend->scratch ? backend->scratch(backend, op, attrs, in, count, out, eager->threads) : 0;
  if (!has_scratch(eager, scratch)) {
    tn_eager_out_of_memory(eager);
    return false;
  }
  call.scratch = eager->scratch;
  call.pool = eager->heap->pool;
  call.stop = eager->heap->stop;
  bool ok = tn_backend_run(backend, &call);
  if (tn_stop_asked(call.stop)) ok = false, fault = (tn_fault){ .kind = TN_FAULT_INTERRUPTED };
  if (ok) return true;
  tn_build_fault(&eager->builder, op, fault);
  return false;
}

/* A cell that views its operand's buffer, or 0 if that is not possible. */
static tn_value share_view(tn_eager *eager, tn_op op, tn_value in, const tn_attrs *attrs,
                           const tn_type *type) {
  const tn_layout *operand = tn_cell_of(eager, in)->layout;
  tn_view view;
  if (!operand->buffer || !tn_op_view_data(op, attrs, &type->shape, &operand->view, &view))
    return TN_ERROR_VALUE;
  return tn_cell_over(eager, type, &view, tn_buffer_ref(operand->buffer));
}

/* A copy of the elements in row-major order. */
static tn_value copy_view(tn_eager *eager, tn_op op, tn_value in, const tn_attrs *attrs,
                          const tn_type *type) {
  tn_view from = tn_cell_view(tn_cell_of(eager, in));
  tn_view view = from;
  tn_op_view_data(op, attrs, &type->shape, &from, &view);
  tn_value value = tn_cell_new(eager, type);
  if (value == TN_ERROR_VALUE || tn_shape_count(&type->shape) == 0) return value;
  tn_view out = tn_cell_view(tn_cell_of(eager, value));
  if (!run_kernel(eager, TN_OP_RESHAPE, attrs, &view, 1, &out)) {
    tn_eager_unref(eager, value);
    return TN_ERROR_VALUE;
  }
  return value;
}

#define TN_EAGER_FEW 16

static tn_value run_general(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                            const tn_type *type) {
  tn_view few[TN_EAGER_FEW], *views = few;
  if (count > TN_EAGER_FEW) {
    views = tn_heap_alloc(eager->heap, (size_t)count * sizeof *views);
    if (!views) return tn_eager_out_of_memory(eager);
  }
  for (int i = 0; i < count; i++) views[i] = tn_cell_view(tn_cell_of(eager, in[i]));
  tn_value value = tn_cell_new(eager, type);
  if (value != TN_ERROR_VALUE) {
    tn_view out = tn_cell_view(tn_cell_of(eager, value));
    if (!run_kernel(eager, op, attrs, views, count, &out)) {
      tn_eager_unref(eager, value);
      value = TN_ERROR_VALUE;
    }
  }
  if (views != few) tn_heap_free(eager->heap, views, (size_t)count * sizeof *views);
  return value;
}

static tn_value compute(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                        const tn_type *type) {
  if (op == TN_OP_CONST) return tn_eager_tensor(eager, attrs->literal);
  if (tn_op_sig_of(op)->kind != TN_KIND_VIEW) return run_general(eager, op, in, count, attrs, type);
  tn_value value = share_view(eager, op, in[0], attrs, type);
  return value != TN_ERROR_VALUE || !tn_build_ok(&eager->builder) ? value
                                                                  : copy_view(eager, op, in[0], attrs, type);
}

/* An operation whose derivative is 0 passes gradients on, as zeros; one without a derivative does not. */
bool tn_eager_flows(const tn_eager *eager, tn_op op, const tn_value *in, int count, tn_dtype dtype) {
  if (!eager->recording || !tn_dtype_in(dtype, TN_FLOATS)) return false;
  bool depends = false;
  for (int i = 0; i < count; i++) depends |= tn_cell_of(eager, in[i])->needs_grad;
  return depends && tn_ad_has_vjp(op) != TN_DERIVATIVE_NONE;
}

static tn_value finish(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                       const tn_attrs *attrs) {
  tn_cell *cell = tn_cell_of(eager, value);
  return tn_eager_remember(eager, value, op, in, count, attrs,
                           tn_eager_flows(eager, op, in, count, cell->layout->type.dtype));
}

tn_value tn_eager_remember(tn_eager *eager, tn_value value, tn_op op, const tn_value *in, int count,
                           const tn_attrs *attrs, bool gradient) {
  tn_cell *cell = tn_cell_of(eager, value);
  if (!gradient && !(eager->everything && eager->recording && op != TN_OP_CONST)) return value;
  cell->needs_grad = gradient;
  if (tn_cell_remember(eager, value, op, in, count, attrs)) return value;
  tn_eager_unref(eager, value);
  return tn_eager_out_of_memory(eager);
}

tn_value tn_eager_run(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs,
                      const tn_type *type) {
  tn_value few[TN_EAGER_FEW], *resolved = few;
  if (count > TN_EAGER_FEW) {
    resolved = tn_heap_alloc(eager->heap, (size_t)count * sizeof *resolved);
    if (!resolved) return tn_eager_out_of_memory(eager);
  }
  for (int i = 0; i < count; i++) resolved[i] = tn_cell_value(eager, in[i]);
  tn_value value = compute(eager, op, resolved, count, attrs, type);
  if (value != TN_ERROR_VALUE) value = finish(eager, value, op, resolved, count, attrs);
  if (resolved != few) tn_heap_free(eager->heap, resolved, (size_t)count * sizeof *resolved);
  return value;
}
