tn_test(fault emit tern)
