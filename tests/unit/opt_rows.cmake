tn_unit_test(opt_rows opt plan ref cpu)
