tn_test(slow allocations_all api)
if(TARGET test_allocations_all)
  target_compile_definitions(test_allocations_all PRIVATE SOURCES="${PROJECT_SOURCE_DIR}")
endif()
