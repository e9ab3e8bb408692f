tn_unit_test(tensor_view tensor)
