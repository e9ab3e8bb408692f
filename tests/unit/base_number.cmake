tn_unit_test(base_number base)
