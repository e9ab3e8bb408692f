/* export/element.h: the formula of an elementwise operation in another format.
 *
 * A format that lacks the operation writes the operations of its formula (op/formula.h), one by
 * one. Each format knows which operations it has. */
#ifndef TN_EXPORT_ELEMENT_H
#define TN_EXPORT_ELEMENT_H

#include "op/op.h"

/* How a format writes single operations; each returns the name of the result, or an empty string. */
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
