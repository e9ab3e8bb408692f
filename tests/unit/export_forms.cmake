tn_unit_test(export_forms export)
