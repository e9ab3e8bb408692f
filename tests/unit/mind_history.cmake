tn_unit_test(mind_history mind plan ref)
