tn_unit_test(mind_emit mind plan ref)
