tn_unit_test(base_text base)
