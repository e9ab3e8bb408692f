# Readers of data files, beside libraries that read the same formats.
add_executable(csv_rows ${CMAKE_CURRENT_LIST_DIR}/csv_rows.c)
target_link_libraries(csv_rows PRIVATE tn_data)
find_program(TN_ANY_PYTHON NAMES python3)
if(TN_ANY_PYTHON)
  add_test(NAME data/csv_python COMMAND ${TN_ANY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/csv_python.py
    $<TARGET_FILE:csv_rows>)
  set_tests_properties(data/csv_python PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
elseif(TN_REQUIRE_TESTS)
  message(FATAL_ERROR "python3 not found; `make test` installs it, or run tools/setup.sh test")
endif()
