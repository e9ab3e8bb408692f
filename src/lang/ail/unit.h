/* lang/ail/unit.h: what AILang keeps of a program from call to call, and its doors for that. */
#ifndef TN_LANG_AIL_UNIT_H
#define TN_LANG_AIL_UNIT_H

#include "lang/ail/ail.h"

typedef struct {
  tn_unit unit;
  tn_ail *program; /* kept for its specs; NULL: nobody has asked for them */
  tn_specs specs;
} tn_ail_unit;

const tn_specs *tn_ail_unit_specs(tn_unit *unit);
/* `loss` must be NULL. Every input must be given. */
bool tn_ail_unit_lower(tn_unit *unit, const char *loss, tn_lowered *out);
void tn_ail_unit_drop(tn_unit *unit);
/* Whole trainings. */
extern const tn_training_doors tn_ail_training;
#endif
