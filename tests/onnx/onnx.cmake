# What tern exports as ONNX, run by ONNX Runtime.
find_program(TN_NODE node)
set(npm ${PROJECT_SOURCE_DIR}/build/npm/node_modules)
if(NOT (TN_NODE AND EXISTS ${npm}/onnxruntime-node/package.json))
  if(TN_REQUIRE_TESTS)
    message(FATAL_ERROR "onnxruntime-node not found; `make test` installs it, or run tools/setup.sh test")
  endif()
  message(STATUS "onnxruntime-node not found: tests that need it are not built")
elseif(TARGET tern)
  add_test(NAME onnx/models COMMAND ${TN_NODE} ${CMAKE_CURRENT_LIST_DIR}/onnxtest.mjs
    $<TARGET_FILE:tern> ${npm} ${CMAKE_CURRENT_LIST_DIR})
  add_test(NAME docs/emit_onnx COMMAND ${TN_NODE} ${CMAKE_CURRENT_LIST_DIR}/page.mjs
    $<TARGET_FILE:tern> ${npm} ${PROJECT_SOURCE_DIR}/docs/emit.md)
  if(TARGET test_table)
    add_test(NAME onnx/operations COMMAND ${TN_NODE} ${CMAKE_CURRENT_LIST_DIR}/onnxtest.mjs
      $<TARGET_FILE:tern> ${npm} ${TN_OPERATION_GRAPHS})
    set_tests_properties(onnx/operations PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
      FIXTURES_REQUIRED operation_graphs)
  endif()
  set_tests_properties(onnx/models docs/emit_onnx PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
endif()
