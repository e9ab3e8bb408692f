tn_unit_test(tensor_npy tensor)
