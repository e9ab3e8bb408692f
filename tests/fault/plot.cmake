tn_test(fault plot tern)
