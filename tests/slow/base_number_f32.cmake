tn_test(slow base_number_f32 base)
