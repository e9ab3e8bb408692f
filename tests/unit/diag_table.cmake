tn_unit_test(diag_table diag base)
