tn_test(fault corrupt tern)
