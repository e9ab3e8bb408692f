tn_unit_test(eager_quick eager opt plan ref cpu)
