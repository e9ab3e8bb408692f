tn_unit_test(base_memory base)
