tn_unit_test(data_table data)
