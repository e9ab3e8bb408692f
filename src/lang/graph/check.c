/* lang/graph/check.c: reading a text finds all that can be wrong with a graph. */
#include "lang/graph/doors.h"

bool tn_lang_graph_check(tn_unit *unit) { return tn_graph_unit_read((tn_graph_unit *)unit); }
