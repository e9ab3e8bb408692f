tn_unit_test(base_json base)
