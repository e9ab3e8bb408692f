if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  tn_unit_test(base_stack base)
endif()
