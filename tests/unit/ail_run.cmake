tn_unit_test(ail_run ail plan ref)
