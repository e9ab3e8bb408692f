tn_unit_test(base_sha256 base)
