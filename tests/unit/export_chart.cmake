tn_unit_test(export_chart export)
