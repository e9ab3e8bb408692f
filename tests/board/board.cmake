# The server inside the test, its clients over real sockets.
if(TN_MICROHTTPD_INCLUDE AND SQLite3_INCLUDE_DIR)
  tn_test(board clients board)
  tn_test(board work board)
  tn_test(board curves board sqlite)
  tn_test(board changes board sqlite)
endif()

# The board in a real browser: Debian's Chromium, driven by playwright-core.
find_program(TN_NODE node)
find_program(TN_CHROMIUM chromium)
set(npm ${PROJECT_SOURCE_DIR}/build/npm/node_modules)
if(NOT (TN_NODE AND TN_CHROMIUM AND EXISTS ${npm}/playwright-core/package.json))
  if(TN_REQUIRE_TESTS)
    message(FATAL_ERROR "chromium or playwright-core not found; `make test` installs them")
  endif()
  message(STATUS "chromium or playwright-core not found: the board is not tested")
elseif(TARGET tern AND NOT TN_INSTRUMENTED)
  foreach(name browser list charts remarks compare sweep graph reach)
    add_test(NAME board/${name} COMMAND ${TN_NODE} ${CMAKE_CURRENT_LIST_DIR}/${name}.mjs
      $<TARGET_FILE:tern> ${npm} ${TN_CHROMIUM})
    set_tests_properties(board/${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  endforeach()
endif()
