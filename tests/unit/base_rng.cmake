tn_unit_test(base_rng base)
