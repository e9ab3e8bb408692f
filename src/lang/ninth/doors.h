/* lang/ninth/doors.h: the entry points of Ninth, and the state of a program between calls. */
#ifndef TN_LANG_NINTH_DOORS_H
#define TN_LANG_NINTH_DOORS_H

#include "lang/ninth/vm.h"

/* Refuses what the command line gives and no Ninth program can use. False after reporting. */
bool tn_ninth_check_given(tn_host *host);
/* Compiles, loads and runs a file. False after reporting. */
bool tn_ninth_run_file(tn_ninth_vm *m, uint32_t file);

/* What Ninth keeps of a program from call to call. */
typedef struct {
  tn_unit unit;
  bool counted;
  tn_arena arena; /* of the specs, once they have been counted */
  tn_specs specs;
} tn_ninth_kept;

TN_LANG_DOORS(ninth)
#endif
