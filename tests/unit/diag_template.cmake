tn_unit_test(diag_template diag base)
