tn_unit_test(tensor_copy tensor)
