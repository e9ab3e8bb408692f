tn_unit_test(graph_text graph)
