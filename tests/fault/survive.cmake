# Training runs that are killed, starved and stopped. The shim goes between the program and the C library,
# where a sanitizer wants to be; the program is the plain one, so one build tells all.
if(TARGET tern AND NOT TN_INSTRUMENTED AND NOT CMAKE_CROSSCOMPILING)
  add_library(fault_shim MODULE ${CMAKE_CURRENT_LIST_DIR}/shim.c)
  target_link_libraries(fault_shim PRIVATE ${CMAKE_DL_LIBS})
  add_executable(survive ${CMAKE_CURRENT_LIST_DIR}/survive.c ${PROJECT_SOURCE_DIR}/tests/runner/run.c)
  target_include_directories(survive PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(survive PRIVATE tern_flags)
  foreach(test "fault/kill kill 50" "fault/naive naive 300" "fault/stop stop 12" "fault/full_disk full"
               "fault/second_signal twice"
               "slow/kill kill 1000" "slow/stop stop 200")
    separate_arguments(words UNIX_COMMAND ${test})
    list(POP_FRONT words name)
    add_test(NAME ${name} COMMAND survive $<TARGET_FILE:tern> $<TARGET_FILE:fault_shim> ${words})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
    if(name MATCHES "^slow/")
      set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
    endif()
  endforeach()
endif()
