tn_unit_test(file_safety base)
