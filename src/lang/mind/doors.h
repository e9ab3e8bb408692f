/* lang/mind/doors.h: the entry points of MIND. */
#ifndef TN_LANG_MIND_DOORS_H
#define TN_LANG_MIND_DOORS_H

#include "lang/lang.h"

TN_LANG_DOORS(mind)
#endif
