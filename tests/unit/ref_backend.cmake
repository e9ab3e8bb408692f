tn_unit_test(ref_backend ref)
