# The Python module, by Debian's Python and NumPy, on the shared library of this build.
set(python $ENV{TERN_PYTHON})
if(NOT python)
  set(python /usr/bin/python3)
endif()
if(TARGET tern_shared AND NOT TN_INSTRUMENTED)
  add_test(NAME python/module COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/test_tern.py
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(python/module PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  add_test(NAME python/package COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/test_package.py
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(python/package PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  execute_process(COMMAND ${python} -c "import ipykernel, nbclient" RESULT_VARIABLE no_jupyter
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT no_jupyter)
    add_test(NAME python/kernel COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/test_kernel.py
      WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(python/kernel PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
    set_property(TEST python/kernel PROPERTY ENVIRONMENT TERN_LIBRARY=$<TARGET_FILE:tern_shared>
      PYTHONPATH=${PROJECT_SOURCE_DIR}/bindings/python PYTHONDONTWRITEBYTECODE=1)
  elseif(TN_REQUIRE_TESTS)
    message(FATAL_ERROR "python3-ipykernel or python3-nbclient is missing: tools/setup.sh test installs them")
  endif()
  if(TARGET fake_cuda AND TN_CARD_CLANG)
    add_test(NAME gpu/python COMMAND ${python} ${PROJECT_SOURCE_DIR}/tests/gpu/session.py)
    set_tests_properties(gpu/python PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
    set_property(TEST gpu/python PROPERTY ENVIRONMENT TERN_LIBRARY=$<TARGET_FILE:tern_shared>
      PYTHONPATH=${PROJECT_SOURCE_DIR}/bindings/python PYTHONDONTWRITEBYTECODE=1 ${TN_FAKE_CARD})
  endif()
  add_test(NAME docs/embedding_python COMMAND ${python} ${PROJECT_SOURCE_DIR}/tests/numpy/examples.py
    $<TARGET_FILE:tern> ${PROJECT_SOURCE_DIR}/docs/embedding.md)
  set_tests_properties(docs/embedding_python PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  set_property(TEST python/module python/package docs/embedding_python PROPERTY ENVIRONMENT
    TERN_LIBRARY=$<TARGET_FILE:tern_shared> PYTHONPATH=${PROJECT_SOURCE_DIR}/bindings/python
    PYTHONDONTWRITEBYTECODE=1)
endif()
