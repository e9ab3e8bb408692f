tn_unit_test(diag_explain diag base)
