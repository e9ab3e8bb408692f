tn_unit_test(guard guard)
