tn_unit_test(plan opt plan ref cpu)
