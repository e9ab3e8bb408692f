tn_unit_test(ref_move ref)
