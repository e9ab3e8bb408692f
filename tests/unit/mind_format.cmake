tn_unit_test(mind_format tern)
