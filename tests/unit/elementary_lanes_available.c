/* tests/unit/elementary_lanes_available.c: which of the compiled tables this machine can run. */
#include <string.h>

#include "unit/elementary_lanes.h"

enum { MOST = 5 };

static size_t collect(const lanes_table **found) {
  size_t count = 0;
  found[count++] = &lanes_scalar;
  found[count++] = &lanes_generic;
#if TN_HAVE_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found[count++] = &lanes_avx2;
#endif
#if TN_HAVE_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    found[count++] = &lanes_avx512;
#endif
#if TN_HAVE_NEON
  found[count++] = &lanes_neon;
#endif
  return count;
}

const lanes_table *const *lanes_available(size_t *count) {
  static const lanes_table *found[MOST];
  *count = collect(found);
  return found;
}

lanes_function *lanes_find(const lanes_table *table, const char *name) {
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->cases[i].name, name) == 0) return table->cases[i].run;
  return NULL;
}
