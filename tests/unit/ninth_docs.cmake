tn_unit_test(ninth_docs ninth ref cpu)
if(TARGET test_ninth_docs)
  target_compile_definitions(test_ninth_docs PRIVATE TN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
