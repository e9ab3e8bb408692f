tn_unit_test(mind_types mind)
