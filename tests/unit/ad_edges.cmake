tn_unit_test(ad_edges ad plan ref)
