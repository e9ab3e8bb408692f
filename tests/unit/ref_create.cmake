tn_unit_test(ref_create ref)
