tn_test(ops composed plan cpu ref)
if(TARGET test_composed)
  target_sources(test_composed PRIVATE ${CMAKE_CURRENT_LIST_DIR}/case.c ${CMAKE_CURRENT_LIST_DIR}/check.c)
endif()
