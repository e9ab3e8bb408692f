tn_unit_test(graph_builder graph)
