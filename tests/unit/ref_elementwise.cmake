tn_unit_test(ref_elementwise ref)
