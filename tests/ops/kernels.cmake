tn_test(ops kernels cpu ref)
if(TARGET test_kernels)
  target_sources(test_kernels PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/case.c ${CMAKE_CURRENT_LIST_DIR}/check.c
    ${CMAKE_CURRENT_LIST_DIR}/make_elementwise.c ${CMAKE_CURRENT_LIST_DIR}/make_move.c
    ${CMAKE_CURRENT_LIST_DIR}/make_reduce.c)
  set_tests_properties(ops/kernels PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  if(TN_INSTRUMENTED)
    set_tests_properties(ops/kernels PROPERTIES ENVIRONMENT TERN_TEST_EFFORT=small)
  endif()
endif()
