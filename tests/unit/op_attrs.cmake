tn_unit_test(op_attrs op)
