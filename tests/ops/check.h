/* tests/ops/check.h: one case, by every back end, at several numbers of threads. */
#ifndef TN_TESTS_OPS_CHECK_H
#define TN_TESTS_OPS_CHECK_H

#include "case.h"

/* The instruction sets this machine has. */
#define BACKEND_LIMIT 8
typedef struct {
  const tn_backend *backend[BACKEND_LIMIT];
  int count;
  bool alone;      /* threads of the host do not matter: one is tried, and no large results */
  bool small;      /* TERN_TEST_EFFORT=small: fewer cases and thread counts */
  int share;       /* one of so many cases is tried, the first ones */
  tn_pool *pool;   /* for more than one thread; NULL: their parts run one after another */
} back_ends;
back_ends back_ends_of_this_machine(void);

/* The case's result type, from the rules. */
bool case_infer(op_case *c);
/* Runs the case, whose result type is known, and compares. NULL when all agree, else what is
 * wrong, in a buffer that is valid until the next call. */
const char *check_case(op_case *c, const back_ends *ends);
#endif
