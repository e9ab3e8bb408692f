/* tensor/shape_field.h: a shape as a field of a diagnostic.
 *
 * Separate from shape.h, so that code that only computes with shapes, such as
 * kernels, does not depend on the list of diagnostics. */
#ifndef TN_TENSOR_SHAPE_FIELD_H
#define TN_TENSOR_SHAPE_FIELD_H

#include "diag/diag.h"
#include "tensor/shape.h"

tn_field tn_shape_field(const char *name, const tn_shape *shape, const tn_names *names, tn_shape_style style);
/* The same with the lengths that names have: [B=1, K=2]. `lengths` has the rank of the shape. */
tn_field tn_shape_field_bound(const char *name, const tn_shape *shape, const tn_shape *lengths,
                              const tn_names *names, tn_shape_style style);
#endif
