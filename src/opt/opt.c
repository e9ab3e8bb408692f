/* opt/opt.c: runs the passes, in the order in which each helps the next. */
#include "opt/opt.h"

tn_pass_set tn_pass_find(tn_str name) {
  static const struct {
    const char *name;
    tn_pass_set pass;
  } passes[] = {
    { "fold", TN_PASS_FOLD }, { "cse", TN_PASS_CSE }, { "dce", TN_PASS_DCE },
    { "fuse", TN_PASS_FUSE }, { "recompute", TN_PASS_RECOMPUTE }
  };
  for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
    if (tn_str_is(name, passes[i].name)) return passes[i].pass;
  }
  return (tn_pass_set)0;
}

bool tn_opt_run(tn_graph *graph, tn_pass_set passes, const tn_opt_evaluator *evaluator) {
  uint64_t plenty = evaluator ? evaluator->plenty : 0;
  if ((passes & TN_PASS_DCE) && !tn_opt_dce(graph)) return false;
  if ((passes & TN_PASS_FOLD) && !tn_opt_fold(graph, evaluator)) return false;
  if ((passes & TN_PASS_CSE) && !tn_opt_cse(graph)) return false;
  if ((passes & TN_PASS_DCE) && !tn_opt_dce(graph)) return false;
  if ((passes & TN_PASS_RECOMPUTE) && !tn_opt_recompute(graph, plenty)) return false;
  if ((passes & TN_PASS_FUSE) && !tn_opt_fuse(graph)) return false;
  return true;
}
