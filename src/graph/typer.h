/* graph/typer.h: the builder that only infers types.
 *
 * With it a front end checks a program by the same calls that lower it: the rules
 * of every operation apply, also those of composed operations. Lengths may be
 * names. A value is a number in a list of types.
 *
 * It has no regions: the caller joins the branches of an `if` itself. */
#ifndef TN_GRAPH_TYPER_H
#define TN_GRAPH_TYPER_H

#include "graph/builder.h"

typedef struct {
  tn_builder base;
  tn_vec(tn_type) types; /* by value; the first is the error's */
} tn_typer;

void tn_typer_init(tn_typer *typer, tn_heap *heap, tn_names *names);
void tn_typer_free(tn_typer *typer);
/* A value of that type out of nothing. TN_ERROR_VALUE with a fault kept, as
 * every builder. */
tn_value tn_typer_value(tn_typer *typer, tn_dtype dtype, const tn_shape *shape);
/* Forgets all values and the fault. */
void tn_typer_reset(tn_typer *typer);
#endif
