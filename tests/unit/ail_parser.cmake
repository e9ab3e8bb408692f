tn_unit_test(ail_parser ail plan ref)
