/* What every back end has in common: a kernel and a scalar for each operation. */
#include "ref_support.h"

#include "op/scalar.h"

static void ref_has_a_kernel_for_all_that_is_not_the_plans(void **state) {
  (void)state;
  const tn_backend *ref = tn_backend_ref();
  assert_string_equal(ref->name, "ref");
  assert_string_equal(ref->isa, "");
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    tn_op_kind kind = tn_op_sig_of(op)->kind;
    bool planned = kind == TN_KIND_BRANCH || kind == TN_KIND_PICK || kind == TN_KIND_EFFECT ||
                   kind == TN_KIND_COMPOSED || kind == TN_KIND_INPUT || kind == TN_KIND_LITERAL;
    if (planned == (ref->kernels[op] != NULL)) fail_msg("%s", tn_op_sig_of(op)->name);
  }
}

/* Elementwise operations without attributes, in the dtypes the table allows and in no others. */
static void every_elementwise_operation_has_its_scalars(void **state) {
  (void)state;
  for (tn_op op = 1; op < TN_OP_COUNT; op++) {
    const tn_op_sig *sig = tn_op_sig_of(op);
    if (sig->kind != TN_KIND_ELEMENTWISE || sig->attrs != 0 || sig->arity > 2) continue;
    for (tn_dtype dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
      bool one = tn_scalar_unary(op, dtype) != NULL, two = tn_scalar_binary(op, dtype) != NULL;
      bool allowed = tn_dtype_in(dtype, sig->dtypes);
      if (one != (allowed && sig->arity == 1) || two != (allowed && sig->arity == 2))
        fail_msg("%s of %s", sig->name, tn_dtype_name(dtype));
    }
  }
}

static void what_is_not_elementwise_has_no_scalar(void **state) {
  (void)state;
  assert_null(tn_scalar_unary(TN_OP_SUM, TN_F32));
  assert_null(tn_scalar_binary(TN_OP_MATMUL, TN_F32));
  assert_null(tn_scalar_unary(TN_OP_NEG, TN_BF16));
  assert_null(tn_scalar_binary(TN_OP_ADD, TN_F16));
  assert_null(tn_scalar_fma(TN_BOOL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(ref_has_a_kernel_for_all_that_is_not_the_plans),
    cmocka_unit_test(every_elementwise_operation_has_its_scalars),
    cmocka_unit_test(what_is_not_elementwise_has_no_scalar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
