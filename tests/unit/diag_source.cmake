tn_unit_test(diag_source diag base)
