tn_unit_test(tensor_buffer tensor)
