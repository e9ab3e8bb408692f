/* tensor/shape.h: dimensions, known or symbolic, and how shapes are unified.
 *
 * A dimension is a length (>= 0), a symbol (a name such as B) or unknown.
 * Symbols are numbered by the session's name table: the dimension of name n is
 * TN_DIM_SYMBOL(n). Kernels only ever see known dimensions. */
#ifndef TN_TENSOR_SHAPE_H
#define TN_TENSOR_SHAPE_H

#include "base/text.h"

#define TN_RANK_LIMIT 8
#define TN_ELEMENT_LIMIT ((int64_t)1 << 40)  /* elements in one tensor */

#define TN_DIM_UNKNOWN ((int64_t)-1)
#define TN_DIM_SYMBOL(name) (-2 - (int64_t)(name))

static inline bool tn_dim_is_known(int64_t dim) { return dim >= 0; }
static inline bool tn_dim_is_symbol(int64_t dim) { return dim <= -2; }
static inline tn_name tn_dim_name(int64_t dim) { return (tn_name)(-2 - dim); }

typedef struct {
  int32_t rank;
  int64_t dim[TN_RANK_LIMIT];   /* unused ones are 0, so shapes compare bytewise */
} tn_shape;

#define TN_SCALAR_SHAPE ((tn_shape){ .rank = 0 })
tn_shape tn_shape_of(const int64_t *dims, int rank);   /* rank <= TN_RANK_LIMIT */
/* tn_shape_make(2, 3, 4) is [3, 4]: the rank, then the dimensions. A macro, because a
 * variadic function would read a plain 3 as garbage. */
#define tn_shape_make(...) tn_shape_of_list((const int64_t[]){ __VA_ARGS__ })
static inline tn_shape tn_shape_of_list(const int64_t *list) { return tn_shape_of(list + 1, (int)list[0]); }
bool tn_shape_equal(const tn_shape *a, const tn_shape *b);
bool tn_shape_is_known(const tn_shape *shape);
/* The number of elements: -1 when a dimension is not known, -2 past TN_ELEMENT_LIMIT. 0-d: 1. */
int64_t tn_shape_count(const tn_shape *shape);

/* Axes are matched from the right; an axis of length 1 stretches to its
 * partner; a missing axis counts as 1; a symbol matches itself or 1. On failure
 * false with *axis (of the result, from 0) the first that differs; *out untouched.
 * An unknown length is taken to fit; it decides nothing beside a symbol. */
bool tn_shape_broadcast(const tn_shape *a, const tn_shape *b, tn_shape *out, int *axis);
/* Negative axes count from the end. False when out of range. */
bool tn_shape_axis(int rank, int64_t axis, int *out);

typedef enum { TN_SHAPE_COMMA, TN_SHAPE_SPACE, TN_SHAPE_TUPLE } tn_shape_style; /* [2, 3]  [2 3]  (2,3) */
/* names may be NULL; then a symbol prints as "?", as an unknown does. */
void tn_shape_print(const tn_shape *shape, const tn_names *names, tn_shape_style style, tn_text *out);
#endif
