/* lang/mind/doors.h: what lang.c opens. */
#ifndef TN_LANG_MIND_DOORS_H
#define TN_LANG_MIND_DOORS_H

#include "lang/lang.h"

TN_LANG_DOORS(mind)
#endif
