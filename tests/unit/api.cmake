tn_unit_test(api tern)
