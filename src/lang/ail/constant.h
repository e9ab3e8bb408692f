/* lang/ail/constant.h: numbers, strings and booleans that are known from the text alone. */
#ifndef TN_LANG_AIL_CONSTANT_H
#define TN_LANG_AIL_CONSTANT_H

#include "lang/ail/internal.h"

/* Which names have a value. */
typedef struct {
  const tn_ail *program; /* whose constants are known */
  /* Names that hide them; NULL: none. True and the value where it is known; false with *hidden where the name
   * means something that is no constant. */
  bool (*bound)(const void *context, tn_name name, tn_ail_const *out, bool *hidden);
  const void *context;
} tn_ail_constants;

/* Why an expression has no value. */
typedef struct {
  const char *reason; /* static */
  tn_span at;
  tn_name name;    /* the name that is not a constant, or 0 */
  bool wanting;    /* a name or a form in it is not a constant */
  bool spoken_for; /* a constant in it was reported */
  bool waits;      /* for constant `other`, which has no value yet */
  uint32_t other;
} tn_ail_no_constant;

/* What the operator computes. */
tn_op tn_ail_operation(tn_ail_operator op);
/* The value of an expression of literals, constants, `+ - * /`, signs and parentheses. Reports nothing. */
bool tn_ail_constant(const tn_ail_constants *constants, const tn_ail_expr *expr, tn_ail_const *out,
                     tn_ail_no_constant *why);
/* Gives every constant of the program its value, whatever their order; one that has none is reported
 * and broken. False when memory ran out. */
bool tn_ail_resolve_constants(tn_ail *program);
#endif
