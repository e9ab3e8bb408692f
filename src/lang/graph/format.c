/* lang/graph/format.c: formats the text form of a graph. */
#include "lang/graph/doors.h"

bool tn_lang_graph_format(tn_unit *unit, tn_text *out) {
  if (!tn_graph_unit_read((tn_graph_unit *)unit)) return false;
  tn_graph_print(&((tn_graph_unit *)unit)->source, out);
  return true;
}
