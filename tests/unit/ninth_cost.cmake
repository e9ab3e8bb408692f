tn_unit_test(ninth_cost ninth ref cpu)
