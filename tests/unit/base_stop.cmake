tn_unit_test(base_stop base)
