tn_unit_test(ad_numeric ad plan ref)
