tn_unit_test(opt opt plan ref cpu)
