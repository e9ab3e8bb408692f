tn_unit_test(base_utf8 base)
