tn_unit_test(base_machine base)
