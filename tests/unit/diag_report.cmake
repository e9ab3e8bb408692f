tn_unit_test(diag_report diag base)
