tn_unit_test(mind_cost mind plan ref)
