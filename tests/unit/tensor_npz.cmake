tn_unit_test(tensor_npz tensor graph)
