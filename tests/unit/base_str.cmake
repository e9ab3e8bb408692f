tn_unit_test(base_str base)
