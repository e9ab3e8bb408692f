tn_unit_test(base_file base)
