# How a test is declared: one line in tests/FOLDER/NAME.cmake beside NAME.c.

option(TN_REQUIRE_TESTS "Fail to configure when a library the tests need is missing" OFF)

# A machine that is only emulated here has no cmocka; support/bare/ stands in for it.
set(TN_BARE_CMOCKA ${CMAKE_CROSSCOMPILING})

find_library(TN_CMOCKA cmocka)
find_library(TN_MPFR mpfr)
find_library(TN_GMP gmp)
foreach(library CMOCKA MPFR GMP)
  if(NOT TN_${library} AND NOT TN_BARE_CMOCKA)
    string(TOLOWER ${library} name)
    if(TN_REQUIRE_TESTS)
      message(FATAL_ERROR "${name} not found; `make test` installs it, or run tools/setup.sh test")
    endif()
    message(STATUS "${name} not found: tests that need it are not built")
  endif()
endforeach()

# tn_test(FOLDER NAME needs...): tests/FOLDER/NAME.c is the cmocka program test_NAME
# and the CTest test FOLDER/NAME. A need is a module of src/, `tern` for the whole
# library, or mpfr. Everything in tests/slow carries the label slow.
function(tn_test folder name)
  set(libraries "")
  set(wanting "")
  if(TN_CMOCKA AND NOT TN_BARE_CMOCKA)
    set(libraries ${TN_CMOCKA})
  elseif(NOT TN_BARE_CMOCKA)
    set(wanting cmocka)
  endif()
  foreach(needed ${ARGN})
    set(has_source ON)
    if(needed STREQUAL "mpfr")
      if(NOT (TN_MPFR AND TN_GMP))
        set(wanting mpfr)
      endif()
      list(APPEND libraries ${TN_MPFR} ${TN_GMP})
    elseif(needed STREQUAL "tern")
      list(APPEND libraries tern_static)
    else()
      list(APPEND libraries tn_${needed})
      tn_has_source(${needed} has_source)
    endif()
    if(NOT has_source)
      # A test that vanishes looks like one that passes. This one fails.
      message(STATUS "${folder}/${name} needs the module ${needed}, which has no source")
      add_test(NAME ${folder}/${name} COMMAND ${CMAKE_COMMAND} -E false)
      return()
    endif()
  endforeach()
  if(wanting)
    return()
  endif()
  add_executable(test_${name} ${PROJECT_SOURCE_DIR}/tests/${folder}/${name}.c)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(TN_BARE_CMOCKA)
    target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/bare)
  endif()
  target_link_libraries(test_${name} PRIVATE tern_flags ${libraries})
  add_test(NAME ${folder}/${name} COMMAND test_${name})
  set_tests_properties(${folder}/${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT})
  if(folder STREQUAL "slow")
    set_tests_properties(${folder}/${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
  endif()
endfunction()

# tn_unit_test(NAME modules...): tests/unit/NAME.c.
function(tn_unit_test name)
  tn_test(unit ${name} ${ARGN})
endfunction()

# tn_script_test(NAME SCRIPT arguments...): a shell script, run in the project's root.
function(tn_script_test name script)
  add_test(NAME ${name} COMMAND sh ${script} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT}
    ENVIRONMENT "CC=${CMAKE_C_COMPILER};NM=${CMAKE_NM}")
  if(name MATCHES "^slow/")
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
  endif()
endfunction()

# What lets a document's C example say `cc example.c -ltern`.
set(TN_EXAMPLE_ENVIRONMENT
  CPATH=${PROJECT_SOURCE_DIR}/include
  LIBRARY_PATH=${PROJECT_BINARY_DIR}
  LD_LIBRARY_PATH=${PROJECT_BINARY_DIR})

# tn_runner_test(NAME RUNNER PATH): a file or folder for tests/runner/RUNNER; see tests/README.md.
function(tn_runner_test name runner path)
  set(where --tern $<TARGET_FILE:tern> --tests ${PROJECT_SOURCE_DIR}/tests)
  add_test(NAME ${name} COMMAND ${runner} ${where} ${path})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TN_TEST_TIMEOUT} ENVIRONMENT "${TN_EXAMPLE_ENVIRONMENT}")
  if(name MATCHES "^slow/")
    set_tests_properties(${name} PROPERTIES LABELS slow TIMEOUT ${TN_SLOW_TEST_TIMEOUT})
  endif()
endfunction()

# tn_update_target(FILES FOLDERS): the target test-update, which rewrites what transcripts, documents
# and programs expect, and the pages that tables write.
function(tn_update_target files folders)
  set(common --update --tern $<TARGET_FILE:tern> --tests ${PROJECT_SOURCE_DIR}/tests)
  set(language_command "")
  if(folders)
    set(language_command COMMAND langtest ${common} ${folders})
  endif()
  add_custom_target(test-update VERBATIM USES_TERMINAL
    COMMAND pages --update --tern $<TARGET_FILE:tern> --docs ${PROJECT_SOURCE_DIR}/docs
    COMMAND ${CMAKE_COMMAND} -E env ${TN_EXAMPLE_ENVIRONMENT} $<TARGET_FILE:transcript> ${common} ${files}
    ${language_command})
  add_dependencies(test-update pages transcript langtest tern tern_shared)
endfunction()
