tn_unit_test(ail_lines ail)
