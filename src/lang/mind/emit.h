/* lang/mind/emit.h: lowering a program, or a value of an interactive session, to a graph. */
#ifndef TN_LANG_MIND_EMIT_H
#define TN_LANG_MIND_EMIT_H

#include "lang/mind/eval.h"

typedef struct {
  tn_mind_evaluator e;
  tn_mind_trace trace;
  tn_vec(tn_output) outputs;
  tn_vec(bool) scalars; /* by output: a scalar, not a tensor without dimensions */
} tn_mind_lowering_state;

/* The evaluator points to the state, which must not move. */
void tn_mind_lowering_init(tn_mind_lowering_state *s, tn_mind *mind);
void tn_mind_lowering_free(tn_mind_lowering_state *s);
/* A value in one of the forms of `tern emit`. The module's functions follow in MLIR; its variables are those
 * of a gradient. `at` is underlined when there is no gradient. */
bool tn_mind_write_form(tn_mind_lowering_state *s, const tn_mind_module *module, const tn_mind_value *value,
                        tn_span at, tn_emit_kind kind, tn_text *out);
#endif
