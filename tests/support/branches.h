/* tests/support/branches.h: an `if` whose branches are functions. */
#ifndef TN_TEST_BRANCHES_H
#define TN_TEST_BRANCHES_H

#include "graph/builder.h"

/* Builds what one branch computes and fills in its results. */
typedef bool (*branch)(tn_builder *builder, void *context, tn_value *results);

static inline bool all_present(const tn_value *results, int count) {
  for (int i = 0; i < count; i++) {
    if (results[i] == TN_ERROR_VALUE) return false;
  }
  return true;
}

/* A branch that has failed is closed without results, so that building can continue around it. */
static inline uint32_t build_region(tn_builder *builder, branch build, void *context, tn_value *results,
                                    int count) {
  if (!builder->methods->region_begin(builder)) return 0;
  bool ok = build(builder, context, results) && all_present(results, count);
  uint32_t region = builder->methods->region_end(builder, results, ok ? count : 0);
  return ok ? region : 0;
}

/* With `count` results. On failure false, and results are TN_ERROR_VALUE. */
static inline bool build_if(tn_builder *builder, tn_value condition, int count, branch then_branch,
                            branch else_branch, void *context, tn_value *results) {
  tn_value joined = TN_ERROR_VALUE;
  uint32_t then_region = build_region(builder, then_branch, context, results, count);
  uint32_t else_region = then_region ? build_region(builder, else_branch, context, results, count) : 0;
  if (else_region) joined = builder->methods->join(builder, condition, then_region, else_region);
  for (int i = 0; i < count; i++) {
    if (joined == TN_ERROR_VALUE) {
      results[i] = TN_ERROR_VALUE;
      continue;
    }
    const tn_type *type = tn_build_type(builder, results[i]);
    tn_attrs attrs = { .index = (uint64_t)i, .dtype = type->dtype, .shape = type->shape };
    results[i] = tn_build(builder, TN_OP_PICK, &joined, 1, &attrs);
  }
  return all_present(results, count);
}
#endif
