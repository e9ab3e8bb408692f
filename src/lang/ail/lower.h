/* lang/ail/lower.h: a graph under construction, for callers that add outputs of their own. */
#ifndef TN_LANG_AIL_LOWER_H
#define TN_LANG_AIL_LOWER_H

#include "lang/ail/walk.h"

typedef struct {
  tn_ail *program;
  tn_graph graph;
  tn_graph_builder builder;
  tn_ail_walk walk;
  size_t errors; /* reported before it began */
} tn_ail_lowering;

/* Inputs and parameters are made and bound. Without sizes, dimensions keep their names and the walk
 * may get stuck. The structure must not move between begin and end. */
bool tn_ail_lowering_begin(tn_ail_lowering *l, tn_ail *program, const tn_sizes *sizes, tn_lower_mode mode);
/* Adds an output; its position, or -1. */
int tn_ail_lowering_output(tn_ail_lowering *l, const tn_ail_operand *operand, tn_name name);
/* Frees the walk. True and the graph, or false and nothing. */
bool tn_ail_lowering_end(tn_ail_lowering *l, tn_graph *out);

/* What kind of values the column of a stage holds. */
tn_data_kind tn_ail_stage_column(const tn_ail *program, const tn_dataset_stage *stage);
#endif
