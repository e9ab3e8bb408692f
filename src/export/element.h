/* export/element.h: the formula of an elementwise operation in another format.
 *
 * A format without an operation of its own for it writes the operations of its formula (op/formula.h), one by
 * one. Each format knows which operations it has. */
#ifndef TN_EXPORT_ELEMENT_H
#define TN_EXPORT_ELEMENT_H

#include "op/op.h"

/* What a form can write of single operations; each gives the name of the result, or nothing. */
typedef struct {
  void *writer;
  tn_str (*number)(void *writer, tn_dtype dtype, double number);
  tn_str (*choose)(void *writer, tn_dtype dtype, const tn_str *in); /* condition, x, y */
  tn_str (*element)(void *writer, tn_op op, tn_dtype dtype, const tn_str *in);
} tn_export_words;

/* The operation on operands of this dtype. Empty when its formula is itself, or has something that the form
 * cannot write. */
tn_str tn_export_formula(const tn_export_words *words, tn_op op, tn_dtype dtype, const tn_str *in);
#endif
