tn_unit_test(tensor_dtype tensor)
