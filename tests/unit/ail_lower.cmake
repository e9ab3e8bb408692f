tn_unit_test(ail_lower ail plan ref)
