if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  tn_unit_test(api_stack tern)
endif()
