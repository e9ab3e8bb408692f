# Mutated inputs for every door of the program. `make test` tries a sample, tools/attack.sh the whole of it.
if(TARGET tern AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_executable(attack ${CMAKE_CURRENT_LIST_DIR}/attack.c ${CMAKE_CURRENT_LIST_DIR}/cases.c
    ${CMAKE_CURRENT_LIST_DIR}/judge.c ${CMAKE_CURRENT_LIST_DIR}/mutate.c
    ${PROJECT_SOURCE_DIR}/tests/runner/run.c)
  target_include_directories(attack PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(attack PRIVATE tern_flags tn_base)
  if(TN_INSTRUMENTED)
    set(inputs 150)
  else()
    set(inputs 1500)
  endif()
  add_test(NAME attack/inputs COMMAND attack --tern $<TARGET_FILE:tern> --root ${PROJECT_SOURCE_DIR}
    --count ${inputs} --keep ${PROJECT_BINARY_DIR}/attack)
  set_tests_properties(attack/inputs PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})

  add_executable(depth ${CMAKE_CURRENT_LIST_DIR}/depth.c ${PROJECT_SOURCE_DIR}/tests/runner/run.c)
  target_include_directories(depth PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(depth PRIVATE tern_flags)
  if(TN_INSTRUMENTED)
    set(programs 20 --large 1)
  else()
    set(programs 30)
  endif()
  add_test(NAME attack/depth COMMAND depth --tern $<TARGET_FILE:tern> --count ${programs}
    --keep ${PROJECT_BINARY_DIR}/attack/depth)
  set_tests_properties(attack/depth PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
endif()
