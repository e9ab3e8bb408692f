tn_unit_test(op_normalise op)
