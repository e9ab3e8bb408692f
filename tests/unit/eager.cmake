tn_unit_test(eager eager opt plan ref cpu)
