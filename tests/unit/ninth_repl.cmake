tn_unit_test(ninth_repl ninth ref cpu)
