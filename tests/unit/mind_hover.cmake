tn_unit_test(mind_hover tern)
