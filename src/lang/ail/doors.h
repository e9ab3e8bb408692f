/* lang/ail/doors.h: the entry points of AILang, and the state of a program between calls. */
#ifndef TN_LANG_AIL_DOORS_H
#define TN_LANG_AIL_DOORS_H

#include "lang/ail/ail.h"

typedef struct {
  tn_unit unit;
  tn_ail *program; /* kept for its specs; NULL: not needed yet */
  tn_specs specs;
} tn_ail_unit;

/* Whole trainings. */
extern const tn_training_doors tn_ail_training;

TN_LANG_DOORS(ail)
#endif
