# A sanitizer's runtime needs what the guard refuses; the guard itself is the same in every build.
if(NOT TN_INSTRUMENTED AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  tn_test(guard escape guard)
  if(TARGET test_escape)
    target_sources(test_escape PRIVATE ${PROJECT_SOURCE_DIR}/tests/guard/attempts.c)
    set_tests_properties(guard/escape PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()

# The program itself, also on kernels that lack something.
if(NOT TN_INSTRUMENTED AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND TARGET tern)
  add_executable(without ${PROJECT_SOURCE_DIR}/tests/guard/without.c)
  target_link_libraries(without PRIVATE tern_flags)
  if(EXISTS /usr/bin/python3)
    add_test(NAME guard/promises
      COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/guard/promises.py $<TARGET_FILE:tern>)
    set_tests_properties(guard/promises PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${TN_TEST_TIMEOUT})
  endif()
  tn_script_test(guard/sandbox tests/guard/sandbox.sh $<TARGET_FILE:tern> $<TARGET_FILE:without>)
endif()
