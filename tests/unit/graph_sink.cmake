tn_unit_test(graph_sink opt plan ref cpu)
