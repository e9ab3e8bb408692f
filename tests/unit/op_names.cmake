tn_unit_test(op_names op)
