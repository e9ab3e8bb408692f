tn_unit_test(ail_format ail plan ref)
