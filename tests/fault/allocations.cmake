tn_test(fault allocations api)
if(TARGET test_allocations)
  target_compile_definitions(test_allocations PRIVATE SOURCES="${PROJECT_SOURCE_DIR}")
endif()
