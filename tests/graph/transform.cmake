tn_test(graph transform ad)
if(TEST graph/transform)
  set_tests_properties(graph/transform PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endif()
