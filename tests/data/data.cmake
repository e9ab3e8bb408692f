# Readers of data files, beside libraries that read the same formats.
add_executable(csv_rows ${CMAKE_CURRENT_LIST_DIR}/csv_rows.c)
target_link_libraries(csv_rows PRIVATE tn_data)
find_program(TN_ANY_PYTHON NAMES python3)
if(TN_ANY_PYTHON)
  add_test(NAME data/csv_python COMMAND ${TN_ANY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/csv_python.py
    $<TARGET_FILE:csv_rows>)
  if(TARGET tern)
    add_test(NAME data/csv_training COMMAND ${TN_ANY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/csv_training.py
      $<TARGET_FILE:tern>)
    add_test(NAME data/words_python COMMAND ${TN_ANY_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/words_python.py
      $<TARGET_FILE:tern>)
    set_tests_properties(data/csv_training data/words_python PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
      ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
  endif()
  set_tests_properties(data/csv_python PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
elseif(TN_REQUIRE_TESTS)
  message(FATAL_ERROR "python3 not found; `make test` installs it, or run tools/setup.sh test")
endif()

# Byte-level BPE beside Hugging Face's own library.
add_executable(bpe_tokens ${CMAKE_CURRENT_LIST_DIR}/bpe_tokens.c)
target_link_libraries(bpe_tokens PRIVATE tn_data)
find_program(TN_NODE node)
set(npm ${PROJECT_SOURCE_DIR}/build/npm/node_modules)
if(TN_NODE AND EXISTS ${npm}/tokenizers/package.json)
  add_test(NAME data/bpe_hf COMMAND ${TN_NODE} ${CMAKE_CURRENT_LIST_DIR}/bpe_hf.mjs
    $<TARGET_FILE:bpe_tokens> ${npm} ${PROJECT_SOURCE_DIR} 2000)
  set_tests_properties(data/bpe_hf PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
elseif(TN_REQUIRE_TESTS)
  message(FATAL_ERROR "tokenizers not found; `make test` installs it, or run tools/setup.sh test")
endif()
