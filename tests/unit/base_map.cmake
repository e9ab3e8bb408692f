tn_unit_test(base_map base)
