tn_unit_test(graph_verify graph)
