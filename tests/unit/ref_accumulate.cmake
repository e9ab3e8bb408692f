tn_unit_test(ref_accumulate ref)
