# Files that tern and NumPy exchange. Debian's Python, because that is the one Debian's NumPy belongs to.
set(python /usr/bin/python3)
execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE no_numpy OUTPUT_QUIET ERROR_QUIET)
if(no_numpy)
  if(TN_REQUIRE_TESTS)
    message(FATAL_ERROR "python3-numpy not found; `make test` installs it, or run tools/setup.sh test")
  endif()
  message(STATUS "python3-numpy not found: tests that need it are not built")
elseif(TARGET tern)
  add_test(NAME numpy/formats COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/formats.py
    $<TARGET_FILE:tern> ${PROJECT_SOURCE_DIR})
  add_test(NAME numpy/models COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/models.py
    $<TARGET_FILE:tern> ${PROJECT_SOURCE_DIR})
  set_tests_properties(numpy/formats numpy/models PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME numpy/training COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/training.py $<TARGET_FILE:tern>)
  set_tests_properties(numpy/training PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME numpy/answers COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/answers.py $<TARGET_FILE:tern>)
  set_tests_properties(numpy/answers PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  add_test(NAME numpy/ninth_gpt COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/ninth_gpt.py
    $<TARGET_FILE:tern> ${PROJECT_SOURCE_DIR})
  add_test(NAME numpy/mind_gpt COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/mind_gpt.py
    $<TARGET_FILE:tern> ${PROJECT_SOURCE_DIR})
  set_tests_properties(numpy/ninth_gpt numpy/mind_gpt PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  # PyTorch is large and only compared with; where it is, the examples that people come from are run too.
  execute_process(COMMAND ${python} -c "import torch" RESULT_VARIABLE no_torch OUTPUT_QUIET ERROR_QUIET)
  if(no_torch)
    message(STATUS "python3-torch not found: the PyTorch examples of the documents are not run")
  else()
    add_test(NAME docs/pytorch COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/examples.py
      $<TARGET_FILE:tern> ${PROJECT_SOURCE_DIR}/docs/coming-from-pytorch.md)
    set_tests_properties(docs/pytorch PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  endif()
endif()
