/* lang/graph/lang.c: the table of entry points of graph programs. */
#include "lang/graph/doors.h"

const tn_lang *tn_lang_graph(void) {
  static const char *const extensions[] = { ".graph", NULL };
  static const tn_lang language = { .name = "graph",
                                    .extensions = extensions,
                                    .unit_bytes = sizeof(tn_graph_unit),
                                    .drop = tn_lang_graph_drop,
                                    .check = tn_lang_graph_check,
                                    .run = tn_lang_graph_run,
                                    .format = tn_lang_graph_format,
                                    .emit = tn_lang_graph_emit,
                                    .show = tn_lang_graph_show,
                                    .plan = tn_lang_graph_plan,
                                    .specs = tn_lang_graph_specs,
                                    .lower = tn_lang_graph_lower };
  return &language;
}
