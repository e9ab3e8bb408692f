/* lang/ail/unit.h: what AILang keeps of a program from call to call, and its doors for that. */
#ifndef TN_LANG_AIL_UNIT_H
#define TN_LANG_AIL_UNIT_H

#include "lang/lang.h"

typedef struct {
  tn_unit unit;
  tn_arena arena; /* of the slots */
  tn_slots slots;
} tn_ail_unit;

const tn_slots *tn_ail_unit_slots(tn_unit *unit);
/* `loss` must be NULL. Every input must be given. */
bool tn_ail_unit_lower(tn_unit *unit, const char *loss, tn_lowered *out);
void tn_ail_unit_drop(tn_unit *unit);
#endif
