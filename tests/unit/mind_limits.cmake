tn_unit_test(mind_limits mind plan ref)
