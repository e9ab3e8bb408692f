tn_unit_test(ref_reduce ref)
