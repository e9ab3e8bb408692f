tn_unit_test(diag_render diag base)
