tn_unit_test(mind_parser mind plan ref)
