tn_unit_test(ref_scan ref)
