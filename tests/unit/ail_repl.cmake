tn_unit_test(ail_repl ail plan ref)
