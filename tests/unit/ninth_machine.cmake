tn_unit_test(ninth_machine ninth ref cpu)
