tn_unit_test(tensor_shape tensor)
