tn_unit_test(op_fault op)
