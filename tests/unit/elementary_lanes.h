/* tests/unit/elementary_lanes.h: what base/simd.h and the elementary functions compute in one
 * instruction set.
 *
 * elementary_lanes.c is compiled once for each; every compilation leaves a table of the same cases
 * under its own name. Whatever a case computes must have the same bits in all of them. */
#ifndef TN_TESTS_ELEMENTARY_LANES_H
#define TN_TESTS_ELEMENTARY_LANES_H

#include <stdbool.h>
#include <stddef.h>

/* out[i] = case(a[i], b[i], c[i]); results that are integers or masks are stored as the bits of a
 * float. */
typedef void lanes_function(const float *a, const float *b, const float *c, float *out, size_t count);

typedef struct {
  const char *name;
  lanes_function *run;
} lanes_case;

typedef struct {
  const char *isa;
  int lanes;
  bool hardware_fma;
  const lanes_case *cases;
  size_t count;
  bool (*masks_hold)(void);
  void (*fma_f64)(const double *a, const double *b, const double *c, double *out, size_t count);
} lanes_table;

extern const lanes_table lanes_scalar, lanes_generic, lanes_avx2, lanes_avx512, lanes_neon;

/* The tables this build has and this machine can run, the scalar one first; `count` receives their
 * number. */
const lanes_table *const *lanes_available(size_t *count);

/* The function of that name, or NULL. */
lanes_function *lanes_find(const lanes_table *table, const char *name);
#endif
