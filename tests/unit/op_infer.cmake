tn_unit_test(op_infer op)
