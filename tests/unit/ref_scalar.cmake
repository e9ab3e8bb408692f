tn_unit_test(ref_scalar ref)
