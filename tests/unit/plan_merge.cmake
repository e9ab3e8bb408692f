tn_unit_test(plan_merge opt plan ref cpu)
