tn_unit_test(graph_graph graph)
