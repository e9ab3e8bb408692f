tn_unit_test(ninth_text ninth ref cpu)
