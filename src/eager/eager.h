/* eager/eager.h: the builder that computes at once, and records operations for gradients.
 *
 * Values are cells with a reference count: a cell holds a tensor and, while
 * recording, the operation and operands it came from. So the chain of references
 * is the tape, and a value without references is freed at once.
 * Gradient rules run through this same builder. Tensors of a few elements live
 * inside their cell and take a short path that calls no kernel and no
 * allocator.
 *
 * A variable is a name for a value that changes: operations use and record the
 * value it has at that moment. An update overwrites that value if nothing has
 * recorded it, and otherwise gives the variable a new one, so that a later
 * backward pass sees the values of its forward pass. */
#ifndef TN_EAGER_EAGER_H
#define TN_EAGER_EAGER_H

#include "ad/ad.h"

struct tn_backend; /* backend/backend.h; front ends that compute at once do not depend on back ends */

typedef struct tn_eager tn_eager;

tn_eager *tn_eager_new(tn_heap *heap, tn_names *names, const struct tn_backend *backend, int threads);
void tn_eager_free(tn_eager *eager);
/* The builder to make operations with. What it makes belongs to the open scope and is given
 * back when that ends, unless a reference was taken by then. */
tn_builder *tn_eager_builder(tn_eager *eager);
size_t tn_eager_scope_begin(tn_eager *eager);
void tn_eager_scope_end(tn_eager *eager, size_t scope);

/* One operation; the result has one reference, the caller's. 0 with the builder's fault set. */
tn_value tn_eager_apply(tn_eager *eager, tn_op op, const tn_value *in, int count, const tn_attrs *attrs);

/* The same without attributes, for callers that no longer need the operands: their references are taken, and
 * one that nothing else holds may become the result. On failure the operands are still the caller's. */
tn_value tn_eager_apply_take(tn_eager *eager, tn_op op, const tn_value *in, int count);
/* Its shortest path: + - * / of two values of a few elements. 0 when it does not apply, and nothing has
 * happened then. With `keeps_second` the reference to that operand stays the caller's. */
tn_value tn_eager_arithmetic(tn_eager *eager, tn_op op, const tn_value *in, bool keeps_second);

tn_value tn_eager_number(tn_eager *eager, float number);            /* 0-d f32 */
tn_value tn_eager_tensor(tn_eager *eager, const tn_tensor *tensor); /* shares the buffer */
void tn_eager_ref(tn_eager *eager, tn_value value);
void tn_eager_unref(tn_eager *eager, tn_value value);
tn_view tn_eager_view(const tn_eager *eager, tn_value value);          /* valid while held and not updated */
const tn_shape *tn_eager_shape(const tn_eager *eager, tn_value value); /* while held */
float tn_eager_first(const tn_eager *eager, tn_value value); /* the first element of an f32 that has one */
/* What the builder gave for an operation, with a reference for the caller; 0 as the builder's fault, also
 * when memory runs out. Where there was nothing to do (a reshape to the same shape) that is an operand
 * itself: then it is the value which the operand has now, and while nothing is recorded one without a
 * gradient. */
tn_value tn_eager_result(tn_eager *eager, tn_value value);
tn_tensor tn_eager_share(tn_eager *eager, tn_value value); /* a tensor that outlives the cell */

/* A detached, trainable copy. */
tn_value tn_eager_variable(tn_eager *eager, tn_value value);
bool tn_eager_is_variable(const tn_eager *eager, tn_value value);
bool tn_eager_needs_grad(const tn_eager *eager, tn_value value);
void tn_eager_recording(tn_eager *eager, bool on); /* [NO_GRAD] turns it off */
bool tn_eager_is_recording(const tn_eager *eager);
/* While recording, operations without a gradient are recorded too, so that tn_eager_to_graph shows
 * the whole computation. Off by default. */
void tn_eager_record_everything(tn_eager *eager, bool on);

/* Adds the gradients of sum(value) to every variable it depends on; may run again over the same
 * values. False with the builder's fault when it depends on none (TN_FAULT_NO_GRADIENT). */
bool tn_eager_backward(tn_eager *eager, tn_value value);
/* The accumulated gradient as a new value (a copy), zeros where there is none. */
tn_value tn_eager_grad(tn_eager *eager, tn_value variable);
bool tn_eager_clear_grad(tn_eager *eager, tn_value variable); /* false with the builder's fault: memory */
/* variable -= lr * grad (lr * grad rounded, then subtracted), in place and seen by every holder.
 * What a recorded operation read before is kept for its backward pass (copied when needed). */
bool tn_eager_sub_assign(tn_eager *eager, tn_value variable, tn_value lr, tn_value grad);

/* variable = tensor, of the same shape and f32, in place and seen by every holder. False with the builder's
 * fault: memory. */
bool tn_eager_assign(tn_eager *eager, tn_value variable, const tn_tensor *tensor);

/* From `begin` to `end` the value and the gradient that a variable had before its first change are
 * kept, so that all changes can be undone. The cost depends only on what changes. Not nested. */
void tn_eager_changes_begin(tn_eager *eager);
void tn_eager_changes_end(tn_eager *eager, bool undo);

/* The computation of `outputs` as a graph whose leaves are params (variables) and constants. A
 * variable that was updated is one param, for the newest of its values that an output was computed
 * with; outputs computed with older values are left out, unless all are: then older values are
 * constants. `params` (may be NULL) receives the current value of each param's variable; the caller
 * unreferences and frees them in any case. */
typedef tn_vec(tn_tensor) tn_tensors;
bool tn_eager_to_graph(tn_eager *eager, const tn_value *outputs, int count, tn_graph *out,
                       tn_tensors *params);
size_t tn_eager_live(const tn_eager *eager); /* cells in use, for tests */
#endif
