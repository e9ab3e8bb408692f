/* tests/unit/base_pool_portable.c: the same tests with helpers that sleep on a condition variable, as they do
 * where there is no futex. */
#define TN_POOL_FUTEX 0
#include "unit/base_pool.c"

#include "base/pool.c"
