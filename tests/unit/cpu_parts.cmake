tn_unit_test(cpu_parts cpu)
