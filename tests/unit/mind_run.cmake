tn_unit_test(mind_run mind plan ref)
