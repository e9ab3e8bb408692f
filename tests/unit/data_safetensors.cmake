tn_unit_test(data_safetensors data)
