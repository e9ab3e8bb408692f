tn_unit_test(ref_matmul ref)
