/* runner/example.h: the examples of diag.def, run as `tern explain` shows them. */
#ifndef TN_TEST_EXAMPLE_H
#define TN_TEST_EXAMPLE_H

#include "diag/diag.h"
#include "runner/run.h"

/* Writes the example's files into the folder and runs its command there with `more` after it; the
 * caller frees. */
outcome run_example(const tn_diag_info *info, const char *folder, bool right, const char *more);
#endif
