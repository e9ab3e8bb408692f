/* lang/graph/check.c: checks a graph; parsing its text finds every error. */
#include "lang/graph/doors.h"

bool tn_lang_graph_check(tn_unit *unit) { return tn_graph_unit_read((tn_graph_unit *)unit); }
