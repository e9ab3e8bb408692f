tn_unit_test(tensor_print tensor)
